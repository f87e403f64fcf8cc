//! What is on its way to another topic.

use super::{Attempt, Ledger, MoveTarget};
use fanlog_model::{BaseSequence, Offset, ProducerEpoch, ProducerId};

/// A record that is to be moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingMove {
    /// Which.
    pub offset: Offset,
    /// The sequence that its copy bears.
    pub sequence: BaseSequence,
    /// How often it was delivered.
    pub attempts: u16,
    /// The attempts that failed, the last of them last.
    pub history: Vec<Attempt>,
}

/// By whom and where to records are moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mover {
    /// The idempotent producer, of this partition alone.
    pub producer: ProducerId,
    /// Its epoch.
    pub epoch: ProducerEpoch,
    /// The target.
    pub target: MoveTarget,
    /// The sequence of the next record that is to be moved and is not yet in the row.
    pub next_sequence: BaseSequence,
    /// The row has a hole, as the log lost a record of it: ask the target how far it is, then hand in `Input::Renumber`.
    pub needs_renumber: bool,
}

/// What is to be moved, in the order of the sequences: at most so many.
pub fn moves(ledger: &Ledger, max: usize) -> Vec<PendingMove> {
    let _ = (ledger, max);
    Vec::new()
}

/// Who moves records, and where to; none before the first.
pub fn mover(ledger: &Ledger) -> Option<Mover> {
    let _ = ledger;
    None
}
