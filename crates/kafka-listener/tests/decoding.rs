//! Requests that take much more memory decoded than their frames have bytes.

mod common;

use common::*;
use fanlog_protocol::ErrorCode;
use fanlog_protocol::messages::fetch_request::{FetchPartition, FetchTopic};
use fanlog_protocol::messages::join_group_request::JoinGroupRequestProtocol;
use fanlog_protocol::messages::metadata_request::MetadataRequestTopic;
use fanlog_protocol::messages::{FetchRequest, JoinGroupRequest, MetadataRequest};

/// Topics of two bytes each, which take twenty times as much decoded.
fn many_small_topics(count: usize) -> MetadataRequest<'static> {
    let topic = MetadataRequestTopic {
        name: Some("".into()),
        ..Default::default()
    };
    MetadataRequest {
        topics: Some(vec![topic; count]),
        ..Default::default()
    }
}

#[tokio::test]
async fn a_request_of_many_small_elements_is_answered_and_one_of_too_many_closes_the_connection() {
    let server = Server::start_listening(|config| config.frame_bytes_max = 8_000_000).await;
    for count in [10, 30_000] {
        let answer = server
            .client()
            .await
            .call(&many_small_topics(count), 4)
            .await;
        let error = ErrorCode::InvalidTopicException.code();
        assert!(answer.topics.iter().all(|topic| topic.error_code == error));
        assert!(!answer.topics.is_empty());
    }
    // 64 MiB and more.
    let mut client = server.client().await;
    client.send(&many_small_topics(3_000_000), 4).await;
    assert!(client.next_frame().await.is_none());
}

#[tokio::test]
async fn a_join_of_many_small_protocols_closes_the_connection() {
    let server = Server::start().await;
    let join = |count| JoinGroupRequest {
        group_id: "g".into(),
        session_timeout_ms: 10_000,
        rebalance_timeout_ms: 10_000,
        protocol_type: "consumer".into(),
        protocols: vec![JoinGroupRequestProtocol::default(); count],
        ..Default::default()
    };
    let mut client = server.client().await;
    client.send(&join(100_000), 5).await;
    assert!(client.next_frame().await.is_none());
}

/// What a real consumer of very many topics sends.
#[tokio::test]
async fn a_fetch_of_many_topics_of_one_partition_each_is_answered() {
    const TOPICS: usize = 10_000;
    let server = Server::start().await;
    for version in [12, 17] {
        let topic = |number: usize| FetchTopic {
            topic: if version < 13 {
                format!("topic-{number}").into()
            } else {
                "".into()
            },
            topic_id: uuid::Uuid::from_u128(if version < 13 { 0 } else { number as u128 + 1 }),
            partitions: vec![FetchPartition {
                partition_max_bytes: 1,
                ..Default::default()
            }],
        };
        let request = FetchRequest {
            topics: (0..TOPICS).map(topic).collect(),
            ..fetch("t", 0, 0)
        };
        let answer = server.client().await.call(&request, version).await;
        assert_eq!(answer.responses.len(), TOPICS, "version {version}");
    }
}
