//! Records come back: their holder has gone, a lock has run out, or the log has lost them.
//!
//! Invariants: QUE-2.

use super::acknowledge::push;
use super::decide::Deciding;
use super::held::Hold;
use super::{RecordState, Reply, StateBatch, Update};
use crate::share::ledger::count;
use fanlog_model::Offset;

impl Deciding<'_> {
    pub(super) fn release(&mut self, member: &str) {
        let holds = self.waiting.held.take_of(member);
        self.give_back(holds);
        self.decision.reply = Reply::Done;
    }

    pub(super) fn tick(&mut self) {
        let holds = self.waiting.held.take_due(self.now.monotonic);
        self.give_back(holds);
    }

    /// Holds, in the order of their offsets: they were not done with.
    fn give_back(&mut self, holds: Vec<(Offset, Hold)>) {
        let mut batches = Vec::new();
        for (first, hold) in holds {
            let state = self.policy.after_failure(hold.delivery_count);
            match state.is_terminal() {
                true => self.decision.given_up += hold.last.0 - first.0 + 1,
                false => self.waiting.freed(first),
            }
            self.decision.has_freed = true;
            push(
                &mut batches,
                StateBatch {
                    first,
                    last: hold.last,
                    is: RecordState {
                        state,
                        delivery_count: hold.delivery_count,
                    },
                },
            );
        }
        self.set(batches);
    }

    pub(super) fn log_start(&mut self, log_start: Offset) {
        let Some(start) = self.ledger.start.filter(|start| *start < log_start) else {
            return;
        };
        let mut next = self.ledger.clone();
        let held_before = self.waiting.held.records();
        self.waiting.held.forget_below(log_start);
        let held = held_before - self.waiting.held.records();
        let done_before = next.runs.terminal();
        next.start = Some(log_start);
        next.runs.forget_below(log_start);
        let done = done_before - next.runs.terminal();
        self.decision.lost = (log_start.0 - start.0) - done - held;
        self.decision.has_freed = true;
        let new_start = next.start_with(&[]).unwrap_or(log_start);
        next.runs.forget_below(new_start);
        self.log(Update {
            start: Some(new_start),
            delivery_complete_count: count(next.runs.terminal()),
            ..Update::default()
        });
    }
}
