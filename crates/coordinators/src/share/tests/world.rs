//! A share-partition in a test: decisions are taken, logged, applied and checked as the runtime does it.

use crate::Now;
use crate::share::*;
use fanlog_model::{LeaderEpoch, Offset, PartitionIndex, TimestampMs, TopicId};
use std::time::Duration;
use uuid::Uuid;

pub(super) struct World {
    pub(super) policy: Policy,
    pub(super) ledger: Ledger,
    pub(super) waiting: Waiting,
    pub(super) log: Vec<ShareRecord>,
    pub(super) now_ms: u64,
    pub(super) given_up: i64,
    pub(super) lost: i64,
}

pub(super) fn key() -> ShareKey {
    ShareKey {
        group: "g".into(),
        topic: TopicId(Uuid::from_u128(7)),
        partition: PartitionIndex(3),
    }
}

impl World {
    pub(super) fn begun(policy: Policy) -> Self {
        let mut world = Self {
            policy,
            ledger: Ledger::default(),
            waiting: Waiting::default(),
            log: Vec::new(),
            now_ms: 1_000,
            given_up: 0,
            lost: 0,
        };
        world.step(Input::Initialize {
            state_epoch: 1,
            start: None,
        });
        world.step(Input::Begin(Offset(0)));
        world
    }

    pub(super) fn step(&mut self, input: Input<'_>) -> Reply {
        let now = Now {
            wall: TimestampMs(self.now_ms as i64),
            monotonic: Duration::from_millis(self.now_ms),
        };
        let epoch = LeaderEpoch(4);
        let decision = decide(
            &self.policy,
            epoch,
            &self.ledger,
            &mut self.waiting,
            now,
            input,
        );
        self.given_up += decision.given_up;
        self.lost += decision.lost;
        if let Some(record) = decision.record {
            let (key_bytes, value) = record_format::encode(&key(), &record).unwrap();
            let read = record_format::decode(Some(&key_bytes), value.as_deref());
            assert_eq!(read, Ok(Some((key(), record.clone()))));
            apply(&mut self.ledger, &record);
            self.log.push(record);
        }
        check_invariants(&self.ledger, &self.waiting);
        decision.reply
    }

    pub(super) fn acquire(
        &mut self,
        member: &str,
        records_max: i64,
        mode: AcquireMode,
        found: &[Found],
    ) -> Vec<Acquired> {
        self.acquire_more(member, (records_max, true), mode, found)
    }

    /// As `acquire`; not `is_first` if the answer holds records already.
    pub(super) fn acquire_more(
        &mut self,
        member: &str,
        (records_max, is_first): (i64, bool),
        mode: AcquireMode,
        found: &[Found],
    ) -> Vec<Acquired> {
        let batch_size = 500;
        let reply = self.step(Input::Acquire(Acquire {
            member,
            records_max,
            batch_size,
            mode,
            found,
            is_first,
        }));
        match reply {
            Reply::Acquired(acquired) => acquired,
            other => panic!("{other:?}"),
        }
    }

    pub(super) fn acknowledge(
        &mut self,
        member: &str,
        ranges: &[AckRange],
    ) -> Result<(), AckError> {
        match self.step(Input::Acknowledge { member, ranges }) {
            Reply::Acknowledged(outcome) => outcome,
            other => panic!("{other:?}"),
        }
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

    /// The process dies: who held what is forgotten.
    pub(super) fn crash(&mut self) {
        self.ledger = self.replayed();
        self.waiting = Waiting::default();
    }
}

pub(super) fn ack(first: i64, last: i64, kind: AckType) -> AckRange {
    AckRange {
        first: Offset(first),
        last: Offset(last),
        types: vec![kind],
    }
}

pub(super) fn found(first: i64, last: i64) -> Found {
    Found::records(Offset(first), Offset(last))
}

/// `first-last xN` each.
pub(super) fn shown(acquired: &[Acquired]) -> String {
    let each = |a: &Acquired| format!("{}-{} x{}", a.first, a.last, a.delivery_count);
    acquired.iter().map(each).collect::<Vec<_>>().join(" ")
}
