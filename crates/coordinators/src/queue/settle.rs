//! Settle: what became of records, in their holders' words.
//!
//! Invariants: QUE-1 (only the holder's word counts), QUE-2.

use super::come_back::Failure;
use super::decide::Deciding;
use super::waiting::later;
use super::{Claim, Held, Outcome, Reply, Settle, SettleError, Settled, State, Why};
use fanlog_model::Offset;
use std::time::Duration;

impl Deciding<'_> {
    pub(super) fn settle(&mut self, items: &[Settle<'_>], is_atomic: bool) {
        self.decision.reply = Reply::Settled(match is_atomic {
            false => items.iter().map(|item| self.settle_one(item)).collect(),
            true => self.settle_all(items),
        });
    }

    /// All of it, or nothing.
    fn settle_all(&mut self, items: &[Settle<'_>]) -> Vec<Result<Settled, SettleError>> {
        let mut offsets: Vec<_> = items.iter().map(|item| item.offset).collect();
        offsets.sort_unstable();
        let is_twice = |offset: Offset| {
            let from = offsets.partition_point(|at| *at < offset);
            offsets.get(from + 1) == Some(&offset)
        };
        let check = |item: &Settle<'_>| match self.held_by(item) {
            _ if is_twice(item.offset) => Err(SettleError::NotHeld(item.offset)),
            None if !self.is_gone(item.offset) => Err(SettleError::NotHeld(item.offset)),
            _ => Ok(()),
        };
        let checked: Vec<_> = items.iter().map(check).collect();
        if checked.iter().any(Result::is_err) {
            let undone = |checked: Result<(), SettleError>| {
                Err(checked.err().unwrap_or(SettleError::Undone))
            };
            return checked.into_iter().map(undone).collect();
        }
        // What is done with first: a failure sends back the later records of its key, and these are to count too. A record that is rejected
        // may have to wait for its move, and does the same.
        let turn = |at: &usize| match items[*at].outcome {
            Outcome::Ack | Outcome::Extend(_) => (0, Offset::ZERO),
            Outcome::Reject { .. } => (1, items[*at].offset),
            Outcome::Nack { .. } | Outcome::Release { .. } => (2, items[*at].offset),
        };
        let mut turns: Vec<_> = (0..items.len()).collect();
        turns.sort_by_key(turn);
        let mut settled = vec![Err(SettleError::Undone); items.len()];
        for at in turns {
            settled[at] = self.settle_one(&items[at]);
        }
        settled
    }

    fn settle_one(&mut self, item: &Settle<'_>) -> Result<Settled, SettleError> {
        let offset = item.offset;
        if let Some(held) = self.held_by(item) {
            return Ok(self.settle_held(offset, held, item.outcome));
        }
        if self.is_gone(offset) {
            return Ok(Settled::Done);
        }
        // It came back by what was said of an earlier record of its key in the same breath; that it be tried again is granted, and a rejection is put off.
        let is_to_come_again = !matches!(item.outcome, Outcome::Ack | Outcome::Extend(_));
        let sent_back = self.sent_back.get(&offset).copied();
        if is_to_come_again && sent_back.is_some_and(|held| self.is_claimed(&held, item.claim)) {
            return Ok(match self.at(offset).0 {
                State::Resting { due, .. } => Settled::Again(due.max(self.now.wall)),
                State::Fresh => Settled::Again(self.now.wall),
                _ => Settled::Done,
            });
        }
        Err(SettleError::NotHeld(offset))
    }

    fn settle_held(&mut self, offset: Offset, held: Held, outcome: Outcome<'_>) -> Settled {
        match outcome {
            Outcome::Ack => {
                self.forget_held(offset, &held);
                self.done(offset, offset, Why::Acknowledged);
                self.wake_key(held.key);
                Settled::Done
            }
            Outcome::Nack { delay, reason } => self.fail(offset, held, Failure { delay, reason }),
            Outcome::Release { delay } => self.give_back(offset, held, delay),
            Outcome::Reject { reason } => self.reject(offset, held, reason),
            Outcome::Extend(lock) => self.extend(offset, held, lock),
        }
    }

    fn extend(&mut self, offset: Offset, held: Held, lock: Duration) -> Settled {
        let lock = lock.max(Duration::from_millis(1));
        let until = later(self.waiting.steady(self.now), lock);
        self.set(
            offset,
            State::Held(Held {
                until,
                lock_ms: u32::try_from(lock.as_millis()).unwrap_or(u32::MAX),
                ..held
            }),
        );
        Settled::Held(later(self.now.wall, lock))
    }

    /// The hold of a record, if the claim is right and its lock has not run out.
    fn held_by(&self, item: &Settle<'_>) -> Option<Held> {
        match self.at(item.offset).0 {
            State::Held(held) if self.is_claimed(&held, item.claim) => {
                (held.until > self.waiting.steady(self.now)).then_some(held)
            }
            _ => None,
        }
    }

    fn is_claimed(&self, held: &Held, claim: Claim<'_>) -> bool {
        match claim {
            Claim::Grant(grant) => held.grant == grant,
            Claim::Consumer(name) => {
                let number = self.ledger.by_name.get(name);
                number == Some(&held.consumer)
            }
        }
    }

    /// Whether the log has lost the record: its holder has nothing left to say.
    fn is_gone(&self, offset: Offset) -> bool {
        offset < self.ledger.head.log_start
    }
}
