//! Dead letters: moved once and only once whatever crashes when, listed, redriven, discarded.

#![allow(
    clippy::unwrap_used,
    reason = "the lint does not know that this is a test"
)]

mod common;

use common::queues::*;
use common::*;
use fanlog_broker::{AUDIT_TOPIC, Broker, DeadSelection, Redrive, Settled};
use fanlog_coordinators::catalog::TopicRef;
use fanlog_protocol::records::{BatchBuilder, Compression, NewRecord};
use std::sync::Arc;
use std::time::Duration;

fn all(redrives_max: u32) -> Redrive {
    Redrive {
        which: DeadSelection::All,
        rate: None,
        is_dry_run: false,
        redrives_max,
    }
}

#[tokio::test]
async fn after_its_last_attempt_a_record_becomes_a_dead_letter_with_its_story() {
    let machine = Machine::new(1);
    let broker = started(&machine, 1, &[("max-attempts", "2"), ("backoff", "none")]).await;
    put(&broker, 0, &[(Some("k"), "a", &[("h", "v")])]).await;
    for (consumer, reason) in [("one", "first"), ("two", "second")] {
        let messages = receive(&broker, consumer, 1).await;
        settle(&broker, &messages[0], nack(reason)).await.unwrap();
        pass(&machine, &broker, Duration::from_secs(1)).await;
    }
    assert_eq!(take(&broker, "one", 1).await, "");
    assert_eq!(dead(&broker).await, "a: second");
    let seen = status(&broker);
    assert_eq!(
        (seen.depth, seen.dead_letters, seen.moving),
        (0, Some(1), 0)
    );
    let q = queue("q");
    let list = drive(&broker, broker.queues().dead_list(&q, None, 9));
    let letter = list.await.unwrap().letters.remove(0);
    assert_eq!(letter.id.to_string(), "q.dead/0/0");
    assert_eq!(letter.origin.as_ref().unwrap().to_string(), "t/0/0");
    assert_eq!((letter.attempts, letter.redrives), (Some(2), 0));
    assert_eq!(letter.key.as_deref(), Some(&b"k"[..]));
    let shown = drive(&broker, broker.queues().dead_show(&q, letter.id));
    let headers = shown.await.unwrap().headers;
    let header = |name: &str| {
        let (_, value) = headers.iter().find(|(header, _)| header == name).unwrap();
        String::from_utf8(value.clone().unwrap().to_vec()).unwrap()
    };
    assert_eq!(header("h"), "v");
    assert_eq!(header("fanlog.dead.queue"), "q");
    let history = header("fanlog.dead.history");
    for part in [
        r#""consumer":"one""#,
        r#""reason":"first""#,
        r#""attempt":2"#,
    ] {
        assert!(history.contains(part), "{history}");
    }
    let audit = values(&broker, AUDIT_TOPIC, 0).await;
    assert_eq!(audit.len(), 1);
    assert!(audit[0].contains(r#""from":"t/0/0""#), "{audit:?}");
}

#[tokio::test]
async fn a_crash_at_any_step_of_a_move_neither_loses_nor_doubles_it() {
    for is_power_cut in [false, true] {
        let machine = Machine::new(2);
        let broker = started(&machine, 1, &[("order", "key")]).await;
        let record = |value| (Some("k"), value, &[][..]);
        put(&broker, 0, &[record("a"), record("b"), record("c")]).await;
        let messages = receive(&broker, "one", 1).await;
        let settled = broker.queues().clone();
        let receipt = messages[0].receipt.clone();
        // It is decided, and not durable yet.
        let rejecting = tokio::spawn(async move {
            let items = vec![(receipt, reject("bad"))];
            settled.settle(&queue("q"), items).await
        });
        let mut steps = 0;
        let mut is_over = false;
        while !is_over || !rejecting.is_finished() {
            for _ in 0..3 {
                tokio::task::yield_now().await;
                check_after(&machine, is_power_cut, rejecting.is_finished()).await;
                steps += 1;
            }
            broker.sync_all();
            is_over = rejecting.is_finished() && status(&broker).moving == 0;
            assert!(steps < 2_000, "the move does not end");
        }
        assert!(steps > 5, "{steps}");
        assert_eq!(rejecting.await.unwrap().unwrap(), [Ok(Settled::Moving)]);
        check_after(&machine, is_power_cut, true).await;
    }
}

/// Another machine in the same state starts, and goes on.
async fn check_after(machine: &Machine, is_power_cut: bool, is_acknowledged: bool) {
    let fork = machine.fork();
    if is_power_cut {
        fork.disk.crash(5);
    }
    let broker = fork.start();
    loaded(&broker).await;
    pass(&fork, &broker, Duration::from_secs(40)).await;
    pass(&fork, &broker, Duration::from_secs(400)).await;
    let rest = receive(&broker, "two", 9).await;
    let dead = dead(&broker).await;
    let is_rejected = dead == "a: bad";
    let is_lock_over = !dead.is_empty();
    assert!(
        is_rejected || !is_acknowledged,
        "acknowledged, and not dead: '{dead}'"
    );
    let expected = match is_lock_over {
        true => "b x1 c x1",
        false => "a x1 b x1 c x1",
    };
    assert_eq!(shown(&rest), expected, "dead: '{dead}'");
    let copies = values(&broker, "q.dead", 0).await;
    assert_eq!(copies.len(), usize::from(is_lock_over), "{copies:?}");
    for message in &rest {
        ack(&broker, message).await;
    }
    assert_eq!(status(&broker).depth, 0);
}

#[tokio::test]
async fn a_redriven_letter_is_delivered_again_and_goes_round_only_so_often() {
    let machine = Machine::new(3);
    let broker = started(&machine, 1, &[]).await;
    let delayed = [("deliver-after", "1h")];
    put(&broker, 0, &[(None, "a", &delayed)]).await;
    put_values(&broker, &["b"]).await;
    pass(&machine, &broker, Duration::from_secs(3_600)).await;
    for message in receive(&broker, "one", 9).await {
        settle(&broker, &message, reject("bad")).await.unwrap();
    }
    settled(&broker).await;
    assert_eq!(dead(&broker).await, "a: bad, b: bad");
    let q = queue("q");
    let dry = Redrive {
        is_dry_run: true,
        ..all(1)
    };
    let done = drive(&broker, broker.queues().redrive(&q, dry))
        .await
        .unwrap();
    assert_eq!((done.chosen, done.done), (2, 0));
    let ids = vec!["q.dead/0/0".parse().unwrap()];
    let some = Redrive {
        which: DeadSelection::Ids(ids),
        ..all(1)
    };
    let done = drive(&broker, broker.queues().redrive(&q, some))
        .await
        .unwrap();
    assert_eq!((done.chosen, done.done), (1, 1));
    assert_eq!(dead(&broker).await, "b: bad");
    // Its delay is over: it counted once.
    let again = receive(&broker, "one", 9).await;
    assert_eq!(shown(&again), "a x1");
    assert_eq!(again[0].id.to_string(), "q.redrive/0/0");
    settle(&broker, &again[0], reject("still bad"))
        .await
        .unwrap();
    settled(&broker).await;
    assert_eq!(dead(&broker).await, "b: bad, a: still bad");
    let done = drive(&broker, broker.queues().redrive(&q, all(1)))
        .await
        .unwrap();
    assert_eq!((done.chosen, done.done, done.guarded), (2, 1, 1));
    assert_eq!(take(&broker, "one", 9).await, "b x1");
    assert_eq!(dead(&broker).await, "a: still bad");
    let discarded = broker.queues().discard(&q, DeadSelection::All);
    let done = drive(&broker, discarded).await.unwrap();
    assert_eq!((done.chosen, done.done), (1, 1));
    drop(broker);
    machine.disk.crash(8);
    let broker = machine.start();
    loaded(&broker).await;
    assert_eq!(dead(&broker).await, "");
    assert_eq!(status(&broker).dead_letters, Some(0));
}

#[tokio::test]
async fn dead_letters_of_two_queues_in_one_topic_are_told_apart() {
    let machine = Machine::new(4);
    let broker = started(&machine, 1, &[("dead-letter", "common")]).await;
    let other = [("dead-letter", "common")];
    make(&broker, "other", fanlog_broker::Start::Earliest, &other)
        .await
        .unwrap();
    put_values(&broker, &["a"]).await;
    for name in ["q", "other"] {
        let messages = receive_of(&broker, name, "one", 1).await;
        let receipt = messages[0].receipt.clone();
        let reason = format!("of {name}");
        settle_of(&broker, name, receipt, reject(&reason))
            .await
            .unwrap();
        settled(&broker).await;
    }
    assert_eq!(dead(&broker).await, "a: of q");
    let counted = |name: &str| {
        let status = broker.queues().status(&queue(name)).unwrap();
        status.dead_letters
    };
    // Each counts its own, though both read the same topic.
    assert_eq!((counted("q"), counted("other")), (Some(1), Some(1)));
    let q = queue("q");
    drive(&broker, broker.queues().redrive(&q, all(9)))
        .await
        .unwrap();
    assert_eq!((counted("q"), counted("other")), (Some(0), Some(1)));
    assert_eq!(take(&broker, "one", 1).await, "a x1");
    assert_eq!(shown(&receive_of(&broker, "other", "one", 1).await), "");
    let other = queue("other");
    let list = broker.queues().dead_list(&other, None, 9);
    assert_eq!(drive(&broker, list).await.unwrap().letters.len(), 1);
}

#[tokio::test]
async fn a_dead_letter_topic_that_is_gone_is_made_again() {
    let machine = Machine::new(5);
    let broker = started(&machine, 1, &[]).await;
    put_values(&broker, &["a", "b"]).await;
    let messages = receive(&broker, "one", 2).await;
    settle(&broker, &messages[0], reject("x")).await.unwrap();
    settled(&broker).await;
    delete(&broker, "q.dead").await;
    settle(&broker, &messages[1], reject("y")).await.unwrap();
    settled(&broker).await;
    assert_eq!(dead(&broker).await, "b: y");
    assert_eq!(status(&broker).moving, 0);
}

async fn delete(broker: &Arc<Broker>, topic: &str) {
    let topic = TopicRef::Name(topic.to_owned());
    let deleted = broker.delete_topics(vec![topic]);
    drive(broker, deleted).await.unwrap().remove(0).unwrap();
}

#[tokio::test]
async fn a_crash_at_any_step_of_a_redrive_neither_loses_nor_doubles_it() {
    for is_power_cut in [false, true] {
        let machine = Machine::new(6);
        let broker = started(&machine, 1, &[]).await;
        put_values(&broker, &["a", "b"]).await;
        for message in receive(&broker, "one", 2).await {
            settle(&broker, &message, reject("bad")).await.unwrap();
        }
        settled(&broker).await;
        let queues = broker.queues().clone();
        let redriving = tokio::spawn(async move { queues.redrive(&queue("q"), all(3)).await });
        let mut steps = 0;
        while !redriving.is_finished() {
            for _ in 0..3 {
                tokio::task::yield_now().await;
                check_redriven(&machine, is_power_cut, redriving.is_finished()).await;
                steps += 1;
            }
            broker.sync_all();
            assert!(steps < 2_000, "the redrive does not end");
        }
        assert!(steps > 5, "{steps}");
        assert_eq!(redriving.await.unwrap().unwrap().done, 2);
        check_redriven(&machine, is_power_cut, true).await;
    }
}

/// Another machine in the same state starts: each record is a dead letter or comes again, never both.
async fn check_redriven(machine: &Machine, is_power_cut: bool, is_over: bool) {
    let fork = machine.fork();
    if is_power_cut {
        fork.disk.crash(5);
    }
    let broker = fork.start();
    loaded(&broker).await;
    let again = take(&broker, "two", 9).await;
    let dead = dead(&broker).await;
    let is_redriven = again == "a x1 b x1" && dead.is_empty();
    let is_left = again.is_empty() && dead == "a: bad, b: bad";
    assert!(is_redriven || (is_left && !is_over), "'{again}', '{dead}'");
}

#[tokio::test]
async fn where_the_disk_is_full_a_dead_letter_waits_and_says_so() {
    let machine = Machine::new(7);
    let broker = started(&machine, 1, &[]).await;
    let large = "x".repeat(100_000);
    put_values(&broker, &[&large]).await;
    let messages = receive(&broker, "one", 1).await;
    machine.disk.set_free_bytes(Some(50_000));
    settle(&broker, &messages[0], reject("bad")).await.unwrap();
    settled(&broker).await;
    let seen = status(&broker);
    assert_eq!((seen.moving, seen.dead_letters), (1, Some(0)));
    assert!(seen.moving_hindrance.is_some());
    machine.disk.set_free_bytes(None);
    pass(&machine, &broker, Duration::from_secs(1)).await;
    assert_eq!(status(&broker).moving, 0);
    assert_eq!(dead(&broker).await, format!("{large}: bad"));
}

#[tokio::test]
async fn a_record_that_is_larger_than_the_topic_takes_once_unpacked_becomes_a_dead_letter() {
    let machine = Machine::new(8);
    let broker = started(&machine, 1, &[]).await;
    let large = "x".repeat(3_000_000);
    let mut builder = BatchBuilder::new(Compression::Gzip);
    let record = NewRecord {
        value: Some(large.as_bytes()),
        ..NewRecord::default()
    };
    builder.push(&record).unwrap();
    let mut batch = builder.build().unwrap();
    let receipt = partition(&broker, "t", 0).append(&mut batch).unwrap();
    drive(&broker, receipt.durable()).await.unwrap();
    put_values(&broker, &["small"]).await;
    for _ in 0..2 {
        let messages = receive(&broker, "one", 1).await;
        settle(&broker, &messages[0], reject("bad")).await.unwrap();
    }
    settled(&broker).await;
    assert_eq!(status(&broker).moving_hindrance, None);
    assert_eq!(dead(&broker).await, format!("{large}: bad, small: bad"));
}
