//! Offsets that a transaction commits for a group: AddOffsetsToTxn and TxnOffsetCommit.

use super::markers::offsets_partition;
use super::{TransactionRequestError, Transactions};
use crate::groups::{CoordinatorError, GroupRequestError, InTransactionError, Written};
use crate::lookup::PartitionUnavailable;
use crate::partition::TransactionHere;
use fanlog_coordinators::group::{
    CommitInTransaction, CommitOffsets, OffsetOutcome, OffsetsProducer,
};
use fanlog_coordinators::transaction::{
    ClientVersion, Producer, TransactionError, TransactionalId,
};
use fanlog_model::GroupId;
use fanlog_storage::AppendError as RefusedBatch;
use std::sync::Arc;
use thiserror::Error;

/// Why offsets were not committed in a transaction.
#[derive(Debug, Error)]
pub enum TransactionalCommitError {
    /// The transaction's machine refuses.
    #[error(transparent)]
    Transaction(#[from] TransactionRequestError),
    /// The group refuses, or its coordinator cannot answer.
    #[error(transparent)]
    Group(#[from] GroupRequestError),
    /// The log of the group's offsets refuses the producer.
    #[error(transparent)]
    Refused(RefusedBatch),
    /// The log of the group's offsets cannot serve.
    #[error(transparent)]
    Unavailable(#[from] PartitionUnavailable),
}

impl Transactions {
    /// AddOffsetsToTxn: the group's partition of `__consumer_offsets` becomes part of the transaction.
    ///
    /// # Errors
    /// The machine refuses, or a coordinator cannot answer.
    pub async fn add_offsets(
        &self,
        id: TransactionalId,
        producer: Producer,
        group: &GroupId,
        version: ClientVersion,
    ) -> Result<(), TransactionRequestError> {
        let index = self.broker()?.groups().find(group).await?;
        let partitions = vec![offsets_partition(index)];
        self.add_partitions(id, producer, partitions, false, version)
            .await
            .map(|_| ())
    }

    /// TxnOffsetCommit: the offsets wait for the transaction's end. `call` is filled in here.
    ///
    /// # Errors
    /// The transaction, the group or the log refuses, or a coordinator cannot answer.
    pub async fn commit_offsets(
        &self,
        id: &TransactionalId,
        producer: Producer,
        commit: CommitOffsets,
        version: ClientVersion,
    ) -> Result<Vec<OffsetOutcome>, TransactionalCommitError> {
        let broker = self.broker().map_err(TransactionRequestError::from)?;
        let groups = broker.groups();
        let shard = groups
            .shard(&commit.group)
            .await
            .map_err(GroupRequestError::from)?;
        let here = shard
            .partition()
            .transaction_of(producer.id, producer.epoch)?;
        let allowed_at = match here {
            TransactionHere::UnderWay => None,
            TransactionHere::None { log_end } => {
                let partitions = vec![offsets_partition(shard.partition().index())];
                let missing = self.make_known(id, producer, partitions, version).await?;
                if !missing.is_empty() {
                    let id = id.clone();
                    let error = TransactionError::NotInTransaction { id };
                    return Err(TransactionRequestError::from(error).into());
                }
                Some(log_end)
            }
        };
        let producer = OffsetsProducer {
            id: producer.id,
            epoch: producer.epoch,
        };
        let written = Written {
            producer,
            allowed_at,
            coordinator_epoch: None,
            is_later_marker: false,
        };
        let receiver = shard.submit_in_transaction(written, |call| {
            let commit = CommitOffsets { call, ..commit };
            fanlog_coordinators::group::Input::CommitInTransaction(CommitInTransaction {
                producer,
                commit,
            })
        });
        let receiver = receiver.map_err(|error| match error {
            InTransactionError::Refused(refused) => TransactionalCommitError::Refused(refused),
            InTransactionError::Coordinator(error) => GroupRequestError::from(error).into(),
        })?;
        let answer = receiver.await.map_err(|_| {
            let reason: Arc<str> = "its log refused a write; retry".into();
            GroupRequestError::from(CoordinatorError::NotAvailable { reason })
        })?;
        match answer {
            fanlog_coordinators::group::Answer::CommitOffsets(result) => {
                Ok(result.map_err(GroupRequestError::from)?)
            }
            other => unreachable!("a machine answers in kind, not with {other:?}"),
        }
    }
}
