//! Offsets by time and epoch, producers, elections and the quorum, in every version.

mod common;

use common::*;
use fanlog_protocol::messages::describe_producers_request::TopicRequest;
use fanlog_protocol::messages::describe_quorum_request::{PartitionData, TopicData};
use fanlog_protocol::messages::elect_leaders_request::TopicPartitions;
use fanlog_protocol::messages::list_offsets_request::{ListOffsetsPartition, ListOffsetsTopic};
use fanlog_protocol::messages::list_offsets_response::ListOffsetsPartitionResponse;
use fanlog_protocol::messages::offset_for_leader_epoch_request::{
    OffsetForLeaderPartition, OffsetForLeaderTopic,
};
use fanlog_protocol::messages::{
    DescribeProducersRequest, DescribeQuorumRequest, ElectLeadersRequest, InitProducerIdRequest,
    ListOffsetsRequest, ListPartitionReassignmentsRequest, OffsetForLeaderEpochRequest,
};
use fanlog_protocol::{ApiKey, ErrorCode};

fn list(topic: &'static str, timestamps: &[i64]) -> ListOffsetsRequest<'static> {
    let partition = |(index, timestamp): (usize, &i64)| ListOffsetsPartition {
        partition_index: index as i32,
        timestamp: *timestamp,
        ..Default::default()
    };
    ListOffsetsRequest {
        replica_id: -1,
        topics: vec![ListOffsetsTopic {
            name: topic.into(),
            partitions: timestamps.iter().enumerate().map(partition).collect(),
        }],
        ..Default::default()
    }
}

async fn look_up(
    client: &mut Client,
    timestamp: i64,
    version: i16,
) -> ListOffsetsPartitionResponse {
    let mut response = client.call(&list("t", &[timestamp]), version).await;
    response.topics.remove(0).partitions.remove(0)
}

#[tokio::test]
async fn offsets_are_found_by_time_and_by_special_timestamps() {
    let server = Server::start().await;
    server.topic("t", 1).await;
    let epoch = server.broker.leader_epoch().0;
    let mut client = server.client().await;
    assert_eq!(
        look_up(&mut client, -3, 7).await.offset,
        -1,
        "an empty log has no newest record"
    );
    // Times out of order: 100, 100, 300, 200.
    client.produce("t", -1, batch_at(&["a", "b"], 100)).await;
    client.produce("t", -1, batch_at(&["c"], 300)).await;
    client.produce("t", -1, batch_at(&["d"], 200)).await;
    for version in versions(ApiKey::ListOffsets) {
        // Timestamp asked for, since which version, the offset and the time found.
        let cases = [
            (-1, 1, 4, -1),
            (-2, 1, 0, -1),
            (-3, 7, 2, 300),
            (-4, 8, 0, -1),
            (-5, 9, -1, -1),
            (-6, 11, -1, -1),
            (0, 1, 0, 100),
            (101, 1, 2, 300),
            (300, 1, 2, 300),
            (301, 1, -1, -1),
        ];
        for (timestamp, since, offset, time) in cases {
            let found = look_up(&mut client, timestamp, version).await;
            if version < since {
                assert_eq!(error(found.error_code), ErrorCode::UnsupportedVersion);
                continue;
            }
            let expected = ListOffsetsPartitionResponse {
                partition_index: 0,
                error_code: 0,
                timestamp: time,
                offset,
                leader_epoch: if version >= 4 && offset >= 0 {
                    epoch
                } else {
                    -1
                },
            };
            assert_eq!(found, expected, "{timestamp} in version {version}");
        }
    }
}

#[tokio::test]
async fn offsets_are_refused_with_their_reasons() {
    let server = Server::start().await;
    server.topic("t", 1).await;
    let epoch = server.broker.leader_epoch().0;
    let mut client = server.client().await;
    let with = |change: &dyn Fn(&mut ListOffsetsRequest<'static>)| {
        let mut request = list("t", &[-1]);
        change(&mut request);
        request
    };
    let cases = [
        (list("none", &[-1]), ErrorCode::UnknownTopicOrPartition),
        (list("a/b", &[-1]), ErrorCode::UnknownTopicOrPartition),
        (
            with(&|r| r.topics[0].partitions[0].partition_index = 1),
            ErrorCode::UnknownTopicOrPartition,
        ),
        (
            with(&|r| r.replica_id = 1),
            ErrorCode::ClusterAuthorizationFailed,
        ),
        (
            with(&|r| r.topics.extend(r.topics.clone())),
            ErrorCode::InvalidRequest,
        ),
        (
            with(&|r| r.topics[0].partitions[0].current_leader_epoch = epoch + 1),
            ErrorCode::UnknownLeaderEpoch,
        ),
        (
            with(&|r| r.topics[0].partitions[0].current_leader_epoch = epoch - 1),
            ErrorCode::FencedLeaderEpoch,
        ),
        (
            with(&|r| r.topics[0].partitions[0].current_leader_epoch = epoch),
            ErrorCode::None,
        ),
        (
            with(&|r| r.topics[0].partitions[0].timestamp = -99),
            ErrorCode::UnsupportedVersion,
        ),
    ];
    for (request, expected) in cases {
        let response = client.call(&request, 7).await;
        assert_eq!(
            error(response.topics[0].partitions[0].error_code),
            expected,
            "{request:?}"
        );
    }
}

#[tokio::test]
async fn an_epoch_ends_where_the_next_begins_also_after_a_restart() {
    let server = Server::start().await;
    server.topic("t", 1).await;
    let first = server.broker.leader_epoch().0;
    let mut client = server.client().await;
    client.produce("t", -1, batch(&["a", "b"])).await;
    let server = server.restart().await;
    let second = server.broker.leader_epoch().0;
    assert!(second > first, "the leader epoch rises at every start");
    let mut client = server.client().await;
    let ask = |leader_epoch, current_leader_epoch| OffsetForLeaderEpochRequest {
        replica_id: -1,
        topics: vec![OffsetForLeaderTopic {
            topic: "t".into(),
            partitions: vec![OffsetForLeaderPartition {
                partition: 0,
                current_leader_epoch,
                leader_epoch,
            }],
        }],
    };
    for version in versions(ApiKey::OffsetForLeaderEpoch) {
        // Before the new epoch's first append, and after it.
        let end = 2 + i64::from(version - 2);
        let cases = [
            (first, (0, first, 2)),
            (second, (0, second, end)),
            // Before the first epoch, and one that is yet to come.
            (first - 1, (0, first - 1, 0)),
            (second + 1, (0, -1, -1)),
        ];
        for (epoch, expected) in cases {
            let response = client.call(&ask(epoch, second), version).await;
            let found = &response.topics[0].partitions[0];
            assert_eq!(
                (found.error_code, found.leader_epoch, found.end_offset),
                expected,
                "epoch {epoch}"
            );
        }
        client.produce("t", -1, batch(&["c"])).await;
    }
    let response = client.call(&ask(first, first), 4).await;
    assert_eq!(
        error(response.topics[0].partitions[0].error_code),
        ErrorCode::FencedLeaderEpoch
    );
    let replica = OffsetForLeaderEpochRequest {
        replica_id: 1,
        ..ask(first, second)
    };
    let response = client.call(&replica, 4).await;
    assert_eq!(
        error(response.topics[0].partitions[0].error_code),
        ErrorCode::ClusterAuthorizationFailed
    );
}

#[tokio::test]
async fn producer_ids_are_unique_and_their_retries_harmless() {
    let server = Server::start().await;
    server.topic("t", 1).await;
    let mut client = server.client().await;
    let mut ids = Vec::new();
    for version in versions(ApiKey::InitProducerId) {
        let request = InitProducerIdRequest {
            transactional_id: None,
            ..Default::default()
        };
        let response = client.call(&request, version).await;
        assert_eq!((response.error_code, response.producer_epoch), (0, 0));
        ids.push(response.producer_id);
    }
    let half = InitProducerIdRequest {
        transactional_id: None,
        producer_id: 5,
        ..Default::default()
    };
    assert_eq!(
        error(client.call(&half, 4).await.error_code),
        ErrorCode::InvalidRequest
    );
    let id = ids[0];
    ids.dedup();
    assert_eq!(ids.len(), 6);

    // Batches, what each is answered with: (error, base offset).
    let script = [
        (idempotent_batch(&["a", "b"], id, 0, 0), ErrorCode::None, 0),
        (idempotent_batch(&["a", "b"], id, 0, 0), ErrorCode::None, 0),
        (idempotent_batch(&["c"], id, 0, 2), ErrorCode::None, 2),
        (
            idempotent_batch(&["e"], id, 0, 4),
            ErrorCode::OutOfOrderSequenceNumber,
            -1,
        ),
        (idempotent_batch(&["d"], id, 1, 0), ErrorCode::None, 3),
        (
            idempotent_batch(&["x"], id, 0, 3),
            ErrorCode::InvalidProducerEpoch,
            -1,
        ),
    ];
    for (batch, expected, offset) in script {
        let response = client.produce("t", -1, batch).await;
        let partition = &response.responses[0].partition_responses[0];
        assert_eq!(
            (error(partition.error_code), partition.base_offset),
            (expected, offset)
        );
    }
    assert_eq!(values(&client.fetch("t", 0).await).len(), 4);

    let describe = |topic: &'static str, indexes: &[i32]| DescribeProducersRequest {
        topics: vec![TopicRequest {
            name: topic.into(),
            partition_indexes: indexes.to_vec(),
        }],
    };
    let response = client.call(&describe("t", &[0, 1]), 0).await;
    let [known, unknown] = response.topics[0].partitions.as_slice() else {
        panic!("{response:?}")
    };
    let producer = &known.active_producers[0];
    assert_eq!(
        (
            producer.producer_id,
            producer.producer_epoch,
            producer.last_sequence
        ),
        (id, 1, 0)
    );
    assert_eq!(
        (producer.last_timestamp, producer.current_txn_start_offset),
        (1_000, -1)
    );
    assert_eq!(
        error(unknown.error_code),
        ErrorCode::UnknownTopicOrPartition
    );
    let response = client.call(&describe("a/b", &[0]), 0).await;
    assert_eq!(
        error(response.topics[0].partitions[0].error_code),
        ErrorCode::InvalidTopicException
    );
}

#[tokio::test]
async fn one_broker_needs_no_election_no_reassignment_and_is_its_own_quorum() {
    let server = Server::start().await;
    server.topic("t", 1).await;
    let mut client = server.client().await;
    let elect = |topic: &'static str, partitions: &[i32]| TopicPartitions {
        topic: topic.into(),
        partitions: partitions.to_vec(),
    };
    for version in versions(ApiKey::ElectLeaders) {
        let request = ElectLeadersRequest {
            topic_partitions: Some(vec![elect("t", &[0, 1]), elect("none", &[0])]),
            ..Default::default()
        };
        let response = client.call(&request, version).await;
        let outcome: Vec<_> = response
            .replica_election_results
            .iter()
            .flat_map(|topic| &topic.partition_result)
            .map(|partition| error(partition.error_code))
            .collect();
        let unknown = ErrorCode::UnknownTopicOrPartition;
        assert_eq!(outcome, [ErrorCode::ElectionNotNeeded, unknown, unknown]);
        let all = ElectLeadersRequest {
            topic_partitions: None,
            ..Default::default()
        };
        assert!(
            client
                .call(&all, version)
                .await
                .replica_election_results
                .is_empty()
        );
    }
    let response = client
        .call(&ListPartitionReassignmentsRequest::default(), 0)
        .await;
    assert_eq!((response.error_code, response.topics.len()), (0, 0));

    let quorum = |topic: &'static str| DescribeQuorumRequest {
        topics: vec![TopicData {
            topic_name: topic.into(),
            partitions: vec![PartitionData { partition_index: 0 }],
        }],
    };
    for version in versions(ApiKey::DescribeQuorum) {
        let response = client.call(&quorum("__cluster_metadata"), version).await;
        let partition = &response.topics[0].partitions[0];
        assert_eq!(
            (
                response.error_code,
                partition.error_code,
                partition.leader_id
            ),
            (0, 0, NODE_ID)
        );
        assert_eq!(partition.current_voters.len(), 1);
        assert!(partition.high_watermark > 0, "the topic's record is there");
        assert_eq!(
            partition.current_voters[0].log_end_offset,
            partition.high_watermark
        );
        assert_eq!(response.nodes.len(), usize::from(version >= 2));
        let response = client.call(&quorum("t"), version).await;
        let partition = &response.topics[0].partitions[0];
        assert_eq!(
            error(partition.error_code),
            ErrorCode::UnknownTopicOrPartition
        );
    }
}
