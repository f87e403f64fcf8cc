//! Committed offsets: fetch and commit, for members and for administrators.

use super::membership::Member;
use crate::connection::Connection;
use crate::{ClientError, Committed};
use fanlog_model::{LeaderEpoch, Offset, PartitionIndex, TopicName, TopicPartition};
use fanlog_protocol::ApiKey;
use fanlog_protocol::messages::consumer_protocol_assignment::ConsumerProtocolAssignment;
use fanlog_protocol::messages::offset_commit_request::{
    OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic,
};
use fanlog_protocol::messages::offset_fetch_request::{
    OffsetFetchRequest, OffsetFetchRequestGroup, OffsetFetchRequestTopic, OffsetFetchRequestTopics,
};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// What a group has committed: for these partitions, or for all.
pub(crate) async fn fetch_committed(
    connection: &Connection,
    group: &str,
    partitions: Option<&[TopicPartition]>,
) -> Result<BTreeMap<TopicPartition, Committed>, ClientError> {
    let api = ApiKey::OffsetFetch;
    let version = connection.version(api)?;
    let request = fetch_request(version, group, partitions);
    let reply = connection.call(&request).await?;
    let answer = reply.read()?;
    let about = format!("group '{group}'");
    connection.check(api, &about, answer.error_code, None)?;
    let mut committed = BTreeMap::new();
    for topic in &answer.topics {
        for one in &topic.partitions {
            let offset = (one.committed_offset, one.committed_leader_epoch);
            let fields = (one.partition_index, one.error_code, offset, &one.metadata);
            take_committed(connection, &topic.name, fields, &mut committed)?;
        }
    }
    for of_group in &answer.groups {
        connection.check(api, &about, of_group.error_code, None)?;
        for topic in &of_group.topics {
            for one in &topic.partitions {
                let offset = (one.committed_offset, one.committed_leader_epoch);
                let fields = (one.partition_index, one.error_code, offset, &one.metadata);
                take_committed(connection, &topic.name, fields, &mut committed)?;
            }
        }
    }
    Ok(committed)
}

/// From version 8 several groups can be asked for at once, before it is one by its name.
fn fetch_request<'a>(
    version: i16,
    group: &'a str,
    partitions: Option<&'a [TopicPartition]>,
) -> OffsetFetchRequest<'a> {
    let by_topic = partitions.map(by_topic);
    if version >= 8 {
        let topics = by_topic.map(|topics| {
            let topics = topics
                .into_iter()
                .map(|(name, indexes)| OffsetFetchRequestTopics {
                    name: Cow::Borrowed(name),
                    partition_indexes: indexes,
                    ..OffsetFetchRequestTopics::default()
                });
            topics.collect()
        });
        let group = OffsetFetchRequestGroup {
            group_id: Cow::Borrowed(group),
            topics,
            ..OffsetFetchRequestGroup::default()
        };
        OffsetFetchRequest {
            groups: vec![group],
            ..OffsetFetchRequest::default()
        }
    } else {
        let topics = by_topic.map(|topics| {
            let topics = topics
                .into_iter()
                .map(|(name, indexes)| OffsetFetchRequestTopic {
                    name: Cow::Borrowed(name),
                    partition_indexes: indexes,
                });
            topics.collect()
        });
        OffsetFetchRequest {
            group_id: Cow::Borrowed(group),
            topics,
            ..OffsetFetchRequest::default()
        }
    }
}

/// Partition, error code, offset and its leader epoch, metadata: the two shapes of answer have these in common.
type CommittedFields<'a> = (i32, i16, (i64, i32), &'a Option<Cow<'a, str>>);

fn take_committed(
    connection: &Connection,
    topic: &str,
    (index, error_code, (offset, leader_epoch), metadata): CommittedFields<'_>,
    committed: &mut BTreeMap<TopicPartition, Committed>,
) -> Result<(), ClientError> {
    let partition = partition(topic, index)?;
    let about = partition.to_string();
    connection.check(ApiKey::OffsetFetch, &about, error_code, None)?;
    // -1 says that nothing was committed.
    if offset >= 0 {
        let one = Committed {
            offset: Offset(offset),
            leader_epoch: LeaderEpoch(leader_epoch),
            metadata: metadata.as_deref().unwrap_or_default().to_owned(),
        };
        committed.insert(partition, one);
    }
    Ok(())
}

/// Commits, as a member of the group or from outside.
pub(crate) async fn commit(
    connection: &Connection,
    group: &str,
    member: Option<&Member>,
    offsets: &BTreeMap<TopicPartition, Offset>,
) -> Result<(), ClientError> {
    let mut topics = BTreeMap::<&str, Vec<_>>::new();
    for (partition, offset) in offsets {
        let of_topic = topics.entry(partition.topic.as_str()).or_default();
        of_topic.push(OffsetCommitRequestPartition {
            partition_index: partition.partition.get(),
            committed_offset: offset.get(),
            committed_metadata: Some(Cow::Borrowed("")),
            ..OffsetCommitRequestPartition::default()
        });
    }
    let topics = topics
        .into_iter()
        .map(|(name, partitions)| OffsetCommitRequestTopic {
            name: Cow::Borrowed(name),
            partitions,
            ..OffsetCommitRequestTopic::default()
        });
    let mut request = OffsetCommitRequest {
        group_id: Cow::Borrowed(group),
        topics: topics.collect(),
        ..OffsetCommitRequest::default()
    };
    if let Some(member) = member {
        request.generation_id_or_member_epoch = member.generation;
        request.member_id = Cow::Borrowed(&member.id);
        request.group_instance_id = member.instance_id.as_deref().map(Cow::Borrowed);
    }
    let reply = connection.call(&request).await?;
    let answer = reply.read()?;
    for topic in &answer.topics {
        for one in &topic.partitions {
            let about = format!("{}-{} of group '{group}'", topic.name, one.partition_index);
            connection.check(ApiKey::OffsetCommit, &about, one.error_code, None)?;
        }
    }
    Ok(())
}

fn by_topic(partitions: &[TopicPartition]) -> BTreeMap<&str, Vec<i32>> {
    let mut topics = BTreeMap::<&str, Vec<i32>>::new();
    for one in partitions {
        let indexes = topics.entry(one.topic.as_str()).or_default();
        indexes.push(one.partition.get());
    }
    topics
}

fn partition(topic: &str, index: i32) -> Result<TopicPartition, ClientError> {
    let topic = TopicName::new(topic);
    Ok(TopicPartition {
        topic: topic.map_err(|error| ClientError::Invalid(error.to_string()))?,
        partition: PartitionIndex(index),
    })
}

/// The partitions that an assignment names.
pub(crate) fn assigned_partitions(
    assignment: &ConsumerProtocolAssignment<'_>,
) -> Result<Vec<TopicPartition>, ClientError> {
    let partitions = assignment.assigned_partitions.iter().flat_map(|topic| {
        topic
            .partitions
            .iter()
            .map(|index| partition(&topic.topic, *index))
    });
    partitions.collect()
}
