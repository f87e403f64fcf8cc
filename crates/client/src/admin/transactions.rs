//! Transactions: which there are, who writes in them, and the way out where one hangs.

use super::Admin;
use crate::ClientError;
use crate::cluster::Lane;
use fanlog_model::{Offset, PartitionIndex, ProducerId, TimestampMs, TopicName, TopicPartition};
use fanlog_protocol::ApiKey;
use fanlog_protocol::messages::describe_producers_request::{
    DescribeProducersRequest, TopicRequest,
};
use fanlog_protocol::messages::write_txn_markers_request::{
    WritableTxnMarker, WritableTxnMarkerTopic, WriteTxnMarkersRequest,
};
use fanlog_protocol::messages::{DescribeTransactionsRequest, ListTransactionsRequest};
use std::borrow::Cow;

/// A transactional id in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedTransaction {
    /// The transactional id.
    pub id: String,
    /// Its producer id.
    pub producer_id: ProducerId,
    /// Where it stands.
    pub state: String,
}

/// A transactional id in full.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransactionView {
    /// The transactional id.
    pub id: String,
    /// Where it stands.
    pub state: String,
    /// Its producer id.
    pub producer_id: ProducerId,
    /// Its epoch.
    pub producer_epoch: i16,
    /// How long a transaction may be under way.
    pub timeout_ms: i32,
    /// When the transaction began, if one did.
    pub started_at: Option<TimestampMs>,
    /// What it has touched.
    pub partitions: Vec<TopicPartition>,
}

/// A producer that a partition remembers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProducerView {
    /// The producer id.
    pub producer_id: ProducerId,
    /// Its epoch.
    pub producer_epoch: i16,
    /// The last sequence, -1 for none.
    pub last_sequence: i32,
    /// When it wrote last.
    pub last_timestamp: TimestampMs,
    /// The epoch of the coordinator that ended its last transaction, -1 for none.
    pub coordinator_epoch: i32,
    /// Where its open transaction began.
    pub open_since: Option<Offset>,
}

impl Admin {
    /// Every transactional id, in order.
    ///
    /// # Errors
    /// When the broker does not answer.
    pub async fn list_transactions(&self) -> Result<Vec<ListedTransaction>, ClientError> {
        let request = ListTransactionsRequest {
            duration_filter: -1,
            ..Default::default()
        };
        let request = &request;
        self.at_controller(|connection| async move {
            let reply = connection.call(request).await?;
            let answer = reply.read()?;
            connection.check(ApiKey::ListTransactions, "", answer.error_code, None)?;
            let listed = answer.transaction_states.iter();
            Ok(listed
                .map(|one| ListedTransaction {
                    id: one.transactional_id.to_string(),
                    producer_id: ProducerId(one.producer_id),
                    state: one.transaction_state.to_string(),
                })
                .collect())
        })
        .await
    }

    /// One transactional id.
    ///
    /// # Errors
    /// When there is no such id.
    pub async fn describe_transaction(&self, id: &str) -> Result<TransactionView, ClientError> {
        let request = DescribeTransactionsRequest {
            transactional_ids: vec![Cow::Borrowed(id)],
        };
        let request = &request;
        self.at_controller(|connection| async move {
            let reply = connection.call(request).await?;
            let answer = reply.read()?;
            let one = answer.transaction_states.first();
            let one = one.ok_or_else(|| ClientError::Incomplete {
                broker: connection.broker().to_owned(),
                api: ApiKey::DescribeTransactions,
                about: id.to_owned(),
            })?;
            connection.check(ApiKey::DescribeTransactions, id, one.error_code, None)?;
            let partitions = one.topics.iter().flat_map(|topic| {
                let name = TopicName::new(&topic.topic).ok();
                topic.partitions.iter().filter_map(move |index| {
                    Some(TopicPartition {
                        topic: name.clone()?,
                        partition: PartitionIndex(*index),
                    })
                })
            });
            let started = one.transaction_start_time_ms;
            Ok(TransactionView {
                id: one.transactional_id.to_string(),
                state: one.transaction_state.to_string(),
                producer_id: ProducerId(one.producer_id),
                producer_epoch: one.producer_epoch,
                timeout_ms: one.transaction_timeout_ms,
                started_at: (started >= 0).then_some(TimestampMs(started)),
                partitions: partitions.collect(),
            })
        })
        .await
    }

    /// The producers that a partition remembers.
    ///
    /// # Errors
    /// When there is no such partition.
    pub async fn producers(
        &self,
        partition: &TopicPartition,
    ) -> Result<Vec<ProducerView>, ClientError> {
        let request = DescribeProducersRequest {
            topics: vec![TopicRequest {
                name: Cow::Borrowed(partition.topic.as_str()),
                partition_indexes: vec![partition.partition.get()],
            }],
        };
        let about = partition.to_string();
        self.cluster
            .retrying(|| async {
                let leader = self.cluster.leader(partition).await?;
                let connection = self.cluster.broker(leader.broker, Lane::Calls).await?;
                let reply = connection.call(&request).await?;
                let answer = reply.read()?;
                let one = answer.topics.first().and_then(|t| t.partitions.first());
                let one = one.ok_or_else(|| ClientError::Incomplete {
                    broker: connection.broker().to_owned(),
                    api: ApiKey::DescribeProducers,
                    about: about.clone(),
                })?;
                connection.check(ApiKey::DescribeProducers, &about, one.error_code, None)?;
                let producers = one.active_producers.iter();
                Ok(producers
                    .map(|one| ProducerView {
                        producer_id: ProducerId(one.producer_id),
                        producer_epoch: i16::try_from(one.producer_epoch).unwrap_or(-1),
                        last_sequence: one.last_sequence,
                        last_timestamp: TimestampMs(one.last_timestamp),
                        coordinator_epoch: one.coordinator_epoch,
                        open_since: Some(Offset(one.current_txn_start_offset))
                            .filter(|offset| offset.get() >= 0),
                    })
                    .collect())
            })
            .await
    }

    /// Ends a producer's transaction in a partition as aborted, whatever its coordinator says: for transactions that hang.
    ///
    /// # Errors
    /// When the partition refuses, as where the producer has a later epoch.
    pub async fn abort_transaction(
        &self,
        partition: &TopicPartition,
        producer: &ProducerView,
    ) -> Result<(), ClientError> {
        let request = WriteTxnMarkersRequest {
            markers: vec![WritableTxnMarker {
                producer_id: producer.producer_id.get(),
                producer_epoch: producer.producer_epoch,
                transaction_result: false,
                topics: vec![WritableTxnMarkerTopic {
                    name: Cow::Borrowed(partition.topic.as_str()),
                    partition_indexes: vec![partition.partition.get()],
                }],
                coordinator_epoch: producer.coordinator_epoch.max(0),
                ..Default::default()
            }],
        };
        let about = partition.to_string();
        self.cluster
            .retrying(|| async {
                let leader = self.cluster.leader(partition).await?;
                let connection = self.cluster.broker(leader.broker, Lane::Calls).await?;
                let reply = connection.call(&request).await?;
                let answer = reply.read()?;
                let topic = answer.markers.first().and_then(|m| m.topics.first());
                let one = topic.and_then(|topic| topic.partitions.first());
                let one = one.ok_or_else(|| ClientError::Incomplete {
                    broker: connection.broker().to_owned(),
                    api: ApiKey::WriteTxnMarkers,
                    about: about.clone(),
                })?;
                connection.check(ApiKey::WriteTxnMarkers, &about, one.error_code, None)
            })
            .await
    }
}
