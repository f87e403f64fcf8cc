//! The states of a transaction, and which may follow which.
//!
//! ```text
//!   Empty ──────> Ongoing ──> PrepareCommit ──> CompleteCommit ──> Ongoing, Empty
//!     │              └──────> PrepareAbort ───> CompleteAbort ───> Ongoing, Empty
//!     └─────────────────────────^   (KIP-890: an abort before anything was added still bumps the epoch)
//! ```
//! Once a Prepare state is durable the outcome is decided for good (TXN-1): markers follow, then the Complete state.

/// Where a transactional id stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TransactionState {
    /// Its producer has begun nothing yet.
    #[default]
    Empty,
    /// Partitions were added.
    Ongoing,
    /// It is committed; markers are being written.
    PrepareCommit,
    /// It is aborted; markers are being written.
    PrepareAbort,
    /// All markers of a commit are written.
    CompleteCommit,
    /// All markers of an abort are written.
    CompleteAbort,
}

impl TransactionState {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Empty,
        Self::Ongoing,
        Self::PrepareCommit,
        Self::PrepareAbort,
        Self::CompleteCommit,
        Self::CompleteAbort,
    ];

    /// Kafka's number, as it stands in a record.
    pub fn number(self) -> i8 {
        match self {
            Self::Empty => 0,
            Self::Ongoing => 1,
            Self::PrepareCommit => 2,
            Self::PrepareAbort => 3,
            Self::CompleteCommit => 4,
            Self::CompleteAbort => 5,
        }
    }

    /// The state of this number.
    pub fn from_number(number: i8) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.number() == number)
    }

    /// Kafka's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Empty => "Empty",
            Self::Ongoing => "Ongoing",
            Self::PrepareCommit => "PrepareCommit",
            Self::PrepareAbort => "PrepareAbort",
            Self::CompleteCommit => "CompleteCommit",
            Self::CompleteAbort => "CompleteAbort",
        }
    }

    /// Whether the outcome is decided and its markers are being written.
    pub fn is_ending(self) -> bool {
        matches!(self, Self::PrepareCommit | Self::PrepareAbort)
    }

    /// Whether nothing is under way.
    pub fn is_idle(self) -> bool {
        matches!(
            self,
            Self::Empty | Self::CompleteCommit | Self::CompleteAbort
        )
    }

    /// Whether `next` may follow.
    pub(super) fn may_become(self, next: Self) -> bool {
        match next {
            Self::Empty => self.is_idle(),
            Self::Ongoing => self.is_idle() || self == Self::Ongoing,
            Self::PrepareCommit => self == Self::Ongoing,
            Self::PrepareAbort => self.is_idle() || self == Self::Ongoing,
            Self::CompleteCommit => self == Self::PrepareCommit,
            Self::CompleteAbort => self == Self::PrepareAbort,
        }
    }
}
