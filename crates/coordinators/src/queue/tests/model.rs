//! Random histories against a model that keeps each record by itself: who holds it, how often it was delivered, how it ended.
//!
//! The topic grows; consumers receive, settle, go; the process dies, the power fails (what was not synced is lost); clocks go on.
//! Checked: QUE-1 to QUE-4, deliveries in the order of keys, attempts, one end for each record, and that in the end all have one.

use super::world::*;
use crate::queue::*;
use fanlog_model::{Offset, TimestampMs};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::time::Duration;

const CONSUMERS: [&str; 3] = ["a", "b", "c"];
const ATTEMPTS_MAX: u16 = 3;
const BACKOFF_MS: i64 = 40;

#[derive(Clone, Debug)]
enum Op {
    Produce(Vec<Record>),
    Receive {
        consumer: usize,
        records_max: i64,
    },
    Settle {
        which: Vec<(prop::sample::Index, u8)>,
        is_atomic: bool,
    },
    Cancel(prop::sample::Index),
    Move(prop::sample::Index),
    Copy {
        is_noted: bool,
    },
    Gone(usize),
    Pass(i64),
    Sync,
    Kill,
    PowerCut,
    LogStart(prop::sample::Index),
    Purge,
    Send(prop::sample::Index, u128),
    Recall,
    Unlocked {
        consumer: usize,
    },
    Count,
}

fn record() -> impl Strategy<Value = Record> {
    let key = prop_oneof![1 => Just(None), 3 => (1..4_u64).prop_map(Some)];
    let due = prop_oneof![4 => Just(None), 1 => (0..2_000_i64).prop_map(Some)];
    (key, due, 0..12_u8).prop_map(|(key, due, kind)| Record {
        key,
        due,
        is_gap: kind == 0,
        is_unwanted: kind == 1,
    })
}

fn op() -> impl Strategy<Value = Op> {
    let consumer = || 0..CONSUMERS.len();
    let index = || any::<prop::sample::Index>();
    prop_oneof![
        4 => proptest::collection::vec(record(), 1..9).prop_map(Op::Produce),
        9 => (consumer(), 1..7_i64)
            .prop_map(|(consumer, records_max)| Op::Receive { consumer, records_max }),
        9 => (proptest::collection::vec((index(), 0..14_u8), 1..5), any::<bool>())
            .prop_map(|(which, is_atomic)| Op::Settle { which, is_atomic }),
        1 => index().prop_map(Op::Cancel),
        1 => index().prop_map(Op::Move),
        3 => any::<bool>().prop_map(|is_noted| Op::Copy { is_noted }),
        1 => consumer().prop_map(Op::Gone),
        5 => (1..400_i64).prop_map(Op::Pass),
        2 => Just(Op::Sync),
        1 => Just(Op::Kill),
        1 => Just(Op::PowerCut),
        1 => index().prop_map(Op::LogStart),
        1 => Just(Op::Purge),
        2 => (index(), 60..62_u128).prop_map(|(which, topic)| Op::Send(which, topic)),
        1 => Just(Op::Recall),
        1 => consumer().prop_map(|consumer| Op::Unlocked { consumer }),
        2 => Just(Op::Count),
    ]
}

impl Op {
    /// What stands in the topic from an offset on.
    fn all_from(world: &World, from: Offset) -> Vec<Found> {
        let mut from = from.0;
        let mut all = Vec::new();
        while from < world.topic.len() as i64 {
            let found = world.found(Offset(from));
            from += found.len() as i64;
            all.extend(found);
        }
        all
    }
}

/// How a record ended, as far as its reader was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Acknowledged,
    Cancelled,
    Rejected,
}

#[derive(Clone, Copy, Debug)]
struct Hold {
    consumer: usize,
    grant: Grant,
    /// When the lock runs out.
    until_ms: i64,
}

/// What consumers know.
#[derive(Clone, Debug, Default)]
struct Known {
    held: BTreeMap<i64, Hold>,
    attempts: BTreeMap<i64, u16>,
    ended: BTreeMap<i64, End>,
}

struct Model {
    world: World,
    now: Known,
    /// What of it is durable, and how long the log was then.
    durable: (Known, usize),
    /// Receipts of any time; all of them may be tried again.
    receipts: Vec<Grant>,
    /// Copies in the target, as its idempotent producer lets them in.
    copies: BTreeMap<i64, u32>,
    copied_to: BTreeMap<i16, i32>,
    log_start: i64,
}

impl Model {
    fn ms(&self) -> i64 {
        self.world.wall_ms
    }

    fn sync(&mut self) {
        self.durable = (self.now.clone(), self.world.log.len());
    }

    /// Holds whose time is over are over.
    fn expire(&mut self) {
        let ms = self.ms();
        self.now.held.retain(|_, hold| hold.until_ms > ms);
    }

    fn receive(&mut self, consumer: usize, records_max: i64) {
        let given = self.world.receive(CONSUMERS[consumer], records_max);
        assert!(given.len() as i64 <= records_max);
        for grant in &given {
            self.check_given(consumer, grant, &given);
            let until_ms = self.ms() + LOCK_MS;
            assert_eq!(grant.until, TimestampMs(until_ms));
            self.now.attempts.insert(grant.offset.0, grant.attempt);
            let hold = Hold {
                consumer,
                grant: *grant,
                until_ms,
            };
            self.now.held.insert(grant.offset.0, hold);
            assert!(
                self.receipts.iter().all(|old| old.grant != grant.grant),
                "QUE-1: a number twice"
            );
            self.receipts.push(*grant);
        }
        let last_ones = given.iter().filter(|grant| grant.attempt >= ATTEMPTS_MAX);
        assert!(
            last_ones.count() == 0 || given.len() == 1,
            "the last attempt goes alone"
        );
        let is_isolated = given.iter().any(|grant| grant.attempt >= ATTEMPTS_MAX);
        if (given.len() as i64) < records_max && !is_isolated {
            self.check_nothing_is_stalled();
        }
    }

    fn check_given(&self, consumer: usize, grant: &Grant, given: &[Grant]) {
        let offset = grant.offset.0;
        let record = self.world.topic[offset as usize];
        assert!(offset >= self.log_start && !record.is_gap && !record.is_unwanted);
        assert!(
            !self.now.held.contains_key(&offset),
            "QUE-1: {offset} is held"
        );
        assert_eq!(
            self.now.ended.get(&offset),
            None,
            "QUE-2: {offset} had ended"
        );
        assert!(
            !self.copies.contains_key(&offset),
            "QUE-2: {offset} was moved"
        );
        let due = record.due.map_or(0, |due| BEGAN_MS + due);
        assert!(due <= self.ms(), "QUE-4: {offset} is early");
        assert!((1..=ATTEMPTS_MAX).contains(&grant.attempt));
        let before = self.now.attempts.get(&offset).copied().unwrap_or(0);
        assert!(
            grant.attempt <= before + 1,
            "{offset}: attempt {} after {before}",
            grant.attempt
        );
        let is_keyed = self.world.policy.order == Order::Key;
        let Some(key) = record.key.filter(|_| is_keyed) else {
            return;
        };
        for earlier in self.log_start..offset {
            let other = self.world.topic[earlier as usize];
            if other.key != Some(key) {
                continue;
            }
            let state = self.world.ledger.state(Offset(earlier)).0;
            let is_over = matches!(state, State::Done | State::Moving { .. });
            let is_own = self
                .now
                .held
                .get(&earlier)
                .is_some_and(|hold| hold.consumer == consumer)
                || given.iter().any(|other| other.offset.0 == earlier);
            assert!(is_over || is_own, "QUE-3: {offset} overtakes {earlier}");
        }
    }

    /// After an answer that was not full: who could go has gone.
    fn check_nothing_is_stalled(&self) {
        let policy = &self.world.policy;
        if policy.window < 1000 || policy.tracked_max < 1000 {
            return;
        }
        let all = self.log_start..self.world.topic.len() as i64;
        let could_go: Vec<_> = all.filter_map(|offset| self.could_go(offset)).collect();
        let goes_alone = could_go
            .iter()
            .any(|(_, attempts)| *attempts + 1 >= ATTEMPTS_MAX);
        assert!(
            could_go.is_empty() || goes_alone,
            "these could go: {could_go:?}"
        );
    }

    /// The attempts of a record that is neither over, held, resting nor early, and is the first of its key.
    fn could_go(&self, offset: i64) -> Option<(i64, u16)> {
        let record = self.world.topic[offset as usize];
        let attempts = match self.world.ledger.state(Offset(offset)).0 {
            State::Fresh => 0,
            State::Resting { attempts, due } if due.0 <= self.ms() => attempts,
            _ => return None,
        };
        let is_early = record.due.is_some_and(|due| BEGAN_MS + due > self.ms());
        let waits_for = |earlier: i64| {
            let state = self.world.ledger.state(Offset(earlier)).0;
            let is_over = matches!(state, State::Done | State::Moving { .. });
            self.world.topic[earlier as usize].key == record.key && !is_over
        };
        let is_keyed = record.key.is_some() && self.world.policy.order == Order::Key;
        let is_blocked = is_keyed && (self.log_start..offset).any(waits_for);
        let is_nothing = record.is_gap || record.is_unwanted;
        (!is_early && !is_blocked && !is_nothing).then_some((offset, attempts))
    }

    fn settle(&mut self, which: &[(prop::sample::Index, u8)], is_atomic: bool) {
        if self.receipts.is_empty() {
            return;
        }
        let item_of = |(index, outcome): &(prop::sample::Index, u8)| {
            let recent = self.receipts.len().saturating_sub(9);
            let grant = index.get(&self.receipts[recent..]);
            item(grant, outcome_of(*outcome))
        };
        let items: Vec<_> = which.iter().map(item_of).collect();
        let before = self.now.clone();
        let settled = self.world.settle_as(&items, is_atomic);
        if is_atomic && settled.iter().any(Result::is_err) {
            assert!(settled.iter().all(Result::is_err), "all of it, or nothing");
        }
        for (item, settled) in items.iter().zip(&settled) {
            let offset = item.offset.0;
            let is_valid = |known: &Known| {
                let hold = known.held.get(&offset);
                hold.is_some_and(|hold| Claim::Grant(hold.grant.grant) == item.claim)
            };
            let is_gone = offset < self.log_start;
            assert!(
                settled.is_err() || is_gone || is_valid(&before),
                "QUE-1: {offset} is not held"
            );
            match (settled, item.outcome) {
                (Ok(_), _) if !is_valid(&self.now) => {}
                (Ok(Settled::Held(until)), _) => {
                    let hold = self.now.held.get_mut(&offset).unwrap();
                    hold.until_ms = until.0;
                }
                // It waits for its move, as others are sent elsewhere.
                (Ok(Settled::Again(_)), Outcome::Reject { .. }) => {
                    self.now.held.remove(&offset);
                }
                (Ok(_), outcome) => self.settled(offset, outcome),
                (Err(_), _) => {}
            }
        }
        self.drop_sent_back();
    }

    fn settled(&mut self, offset: i64, outcome: Outcome<'_>) {
        self.now.held.remove(&offset);
        match outcome {
            Outcome::Ack => {
                self.now.ended.insert(offset, End::Acknowledged);
            }
            Outcome::Reject { .. } => {
                self.now.ended.insert(offset, End::Rejected);
            }
            Outcome::Release { .. } => {
                *self.now.attempts.get_mut(&offset).unwrap() -= 1;
            }
            Outcome::Nack { .. } | Outcome::Extend(_) => {}
        }
    }

    /// Records that came back with an earlier one of their key are held no more, and their attempt did not count.
    fn drop_sent_back(&mut self) {
        let held: Vec<_> = self.now.held.keys().copied().collect();
        for offset in held {
            if !matches!(self.world.ledger.state(Offset(offset)).0, State::Held(_)) {
                self.now.held.remove(&offset);
                let record = self.world.topic[offset as usize];
                assert!(record.key.is_some() && self.world.policy.order == Order::Key);
            }
        }
    }

    /// The attempts that the ledger knows of are those that were handed out and not taken back.
    fn check(&self) {
        for (offset, hold) in &self.now.held {
            match self.world.ledger.state(Offset(*offset)).0 {
                State::Held(held) => assert_eq!(held.grant, hold.grant.grant),
                other => panic!("QUE-1: {offset} is held, and {other:?}"),
            }
        }
        assert_eq!(self.world.ledger.held_count(), self.now.held.len() as u64);
        self.check_later_ones_came_back();
        for (offset, end) in &self.now.ended {
            let state = self.world.ledger.state(Offset(*offset)).0;
            let is_over = matches!(state, State::Done | State::Moving { .. });
            assert!(is_over, "QUE-2: {offset} is {end:?}, and {state:?}");
        }
        for (offset, copies) in &self.copies {
            assert_eq!(*copies, 1, "{offset} was moved {copies} times");
        }
    }

    /// While a record waits for another attempt, nobody holds a later one of its key.
    fn check_later_ones_came_back(&self) {
        if self.world.policy.order != Order::Key {
            return;
        }
        for held in self.now.held.keys() {
            let key = self.world.topic[*held as usize].key;
            for earlier in self.log_start..*held {
                let state = self.world.ledger.state(Offset(earlier)).0;
                let is_open = matches!(state, State::Fresh | State::Resting { .. });
                let is_same = key.is_some() && self.world.topic[earlier as usize].key == key;
                assert!(
                    !is_open || !is_same,
                    "QUE-3: {held} is held before {earlier}"
                );
            }
        }
    }

    /// What the runtime does: asks the target how far it is, appends what lies behind, and says so, if nothing comes between.
    fn copy(&mut self, is_noted: bool) {
        let Some(mover) = mover(&self.world.ledger) else {
            return;
        };
        let through = self.copied_to.get(&mover.epoch.0).copied();
        if mover.needs_renumber {
            self.world.renumber(through);
            return;
        }
        let mut last = through.unwrap_or(-1);
        for one in moves(&self.world.ledger, 3) {
            if one.sequence.0 <= last {
                continue;
            }
            assert_eq!(one.sequence.0, last + 1, "no hole");
            last = one.sequence.0;
            *self.copies.entry(one.offset.0).or_default() += 1;
            assert!(one.attempts > 0 || one.history.is_empty());
        }
        if last >= 0 {
            self.copied_to.insert(mover.epoch.0, last);
        }
        if is_noted && last >= 0 {
            self.world.moved(last);
        }
    }

    fn apply(&mut self, op: Op) {
        self.expire();
        match op {
            Op::Produce(records) => self.world.topic.extend(records),
            Op::Receive {
                consumer,
                records_max,
            } => self.receive(consumer, records_max),
            Op::Settle { which, is_atomic } => self.settle(&which, is_atomic),
            Op::Cancel(index) => self.cancel(&index),
            Op::Move(index) => {
                if let Some(offset) = self.any_offset(&index)
                    && self.world.taken(Input::Move(&[Offset(offset)])) == [true]
                {
                    assert!(!self.now.held.contains_key(&offset));
                    self.now.ended.insert(offset, End::Rejected);
                }
            }
            Op::Copy { is_noted } => {
                // The target is not ahead of what is durable here.
                self.sync();
                self.copy(is_noted);
            }
            Op::Gone(consumer) => {
                let consumer_name = CONSUMERS[consumer];
                self.world.step(Input::Release {
                    consumer: consumer_name,
                });
                self.now.held.retain(|_, hold| hold.consumer != consumer);
            }
            Op::Pass(ms) => {
                self.world.pass(ms);
                self.expire();
                self.drop_sent_back();
            }
            Op::Sync => self.sync(),
            Op::Kill => {
                self.world.wall_ms += 1;
                self.world.restart(0);
            }
            Op::PowerCut => {
                let (known, length) = self.durable.clone();
                self.now = known;
                let lost = self.world.log.len() - length;
                self.world.wall_ms += 1;
                self.world.restart(lost);
            }
            Op::Purge => self.purge(),
            Op::Send(index, topic) => self.send(&index, topic),
            Op::Recall => self.recall(),
            Op::Unlocked { consumer } => self.receive_unlocked(consumer),
            Op::Count => self.check_counts(),
            Op::LogStart(index) => {
                if let Some(offset) = self.any_offset(&index).filter(|offset| offset % 5 == 0) {
                    self.world.step(Input::LogStart(Offset(offset)));
                    self.log_start = self.log_start.max(offset);
                    self.now.held.retain(|at, _| *at >= offset);
                    self.sync();
                }
            }
        }
        self.expire();
        self.world.tick();
        self.drop_sent_back();
        self.check();
    }

    fn cancel(&mut self, index: &prop::sample::Index) {
        let Some(offset) = self.any_offset(index) else {
            return;
        };
        let taken = self.world.taken(Input::Cancel(&[Offset(offset)]));
        if taken == [true] && !self.now.held.contains_key(&offset) {
            self.now.ended.insert(offset, End::Cancelled);
        }
    }

    fn purge(&mut self) {
        let end = self.world.topic.len() as i64;
        self.world.step(Input::Purge(Offset(end)));
        self.now.held.clear();
        for offset in self.log_start..end {
            let state = self.world.ledger.state(Offset(offset)).0;
            let is_over = matches!(state, State::Done | State::Moving { .. });
            assert!(is_over, "QUE-2: {offset} was purged, and is {state:?}");
            self.now.ended.entry(offset).or_insert(End::Cancelled);
        }
    }

    fn send(&mut self, index: &prop::sample::Index, topic: u128) {
        let Some(offset) = self.any_offset(index) else {
            return;
        };
        let moving = self.world.ledger.moving_count();
        let before = mover(&self.world.ledger);
        let to = target(topic);
        let offsets = [Offset(offset)];
        let input = Input::Send {
            offsets: &offsets,
            target: to,
        };
        let reply = self.world.step(input);
        if reply == Reply::Taken(vec![Taken::Taken]) {
            assert!(!self.now.held.contains_key(&offset));
            self.now.ended.insert(offset, End::Rejected);
            let row = mover(&self.world.ledger).unwrap();
            assert!(row.is_sent && row.target == to, "{row:?}");
            let joins = before.is_some_and(|before| before.is_sent && before.target == to);
            assert!(moving == 0 || joins, "QUE-2: it goes along to elsewhere");
        }
    }

    /// The topic to which records are sent is deleted.
    fn recall(&mut self) {
        let Some(row) = mover(&self.world.ledger).filter(|row| row.is_sent) else {
            return;
        };
        // The mover finds it out when it has something to move.
        if self.world.ledger.moving_count() == 0 {
            return;
        }
        // The target is not ahead of what is durable here.
        self.sync();
        for one in moves(&self.world.ledger, 1_000) {
            self.copies.remove(&one.offset.0);
            self.now.ended.remove(&one.offset.0);
        }
        self.copied_to.remove(&row.epoch.0);
        self.world.step(Input::Recall { row: row.row() });
        assert_eq!(self.world.ledger.moving_count(), 0);
        self.sync();
    }

    /// A receive without a lock: the attempts count, and nobody holds anything.
    fn receive_unlocked(&mut self, consumer: usize) {
        let now = self.world.now();
        let (ledger, policy) = (&self.world.ledger, &self.world.policy);
        let next = next_read(ledger, &mut self.world.waiting, policy, now);
        let found = next.map_or(Vec::new(), |next| self.world.found(next.from));
        let reply = self.world.step(Input::Acquire(Acquire {
            consumer: CONSUMERS[consumer],
            records_max: 3,
            lock: Some(Duration::ZERO),
            found: &found,
            is_first: true,
        }));
        let Reply::Acquired(given) = reply else {
            panic!("{reply:?}");
        };
        for grant in &given {
            self.check_given(consumer, grant, &given);
            self.now.attempts.insert(grant.offset.0, grant.attempt);
            self.receipts.push(*grant);
        }
        self.world.tick();
        for grant in &given {
            let state = self.world.ledger.state(grant.offset).0;
            let attempts = match state {
                State::Resting { attempts, .. } => attempts,
                State::Fresh => 0,
                State::Held(_) => panic!("QUE-1: {} is held by nobody", grant.offset),
                State::Moving { .. } | State::Done => continue,
            };
            // A later one of a key came back with the first.
            assert!(attempts == grant.attempt || attempts + 1 == grant.attempt);
            self.now.attempts.insert(grant.offset.0, attempts);
        }
    }

    /// The numbers are those of the records one by one.
    fn check_counts(&mut self) {
        self.world.tick();
        let now = self.world.now();
        let (ledger, waiting) = (&self.world.ledger, &self.world.waiting);
        let mut counted = counts(ledger, waiting, now);
        let cursor = waiting.cursor(ledger);
        let all = Op::all_from(&self.world, cursor);
        counted.add(count_found(ledger, now, &all));
        let from_start = Op::all_from(&self.world, ledger.start());
        let mut expected = count_found(ledger, now, &from_start);
        expected.in_flight = self.now.held.len() as u64;
        // What nobody wants any more or ever did may have been looked at already, and then it is over.
        assert_eq!(counted, expected);
    }

    fn any_offset(&self, index: &prop::sample::Index) -> Option<i64> {
        let count = self.world.topic.len();
        (count > 0).then(|| index.index(count) as i64)
    }

    /// Nothing is left over: whoever goes on receiving and acknowledging comes to the end of the topic.
    fn drain(&mut self) {
        self.world.policy.is_paused = false;
        for _ in 0..1_000 {
            if self.world.ledger.start().0 as usize >= self.world.topic.len() {
                let pending = moves(&self.world.ledger, 1);
                assert_eq!(pending, []);
                return;
            }
            self.apply(Op::Receive {
                consumer: 0,
                records_max: 5,
            });
            let held: Vec<_> = self.now.held.values().map(|hold| hold.grant).collect();
            for grant in held {
                let settled = self.world.settle(&[item(&grant, Outcome::Ack)]);
                assert_eq!(settled, [Ok(Settled::Done)]);
                self.settled(grant.offset.0, Outcome::Ack);
            }
            self.apply(Op::Copy { is_noted: true });
            self.apply(Op::Pass(200));
        }
        panic!("records are never done with: {:?}", self.world.ledger);
    }
}

fn outcome_of(code: u8) -> Outcome<'static> {
    match code {
        0..=4 => Outcome::Ack,
        5..=7 => NACK,
        8 => Outcome::Nack {
            delay: Some(Duration::from_millis(300)),
            reason: "",
        },
        9 => RELEASE,
        10 => Outcome::Release {
            delay: Some(Duration::from_millis(70)),
        },
        11 => Outcome::Reject { reason: "never" },
        _ => Outcome::Extend(Duration::from_millis(1_500)),
    }
}

fn run(ops: Vec<Op>, policy: Policy, found_max: usize) {
    let has_lost = ops.iter().any(|op| matches!(op, Op::LogStart(_)));
    let has_power_cut = ops.iter().any(|op| matches!(op, Op::PowerCut));
    let mut world = World::new(policy, vec![]);
    world.found_max = found_max;
    let length = world.log.len();
    let mut model = Model {
        world,
        now: Known::default(),
        durable: (Known::default(), length),
        receipts: Vec::new(),
        copies: BTreeMap::new(),
        copied_to: BTreeMap::new(),
        log_start: 0,
    };
    for op in ops {
        model.apply(op);
        assert_eq!(
            model.world.replayed(),
            model.world.ledger,
            "replay equals live"
        );
    }
    model.drain();
    let (moved, copies) = (
        model.world.ledger.head().counters.moved,
        model.copies.len() as u64,
    );
    assert!(moved <= copies, "QUE-2: {moved} moved, and {copies} copies");
    assert!(
        has_lost || moved == copies,
        "QUE-2: {moved} moved, and {copies} copies"
    );
    if !has_power_cut {
        let counters = model.world.ledger.head().counters;
        assert_eq!(
            counters, model.world.counts,
            "what was said is what the log says"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn every_record_is_given_to_one_at_a_time_and_ends_once(
        ops in proptest::collection::vec(op(), 0..70),
        order in prop_oneof![Just(Order::None), Just(Order::Key)],
        has_target in any::<bool>(),
        has_backoff in any::<bool>(),
        window in prop_oneof![Just(6_i64), Just(1000)],
        tracked_max in prop_oneof![Just(8_usize), Just(1000)],
        updates_per_snapshot in 1..20_u32,
        found_max in 1..9_usize,
    ) {
        let backoff = match has_backoff {
            false => Backoff::None,
            true => Backoff::Exponential {
                first: Duration::from_millis(BACKOFF_MS as u64),
                max: Duration::from_millis(100),
                jitter_percent: 30,
            },
        };
        run(ops, Policy {
            order,
            backoff,
            window,
            tracked_max,
            updates_per_snapshot,
            attempts_max: ATTEMPTS_MAX,
            target: has_target.then(|| target(50)),
            ..policy()
        }, found_max);
    }
}
