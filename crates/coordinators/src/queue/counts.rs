//! How many records of a partition can go, are held, or wait for their time.
//!
//! Why it exists: who watches a queue by these numbers is to see right ones, also where nobody has looked at the topic yet. What lies below
//! the cursor the machine knows; what lies behind it the runtime reads, and `count_found` says what of it counts.
//! In -> out: what is known, what was found -> three numbers. A record on its way to another topic is none of them.

use super::index::first_to_last;
use super::{Found, Ledger, State, Waiting};
use crate::Now;
use fanlog_model::Offset;

/// How many records that have a time are looked at one by one.
const TIMED_MAX: usize = 100_000;

/// Numbers of records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// They can go, or wait for an earlier one of their key.
    pub visible: u64,
    /// Somebody holds them.
    pub in_flight: u64,
    /// They are not due yet, or rest after an attempt.
    pub delayed: u64,
    /// Not all that had to be looked at was.
    pub is_estimate: bool,
}

impl Counts {
    /// Adds those of another part.
    pub fn add(&mut self, other: Self) {
        self.visible += other.visible;
        self.in_flight += other.in_flight;
        self.delayed += other.delayed;
        self.is_estimate |= other.is_estimate;
    }
}

/// What is held, and what stands below the cursor. Hand in a `Tick` before: what is due counts as it is then.
pub fn counts(ledger: &Ledger, waiting: &Waiting, now: Now) -> Counts {
    let cursor = waiting.cursor(ledger);
    let index = ledger.index();
    let all = (cursor.0 - ledger.start().0).max(0).unsigned_abs();
    let closed = index.done + index.held + index.moving;
    let open = all.saturating_sub(closed - closed_between(ledger, cursor, Offset(i64::MAX)));
    let is_many = waiting.parked.len() > TIMED_MAX;
    let delayed = match is_many {
        true => waiting.timers.len(),
        false => {
            let parked = waiting.parked.values();
            parked.filter(|parked| parked.due > now.wall).count()
        }
    };
    Counts {
        visible: open.saturating_sub(delayed as u64),
        in_flight: index.held,
        delayed: delayed as u64,
        is_estimate: is_many,
    }
}

/// What was found behind the cursor and is not known to be held or over.
pub fn count_found(ledger: &Ledger, now: Now, found: &[Found]) -> Counts {
    let mut counts = Counts::default();
    for found in found.iter().filter(|found| !found.is_gap) {
        let rests_until = match ledger.state(found.first).0 {
            State::Fresh if found.is_wanted => None,
            State::Resting { due, .. } => Some(due),
            State::Fresh | State::Held(_) | State::Moving { .. } | State::Done => continue,
        };
        match found.due.max(rests_until) > Some(now.wall) {
            true => counts.delayed += 1,
            false => counts.visible += 1,
        }
    }
    counts
}

/// What nobody looks at for now, from one offset to below another: all that is not held or over is taken for visible.
pub fn count_unseen(ledger: &Ledger, from: Offset, below: Offset) -> Counts {
    let all = (below.0 - from.0).max(0).unsigned_abs();
    Counts {
        visible: all.saturating_sub(closed_between(ledger, from, below)),
        is_estimate: all > 0,
        ..Counts::default()
    }
}

/// How many records from one offset to below another are held, moving or done with.
fn closed_between(ledger: &Ledger, from: Offset, below: Offset) -> u64 {
    let runs = ledger.states.iter_from(from);
    let runs = runs.take_while(|(first, ..)| *first < below);
    let closed = runs
        .filter(|(.., state)| matches!(state, State::Held(_) | State::Moving { .. } | State::Done));
    closed
        .map(|(first, last, _)| first_to_last(first.max(from), last.min(Offset(below.0 - 1))))
        .sum()
}
