//! A partition of a queue in a test: a topic, and decisions that are taken, logged, applied and checked as the runtime does it.

use crate::Now;
use crate::queue::*;
use fanlog_model::{Offset, PartitionIndex, ProducerId, TimestampMs, TopicId};
use std::time::Duration;
use uuid::Uuid;

/// A record of the topic, or a gap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) key: Option<u64>,
    pub(super) due: Option<i64>,
    pub(super) is_gap: bool,
    pub(super) is_unwanted: bool,
}

pub(super) struct World {
    pub(super) policy: Policy,
    pub(super) topic: Vec<Record>,
    pub(super) ledger: Ledger,
    pub(super) waiting: Waiting,
    pub(super) log: Vec<QueueRecord>,
    pub(super) wall_ms: i64,
    pub(super) monotonic_ms: u64,
    pub(super) counts: Counters,
    pub(super) last: Option<Decision>,
    /// How many records one read finds.
    pub(super) found_max: usize,
}

pub(super) const LOCK_MS: i64 = 1_000;
pub(super) const BEGAN_MS: i64 = 1_000_000;

pub(super) fn key() -> QueueKey {
    QueueKey {
        group: "mails".into(),
        topic: TopicId(Uuid::from_u128(7)),
        partition: PartitionIndex(3),
    }
}

pub(super) fn target(topic: u128) -> MoveTarget {
    MoveTarget {
        topic: TopicId(Uuid::from_u128(topic)),
        partition: PartitionIndex(0),
    }
}

pub(super) fn policy() -> Policy {
    Policy {
        lock: Duration::from_millis(LOCK_MS as u64),
        attempts_max: 3,
        updates_per_snapshot: 7,
        ..Policy::default()
    }
}

pub(super) fn keyed(policy: Policy) -> Policy {
    Policy {
        order: Order::Key,
        ..policy
    }
}

/// So many records without keys.
pub(super) fn plain(count: usize) -> Vec<Record> {
    vec![Record::default(); count]
}

/// One record for each letter; `-` is a record without a key.
pub(super) fn with_keys(keys: &str) -> Vec<Record> {
    let record = |letter: char| Record {
        key: (letter != '-').then_some(u64::from(letter)),
        ..Record::default()
    };
    keys.chars().map(record).collect()
}

impl World {
    pub(super) fn new(policy: Policy, topic: Vec<Record>) -> Self {
        let mut world = Self {
            policy,
            topic,
            ledger: Ledger::default(),
            waiting: Waiting::default(),
            log: Vec::new(),
            wall_ms: BEGAN_MS,
            monotonic_ms: 5_000,
            counts: Counters::default(),
            last: None,
            found_max: 1000,
        };
        world.step(Input::Initialize {
            incarnation: Uuid::from_u128(1),
            start: Offset(0),
            producer: ProducerId(77),
        });
        world
    }

    pub(super) fn now(&self) -> Now {
        Now {
            wall: TimestampMs(self.wall_ms),
            monotonic: Duration::from_millis(self.monotonic_ms),
        }
    }

    pub(super) fn step(&mut self, input: Input<'_>) -> Reply {
        let now = self.now();
        let mut other = self.waiting.clone();
        let again = decide(&self.policy, &self.ledger, &mut other, now, input.clone());
        let decision = decide(&self.policy, &self.ledger, &mut self.waiting, now, input);
        assert_eq!(
            (&again, &other),
            (&decision, &self.waiting),
            "the same again"
        );
        add(&mut self.counts, &decision.counts);
        for record in &decision.records {
            let (key_bytes, value) = record_format::encode(&key(), record);
            let read = record_format::decode(Some(&key_bytes), value.as_deref());
            assert_eq!(read, Ok(Some((key(), record.clone()))));
            apply(&mut self.ledger, record);
            self.log.push(record.clone());
        }
        check_invariants(&self.ledger, &self.waiting);
        let reply = decision.reply.clone();
        self.last = Some(decision);
        reply
    }

    pub(super) fn found(&self, from: Offset) -> Vec<Found> {
        let from = usize::try_from(from.0).unwrap();
        let records = self.topic.iter().enumerate().skip(from);
        let found = |(at, record): (usize, &Record)| Found {
            first: Offset(at as i64),
            last: Offset(at as i64),
            is_gap: record.is_gap,
            is_wanted: !record.is_unwanted,
            key: record.key,
            due: record.due.map(|due| TimestampMs(BEGAN_MS + due)),
        };
        records.take(self.found_max).map(found).collect()
    }

    /// As the runtime does it: reads where the machine says, until the answer is over or there is nothing.
    pub(super) fn receive(&mut self, consumer: &str, records_max: i64) -> Vec<Grant> {
        let mut all: Vec<Grant> = Vec::new();
        loop {
            let now = self.now();
            let next = next_read(&self.ledger, &mut self.waiting, &self.policy, now);
            let Some(next) = next else {
                return all;
            };
            let found = self.found(next.from);
            if found.is_empty() {
                assert!(next.is_scan, "what is ready is there");
                return all;
            }
            let reply = self.step(Input::Acquire(Acquire {
                consumer,
                records_max: records_max - all.len() as i64,
                lock: None,
                found: &found,
                is_first: all.is_empty(),
            }));
            match reply {
                Reply::Acquired(given) => all.extend(given),
                other => panic!("{other:?}"),
            }
            if self.last.as_ref().unwrap().is_answer_over {
                return all;
            }
            let after = next_read(&self.ledger, &mut self.waiting, &self.policy, now);
            assert_ne!(
                after,
                Some(next),
                "an answer that is not over goes on elsewhere"
            );
        }
    }

    /// `offset x attempt` each.
    pub(super) fn take(&mut self, consumer: &str, records_max: i64) -> String {
        let given = self.receive(consumer, records_max);
        let each = |grant: &Grant| format!("{}x{}", grant.offset, grant.attempt);
        given.iter().map(each).collect::<Vec<_>>().join(" ")
    }

    pub(super) fn settle(&mut self, items: &[Settle<'_>]) -> Vec<Result<Settled, SettleError>> {
        self.settle_as(items, false)
    }

    pub(super) fn settle_as(
        &mut self,
        items: &[Settle<'_>],
        is_atomic: bool,
    ) -> Vec<Result<Settled, SettleError>> {
        match self.step(Input::Settle { items, is_atomic }) {
            Reply::Settled(settled) => settled,
            other => panic!("{other:?}"),
        }
    }

    /// One record, by the hand-over that is on record.
    pub(super) fn end(
        &mut self,
        offset: i64,
        outcome: Outcome<'_>,
    ) -> Result<Settled, SettleError> {
        let offset = Offset(offset);
        let claim = match self.ledger.state(offset).0 {
            State::Held(held) => Claim::Grant(held.grant),
            _ => Claim::Grant(0),
        };
        let item = Settle {
            offset,
            claim,
            outcome,
        };
        self.settle(&[item])[0]
    }

    pub(super) fn ack(&mut self, offset: i64) -> Result<Settled, SettleError> {
        self.end(offset, Outcome::Ack)
    }

    pub(super) fn nack(&mut self, offset: i64) -> Result<Settled, SettleError> {
        let delay = None;
        let reason = "no";
        self.end(offset, Outcome::Nack { delay, reason })
    }

    pub(super) fn release(&mut self, offset: i64) -> Result<Settled, SettleError> {
        self.end(offset, Outcome::Release { delay: None })
    }

    pub(super) fn taken(&mut self, input: Input<'_>) -> Vec<bool> {
        match self.step(input) {
            Reply::Taken(taken) => taken.iter().map(|taken| *taken == Taken::Taken).collect(),
            other => panic!("{other:?}"),
        }
    }

    pub(super) fn row(&self) -> RowId {
        mover(&self.ledger).expect("something was moved").row()
    }

    pub(super) fn moved(&mut self, through: i32) {
        let row = self.row();
        self.step(Input::Moved { row, through });
    }

    pub(super) fn renumber(&mut self, through: Option<i32>) {
        let row = self.row();
        self.step(Input::Renumber { row, through });
    }

    /// Time passes on both clocks, and the machine is told.
    pub(super) fn pass(&mut self, ms: i64) {
        self.wall_ms += ms;
        self.monotonic_ms += ms.unsigned_abs();
        self.tick();
    }

    pub(super) fn tick(&mut self) {
        self.step(Input::Tick);
        while self.last.as_ref().unwrap().is_more_due {
            self.step(Input::Tick);
        }
        let next = next_deadline(&self.ledger, &self.waiting, self.now());
        assert!(
            next.is_none_or(|next| next > self.now().monotonic),
            "nothing is due"
        );
    }

    /// What the log says, as a restart finds it.
    pub(super) fn replayed(&self) -> Ledger {
        let mut ledger = Ledger::default();
        for record in &self.log {
            apply(&mut ledger, record);
            check_invariants(&ledger, &Waiting::default());
        }
        ledger
    }

    /// The process dies: what was found in the topic is forgotten. What a power cut takes with it of the log is said by `lost`.
    pub(super) fn restart(&mut self, lost: usize) {
        self.log.truncate(self.log.len() - lost);
        self.ledger = self.replayed();
        self.waiting = Waiting::default();
        self.monotonic_ms = 17;
        self.tick();
    }
}

pub(super) fn item(grant: &Grant, outcome: Outcome<'static>) -> Settle<'static> {
    Settle {
        offset: grant.offset,
        claim: Claim::Grant(grant.grant),
        outcome,
    }
}

pub(super) const NACK: Outcome<'static> = Outcome::Nack {
    delay: None,
    reason: "no",
};
pub(super) const RELEASE: Outcome<'static> = Outcome::Release { delay: None };

fn add(to: &mut Counters, more: &Counters) {
    to.delivered += more.delivered;
    to.acknowledged += more.acknowledged;
    to.failed += more.failed;
    to.given_up += more.given_up;
    to.moved += more.moved;
    to.filtered += more.filtered;
    to.cancelled += more.cancelled;
    to.lost += more.lost;
}
