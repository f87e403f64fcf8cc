//! Where partitions start and end, and what stands at a time.

use crate::cluster::Lane;
use crate::{ClientError, Cluster};
use fanlog_model::{LeaderEpoch, Offset, PartitionIndex, TimestampMs, TopicName, TopicPartition};
use fanlog_protocol::messages::list_offsets_request::{
    ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic,
};
use fanlog_protocol::{ApiKey, ErrorCode};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Which offset of a partition is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OffsetSpec {
    /// The first record's.
    Earliest,
    /// The next record's.
    Latest,
    /// The first record's whose time is this or later.
    Timestamp(TimestampMs),
    /// The record's with the latest time.
    MaxTimestamp,
}

impl OffsetSpec {
    const fn number(self) -> i64 {
        match self {
            Self::Latest => -1,
            Self::Earliest => -2,
            Self::MaxTimestamp => -3,
            Self::Timestamp(timestamp) => timestamp.get(),
        }
    }
}

/// An offset as a leader told it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedOffset {
    /// The offset; none where no record fits.
    pub offset: Option<Offset>,
    /// The record's time, where one was looked for.
    pub timestamp: TimestampMs,
    /// The epoch of the record.
    pub leader_epoch: LeaderEpoch,
}

/// Who serves a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Leader {
    pub(crate) broker: i32,
    pub(crate) epoch: LeaderEpoch,
}

impl Cluster {
    /// The partitions of a topic, as it is now.
    ///
    /// # Errors
    /// When it does not exist.
    pub async fn partitions(&self, topic: &TopicName) -> Result<Vec<TopicPartition>, ClientError> {
        let view = self.topic(topic.as_str()).await?;
        let partitions = view.partitions.iter().map(|one| TopicPartition {
            topic: topic.clone(),
            partition: PartitionIndex(one.index),
        });
        Ok(partitions.collect())
    }

    /// The leader of a partition as last heard.
    pub(crate) async fn leader(&self, partition: &TopicPartition) -> Result<Leader, ClientError> {
        let topic = self.known_topic(partition.topic.as_str()).await?;
        let index = partition.partition.get();
        let found = topic.partitions.iter().find(|one| one.index == index);
        let found = found.ok_or_else(|| ClientError::NoSuchPartition {
            topic: partition.topic.to_string(),
            partition: index,
            count: topic.partitions.len(),
        })?;
        if found.leader < 0 {
            let broker = self.config().bootstrap.join(",");
            let code = ErrorCode::LeaderNotAvailable.code();
            let about = partition.to_string();
            crate::connection::check_code(&broker, ApiKey::Metadata, &about, code, None)?;
        }
        Ok(Leader {
            broker: found.leader,
            epoch: LeaderEpoch(found.leader_epoch),
        })
    }

    /// Asks the leaders of these partitions for an offset each.
    ///
    /// # Errors
    /// When a partition does not exist or its leader does not answer.
    pub async fn list_offsets(
        &self,
        partitions: &[TopicPartition],
        spec: OffsetSpec,
    ) -> Result<BTreeMap<TopicPartition, ListedOffset>, ClientError> {
        self.retrying(|| self.list_offsets_once(partitions, spec))
            .await
    }

    async fn list_offsets_once(
        &self,
        partitions: &[TopicPartition],
        spec: OffsetSpec,
    ) -> Result<BTreeMap<TopicPartition, ListedOffset>, ClientError> {
        let mut by_leader = BTreeMap::<i32, BTreeMap<&TopicName, Vec<_>>>::new();
        for one in partitions {
            let leader = self.leader(one).await?;
            let asked = ListOffsetsPartition {
                partition_index: one.partition.get(),
                timestamp: spec.number(),
                ..ListOffsetsPartition::default()
            };
            let topics = by_leader.entry(leader.broker).or_default();
            topics.entry(&one.topic).or_default().push(asked);
        }
        let mut listed = BTreeMap::new();
        for (leader, topics) in by_leader {
            listed.extend(self.list_offsets_of(leader, topics).await?);
        }
        Ok(listed)
    }

    async fn list_offsets_of(
        &self,
        leader: i32,
        topics: BTreeMap<&TopicName, Vec<ListOffsetsPartition>>,
    ) -> Result<BTreeMap<TopicPartition, ListedOffset>, ClientError> {
        let names: BTreeMap<_, _> = topics.keys().map(|name| (name.as_str(), *name)).collect();
        let asked = topics.iter().map(|(topic, partitions)| ListOffsetsTopic {
            name: Cow::Borrowed(topic.as_str()),
            partitions: partitions.clone(),
        });
        let request = ListOffsetsRequest {
            replica_id: -1,
            topics: asked.collect(),
            ..ListOffsetsRequest::default()
        };
        let connection = self.broker(leader, Lane::Calls).await?;
        let reply = connection.call(&request).await?;
        let answer = reply.read()?;
        let mut listed = BTreeMap::new();
        for topic in &answer.topics {
            let Some(name) = names.get(&*topic.name) else {
                continue;
            };
            for one in &topic.partitions {
                let partition = TopicPartition {
                    topic: TopicName::clone(name),
                    partition: PartitionIndex(one.partition_index),
                };
                let about = partition.to_string();
                connection.check(ApiKey::ListOffsets, &about, one.error_code, None)?;
                let offset = ListedOffset {
                    offset: (one.offset >= 0).then_some(Offset(one.offset)),
                    timestamp: TimestampMs(one.timestamp),
                    leader_epoch: LeaderEpoch(one.leader_epoch),
                };
                listed.insert(partition, offset);
            }
        }
        Ok(listed)
    }
}
