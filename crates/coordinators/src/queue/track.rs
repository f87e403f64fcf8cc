//! What was seen and has to wait: it comes into `Waiting`, becomes ready, and goes.
//!
//! Invariants: QUE-3 (of a key's records only the first can be ready, and none while one is held), QUE-4.

use super::decide::{Deciding, Pending};
use super::waiting::{Parked, Ready, later};
use super::{Held, Order, State, To, Waiting};
use fanlog_model::{Offset, TimestampMs};
use std::num::NonZeroU64;
use std::time::Duration;

/// At any time.
pub(super) const NO_DUE: TimestampMs = TimestampMs(i64::MIN);
const FIRST: Offset = Offset(i64::MIN);
pub(super) const LAST: Offset = Offset(i64::MAX);

/// How many hand-overs a power cut may have lost at most that were not logged durably: their numbers are not used again. Beside that the
/// numbers never fall behind the wall clock, so that two lives of this partition have different ones.
const GRANTS_LOST_MAX: u64 = 1 << 20;

impl Deciding<'_> {
    /// Finds out what the ledger's records mean for this life of the process, once; and again if the order has changed.
    pub(super) fn load(&mut self) {
        let order = self.policy.order;
        if self.waiting.is_loaded && self.waiting.order == order {
            return;
        }
        if !self.waiting.is_loaded {
            let behind = self.ledger.head.next_grant.saturating_add(GRANTS_LOST_MAX);
            let wall = u64::try_from(self.now.wall.0).unwrap_or(0);
            self.waiting.next_grant = behind.max(wall.saturating_mul(GRANTS_LOST_MAX));
            self.waiting.loaded_at = self.now;
            self.update.next_grant = Some(self.waiting.next_grant);
            self.bound_locks();
        }
        self.look_again();
    }

    /// The topic is looked at once more, from the start.
    pub(super) fn look_again(&mut self) {
        *self.waiting = Waiting {
            is_loaded: true,
            order: self.policy.order,
            loaded_at: self.waiting.loaded_at,
            next_grant: self.waiting.next_grant,
            cursor: self.start,
            ..Waiting::default()
        };
        self.find_held_keys();
    }

    /// No lock lasts longer from now on than it was given for, whatever the wall clock has done.
    fn bound_locks(&mut self) {
        let steady = self.waiting.steady(self.now);
        for (first, last, state) in self.ledger.states.iter() {
            let State::Held(held) = state else {
                continue;
            };
            let until_max = later(steady, Duration::from_millis(held.lock_ms.into()));
            if held.until > until_max {
                let state = State::Held(Held {
                    until: until_max,
                    ..held
                });
                self.changes.set(first, last, Pending::To(To::State(state)));
            }
        }
    }

    fn find_held_keys(&mut self) {
        if self.policy.order != Order::Key {
            return;
        }
        for (first, last, state) in self.ledger.states.iter() {
            let State::Held(Held { key: Some(key), .. }) = state else {
                continue;
            };
            let offsets = (first.0..=last.0).map(Offset);
            let is_held = |offset: &Offset| matches!(self.at(*offset).0, State::Held(_));
            let held: Vec<_> = offsets.filter(is_held).collect();
            let held = held.into_iter().map(|offset| (key, offset));
            self.waiting.held_keys.extend(held);
        }
    }

    /// A record that was looked at and can't go now. Its key is to be looked at with `wake_key` afterwards.
    pub(super) fn track(&mut self, offset: Offset, key: Option<NonZeroU64>, due: TimestampMs) {
        let Some(key) = key else {
            self.waiting.keyless += 1;
            self.show(offset, None, due);
            return;
        };
        self.waiting.keys.insert((key, offset));
        if due > self.now.wall {
            let parked = Parked {
                key: Some(key),
                due,
            };
            self.waiting.parked.insert(offset, parked);
        }
    }

    /// A record comes back that was handed out. If it was not yet looked at since the start of the process, it is found there.
    pub(super) fn track_again(
        &mut self,
        offset: Offset,
        key: Option<NonZeroU64>,
        due: TimestampMs,
    ) {
        self.decision.has_freed = true;
        if offset < self.waiting.cursor {
            let key = key.filter(|_| self.policy.order == Order::Key);
            self.track(offset, key, due);
        }
    }

    /// It waits for its time, or can go.
    fn show(&mut self, offset: Offset, key: Option<NonZeroU64>, due: TimestampMs) {
        let is_early = due > self.now.wall;
        if is_early || key.is_some() {
            self.waiting.parked.insert(offset, Parked { key, due });
        }
        match is_early {
            true => {
                self.waiting.timers.insert((due, offset));
            }
            false => {
                self.waiting.ready.set(offset, offset, Ready::Yes);
                self.decision.has_freed = true;
            }
        }
    }

    /// The first record of a key that nobody holds waits for its time only, or can go.
    pub(super) fn wake_key(&mut self, key: Option<NonZeroU64>) {
        let Some(key) = key else {
            return;
        };
        if self.is_key_held(key) {
            return;
        }
        while let Some(offset) = self.first_of_key(key) {
            let parked = self.waiting.parked.get(&offset);
            let parked = parked.map_or(NO_DUE, |parked| parked.due);
            let due = match self.at(offset).0 {
                _ if offset < self.start => None,
                State::Fresh => Some(parked),
                // What the record itself says was looked at when it was parked.
                State::Resting { due, .. } => Some(due.max(parked)),
                State::Held(_) | State::Moving { .. } | State::Done => None,
            };
            let Some(due) = due else {
                self.waiting.keys.remove(&(key, offset));
                self.hide(offset);
                continue;
            };
            let is_shown =
                self.waiting.is_ready(offset) || self.waiting.timers.contains(&(due, offset));
            if !is_shown {
                self.show(offset, Some(key), due);
            }
            return;
        }
    }

    pub(super) fn first_of_key(&self, key: NonZeroU64) -> Option<Offset> {
        let mut of_key = self.waiting.keys.range((key, FIRST)..=(key, LAST));
        of_key.next().map(|(_, offset)| *offset)
    }

    pub(super) fn last_held_of_key(&self, key: NonZeroU64) -> Option<Offset> {
        let mut of_key = self.waiting.held_keys.range((key, FIRST)..=(key, LAST));
        of_key.next_back().map(|(_, offset)| *offset)
    }

    pub(super) fn is_key_held(&self, key: NonZeroU64) -> bool {
        let mut of_key = self.waiting.held_keys.range((key, FIRST)..=(key, LAST));
        of_key.next().is_some()
    }

    /// Records of a key that are held, behind an offset.
    pub(super) fn held_of_key_behind(&self, key: NonZeroU64, offset: Offset) -> Vec<Offset> {
        let from = (key, offset.plus(1));
        let of_key = self.waiting.held_keys.range(from..=(key, LAST));
        of_key.map(|(_, offset)| *offset).collect()
    }

    /// Nobody holds the record any more.
    pub(super) fn forget_held(&mut self, offset: Offset, held: &Held) {
        if let Some(key) = held.key {
            self.waiting.held_keys.remove(&(key, offset));
        }
    }

    /// A record has gone elsewhere: it waits no more, and the next of its key may go. One that waits behind others of its key stays in
    /// `keys` until its turn, as nothing says here which key it has.
    pub(super) fn untrack(&mut self, offset: Offset) {
        let parked = self.hide(offset);
        match parked {
            Some(Parked { key: None, .. }) => self.waiting.keyless -= 1,
            Some(Parked { key: Some(key), .. }) => {
                self.waiting.keys.remove(&(key, offset));
                self.wake_key(Some(key));
            }
            None => {}
        }
    }

    /// Takes a record from among those that are ready or have a time of their own. Says what it was, if it was there.
    pub(super) fn hide(&mut self, offset: Offset) -> Option<Parked> {
        let was_ready = self.waiting.is_ready(offset);
        if was_ready {
            self.waiting.ready.set(offset, offset, Ready::No);
        }
        let parked = self.waiting.parked.remove(&offset);
        if let Some(parked) = parked {
            self.waiting.timers.remove(&(parked.due, offset));
        }
        let without_key = Parked {
            key: None,
            due: NO_DUE,
        };
        parked.or(was_ready.then_some(without_key))
    }

    /// As `untrack`, of all from `first` to `last`.
    pub(super) fn untrack_all(&mut self, first: Offset, last: Offset) {
        if first > last {
            return;
        }
        let parked = self.waiting.parked.range(first..=last);
        let mut keys = Vec::new();
        for offset in parked.map(|(offset, _)| *offset).collect::<Vec<_>>() {
            match self.hide(offset) {
                Some(Parked { key: Some(key), .. }) => {
                    self.waiting.keys.remove(&(key, offset));
                    keys.push(key);
                }
                _ => self.waiting.keyless -= 1,
            }
        }
        // What is left is ready and has no key.
        let before = self.waiting.ready_count();
        self.waiting.ready.set(first, last, Ready::No);
        self.waiting.keyless -= before - self.waiting.ready_count();
        for key in keys {
            self.wake_key(Some(key));
        }
    }

    /// Times have come. Says whether there are more than can be done at once.
    pub(super) fn fire_timers(&mut self) -> bool {
        for _ in 0..TIMERS_MAX {
            let first = self.waiting.timers.first().copied();
            let Some((due, offset)) = first.filter(|(due, _)| *due <= self.now.wall) else {
                return false;
            };
            self.waiting.timers.remove(&(due, offset));
            let has_key = self
                .waiting
                .parked
                .get(&offset)
                .is_some_and(|parked| parked.key.is_some());
            if !has_key {
                self.waiting.parked.remove(&offset);
            }
            self.waiting.ready.set(offset, offset, Ready::Yes);
            self.decision.has_freed = true;
        }
        self.waiting
            .timers
            .first()
            .is_some_and(|(due, _)| *due <= self.now.wall)
    }
}

/// How many times may come in one tick.
const TIMERS_MAX: usize = 10_000;

impl Waiting {
    pub(super) fn is_ready(&self, offset: Offset) -> bool {
        self.ready.at(offset).0 == Ready::Yes
    }
}
