//! What the machine answers.

use super::{Producer, Transaction, TransactionError, TransactionState, TransactionalId};
use crate::CallId;
use fanlog_model::ProducerId;

/// An answer on its way to whoever asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// Who asked.
    pub call: CallId,
    /// The answer.
    pub answer: Answer,
}

/// An answer, of the kind that the question has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The producer to be from now on.
    InitProducerId(Result<Producer, TransactionError>),
    /// Whether the partitions are part of the transaction; where it was only asked, those that are not.
    AddPartitions(Result<Vec<fanlog_model::TopicPartition>, TransactionError>),
    /// The producer to be from now on, which the second generation goes on with.
    End(Result<Producer, TransactionError>),
    /// One transactional id.
    Describe(Result<DescribedTransaction, TransactionError>),
    /// Several.
    List(ListedTransactions),
}

/// A transactional id in full.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescribedTransaction {
    /// The name.
    pub id: TransactionalId,
    /// As the log has it.
    pub transaction: Transaction,
}

/// What a list finds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListedTransactions {
    /// The names.
    pub transactions: Vec<ListedTransaction>,
    /// States of the filter that there are not.
    pub unknown_states: Vec<String>,
}

/// A transactional id in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedTransaction {
    /// The name.
    pub id: TransactionalId,
    /// Its producer id.
    pub producer_id: ProducerId,
    /// Where it stands.
    pub state: TransactionState,
}
