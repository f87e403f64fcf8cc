//! What a share fetch reads and hands out: its memory, damage, and what several looks at a log add up to.

#![allow(
    clippy::unwrap_used,
    reason = "the lint does not know that this is a test"
)]

mod common;

use common::shares::*;
use common::*;
use fanlog_broker::{Broker, ShareFetchPlan};
use fanlog_model::PartitionIndex;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// More than half of what is read at a time, so that each batch is read on its own.
const LARGE: usize = 600 * 1024;

/// A broker that keeps large batches, with so much memory for fetches.
fn with_memory(machine: &Machine, bytes: usize) -> Arc<Broker> {
    let mut config = config();
    config.journal = None;
    config.fetch_memory_bytes = bytes;
    Broker::start(config, machine.environment()).unwrap()
}

async fn produce_large(broker: &Broker, index: i32, batches: usize) {
    let value = "v".repeat(LARGE);
    for _ in 0..batches {
        let receipt = partition(broker, "t", index).append(&mut batch(&[&value]));
        drive(broker, receipt.unwrap().durable()).await.unwrap();
    }
}

fn everything(broker: &Broker, member: &str, index: i32) -> ShareFetchPlan {
    ShareFetchPlan {
        partitions: vec![(id(broker), PartitionIndex(index))],
        bytes_max: 64 << 20,
        ..wanted_by(broker, member)
    }
}

#[tokio::test]
async fn fetches_that_hold_memory_do_not_wait_for_each_others() {
    let machine = Machine::new(21);
    // Room for two batches among the small fetches, and for fewer than both want in all.
    let broker = with_memory(&machine, 12 * LARGE);
    create(&broker, "t", 2).await;
    set(&broker, "share.auto.offset.reset", "earliest").await;
    subscribe(&broker).await;
    for index in 0..2 {
        produce_large(&broker, index, 8).await;
        // The share-partition begins, so that both find records at once.
        let first = ShareFetchPlan {
            records_max: 1,
            ..everything(&broker, "first", index)
        };
        drive(&broker, broker.shares().fetch(first)).await.unwrap();
    }
    let spawned = [("a", 0), ("b", 1)].map(|(member, index)| {
        let (shares, plan) = (broker.shares().clone(), everything(&broker, member, index));
        tokio::spawn(async move { shares.fetch(plan).await.unwrap() })
    });
    for _ in 0..2_000 {
        tokio::task::yield_now().await;
        broker.sync_all();
    }
    let mut held = Vec::new();
    for fetching in spawned {
        assert!(fetching.is_finished(), "two fetches wait for each other");
        let fetched = fetching.await.unwrap();
        assert_ne!(shown(&fetched), "");
        held.push(fetched);
    }
    // Both hold memory still: neither waited until the other's was sent.
    drop(held);
}

#[tokio::test]
async fn only_the_first_batch_of_an_answer_may_be_larger_than_it() {
    let machine = Machine::new(24);
    let broker = with_memory(&machine, 64 << 20);
    create(&broker, "t", 1).await;
    set(&broker, "share.auto.offset.reset", "earliest").await;
    subscribe(&broker).await;
    produce_large(&broker, 0, 3).await;
    // Room for one and a half, then for less than one.
    for (bytes_max, expected) in [(LARGE + LARGE / 2, "0-0 x1"), (1, "1-1 x1")] {
        let plan = ShareFetchPlan {
            bytes_max,
            ..everything(&broker, "a", 0)
        };
        let fetched = drive(&broker, broker.shares().fetch(plan)).await.unwrap();
        assert_eq!(shown(&fetched), expected);
    }
}

#[tokio::test]
async fn what_was_acquired_before_damage_is_handed_out() {
    let machine = Machine::new(22);
    let broker = with_memory(&machine, 64 << 20);
    create(&broker, "t", 1).await;
    set(&broker, "share.auto.offset.reset", "earliest").await;
    subscribe(&broker).await;
    produce_large(&broker, 0, 3).await;
    broker.shutdown().await;
    drop(broker);
    let broker = with_memory(&machine, 64 << 20);
    loaded(&broker).await;
    // In the records of the second batch.
    let file = Path::new("t-0/00000000000000000000.log");
    let within = (LARGE + LARGE / 2) as u64;
    machine.disk.corrupt(file, within, &[1]).unwrap();
    let fetch = || async {
        let fetching = broker.shares().fetch(everything(&broker, "a", 0));
        drive(&broker, fetching).await.unwrap()
    };
    assert_eq!(shown(&fetch().await), "0-0 x1");
    assert!(fetch().await.partitions[0].is_err());
}

#[tokio::test]
async fn a_fetch_that_waits_for_many_partitions_looks_at_those_that_change() {
    let machine = Machine::new(23);
    let broker = with_memory(&machine, 64 << 20);
    let partitions = 20;
    create(&broker, "t", partitions).await;
    set(&broker, "share.auto.offset.reset", "earliest").await;
    subscribe(&broker).await;
    let waiting = |bytes_min: usize| {
        let plan = ShareFetchPlan {
            partitions: (0..partitions)
                .map(|index| (id(&broker), PartitionIndex(index)))
                .collect(),
            wait_max: Duration::from_secs(3_600),
            bytes_min,
            ..wanted_by(&broker, "a")
        };
        let shares = broker.shares().clone();
        tokio::spawn(async move {
            let fetched = shares.fetch(plan).await.unwrap();
            let outcomes = fetched.partitions.iter().enumerate();
            let with_records = outcomes.filter(|(_, o)| !o.as_ref().unwrap().acquired.is_empty());
            with_records.map(|(at, _)| at).collect::<Vec<_>>()
        })
    };
    let settle = async || {
        for _ in 0..100 {
            tokio::task::yield_now().await;
            broker.sync_all();
        }
    };
    let append = |index: i32, value: &str| {
        let appended = partition(&broker, "t", index).append(&mut batch(&[value]));
        drop(appended.unwrap());
    };
    let looks = || broker.shares().looks();
    let any = waiting(1);
    settle().await;
    let before = looks();
    append(13, "v");
    settle().await;
    assert_eq!(looks() - before, 1);
    assert_eq!(any.await.unwrap(), [13]);

    let many = waiting(1_000);
    settle().await;
    let before = looks();
    append(17, &"v".repeat(400));
    settle().await;
    append(2, &"v".repeat(400));
    settle().await;
    assert_eq!(looks() - before, 0, "there are too few bytes yet");
    append(2, &"v".repeat(400));
    settle().await;
    assert_eq!(many.await.unwrap(), [2, 17]);
}
