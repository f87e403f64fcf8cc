//! A share-partition: who holds which record of one partition for one share group, and what became of the others (KIP-932).
//!
//! Why it exists: a queue's records are handed out one by one, come back when nobody finishes them, and must neither be
//! lost nor given to two at once, whatever crashes.
//! Owns: the state of each record that differs from "available, never delivered"; who holds what until when.
//! Never: batches, bytes of records, clocks, who may be a member.
//! In -> out: what there is to read, acknowledgements, passed deadlines -> a record to log, and an answer.
//! Invariants: QUE-1, QUE-2.   Read next: `input.rs`, then `acquire.rs`; limits stand in `policy.rs`.

mod input;
mod policy;
pub mod record_format;
mod records;
mod state;

mod held;
mod ledger;
mod runs;
mod waiting;

mod acknowledge;
mod acquire;
mod decide;
mod release;

mod check_invariants;

pub use acknowledge::check_shape;
pub use check_invariants::check_invariants;
pub use decide::{Decision, decide, snapshot};
pub use input::{AckError, AckRange, AckType, Acquire, AcquireMode, Acquired, Found, Input, Reply};
pub use ledger::{Ledger, apply};
pub use policy::Policy;
pub use records::{ShareKey, ShareRecord, Snapshot, StateBatch, Update};
pub use state::{DeliveryState, RecordState};
pub use waiting::{Waiting, next_deadline};

#[cfg(test)]
mod tests;
