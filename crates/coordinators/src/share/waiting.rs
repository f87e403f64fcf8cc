//! What only this process knows of a share-partition.

use super::held::Held;
use super::{Ledger, Policy};
use fanlog_model::Offset;
use std::time::Duration;

/// The locks of a share-partition. Losing them makes what was held available, with the deliveries that the log knows of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    pub(super) held: Held,
    /// Nothing below this offset is available: where a search begins.
    pub(super) searched_to: Offset,
    /// The first offset behind all that was ever handed out.
    pub(super) end: Offset,
}

impl Waiting {
    /// How many records are held.
    pub fn held_count(&self) -> i64 {
        self.held.records()
    }

    /// How many ranges are held: what its memory goes by.
    pub fn holds(&self) -> usize {
        self.held.len()
    }

    /// The first offset at which there may be a record to hand out; none if there can't be any, whatever the log holds.
    pub fn next_available(&mut self, ledger: &Ledger, policy: &Policy) -> Option<Offset> {
        match self.has_room(ledger, policy) {
            true => self.next_free(ledger),
            false => self.next_retry(ledger),
        }
    }

    fn next_free(&mut self, ledger: &Ledger) -> Option<Offset> {
        let mut at = self.searched_to.max(ledger.start?);
        loop {
            if let Ok((_, hold)) = self.held.at(at) {
                at = hold.last.plus(1);
                continue;
            }
            let (is, last) = ledger.runs.at(at);
            if !is.state.is_terminal() || last.0 == i64::MAX {
                self.searched_to = at;
                return Some(at);
            }
            at = last.plus(1);
        }
    }

    /// The first record that was delivered before and that nobody holds.
    fn next_retry(&self, ledger: &Ledger) -> Option<Offset> {
        let available = ledger
            .runs
            .iter()
            .filter(|(_, _, is)| !is.state.is_terminal());
        available.into_iter().find_map(|(first, last, _)| {
            let mut at = first;
            while at <= last {
                match self.held.at(at) {
                    Ok((_, hold)) => at = hold.last.plus(1),
                    Err(_) => return Some(at),
                }
            }
            None
        })
    }

    /// How many records are held or wait for another attempt.
    pub(super) fn in_flight(&self, ledger: &Ledger) -> i64 {
        // Those that are held for another attempt the log counts among those that wait for one.
        self.held.fresh() + ledger.runs.retried()
    }

    /// Whether new records, never delivered before, may be handed out; those that come back always may.
    pub fn has_room(&self, ledger: &Ledger, policy: &Policy) -> bool {
        self.in_flight(ledger) < policy.window
            && ledger.runs.len() + self.held.len() < policy.runs_max
    }

    /// The first offset behind everything that was handed out or is known of.
    pub(super) fn end(&self, ledger: &Ledger) -> Offset {
        let known = ledger.runs.end().max(self.held.end());
        let start = ledger.start.unwrap_or(Offset::ZERO);
        self.end.max(start).max(known.unwrap_or(start))
    }

    /// Something at or behind this offset became available.
    pub(super) fn freed(&mut self, first: Offset) {
        self.searched_to = self.searched_to.min(first);
    }
}

/// When a lock runs out next.
pub fn next_deadline(waiting: &Waiting) -> Option<Duration> {
    waiting.held.next_deadline()
}
