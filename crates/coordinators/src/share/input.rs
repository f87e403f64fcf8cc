//! What a share-partition is asked, and what it answers.

use fanlog_model::{Offset, TimestampMs};
use thiserror::Error;

/// One input of [`decide`](super::decide).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input<'a> {
    /// The share group reads this partition from now on, or anew: whatever was known is forgotten.
    Initialize {
        /// Rises with every new beginning; records of an earlier one don't count.
        state_epoch: i32,
        /// Where it begins; `None` where `share.auto.offset.reset` says so at the first read.
        start: Option<Offset>,
    },
    /// As `Initialize`, of a partition of which nothing is known; otherwise nothing.
    EnsureInitialized {
        /// As there.
        state_epoch: i32,
    },
    /// Where a partition begins that had not begun; otherwise nothing.
    Begin(Offset),
    /// A member wants records.
    Acquire(Acquire<'a>),
    /// A member says what became of records that it holds; all of it counts, or nothing.
    Acknowledge {
        /// Who.
        member: &'a str,
        /// What, in ascending order.
        ranges: &'a [AckRange],
    },
    /// A member has gone: what it holds is available again, as a delivery that failed.
    Release {
        /// Who.
        member: &'a str,
    },
    /// The partition's log begins here now.
    LogStart(Offset),
    /// Locks may have run out.
    Tick,
}

/// Which records a member wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acquire<'a> {
    /// Who.
    pub member: &'a str,
    /// How many at most.
    pub records_max: i64,
    /// How many stand in one range of the answer, about: ranges end where a found one ends.
    pub batch_size: i64,
    /// Whether the limit is strict.
    pub mode: AcquireMode,
    /// What there is to read, in ascending order, without overlaps.
    pub found: &'a [Found],
    /// Whether the member's answer holds no records yet: what failed often goes alone.
    pub is_first: bool,
}

/// How `records_max` is meant (KIP-1206).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AcquireMode {
    /// Whole ranges are given, until there are enough.
    #[default]
    WholeRanges,
    /// Never more than wanted.
    RecordLimit,
}

/// A range of offsets that was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its first offset.
    pub first: Offset,
    /// Its last offset.
    pub last: Offset,
    /// There is nothing for anybody: offsets that a marker or an aborted transaction takes up, or that compaction left empty.
    pub is_gap: bool,
    /// The hash of its key, if it is one record and order per key is kept: while a record of a key is held or was passed
    /// over, those behind it wait (QUE-3).
    pub key: Option<u64>,
    /// Not to be given before this time (QUE-4).
    pub due: Option<TimestampMs>,
}

impl Found {
    /// Records without an order or a time of their own.
    pub fn records(first: Offset, last: Offset) -> Self {
        Self {
            first,
            last,
            is_gap: false,
            key: None,
            due: None,
        }
    }

    /// Offsets without records.
    pub fn gap(first: Offset, last: Offset) -> Self {
        Self {
            is_gap: true,
            ..Self::records(first, last)
        }
    }
}

/// Records that a member holds now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acquired {
    /// The first.
    pub first: Offset,
    /// The last.
    pub last: Offset,
    /// Which delivery this is.
    pub delivery_count: i16,
}

/// What became of a record, in its holder's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckType {
    /// There is no record at this offset.
    Gap,
    /// Done.
    Accept,
    /// Not done: for somebody else, or later.
    Release,
    /// Never to be done.
    Reject,
    /// Still being done: the lock starts anew (KIP-1222).
    Renew,
}

/// What became of some records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AckRange {
    /// The first.
    pub first: Offset,
    /// The last.
    pub last: Offset,
    /// One for all, or one for each.
    pub types: Vec<AckType>,
}

/// Why acknowledgements of one partition are refused; nothing of them counted.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AckError {
    /// They make no sense.
    #[error("{0}")]
    Malformed(&'static str),
    /// Nobody has read from the partition yet.
    #[error("the share group has not read this partition")]
    NotBegun,
    /// The group's settings forbid it.
    #[error("locks are not renewed here: share.renew.acknowledge.enable is false")]
    RenewalDisabled,
    /// Beyond everything that was handed out.
    #[error("no record at offset {0} was ever delivered")]
    NeverDelivered(Offset),
    /// The member holds no such record, or not any more.
    #[error("the record at offset {0} is not held by the member that acknowledges it")]
    NotHeld(Offset),
}

/// The answer to an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// To inputs that have no answer of their own.
    Done,
    /// To `Acquire`, in ascending order.
    Acquired(Vec<Acquired>),
    /// To `Acknowledge`.
    Acknowledged(Result<(), AckError>),
}
