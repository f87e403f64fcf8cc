//! Ten thousand fetches that wait, and what they cost.

#![allow(
    clippy::unwrap_used,
    reason = "the lint does not know that this is a test"
)]

mod common;

use common::*;
use fanlog_broker::FetchResult;
use fanlog_model::PartitionIndex;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const FETCHES: usize = 10_000;

/// Counts how often a future is woken.
async fn counted<T>(polls: Arc<AtomicUsize>, future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    poll_fn(|context| {
        polls.fetch_add(1, Ordering::Relaxed);
        future.as_mut().poll(context)
    })
    .await
}

async fn settle() {
    // A turn serves some dozens of tasks.
    for _ in 0..FETCHES {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_record_wakes_only_those_who_wait_for_its_partition_and_each_once() {
    let machine = Machine::new(21);
    let broker = machine.start();
    create(&broker, "t", 3).await;
    let polls: [Arc<AtomicUsize>; 3] = Default::default();
    let mut waiting: [Vec<tokio::task::JoinHandle<FetchResult>>; 3] = Default::default();
    for n in 0..FETCHES {
        // One in a hundred waits for partition 0, and one of them for partition 2 as well; the others for partition 1.
        let group = if n == 0 { 2 } else { usize::from(n % 100 != 0) };
        let mut plan = waiting_plan("t", 0);
        plan.partitions[0].partition = PartitionIndex(i32::from(group == 1));
        if group == 2 {
            plan.partitions.push(wanted("t", 2, 0));
        }
        let (broker, polls) = (broker.clone(), polls[group].clone());
        let fetch = async move { broker.fetch(plan).await };
        waiting[group].push(tokio::spawn(counted(polls, fetch)));
    }
    settle().await;
    let counts =
        |polls: &[Arc<AtomicUsize>; 3]| polls.each_ref().map(|p| p.load(Ordering::Relaxed));
    let before = counts(&polls);
    assert_eq!(before, [99, 9_900, 1], "each was looked at once and waits");

    let mut records = batch(&["a"]);
    let receipt = partition(&broker, "t", 0).append(&mut records).unwrap();
    settle().await;
    assert_eq!(
        counts(&polls),
        before,
        "nothing is durable, nobody is woken"
    );
    drive(&broker, receipt.durable()).await.unwrap();
    settle().await;
    assert_eq!(counts(&polls), [2 * 99, 9_900, 2]);
    assert!(waiting[0].iter().all(|fetch| fetch.is_finished()));
    assert!(waiting[2][0].is_finished());
    assert!(waiting[1].iter().all(|fetch| !fetch.is_finished()));

    // Nothing happens for an hour but its end: there is no other timer.
    let started = tokio::time::Instant::now();
    for fetch in waiting[1].drain(..) {
        assert!(values_in(&fetch.await.unwrap(), 0).is_empty());
    }
    assert_eq!(started.elapsed().as_secs(), 3600);
    assert_eq!(counts(&polls)[1], 2 * 9_900);
}
