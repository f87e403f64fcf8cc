//! Queues as the catalog, groups and retention see them.
#![allow(
    clippy::unwrap_used,
    reason = "the lint does not know that this is a test"
)]

mod common;

use common::*;
use fanlog_broker::{
    Broker, Due, GroupRequestError, NewQueue, PublishError, QueueError, Receive, SettleFailure,
    SettleOutcome, Start,
};
use fanlog_coordinators::CallId;
use fanlog_coordinators::catalog::{NewTopic, TopicRef};
use fanlog_coordinators::group::{CommitOffsets, GroupError, MemberId, OffsetToCommit};
use fanlog_model::{GroupId, LeaderEpoch, Offset, PartitionIndex, TimestampMs, TopicId};
use fanlog_protocol::records::{BatchBuilder, Compression, NewRecord};
use std::sync::Arc;
use std::time::Duration;

async fn create_queue(
    broker: &Arc<Broker>,
    queue: &str,
    settings: &[(&str, &str)],
) -> Result<(), QueueError> {
    let setting = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    let new = NewQueue {
        name: queue.into(),
        topic: name("t"),
        settings: settings.iter().map(setting).collect(),
        start: Start::Earliest,
    };
    let created = drive(broker, broker.queues().create(new)).await;
    created.map(|_| ())
}

/// A topic whose records are soon too old.
async fn create_topic(broker: &Arc<Broker>, settings: &[(&str, &str)]) {
    let all = [("segment.ms", "1000"), ("retention.ms", "900000")];
    let setting = |(name, value): &(&str, &str)| ((*name).to_owned(), Some((*value).to_owned()));
    let new = NewTopic {
        overrides: all.iter().chain(settings).map(setting).collect(),
        ..new_topic("t", 1)
    };
    let created = drive(broker, broker.create_topics(vec![new], false)).await;
    created.unwrap().remove(0).unwrap();
}

/// What is left of three records, hours later.
async fn left_of_old_records(machine: &Machine, broker: &Arc<Broker>) -> Vec<String> {
    for value in ["a", "b", "c"] {
        produce(broker, "t", &[value]).await;
    }
    while broker.sync_next() {}
    broker.maintain();
    machine.clock.advance(Duration::from_secs(3600));
    broker.maintain();
    broker.sync_all();
    values(broker, "t", log_start(broker)).await
}

fn log_start(broker: &Broker) -> i64 {
    let listed = broker.list_offset(
        &by_name("t"),
        PartitionIndex(0),
        fanlog_broker::OffsetSpec::Earliest,
        fanlog_broker::Isolation::ReadUncommitted,
        None,
    );
    listed.unwrap().offset.unwrap().0
}

#[tokio::test]
async fn retention_waits_for_a_queue_until_it_is_gone() {
    let machine = Machine::new(1);
    let broker = machine.start();
    create_topic(&broker, &[]).await;
    create_queue(&broker, "q", &[]).await.unwrap();
    assert_eq!(
        left_of_old_records(&machine, &broker).await,
        ["a", "b", "c"]
    );
    drop(broker);
    machine.disk.crash(1);
    // Also while nothing was read since the start.
    let broker = machine.start();
    broker.maintain();
    assert_eq!(values(&broker, "t", 0).await, ["a", "b", "c"]);
    let group = GroupId::from("q");
    drive(&broker, broker.queues().delete(&group))
        .await
        .unwrap();
    broker.maintain();
    broker.sync_all();
    assert_eq!(log_start(&broker), 3);
}

#[tokio::test]
async fn retention_does_not_wait_for_a_queue_that_does_not_hold_it_nor_beyond_the_topics_bytes() {
    let cases = [
        (&[][..], &[("retention-hold", "false")][..]),
        (&[("retention.hold.bytes", "0")], &[]),
    ];
    for (topic, queue) in cases {
        let machine = Machine::new(2);
        let broker = machine.start();
        create_topic(&broker, topic).await;
        create_queue(&broker, "q", queue).await.unwrap();
        assert_eq!(left_of_old_records(&machine, &broker).await, [""; 0]);
        assert_eq!(log_start(&broker), 3);
    }
}

fn commit(group: &str) -> CommitOffsets {
    CommitOffsets {
        call: CallId(0),
        group: group.into(),
        member_id: MemberId::from(""),
        instance_id: None,
        generation: -1,
        names_missing_group: true,
        retention_ms: None,
        offsets: vec![OffsetToCommit {
            topic: name("t"),
            topic_id: TopicId::ZERO,
            partition: PartitionIndex(0),
            offset: Offset(1),
            leader_epoch: LeaderEpoch::UNKNOWN,
            metadata: "".into(),
        }],
    }
}

#[tokio::test]
async fn a_name_is_a_queues_or_a_groups_and_never_both() {
    let machine = Machine::new(3);
    let broker = machine.start();
    create(&broker, "t", 1).await;
    create_queue(&broker, "q", &[]).await.unwrap();
    let refused = drive(&broker, broker.groups().commit_offsets(commit("q"))).await;
    assert!(
        matches!(
            refused,
            Err(GroupRequestError::Refused(GroupError::GroupNotFound { .. }))
        ),
        "{refused:?}"
    );
    drive(&broker, broker.groups().commit_offsets(commit("g")))
        .await
        .unwrap();
    let group = GroupId::from("g");
    let refused = create_queue(&broker, "g", &[]).await;
    assert_eq!(
        refused,
        Err(QueueError::NameIsGroup {
            name: group.clone()
        })
    );
    // Each name is free again once what had it is gone.
    drive(&broker, broker.groups().delete_group(group))
        .await
        .unwrap();
    create_queue(&broker, "g", &[]).await.unwrap();
    drive(&broker, broker.queues().delete(&"q".into()))
        .await
        .unwrap();
    drive(&broker, broker.groups().commit_offsets(commit("q")))
        .await
        .unwrap();
}

#[tokio::test]
async fn a_queue_goes_with_its_topic() {
    let machine = Machine::new(4);
    let broker = machine.start();
    create(&broker, "t", 1).await;
    create_queue(&broker, "q", &[]).await.unwrap();
    let gone = broker.delete_topics(vec![TopicRef::Name("t".to_owned())]);
    drive(&broker, gone).await.unwrap().remove(0).unwrap();
    assert_eq!(broker.queues().list(), []);
    assert!(broker.topics().by_name(&name("q.dead")).is_some());
    drop(broker);
    machine.disk.crash(2);
    let broker = machine.start();
    assert_eq!(broker.queues().list(), []);
    create(&broker, "t", 1).await;
    create_queue(&broker, "q", &[]).await.unwrap();
}

fn delayed(after: &str) -> (fanlog_broker::NewMessage, Vec<u8>) {
    let message = fanlog_broker::NewMessage {
        value: Some("v".into()),
        due: fanlog_model::settings::duration(after).map(Due::After),
        ..Default::default()
    };
    let mut builder = BatchBuilder::new(Compression::Gzip);
    for headers in [&[][..], &[("deliver-after", Some(after.as_bytes()))]] {
        let record = NewRecord {
            timestamp: TimestampMs(1_700_000_000_000),
            value: Some(b"v"),
            headers,
            ..NewRecord::default()
        };
        builder.push(&record).unwrap();
    }
    (message, builder.build().unwrap())
}

#[tokio::test]
async fn a_due_time_that_retention_would_overtake_is_refused_where_a_queue_does_not_hold_it() {
    let machine = Machine::new(5);
    let broker = machine.start();
    create_topic(&broker, &[]).await;
    create_queue(&broker, "held", &[]).await.unwrap();
    let check = async |after: &str, is_taken: bool| {
        let (message, batch) = delayed(after);
        let topics = broker.topics();
        let topic = topics.by_name(&name("t")).unwrap();
        let checked = broker.check_due_times(topic, &batch);
        assert_eq!(checked.is_ok(), is_taken, "{after}");
        assert!(checked.is_ok() || checked.unwrap_err().batch_index == 1);
        let published = drive(&broker, broker.publish(&name("t"), vec![message])).await;
        let published = published.unwrap().remove(0);
        let is_refused = matches!(published, Err(PublishError::TooLate(_)));
        assert_eq!(is_refused, !is_taken, "{published:?}");
    };
    check("2h", true).await;
    let loose = [("retention-hold", "false")];
    create_queue(&broker, "loose", &loose).await.unwrap();
    check("15m", true).await;
    check("901s", false).await;
    check("soon", true).await;
    // A message that is given back is held to the same.
    let queue = GroupId::from("loose");
    let wanted = Receive {
        consumer: "c".into(),
        records_max: 1,
        bytes_max: 1 << 20,
        wait_max: Duration::ZERO,
        lock: None,
    };
    machine.clock.advance(Duration::from_secs(600));
    produce(&broker, "t", &["now"]).await;
    let received = drive(&broker, broker.queues().receive(&queue, wanted)).await;
    let receipt = received.unwrap().messages.remove(0).receipt;
    let nack = |seconds: u64| SettleOutcome::Nack {
        delay: Some(Duration::from_secs(seconds)),
        reason: "later".to_owned(),
    };
    let settle = async |outcome: SettleOutcome| {
        let items = vec![(receipt.clone(), outcome)];
        let settled = drive(&broker, broker.queues().settle(&queue, items)).await;
        settled.unwrap().remove(0)
    };
    let refused = settle(nack(1_000)).await;
    assert!(
        matches!(refused, Err(SettleFailure::DueTooLate(_))),
        "{refused:?}"
    );
    settle(nack(100)).await.unwrap();
}
