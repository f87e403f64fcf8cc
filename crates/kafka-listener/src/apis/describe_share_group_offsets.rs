//! DescribeShareGroupOffsets, versions 0-1: where share groups stand (KIP-932).
//!
//! Behaviour: the first offset of each partition that the group is not done with; -1 where it has not begun or has no state, also of
//! topics and groups that don't exist, as in Kafka. Without topics all are listed that the group has a state of.
//! Versions: 1 how many records it is not done with (KIP-1226).

use crate::context::ConnectionContext;
use crate::errors;
use fanlog_broker::{CoordinatorError, ShareOffset, SharePartitionRef, TopicRef};
use fanlog_model::{GroupId, PartitionIndex, TopicId, TopicName};
use fanlog_protocol::messages::describe_share_group_offsets_request::DescribeShareGroupOffsetsRequestGroup;
use fanlog_protocol::messages::describe_share_group_offsets_response::{
    DescribeShareGroupOffsetsResponseGroup, DescribeShareGroupOffsetsResponsePartition,
    DescribeShareGroupOffsetsResponseTopic,
};
use fanlog_protocol::messages::{
    DescribeShareGroupOffsetsRequest, DescribeShareGroupOffsetsResponse, RequestHeader,
};
use std::borrow::Cow;

pub(crate) async fn handle(
    context: &ConnectionContext,
    _header: &RequestHeader<'_>,
    request: DescribeShareGroupOffsetsRequest<'_>,
    _version: i16,
) -> DescribeShareGroupOffsetsResponse<'static> {
    let groups = request.groups.iter().map(|group| {
        let id = GroupId::from(group.group_id.as_ref());
        let mut answer = match topics(context, &id, group) {
            Ok(topics) => DescribeShareGroupOffsetsResponseGroup {
                topics,
                ..Default::default()
            },
            Err(error) => DescribeShareGroupOffsetsResponseGroup {
                error_code: errors::of_coordinator(&error).code(),
                error_message: Some(Cow::Owned(error.to_string())),
                ..Default::default()
            },
        };
        answer.group_id = Cow::Owned(id.to_string());
        answer
    });
    DescribeShareGroupOffsetsResponse {
        groups: groups.collect(),
        ..Default::default()
    }
}

type Topics = Vec<DescribeShareGroupOffsetsResponseTopic<'static>>;

fn topics(
    context: &ConnectionContext,
    group: &GroupId,
    wanted: &DescribeShareGroupOffsetsRequestGroup<'_>,
) -> Result<Topics, CoordinatorError> {
    let Some(wanted) = &wanted.topics else {
        return all_topics(context, group);
    };
    let view = context.broker().topics();
    let mut topics = Vec::with_capacity(wanted.len());
    for topic in wanted {
        let named = TopicName::new(topic.topic_name.as_ref()).ok();
        let known = named.and_then(|name| view.topic(&TopicRef::Name(name)).ok());
        let id = known.map_or(TopicId::ZERO, |topic| topic.id);
        let mut partitions = Vec::with_capacity(topic.partitions.len());
        for index in &topic.partitions {
            partitions.push(partition(context, group, id, *index)?);
        }
        topics.push(DescribeShareGroupOffsetsResponseTopic {
            topic_name: Cow::Owned(topic.topic_name.to_string()),
            topic_id: id.0,
            partitions,
        });
    }
    Ok(topics)
}

fn all_topics(context: &ConnectionContext, group: &GroupId) -> Result<Topics, CoordinatorError> {
    let view = context.broker().topics();
    let mut topics: Topics = Vec::new();
    for of in context.broker().shares().partitions_of(group)? {
        let Some(topic) = view.by_id(of.topic) else {
            continue;
        };
        let described = partition(context, group, of.topic, of.partition.0)?;
        match topics.last_mut() {
            Some(last) if last.topic_id == of.topic.0 => last.partitions.push(described),
            _ => topics.push(DescribeShareGroupOffsetsResponseTopic {
                topic_name: Cow::Owned(topic.name.to_string()),
                topic_id: of.topic.0,
                partitions: vec![described],
            }),
        }
    }
    Ok(topics)
}

fn partition(
    context: &ConnectionContext,
    group: &GroupId,
    topic: TopicId,
    index: i32,
) -> Result<DescribeShareGroupOffsetsResponsePartition<'static>, CoordinatorError> {
    let of = SharePartitionRef {
        topic,
        partition: PartitionIndex(index),
    };
    let offset = context.broker().shares().offset(group, of)?;
    let begun = offset.filter(|offset| offset.start.is_some());
    let start = |offset: ShareOffset| offset.start.map_or(-1, |start| start.0);
    Ok(DescribeShareGroupOffsetsResponsePartition {
        partition_index: index,
        start_offset: begun.map_or(-1, start),
        leader_epoch: begun.map_or(0, |offset| offset.leader_epoch.0),
        lag: begun.and_then(|offset| offset.lag).unwrap_or(-1),
        ..Default::default()
    })
}
