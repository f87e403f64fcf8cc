//! Messages of a queue that are moved to other topics: from a queue of dead letters back to where they failed, or elsewhere; once, whatever
//! crashes.

#![allow(
    clippy::unwrap_used,
    reason = "the lint does not know that this is a test"
)]

mod common;

use common::queues::*;
use common::*;
use fanlog_broker::{
    Broker, MoveEnd, MoveMessages, MoveTask, MoveTo, NewQueue, QueueError, SettleOutcome, Settled,
    Start,
};
use fanlog_coordinators::catalog::TopicRef;
use fanlog_model::TopicName;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);
const DEAD: &[(&str, &str)] = &[("dead-letter", "dlq"), ("backoff", "none")];

async fn make_on(broker: &Arc<Broker>, name: &str, topic: &str, settings: &[(&str, &str)]) {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    let new = NewQueue {
        name: queue(name),
        topic: common::name(topic),
        settings: settings.iter().map(owned).collect(),
        start: Start::Earliest,
    };
    drive(broker, broker.queues().create(new)).await.unwrap();
}

/// Topics "t", "u" and "dlq"; queues "q" on t and "r" on u whose dead letters go to dlq, and "d" on that.
async fn with_dead_letters(machine: &Machine) -> Arc<Broker> {
    let broker = machine.start();
    for topic in ["t", "u", "dlq"] {
        create(&broker, topic, 1).await;
    }
    make_on(&broker, "q", "t", DEAD).await;
    make_on(&broker, "r", "u", DEAD).await;
    let own = [
        ("dead-letter", "none"),
        ("backoff", "none"),
        ("max-attempts", "0"),
    ];
    make_on(&broker, "d", "dlq", &own).await;
    broker
}

/// Values that become dead letters of a queue.
async fn fail(broker: &Arc<Broker>, name: &str, topic: &str, values: &[&str]) {
    put_on(broker, topic, values).await;
    for message in receive_of(broker, name, "c", values.len()).await {
        let settled = settle_of(broker, name, message.receipt, reject("never")).await;
        assert_eq!(settled, Ok(Settled::Moving));
    }
    settled(broker).await;
}

fn origin(own: &[(&str, &str)]) -> MoveMessages {
    let own = own.iter();
    let own = own.map(|(queue, topic)| ((*queue).into(), common::name(topic)));
    MoveMessages {
        to: MoveTo::Origin(own.collect::<BTreeMap<_, TopicName>>()),
        rate: None,
    }
}

fn to(topic: &str) -> MoveMessages {
    MoveMessages {
        to: MoveTo::Topic(common::name(topic)),
        rate: None,
    }
}

async fn moved(broker: &Arc<Broker>, wanted: MoveMessages) -> (u64, u64) {
    let (d, task) = (queue("d"), MoveTask::default());
    let ended = drive(broker, broker.queues().move_messages(&d, &wanted, &task)).await;
    assert_eq!(ended, Ok(MoveEnd::Done));
    (task.moved(), task.without_origin())
}

async fn taken(broker: &Arc<Broker>, name: &str) -> String {
    shown(&receive_of(broker, name, "c", 100).await)
}

#[tokio::test]
async fn each_message_goes_back_to_the_queue_in_which_it_failed() {
    let machine = Machine::new(1);
    let broker = with_dead_letters(&machine).await;
    fail(&broker, "q", "t", &["a", "b"]).await;
    fail(&broker, "r", "u", &["c"]).await;
    fail(&broker, "q", "t", &["d"]).await;
    put_on(&broker, "dlq", &["sent there"]).await;
    let held = receive_of(&broker, "d", "c", 1).await;
    assert_eq!(shown(&held), "a x1");
    // What somebody holds stays.
    assert_eq!(moved(&broker, origin(&[])).await, (3, 1));
    assert_eq!(taken(&broker, "q").await, "b x1 d x1");
    let again = receive_of(&broker, "r", "c", 9).await;
    assert_eq!(shown(&again), "c x1");
    let header = |name: &str| {
        let mut headers = again[0].headers.iter();
        let found = headers.find(|(header, _)| header == name);
        found.map(|(_, value)| String::from_utf8(value.clone().unwrap().to_vec()).unwrap())
    };
    assert_eq!(header("fanlog.dead.topic").as_deref(), Some("u"));
    assert_eq!(
        header("fanlog.dead.queue"),
        None,
        "it is no dead letter now"
    );
    let receipt = held[0].receipt.clone();
    settle_of(
        &broker,
        "d",
        receipt,
        SettleOutcome::Release { delay: None },
    )
    .await
    .unwrap();
    assert_eq!(taken(&broker, "d").await, "a x1 sent there x1");
}

#[tokio::test]
async fn a_queue_whose_topic_is_its_own_gets_them_by_that_and_another_topic_takes_all() {
    let machine = Machine::new(2);
    let broker = with_dead_letters(&machine).await;
    fail(&broker, "q", "t", &["a"]).await;
    assert_eq!(moved(&broker, origin(&[("q", "t")])).await, (1, 0));
    let again = receive(&broker, "c", 9).await;
    assert_eq!(
        (shown(&again).as_str(), again[0].id.topic.as_str()),
        ("a x1", "t")
    );
    ack(&broker, &again[0]).await;
    let late: Produced<'_> = (Some("k"), "late", &[("deliver-after", "1s")]);
    put(&broker, 0, &[late]).await;
    pass(&machine, &broker, SECOND).await;
    let message = receive(&broker, "c", 9).await.remove(0);
    settle(&broker, &message, reject("never")).await.unwrap();
    settled(&broker).await;
    put_on(&broker, "dlq", &["sent there"]).await;
    assert_eq!(moved(&broker, to("u")).await, (2, 0));
    // It is not delayed again.
    assert_eq!(taken(&broker, "r").await, "late x1 sent there x1");
    let d = queue("d");
    for (topic, is_unknown) in [("dlq", false), ("nowhere", true)] {
        let (wanted, task) = (to(topic), MoveTask::default());
        let refused = drive(&broker, broker.queues().move_messages(&d, &wanted, &task)).await;
        let expected = match is_unknown {
            true => matches!(refused, Err(QueueError::NoSuchTopic { .. })),
            false => matches!(refused, Err(QueueError::BadTopic { .. })),
        };
        assert!(expected, "{refused:?}");
    }
}

#[tokio::test]
async fn a_move_that_is_cancelled_leaves_the_rest() {
    let machine = Machine::new(3);
    let broker = with_dead_letters(&machine).await;
    fail(&broker, "q", "t", &["a", "b", "c"]).await;
    let task = Arc::new(MoveTask::default());
    let moving = tokio::spawn({
        let (broker, task) = (broker.clone(), task.clone());
        async move {
            let wanted = MoveMessages {
                rate: Some(1),
                ..to("u")
            };
            let d = queue("d");
            broker.queues().move_messages(&d, &wanted, &task).await
        }
    });
    while task.moved() == 0 {
        tokio::task::yield_now().await;
        broker.sync_all();
    }
    task.cancel();
    assert_eq!(
        drive(&broker, moving).await.unwrap(),
        Ok(MoveEnd::Cancelled)
    );
    assert_eq!(task.moved(), 1);
    assert_eq!(taken(&broker, "r").await, "a x1");
    assert_eq!(taken(&broker, "d").await, "b x1 c x1");
}

#[tokio::test]
async fn a_crash_at_any_step_loses_no_message_and_repeats_none() {
    let machine = Machine::new(4);
    let broker = with_dead_letters(&machine).await;
    fail(&broker, "q", "t", &["a", "b", "c", "d"]).await;
    fail(&broker, "r", "u", &["e"]).await;
    let before = common::queues::status(&broker);
    assert_eq!(before.depth, 0);
    drop(broker);
    machine.disk.crash(1);
    let mut is_ended = Vec::new();
    for steps in 0..60 {
        for is_power_cut in [false, true] {
            let fork = machine.fork();
            let broker = fork.start();
            loaded(&broker).await;
            let (d, wanted, task) = (queue("d"), to("t"), MoveTask::default());
            {
                let moving = broker.queues().move_messages(&d, &wanted, &task);
                let mut moving = std::pin::pin!(moving);
                for step in 0..steps {
                    tokio::select! {
                        biased;
                        _ = &mut moving => break,
                        () = tokio::task::yield_now() => {}
                    }
                    if step % 3 == 0 {
                        broker.sync_all();
                    }
                }
            }
            is_ended.push(task.moved() == 5);
            drop(broker);
            if is_power_cut {
                fork.disk.crash(steps);
            }
            let broker = fork.start();
            loaded(&broker).await;
            moved(&broker, to("t")).await;
            let mut all = values(&broker, "t", 0).await;
            assert_eq!(all.split_off(4), ["a", "b", "c", "d", "e"], "{steps}");
            assert_eq!(taken(&broker, "d").await, "");
        }
    }
    assert!(
        !is_ended[0] && is_ended[is_ended.len() - 1],
        "from nothing to all"
    );
}

#[tokio::test]
async fn what_goes_to_a_topic_that_is_deleted_meanwhile_stays() {
    let machine = Machine::new(5);
    let broker = with_dead_letters(&machine).await;
    fail(&broker, "q", "t", &["a", "b"]).await;
    let task = Arc::new(MoveTask::default());
    let moving = tokio::spawn({
        let (broker, task) = (broker.clone(), task.clone());
        async move {
            let (d, wanted) = (queue("d"), to("u"));
            broker.queues().move_messages(&d, &wanted, &task).await
        }
    });
    // They are on their way once their row is durable; the topic goes before any copy.
    while common::queues::status_of(&broker, "d").moving == 0 {
        tokio::task::yield_now().await;
    }
    let reference = TopicRef::Name("u".to_owned());
    let deleted = broker.delete_topics(vec![reference]);
    drive(&broker, deleted).await.unwrap().remove(0).unwrap();
    for _ in 0..1_000 {
        if moving.is_finished() {
            break;
        }
        broker.queues().tick();
        settled(&broker).await;
    }
    assert!(moving.is_finished(), "it waits for ever");
    let ended = moving.await.unwrap();
    assert!(
        matches!(ended, Err(QueueError::NoSuchTopic { .. })),
        "{ended:?}"
    );
    assert_eq!(task.moved(), 0);
    assert_eq!(taken(&broker, "d").await, "a x1 b x1");
}
