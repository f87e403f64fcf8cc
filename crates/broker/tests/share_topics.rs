//! What share groups know of topics that go: at all times, also while their log is loading or refuses to be written.

#![allow(
    clippy::unwrap_used,
    reason = "the lint does not know that this is a test"
)]

mod common;

use common::shares::*;
use common::*;
use fanlog_broker::{Broker, CoordinatorError, GroupRequestError, SharePartitionRef};
use fanlog_coordinators::catalog::TopicRef;
use fanlog_coordinators::share::{AckRange, AckType};
use fanlog_model::{GroupId, Offset, PartitionIndex};
use std::sync::Arc;
use std::time::Duration;

async fn delete(broker: &Arc<Broker>) -> bool {
    let topics = vec![TopicRef::Name("t".to_owned())];
    drive(broker, broker.delete_topics(topics)).await.is_ok()
}

fn states(broker: &Broker) -> Vec<SharePartitionRef> {
    broker.shares().partitions_of(&"g".into()).unwrap()
}

/// An acknowledgement of one record, which is not waited for.
async fn accept(broker: &Broker, at: i64) -> bool {
    let ranges = [AckRange {
        first: Offset(at),
        last: Offset(at),
        types: vec![AckType::Accept],
    }];
    let (group, topic) = (GroupId::from("g"), id(broker));
    let shares = broker.shares();
    let decided = shares.acknowledge(&group, "a", topic, PartitionIndex(0), &ranges);
    decided.await.is_ok()
}

/// The machines begin to load while a deletion is so many steps on its way.
async fn deleted_while_loading(steps: usize) {
    let machine = Machine::new(31);
    let broker = started(&machine, &[10]).await;
    take(&broker, "a", 10).await;
    let deleting = tokio::spawn({
        let broker = broker.clone();
        async move {
            broker
                .delete_topics(vec![TopicRef::Name("t".to_owned())])
                .await
        }
    });
    for _ in 0..steps {
        tokio::task::yield_now().await;
        broker.sync_all();
    }
    if broker.topics().by_name(&name("t")).is_some() {
        // The log has an end that is not durable: it is loaded only once it is.
        accept(&broker, 0).await;
        machine.disk.set_free_bytes(Some(0));
        assert!(!accept(&broker, 1).await, "step {steps}");
        machine.disk.set_free_bytes(None);
    }
    drive(&broker, deleting).await.unwrap().unwrap();
    drive(&broker, loaded(&broker)).await;
    assert_eq!(states(&broker), [], "step {steps}");
}

#[tokio::test]
async fn a_topic_that_goes_while_the_states_are_loading_is_forgotten() {
    for steps in 0..12 {
        deleted_while_loading(steps).await;
    }
}

#[tokio::test]
async fn a_topic_whose_states_cannot_be_deleted_is_forgotten_later() {
    let machine = Machine::new(32);
    let broker = started(&machine, &[10]).await;
    let (mut deleted, mut refused) = (0, 0);
    for room in (0..400).step_by(4) {
        machine.disk.set_free_bytes(Some(room));
        let is_deleted = delete(&broker).await;
        loaded(&broker).await;
        machine.disk.set_free_bytes(None);
        if !is_deleted {
            continue;
        }
        deleted += 1;
        refused += usize::from(!states(&broker).is_empty());
        machine.clock.advance(Duration::from_secs(10));
        broker.shares().tick();
        assert_eq!(states(&broker), [], "room {room}");
        create(&broker, "t", 1).await;
        subscribe(&broker).await;
        assert_eq!(states(&broker).len(), 1, "room {room}");
    }
    assert!(deleted > refused && refused > 0, "{deleted} {refused}");
}

#[tokio::test]
async fn a_topic_that_went_before_a_crash_is_forgotten_at_the_start() {
    let machine = Machine::new(33);
    let broker = started(&machine, &[10]).await;
    let before = id(&broker);
    assert!(delete(&broker).await);
    // What became of its states is not synced yet.
    drop(broker);
    for seed in 0..8 {
        let machine = machine.fork();
        machine.disk.crash(seed);
        let broker = machine.start();
        loaded(&broker).await;
        assert_eq!(states(&broker), [], "seed {seed}");
        let groups = broker.groups();
        let described = loop {
            match drive(&broker, groups.describe_share("g".into())).await {
                Err(GroupRequestError::Coordinator(CoordinatorError::Loading)) => {
                    tokio::task::yield_now().await;
                }
                described => break described.unwrap(),
            }
        };
        let known = described.partitions.initialized.iter();
        let known: Vec<_> = known.map(|topic| topic.id).collect();
        assert!(!known.contains(&before), "seed {seed}");
    }
}
