//! Requests of every API and version with bytes changed, cut and repeated: each is answered or ends its connection;
//! none makes the broker panic, and the next client finds it well.
#![allow(
    clippy::unwrap_used,
    reason = "the lint does not know that this is a test"
)]

mod common;

use common::*;
use fanlog_protocol::messages::*;
use fanlog_protocol::{ApiKey, Request};
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

static PANICS: AtomicUsize = AtomicUsize::new(0);

/// A small random number generator, so that a seed names a run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }
}

/// A frame without its length: a request with defaults, or, where its version can't carry them, a bare header.
fn default_frame<R: Request<'static>>(version: i16) -> Vec<u8> {
    frame(&R::default(), version, 1).split_off(4)
}

fn frame_of(api: ApiKey, version: i16) -> Vec<u8> {
    macro_rules! frames {
        ($($api:ident => $request:ident),* $(,)?) => {
            match api {
                $(ApiKey::$api => default_frame::<$request>(version),)*
                _ => bare_frame(api as i16, version, 1).split_off(4),
            }
        };
    }
    frames! {
        ListOffsets => ListOffsetsRequest, Metadata => MetadataRequest, OffsetCommit => OffsetCommitRequest,
        FindCoordinator => FindCoordinatorRequest, JoinGroup => JoinGroupRequest, Heartbeat => HeartbeatRequest,
        LeaveGroup => LeaveGroupRequest, SyncGroup => SyncGroupRequest, DescribeGroups => DescribeGroupsRequest,
        ListGroups => ListGroupsRequest, ApiVersions => ApiVersionsRequest, CreateTopics => CreateTopicsRequest,
        DeleteTopics => DeleteTopicsRequest, DeleteRecords => DeleteRecordsRequest,
        InitProducerId => InitProducerIdRequest, OffsetForLeaderEpoch => OffsetForLeaderEpochRequest,
        DescribeConfigs => DescribeConfigsRequest, AlterConfigs => AlterConfigsRequest,
        DescribeLogDirs => DescribeLogDirsRequest, CreatePartitions => CreatePartitionsRequest,
        DeleteGroups => DeleteGroupsRequest, ElectLeaders => ElectLeadersRequest,
        IncrementalAlterConfigs => IncrementalAlterConfigsRequest,
        ListPartitionReassignments => ListPartitionReassignmentsRequest, OffsetDelete => OffsetDeleteRequest,
        DescribeQuorum => DescribeQuorumRequest, DescribeCluster => DescribeClusterRequest,
        DescribeProducers => DescribeProducersRequest,
        DescribeTopicPartitions => DescribeTopicPartitionsRequest,
        ListConfigResources => ListConfigResourcesRequest,
    }
}

/// Requests with something in them, whose inner bytes are worth spoiling.
fn full_frames() -> Vec<Vec<u8>> {
    let topic = create_topics_request::CreatableTopic {
        name: "u".into(),
        num_partitions: 1,
        replication_factor: 1,
        configs: vec![create_topics_request::CreatableTopicConfig {
            name: "retention.ms".into(),
            value: Some("5".into()),
        }],
        ..Default::default()
    };
    let create = CreateTopicsRequest {
        topics: vec![topic],
        ..Default::default()
    };
    let alter = IncrementalAlterConfigsRequest {
        resources: vec![incremental_alter_configs_request::AlterConfigsResource {
            resource_type: 2,
            resource_name: "t".into(),
            configs: vec![incremental_alter_configs_request::AlterableConfig {
                name: "cleanup.policy".into(),
                config_operation: 2,
                value: Some("compact".into()),
            }],
        }],
        validate_only: false,
    };
    let commit = OffsetCommitRequest {
        group_id: "g".into(),
        topics: vec![offset_commit_request::OffsetCommitRequestTopic {
            name: "t".into(),
            partitions: vec![offset_commit_request::OffsetCommitRequestPartition::default()],
            ..Default::default()
        }],
        ..Default::default()
    };
    let join = JoinGroupRequest {
        group_id: "g".into(),
        session_timeout_ms: 10_000,
        protocol_type: "consumer".into(),
        protocols: vec![join_group_request::JoinGroupRequestProtocol {
            name: "range".into(),
            metadata: (&b"m"[..]).into(),
        }],
        ..Default::default()
    };
    let frames = [
        frame(&produce("t", 0, -1, batch(&["a", "b"])), 9, 1),
        frame(&produce("t", 0, 1, idempotent_batch(&["a"], 5, 0, 0)), 3, 1),
        frame(&fetch("t", 0, 0), 12, 1),
        frame(&fetch("t", 0, 0), 7, 1),
        frame(&create, 4, 1),
        frame(&create, 7, 1),
        frame(&alter, 0, 1),
        frame(&alter, 1, 1),
        frame(&commit, 7, 1),
        frame(&commit, 9, 1),
        frame(&join, 3, 1),
        frame(&join, 9, 1),
    ];
    frames
        .into_iter()
        .map(|mut frame| frame.split_off(4))
        .collect()
}

fn spoil(frame: &mut Vec<u8>, chance: &mut Chance) {
    // The API and its version stay: other bytes decide what is reached.
    const KEPT: usize = 8;
    match chance.below(4) {
        0 => frame.truncate(KEPT + chance.below(frame.len() - KEPT + 1)),
        1 => frame.extend((0..1 + chance.below(40)).map(|_| chance.below(256) as u8)),
        _ => {}
    }
    for _ in 0..1 + chance.below(4) {
        if frame.len() > KEPT {
            let at = KEPT + chance.below(frame.len() - KEPT);
            frame[at] = match chance.below(4) {
                0 => 0,
                1 => 0xff,
                2 => 0x7f,
                _ => chance.below(256) as u8,
            };
        }
    }
}

/// Sends a frame and nothing more, and reads whatever comes until the broker closes.
async fn provoke(server: &Server, frame: &[u8]) {
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let mut bytes = (frame.len() as i32).to_be_bytes().to_vec();
    bytes.extend_from_slice(frame);
    stream.write_all(&bytes).await.unwrap();
    // The broker may have closed by now.
    let _ = stream.shutdown().await;
    let _ = stream.read_to_end(&mut Vec::new()).await;
}

#[tokio::test]
async fn no_request_makes_the_broker_panic() {
    std::panic::set_hook(Box::new(|panicked| {
        PANICS.fetch_add(1, Ordering::Relaxed);
        eprintln!("{panicked}");
    }));
    let server = Server::start_with(&[("fanlog.partitions.max", "100")]).await;
    server.topic("t", 1).await;
    let mut chance = Chance(1);
    let apis = (0..=100).filter_map(ApiKey::from_i16);
    let mut frames: Vec<Vec<u8>> = apis
        .flat_map(|api| {
            api.valid_versions()
                .map(move |version| frame_of(api, version))
        })
        .collect();
    frames.extend((0..50).flat_map(|_| full_frames()));
    assert!(frames.len() > 300);
    for whole in frames {
        for _ in 0..4 {
            let mut spoilt = whole.clone();
            spoil(&mut spoilt, &mut chance);
            provoke(&server, &spoilt).await;
            assert_eq!(PANICS.load(Ordering::Relaxed), 0, "by {spoilt:02x?}");
        }
    }
    let mut client = server.client().await;
    assert_eq!(
        client
            .call(&MetadataRequest::default(), 12)
            .await
            .error_code,
        0
    );
}
