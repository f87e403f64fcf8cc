//! DescribeQuorum, versions 0-2: the quorum behind the catalog: one voter, this broker, which leads it.
//!
//! Behaviour: Kafka's tools ask for partition 0 of `__cluster_metadata`; what answers here is the catalog's log. Any
//! other partition, or several, is UNKNOWN_TOPIC_OR_PARTITION.
//! Versions: 1 times of the last fetch; 2 directory ids, nodes, error messages.
//! Not implemented: directory ids; the zero id stands for "unassigned".

use crate::context::ConnectionContext;
use fanlog_protocol::ErrorCode;
use fanlog_protocol::messages::describe_quorum_response::{
    Listener, Node, PartitionData, ReplicaState, TopicData,
};
use fanlog_protocol::messages::{DescribeQuorumRequest, DescribeQuorumResponse, RequestHeader};
use std::borrow::Cow;

const METADATA_TOPIC: &str = "__cluster_metadata";
const METADATA_PARTITION: i32 = 0;
const NODES_SINCE: i16 = 2;

pub(crate) async fn handle(
    context: &ConnectionContext,
    _header: &RequestHeader<'_>,
    request: DescribeQuorumRequest<'_>,
    version: i16,
) -> DescribeQuorumResponse<'static> {
    if !asks_for_the_catalog(&request) {
        let topics = unknown(&request);
        return DescribeQuorumResponse {
            error_message: None,
            topics,
            ..Default::default()
        };
    }
    let topics = vec![TopicData {
        topic_name: Cow::Borrowed(METADATA_TOPIC),
        partitions: vec![quorum(context)],
    }];
    let nodes = match version >= NODES_SINCE {
        true => vec![node(context)],
        false => Vec::new(),
    };
    DescribeQuorumResponse {
        error_message: None,
        topics,
        nodes,
        ..Default::default()
    }
}

fn asks_for_the_catalog(request: &DescribeQuorumRequest<'_>) -> bool {
    let [topic] = request.topics.as_slice() else {
        return false;
    };
    let [partition] = topic.partitions.as_slice() else {
        return false;
    };
    topic.topic_name == METADATA_TOPIC && partition.partition_index == METADATA_PARTITION
}

fn unknown(request: &DescribeQuorumRequest<'_>) -> Vec<TopicData<'static>> {
    let topics = request.topics.iter().map(|topic| TopicData {
        topic_name: Cow::Owned(topic.topic_name.to_string()),
        partitions: topic
            .partitions
            .iter()
            .map(|partition| PartitionData {
                partition_index: partition.partition_index,
                error_code: ErrorCode::UnknownTopicOrPartition.code(),
                error_message: Some(Cow::Borrowed(
                    "only partition 0 of __cluster_metadata has a quorum",
                )),
                ..Default::default()
            })
            .collect(),
    });
    topics.collect()
}

fn quorum(context: &ConnectionContext) -> PartitionData<'static> {
    let broker = context.broker();
    let now = broker.environment().clock.wall_ms().0;
    let high_watermark = broker.catalog_end_offset().0;
    PartitionData {
        partition_index: METADATA_PARTITION,
        error_message: None,
        leader_id: broker.node_id().0,
        leader_epoch: broker.leader_epoch().0,
        high_watermark,
        current_voters: vec![ReplicaState {
            replica_id: broker.node_id().0,
            log_end_offset: high_watermark,
            last_fetch_timestamp: now,
            last_caught_up_timestamp: now,
            ..Default::default()
        }],
        ..Default::default()
    }
}

fn node(context: &ConnectionContext) -> Node<'static> {
    let (host, port) = context.advertised();
    Node {
        node_id: context.broker().node_id().0,
        listeners: vec![Listener {
            name: Cow::Borrowed("PLAINTEXT"),
            host: Cow::Owned(host),
            port,
        }],
    }
}
