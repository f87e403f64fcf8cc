//! Very many records: memory that grows with their number as stated, and no step that goes through all of them. What a million take up
//! is ten times as much.

use super::world::*;
use crate::Now;
use crate::queue::*;
use fanlog_model::{Offset, ProducerId, TimestampMs};
use std::time::Duration;
use uuid::Uuid;

const RECORDS: i64 = 100_000;
const PIECE: i64 = 1_000;

/// A partition without the checks after each step.
struct Large {
    policy: Policy,
    ledger: Ledger,
    waiting: Waiting,
    now: Now,
    log: Vec<QueueRecord>,
}

impl Large {
    fn new(policy: Policy) -> Self {
        let mut large = Self {
            policy: Policy {
                window: RECORDS,
                tracked_max: 2 * RECORDS as usize,
                ..policy
            },
            ledger: Ledger::default(),
            waiting: Waiting::default(),
            now: Now {
                wall: TimestampMs(BEGAN_MS),
                monotonic: Duration::from_secs(5),
            },
            log: Vec::new(),
        };
        large.step(Input::Initialize {
            incarnation: Uuid::from_u128(1),
            start: Offset(0),
            producer: ProducerId(1),
        });
        large
    }

    fn step(&mut self, input: Input<'_>) -> Reply {
        let decision = decide(
            &self.policy,
            &self.ledger,
            &mut self.waiting,
            self.now,
            input,
        );
        for record in &decision.records {
            apply(&mut self.ledger, record);
        }
        if decision
            .records
            .first()
            .is_some_and(QueueRecord::begins_snapshot)
        {
            self.log.clear();
        }
        self.log.extend(decision.records);
        decision.reply
    }

    fn take(&mut self, from: i64, consumer: &str, found: impl Fn(i64) -> Found) -> Vec<Grant> {
        let found: Vec<_> = (from..from + PIECE).map(found).collect();
        let reply = self.step(Input::Acquire(Acquire {
            consumer,
            records_max: PIECE,
            lock: None,
            found: &found,
            is_first: true,
        }));
        match reply {
            Reply::Acquired(given) => given,
            other => panic!("{other:?}"),
        }
    }

    fn bytes_per_record(&self) -> i64 {
        memory(&self.ledger, &self.waiting) as i64 / RECORDS
    }
}

fn found(offset: i64) -> Found {
    Found {
        first: Offset(offset),
        last: Offset(offset),
        is_gap: false,
        is_wanted: true,
        key: None,
        due: None,
    }
}

fn pieces() -> impl Iterator<Item = i64> {
    (0..RECORDS).step_by(PIECE as usize)
}

#[test]
fn held_records_of_as_many_keys_fit_and_survive() {
    let mut large = Large::new(keyed(policy()));
    for from in pieces() {
        let given = large.take(from, "a", |offset| Found {
            key: Some(offset as u64),
            ..found(offset)
        });
        assert_eq!(given.len() as i64, PIECE);
    }
    assert_eq!(large.ledger.held_count(), RECORDS as u64);
    assert!(
        large.bytes_per_record() <= 240,
        "{}",
        large.bytes_per_record()
    );
    let mut replayed = Ledger::default();
    large
        .log
        .iter()
        .for_each(|record| apply(&mut replayed, record));
    assert!(replayed == large.ledger);
    // One in the middle comes and goes without the others.
    let middle = [Settle {
        offset: Offset(RECORDS / 2),
        claim: Claim::Consumer("a"),
        outcome: Outcome::Ack,
    }];
    for _ in 0..2_000 {
        let settled = large.step(Input::Settle {
            items: &middle,
            is_atomic: false,
        });
        assert!(matches!(settled, Reply::Settled(_)));
    }
    assert_eq!(large.ledger.held_count(), RECORDS as u64 - 1);
}

#[test]
fn records_held_together_cost_next_to_nothing() {
    let mut large = Large::new(policy());
    for from in pieces() {
        large.take(from, "a", found);
    }
    assert_eq!(large.ledger.held_count(), RECORDS as u64);
    assert!(memory(&large.ledger, &large.waiting) < 1 << 20);
    large.now.monotonic += Duration::from_millis(LOCK_MS as u64);
    large.now.wall = TimestampMs(BEGAN_MS + LOCK_MS);
    let decision = decide(
        &large.policy,
        &large.ledger,
        &mut large.waiting.clone(),
        large.now,
        Input::Tick,
    );
    assert!(
        decision.is_more_due && decision.counts.failed <= 1_000,
        "in bounded steps"
    );
}

#[test]
fn delayed_records_fit_and_go_in_their_order() {
    let mut large = Large::new(policy());
    let due = |offset: i64| Some(TimestampMs(BEGAN_MS + 1 + (offset * 7_919) % RECORDS));
    for from in pieces() {
        let given = large.take(from, "a", |offset| Found {
            due: due(offset),
            ..found(offset)
        });
        assert!(given.is_empty());
    }
    assert_eq!(large.ledger.runs(), 0, "nothing of it is logged");
    assert!(
        large.bytes_per_record() <= 90,
        "{}",
        large.bytes_per_record()
    );
    large.now.wall = TimestampMs(BEGAN_MS + 10);
    large.step(Input::Tick);
    assert_eq!(large.waiting.ready_count(), 10);
    large.now.wall = TimestampMs(BEGAN_MS + RECORDS);
    let decision = decide(
        &large.policy,
        &large.ledger,
        &mut large.waiting,
        large.now,
        Input::Tick,
    );
    assert!(
        decision.is_more_due && large.waiting.ready_count() <= 10_010,
        "in bounded steps"
    );
}

#[test]
fn records_passed_over_behind_one_key_fit() {
    let mut large = Large::new(keyed(policy()));
    let of_one_key = |offset| Found {
        key: Some(5),
        ..found(offset)
    };
    let first = large.step(Input::Acquire(Acquire {
        consumer: "a",
        records_max: 1,
        lock: None,
        found: &[of_one_key(0)],
        is_first: true,
    }));
    assert!(matches!(first, Reply::Acquired(given) if given.len() == 1));
    for from in pieces() {
        assert!(large.take(from, "b", of_one_key).is_empty());
    }
    assert!(
        large.bytes_per_record() <= 33,
        "{}",
        large.bytes_per_record()
    );
    for offset in 0..1_000 {
        let items = [Settle {
            offset: Offset(offset),
            claim: Claim::Consumer(if offset == 0 { "a" } else { "b" }),
            outcome: Outcome::Ack,
        }];
        large.step(Input::Settle {
            items: &items,
            is_atomic: false,
        });
        let next = next_read(&large.ledger, &mut large.waiting, &large.policy, large.now);
        assert_eq!(next.map(|next| next.from), Some(Offset(offset + 1)));
        let found = [of_one_key(offset + 1)];
        large.step(Input::Acquire(Acquire {
            consumer: "b",
            records_max: 1,
            lock: None,
            found: &found,
            is_first: true,
        }));
    }
    assert_eq!(large.ledger.start(), Offset(1_000));
}
