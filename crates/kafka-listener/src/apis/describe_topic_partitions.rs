//! DescribeTopicPartitions, version 0: topics in the order of their names, page by page (KIP-966).
//!
//! Behaviour: all topics where none are named; at most `response_partition_limit` partitions, and never more than
//! `max.request.partition.size.limit`; the cursor says where the next page begins. Names that no topic has are answered with an error, except
//! where all topics were asked for. Authorised operations are always told.
//! Not implemented: eligible leader replicas; both lists are empty, as with a single replica none is needed.

use crate::authorized_operations as operations;
use crate::context::ConnectionContext;
use crate::partition_state::PartitionState;
use fanlog_broker::{Partition, Topic, TopicsView};
use fanlog_model::{BrokerId, TopicName};
use fanlog_protocol::ErrorCode;
use fanlog_protocol::messages::describe_topic_partitions_response::{
    Cursor, DescribeTopicPartitionsResponsePartition, DescribeTopicPartitionsResponseTopic,
};
use fanlog_protocol::messages::{
    DescribeTopicPartitionsRequest, DescribeTopicPartitionsResponse, RequestHeader,
};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

pub(crate) async fn handle(
    context: &ConnectionContext,
    _header: &RequestHeader<'_>,
    request: DescribeTopicPartitionsRequest<'_>,
    _version: i16,
) -> DescribeTopicPartitionsResponse<'static> {
    let cursor = request.cursor.as_ref();
    let from = (
        cursor.map_or("", |c| &c.topic_name),
        cursor.map_or(0, |c| c.partition_index),
    );
    // A cursor goes on with one of the topics that are asked for.
    let is_stray = cursor.is_some_and(|cursor| {
        !request.topics.is_empty()
            && request
                .topics
                .iter()
                .all(|topic| topic.name != cursor.topic_name)
    });
    if from.1 < 0 || is_stray {
        let topics = request
            .topics
            .iter()
            .map(|topic| missing(&topic.name, ErrorCode::InvalidRequest));
        return DescribeTopicPartitionsResponse {
            topics: topics.collect(),
            ..Default::default()
        };
    }
    let topics = context.broker().topics();
    let asked = usize::try_from(request.response_partition_limit).unwrap_or(0);
    let most = context.broker().settings().max_request_partitions as usize;
    let mut page = Page {
        node: context.broker().node_id(),
        room: asked.clamp(1, most),
        topics: Vec::new(),
        next: None,
    };
    if request.topics.is_empty() {
        let all = topics.iter().map(|topic| (topic.name.as_str(), Ok(topic)));
        page.fill(all.filter(|(name, _)| *name >= from.0), from);
    } else {
        let named: BTreeSet<&str> = request
            .topics
            .iter()
            .map(|topic| topic.name.as_ref())
            .collect();
        let wanted = named.into_iter().filter(|name| *name >= from.0);
        page.fill(wanted.map(|name| (name, find(&topics, name))), from);
    }
    DescribeTopicPartitionsResponse {
        topics: page.topics,
        next_cursor: page.next,
        ..Default::default()
    }
}

fn find<'t>(topics: &'t TopicsView, name: &str) -> Result<&'t Arc<Topic>, ErrorCode> {
    let name = TopicName::new(name).map_err(|_| ErrorCode::InvalidTopicException)?;
    topics
        .by_name(&name)
        .ok_or(ErrorCode::UnknownTopicOrPartition)
}

/// One answer while it fills up.
struct Page {
    node: BrokerId,
    room: usize,
    topics: Vec<DescribeTopicPartitionsResponseTopic<'static>>,
    next: Option<Cursor<'static>>,
}

impl Page {
    fn fill<'t>(
        &mut self,
        wanted: impl Iterator<Item = (&'t str, Result<&'t Arc<Topic>, ErrorCode>)>,
        (first_topic, first_partition): (&str, i32),
    ) {
        for (name, found) in wanted {
            let topic = match found {
                Err(error) => {
                    self.topics.push(DescribeTopicPartitionsResponseTopic {
                        topic_authorized_operations: operations::TOPIC,
                        ..missing(name, error)
                    });
                    continue;
                }
                Ok(topic) => topic,
            };
            let from = if name == first_topic {
                first_partition
            } else {
                0
            };
            if self.room == 0 {
                self.next = Some(cursor(name, from));
                return;
            }
            let from = usize::try_from(from)
                .unwrap_or(0)
                .min(topic.partitions.len());
            let shown = self.room.min(topic.partitions.len() - from);
            let end = from + shown;
            self.room -= shown;
            self.topics
                .push(existing(topic, &topic.partitions[from..end], self.node));
            if end < topic.partitions.len() {
                self.next = Some(cursor(name, i32::try_from(end).unwrap_or(i32::MAX)));
                return;
            }
        }
    }
}

fn cursor(topic: &str, partition_index: i32) -> Cursor<'static> {
    Cursor {
        topic_name: Cow::Owned(topic.to_owned()),
        partition_index,
    }
}

fn existing(
    topic: &Topic,
    partitions: &[Arc<Partition>],
    node: BrokerId,
) -> DescribeTopicPartitionsResponseTopic<'static> {
    let partition = |partition: &Arc<Partition>| {
        let state = PartitionState::of(partition, node);
        DescribeTopicPartitionsResponsePartition {
            error_code: state.error.code(),
            partition_index: state.index,
            leader_id: state.leader_id,
            leader_epoch: state.leader_epoch,
            replica_nodes: state.replicas,
            isr_nodes: state.in_sync,
            eligible_leader_replicas: Some(Vec::new()),
            last_known_elr: Some(Vec::new()),
            offline_replicas: state.offline,
        }
    };
    DescribeTopicPartitionsResponseTopic {
        error_code: ErrorCode::None.code(),
        name: Some(Cow::Owned(topic.name.to_string())),
        topic_id: topic.id.0,
        is_internal: topic.is_internal,
        partitions: partitions.iter().map(partition).collect(),
        topic_authorized_operations: operations::TOPIC,
    }
}

fn missing(name: &str, error: ErrorCode) -> DescribeTopicPartitionsResponseTopic<'static> {
    DescribeTopicPartitionsResponseTopic {
        error_code: error.code(),
        name: Some(Cow::Owned(name.to_owned())),
        ..Default::default()
    }
}
