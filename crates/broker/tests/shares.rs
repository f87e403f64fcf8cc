//! Share groups over the runtime: their log, restarts, waits, sessions, and what others do to their topics.

#![allow(
    clippy::unwrap_used,
    reason = "the lint does not know that this is a test"
)]

mod common;

use common::shares::*;
use common::*;
use fanlog_broker::{
    SHARE_STATE_TOPIC, SessionKey, ShareAckError, ShareFetchError, ShareFetchPlan,
    ShareSessionError,
};
use fanlog_coordinators::catalog::TopicRef;
use fanlog_coordinators::share::{AckError, AckRange, AckType};
use fanlog_model::{GroupId, Offset, PartitionIndex};
use std::time::Duration;

#[tokio::test]
async fn what_is_acknowledged_stays_so_and_what_was_held_comes_back_after_a_crash() {
    let machine = Machine::new(1);
    let broker = started(&machine, &[10]).await;
    assert_eq!(take(&broker, "a", 6).await, "0-5 x1");
    assert_eq!(take(&broker, "b", 6).await, "6-9 x1");
    acknowledge(&broker, "a", (1, 2), AckType::Accept)
        .await
        .unwrap();
    acknowledge(&broker, "a", (4, 4), AckType::Release)
        .await
        .unwrap();
    acknowledge(&broker, "b", (6, 6), AckType::Reject)
        .await
        .unwrap();
    drop(broker);
    machine.disk.crash(3);
    let broker = machine.start();
    loaded(&broker).await;
    assert_eq!(standing(&broker), Some((0, 7)));
    let late = acknowledge(&broker, "a", (0, 0), AckType::Accept).await;
    assert!(matches!(
        late,
        Err(ShareAckError::Refused(AckError::NotHeld(Offset(0))))
    ));
    assert_eq!(
        take(&broker, "c", 100).await,
        "0-0 x1 3-3 x1 4-4 x2 5-5 x1 7-9 x1"
    );
}

#[tokio::test]
async fn an_acknowledgement_is_answered_once_it_is_durable() {
    let machine = Machine::new(2);
    let broker = started(&machine, &[2]).await;
    take(&broker, "a", 2).await;
    let ranges = [AckRange {
        first: Offset(0),
        last: Offset(1),
        types: vec![AckType::Accept],
    }];
    let shares = broker.shares().clone();
    let group = GroupId::from("g");
    let decided = shares.acknowledge(&group, "a", id(&broker), PartitionIndex(0), &ranges);
    let mut durable = Box::pin(decided.await.unwrap().durable());
    tokio::select! {
        biased;
        _ = &mut durable => panic!("nothing was synced"),
        () = tokio::task::yield_now() => {}
    }
    // It counts already: nobody else is given the records.
    assert_eq!(take(&broker, "b", 2).await, "");
    drive(&broker, durable).await.unwrap();
}

#[tokio::test]
async fn where_a_group_begins_is_known_before_anything_is_handed_out() {
    let machine = Machine::new(3);
    let broker = machine.start();
    create(&broker, "t", 1).await;
    subscribe(&broker).await;
    produce(&broker, "t", &["old"]).await;
    assert_eq!(take(&broker, "a", 1).await, "");
    produce(&broker, "t", &["new"]).await;
    assert_eq!(take(&broker, "a", 1).await, "1-1 x1");
    drop(broker);
    machine.disk.crash(4);
    let broker = machine.start();
    loaded(&broker).await;
    produce(&broker, "t", &["newer"]).await;
    assert_eq!(take(&broker, "b", 9).await, "1-2 x1");
}

#[tokio::test]
async fn a_wait_ends_with_a_record_a_release_and_a_lock_that_runs_out() {
    let machine = Machine::new(4);
    let broker = started(&machine, &[]).await;
    let waiting = |member: &str| {
        let plan = ShareFetchPlan {
            wait_max: Duration::from_secs(3600),
            records_max: 1,
            ..wanted_by(&broker, member)
        };
        let shares = broker.shares().clone();
        tokio::spawn(async move { shown(&shares.fetch(plan).await.unwrap()) })
    };
    let settle = || async {
        for _ in 0..50 {
            tokio::task::yield_now().await;
            broker.sync_all();
        }
    };
    let first = waiting("a");
    settle().await;
    assert!(!first.is_finished());
    produce(&broker, "t", &["v"]).await;
    assert_eq!(first.await.unwrap(), "0-0 x1");
    let second = waiting("b");
    settle().await;
    assert!(!second.is_finished());
    acknowledge(&broker, "a", (0, 0), AckType::Release)
        .await
        .unwrap();
    assert_eq!(second.await.unwrap(), "0-0 x2");
    let third = waiting("c");
    settle().await;
    assert!(!third.is_finished());
    machine.clock.advance(Duration::from_secs(30));
    broker.shares().tick();
    assert_eq!(third.await.unwrap(), "0-0 x3");
}

/// Where the logs of states begin, added up.
fn state_log_starts(broker: &fanlog_broker::Broker) -> i64 {
    let topics = broker.topics();
    let topic = topics.by_name(&name(SHARE_STATE_TOPIC)).unwrap();
    let start = |index| {
        let of = fanlog_broker::TopicRef::Name(name(SHARE_STATE_TOPIC));
        let spec = fanlog_broker::OffsetSpec::Earliest;
        let isolation = fanlog_broker::Isolation::ReadUncommitted;
        let listed = broker.list_offset(&of, PartitionIndex(index), spec, isolation, None);
        listed.unwrap().offset.unwrap().0
    };
    (0..topic.partitions.len() as i32).map(start).sum()
}

#[tokio::test]
async fn the_log_is_cut_and_a_restart_finds_everything() {
    let machine = Machine::new(5);
    let broker = started(&machine, &[10]).await;
    // One that is never done with, and one that comes back again and again.
    set(&broker, "share.delivery.count.limit", "10").await;
    assert_eq!(take(&broker, "stuck", 1).await, "0-0 x1");
    let rounds = 2_000;
    for round in 0..rounds {
        produce(&broker, "t", &["v"; 8]).await;
        take(&broker, "a", 8).await;
        for at in 0..4 {
            let first = 1 + round * 8 + at * 2;
            acknowledge(&broker, "a", (first, first), AckType::Accept)
                .await
                .unwrap();
        }
        let first = 1 + round * 8;
        for at in 0..4 {
            let second = first + at * 2 + 1;
            acknowledge(&broker, "a", (second, second), AckType::Accept)
                .await
                .unwrap();
        }
    }
    let before = standing(&broker);
    assert_eq!(before, Some((0, 10)));
    for _ in 0..100 {
        tokio::task::yield_now().await;
        broker.sync_all();
    }
    let starts = state_log_starts(&broker);
    assert!(starts > 5_000, "the log begins at {starts}");
    drop(broker);
    machine.disk.crash(6);
    let broker = machine.start();
    loaded(&broker).await;
    assert_eq!(standing(&broker), before);
    let end = 10 + rounds * 8;
    assert_eq!(
        take(&broker, "b", 100).await,
        format!("0-0 x1 {0}-{0} x1 {1}-{2} x1", end - 9, end - 8, end - 1)
    );
}

#[tokio::test]
async fn the_log_is_not_cut_behind_a_snapshot_that_is_not_durable() {
    let machine = Machine::new(8);
    let mut config = config();
    config.statics.extend(
        [
            // All states in one log, of which every second record is a snapshot.
            ("share.coordinator.state.topic.num.partitions", "1"),
            (
                "share.coordinator.snapshot.update.records.per.snapshot",
                "2",
            ),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned())),
    );
    let broker = fanlog_broker::Broker::start(config, machine.environment()).unwrap();
    create(&broker, "t", 1).await;
    set(&broker, "share.auto.offset.reset", "earliest").await;
    subscribe(&broker).await;
    let records = 6_000;
    for _ in 0..records / 1_000 {
        produce(&broker, "t", &["v"; 1_000]).await;
    }
    let group = GroupId::from("g");
    let accept = async |at: i64| {
        let ranges = [AckRange {
            first: Offset(at),
            last: Offset(at),
            types: vec![AckType::Accept],
        }];
        let shares = broker.shares();
        let decided = shares.acknowledge(&group, "a", id(&broker), PartitionIndex(0), &ranges);
        drop(decided.await.unwrap());
    };
    let mut at = 0;
    let mut next = async |count: i64| {
        for _ in 0..count {
            if at % 1_000 == 0 {
                take(&broker, "a", 1_000).await;
            }
            accept(at).await;
            at += 1;
        }
    };
    next(5_100).await;
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }
    // The log is long: it is cut as soon as what was decided so far is durable.
    broker.sync_all();
    // It goes on only now, after decisions that no sync has seen.
    next(3).await;
    while state_log_starts(&broker) == 0 {
        tokio::task::yield_now().await;
    }
    let standing_before = standing(&broker).unwrap();
    // Whatever of the unsynced survives, and however much of the cut.
    for seed in 0..24 {
        let machine = machine.fork();
        machine.disk.crash(seed);
        let broker = machine.start();
        loaded(&broker).await;
        let (start, _) = standing(&broker).expect("the state is lost");
        let starts = 5_100..=standing_before.0;
        assert!(starts.contains(&start), "seed {seed}: {start}");
    }
}

#[tokio::test]
async fn a_session_counts_its_requests_and_what_it_holds_comes_back_with_its_end() {
    let machine = Machine::new(6);
    let broker = started(&machine, &[4]).await;
    let shares = broker.shares();
    let key = |member: &str| SessionKey {
        group: "g".into(),
        member: member.into(),
    };
    let partition = [(id(&broker), PartitionIndex(0))];
    let begin = |member: &str, epoch, connection| {
        shares.begin_fetch(&key(member), epoch, connection, &partition, &[])
    };
    assert_eq!(begin("a", 1, 7), Err(ShareSessionError::NotFound));
    assert_eq!(begin("a", 0, 7).unwrap().partitions, partition);
    assert!(matches!(
        begin("a", 3, 7),
        Err(ShareSessionError::InvalidEpoch {
            given: 3,
            expected: 1
        })
    ));
    assert_eq!(take(&broker, "a", 2).await, "0-1 x1");
    assert_eq!(shares.begin_acknowledge(&key("a"), 1), Ok(false));
    assert_eq!(begin("b", 0, 8).unwrap().partitions, partition);
    assert_eq!(take(&broker, "b", 9).await, "2-3 x1");
    shares.connection_closed(7);
    // What goes with a session counts as a delivery.
    assert_eq!(take(&broker, "b", 9).await, "0-1 x2");
    assert_eq!(shares.session_count(), 1);
    assert!(begin("b", -1, 8).unwrap().is_closing);
    shares.close_session(&key("b"));
    assert_eq!(take(&broker, "c", 9).await, "0-1 x3 2-3 x2");
    for member in 0..2_000 {
        begin(&format!("m{member}"), 0, 9).unwrap();
    }
    assert_eq!(
        begin("one more", 0, 9),
        Err(ShareSessionError::LimitReached { max: 2_000 })
    );
    shares.connection_closed(9);
    assert_eq!(shares.session_count(), 0);
}

#[tokio::test]
async fn records_that_are_deleted_are_counted_and_a_topic_that_goes_ends_the_wait() {
    let machine = Machine::new(7);
    let broker = started(&machine, &[10, 10]).await;
    assert_eq!(take(&broker, "a", 3).await, "0-2 x1");
    let of = fanlog_broker::TopicRef::Name(name("t"));
    let deleted = broker.delete_records(&of, PartitionIndex(0), Some(Offset(12)));
    drive(&broker, deleted).await.unwrap();
    assert_eq!(take(&broker, "b", 100).await, "12-19 x1");
    assert_eq!(broker.shares().lost(), 9);
    let plan = ShareFetchPlan {
        wait_max: Duration::from_secs(3600),
        ..wanted_by(&broker, "c")
    };
    let shares = broker.shares().clone();
    let waiting = tokio::spawn(async move { shares.fetch(plan).await.unwrap() });
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }
    assert!(!waiting.is_finished());
    let gone = drive(
        &broker,
        broker.delete_topics(vec![TopicRef::Name("t".to_owned())]),
    );
    gone.await.unwrap().remove(0).unwrap();
    assert!(drive(&broker, waiting).await.unwrap().partitions[0].is_err());
    assert_eq!(broker.shares().partitions_of(&"g".into()).unwrap(), []);
}

#[tokio::test]
async fn a_fetch_makes_no_state_that_no_group_knows_of() {
    let machine = Machine::new(9);
    let broker = machine.start();
    create(&broker, "t", 1).await;
    produce(&broker, "t", &["v"]).await;
    set(&broker, "share.auto.offset.reset", "earliest").await;
    let none = drive(&broker, broker.shares().fetch(wanted_by(&broker, "a")));
    let none = none.await.unwrap().partitions.remove(0);
    assert!(matches!(none, Err(ShareFetchError::NoState { .. })));
    assert_eq!(broker.shares().partitions_of(&"g".into()).unwrap(), []);
    // One who waits gets its records as soon as there is a group.
    let plan = ShareFetchPlan {
        wait_max: Duration::from_secs(3600),
        ..wanted_by(&broker, "a")
    };
    let shares = broker.shares().clone();
    let waiting = tokio::spawn(async move { shown(&shares.fetch(plan).await.unwrap()) });
    for _ in 0..50 {
        tokio::task::yield_now().await;
        broker.sync_all();
    }
    assert!(!waiting.is_finished());
    subscribe(&broker).await;
    assert_eq!(drive(&broker, waiting).await.unwrap(), "0-0 x1");
}

#[tokio::test]
async fn states_that_a_group_left_behind_are_deleted_with_its_name() {
    let machine = Machine::new(10);
    let broker = started(&machine, &[4]).await;
    let group = GroupId::from("another");
    let of = fanlog_broker::SharePartitionRef {
        topic: id(&broker),
        partition: PartitionIndex(0),
    };
    let shares = broker.shares();
    let made = shares.ensure_initialized(&group, of, 1);
    drive(&broker, made).await.unwrap();
    assert_eq!(shares.partitions_of(&group).unwrap(), [of]);
    let deleted = broker.groups().delete_group(group.clone());
    assert!(drive(&broker, deleted).await.is_err());
    assert_eq!(shares.partitions_of(&group).unwrap(), []);
}
