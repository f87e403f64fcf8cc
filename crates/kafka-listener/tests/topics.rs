//! Topics, settings and the cluster, in every version of every API about them.

mod common;

use common::*;
use fanlog_protocol::messages::create_partitions_request::CreatePartitionsTopic;
use fanlog_protocol::messages::create_topics_request::{
    CreatableReplicaAssignment, CreatableTopic, CreatableTopicConfig,
};
use fanlog_protocol::messages::delete_records_request::{
    DeleteRecordsPartition, DeleteRecordsTopic,
};
use fanlog_protocol::messages::delete_topics_request::DeleteTopicState;
use fanlog_protocol::messages::describe_log_dirs_request::DescribableLogDirTopic;
use fanlog_protocol::messages::describe_topic_partitions_request::{Cursor, TopicRequest};
use fanlog_protocol::messages::metadata_request::MetadataRequestTopic;
use fanlog_protocol::messages::{
    CreatePartitionsRequest, CreateTopicsRequest, DeleteRecordsRequest, DeleteTopicsRequest,
    DescribeClusterRequest, DescribeLogDirsRequest, DescribeTopicPartitionsRequest,
    MetadataRequest,
};
use fanlog_protocol::{ApiKey, ErrorCode};
use uuid::Uuid;

fn name(version: i16) -> String {
    format!("topic-{version}")
}

fn metadata_of(topics: &[&str]) -> MetadataRequest<'static> {
    let topic = |name: &&str| MetadataRequestTopic {
        name: Some(name.to_string().into()),
        ..Default::default()
    };
    MetadataRequest {
        topics: Some(topics.iter().map(topic).collect()),
        ..Default::default()
    }
}

#[tokio::test]
async fn metadata_lists_all_topics_or_those_named() {
    let server = Server::start().await;
    let id = server.topic("a", 3).await;
    server.topic("b", 1).await;
    let mut client = server.client().await;
    for version in versions(ApiKey::Metadata) {
        let all = MetadataRequest {
            topics: if version == 0 { Some(Vec::new()) } else { None },
            include_topic_authorized_operations: version >= 8,
            ..Default::default()
        };
        let response = client.call(&all, version).await;
        let names: Vec<_> = response
            .topics
            .iter()
            .map(|topic| topic.name.as_deref().unwrap())
            .collect();
        assert_eq!(names, ["a", "b"], "version {version}");
        let broker = &response.brokers[0];
        assert_eq!(
            (broker.node_id, broker.host.as_ref()),
            (NODE_ID, "127.0.0.1")
        );
        assert_eq!(broker.port, i32::from(server.address.port()));
        if version >= 2 {
            assert_eq!(
                response.cluster_id.as_deref(),
                Some(server.broker.cluster_id())
            );
            assert_eq!(response.controller_id, NODE_ID);
        }
        let topic = &response.topics[0];
        assert_eq!(topic.partitions.len(), 3);
        assert_eq!(topic.partitions[2].leader_id, NODE_ID);
        assert_eq!(topic.partitions[2].isr_nodes, [NODE_ID]);
        if version >= 7 {
            assert_eq!(
                topic.partitions[0].leader_epoch,
                server.broker.leader_epoch().0
            );
        }
        if version >= 8 {
            assert_eq!(topic.topic_authorized_operations, 0b1101_1111_1000);
        }
        assert_eq!(topic.topic_id, if version >= 10 { id } else { Uuid::nil() });

        let some = MetadataRequest {
            allow_auto_topic_creation: version < 4,
            ..metadata_of(&["b", "b", "no such"])
        };
        let response = client.call(&some, version).await;
        let outcome: Vec<_> = response
            .topics
            .iter()
            .map(|t| (t.name.as_deref(), error(t.error_code)))
            .collect();
        let invalid = ErrorCode::InvalidTopicException;
        assert_eq!(
            outcome,
            [(Some("b"), ErrorCode::None), (Some("no such"), invalid)],
            "version {version}"
        );
        if version >= 1 {
            let none = MetadataRequest {
                topics: Some(Vec::new()),
                ..Default::default()
            };
            assert!(client.call(&none, version).await.topics.is_empty());
        }
    }
    let by_id = |id| MetadataRequest {
        topics: Some(vec![MetadataRequestTopic {
            name: None,
            topic_id: id,
        }]),
        ..Default::default()
    };
    let response = client.call(&by_id(id), 12).await;
    assert_eq!(response.topics[0].name.as_deref(), Some("a"));
    let response = client.call(&by_id(Uuid::from_u128(99)), 13).await;
    assert_eq!(
        error(response.topics[0].error_code),
        ErrorCode::UnknownTopicId
    );
    assert_eq!(
        (&response.topics[0].name, response.topics[0].topic_id),
        (&None, Uuid::from_u128(99))
    );
}

#[tokio::test]
async fn metadata_creates_topics_where_client_and_setting_allow_it() {
    let server = Server::start_with(&[("num.partitions", "4")]).await;
    let mut client = server.client().await;
    let timid = MetadataRequest {
        allow_auto_topic_creation: false,
        ..metadata_of(&["a"])
    };
    let response = client.call(&timid, 4).await;
    assert_eq!(
        error(response.topics[0].error_code),
        ErrorCode::UnknownTopicOrPartition
    );
    for version in versions(ApiKey::Metadata) {
        let response = client.call(&metadata_of(&[&name(version)]), version).await;
        let topic = &response.topics[0];
        assert_eq!(
            (topic.error_code, topic.partitions.len()),
            (0, 4),
            "version {version}"
        );
    }
    let response = client
        .call(
            &metadata_of(&["topic_3", "__fanlog_x", "__consumer_offsets"]),
            12,
        )
        .await;
    let outcome: Vec<_> = response
        .topics
        .iter()
        .map(|t| error(t.error_code))
        .collect();
    assert_eq!(outcome[0], ErrorCode::None, "'-' and '_' do not collide");
    assert_eq!(outcome[1], ErrorCode::UnknownTopicOrPartition);
    assert_eq!(outcome[2], ErrorCode::None);
    assert!(response.topics[2].is_internal);
    let response = client.call(&metadata_of(&["topic.3"]), 12).await;
    assert_eq!(
        error(response.topics[0].error_code),
        ErrorCode::InvalidTopicException,
        "'.' and '_' do"
    );

    let closed = Server::start_with(&[("auto.create.topics.enable", "false")]).await;
    let response = closed.client().await.call(&metadata_of(&["a"]), 1).await;
    assert_eq!(
        error(response.topics[0].error_code),
        ErrorCode::UnknownTopicOrPartition
    );
}

fn creatable(name: String, partitions: i32, replicas: i16) -> CreatableTopic<'static> {
    CreatableTopic {
        name: name.into(),
        num_partitions: partitions,
        replication_factor: replicas,
        ..Default::default()
    }
}

#[tokio::test]
async fn topics_are_created_grown_and_deleted_in_every_version() {
    let server = Server::start().await;
    let mut client = server.client().await;
    for version in versions(ApiKey::CreateTopics) {
        let mut topic = creatable(name(version), 2, 1);
        topic.configs = vec![CreatableTopicConfig {
            name: "retention.ms".into(),
            value: Some("1000".into()),
        }];
        let mut request = CreateTopicsRequest {
            topics: vec![topic],
            validate_only: true,
            ..Default::default()
        };
        assert_eq!(client.call(&request, version).await.topics[0].error_code, 0);
        assert!(
            server
                .broker
                .topics()
                .iter()
                .all(|topic| topic.name.as_str() != name(version))
        );
        request.validate_only = false;
        let response = client.call(&request, version).await;
        let created = &response.topics[0];
        assert_eq!(
            (created.error_code, created.name.as_ref()),
            (0, name(version).as_str())
        );
        if version >= 5 {
            assert_eq!((created.num_partitions, created.replication_factor), (2, 1));
            let configs = created.configs.as_ref().unwrap();
            assert!(configs.len() > 20, "all settings of a topic");
            let set = configs
                .iter()
                .find(|config| config.name == "retention.ms")
                .unwrap();
            assert_eq!((set.value.as_deref(), set.config_source), (Some("1000"), 1));
        }
        assert_eq!(created.topic_id.is_nil(), version < 7);
        let again = client.call(&request, version).await;
        assert_eq!(
            error(again.topics[0].error_code),
            ErrorCode::TopicAlreadyExists
        );
        assert!(again.topics[0].error_message.is_some());
    }
    for version in versions(ApiKey::CreatePartitions) {
        let topic = |name: String, count| CreatePartitionsTopic {
            name: name.into(),
            count,
            assignments: None,
        };
        let request = CreatePartitionsRequest {
            topics: vec![
                topic(name(2), 3 + i32::from(version)),
                topic(name(3), 2),
                topic("none".into(), 5),
            ],
            ..Default::default()
        };
        let response = client.call(&request, version).await;
        let outcome: Vec<_> = response
            .results
            .iter()
            .map(|result| error(result.error_code))
            .collect();
        let expected = [
            ErrorCode::None,
            ErrorCode::InvalidPartitions,
            ErrorCode::UnknownTopicOrPartition,
        ];
        assert_eq!(outcome, expected, "version {version}");
    }
    for version in versions(ApiKey::DeleteTopics).filter(|version| *version < 6) {
        let topic_names = vec![name(version + 1).into(), "none".into()];
        let request = DeleteTopicsRequest {
            topic_names,
            ..Default::default()
        };
        let response = client.call(&request, version).await;
        let outcome: Vec<_> = response
            .responses
            .iter()
            .map(|result| error(result.error_code))
            .collect();
        assert_eq!(
            outcome,
            [ErrorCode::None, ErrorCode::UnknownTopicOrPartition],
            "version {version}"
        );
    }
    assert_eq!(server.broker.topics().len(), 1);
}

#[tokio::test]
async fn topics_are_deleted_by_name_or_by_id() {
    let server = Server::start().await;
    let (a, b) = (server.topic("a", 1).await, server.topic("b", 1).await);
    let mut client = server.client().await;
    let topic = |name: Option<&'static str>, topic_id| DeleteTopicState {
        name: name.map(Into::into),
        topic_id,
    };
    let request = DeleteTopicsRequest {
        topics: vec![
            topic(Some("a"), Uuid::nil()),
            topic(None, b),
            topic(None, Uuid::from_u128(9)),
            topic(Some("a"), a),
            topic(None, Uuid::nil()),
        ],
        ..Default::default()
    };
    let response = client.call(&request, 6).await;
    let outcome: Vec<_> = response
        .responses
        .iter()
        .map(|r| (error(r.error_code), r.name.as_deref(), r.topic_id))
        .collect();
    assert_eq!(outcome[0], (ErrorCode::None, Some("a"), a));
    assert_eq!(outcome[1], (ErrorCode::None, Some("b"), b));
    assert_eq!(
        outcome[2],
        (ErrorCode::UnknownTopicId, None, Uuid::from_u128(9))
    );
    assert_eq!(outcome[3].0, ErrorCode::InvalidRequest);
    assert_eq!(outcome[4].0, ErrorCode::InvalidRequest);

    let kept = Server::start_with(&[("delete.topic.enable", "false")]).await;
    kept.topic("a", 1).await;
    for (version, expected) in [
        (1, ErrorCode::InvalidRequest),
        (3, ErrorCode::TopicDeletionDisabled),
    ] {
        let request = DeleteTopicsRequest {
            topic_names: vec!["a".into()],
            ..Default::default()
        };
        let response = kept.client().await.call(&request, version).await;
        assert_eq!(error(response.responses[0].error_code), expected);
    }
}

#[tokio::test]
async fn a_topic_that_cannot_be_created_is_refused_with_its_reason() {
    let server = Server::start().await;
    server.topic("here", 1).await;
    let mut client = server.client().await;
    let assigned = |brokers: Vec<i32>| CreatableTopic {
        assignments: vec![CreatableReplicaAssignment {
            partition_index: 0,
            broker_ids: brokers,
        }],
        ..creatable("assigned".into(), -1, -1)
    };
    let set = |name: &'static str, value: Option<&'static str>| CreatableTopic {
        configs: vec![CreatableTopicConfig {
            name: name.into(),
            value: value.map(Into::into),
        }],
        ..creatable("set".into(), 1, 1)
    };
    let named = |name: &str| creatable(name.into(), 1, 1);
    let cases = [
        (named("here"), ErrorCode::TopicAlreadyExists),
        (named("a b"), ErrorCode::InvalidTopicException),
        (named(""), ErrorCode::InvalidTopicException),
        (named("__fanlog_catalog"), ErrorCode::InvalidTopicException),
        (creatable("t".into(), 0, 1), ErrorCode::InvalidPartitions),
        (creatable("t".into(), -2, 1), ErrorCode::InvalidPartitions),
        (
            creatable("t".into(), 1, 3),
            ErrorCode::InvalidReplicationFactor,
        ),
        (
            creatable("t".into(), 1, 0),
            ErrorCode::InvalidReplicationFactor,
        ),
        (creatable("default".into(), -1, -1), ErrorCode::None),
        (
            assigned(vec![NODE_ID + 1]),
            ErrorCode::InvalidReplicaAssignment,
        ),
        (assigned(vec![NODE_ID]), ErrorCode::None),
        (set("no.such.setting", Some("1")), ErrorCode::InvalidConfig),
        (set("retention.ms", Some("soon")), ErrorCode::InvalidConfig),
        (set("retention.ms", None), ErrorCode::InvalidConfig),
    ];
    for (topic, expected) in cases {
        let what = format!("{topic:?}");
        let request = CreateTopicsRequest {
            topics: vec![topic],
            ..Default::default()
        };
        let response = client.call(&request, 7).await;
        assert_eq!(error(response.topics[0].error_code), expected, "{what}");
        assert_eq!(
            response.topics[0].error_message.is_some(),
            expected != ErrorCode::None
        );
    }
    let twice = CreateTopicsRequest {
        topics: vec![named("x"), named("x"), named("y")],
        ..Default::default()
    };
    let response = client.call(&twice, 7).await;
    let outcome: Vec<_> = response
        .topics
        .iter()
        .map(|t| (t.name.as_ref(), error(t.error_code)))
        .collect();
    assert_eq!(
        outcome,
        [("x", ErrorCode::InvalidRequest), ("y", ErrorCode::None)]
    );
}

#[tokio::test]
async fn topics_are_described_page_by_page() {
    let server = Server::start().await;
    for (name, partitions) in [("a", 3), ("b", 2), ("c", 1)] {
        server.topic(name, partitions).await;
    }
    let mut client = server.client().await;
    let mut cursor = None;
    let mut pages = Vec::new();
    loop {
        let request = DescribeTopicPartitionsRequest {
            response_partition_limit: 2,
            cursor,
            ..Default::default()
        };
        let response = client.call(&request, 0).await;
        let page: Vec<_> = response
            .topics
            .iter()
            .map(|t| {
                let indexes: Vec<_> = t.partitions.iter().map(|p| p.partition_index).collect();
                (t.name.as_deref().unwrap().to_owned(), indexes)
            })
            .collect();
        pages.push(page);
        match response.next_cursor {
            None => break,
            Some(next) => {
                cursor = Some(Cursor {
                    topic_name: next.topic_name,
                    partition_index: next.partition_index,
                });
            }
        }
    }
    let page = |topics: &[(&str, &[i32])]| -> Vec<(String, Vec<i32>)> {
        topics
            .iter()
            .map(|(name, indexes)| ((*name).to_owned(), indexes.to_vec()))
            .collect()
    };
    assert_eq!(
        pages,
        [
            page(&[("a", &[0, 1])]),
            page(&[("a", &[2]), ("b", &[0])]),
            page(&[("b", &[1]), ("c", &[0])]),
        ]
    );
    let named = |topics: &[&'static str]| DescribeTopicPartitionsRequest {
        topics: topics
            .iter()
            .map(|name| TopicRequest {
                name: (*name).into(),
            })
            .collect(),
        ..Default::default()
    };
    let response = client.call(&named(&["x", "c", "a/b"]), 0).await;
    let outcome: Vec<_> = response
        .topics
        .iter()
        .map(|t| error(t.error_code))
        .collect();
    let expected = [
        ErrorCode::InvalidTopicException,
        ErrorCode::None,
        ErrorCode::UnknownTopicOrPartition,
    ];
    assert_eq!(outcome, expected, "in the order of the names");
    assert!(response.next_cursor.is_none());
    let cursor = Some(Cursor {
        topic_name: "a".into(),
        partition_index: -1,
    });
    let negative = DescribeTopicPartitionsRequest {
        cursor,
        ..named(&["a"])
    };
    let response = client.call(&negative, 0).await;
    assert_eq!(
        error(response.topics[0].error_code),
        ErrorCode::InvalidRequest
    );
}

#[tokio::test]
async fn records_are_deleted_up_to_an_offset_or_the_high_watermark() {
    let server = Server::start().await;
    server.topic("t", 1).await;
    let mut client = server.client().await;
    for value in ["a", "b", "c", "d", "e"] {
        client.produce("t", -1, batch(&[value])).await;
    }
    let delete = |topic: &'static str, partition_index, offset| DeleteRecordsRequest {
        topics: vec![DeleteRecordsTopic {
            name: topic.into(),
            partitions: vec![DeleteRecordsPartition {
                partition_index,
                offset,
            }],
        }],
        timeout_ms: 1_000,
    };
    for (version, offset, start) in [(0, 1, 1), (1, 1, 1), (2, 3, 3), (2, 2, 3), (0, -1, 5)] {
        let response = client.call(&delete("t", 0, offset), version).await;
        let partition = &response.topics[0].partitions[0];
        assert_eq!(
            (partition.error_code, partition.low_watermark),
            (0, start),
            "to {offset}"
        );
    }
    let refused = [
        (delete("t", 0, 6), ErrorCode::OffsetOutOfRange),
        (delete("t", 0, -2), ErrorCode::OffsetOutOfRange),
        (delete("t", 1, 0), ErrorCode::UnknownTopicOrPartition),
        (delete("none", 0, 0), ErrorCode::UnknownTopicOrPartition),
    ];
    for (request, expected) in refused {
        let response = client.call(&request, 2).await;
        let partition = &response.topics[0].partitions[0];
        assert_eq!(
            (error(partition.error_code), partition.low_watermark),
            (expected, -1)
        );
    }
    assert_eq!(
        error(client.fetch("t", 4).await.error_code),
        ErrorCode::OffsetOutOfRange
    );
}

#[tokio::test]
async fn the_cluster_and_its_directory_are_described() {
    let server = Server::start().await;
    server.topic("a", 2).await;
    server.topic("b", 1).await;
    let mut client = server.client().await;
    client.produce("a", -1, batch(&["a"])).await;
    for version in versions(ApiKey::DescribeCluster) {
        let request = DescribeClusterRequest {
            include_cluster_authorized_operations: true,
            ..Default::default()
        };
        let response = client.call(&request, version).await;
        assert_eq!((response.error_code, response.controller_id), (0, NODE_ID));
        assert_eq!(response.cluster_id, server.broker.cluster_id());
        assert_eq!(response.brokers[0].port, i32::from(server.address.port()));
        assert_eq!(
            response.cluster_authorized_operations,
            0b1_1111_1010_0000 & !(1 << 6) | (1 << 7)
        );
    }
    let controllers = DescribeClusterRequest {
        endpoint_type: 2,
        ..Default::default()
    };
    let response = client.call(&controllers, 1).await;
    assert_eq!(
        error(response.error_code),
        ErrorCode::MismatchedEndpointType
    );

    for version in versions(ApiKey::DescribeLogDirs) {
        let all = DescribeLogDirsRequest { topics: None };
        let response = client.call(&all, version).await;
        let dir = &response.results[0];
        assert_eq!(
            (dir.error_code, dir.log_dir.as_ref(), dir.topics.len()),
            (0, "/data", 2)
        );
        let size = i64::try_from(batch(&["a"]).len()).unwrap();
        assert_eq!(dir.topics[0].partitions[0].partition_size, size);
        if version >= 4 {
            assert!(dir.total_bytes >= dir.usable_bytes && dir.usable_bytes > 0);
        }
        let topic = DescribableLogDirTopic {
            topic: "a".into(),
            partitions: vec![1, 9],
        };
        let some = DescribeLogDirsRequest {
            topics: Some(vec![topic]),
        };
        let response = client.call(&some, version).await;
        let topics = &response.results[0].topics;
        assert_eq!((topics.len(), topics[0].partitions.len()), (1, 1));
        assert_eq!(topics[0].partitions[0].partition_index, 1);
    }
}
