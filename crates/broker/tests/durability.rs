//! Topics that wait for the disk, and topics that do not.

#![allow(
    clippy::unwrap_used,
    reason = "the lint does not know that this is a test"
)]

mod common;

use common::*;
use fanlog_broker::{Broker, OFFSETS_TOPIC};
use fanlog_coordinators::catalog::{
    ChangeKind, ConfigChange, ConfigResource, IncrementalAlteration, ResourceKind,
};
use fanlog_model::{Offset, PartitionIndex};
use std::sync::Arc;

async fn create_with(broker: &Arc<Broker>, topic: &str, durability: &str) {
    let mut new = new_topic(topic, 1);
    new.overrides = vec![("durability".into(), Some(durability.into()))];
    let created = drive(broker, broker.create_topics(vec![new], false)).await;
    created.unwrap().remove(0).unwrap();
}

async fn alter(broker: &Arc<Broker>, topic: &str, durability: &str) -> Result<(), String> {
    let alteration = IncrementalAlteration {
        resource: ConfigResource {
            kind: ResourceKind::Topic,
            name: topic.into(),
        },
        changes: vec![ConfigChange {
            name: "durability".into(),
            kind: ChangeKind::Set,
            value: Some(durability.into()),
        }],
    };
    let altered = drive(
        broker,
        broker.incremental_alter_configs(vec![alteration], false),
    )
    .await;
    let altered = altered.unwrap().remove(0);
    altered.map_err(|error| error.to_string())
}

#[tokio::test]
async fn records_of_an_os_topic_are_acknowledged_and_seen_at_once() {
    let machine = Machine::new(61);
    let broker = machine.start();
    create_with(&broker, "t", "os").await;
    while broker.sync_next() {}
    let receipt = append(&broker, "t", &["a"]);
    // Nobody syncs anything.
    receipt.durable().await.unwrap();
    assert_eq!(values(&broker, "t", 0).await, ["a"]);
    assert!(!broker.sync_next(), "nothing of it is to be synced");
}

#[tokio::test]
async fn a_power_cut_takes_a_suffix_of_an_os_topic_and_its_offsets_come_back_under_a_higher_epoch()
{
    let mut was_lost = false;
    for seed in 0..30 {
        let machine = Machine::new(seed);
        let broker = machine.start();
        create_with(&broker, "t", "os").await;
        for value in ["a", "b", "c"] {
            append(&broker, "t", &[value]).durable().await.unwrap();
        }
        let before = broker.leader_epoch();
        drop(broker);
        machine.disk.crash(seed);
        let broker = machine.start();
        let left = values(&broker, "t", 0).await;
        assert!(["a", "b", "c"].starts_with(&left.iter().map(String::as_str).collect::<Vec<_>>()));
        was_lost |= left.len() < 3;
        assert!(broker.leader_epoch() > before);
        let next = append(&broker, "t", &["d"]);
        assert_eq!(next.first_offset(), Offset(left.len() as i64));
    }
    assert!(was_lost, "no crash took anything");
}

#[tokio::test]
async fn an_interval_topic_keeps_what_its_interval_has_synced() {
    let machine = Machine::new(63);
    let broker = machine.start();
    create_with(&broker, "t", "interval:100").await;
    append(&broker, "t", &["kept"]).durable().await.unwrap();
    while broker.sync_next() {}
    append(&broker, "t", &["perhaps"]).durable().await.unwrap();
    drop(broker);
    machine.disk.crash(1);
    assert_eq!(values(&machine.start(), "t", 0).await[0], "kept");
}

#[tokio::test]
async fn a_topic_that_changes_to_sync_loses_nothing_from_then_on() {
    for seed in 0..30 {
        let machine = Machine::new(seed);
        let broker = machine.start();
        create_with(&broker, "t", "os").await;
        append(&broker, "t", &["a"]).durable().await.unwrap();
        alter(&broker, "t", "sync").await.unwrap();
        produce(&broker, "t", &["b"]).await;
        drop(broker);
        machine.disk.crash(seed);
        assert_eq!(values(&machine.start(), "t", 0).await, ["a", "b"]);
    }
}

#[tokio::test]
async fn an_unknown_class_is_refused_and_the_brokers_own_topics_keep_theirs() {
    let machine = Machine::new(65);
    let broker = machine.start();
    create(&broker, "t", 1).await;
    let error = alter(&broker, "t", "never").await.unwrap_err();
    assert!(
        error.contains("expected sync, os, or interval:<ms>"),
        "{error}"
    );
    // The first use of a group makes the topic.
    drop(drive(&broker, broker.groups().find(&"g".into())).await);
    let error = alter(&broker, OFFSETS_TOPIC, "os").await.unwrap_err();
    assert!(error.contains("keeps its settings"), "{error}");
}

#[tokio::test]
async fn a_batch_too_large_for_the_journal_is_synced_in_its_segment_and_what_follows_is_safe() {
    for seed in 0..20 {
        let machine = Machine::new(seed);
        let broker = machine.start();
        create(&broker, "t", 1).await;
        // A journal file has 64 KiB.
        let large = "x".repeat(40_000);
        let receipts = [
            append(&broker, "t", &["before"]),
            append(&broker, "t", &[&large]),
            append(&broker, "t", &["behind"]),
        ];
        broker.sync_all();
        for receipt in receipts {
            receipt.durable().await.unwrap();
        }
        drop(broker);
        machine.disk.crash(seed);
        assert_eq!(
            values(&machine.start(), "t", 0).await,
            ["before", &large, "behind"]
        );
    }
}

#[tokio::test]
async fn the_journals_files_are_used_again_and_do_not_grow() {
    let machine = Machine::new(67);
    let broker = machine.start();
    create(&broker, "t", 1).await;
    let value = "x".repeat(10_000);
    for _ in 0..200 {
        produce(&broker, "t", &[&value]).await;
    }
    let files = machine.disk.live_files();
    let journal = files.iter().filter(|(path, _)| path.starts_with("journal"));
    let bytes: usize = journal.map(|(_, bytes)| bytes.len()).sum();
    assert!(bytes < 4 * 64 * 1024, "{bytes}");
    broker.shutdown().await;
    drop(broker);
    machine.disk.crash(1);
    assert_eq!(values(&machine.start(), "t", 199).await.len(), 1);
}

/// A large batch is made durable by a sync of its segment; what is small and stands behind it waits for it.
#[tokio::test]
async fn nothing_behind_a_batch_that_went_past_the_journal_is_visible_before_it() {
    let machine = Machine::new(7);
    let broker = machine.start();
    create(&broker, "t", 1).await;
    let large = "x".repeat(10_000);
    let receipts = [
        append(&broker, "t", &[&large]),
        append(&broker, "t", &["behind"]),
    ];
    // Commits alone acknowledge neither.
    let partition = broker.partition(&by_name("t"), PartitionIndex(0)).unwrap();
    assert_eq!(partition.high_watermark(), Offset(0));
    broker.sync_all();
    for receipt in receipts {
        receipt.durable().await.unwrap();
    }
    // What comes later is in the journal again: nothing of it is synced before the crash.
    produce(&broker, "t", &["later"]).await;
    drop(broker);
    machine.disk.crash(3);
    assert_eq!(
        values(&machine.start(), "t", 0).await,
        [&large, "behind", "later"]
    );
}
