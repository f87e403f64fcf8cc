//! Queues over the runtime: leases, backoff, order per key, delays, restarts, waits, and what others do to their topics.

#![allow(
    clippy::unwrap_used,
    reason = "the lint does not know that this is a test"
)]

mod common;

use common::queues::*;
use common::*;
use fanlog_broker::{
    Hindrance, Isolation, OffsetSpec, QUEUES_TOPIC, QueueError, Receipt, Receive, SettleError,
    SettleFailure, SettleOutcome, Settled, Start,
};
use fanlog_coordinators::catalog::TopicRef;
use fanlog_environment::simulated::FailedSync;
use fanlog_model::Offset;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test]
async fn what_is_acknowledged_stays_so_and_locks_and_attempts_survive_a_kill() {
    let machine = Machine::new(1);
    let broker = started(&machine, 1, &[]).await;
    put_values(&broker, &["a", "b", "c"]).await;
    let messages = receive(&broker, "one", 2).await;
    assert_eq!(shown(&messages), "a x1 b x1");
    assert_eq!(take(&broker, "two", 5).await, "c x1");
    ack(&broker, &messages[0]).await;
    drop(broker);
    // What was appended is in the page cache: a process that is killed loses nothing.
    let broker = machine.start();
    loaded(&broker).await;
    assert_eq!(take(&broker, "three", 5).await, "");
    ack(&broker, &messages[1]).await;
    pass(&machine, &broker, 31 * SECOND).await;
    // The lock of c ran out: it rests as the backoff says, and comes as its second attempt.
    pass(&machine, &broker, SECOND).await;
    assert_eq!(take(&broker, "three", 5).await, "c x2");
    assert_eq!(status(&broker).depth, 1);
}

#[tokio::test]
async fn a_power_cut_may_lose_a_lock_and_never_a_message() {
    let machine = Machine::new(2);
    let broker = started(&machine, 1, &[]).await;
    put_values(&broker, &["a", "b"]).await;
    let messages = receive(&broker, "one", 1).await;
    ack(&broker, &messages[0]).await;
    // This hand-over is not durable.
    assert_eq!(take(&broker, "one", 1).await, "b x1");
    drop(broker);
    machine.disk.crash(3);
    let broker = machine.start();
    loaded(&broker).await;
    pass(&machine, &broker, 32 * SECOND).await;
    let again = take(&broker, "two", 5).await;
    assert!(again == "b x1" || again == "b x2", "{again}");
}

#[tokio::test]
async fn a_nack_rests_as_the_backoff_says_also_over_a_restart() {
    let machine = Machine::new(3);
    let broker = started(&machine, 1, &[("backoff", "exponential:10s:15s")]).await;
    put_values(&broker, &["a", "b"]).await;
    let messages = receive(&broker, "one", 1).await;
    let again = settle(&broker, &messages[0], nack("no")).await;
    let now = broker.environment().clock.wall_ms();
    let due = fanlog_model::TimestampMs(now.0 + 10_000);
    assert_eq!(again, Ok(Settled::Again(due)));
    // The others don't wait for it.
    assert_eq!(take(&broker, "one", 5).await, "b x1");
    pass(&machine, &broker, 9 * SECOND).await;
    assert_eq!(take(&broker, "one", 5).await, "");
    drop(broker);
    let broker = machine.start();
    loaded(&broker).await;
    assert_eq!(take(&broker, "one", 5).await, "");
    pass(&machine, &broker, SECOND).await;
    let messages = receive(&broker, "one", 1).await;
    assert_eq!(shown(&messages), "a x2");
    settle(&broker, &messages[0], nack("no")).await.unwrap();
    pass(&machine, &broker, 14 * SECOND).await;
    assert_eq!(take(&broker, "one", 1).await, "");
    pass(&machine, &broker, SECOND).await;
    assert_eq!(take(&broker, "one", 1).await, "a x3");
}

#[tokio::test]
async fn a_release_burns_no_attempt_and_an_extension_keeps_the_lock() {
    let machine = Machine::new(4);
    let broker = started(&machine, 1, &[]).await;
    put_values(&broker, &["a"]).await;
    for _ in 0..20 {
        let messages = receive(&broker, "one", 1).await;
        assert_eq!(shown(&messages), "a x1");
        let release = SettleOutcome::Release { delay: None };
        settle(&broker, &messages[0], release).await.unwrap();
    }
    let messages = receive(&broker, "one", 1).await;
    pass(&machine, &broker, 20 * SECOND).await;
    let extend = SettleOutcome::Extend(60 * SECOND);
    settle(&broker, &messages[0], extend).await.unwrap();
    pass(&machine, &broker, 59 * SECOND).await;
    ack(&broker, &messages[0]).await;
    // It was settled.
    let late = settle(&broker, &messages[0], SettleOutcome::Ack).await;
    let not_held = SettleFailure::Refused(SettleError::NotHeld(Offset(0)));
    assert_eq!(late, Err(not_held));
}

#[tokio::test]
async fn a_receipt_counts_for_its_queue_and_its_hand_over_only() {
    let machine = Machine::new(5);
    let broker = started(&machine, 1, &[("backoff", "none")]).await;
    make(&broker, "other", Start::Earliest, &[]).await.unwrap();
    put_values(&broker, &["a"]).await;
    let first = receive(&broker, "one", 1).await;
    pass(&machine, &broker, 31 * SECOND).await;
    let second = receive(&broker, "two", 1).await;
    assert_eq!(shown(&second), "a x2");
    let late = settle(&broker, &first[0], SettleOutcome::Ack).await;
    assert!(matches!(late, Err(SettleFailure::Refused(_))), "{late:?}");
    let nonsense = Receipt::from("nonsense");
    let refused = settle_of(&broker, "q", nonsense, SettleOutcome::Ack).await;
    assert!(matches!(refused, Err(SettleFailure::NoReceipt(_))));
    // The other queue knows nothing of it.
    let receipt = second[0].receipt.clone();
    let refused = settle_of(&broker, "other", receipt, SettleOutcome::Ack).await;
    assert!(refused.is_err(), "{refused:?}");
    assert_eq!(shown(&receive_of(&broker, "other", "x", 5).await), "a x1");
    ack(&broker, &second[0]).await;
}

#[tokio::test]
async fn with_order_per_key_a_failure_holds_up_its_own_key_only() {
    let machine = Machine::new(6);
    let broker = started(&machine, 1, &[("order", "key"), ("backoff", "fixed:10s")]).await;
    let record = |key, value| (key, value, &[][..]);
    let records = [
        record(Some("k"), "k1"),
        record(Some("l"), "l1"),
        record(Some("k"), "k2"),
        record(None, "n1"),
        record(Some("l"), "l2"),
        record(Some("k"), "k3"),
    ];
    put(&broker, 0, &records).await;
    let one = receive(&broker, "one", 3).await;
    assert_eq!(shown(&one), "k1 x1 l1 x1 k2 x1");
    // Another consumer gets nothing of those keys.
    assert_eq!(take(&broker, "two", 10).await, "n1 x1");
    settle(&broker, &one[0], nack("no")).await.unwrap();
    // k2 came back without an attempt.
    let late = settle(&broker, &one[2], SettleOutcome::Ack).await;
    assert!(late.is_err(), "{late:?}");
    ack(&broker, &one[1]).await;
    assert_eq!(take(&broker, "two", 10).await, "l2 x1");
    let blocked = status(&broker).blocked;
    let blocked: Vec<_> = blocked
        .iter()
        .filter(|b| b.key.as_deref() == Some("k"))
        .collect();
    assert_eq!(blocked.len(), 1);
    assert_eq!(&*blocked[0].reason, "failed and rests: no");
    pass(&machine, &broker, 10 * SECOND).await;
    assert_eq!(take(&broker, "two", 10).await, "k1 x2 k2 x1 k3 x1");
}

#[tokio::test]
async fn delayed_messages_are_never_early_and_do_not_hold_up_others_nor_come_with_a_restart() {
    let machine = Machine::new(7);
    let broker = started(&machine, 1, &[]).await;
    let records = [
        (None, "late", &[("deliver-after", "10s")][..]),
        (None, "now", &[][..]),
        (None, "wrong", &[("deliver-after", "soon")][..]),
    ];
    put(&broker, 0, &records).await;
    assert_eq!(take(&broker, "one", 10).await, "now x1 wrong x1");
    let seen = status(&broker);
    assert_eq!((seen.waiting_for_time, seen.unreadable_delays), (1, 1));
    let due = seen.next_due.unwrap();
    assert_eq!(due.0 - broker.environment().clock.wall_ms().0, 10_000);
    pass(&machine, &broker, 5 * SECOND).await;
    drop(broker);
    let broker = machine.start();
    loaded(&broker).await;
    assert_eq!(take(&broker, "one", 10).await, "");
    pass(&machine, &broker, Duration::from_millis(4_999)).await;
    assert_eq!(take(&broker, "one", 10).await, "");
    pass(&machine, &broker, Duration::from_millis(1)).await;
    assert_eq!(take(&broker, "one", 10).await, "late x1");
}

#[tokio::test]
async fn a_wait_ends_with_a_new_record_with_one_that_comes_back_and_with_one_that_falls_due() {
    let machine = Machine::new(8);
    let broker = started(&machine, 2, &[("backoff", "none")]).await;
    let waiting = || {
        let broker = broker.clone();
        tokio::spawn(async move {
            let asked = Receive {
                wait_max: Duration::from_secs(3_600),
                ..asks("one", 10)
            };
            let received = broker.queues().receive(&queue("q"), asked).await;
            received.unwrap().messages
        })
    };
    let receiving = waiting();
    settled(&broker).await;
    assert!(!receiving.is_finished());
    put(&broker, 1, &[(None, "a", &[])]).await;
    let messages = drive(&broker, receiving).await.unwrap();
    assert_eq!(shown(&messages), "a x1");
    let receiving = waiting();
    settled(&broker).await;
    assert!(!receiving.is_finished());
    settle(&broker, &messages[0], nack("no")).await.unwrap();
    let messages = drive(&broker, receiving).await.unwrap();
    assert_eq!(shown(&messages), "a x2");
    ack(&broker, &messages[0]).await;
    put(&broker, 0, &[(None, "b", &[("deliver-after", "1s")])]).await;
    let receiving = waiting();
    settled(&broker).await;
    assert!(!receiving.is_finished());
    pass(&machine, &broker, SECOND).await;
    let messages = drive(&broker, receiving).await.unwrap();
    assert_eq!(shown(&messages), "b x1");
    ack(&broker, &messages[0]).await;
    // One that the topic did not have when the wait began.
    let receiving = waiting();
    settled(&broker).await;
    let grown = broker.create_partitions(vec![growth("t", 3)], false);
    drive(&broker, grown).await.unwrap().remove(0).unwrap();
    settled(&broker).await;
    put(&broker, 2, &[(None, "c", &[])]).await;
    let within = tokio::time::timeout(30 * SECOND, drive(&broker, receiving));
    assert_eq!(shown(&within.await.unwrap().unwrap()), "c x1");
}

#[tokio::test]
async fn a_receive_that_is_given_up_gives_its_messages_back_without_an_attempt() {
    let machine = Machine::new(9);
    let broker = started(&machine, 2, &[]).await;
    put(&broker, 0, &[(None, "a", &[])]).await;
    put(&broker, 1, &[(None, "b", &[])]).await;
    let q = queue("q");
    {
        let receiving = broker.queues().receive(&q, asks("one", 10));
        let mut receiving = std::pin::pin!(receiving);
        // Once it holds something it gives way to others: it is given up there.
        for _ in 0..1_000 {
            let held = status(&broker).in_flight_records;
            if held > 0 {
                break;
            }
            tokio::select! {
                biased;
                _ = &mut receiving => panic!("it was to be given up"),
                () = std::future::ready(()) => broker.sync_all(),
            }
        }
        assert!(status(&broker).in_flight_records > 0);
    }
    assert_eq!(status(&broker).in_flight_records, 0);
    let mut all = receive(&broker, "two", 10).await;
    all.sort_by_key(|message| message.id.clone());
    assert_eq!(shown(&all), "a x1 b x1");
}

#[tokio::test]
async fn a_queue_begins_where_its_creation_said_whatever_comes_later() {
    let machine = Machine::new(10);
    let broker = machine.start();
    create(&broker, "t", 1).await;
    put_values(&broker, &["before"]).await;
    make(&broker, "q", Start::Latest, &[]).await.unwrap();
    make(&broker, "at", Start::Offset(Offset(1)), &[])
        .await
        .unwrap();
    let now = broker.environment().clock.wall_ms();
    machine.clock.advance(SECOND);
    let time = Start::Time(fanlog_model::TimestampMs(now.0 + 1));
    make(&broker, "time", time, &[]).await.unwrap();
    make(&broker, "all", Start::Earliest, &[]).await.unwrap();
    put_values(&broker, &["after"]).await;
    drop(broker);
    machine.disk.crash(7);
    let broker = machine.start();
    loaded(&broker).await;
    for name in ["q", "at", "time"] {
        assert_eq!(
            shown(&receive_of(&broker, name, "c", 9).await),
            "after x1",
            "{name}"
        );
    }
    assert_eq!(
        shown(&receive_of(&broker, "all", "c", 9).await),
        "before x1 after x1"
    );
    let grown = broker.create_partitions(vec![growth("t", 2)], false);
    drive(&broker, grown).await.unwrap().remove(0).unwrap();
    put(&broker, 1, &[(None, "new", &[])]).await;
    assert_eq!(take(&broker, "c", 9).await, "new x1");
}

#[tokio::test]
async fn who_has_messages_does_not_wait_until_the_beginning_of_another_partition_is_durable() {
    let machine = Machine::new(36);
    let broker = started(&machine, 1, &[]).await;
    put_values(&broker, &["a"]).await;
    let grown = broker.create_partitions(vec![growth("t", 2)], false);
    drive(&broker, grown).await.unwrap().remove(0).unwrap();
    put(&broker, 1, &[(None, "b", &[])]).await;
    assert_eq!(status(&broker).depth, 2, "nobody has looked at the new one");
    // Nothing is synced from here on.
    let q = queue("q");
    let received = broker.queues().receive(&q, asks("one", 5));
    let received = tokio::time::timeout(10 * SECOND, received).await;
    assert_eq!(shown(&received.unwrap().unwrap().messages), "a x1");
}

fn growth(topic: &str, partitions: i32) -> fanlog_coordinators::catalog::PartitionGrowth {
    fanlog_coordinators::catalog::PartitionGrowth {
        topic: topic.to_owned(),
        count: partitions,
        assignments: None,
    }
}

#[tokio::test]
async fn what_cannot_be_made_is_refused() {
    let machine = Machine::new(11);
    let broker = started(&machine, 1, &[]).await;
    let refused = |settings: &'static [(&str, &str)]| make(&broker, "x", Start::Latest, settings);
    let again = make(&broker, "q", Start::Latest, &[]).await;
    assert!(matches!(again, Err(QueueError::Exists { .. })), "{again:?}");
    for settings in [
        &[("lock", "1ms")][..],
        &[("nothing", "1")],
        &[("filter", "{")],
        &[("dead-letter", "t")],
    ] {
        let error = refused(settings).await;
        assert!(
            matches!(error, Err(QueueError::BadSetting { .. })),
            "{error:?}"
        );
    }
    let bad = make(&broker, "a/b", Start::Latest, &[]).await;
    assert!(matches!(bad, Err(QueueError::BadName { .. })), "{bad:?}");
    assert_eq!(broker.queues().list().len(), 1);
    let missing = broker.queues().describe(&queue("x"));
    assert!(matches!(missing, Err(QueueError::NoSuchQueue { .. })));
}

#[tokio::test]
async fn a_paused_queue_gives_nothing_and_goes_on_when_it_is_resumed() {
    let machine = Machine::new(12);
    let broker = started(&machine, 1, &[]).await;
    put_values(&broker, &["a", "b"]).await;
    let held = receive(&broker, "one", 1).await;
    alter(&broker, "paused", "true").await;
    assert_eq!(take(&broker, "one", 1).await, "");
    assert_eq!(status(&broker).hindrances, [Hindrance::Paused]);
    ack(&broker, &held[0]).await;
    let receiving = tokio::spawn({
        let broker = broker.clone();
        async move {
            let asked = Receive {
                wait_max: Duration::from_secs(3_600),
                ..asks("one", 10)
            };
            let received = broker.queues().receive(&queue("q"), asked).await;
            received.unwrap().messages
        }
    });
    settled(&broker).await;
    assert!(!receiving.is_finished());
    alter(&broker, "paused", "false").await;
    assert_eq!(shown(&drive(&broker, receiving).await.unwrap()), "b x1");
}

#[tokio::test]
async fn a_queue_that_is_deleted_is_forgotten_and_one_of_its_name_begins_anew() {
    let machine = Machine::new(13);
    let broker = started(&machine, 1, &[]).await;
    put_values(&broker, &["a", "b"]).await;
    let held = receive(&broker, "one", 1).await;
    let q = queue("q");
    drive(&broker, broker.queues().delete(&q)).await.unwrap();
    let gone = drive(&broker, broker.queues().receive(&q, asks("one", 1))).await;
    assert!(matches!(gone, Err(QueueError::NoSuchQueue { .. })));
    make(&broker, "q", Start::Earliest, &[]).await.unwrap();
    let late = settle(&broker, &held[0], SettleOutcome::Ack).await;
    assert!(late.is_err(), "{late:?}");
    assert_eq!(take(&broker, "one", 9).await, "a x1 b x1");
    drop(broker);
    let broker = machine.start();
    loaded(&broker).await;
    assert_eq!(status(&broker).in_flight_records, 2);
    // And with its topic it goes as well.
    let topic = TopicRef::Name("t".to_owned());
    let deleted = broker.delete_topics(vec![topic]);
    drive(&broker, deleted).await.unwrap().remove(0).unwrap();
    assert!(broker.queues().list().is_empty());
    create(&broker, "t", 1).await;
    make(&broker, "q", Start::Earliest, &[]).await.unwrap();
    assert_eq!(status(&broker).depth, 0);
}

#[tokio::test]
async fn what_goes_before_the_queue_is_done_with_it_is_counted() {
    let machine = Machine::new(14);
    let broker = started(&machine, 1, &[]).await;
    for value in ["a", "b", "c", "d"] {
        put_values(&broker, &[value]).await;
    }
    let held = receive(&broker, "one", 2).await;
    ack(&broker, &held[0]).await;
    let (t, p) = (by_name("t"), fanlog_model::PartitionIndex(0));
    let trimmed = broker.delete_records(&t, p, Some(Offset(3)));
    drive(&broker, trimmed).await.unwrap();
    assert_eq!(status(&broker).lost, 2);
    assert_eq!(take(&broker, "one", 9).await, "d x1");
}

#[tokio::test]
async fn a_message_that_is_cancelled_is_not_delivered_in_one_queue_or_in_all() {
    let machine = Machine::new(15);
    let broker = started(&machine, 1, &[]).await;
    make(&broker, "r", Start::Earliest, &[]).await.unwrap();
    let records = [
        (None, "a", &[("deliver-after", "1h")][..]),
        (None, "b", &[][..]),
        (None, "c", &[][..]),
    ];
    put(&broker, 0, &records).await;
    let id = |offset: i64| format!("t/0/{offset}").parse().unwrap();
    let q = queue("q");
    let one = broker.queues().cancel(Some(&q), vec![id(1)]);
    let outcomes = drive(&broker, one).await.unwrap();
    assert_eq!(outcomes[0].queues, [(q.clone(), Ok(true))]);
    let all = broker.queues().cancel(None, vec![id(0), id(7)]);
    let outcomes = drive(&broker, all).await.unwrap();
    let both = [(q.clone(), Ok(true)), (queue("r"), Ok(true))];
    assert_eq!(outcomes[0].queues, both);
    assert!(outcomes[1].queues.iter().all(|(_, one)| one.is_err()));
    drop(broker);
    machine.disk.crash(9);
    let broker = machine.start();
    loaded(&broker).await;
    pass(&machine, &broker, Duration::from_secs(7_200)).await;
    assert_eq!(take(&broker, "c", 9).await, "c x1");
    assert_eq!(shown(&receive_of(&broker, "r", "c", 9).await), "b x1 c x1");
}

#[tokio::test]
async fn a_filter_passes_over_what_the_queue_does_not_want() {
    let machine = Machine::new(16);
    let broker = started(&machine, 1, &[("filter", r#"{"kind": ["mail"]}"#)]).await;
    let records = [
        (None, "a", &[("kind", "mail")][..]),
        (None, "b", &[("kind", "fax")][..]),
        (None, "c", &[][..]),
        (None, "d", &[("kind", "mail")][..]),
    ];
    put(&broker, 0, &records).await;
    let messages = receive(&broker, "one", 9).await;
    assert_eq!(shown(&messages), "a x1 d x1");
    for message in &messages {
        ack(&broker, message).await;
    }
    assert_eq!(status(&broker).depth, 0);
}

#[tokio::test]
async fn the_log_of_queues_stays_short_and_says_what_it_said() {
    let machine = Machine::new(17);
    let broker = started(&machine, 1, &[]).await;
    put_values(&broker, &["v"; 1_000]).await;
    let messages = receive(&broker, "one", 1_000).await;
    let q = queue("q");
    for turn in 0..80 {
        // No two neighbours are alike.
        let items = messages.iter().zip(0..).map(|(message, at)| {
            let lock = SettleOutcome::Extend((60 + turn + at % 2) * SECOND);
            (message.receipt.clone(), lock)
        });
        let settled = broker.queues().settle(&q, items.collect());
        drive(&broker, settled).await.unwrap();
    }
    settled(&broker).await;
    let before = status(&broker);
    assert_eq!((before.depth, before.in_flight_records), (1_000, 1_000));
    let starts = (0..16).map(|index| {
        let (log, index) = (by_name(QUEUES_TOPIC), fanlog_model::PartitionIndex(index));
        let (spec, isolation) = (OffsetSpec::Earliest, Isolation::ReadUncommitted);
        let listed = broker.list_offset(&log, index, spec, isolation, None);
        listed.unwrap().offset.unwrap().0
    });
    assert!(starts.max().unwrap() > 0, "nothing was cut");
    drop(broker);
    let broker = machine.start();
    loaded(&broker).await;
    let after = status(&broker);
    assert_eq!((after.depth, after.in_flight_records), (1_000, 1_000));
    assert_eq!(after.attempts, before.attempts);
    ack(&broker, &messages[999]).await;
}

#[tokio::test]
async fn when_the_memory_is_full_nothing_new_is_looked_at_and_the_status_says_so() {
    let machine = Machine::new(18);
    let mut small = config();
    let limit = (
        "fanlog.queues.memory.bytes".to_owned(),
        "1048576".to_owned(),
    );
    small.statics.insert(limit.0, limit.1);
    let broker = fanlog_broker::Broker::start(small, machine.environment()).unwrap();
    create(&broker, "t", 1).await;
    make(&broker, "q", Start::Earliest, &[]).await.unwrap();
    let delayed: Produced<'_> = (None, "later", &[("deliver-after", "1h")]);
    for _ in 0..20 {
        put(&broker, 0, &vec![delayed; 1_000]).await;
    }
    put_values(&broker, &["now"]).await;
    assert_eq!(take(&broker, "one", 10).await, "");
    let seen = status(&broker);
    let is_full = |hindrance: &Hindrance| matches!(hindrance, Hindrance::MemoryFull { .. });
    assert!(seen.hindrances.iter().any(is_full), "{seen:?}");
    assert!(
        seen.waiting_for_time < 20_000 && seen.unread > 0,
        "{seen:?}"
    );
    // What is settled makes room again.
    pass(&machine, &broker, Duration::from_secs(3_600)).await;
    let q = queue("q");
    let mut last = String::new();
    for _ in 0..100 {
        let messages = receive(&broker, "one", 1_000).await;
        let Some(message) = messages.last() else {
            break;
        };
        last = shown(std::slice::from_ref(message));
        let items = messages.into_iter();
        let items = items.map(|message| (message.receipt, SettleOutcome::Ack));
        let settled = broker.queues().settle(&q, items.collect());
        drive(&broker, settled).await.unwrap();
    }
    assert_eq!(last, "now x1");
    assert_eq!(status(&broker).depth, 0);
}

#[tokio::test]
async fn metrics_say_what_the_status_says() {
    let machine = Machine::new(19);
    let broker = started(&machine, 2, &[]).await;
    put_values(&broker, &["a", "b", "c"]).await;
    let messages = receive(&broker, "one", 2).await;
    ack(&broker, &messages[0]).await;
    let text = broker.metrics().encode().unwrap();
    for line in [
        r#"fanlog_queue_depth_records{queue="q"} 2"#,
        r#"fanlog_queue_in_flight_records{queue="q"} 1"#,
        r#"fanlog_queue_acknowledged_records_total{queue="q"} 1"#,
    ] {
        assert!(text.contains(line), "{line} is not in {text}");
    }
    machine.clock.advance(10 * SECOND);
    let seen = status(&broker);
    assert_eq!(seen.in_flight[0].records, 1);
    assert_eq!(&*seen.in_flight[0].consumer, "one");
    assert!(seen.rate_in.is_some() && seen.rate_out.is_some());
}

#[tokio::test]
async fn who_waits_for_memory_holds_none_and_nothing_that_is_granted() {
    let machine = Machine::new(21);
    let mut small = config();
    // A quarter of it is for small ones.
    small.fetch_memory_bytes = 64 * 1024;
    let broker = fanlog_broker::Broker::start(small, machine.environment()).unwrap();
    create(&broker, "t", 4).await;
    make(&broker, "q", Start::Earliest, &[]).await.unwrap();
    let value = |bytes: usize| "x".repeat(bytes);
    put(&broker, 0, &[(None, &value(5_000), &[])]).await;
    put(&broker, 1, &[(None, &value(20_000), &[])]).await;
    let q = queue("q");
    let held = drive(&broker, broker.queues().receive(&q, asks("one", 2)));
    let held = held.await.unwrap();
    assert_eq!(held.messages.len(), 2);
    put(&broker, 2, &[(None, &value(5_000), &[])]).await;
    put(&broker, 3, &[(None, &value(30_000), &[])]).await;
    // There is room for the one and not for the other.
    let bounded = async |consumer| {
        let received = broker.queues().receive(&q, asks(consumer, 2));
        let received = tokio::time::timeout(30 * SECOND, drive(&broker, received));
        received.await.expect("it does not wait for ever").unwrap()
    };
    let second = bounded("two").await;
    assert_eq!(second.messages.len(), 1);
    assert!(bounded("three").await.messages.is_empty());
    drop((held, second));
    let third = bounded("three").await;
    assert_eq!(shown(&third.messages), format!("{} x1", value(30_000)));
}

#[tokio::test]
async fn a_queue_of_which_a_failed_sync_leaves_open_whether_it_was_made_has_its_beginning_if_it_was()
 {
    let mut was_made = 0;
    for failing in 0..12 {
        let machine = Machine::new(22);
        let broker = machine.start();
        create(&broker, "t", 1).await;
        make(&broker, "other", Start::Latest, &[]).await.unwrap();
        put_values(&broker, &["before"]).await;
        machine.disk.fail_sync(failing, FailedSync::PagesKept);
        let made = make(&broker, "q", Start::Latest, &[]);
        let made = tokio::time::timeout(30 * SECOND, made).await.unwrap();
        let mut after = batch(&["after"]);
        let receipt = partition(&broker, "t", 0).append(&mut after);
        let is_there = match receipt {
            Ok(receipt) => drive(&broker, receipt.durable()).await.is_ok(),
            Err(_) => false,
        };
        settled(&broker).await;
        drop(broker);
        machine.disk.restart();
        let broker = machine.start();
        loaded(&broker).await;
        let is_known = broker.queues().describe(&queue("q")).is_ok();
        assert!(is_known || made.is_err());
        if is_known && is_there {
            was_made += usize::from(made.is_err());
            assert_eq!(take(&broker, "one", 9).await, "after x1", "{failing}");
        }
    }
    assert!(was_made > 0, "no sync that fails leaves it open");
}
