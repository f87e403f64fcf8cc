//! Records come back: an attempt failed, a lock ran out, a consumer has gone or gives back; or they don't, as it was the last attempt.
//!
//! With order per key, the later records of a key that are held come back with one that comes again, and no attempt is burnt. When a record
//! is moved or given up instead, its key goes on without it: the later ones stay with the consumer that holds them, which saw them in order.
//! Invariants: QUE-2, QUE-3.

use super::decide::Deciding;
use super::history::{HISTORY_BYTES_MAX, kept};
use super::policy::rest;
use super::status::on_the_wall;
use super::track::NO_DUE;
use super::waiting::later;
use super::{Attempt, Held, Settled, State, Why};
use fanlog_model::{Offset, TimestampMs};
use std::time::Duration;

/// How an attempt failed.
pub(super) struct Failure<'a> {
    /// How long the record rests; `None` as the backoff says.
    pub(super) delay: Option<Duration>,
    pub(super) reason: &'a str,
}

/// How long a record waits that is to be moved while others are sent elsewhere.
pub(super) const ROW_WAIT: Duration = Duration::from_secs(1);

/// How many records come back in one decision without a word of theirs.
const RECORDS_MAX: usize = 1000;

impl Deciding<'_> {
    /// Locks may have run out, and times have come.
    pub(super) fn tick(&mut self) {
        let steady = self.waiting.steady(self.now);
        let locks = self.ledger.index().locks.iter();
        let firsts = locks.take_while(|(until, _)| *until <= steady);
        let firsts = firsts.map(|(_, first)| *first);
        let (offsets, has_more) = self.offsets_of_runs(firsts);
        self.fail_all(offsets, "the lock ran out", |held| held.until <= steady);
        let has_more_times = self.fire_timers();
        self.decision.is_more_due = has_more || has_more_times;
    }

    pub(super) fn release_all_of(&mut self, consumer: &str) {
        let Some(number) = self.ledger.by_name.get(consumer).copied() else {
            return;
        };
        let from = (number, TimestampMs(i64::MIN), Offset(i64::MIN));
        let to = (number, TimestampMs(i64::MAX), Offset(i64::MAX));
        let runs = self.ledger.index().of_consumer.range(from..=to);
        let (offsets, has_more) = self.offsets_of_runs(runs.map(|(.., first)| *first));
        self.fail_all(offsets, "the consumer went away", |_| true);
        self.decision.is_more_due = has_more;
    }

    /// The records of some runs in the order of their offsets, and whether there were too many.
    fn offsets_of_runs(&self, firsts: impl Iterator<Item = Offset>) -> (Vec<Offset>, bool) {
        let mut offsets = Vec::new();
        for first in firsts {
            let (_, last) = self.ledger.state(first);
            let left = RECORDS_MAX - offsets.len();
            let run = (first.0..=last.0).map(Offset);
            offsets.extend(run.take(left));
            if offsets.len() == RECORDS_MAX {
                break;
            }
        }
        offsets.sort_unstable();
        let has_more = offsets.len() == RECORDS_MAX;
        (offsets, has_more)
    }

    fn fail_all(&mut self, offsets: Vec<Offset>, reason: &str, is_due: impl Fn(&Held) -> bool) {
        for offset in offsets {
            // An earlier one of its key may have taken it along.
            if let State::Held(held) = self.at(offset).0
                && is_due(&held)
            {
                let delay = None;
                self.fail(offset, held, Failure { delay, reason });
            }
        }
    }

    /// An attempt failed.
    pub(super) fn fail(&mut self, offset: Offset, held: Held, failure: Failure<'_>) -> Settled {
        self.forget_held(offset, &held);
        self.remember(offset, &held, failure.reason);
        if held.is_cancelled || self.policy.is_last(held.attempts) {
            return self.end(offset, held);
        }
        let backoff = || rest(self.policy.backoff, offset, held.attempts);
        let due = later(self.now.wall, failure.delay.unwrap_or_else(backoff));
        self.come_again(offset, held, (held.attempts, due));
        Settled::Again(due)
    }

    /// It was not tried.
    pub(super) fn give_back(
        &mut self,
        offset: Offset,
        held: Held,
        delay: Option<Duration>,
    ) -> Settled {
        self.forget_held(offset, &held);
        if held.is_cancelled {
            return self.end(offset, held);
        }
        let due = later(self.now.wall, delay.unwrap_or_default());
        self.come_again(offset, held, (held.attempts - 1, due));
        Settled::Again(due)
    }

    pub(super) fn reject(&mut self, offset: Offset, held: Held, reason: &str) -> Settled {
        self.forget_held(offset, &held);
        self.remember(offset, &held, reason);
        self.end(offset, held)
    }

    /// It never comes again.
    fn end(&mut self, offset: Offset, held: Held) -> Settled {
        let is_over = match held.is_cancelled {
            true => {
                self.done(offset, offset, Why::Cancelled);
                true
            }
            false => self.move_or_give_up(offset, held.attempts),
        };
        if !is_over {
            let due = later(self.now.wall, ROW_WAIT);
            self.come_again(offset, held, (held.attempts, due));
            return Settled::Again(due);
        }
        self.decision.has_freed = true;
        self.wake_key(held.key);
        match self.at(offset).0 {
            State::Moving { .. } => Settled::Moving,
            _ if held.is_cancelled => Settled::Done,
            _ => Settled::GivenUp,
        }
    }

    /// It comes again, and the later ones of its key with it.
    fn come_again(&mut self, offset: Offset, held: Held, (attempts, due): (u16, TimestampMs)) {
        self.rest(offset, held, (attempts, due));
        if let Some(key) = held.key {
            for later_one in self.held_of_key_behind(key, offset) {
                if let State::Held(held) = self.at(later_one).0 {
                    self.send_back(later_one, held);
                }
            }
        }
        self.wake_key(held.key);
    }

    pub(super) fn send_back(&mut self, offset: Offset, held: Held) {
        self.forget_held(offset, &held);
        self.sent_back.insert(offset, held);
        match held.is_cancelled {
            true => self.done(offset, offset, Why::Cancelled),
            false => self.rest(offset, held, (held.attempts - 1, NO_DUE)),
        }
    }

    fn rest(&mut self, offset: Offset, held: Held, (attempts, due): (u16, TimestampMs)) {
        let is_as_before = attempts == 0 && due <= self.now.wall;
        let state = match is_as_before {
            true => State::Fresh,
            false => State::Resting {
                attempts,
                due: due.max(self.now.wall),
            },
        };
        self.set(offset, state);
        self.track_again(offset, held.key, due);
    }

    fn remember(&mut self, offset: Offset, held: &Held, reason: &str) {
        self.decision.counts.failed += 1;
        if self.ledger.histories.bytes() < HISTORY_BYTES_MAX {
            let known = self.ledger.histories.first_given(offset);
            let given = on_the_wall(self.waiting, self.now, held.given);
            let attempt = Attempt {
                at: self.now.wall,
                attempt: held.attempts,
                consumer: self.ledger.consumer(held.consumer),
                reason: kept(reason),
                first_given: known.or_else(|| (held.attempts == 1).then_some(given)),
            };
            self.update.failures.push((offset, attempt));
        }
    }
}
