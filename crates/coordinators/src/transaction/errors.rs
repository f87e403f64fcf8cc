//! Why the machine refuses. Each error says what becomes of the producer: it retries, aborts, or is over.

use super::{TransactionState, TransactionalId};
use fanlog_model::{ProducerEpoch, ProducerId};
use thiserror::Error;

/// A refusal.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TransactionError {
    /// The name is empty or too long.
    #[error("a transactional id has 1 to {max} bytes, not {given}")]
    InvalidId {
        /// Its length.
        given: usize,
        /// The limit.
        max: usize,
    },
    /// The time-out is not one that the broker allows.
    #[error("transaction.timeout.ms {given} is not between 1 and transaction.max.timeout.ms {max}")]
    InvalidTimeout {
        /// What was asked for.
        given: i32,
        /// The setting.
        max: i32,
    },
    /// The name is not known, or belongs to another producer id: begin anew with InitProducerId.
    #[error(
        "transactional id '{id}' is not that of producer {given}; begin anew with InitProducerId"
    )]
    ProducerIdMapping {
        /// The name.
        id: TransactionalId,
        /// The producer that was named.
        given: ProducerId,
    },
    /// Another producer of the same name has begun since, or the transaction timed out (TXN-2). Fate: over.
    #[error("producer epoch {given} of transactional id '{id}' is fenced: {current} is in force")]
    Fenced {
        /// The name.
        id: TransactionalId,
        /// The epoch that was named.
        given: ProducerEpoch,
        /// The one in force.
        current: ProducerEpoch,
    },
    /// The transaction before is still being completed. Fate: retry.
    #[error("the previous transaction of '{id}' is still being completed; retry")]
    Concurrent {
        /// The name.
        id: TransactionalId,
    },
    /// The request does not fit where the transaction stands.
    #[error("transactional id '{id}' is {}: the request does not fit", state.name())]
    InvalidState {
        /// The name.
        id: TransactionalId,
        /// Where it stands.
        state: TransactionState,
    },
    /// A partition is not part of the transaction under way. Fate: abort.
    #[error("the partition is not part of a transaction of '{id}' that is under way")]
    NotInTransaction {
        /// The name.
        id: TransactionalId,
    },
    /// There is no such name.
    #[error("there is no transactional id '{id}'")]
    NotFound {
        /// The name.
        id: TransactionalId,
    },
    /// There is no room for more names or partitions.
    #[error(
        "transactions take the memory of fanlog.transactions.memory.bytes {max}; raise it, or use fewer transactional ids"
    )]
    MemoryFull {
        /// The setting.
        max: usize,
    },
    /// The runtime must draw a producer id and ask again with it.
    #[error("a new producer id is needed")]
    NeedsProducerId,
}
