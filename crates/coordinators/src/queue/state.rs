//! What may become of a record, as the log says it.

use fanlog_model::TimestampMs;
use std::num::NonZeroU64;

/// Where a record stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// Nothing is known of it: never delivered, or given back before its first attempt counted.
    #[default]
    Fresh,
    /// It was delivered, and comes again.
    Resting {
        /// How often it was delivered.
        attempts: u16,
        /// Not before this time.
        due: TimestampMs,
    },
    /// Somebody holds it.
    Held(Held),
    /// It is being moved to the target.
    Moving {
        /// How often it was delivered.
        attempts: u16,
        /// Its place in the row of all moves of this partition.
        number: u64,
    },
    /// The queue has done with it.
    Done,
}

/// Who holds a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// Which delivery this is, from 1.
    pub attempts: u16,
    /// The number of its consumer in the ledger's table of names.
    pub consumer: u32,
    /// The number of the hand-over.
    pub grant: u64,
    /// When the lock runs out.
    pub until: TimestampMs,
    /// How long the lock was given for: after a restart it lasts no longer, whatever the wall clock says.
    pub lock_ms: u32,
    /// When it was handed out, on the clock of the locks.
    pub given: TimestampMs,
    /// The hash of its key, where order per key is kept.
    pub key: Option<NonZeroU64>,
    /// It was cancelled meanwhile: it does not come back.
    pub is_cancelled: bool,
}

/// Why the queue has done with a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// Its consumer did what it asked for.
    Acknowledged,
    /// Its attempts failed, or it was rejected, and there is no target.
    GivenUp,
    /// It stands in the target.
    Moved,
    /// The filter does not want it.
    Filtered,
    /// There was no record: a marker, an aborted transaction, what compaction has left.
    Gap,
    /// Somebody cancelled it.
    Cancelled,
}

/// What a change makes of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum To {
    /// A state in which they are not done with.
    State(State),
    /// Done with.
    Done(Why),
}

impl To {
    pub(super) fn state(self) -> State {
        match self {
            Self::State(state) => state,
            Self::Done(_) => State::Done,
        }
    }
}
