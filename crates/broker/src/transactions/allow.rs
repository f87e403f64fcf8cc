//! Before the first batch of a transaction goes into a partition, the transaction must know of the partition.
//!
//! Why it exists: a batch that arrives late, after its transaction has ended, would begin one that nobody ends, and hold up every
//! reader of committed records for ever (KIP-890). Producers of the second generation don't tell their transaction of a partition before
//! they write to it: that is done here.
//! In -> out: producer and partitions -> for each where its log ended when it was allowed, or that it goes on with what is under way.

use super::{TransactionRequestError, Transactions};
use crate::lookup::PartitionUnavailable;
use crate::partition::{Partition, TransactionHere};
use fanlog_coordinators::transaction::{
    ClientVersion, Producer, TransactionError, TransactionalId,
};
use fanlog_model::{Offset, TopicPartition};
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;

/// How often a producer of the second generation is made to wait for its transaction before, and how long each time: it cannot know that
/// there is anything to wait for.
const TRIES: usize = 5;
const TRY_PAUSE: Duration = Duration::from_millis(20);

/// Why nothing may be written in a transaction.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AllowError {
    /// The transaction's machine refuses.
    #[error(transparent)]
    Transaction(#[from] TransactionRequestError),
    /// The partition cannot serve.
    #[error(transparent)]
    Unavailable(#[from] PartitionUnavailable),
}

impl Transactions {
    /// What a producer may append to each partition: `None` goes on with the transaction that is under way there, an offset begins one.
    pub async fn allow(
        &self,
        id: &TransactionalId,
        producer: Producer,
        partitions: &[Arc<Partition>],
        version: ClientVersion,
    ) -> Vec<Result<Option<Offset>, AllowError>> {
        let mut outcomes = Vec::with_capacity(partitions.len());
        let mut new = Vec::new();
        for partition in partitions {
            outcomes.push(
                match partition.transaction_of(producer.id, producer.epoch) {
                    Ok(TransactionHere::UnderWay) => Ok(None),
                    Ok(TransactionHere::None { log_end }) => {
                        new.push(partition.topic_partition());
                        Ok(Some(log_end))
                    }
                    Err(error) => Err(error.into()),
                },
            );
        }
        if new.is_empty() {
            return outcomes;
        }
        let answer = self.make_known(id, producer, new, version).await;
        for (outcome, partition) in outcomes.iter_mut().zip(partitions) {
            if !matches!(outcome, Ok(Some(_))) {
                continue;
            }
            match &answer {
                Ok(missing) if !missing.contains(&partition.topic_partition()) => {}
                Ok(_) => {
                    let id = id.clone();
                    let error = TransactionError::NotInTransaction { id };
                    *outcome = Err(AllowError::Transaction(error.into()));
                }
                Err(error) => *outcome = Err(error.clone().into()),
            }
        }
        outcomes
    }

    /// Has the transaction know of partitions, or asks whether it does; answers those that it does not know.
    pub(super) async fn make_known(
        &self,
        id: &TransactionalId,
        producer: Producer,
        partitions: Vec<TopicPartition>,
        version: ClientVersion,
    ) -> Result<Vec<TopicPartition>, TransactionRequestError> {
        let verify_only = version == ClientVersion::First;
        let mut tries = 1;
        loop {
            let partitions = partitions.clone();
            let answer = self
                .add_partitions(id.clone(), producer, partitions, verify_only, version)
                .await;
            let is_concurrent = matches!(
                answer,
                Err(TransactionRequestError::Refused(
                    TransactionError::Concurrent { .. }
                ))
            );
            if !is_concurrent || tries == TRIES || !self.shared.has_timers {
                return answer;
            }
            tries += 1;
            tokio::time::sleep(TRY_PAUSE).await;
        }
    }
}
