//! What the differential run (`cargo xtask differ`) found: each test holds an answer to what Kafka 4.4 says there.

mod common;

use common::*;
use fanlog_protocol::messages::create_topics_request::CreatableTopic;
use fanlog_protocol::messages::describe_topic_partitions_request::{Cursor, TopicRequest};
use fanlog_protocol::messages::elect_leaders_request::TopicPartitions;
use fanlog_protocol::messages::fetch_response::PartitionData;
use fanlog_protocol::messages::incremental_alter_configs_request::AlterConfigsResource;
use fanlog_protocol::messages::metadata_request::MetadataRequestTopic;
use fanlog_protocol::messages::{
    ApiVersionsRequest, CreateTopicsRequest, DescribeTopicPartitionsRequest, ElectLeadersRequest,
    FetchRequest, IncrementalAlterConfigsRequest, InitProducerIdRequest, MetadataRequest,
    SyncGroupRequest,
};
use fanlog_protocol::{ApiKey, ErrorCode};

/// The answer of Fetch in any version from 9 on, by id where the version wants it.
async fn fetched_in_epoch(
    client: &mut Client,
    id: uuid::Uuid,
    epoch: i32,
    version: i16,
) -> PartitionData<'static> {
    let mut request = fetch("t", 0, 0);
    request.topics[0].partitions[0].current_leader_epoch = epoch;
    if version >= 13 {
        request.topics[0].topic = "".into();
        request.topics[0].topic_id = id;
    }
    only_partition(&mut client.call(&request, version).await)
}

#[tokio::test]
async fn a_fetch_with_an_older_leader_epoch_is_answered_in_every_version() {
    let server = Server::start().await;
    let id = server.topic("t", 1).await;
    let server = server.restart().await;
    let mut client = server.client().await;
    let epoch = server.broker.leader_epoch().0;
    for version in 9..=18 {
        let partition = fetched_in_epoch(&mut client, id, epoch - 1, version).await;
        assert_eq!(
            error(partition.error_code),
            ErrorCode::FencedLeaderEpoch,
            "version {version}"
        );
        let told = partition.current_leader.leader_epoch;
        assert_eq!(told, if version >= 12 { epoch } else { -1 });
    }
}

#[tokio::test]
async fn a_replica_is_refused_in_versions_without_an_error_on_top_too() {
    let server = Server::start().await;
    server.topic("t", 1).await;
    let mut client = server.client().await;
    for version in 4..=12 {
        let request = FetchRequest {
            replica_id: 1,
            ..fetch("t", 0, 0)
        };
        let response = client.call(&request, version).await;
        let partition = &response.responses[0].partitions[0];
        assert_eq!(
            error(partition.error_code),
            ErrorCode::ClusterAuthorizationFailed,
            "version {version}"
        );
    }
}

#[tokio::test]
async fn metadata_by_id_is_refused_before_version_12_and_the_connection_stays() {
    let server = Server::start().await;
    let id = server.topic("t", 1).await;
    let mut client = server.client().await;
    for version in [10, 11] {
        for name in [None, Some("t".into())] {
            let request = MetadataRequest {
                topics: Some(vec![MetadataRequestTopic { topic_id: id, name }]),
                ..Default::default()
            };
            let response = client.call(&request, version).await;
            let topic = &response.topics[0];
            assert_eq!(error(topic.error_code), ErrorCode::InvalidRequest);
            assert_eq!(topic.topic_id, id);
        }
    }
}

#[tokio::test]
async fn unknown_topics_have_operations_where_they_are_named() {
    let server = Server::start().await;
    let known = server.topic("t", 1).await;
    let mut client = server.client().await;
    let by_name = |name: &'static str| MetadataRequestTopic {
        name: Some(name.into()),
        ..Default::default()
    };
    for version in 8..=13 {
        let mut topics = vec![by_name("t"), by_name("nobody"), by_name("a b")];
        if version >= 12 {
            topics.push(MetadataRequestTopic {
                topic_id: uuid::Uuid::from_u128(known.as_u128() ^ 1),
                name: None,
            });
        }
        let request = MetadataRequest {
            topics: Some(topics),
            include_topic_authorized_operations: true,
            ..Default::default()
        };
        let response = client.call(&request, version).await;
        let told: Vec<i32> = response
            .topics
            .iter()
            .map(|topic| topic.topic_authorized_operations)
            .collect();
        assert_eq!(told[..3], [0b1101_1111_1000; 3], "version {version}");
        assert!(told[3..].iter().all(|told| *told == i32::MIN), "{told:?}");
    }
}

#[tokio::test]
async fn half_an_identity_of_the_cluster_is_an_invalid_request() {
    let server = Server::start().await;
    let mut client = server.client().await;
    let cluster = server.broker.cluster_id().to_owned();
    let cases = [
        (None, -1, ErrorCode::None),
        (Some(cluster.clone()), NODE_ID, ErrorCode::None),
        (Some(cluster.clone()), -1, ErrorCode::InvalidRequest),
        (None, NODE_ID, ErrorCode::InvalidRequest),
        (Some(cluster), NODE_ID + 1, ErrorCode::RebootstrapRequired),
        (
            Some("another".to_owned()),
            NODE_ID,
            ErrorCode::RebootstrapRequired,
        ),
    ];
    for (cluster_id, node_id, expected) in cases {
        let request = ApiVersionsRequest {
            client_software_name: "test".into(),
            client_software_version: "1".into(),
            cluster_id: cluster_id.map(Into::into),
            node_id,
        };
        let response = client.call(&request, 5).await;
        assert_eq!(error(response.error_code), expected, "{request:?}");
    }
}

#[tokio::test]
async fn an_empty_transactional_id_is_an_invalid_request() {
    let server = Server::start().await;
    let mut client = server.client().await;
    for version in versions(ApiKey::InitProducerId) {
        let request = InitProducerIdRequest {
            transactional_id: Some("".into()),
            ..Default::default()
        };
        let response = client.call(&request, version).await;
        assert_eq!(error(response.error_code), ErrorCode::InvalidRequest);
    }
}

#[tokio::test]
async fn a_cursor_goes_on_with_a_topic_that_is_asked_for() {
    let server = Server::start().await;
    server.topic("a", 1).await;
    server.topic("b", 1).await;
    let mut client = server.client().await;
    for (cursor, expected) in [
        ("b", ErrorCode::None),
        ("aa", ErrorCode::InvalidRequest),
        ("", ErrorCode::InvalidRequest),
    ] {
        let request = DescribeTopicPartitionsRequest {
            topics: vec![TopicRequest { name: "b".into() }],
            cursor: Some(Cursor {
                topic_name: cursor.into(),
                partition_index: 0,
            }),
            ..Default::default()
        };
        let response = client.call(&request, 0).await;
        assert_eq!(error(response.topics[0].error_code), expected, "{cursor}");
    }
}

#[tokio::test]
async fn settings_of_a_name_that_no_topic_can_have_are_an_invalid_topic() {
    let server = Server::start().await;
    let mut client = server.client().await;
    let request = IncrementalAlterConfigsRequest {
        resources: vec![AlterConfigsResource {
            resource_type: 2,
            resource_name: "a b".into(),
            configs: Vec::new(),
        }],
        ..Default::default()
    };
    let response = client.call(&request, 1).await;
    let code = response.responses[0].error_code;
    assert_eq!(error(code), ErrorCode::InvalidTopicException);
}

#[tokio::test]
async fn an_unknown_kind_of_election_is_refused_at_each_partition() {
    let server = Server::start().await;
    server.topic("t", 2).await;
    let mut client = server.client().await;
    for version in [1, 2] {
        let request = ElectLeadersRequest {
            election_type: 2,
            topic_partitions: Some(vec![TopicPartitions {
                topic: "t".into(),
                partitions: vec![0, 1],
            }]),
            ..Default::default()
        };
        let response = client.call(&request, version).await;
        assert_eq!(error(response.error_code), ErrorCode::InvalidRequest);
        let results = &response.replica_election_results[0].partition_result;
        let codes: Vec<_> = results.iter().map(|r| error(r.error_code)).collect();
        assert_eq!(codes, [ErrorCode::InvalidRequest; 2]);
    }
}

#[tokio::test]
async fn a_sync_says_its_protocol_from_version_5_on() {
    let server = Server::start().await;
    let mut client = server.client().await;
    let request = SyncGroupRequest {
        group_id: "g".into(),
        member_id: "m".into(),
        ..Default::default()
    };
    for (version, expected) in [
        (4, ErrorCode::UnknownMemberId),
        (5, ErrorCode::InconsistentGroupProtocol),
    ] {
        let response = client.call(&request, version).await;
        assert_eq!(error(response.error_code), expected, "version {version}");
    }
}

#[tokio::test]
async fn a_full_fetch_of_nothing_opens_a_session_as_any_other() {
    let server = Server::start().await;
    let mut client = server.client().await;
    let request = FetchRequest {
        session_epoch: 0,
        ..Default::default()
    };
    let response = client.call(&request, 12).await;
    assert_eq!(error(response.error_code), ErrorCode::None);
    assert_ne!(response.session_id, 0);
}

#[tokio::test]
async fn a_name_reserved_for_the_quorums_log_is_refused() {
    let server = Server::start().await;
    let mut client = server.client().await;
    let request = CreateTopicsRequest {
        topics: vec![CreatableTopic {
            name: "__cluster_metadata".into(),
            num_partitions: 1,
            replication_factor: 1,
            ..Default::default()
        }],
        ..Default::default()
    };
    let response = client.call(&request, 7).await;
    assert_ne!(response.topics[0].error_code, 0);
}

#[tokio::test]
async fn a_fetcher_whose_log_ran_apart_is_told_where() {
    let server = Server::start().await;
    let id = server.topic("t", 1).await;
    let mut client = server.client().await;
    client.produce("t", -1, batch(&["a", "b"])).await;
    let first = server.broker.leader_epoch().0;
    let server = server.restart().await;
    let mut client = server.client().await;
    client.produce("t", -1, batch(&["c"])).await;
    let now = server.broker.leader_epoch().0;
    for version in 12..=18 {
        for (offset, last_epoch, expected) in [
            (2, first, None),
            (3, now, None),
            (3, first, Some((first, 2))),
            (4, now, Some((now, 3))),
        ] {
            let mut request = fetch("t", 0, offset);
            // Not the end of the log: an answer comes at once, whatever there is to read.
            request.min_bytes = i32::from(expected.is_some());
            request.topics[0].partitions[0].last_fetched_epoch = last_epoch;
            if version >= 13 {
                request.topics[0].topic = "".into();
                request.topics[0].topic_id = id;
            }
            let mut response = client.call(&request, version).await;
            let partition = only_partition(&mut response);
            let diverging = &partition.diverging_epoch;
            let found = (diverging.epoch, diverging.end_offset);
            assert_eq!(found, expected.unwrap_or((-1, -1)), "version {version}");
            assert_eq!(partition.error_code, 0);
            assert_eq!(partition.high_watermark, 3);
        }
        let mut request = fetch("t", 0, 3);
        request.topics[0].partitions[0].last_fetched_epoch = now + 1;
        if version >= 13 {
            request.topics[0].topic = "".into();
            request.topics[0].topic_id = id;
        }
        let response = client.call(&request, version).await;
        let code = response.responses[0].partitions[0].error_code;
        assert_eq!(error(code), ErrorCode::OffsetOutOfRange);
    }
}
