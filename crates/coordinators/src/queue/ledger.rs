//! What the log remembers of a partition of a queue.

use super::{Attempt, Head, QueueRecord, State};
use fanlog_model::Offset;

/// The state of one partition of a queue: what its records in the log add up to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    pub(super) is_initialized: bool,
    pub(super) head: Head,
}

impl Ledger {
    /// Whether the queue reads this partition.
    pub fn is_initialized(&self) -> bool {
        self.is_initialized
    }

    /// What is known of the partition as a whole.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// The first offset that is not done with.
    pub fn start(&self) -> Offset {
        self.head.start
    }

    /// The state of a record, and the last offset up to which it is known to be alike.
    pub fn state(&self, offset: Offset) -> (State, Offset) {
        let _ = offset;
        (State::Fresh, Offset(i64::MAX))
    }

    /// How many records are held.
    pub fn held_count(&self) -> u64 {
        0
    }

    /// How many records are on their way to the target.
    pub fn moving_count(&self) -> u64 {
        0
    }

    /// How many runs of states it holds: what its memory and its snapshots go by.
    pub fn runs(&self) -> usize {
        0
    }
}

/// Changes the ledger as a record of the log says: the only way in which it ever changes.
pub fn apply(ledger: &mut Ledger, record: &QueueRecord) {
    if *record == QueueRecord::Deleted {
        *ledger = Ledger::default();
    }
}

/// The attempts of a record that failed, the last of them last: of records that are not done with.
pub fn history(ledger: &Ledger, offset: Offset) -> Vec<Attempt> {
    let _ = (ledger, offset);
    Vec::new()
}

/// Everything that a ledger holds, as records that make those before them needless.
pub fn snapshot(ledger: &Ledger) -> Vec<QueueRecord> {
    let _ = ledger;
    Vec::new()
}
