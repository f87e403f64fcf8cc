//! Acquire: a consumer is given records; what can't be given yet is parked, or passed over.
//!
//! Invariants: QUE-1, QUE-3, QUE-4.

use super::come_back::ROW_WAIT;
use super::decide::{Deciding, Pending};
use super::track::{LAST, NO_DUE};
use super::waiting::later;
use super::{Acquire, Found, Grant, Held, Order, Reply, State, To, Why};
use fanlog_model::invariants::QUE_1;
use fanlog_model::{Offset, TimestampMs};
use std::collections::BTreeSet;
use std::num::NonZeroU64;
use std::time::Duration;

/// What is being given.
struct Giving {
    given: Vec<Grant>,
    consumer: u32,
    records_max: usize,
    wanted_max: usize,
    is_first: bool,
    lock_ms: u32,
    /// Keys that go on with nobody for now.
    lapsed: BTreeSet<NonZeroU64>,
    /// When the locks run out: on their clock, and on the wall.
    until: TimestampMs,
    wall_until: TimestampMs,
    /// Now, on the clock of the locks.
    steady: TimestampMs,
    /// Below the cursor: the next record that is ready, and those that follow in their keys what was given.
    next_ready: Option<Offset>,
    going_on: BTreeSet<Offset>,
}

/// What is to be done with a record that was found.
enum Verdict {
    /// Nothing: others hold it, or it waits already.
    Skip,
    /// The filter does not want it, and it was never delivered.
    Drop,
    /// It has to wait, at least until then.
    Wait(TimestampMs),
    /// It can go.
    Give { attempts: u16 },
    /// It has had all its attempts.
    End { attempts: u16 },
}

impl Deciding<'_> {
    pub(super) fn acquire(&mut self, wanted: &Acquire<'_>) {
        let of_policy = || self.policy.lock.max(Duration::from_millis(1));
        let lock = wanted.lock.unwrap_or_else(of_policy);
        let steady = self.waiting.steady(self.now);
        let held = i64::try_from(self.ledger.held_count()).unwrap_or(i64::MAX);
        let room = match self.policy.is_paused {
            true => 0,
            false => self.policy.window.saturating_sub(held),
        };
        let (consumer, is_new) = self.ledger.consumer_number(wanted.consumer);
        let records_max = usize::try_from(wanted.records_max.min(room)).unwrap_or(0);
        let mut giving = Giving {
            given: Vec::new(),
            consumer,
            records_max,
            wanted_max: records_max,
            is_first: wanted.is_first,
            lock_ms: u32::try_from(lock.as_millis()).unwrap_or(u32::MAX),
            until: later(steady, lock),
            wall_until: later(self.now.wall, lock),
            lapsed: self.lapsed_keys(steady),
            steady,
            next_ready: None,
            going_on: BTreeSet::new(),
        };
        self.waiting.pass_known(self.ledger);
        for found in wanted.found {
            let is_full = giving.given.len() >= giving.records_max;
            if is_full || !self.look_at(&mut giving, found) {
                self.decision.is_answer_over = true;
                break;
            }
        }
        // What failed often goes with few others, also of the next piece of the log.
        let is_limited = giving.records_max < giving.wanted_max;
        let is_full = giving.given.len() >= giving.records_max;
        // What nobody locks may go again at once, and no record goes twice into one answer.
        let is_unlocked = lock.is_zero() && !giving.given.is_empty();
        self.decision.is_answer_over |= is_limited || is_full || is_unlocked;
        if !giving.given.is_empty() && is_new {
            let name = (consumer, wanted.consumer.into());
            self.update.consumers.push(name);
        }
        self.decision.counts.delivered = giving.given.len() as u64;
        self.decision.reply = Reply::Acquired(giving.given);
    }

    /// One thing that was found. Says whether to go on.
    fn look_at(&mut self, giving: &mut Giving, found: &Found) -> bool {
        let from = found.first.max(self.start);
        if from > found.last || found.last.0 == i64::MAX {
            return true;
        }
        let cursor = self.waiting.cursor.max(self.start);
        if from > cursor {
            // What lies between was not looked at.
            return false;
        }
        if found.is_gap {
            self.note_gap(from, found.last);
            self.pass(found.last);
            return true;
        }
        let is_new = from >= cursor;
        if !is_new && !self.may_have_come(giving, from) {
            return true;
        }
        let state = self.at(from).0;
        let is_unknown = is_new && state == State::Fresh;
        let added = giving.given.len() as u64;
        if is_unknown && !self.waiting.has_room(self.ledger, self.policy, from, added) {
            return false;
        }
        let key = found.key.filter(|_| self.policy.order == Order::Key);
        let key = key.map(|hash| NonZeroU64::new(hash).unwrap_or(NonZeroU64::MIN));
        match self.verdict(giving, (from, key), found, (state, is_new)) {
            Verdict::Skip => {}
            Verdict::Drop => {
                self.untrack(from);
                self.done(from, from, Why::Filtered);
            }
            Verdict::Wait(due) => {
                self.track(from, key, due);
                self.pass(found.last);
                self.wake_key(key);
            }
            Verdict::End { attempts } => self.end_untried(from, key, attempts),
            Verdict::Give { attempts } => {
                if !self.may_go_along(giving, attempts) {
                    return false;
                }
                self.give(giving, from, key, attempts);
            }
        }
        self.pass(found.last);
        true
    }

    /// Whether a record that was looked at before may go now. Around one that comes again lie many that wait or are done with: none of
    /// them takes more than a comparison.
    fn may_have_come(&self, giving: &mut Giving, offset: Offset) -> bool {
        let next = match giving.next_ready {
            Some(next) if next >= offset => next,
            _ => {
                let ready = self.waiting.ready.iter_from(offset).next();
                ready.map_or(LAST, |(first, ..)| first.max(offset))
            }
        };
        giving.next_ready = Some(next);
        next == offset || giving.going_on.contains(&offset)
    }

    /// Everything up to there was looked at.
    fn pass(&mut self, last: Offset) {
        self.waiting.cursor = self.waiting.cursor.max(last.plus(1));
    }

    fn verdict(
        &mut self,
        giving: &Giving,
        (offset, key): (Offset, Option<NonZeroU64>),
        found: &Found,
        (state, is_new): (State, bool),
    ) -> Verdict {
        let found_due = found.due.unwrap_or(NO_DUE);
        let (attempts, due) = match state {
            State::Fresh => (0, found_due),
            State::Resting { attempts, due } => (attempts, due.max(found_due)),
            State::Held(_) | State::Moving { .. } | State::Done => return Verdict::Skip,
        };
        // What was delivered before was wanted then, and stays: its attempts end as they do.
        if !found.is_wanted && state == State::Fresh {
            return Verdict::Drop;
        }
        #[cfg(feature = "planted-faults")]
        let due = match is_new && attempts > 0 && crate::planted::forgets_rests() {
            true => NO_DUE,
            false => due,
        };
        let is_early = due > self.now.wall;
        let go = match self.policy.is_last(attempts) {
            true => Verdict::End { attempts },
            false => Verdict::Give { attempts },
        };
        if is_new {
            let waits_for_key = key.is_some_and(|key| !self.is_key_free(giving, key, offset));
            return match is_early || waits_for_key {
                true => Verdict::Wait(due),
                false => go,
            };
        }
        let is_ready = self.waiting.is_ready(offset);
        if is_ready && is_early {
            // The wall clock went back.
            self.untrack_for_later(offset);
            return Verdict::Wait(due);
        }
        let goes_on = || key.is_some_and(|key| self.goes_on(giving, key, offset));
        match is_ready || (!is_early && goes_on()) {
            true => go,
            false => Verdict::Skip,
        }
    }

    /// A record that rests and had as many attempts as it may have: they are fewer now, or it had to wait for its move.
    fn end_untried(&mut self, offset: Offset, key: Option<NonZeroU64>, attempts: u16) {
        self.untrack_for_later(offset);
        if let Some(key) = key {
            self.waiting.keys.remove(&(key, offset));
        }
        match self.move_or_give_up(offset, attempts) {
            true => self.decision.has_freed = true,
            false => {
                let due = later(self.now.wall, ROW_WAIT);
                self.set(offset, State::Resting { attempts, due });
                self.track(offset, key, due);
            }
        }
        self.wake_key(key);
    }

    fn untrack_for_later(&mut self, offset: Offset) {
        if let Some(parked) = self.hide(offset) {
            match parked.key {
                Some(key) => {
                    self.waiting.keys.remove(&(key, offset));
                }
                None => self.waiting.keyless -= 1,
            }
        }
    }

    /// Whether a record that is seen for the first time may go, as far as its key goes.
    fn is_key_free(&self, giving: &Giving, key: NonZeroU64, offset: Offset) -> bool {
        let first = self.first_of_key(key);
        first.is_none_or(|first| first > offset)
            && (!self.is_key_held(key) || self.is_last_holder(giving, key, offset))
    }

    /// Whether the record is the next of a key of which this consumer holds the ones before.
    fn goes_on(&self, giving: &Giving, key: NonZeroU64, offset: Offset) -> bool {
        self.first_of_key(key) == Some(offset) && self.is_last_holder(giving, key, offset)
    }

    /// Keys of which a lock has run out that no tick has looked at yet: its record comes back, and takes along what is given behind it.
    fn lapsed_keys(&self, steady: TimestampMs) -> BTreeSet<NonZeroU64> {
        let locks = self.ledger.index().locks.iter();
        let lapsed = locks.take_while(|(until, _)| *until <= steady);
        let key = |first: Offset| match self.ledger.state(first).0 {
            State::Held(held) => held.key,
            _ => None,
        };
        lapsed.filter_map(|(_, first)| key(*first)).collect()
    }

    /// Whether this consumer holds records of the key, all of them before this one and under locks that last.
    fn is_last_holder(&self, giving: &Giving, key: NonZeroU64, offset: Offset) -> bool {
        if giving.lapsed.contains(&key) {
            return false;
        }
        let last = self.last_held_of_key(key).filter(|last| *last < offset);
        // One consumer at a time: who holds the last holds all.
        let holder = last.map(|last| self.at(last).0);
        #[cfg(feature = "planted-faults")]
        if crate::planted::shares_keys() {
            return matches!(holder, Some(State::Held(_)));
        }
        matches!(holder, Some(State::Held(held)) if held.consumer == giving.consumer)
    }

    /// Whether a record that was delivered so often may go with what is given already.
    fn may_go_along(&self, giving: &mut Giving, attempts: u16) -> bool {
        let Some(together_max) = self.policy.isolated(attempts, giving.wanted_max) else {
            return true;
        };
        if !giving.is_first || giving.given.len() >= together_max {
            return false;
        }
        giving.records_max = giving.records_max.min(together_max);
        true
    }

    fn give(
        &mut self,
        giving: &mut Giving,
        offset: Offset,
        key: Option<NonZeroU64>,
        attempts: u16,
    ) {
        let (state, _) = self.at(offset);
        assert!(
            matches!(state, State::Fresh | State::Resting { .. }),
            "{QUE_1}: the record at {offset} is given, and is {state:?}"
        );
        self.untrack_for_later(offset);
        if let Some(key) = key {
            self.waiting.keys.remove(&(key, offset));
            self.waiting.held_keys.insert((key, offset));
            if offset < self.waiting.cursor {
                giving.going_on.extend(self.first_of_key(key));
            }
        }
        let grant = self.waiting.next_grant;
        self.waiting.next_grant += 1;
        let held = Held {
            attempts: attempts.saturating_add(1),
            consumer: giving.consumer,
            grant,
            until: giving.until,
            lock_ms: giving.lock_ms,
            given: giving.steady,
            key,
            is_cancelled: false,
        };
        let first_given = match attempts {
            0 => Some(self.now.wall),
            _ => self.ledger.histories.first_given(offset),
        };
        self.changes
            .set(offset, offset, Pending::To(To::State(State::Held(held))));
        giving.given.push(Grant {
            offset,
            attempt: held.attempts,
            grant,
            until: giving.wall_until,
            first_given,
        });
    }

    /// Nobody is to look there again.
    fn note_gap(&mut self, first: Offset, last: Offset) {
        self.untrack_all(first, last);
        let mut at = first;
        while at <= last {
            let (state, run_last) = self.at(at);
            let end = run_last.min(last);
            if matches!(state, State::Fresh | State::Resting { .. }) {
                self.done(at, end, Why::Gap);
            }
            at = end.plus(1);
        }
    }
}
