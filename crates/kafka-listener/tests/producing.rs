//! Produce: what is refused, and with which code.

mod common;

use common::*;
use fanlog_broker::{NewQueue, Start};
use fanlog_model::{TimestampMs, TopicName};
use fanlog_protocol::ErrorCode;
use fanlog_protocol::messages::create_topics_request::{CreatableTopic, CreatableTopicConfig};
use fanlog_protocol::messages::produce_response::PartitionProduceResponse;
use fanlog_protocol::messages::{CreateTopicsRequest, MetadataRequest, ProduceRequest};
use fanlog_protocol::records::{BatchBuilder, Compression, NewRecord};

async fn produced(
    client: &mut Client,
    request: &ProduceRequest<'static>,
) -> PartitionProduceResponse<'static> {
    let mut response = client.call(request, 12).await;
    response.responses.remove(0).partition_responses.remove(0)
}

async fn topic_with(
    client: &mut Client,
    name: &'static str,
    setting: &'static str,
    value: &'static str,
) {
    let request = CreateTopicsRequest {
        topics: vec![CreatableTopic {
            name: name.into(),
            num_partitions: 1,
            replication_factor: 1,
            configs: vec![CreatableTopicConfig {
                name: setting.into(),
                value: Some(value.into()),
            }],
            ..Default::default()
        }],
        ..Default::default()
    };
    assert_eq!(client.call(&request, 7).await.topics[0].error_code, 0);
}

#[tokio::test]
async fn a_batch_that_is_refused_says_why() {
    let server = Server::start().await;
    server.topic("t", 1).await;
    let mut client = server.client().await;
    topic_with(&mut client, "small", "max.message.bytes", "100").await;
    client.call(&MetadataRequest::default(), 4).await;
    let mut corrupt = batch(&["a"]);
    *corrupt.last_mut().unwrap() ^= 1;
    let mut old = batch(&["a"]);
    old[16] = 1;
    let mut two = batch(&["a"]);
    two.extend(batch(&["b"]));
    let in_transaction = fill(
        BatchBuilder::new(Compression::None)
            .producer(1.into(), 0.into(), 0.into())
            .transactional(),
        &["a"],
        1_000,
    );
    let future = batch_at(&["a"], 9_000_000_000_000);
    let cases = [
        (
            produce("t", 0, 2, batch(&["a"])),
            ErrorCode::InvalidRequiredAcks,
        ),
        (
            produce("t", 1, -1, batch(&["a"])),
            ErrorCode::UnknownTopicOrPartition,
        ),
        (
            produce("none", 0, -1, batch(&["a"])),
            ErrorCode::UnknownTopicOrPartition,
        ),
        (
            produce("a/b", 0, -1, batch(&["a"])),
            ErrorCode::InvalidTopicException,
        ),
        (produce("t", 0, -1, corrupt), ErrorCode::CorruptMessage),
        (produce("t", 0, -1, old), ErrorCode::InvalidRecord),
        (produce("t", 0, -1, two), ErrorCode::InvalidRecord),
        (produce("t", 0, -1, Vec::new()), ErrorCode::InvalidRecord),
        (
            produce("t", 0, -1, in_transaction),
            ErrorCode::TransactionalIdAuthorizationFailed,
        ),
        (produce("t", 0, -1, future), ErrorCode::InvalidTimestamp),
        (
            produce(
                "small",
                0,
                -1,
                batch(&["long enough to be more than one hundred bytes"]),
            ),
            ErrorCode::MessageTooLarge,
        ),
    ];
    for (request, expected) in cases {
        let partition = produced(&mut client, &request).await;
        assert_eq!(error(partition.error_code), expected, "{request:?}");
        assert_eq!(
            (partition.base_offset, partition.log_append_time_ms),
            (-1, -1)
        );
    }
    let fine = produced(&mut client, &produce("t", 0, -1, batch(&["a"]))).await;
    assert_eq!(
        (fine.error_code, fine.base_offset),
        (0, 0),
        "nothing of what was refused is there"
    );
}

#[tokio::test]
async fn zstd_is_refused_below_the_version_that_brought_it() {
    let server = Server::start().await;
    server.topic("t", 1).await;
    let mut client = server.client().await;
    for (version, expected) in [
        (6, ErrorCode::UnsupportedCompressionType),
        (7, ErrorCode::None),
    ] {
        let batch = fill(BatchBuilder::new(Compression::Zstd), &["a"], 1_000);
        let response = client.call(&produce("t", 0, -1, batch), version).await;
        let partition = &response.responses[0].partition_responses[0];
        assert_eq!(error(partition.error_code), expected);
    }
}

#[tokio::test]
async fn records_at_fault_are_named() {
    let server = Server::start().await;
    let mut client = server.client().await;
    topic_with(&mut client, "compacted", "cleanup.policy", "compact").await;
    let mut builder = BatchBuilder::new(Compression::None);
    for key in [Some(&b"k"[..]), None, Some(b"k"), None] {
        let record = NewRecord {
            timestamp: TimestampMs(1),
            key,
            value: Some(b"v"),
            headers: &[],
        };
        builder.push(&record).unwrap();
    }
    let partition = produced(
        &mut client,
        &produce("compacted", 0, -1, builder.build().unwrap()),
    )
    .await;
    assert_eq!(error(partition.error_code), ErrorCode::InvalidRecord);
    let named: Vec<_> = partition
        .record_errors
        .iter()
        .map(|record| record.batch_index)
        .collect();
    assert_eq!(named, [1, 3]);
    assert!(partition.error_message.is_some());
}

#[tokio::test]
async fn a_record_that_retention_takes_before_it_is_due_is_refused_and_named() {
    let server = Server::start().await;
    let mut client = server.client().await;
    topic_with(&mut client, "t", "retention.ms", "60000").await;
    let put = async |client: &mut Client| {
        let mut builder = BatchBuilder::new(Compression::None);
        for headers in [&[][..], &[("deliver-after", Some(&b"61s"[..]))]] {
            let record = NewRecord {
                timestamp: server.broker.environment().clock.wall_ms(),
                value: Some(b"v"),
                headers,
                ..NewRecord::default()
            };
            builder.push(&record).unwrap();
        }
        produced(client, &produce("t", 0, -1, builder.build().unwrap())).await
    };
    let queue = async |name: &str, hold: &str| {
        let new = NewQueue {
            name: name.into(),
            topic: TopicName::new("t").unwrap(),
            settings: [("retention-hold".to_owned(), hold.to_owned())].into(),
            start: Start::Latest,
        };
        server.broker.queues().create(new).await.unwrap();
    };
    queue("held", "true").await;
    assert_eq!(error(put(&mut client).await.error_code), ErrorCode::None);
    queue("loose", "false").await;
    let refused = put(&mut client).await;
    assert_eq!(error(refused.error_code), ErrorCode::InvalidRecord);
    assert_eq!(refused.record_errors[0].batch_index, 1);
    let message = refused.error_message.unwrap();
    assert!(message.contains("raise retention.ms"), "{message}");
}

#[tokio::test]
async fn records_too_old_or_from_the_future_are_refused_and_named() {
    const HOUR: i64 = 60 * 60 * 1000;
    let server = Server::start().await;
    let mut client = server.client().await;
    let span: &'static str = HOUR.to_string().leak();
    for name in [
        "message.timestamp.before.max.ms",
        "message.timestamp.after.max.ms",
    ] {
        let topic: &'static str = name.to_owned().leak();
        topic_with(&mut client, topic, name, span).await;
    }
    topic_with(
        &mut client,
        "stamped",
        "message.timestamp.type",
        "LogAppendTime",
    )
    .await;
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
    let now = i64::try_from(now.as_millis()).unwrap();
    let times = [now, now - 2 * HOUR, now + 2 * HOUR, now - HOUR / 2];
    let build = |times: &[i64]| {
        let mut builder = BatchBuilder::new(Compression::None);
        for time in times {
            let record = NewRecord {
                timestamp: TimestampMs(*time),
                value: Some(b"v"),
                ..NewRecord::default()
            };
            builder.push(&record).unwrap();
        }
        builder.build().unwrap()
    };
    // What is from the future is refused by default, an hour and more; the past is not.
    for (topic, at_fault) in [
        ("message.timestamp.before.max.ms", vec![1, 2]),
        ("message.timestamp.after.max.ms", vec![2]),
    ] {
        let partition = produced(&mut client, &produce(topic, 0, -1, build(&times))).await;
        assert_eq!(error(partition.error_code), ErrorCode::InvalidTimestamp);
        let named = partition.record_errors.iter();
        let named: Vec<_> = named.map(|record| record.batch_index).collect();
        assert_eq!(named, at_fault, "{topic}");
        assert_eq!(partition.base_offset, -1);
        let fine = produced(&mut client, &produce(topic, 0, -1, build(&times[..1]))).await;
        assert_eq!((fine.error_code, fine.base_offset), (0, 0), "{topic}");
    }
    // Where the broker's time counts, the producer's is not looked at.
    let stamped = produced(&mut client, &produce("stamped", 0, -1, build(&times))).await;
    assert_eq!((stamped.error_code, stamped.base_offset), (0, 0));
}

#[tokio::test]
async fn internal_topics_are_not_for_clients() {
    let server = Server::start().await;
    let mut client = server.client().await;
    let asked = MetadataRequest {
        topics: Some(vec![
            fanlog_protocol::messages::metadata_request::MetadataRequestTopic {
                name: Some("__consumer_offsets".into()),
                ..Default::default()
            },
        ]),
        ..Default::default()
    };
    assert_eq!(client.call(&asked, 12).await.topics[0].error_code, 0);
    let partition = produced(
        &mut client,
        &produce("__consumer_offsets", 0, -1, batch(&["a"])),
    )
    .await;
    assert_eq!(
        error(partition.error_code),
        ErrorCode::InvalidTopicException
    );
    let hidden = produced(
        &mut client,
        &produce("__fanlog_catalog", 0, -1, batch(&["a"])),
    )
    .await;
    assert_eq!(error(hidden.error_code), ErrorCode::UnknownTopicOrPartition);
}

#[tokio::test]
async fn log_append_time_is_answered_and_stored() {
    let server = Server::start().await;
    let mut client = server.client().await;
    topic_with(
        &mut client,
        "stamped",
        "message.timestamp.type",
        "LogAppendTime",
    )
    .await;
    let partition = produced(&mut client, &produce("stamped", 0, -1, batch(&["a"]))).await;
    assert!(
        partition.log_append_time_ms > 1_000_000,
        "the broker's clock, not the producer's 1000"
    );
    assert_eq!(values(&client.fetch("stamped", 0).await).len(), 1);
}

fn with_id(id: &str) -> Vec<u8> {
    let mut builder = BatchBuilder::new(Compression::Lz4);
    let record = NewRecord {
        timestamp: TimestampMs(1_000),
        value: Some(b"v"),
        headers: &[("message-id", Some(id.as_bytes()))],
        ..NewRecord::default()
    };
    builder.push(&record).expect("a record that fits");
    builder.build().expect("a batch that fits")
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_who_send_one_message_id_at_once_all_are_told_of_one_record() {
    let server = Server::start().await;
    let mut client = server.client().await;
    topic_with(&mut client, "t", "dedup.window.ms", "600000").await;
    client.call(&MetadataRequest::default(), 4).await;
    let mut senders = Vec::new();
    for _ in 0..8 {
        senders.push(server.client().await);
    }
    let mut all = vec![Vec::new(); senders.len()];
    for number in 0..30 {
        let mut sent = Vec::new();
        for sender in &mut senders {
            let request = produce("t", 0, -1, with_id(&format!("id-{number}")));
            sent.push(sender.send(&request, 12).await);
        }
        for ((sender, id), offsets) in senders.iter_mut().zip(sent).zip(&mut all) {
            let mut response = sender.receive::<ProduceRequest<'static>>(id, 12).await;
            let answer = response.responses.remove(0).partition_responses.remove(0);
            assert_eq!(error(answer.error_code), ErrorCode::None, "{answer:?}");
            offsets.push(answer.base_offset);
        }
    }
    assert!(all.iter().all(|offsets| *offsets == all[0]), "{all:?}");
    let mut offsets = all.remove(0);
    offsets.sort_unstable();
    assert_eq!(offsets, (0..30).collect::<Vec<i64>>());
    // Nor is one appended after a restart.
    let server = server.restart().await;
    let mut client = server.client().await;
    let answer = produced(&mut client, &produce("t", 0, -1, with_id("id-7"))).await;
    assert_eq!(error(answer.error_code), ErrorCode::None, "{answer:?}");
    assert!(answer.base_offset < 30);
    assert_eq!(values(&client.fetch("t", 0).await).len(), 30);
}
