//! Records go without anybody's attempt: somebody cancels them, or all of them, or the log loses them.
//!
//! Invariants: QUE-2 (what the log loses is counted).

use super::decide::{Deciding, Pending};
use super::{Held, Reply, State, Taken, Why};
use fanlog_model::Offset;

impl Deciding<'_> {
    /// Cancels those of these that are open: neither done with nor on their way elsewhere.
    pub(super) fn cancel(&mut self, offsets: &[Offset]) {
        let taken = offsets.iter().map(|offset| self.cancel_one(*offset));
        self.decision.reply = Reply::Taken(taken.collect());
    }

    fn cancel_one(&mut self, offset: Offset) -> Taken {
        match self.at(offset).0 {
            State::Fresh | State::Resting { .. } if self.may_scatter(offset) => {
                self.untrack(offset);
                self.done(offset, offset, Why::Cancelled);
                Taken::Taken
            }
            State::Held(held) => {
                let state = State::Held(Held {
                    is_cancelled: true,
                    ..held
                });
                self.set(offset, state);
                Taken::Taken
            }
            State::Fresh | State::Resting { .. } => Taken::NoRoom,
            State::Moving { .. } | State::Done => Taken::Over,
        }
    }

    /// Everything below is done with, but for what is on its way elsewhere. It counts as cancelled, records that nobody has looked at
    /// and gaps among them.
    pub(super) fn purge(&mut self, below: Offset) {
        if below <= self.start {
            return;
        }
        let last = Offset(below.0 - 1);
        let mut keys = Vec::new();
        let mut at = self.start;
        while at <= last {
            let (state, run_last) = self.at(at);
            let end = run_last.min(last);
            if let State::Held(held) = state {
                for offset in at.0..=end.0 {
                    self.forget_held(Offset(offset), &held);
                }
                keys.extend(held.key);
            }
            if !matches!(state, State::Done | State::Moving { .. }) {
                self.done(at, end, Why::Cancelled);
            }
            at = end.plus(1);
        }
        self.untrack_all(self.start, last);
        for key in keys {
            self.wake_key(Some(key));
        }
        self.waiting.cursor = self.waiting.cursor.max(below);
    }

    pub(super) fn log_start(&mut self, log_start: Offset) {
        if log_start <= self.start {
            return;
        }
        self.decision.counts.lost = self.ledger.open_below(log_start);
        self.update.log_start = Some(log_start);
        self.decision.has_freed = true;
        let before = Offset(log_start.0 - 1);
        let keys = self.forget_held_below(log_start);
        self.start = log_start;
        // What load has set there counts no more.
        self.changes.set(Offset(i64::MIN), before, Pending::Nothing);
        self.untrack_all(Offset(i64::MIN), before);
        for key in keys {
            self.wake_key(Some(key));
        }
        self.decision.has_moves = self.ledger.index().moving > 0;
    }

    fn forget_held_below(&mut self, log_start: Offset) -> Vec<std::num::NonZeroU64> {
        let runs = self.ledger.states.iter();
        let below = runs.take_while(|(first, ..)| *first < log_start);
        let held = below.filter_map(|(first, last, state)| match state {
            State::Held(held) => Some((first, last.min(Offset(log_start.0 - 1)), held)),
            _ => None,
        });
        let mut keys = Vec::new();
        for (first, last, held) in held {
            for offset in first.0..=last.0 {
                self.forget_held(Offset(offset), &held);
            }
            keys.extend(held.key);
        }
        keys
    }
}
