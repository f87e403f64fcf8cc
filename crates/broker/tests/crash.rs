//! Acknowledged records and crashes at every kind of moment, over a disk that forgets what was not synced.

#![allow(
    clippy::unwrap_used,
    reason = "the lint does not know that this is a test"
)]

mod common;

use common::*;
use fanlog_broker::Broker;
use std::sync::Arc;

/// A small random number generator, so that a seed names a run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// What was promised, and what was shown to a consumer, as offset and value.
#[derive(Default)]
struct History {
    promised: Vec<(i64, String)>,
    shown: Vec<(i64, String)>,
}

/// Appends, syncs and fetches in a random order until the disk dies.
async fn run(broker: &Arc<Broker>, chance: &mut Chance, history: &mut History, life: u64) {
    let log = partition(broker, "t", 0);
    let mut waiting = Vec::new();
    for number in 0..400 {
        match chance.below(10) {
            0..6 => {
                let value = format!("{life}:{number}:{}", "x".repeat(chance.below(300) as usize));
                let Ok(receipt) = log.append(&mut batch(&[&value])) else {
                    break;
                };
                let offset = receipt.first_offset().0;
                waiting.push((offset, value, tokio::spawn(receipt.durable())));
            }
            6..8 => {
                broker.sync_all();
                if chance.below(2) == 0 {
                    broker.sync_next();
                }
            }
            _ => {
                let from = history.shown.last().map_or(0, |(offset, _)| offset + 1);
                let result = broker.fetch(plan("t", from)).await;
                if result.partitions[0].is_ok() {
                    history.shown.extend(values_in(&result, 0));
                }
            }
        }
    }
    tokio::task::yield_now().await;
    for (offset, value, acknowledged) in waiting {
        if acknowledged.is_finished() && acknowledged.await.unwrap().is_ok() {
            history.promised.push((offset, value));
        }
    }
}

#[tokio::test]
async fn what_was_acknowledged_or_seen_survives_every_crash() {
    for seed in 0..60 {
        let mut chance = Chance(seed);
        let machine = Machine::new(seed);
        let mut history = History::default();
        let broker = machine.start();
        create(&broker, "t", 1).await;
        drop(broker);
        for life in 0..4 {
            machine.disk.restart();
            let broker = machine.start();
            machine.disk.crash_at(chance.below(300));
            run(&broker, &mut chance, &mut history, life).await;
            drop(broker);
            if chance.below(2) == 0 {
                machine.disk.crash(chance.below(1 << 20));
            }
        }
        machine.disk.restart();
        let broker = machine.start();
        let mut stored = Vec::new();
        loop {
            let result = broker.fetch(plan("t", stored.len() as i64)).await;
            let more = values_in(&result, 0);
            if more.is_empty() {
                break;
            }
            stored.extend(more);
        }
        for (offset, value) in history.promised.iter().chain(&history.shown) {
            let found = stored.get(*offset as usize);
            assert_eq!(found, Some(&(*offset, value.clone())), "seed {seed}");
        }
        assert!(!history.promised.is_empty(), "seed {seed} promised nothing");
    }
}
