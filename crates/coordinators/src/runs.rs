//! What is known of records by offset, kept as runs: only what differs from "nothing is known" takes up memory.
//!
//! Why it exists: between the first record that is not done with and the last one touched there may be any number of
//! records; neither memory nor time may depend on that distance.
//! Invariants: runs are disjoint, not empty, not `UNKNOWN`, and neighbours differ.

use fanlog_model::Offset;
use std::collections::BTreeMap;
use std::fmt::Debug;

/// What may be known of a record.
pub(crate) trait RunState: Copy + Debug + Eq {
    /// What is found of it by other orders than that of the offsets.
    type Index: Clone + Debug + Default + Eq;

    /// What every record is of which nothing is known.
    const UNKNOWN: Self;

    /// What the record is that stands so many offsets behind one that is `self`, in one run.
    fn advanced(self, by: i64) -> Self {
        let _ = by;
        self
    }

    /// A run comes into being, or ceases to be.
    fn note(self, first: Offset, last: Offset, index: &mut Self::Index, is_there: bool);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run<S> {
    last: Offset,
    /// Of its first record.
    is: S,
}

/// Runs by their first offsets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Runs<S: RunState> {
    runs: BTreeMap<Offset, Run<S>>,
    index: S::Index,
}

impl<S: RunState> Default for Runs<S> {
    fn default() -> Self {
        Self {
            runs: BTreeMap::new(),
            index: S::Index::default(),
        }
    }
}

impl<S: RunState> Runs<S> {
    /// The state of the record at an offset, and the last offset up to which it is known to be alike.
    pub(crate) fn at(&self, offset: Offset) -> (S, Offset) {
        if let Some((first, run)) = self.runs.range(..=offset).next_back()
            && run.last >= offset
        {
            return (run.is.advanced(offset.0 - first.0), run.last);
        }
        let next = self.runs.range(offset..).next();
        let last = next.map_or(i64::MAX, |(first, _)| first.0 - 1);
        (S::UNKNOWN, Offset(last))
    }

    /// The records from `first` to `last` are now so: the first `is`, the others as a run advances.
    pub(crate) fn set(&mut self, first: Offset, last: Offset, is: S) {
        if first > last {
            return;
        }
        self.cut_before(first);
        if last.0 < i64::MAX {
            self.cut_before(Offset(last.0 + 1));
        }
        self.clear(first, last);
        if is == S::UNKNOWN {
            return;
        }
        let (first, last, is) = self.take_neighbours(first, last, is);
        self.insert(first, Run { last, is });
    }

    /// Nothing is known of what lies below `start`.
    pub(crate) fn forget_below(&mut self, start: Offset) {
        if start.0 > i64::MIN {
            self.cut_before(start);
            self.clear(Offset(i64::MIN), Offset(start.0 - 1));
        }
    }

    /// All runs, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Offset, Offset, S)> + '_ {
        self.runs
            .iter()
            .map(|(first, run)| (*first, run.last, run.is))
    }

    /// The runs with records at or behind an offset, in order.
    pub(crate) fn iter_from(&self, from: Offset) -> impl Iterator<Item = (Offset, Offset, S)> + '_ {
        let before = self.runs.range(..from).next_back();
        let before = before.filter(|(_, run)| run.last >= from);
        let all = before.into_iter().chain(self.runs.range(from..));
        all.map(|(first, run)| (*first, run.last, run.is))
    }

    /// The first offset behind all runs; none if there are none.
    pub(crate) fn end(&self) -> Option<Offset> {
        let last = self.runs.last_key_value();
        last.map(|(_, run)| Offset(run.last.0.saturating_add(1)))
    }

    pub(crate) fn len(&self) -> usize {
        self.runs.len()
    }

    pub(crate) fn index(&self) -> &S::Index {
        &self.index
    }

    pub(crate) fn index_mut(&mut self) -> &mut S::Index {
        &mut self.index
    }

    /// Makes a run that reaches over the place between `at - 1` and `at` two.
    fn cut_before(&mut self, at: Offset) {
        let Some((&first, &run)) = self.runs.range(..at).next_back() else {
            return;
        };
        if run.last < at {
            return;
        }
        let last = Offset(at.0 - 1);
        self.remove(first);
        self.insert(first, Run { last, is: run.is });
        let is = run.is.advanced(at.0 - first.0);
        self.insert(at, Run { last: run.last, is });
    }

    /// Removes the runs between two places at which none reaches over.
    fn clear(&mut self, first: Offset, last: Offset) {
        while let Some((&at, _)) = self.runs.range(first..=last).next() {
            self.remove(at);
        }
    }

    /// Removes neighbours that go on with the same; the bounds with them.
    fn take_neighbours(&mut self, first: Offset, last: Offset, is: S) -> (Offset, Offset, S) {
        let (mut from, mut to, mut from_is) = (first, last, is);
        if let Some((&before, &run)) = self.runs.range(..first).next_back()
            && run.last.0 + 1 == first.0
            && run.is.advanced(first.0 - before.0) == is
        {
            (from, from_is) = (before, run.is);
            self.remove(before);
        }
        if last.0 < i64::MAX
            && let Some(&run) = self.runs.get(&Offset(last.0 + 1))
            && is.advanced(last.0 + 1 - first.0) == run.is
        {
            to = run.last;
            self.remove(Offset(last.0 + 1));
        }
        (from, to, from_is)
    }

    fn insert(&mut self, first: Offset, run: Run<S>) {
        run.is.note(first, run.last, &mut self.index, true);
        self.runs.insert(first, run);
    }

    fn remove(&mut self, first: Offset) {
        if let Some(run) = self.runs.remove(&first) {
            run.is.note(first, run.last, &mut self.index, false);
        }
    }
}
