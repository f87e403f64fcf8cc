//! One partition of a topic, as one queue reads it: who holds which record until when, what waits for its time or for its key, and
//! what became of the others.
//!
//! Why it exists: a share-partition (`crate::share`) does what Kafka says and no more; a queue adds times, order per key, locks that
//! survive the process, and moves to other topics that happen once (`docs/decisions/queues.md`).
//! Owns: the state of each record that differs from "never delivered"; the locks.   Never: bytes of records, clocks, who may call.
//! In -> out: what there is to read, what consumers say of what they hold, passed times -> a record to log, and an answer.
//! Invariants: QUE-1, QUE-2, QUE-3, QUE-4.   Read next: `input.rs`; limits stand in `policy.rs`.

mod bytes;
mod counters;
mod due;
mod history;
mod input;
mod policy;
pub mod record_format;
mod record_parts;
mod records;
mod state;

mod index;
mod ledger;
mod snapshot;
mod waiting;

mod acquire;
mod come_back;
mod decide;
mod moves;
mod settle;
mod track;
mod withdraw;

mod counts;
mod status;

mod check_invariants;

pub use check_invariants::check_invariants;
pub use counters::Counters;
pub use counts::{Counts, count_found, count_unseen, counts};
pub use decide::{Decision, decide};
pub use due::{DueTooLate, Retention, check_due};
pub use history::{ATTEMPTS_REMEMBERED, Attempt, REASON_BYTES_MAX};
pub use input::{
    Acquire, Claim, Found, Grant, Input, Outcome, Reply, Settle, SettleError, Settled, Taken,
};
pub use ledger::{Ledger, apply, history};
pub use moves::{Mover, PendingMove, RowId, mover, moves};
pub use policy::{Backoff, MoveTarget, Order, Policy};
pub use records::{Change, Head, MoveRow, QueueKey, QueueRecord, SnapshotPiece, Update};
pub use snapshot::snapshot;
pub use state::{Held, State, To, Why};
pub use status::{
    ATTEMPTS_SHOWN, BlockReason, BlockedKey, ConsumerStatus, PartitionStatus, status,
};
pub use waiting::{NextRead, Waiting, memory, next_deadline, next_read, reads_from};

#[cfg(test)]
mod tests;
