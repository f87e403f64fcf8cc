//! Who holds which records until when.
//!
//! Why it exists: this is all that a crash loses: holders are found out when they acknowledge, and the records are given
//! to others meanwhile.
//! Invariants: QUE-1: ranges are disjoint.

use fanlog_model::Offset;
use fanlog_model::invariants::QUE_1;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

/// Neighbouring records that one member holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hold {
    pub(super) last: Offset,
    pub(super) member: Arc<str>,
    /// Which delivery this is.
    pub(super) delivery_count: i16,
    /// When the lock runs out, on the monotonic clock.
    pub(super) deadline: Duration,
    /// The hash of its key, where order per key is kept.
    pub(super) key: Option<u64>,
}

/// All holds of a share-partition, by their first offsets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Held {
    holds: BTreeMap<Offset, Hold>,
    deadlines: BTreeSet<(Duration, Offset)>,
    keys: BTreeSet<u64>,
    records: i64,
    fresh: i64,
}

impl Held {
    /// The hold of the record at an offset; or how far nobody holds any.
    pub(super) fn at(&self, offset: Offset) -> Result<(Offset, &Hold), Offset> {
        if let Some((first, hold)) = self.holds.range(..=offset).next_back()
            && hold.last >= offset
        {
            return Ok((*first, hold));
        }
        let next = self.holds.range(offset..).next();
        Err(Offset(next.map_or(i64::MAX, |(first, _)| first.0 - 1)))
    }

    pub(super) fn add(&mut self, first: Offset, hold: Hold) {
        let is_free = matches!(self.at(first), Err(free) if free >= hold.last);
        assert!(
            is_free && first <= hold.last,
            "{QUE_1}: the records from {first} on are held already"
        );
        self.count(first, &hold, 1);
        self.deadlines.insert((hold.deadline, first));
        self.keys.extend(hold.key);
        self.holds.insert(first, hold);
    }

    /// Takes out the records from `first` to `last`, which lie within one hold.
    pub(super) fn take(&mut self, first: Offset, last: Offset) -> Option<Hold> {
        let (from, hold) = self.at(first).ok()?;
        let hold = hold.clone();
        self.remove(from);
        if from < first {
            let before = Hold {
                last: Offset(first.0 - 1),
                ..hold.clone()
            };
            self.add(from, before);
        }
        if last < hold.last {
            self.add(last.plus(1), hold.clone());
        }
        Some(Hold {
            last: last.min(hold.last),
            ..hold
        })
    }

    fn count(&mut self, first: Offset, hold: &Hold, sign: i64) {
        let records = sign * (hold.last.0 - first.0 + 1);
        self.records += records;
        if hold.delivery_count == 1 {
            self.fresh += records;
        }
    }

    fn remove(&mut self, first: Offset) {
        if let Some(hold) = self.holds.remove(&first) {
            self.count(first, &hold, -1);
            self.deadlines.remove(&(hold.deadline, first));
            if let Some(key) = hold.key {
                self.keys.remove(&key);
            }
        }
    }

    /// Takes out everything that a member holds.
    pub(super) fn take_of(&mut self, member: &str) -> Vec<(Offset, Hold)> {
        let of_member = self
            .holds
            .iter()
            .filter(|(_, hold)| &*hold.member == member);
        let firsts: Vec<_> = of_member.map(|(first, _)| *first).collect();
        self.take_all(firsts)
    }

    /// Takes out everything whose lock has run out.
    pub(super) fn take_due(&mut self, now: Duration) -> Vec<(Offset, Hold)> {
        let due = self
            .deadlines
            .iter()
            .take_while(|(deadline, _)| *deadline <= now);
        let mut firsts: Vec<_> = due.map(|(_, first)| *first).collect();
        firsts.sort_unstable();
        self.take_all(firsts)
    }

    /// Lets go of everything below an offset.
    pub(super) fn forget_below(&mut self, start: Offset) {
        while let Some((&first, hold)) = self.holds.first_key_value() {
            if first >= start {
                return;
            }
            let last = hold.last.min(Offset(start.0 - 1));
            self.take(first, last);
        }
    }

    fn take_all(&mut self, firsts: Vec<Offset>) -> Vec<(Offset, Hold)> {
        let take = |first: Offset| {
            let hold = self.holds.get(&first)?.clone();
            self.remove(first);
            Some((first, hold))
        };
        firsts.into_iter().filter_map(take).collect()
    }

    pub(super) fn next_deadline(&self) -> Option<Duration> {
        self.deadlines.first().map(|(deadline, _)| *deadline)
    }

    /// Whether a record with this key is held.
    pub(super) fn has_key(&self, key: u64) -> bool {
        self.keys.contains(&key)
    }

    pub(super) fn records(&self) -> i64 {
        self.records
    }

    /// How many records are held that were never delivered before: of them the log knows nothing.
    pub(super) fn fresh(&self) -> i64 {
        self.fresh
    }

    pub(super) fn len(&self) -> usize {
        self.holds.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Offset, &Hold)> + '_ {
        self.holds.iter().map(|(first, hold)| (*first, hold))
    }

    /// The first offset behind everything that is held.
    pub(super) fn end(&self) -> Option<Offset> {
        self.holds
            .last_key_value()
            .map(|(_, hold)| hold.last.plus(1))
    }
}
