//! Fetch: long polls, sessions, limits.

mod common;

use common::*;
use fanlog_protocol::messages::fetch_request::ForgottenTopic;
use fanlog_protocol::messages::{DeleteTopicsRequest, FetchRequest};
use fanlog_protocol::{ApiKey, ErrorCode};
use std::time::Duration;

#[tokio::test]
async fn a_long_poll_wakes_on_an_append() {
    let server = Server::start().await;
    server.topic("t", 1).await;
    let mut waiting = server.client().await;
    let asked = waiting.send(&fetch("t", 0, 0), 12).await;
    let mut producer = server.client().await;
    // The answer to this proves nothing of the fetch; that the fetch is answered, and with the record, does.
    producer.produce("t", -1, batch(&["a"])).await;
    let mut response = waiting.receive::<FetchRequest<'static>>(asked, 12).await;
    assert_eq!(
        values(&only_partition(&mut response)),
        [(0, "a".to_owned())]
    );
}

#[tokio::test]
async fn a_long_poll_ends_with_its_time_or_with_its_topic() {
    let server = Server::start().await;
    server.topic("t", 1).await;
    let mut client = server.client().await;
    let short = FetchRequest {
        max_wait_ms: 50,
        ..fetch("t", 0, 0)
    };
    let mut response = client.call(&short, 12).await;
    let partition = only_partition(&mut response);
    assert_eq!((partition.error_code, partition.high_watermark), (0, 0));
    assert!(partition.records.is_some_and(|records| records.is_empty()));

    let asked = client.send(&fetch("t", 0, 0), 12).await;
    let delete = DeleteTopicsRequest {
        topic_names: vec!["t".into()],
        ..Default::default()
    };
    server.client().await.call(&delete, 5).await;
    let mut response = client.receive::<FetchRequest<'static>>(asked, 12).await;
    let partition = only_partition(&mut response);
    assert_eq!(
        error(partition.error_code),
        ErrorCode::UnknownTopicOrPartition
    );
}

#[tokio::test]
async fn a_fetch_gives_whole_batches_and_one_at_least() {
    let server = Server::start().await;
    server.topic("t", 1).await;
    let mut client = server.client().await;
    client.produce("t", -1, batch(&["a0", "a1"])).await;
    client.produce("t", -1, batch(&["b0"])).await;
    // An offset inside a batch gives that batch (P67), and a limit of one byte gives one batch (P59).
    let mut tight = fetch("t", 0, 1);
    tight.max_bytes = 1;
    tight.topics[0].partitions[0].partition_max_bytes = 1;
    let mut response = client.call(&tight, 12).await;
    let read = values(&only_partition(&mut response));
    assert_eq!(read, [(0, "a0".to_owned()), (1, "a1".to_owned())]);
    let beyond = client.fetch("t", 4).await;
    assert_eq!(error(beyond.error_code), ErrorCode::OffsetOutOfRange);
}

#[tokio::test]
async fn the_brokers_own_limit_of_a_fetch_counts_too() {
    let server = Server::start_with(&[("fetch.max.bytes", "1024")]).await;
    server.topic("t", 1).await;
    let mut client = server.client().await;
    let large = "x".repeat(800);
    for _ in 0..3 {
        client.produce("t", -1, batch(&[&large])).await;
    }
    let first = client.fetch("t", 0).await;
    assert_eq!(
        values(&first).len(),
        1,
        "two batches are more than 1,024 bytes"
    );
}

#[tokio::test]
async fn every_version_reads_what_every_version_wrote() {
    let server = Server::start().await;
    let id = server.topic("t", 1).await;
    let mut client = server.client().await;
    for (offset, version) in (0..).zip(versions(ApiKey::Produce)) {
        let mut request = produce("t", 0, -1, batch(&[&format!("v{version}")]));
        if version >= 13 {
            request.topic_data[0].name = "".into();
            request.topic_data[0].topic_id = id;
        }
        let response = client.call(&request, version).await;
        let partition = &response.responses[0].partition_responses[0];
        assert_eq!(
            (partition.error_code, partition.base_offset),
            (0, offset),
            "version {version}"
        );
    }
    for version in versions(ApiKey::Fetch) {
        let mut request = fetch("t", 0, 0);
        if version < 7 {
            request.session_epoch = FetchRequest::default().session_epoch;
        }
        if version >= 13 {
            request.topics[0].topic = "".into();
            request.topics[0].topic_id = id;
        }
        let mut response = client.call(&request, version).await;
        let read = values(&only_partition(&mut response));
        assert_eq!(read.len(), 11, "version {version}");
        assert_eq!(read[10], (10, "v13".to_owned()));
    }
}

#[tokio::test]
async fn a_session_answers_only_what_is_new() {
    let server = Server::start().await;
    server.topic("a", 1).await;
    server.topic("b", 1).await;
    let mut client = server.client().await;
    client.produce("a", -1, batch(&["a0"])).await;

    let mut open = fetch("a", 0, 0);
    open.session_epoch = 0;
    open.topics.extend(fetch("b", 0, 0).topics);
    let opened = client.call(&open, 12).await;
    assert_eq!(opened.error_code, 0);
    assert_ne!(opened.session_id, 0);
    assert_eq!(
        opened.responses.len(),
        2,
        "a full answer has every partition"
    );

    // Nothing is new: an empty answer.
    let next = |epoch: i32, topics| FetchRequest {
        session_id: opened.session_id,
        session_epoch: epoch,
        max_wait_ms: 20_000,
        min_bytes: 1,
        max_bytes: 1 << 20,
        topics,
        ..Default::default()
    };
    let moved = fetch("a", 0, 1).topics;
    let mut quiet = next(1, moved);
    quiet.max_wait_ms = 20;
    assert!(client.call(&quiet, 12).await.responses.is_empty());

    // A record in b: only b is told.
    client.produce("b", -1, batch(&["b0"])).await;
    let mut told = client.call(&next(2, Vec::new()), 12).await;
    assert_eq!(told.responses[0].topic, "b");
    assert_eq!(values(&only_partition(&mut told)), [(0, "b0".to_owned())]);

    // b is forgotten, a goes on.
    let mut forget = next(3, Vec::new());
    forget.max_wait_ms = 20;
    forget.forgotten_topics_data = vec![ForgottenTopic {
        topic: "b".into(),
        partitions: vec![0],
        ..Default::default()
    }];
    assert!(client.call(&forget, 12).await.responses.is_empty());
    client.produce("b", -1, batch(&["b1"])).await;
    client.produce("a", -1, batch(&["a1"])).await;
    let mut told = client.call(&next(4, Vec::new()), 12).await;
    assert_eq!(told.responses[0].topic, "a");
    assert_eq!(values(&only_partition(&mut told)), [(1, "a1".to_owned())]);

    let stale = client.call(&next(4, Vec::new()), 12).await;
    assert_eq!(error(stale.error_code), ErrorCode::InvalidFetchSessionEpoch);
    let unknown = FetchRequest {
        session_id: opened.session_id ^ 1,
        ..next(5, Vec::new())
    };
    let unknown = client.call(&unknown, 12).await;
    assert_eq!(error(unknown.error_code), ErrorCode::FetchSessionIdNotFound);
}

#[tokio::test]
async fn a_session_tells_a_recreated_topic_from_a_deleted_one() {
    let server = Server::start().await;
    let id = server.topic("t", 1).await;
    let mut client = server.client().await;
    let mut open = fetch("", 0, 0);
    open.session_epoch = 0;
    open.max_wait_ms = 0;
    open.topics[0].topic_id = id;
    let opened = client.call(&open, 13).await;
    let delete = DeleteTopicsRequest {
        topic_names: vec!["t".into()],
        ..Default::default()
    };
    client.call(&delete, 5).await;
    let next = |epoch| FetchRequest {
        session_id: opened.session_id,
        session_epoch: epoch,
        max_wait_ms: 20_000,
        min_bytes: 1,
        max_bytes: 1 << 20,
        ..Default::default()
    };
    let mut gone = client.call(&next(1), 13).await;
    assert_eq!(
        error(only_partition(&mut gone).error_code),
        ErrorCode::UnknownTopicId
    );
    server.topic("t", 1).await;
    let mut recreated = client.call(&next(2), 13).await;
    assert_eq!(
        error(only_partition(&mut recreated).error_code),
        ErrorCode::InconsistentTopicId
    );
}

#[tokio::test]
async fn a_fetch_whose_peer_has_gone_is_given_up() {
    let server = Server::start().await;
    server.topic("t", 1).await;
    let mut client = server.client().await;
    client.send(&fetch("t", 0, 0), 12).await;
    tokio::io::AsyncWriteExt::shutdown(&mut client.stream)
        .await
        .unwrap();
    let closed = tokio::time::timeout(Duration::from_secs(10), client.next_frame()).await;
    assert_eq!(closed.expect("long before the poll's 20 s"), None);
}

#[tokio::test]
async fn replicas_are_refused() {
    let server = Server::start().await;
    let mut client = server.client().await;
    let old = FetchRequest {
        replica_id: 1,
        ..fetch("t", 0, 0)
    };
    let response = client.call(&old, 12).await;
    assert_eq!(
        error(response.error_code),
        ErrorCode::ClusterAuthorizationFailed
    );
}
