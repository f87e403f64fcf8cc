//! Transactions: one deterministic machine per partition of `__transaction_state`.
//!
//! Why it exists: what a producer wrote to many partitions, and the offsets it read to, become visible together or not at all, whatever
//! crashes in between; and a producer that was replaced can write nothing more.
//! Owns: transactional ids, their producer ids and epochs, which partitions a transaction has touched, and how it ends.
//! Never: clocks, markers' bytes, sockets, error codes, which partitions exist.
//! In -> out: request, passed deadline or written markers -> records to log, and, once these are durable, replies to release and
//! markers to write.
//! Invariants: TXN-1, TXN-2.   Read next: `state.rs`, then `end.rs`.

mod errors;
mod inputs;
mod names;
pub mod record_format;
mod records;
mod replies;
mod settings;
mod state;

mod decide;
mod ledger;
mod memory;
mod waiting;

mod add_partitions;
mod describe;
mod end;
mod expire;
mod init_producer_id;

mod check_invariants;

pub use check_invariants::check_invariants;
pub use decide::{Decision, MarkersToWrite, OutcomeId, decide};
pub use errors::TransactionError;
pub use inputs::{
    AddPartitions, ClientVersion, EndTransaction, InitProducerId, Input, List, Producer,
};
pub use ledger::{Ledger, apply};
pub use names::TransactionalId;
pub use records::{Transaction, TransactionRecord};
pub use replies::{Answer, DescribedTransaction, ListedTransaction, ListedTransactions, Reply};
pub use settings::{TRANSACTIONAL_ID_BYTES_MAX, TransactionSettings};
pub use state::TransactionState;
pub use waiting::{Waiting, next_deadline};

#[cfg(test)]
mod tests;
