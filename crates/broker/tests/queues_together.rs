//! What a service asks for that makes one queue of several: one wait over them, locks of zero, counts, purges, late deletes, a delay of the
//! queue's own.

#![allow(
    clippy::unwrap_used,
    reason = "the lint does not know that this is a test"
)]

mod common;

use common::queues::*;
use common::*;
use fanlog_broker::{
    Broker, Message, NewQueue, QueueCounts, QueueError, Receive, SettleFailure, SettleOutcome,
    Settled, Start,
};
use fanlog_model::{GroupId, TimestampMs};
use std::sync::Arc;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

/// Topics "t" and "u" with queues "q" and "r".
async fn two(machine: &Machine, settings: &[(&str, &str)]) -> Arc<Broker> {
    let broker = started(machine, 1, settings).await;
    create(&broker, "u", 1).await;
    make_on(&broker, "r", "u", settings).await.unwrap();
    broker
}

async fn make_on(
    broker: &Arc<Broker>,
    name: &str,
    topic: &str,
    settings: &[(&str, &str)],
) -> Result<(), QueueError> {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    let new = NewQueue {
        name: queue(name),
        topic: common::name(topic),
        settings: settings.iter().map(owned).collect(),
        start: Start::Earliest,
    };
    let made = drive(broker, broker.queues().create(new)).await;
    made.map(|_| ())
}

fn both() -> Vec<GroupId> {
    vec![queue("q"), queue("r")]
}

async fn any(broker: &Arc<Broker>, asked: Receive) -> Vec<Message> {
    let both = both();
    let received = broker.queues().receive_any(&both, asked);
    drive(broker, received).await.unwrap().messages
}

/// Values, attempts and queues, in the order of the values.
fn by_queue(messages: &[Message]) -> String {
    let one =
        |message: &Message| format!("{} {}", message.queue, shown(std::slice::from_ref(message)));
    let mut all: Vec<_> = messages.iter().map(one).collect();
    all.sort();
    all.join(", ")
}

async fn counted(broker: &Arc<Broker>, name: &str) -> (u64, u64, u64) {
    let name = queue(name);
    let counts = drive(broker, broker.queues().counts(&name)).await.unwrap();
    let QueueCounts {
        visible,
        in_flight,
        delayed,
        is_estimate,
    } = counts;
    assert!(!is_estimate);
    (visible, in_flight, delayed)
}

#[tokio::test]
async fn one_receive_takes_from_several_queues_and_its_receipts_say_of_which() {
    let machine = Machine::new(1);
    let broker = two(&machine, &[("backoff", "none")]).await;
    put_values(&broker, &["a", "b"]).await;
    put_on(&broker, "u", &["c"]).await;
    let messages = any(&broker, asks("one", 10)).await;
    assert_eq!(by_queue(&messages), "q a x1, q b x1, r c x1");
    for message in &messages {
        let of = broker.queues().queue_of(&both(), &message.receipt);
        assert_eq!(of.as_ref(), Some(&message.queue));
        let settled = settle_of(
            &broker,
            message.queue.0.as_ref(),
            message.receipt.clone(),
            SettleOutcome::Ack,
        );
        assert_eq!(settled.await, Ok(Settled::Done));
    }
    let stranger = broker
        .queues()
        .queue_of(&[queue("r")], &messages[0].receipt);
    assert!(stranger.is_none() || messages[0].queue == queue("r"));
    // One of them goes: the other is received from all the same.
    drive(&broker, broker.queues().delete(&queue("r")))
        .await
        .unwrap();
    put_values(&broker, &["d"]).await;
    assert_eq!(by_queue(&any(&broker, asks("one", 10)).await), "q d x1");
    drive(&broker, broker.queues().delete(&queue("q")))
        .await
        .unwrap();
    let both = both();
    let none = broker.queues().receive_any(&both, asks("one", 10));
    let none = drive(&broker, none).await.map(|_| ());
    assert!(
        matches!(none, Err(QueueError::NoSuchQueue { .. })),
        "{none:?}"
    );
}

#[tokio::test]
async fn one_wait_over_several_queues_ends_with_whatever_comes_in_any_of_them() {
    let machine = Machine::new(2);
    let broker = two(&machine, &[("backoff", "none")]).await;
    let waiting = || {
        let broker = broker.clone();
        tokio::spawn(async move {
            let asked = Receive {
                wait_max: Duration::from_secs(3_600),
                ..asks("", 10)
            };
            let both = both();
            let received = broker.queues().receive_any(&both, asked).await;
            received.unwrap().messages
        })
    };
    let receiving = waiting();
    settled(&broker).await;
    assert!(!receiving.is_finished());
    put_on(&broker, "u", &["a"]).await;
    let messages = drive(&broker, receiving).await.unwrap();
    assert_eq!(by_queue(&messages), "r a x1");
    // Released, failed, run out, due.
    let receiving = waiting();
    settled(&broker).await;
    let now = SettleOutcome::Release { delay: None };
    let receipt = messages[0].receipt.clone();
    settle_of(&broker, "r", receipt, now).await.unwrap();
    let messages = drive(&broker, receiving).await.unwrap();
    assert_eq!(by_queue(&messages), "r a x1");
    let receiving = waiting();
    settled(&broker).await;
    let receipt = messages[0].receipt.clone();
    settle_of(&broker, "r", receipt, nack("no")).await.unwrap();
    assert_eq!(
        by_queue(&drive(&broker, receiving).await.unwrap()),
        "r a x2"
    );
    let receiving = waiting();
    settled(&broker).await;
    assert!(!receiving.is_finished());
    pass(&machine, &broker, 30 * SECOND).await;
    assert_eq!(
        by_queue(&drive(&broker, receiving).await.unwrap()),
        "r a x3"
    );
    put(&broker, 0, &[(None, "b", &[("deliver-after", "9s")])]).await;
    let receiving = waiting();
    settled(&broker).await;
    assert!(!receiving.is_finished());
    pass(&machine, &broker, 9 * SECOND).await;
    assert_eq!(
        by_queue(&drive(&broker, receiving).await.unwrap()),
        "q b x1"
    );
}

#[tokio::test]
async fn a_receive_over_several_that_is_given_up_gives_all_back_without_an_attempt() {
    let machine = Machine::new(3);
    let broker = two(&machine, &[]).await;
    put_values(&broker, &["a"]).await;
    put_on(&broker, "u", &["b"]).await;
    let names = both();
    {
        let receiving = broker.queues().receive_any(&names, asks("one", 10));
        let mut receiving = std::pin::pin!(receiving);
        for _ in 0..1_000 {
            if held_by_both(&broker) > 0 {
                break;
            }
            tokio::select! {
                biased;
                _ = &mut receiving => panic!("it was to be given up"),
                () = std::future::ready(()) => broker.sync_all(),
            }
        }
        assert!(held_by_both(&broker) > 0);
    }
    assert_eq!(held_by_both(&broker), 0);
    let again = any(&broker, asks("two", 10)).await;
    assert_eq!(by_queue(&again), "q a x1, r b x1");
}

fn held_by_both(broker: &Arc<Broker>) -> u64 {
    let held = |name: &GroupId| broker.queues().status(name).unwrap().in_flight_records;
    both().iter().map(held).sum()
}

#[tokio::test]
async fn a_lock_of_zero_counts_attempts_until_the_message_is_a_dead_letter() {
    let machine = Machine::new(4);
    let broker = two(&machine, &[("backoff", "none"), ("max-attempts", "3")]).await;
    put_values(&broker, &["a", "b"]).await;
    let unlocked = || Receive {
        lock: Some(Duration::ZERO),
        ..asks("", 10)
    };
    let first = any(&broker, unlocked()).await;
    assert_eq!(by_queue(&first), "q a x1, q b x1");
    assert_eq!(counted(&broker, "q").await, (2, 0, 0));
    let late = settle(&broker, &first[0], SettleOutcome::Ack).await;
    assert!(matches!(late, Err(SettleFailure::Refused(_))), "{late:?}");
    machine.clock.advance(SECOND);
    let second = any(&broker, unlocked()).await;
    assert_eq!(by_queue(&second), "q a x2, q b x2");
    for (first, second) in first.iter().zip(&second) {
        assert!(first.first_received.is_some());
        assert_eq!(first.first_received, second.first_received);
    }
    assert_eq!(by_queue(&any(&broker, unlocked()).await), "q a x3");
    settled(&broker).await;
    assert_eq!(dead(&broker).await, "a: the lock ran out");
}

#[tokio::test]
async fn counts_are_right_before_and_after_anybody_has_looked_and_over_a_restart() {
    let machine = Machine::new(5);
    let broker = started(&machine, 2, &[("filter", r#"{"kind":["a"]}"#)]).await;
    let wanted = [("kind", "a")];
    let late = [("kind", "a"), ("deliver-after", "10s")];
    let one: Produced<'_> = (None, "m", &wanted);
    put(
        &broker,
        0,
        &[one, one, (None, "other", &[]), (None, "late", &late)],
    )
    .await;
    put(&broker, 1, &[one]).await;
    assert_eq!(counted(&broker, "q").await, (3, 0, 1));
    let held = receive(&broker, "c", 1).await;
    assert_eq!(counted(&broker, "q").await, (2, 1, 1));
    drop(broker);
    let broker = machine.start();
    loaded(&broker).await;
    assert_eq!(counted(&broker, "q").await, (2, 1, 1));
    machine.clock.advance(10 * SECOND);
    // No timer has run.
    assert_eq!(counted(&broker, "q").await, (3, 1, 0));
    ack(&broker, &held[0]).await;
    assert_eq!(counted(&broker, "q").await, (3, 0, 0));
    let unread = receive(&broker, "c", 9).await;
    assert_eq!(unread.len(), 3);
    machine.clock.advance(30 * SECOND);
    // They rest as the backoff says.
    assert_eq!(counted(&broker, "q").await, (0, 0, 3));
}

#[tokio::test]
async fn too_many_to_look_at_are_estimated() {
    let machine = Machine::new(6);
    let broker = started(&machine, 1, &[]).await;
    let large = "x".repeat(600_000);
    for _ in 0..60 {
        put_values(&broker, &[&large]).await;
    }
    let q = queue("q");
    let counts = drive(&broker, broker.queues().counts(&q)).await.unwrap();
    assert_eq!((counts.visible, counts.is_estimate), (60, true));
}

#[tokio::test]
async fn a_purge_ends_what_is_there_for_good_and_voids_receipts() {
    let machine = Machine::new(7);
    let broker = started(&machine, 2, &[("backoff", "none")]).await;
    put_values(&broker, &["held", "waits"]).await;
    put(&broker, 1, &[(None, "late", &[("deliver-after", "10s")])]).await;
    let held = receive(&broker, "c", 1).await;
    assert_eq!(shown(&held), "held x1");
    let q = queue("q");
    drive(&broker, broker.queues().purge(&q)).await.unwrap();
    assert_eq!(counted(&broker, "q").await, (0, 0, 0));
    let late = settle(&broker, &held[0], SettleOutcome::Ack).await;
    assert!(matches!(late, Err(SettleFailure::Refused(_))), "{late:?}");
    put_values(&broker, &["new"]).await;
    drop(broker);
    machine.disk.crash(9);
    let broker = machine.start();
    loaded(&broker).await;
    pass(&machine, &broker, 31 * SECOND).await;
    assert_eq!(take(&broker, "c", 9).await, "new x1");
}

#[tokio::test]
async fn a_late_delete_ends_a_message_whoever_has_it_by_then() {
    let machine = Machine::new(8);
    let broker = started(&machine, 1, &[("backoff", "none")]).await;
    put_values(&broker, &["a", "b"]).await;
    let first = receive(&broker, "one", 2).await;
    let (q, queues) = (queue("q"), broker.queues());
    let is_held = drive(&broker, queues.held(&q, &first[0].receipt)).await;
    assert_eq!(is_held, Ok(true));
    machine.clock.advance(31 * SECOND);
    let is_held = drive(&broker, queues.held(&q, &first[0].receipt)).await;
    assert_eq!(is_held, Ok(false), "though no timer has run");
    let second = receive(&broker, "two", 1).await;
    assert_eq!(shown(&second), "a x2");
    // Nobody holds b.
    for is_something in [true, false] {
        let deleted = drive(&broker, queues.delete_expired(&q, &first[1].receipt)).await;
        assert_eq!(deleted, Ok(is_something));
    }
    // The new holder keeps a, and it does not come back.
    let deleted = drive(&broker, queues.delete_expired(&q, &first[0].receipt)).await;
    assert_eq!(deleted, Ok(true));
    let is_held = drive(&broker, queues.held(&q, &second[0].receipt)).await;
    assert_eq!(is_held, Ok(true));
    drop(broker);
    machine.disk.crash(3);
    let broker = machine.start();
    loaded(&broker).await;
    pass(&machine, &broker, 31 * SECOND).await;
    assert_eq!(take(&broker, "two", 9).await, "");
}

#[tokio::test]
async fn a_receipt_says_nothing_in_another_queue_on_the_topic() {
    let machine = Machine::new(12);
    let broker = started(&machine, 1, &[]).await;
    make_on(&broker, "s", "t", &[]).await.unwrap();
    put_values(&broker, &["a"]).await;
    let mine = receive(&broker, "one", 1).await;
    let (q, s, queues) = (queue("q"), queue("s"), broker.queues());
    let asked = vec![s.clone(), q.clone()];
    assert_eq!(queues.queue_of(&asked, &mine[0].receipt), Some(q));
    let of_another = SettleFailure::OfAnother { queue: s.clone() };
    let deleted = drive(&broker, queues.delete_expired(&s, &mine[0].receipt)).await;
    assert_eq!(deleted, Err(of_another.clone()));
    let item = (mine[0].receipt.clone(), SettleOutcome::Ack);
    let settled = drive(&broker, queues.settle(&s, vec![item])).await;
    assert_eq!(settled, Ok(vec![Err(of_another)]));
    assert_eq!(counted(&broker, "s").await, (1, 0, 0));
}

#[tokio::test]
async fn a_delay_of_the_queue_counts_where_the_message_names_none() {
    let machine = Machine::new(9);
    let broker = started(&machine, 1, &[("delay", "10s")]).await;
    let records: [Produced<'_>; 3] = [
        (None, "usual", &[]),
        (None, "now", &[("deliver-after", "0")]),
        (None, "later", &[("deliver-after", "20s")]),
    ];
    put(&broker, 0, &records).await;
    assert_eq!(counted(&broker, "q").await, (1, 0, 2));
    assert_eq!(take(&broker, "c", 9).await, "now x1");
    pass(&machine, &broker, Duration::from_millis(9_999)).await;
    assert_eq!(take(&broker, "c", 9).await, "");
    pass(&machine, &broker, Duration::from_millis(1)).await;
    assert_eq!(take(&broker, "c", 9).await, "usual x1");
    alter(&broker, "delay", "0s").await;
    put_values(&broker, &["at once"]).await;
    assert_eq!(take(&broker, "c", 9).await, "at once x1");
    pass(&machine, &broker, 10 * SECOND).await;
    assert_eq!(take(&broker, "c", 9).await, "later x1");
}

#[tokio::test]
async fn a_delay_that_retention_would_overtake_is_refused() {
    let machine = Machine::new(11);
    let broker = machine.start();
    let mut topic = new_topic("t", 1);
    topic.overrides = vec![("retention.ms".to_owned(), Some("60000".to_owned()))];
    let created = broker.create_topics(vec![topic], false);
    drive(&broker, created).await.unwrap().remove(0).unwrap();
    let loose = ("retention-hold", "false");
    let refused = make(&broker, "q", Start::Latest, &[loose, ("delay", "61s")]).await;
    let is_of_delay = |error: &QueueError| matches!(error, QueueError::BadSetting { setting, .. } if &**setting == "delay");
    assert!(refused.is_err_and(|error| is_of_delay(&error)));
    for settings in [&[loose, ("delay", "1m")][..], &[("delay", "15m")]] {
        make(&broker, "q", Start::Latest, settings).await.unwrap();
        let changes = [
            ("delay".to_owned(), Some("2m".to_owned())),
            ("retention-hold".to_owned(), Some("false".to_owned())),
        ];
        let q = queue("q");
        let altered = broker.queues().alter(&q, changes.into());
        let refused = drive(&broker, altered).await;
        assert!(refused.is_err_and(|error| is_of_delay(&error)));
        drive(&broker, broker.queues().delete(&q)).await.unwrap();
    }
}

#[tokio::test]
async fn a_message_says_when_it_was_received_first() {
    let machine = Machine::new(10);
    let broker = started(&machine, 1, &[("backoff", "none"), ("max-attempts", "0")]).await;
    put_values(&broker, &["a"]).await;
    let now = broker.environment().clock.wall_ms();
    for attempt in 1..=20 {
        let messages = receive(&broker, "c", 1).await;
        let expected: Option<TimestampMs> = Some(now);
        assert_eq!(messages[0].first_received, expected, "{attempt}");
        pass(&machine, &broker, 30 * SECOND).await;
    }
    drop(broker);
    let broker = machine.start();
    loaded(&broker).await;
    let messages = receive(&broker, "c", 1).await;
    assert_eq!(messages[0].first_received, Some(now));
    assert_eq!(messages[0].attempt, 21);
}

#[tokio::test]
async fn a_queue_that_ends_gives_what_came_before_and_nothing_that_came_later() {
    let machine = Machine::new(41);
    let broker = started(&machine, 1, &[]).await;
    put_values(&broker, &["a", "b"]).await;
    alter(&broker, "until", "0:2").await;
    put_values(&broker, &["c"]).await;
    let counts = drive(&broker, broker.queues().counts(&queue("q"))).await;
    assert_eq!(counts.unwrap().visible, 2);
    let messages = receive(&broker, "one", 9).await;
    assert_eq!(shown(&messages), "a x1 b x1");
    for message in &messages {
        ack(&broker, message).await;
    }
    let counts = drive(&broker, broker.queues().counts(&queue("q"))).await;
    assert_eq!(counts.unwrap(), QueueCounts::default());
    assert_eq!(take(&broker, "one", 9).await, "");
    alter(&broker, "until", "").await;
    assert_eq!(take(&broker, "one", 9).await, "c x1");
}
