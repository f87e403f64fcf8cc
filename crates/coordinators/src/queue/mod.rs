//! One partition of a topic, as one queue reads it: who holds which record until when, what waits for its time or for its key, and
//! what became of the others.
//!
//! Why it exists: a share-partition (`crate::share`) does what Kafka says and no more; a queue adds times, order per key, locks that
//! survive the process, and moves to other topics that happen once (`docs/decisions/queues.md`).
//! Owns: the state of each record that differs from "never delivered"; the locks.   Never: bytes of records, clocks, who may call.
//! In -> out: what there is to read, what consumers say of what they hold, passed times -> a record to log, and an answer.
//! Invariants: QUE-1, QUE-2, QUE-3, QUE-4.   Read next: `input.rs`; limits stand in `policy.rs`.

mod input;
mod policy;

pub use input::{
    Acquire, Claim, Found, Grant, Input, Outcome, Reply, Settle, SettleError, Settled,
};
pub use policy::{Backoff, MoveTarget, Order, Policy};
