//! The one door: an input comes in, records to log and an answer come out.
//!
//! Never: changes the ledger; the runtime applies the records.

use super::{Counters, Input, Ledger, Policy, QueueRecord, Reply, Waiting};
use crate::Now;

/// What one input leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// To append as one batch, and to apply to the ledger right after: an update; before it, now and then, the pieces of a snapshot.
    /// If the append fails, drop the machine and load it anew.
    pub records: Vec<QueueRecord>,
    /// To release once the records, and all decided before, are durable; what was acquired may go at once.
    pub reply: Reply,
    /// Those who wait for records may look again.
    pub has_freed: bool,
    /// There is something to move: see `moves`.
    pub has_moves: bool,
    /// Nothing more goes into this answer of an `Acquire`: it is full, or what comes next goes alone, or may not go now.
    pub is_answer_over: bool,
    /// More of the same is due: hand in the same `Tick` or `Release` again.
    pub is_more_due: bool,
    /// What happened to how many records.
    pub counts: Counters,
}

/// Decides on one input. The ledger must hold every record decided so far.
pub fn decide(
    policy: &Policy,
    ledger: &Ledger,
    waiting: &mut Waiting,
    now: Now,
    input: Input<'_>,
) -> Decision {
    let _ = (policy, ledger, waiting, now, input);
    Decision {
        records: Vec::new(),
        reply: Reply::Done,
        has_freed: false,
        has_moves: false,
        is_answer_over: false,
        is_more_due: false,
        counts: Counters::default(),
    }
}
