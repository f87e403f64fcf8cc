//! Metadata, versions 0-13: brokers, topics, partitions and who leads them. Here: always this broker.
//!
//! Behaviour: all topics where none are named (version 0: an empty list, later: null); a topic that does not exist
//! is created where client and `auto.create.topics.enable` allow it, and answered once it is durable. The address
//! is the advertised one, else the one that the client reached.
//! Versions: 1 controller, internal topics; 2 cluster id; 4 auto-creation as the client wishes; 7 leader epochs; 8
//! authorised operations (the cluster's until 10); 9 flexible; 10 topic ids in answers; 12 topics by id; 13 error on top.
//! Not implemented: racks, other listeners.

use crate::authorized_operations as operations;
use crate::context::ConnectionContext;
use crate::errors;
use crate::partition_state::PartitionState;
use fanlog_broker::{Partition, Topic, TopicsView};
use fanlog_model::{TopicId, TopicName};
use fanlog_protocol::ErrorCode;
use fanlog_protocol::messages::metadata_request::MetadataRequestTopic;
use fanlog_protocol::messages::metadata_response::{
    MetadataResponseBroker, MetadataResponsePartition, MetadataResponseTopic,
};
use fanlog_protocol::messages::{MetadataRequest, MetadataResponse, RequestHeader};
use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

const AUTO_CREATION_IS_ASKED_SINCE: i16 = 4;
const TOPIC_IDS_SINCE: i16 = 12;

pub(crate) async fn handle(
    context: &ConnectionContext,
    _header: &RequestHeader<'_>,
    request: MetadataRequest<'_>,
    version: i16,
) -> MetadataResponse<'static> {
    if let Some(refused) = refuse_ids_too_early(&request, version) {
        return refused;
    }
    let broker = context.broker();
    let (host, port) = context.advertised();
    let node_id = broker.node_id().0;
    let topics = match &request.topics {
        None => all_topics(context, &request),
        Some(named) if named.is_empty() && version == 0 => all_topics(context, &request),
        Some(named) => named_topics(context, &request, named, version).await,
    };
    MetadataResponse {
        brokers: vec![MetadataResponseBroker {
            node_id,
            host: Cow::Owned(host),
            port: i32::from(port),
            rack: None,
        }],
        cluster_id: Some(Cow::Owned(broker.cluster_id().to_owned())),
        controller_id: node_id,
        topics,
        cluster_authorized_operations: operations::if_asked(
            request.include_cluster_authorized_operations,
            operations::CLUSTER,
        ),
        ..Default::default()
    }
}

/// Versions 10 and 11 have a place for ids, but take names only: the request as a whole is refused. Names are
/// then empty where they were null, since these versions cannot carry a null name back.
fn refuse_ids_too_early(
    request: &MetadataRequest<'_>,
    version: i16,
) -> Option<MetadataResponse<'static>> {
    let named = request.topics.as_deref().unwrap_or_default();
    let is_illegal =
        |topic: &MetadataRequestTopic<'_>| topic.name.is_none() || !topic.topic_id.is_nil();
    if version >= TOPIC_IDS_SINCE || !named.iter().any(is_illegal) {
        return None;
    }
    let answer = |topic: &MetadataRequestTopic<'_>| {
        let name = topic.name.as_deref().unwrap_or_default();
        missing(
            ErrorCode::InvalidRequest,
            Some(name),
            TopicId(topic.topic_id),
        )
    };
    Some(MetadataResponse {
        topics: named.iter().map(answer).collect(),
        ..Default::default()
    })
}

fn all_topics(
    context: &ConnectionContext,
    request: &MetadataRequest<'_>,
) -> Vec<MetadataResponseTopic<'static>> {
    let topics = context.broker().topics();
    topics
        .iter()
        .map(|topic| existing(context, topic, request))
        .collect()
}

async fn named_topics(
    context: &ConnectionContext,
    request: &MetadataRequest<'_>,
    named: &[MetadataRequestTopic<'_>],
    version: i16,
) -> Vec<MetadataResponseTopic<'static>> {
    let may_create = version < AUTO_CREATION_IS_ASKED_SINCE || request.allow_auto_topic_creation;
    let mut topics = context.broker().topics();
    let mut seen = HashSet::new();
    let mut answers = Vec::with_capacity(named.len());
    for wanted in named {
        let (name, id) = (wanted.name.as_deref(), TopicId(wanted.topic_id));
        if !seen.insert((name, id)) {
            continue;
        }
        let found = match name {
            // An id stands for the topic alone, and never creates one.
            _ if !id.is_zero() => topics.by_id(id).cloned().ok_or(ErrorCode::UnknownTopicId),
            None => Err(ErrorCode::UnknownTopicId),
            Some(name) => by_name(context, &mut topics, name, may_create).await,
        };
        answers.push(match found {
            Ok(topic) => existing(context, &topic, request),
            // As in Kafka: whoever may do something may do it before the topic is there. An id says nothing of a topic.
            Err(error) => MetadataResponseTopic {
                topic_authorized_operations: operations::if_asked(
                    request.include_topic_authorized_operations
                        && error != ErrorCode::UnknownTopicId,
                    operations::TOPIC,
                ),
                ..missing(error, name, id)
            },
        });
    }
    answers
}

async fn by_name(
    context: &ConnectionContext,
    topics: &mut Arc<TopicsView>,
    name: &str,
    may_create: bool,
) -> Result<Arc<Topic>, ErrorCode> {
    let name = TopicName::new(name).map_err(|_| ErrorCode::InvalidTopicException)?;
    if let Some(topic) = topics.by_name(&name) {
        return Ok(Arc::clone(topic));
    }
    if !may_create {
        return Err(ErrorCode::UnknownTopicOrPartition);
    }
    let created = context.broker().auto_create_topic(&name).await;
    *topics = context.broker().topics();
    created.map_err(|error| errors::of_auto_create(&error))
}

fn existing(
    context: &ConnectionContext,
    topic: &Topic,
    request: &MetadataRequest<'_>,
) -> MetadataResponseTopic<'static> {
    let node_id = context.broker().node_id();
    let partition = |partition: &Arc<Partition>| {
        let state = PartitionState::of(partition, node_id);
        MetadataResponsePartition {
            error_code: state.error.code(),
            partition_index: state.index,
            leader_id: state.leader_id,
            leader_epoch: state.leader_epoch,
            replica_nodes: state.replicas,
            isr_nodes: state.in_sync,
            offline_replicas: state.offline,
        }
    };
    MetadataResponseTopic {
        error_code: ErrorCode::None.code(),
        name: Some(Cow::Owned(topic.name.to_string())),
        topic_id: topic.id.0,
        is_internal: topic.is_internal,
        partitions: topic.partitions.iter().map(partition).collect(),
        topic_authorized_operations: operations::if_asked(
            request.include_topic_authorized_operations,
            operations::TOPIC,
        ),
    }
}

fn missing(error: ErrorCode, name: Option<&str>, id: TopicId) -> MetadataResponseTopic<'static> {
    MetadataResponseTopic {
        error_code: error.code(),
        // Only versions that know topics by id let the name be null.
        name: match id.is_zero() {
            true => Some(Cow::Owned(name.unwrap_or_default().to_owned())),
            false => name.map(|name| Cow::Owned(name.to_owned())),
        },
        topic_id: id.0,
        ..Default::default()
    }
}
