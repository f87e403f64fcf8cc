//! The states of records by offset, kept as runs: only what differs from "available, never delivered" takes up memory.
//!
//! Why it exists: between the first record that is not done with and the last one touched there may be any number of
//! records; neither memory nor time may depend on that distance.
//! Invariants: runs are disjoint, not empty, not `FRESH`, and neighbours differ.

use super::{DeliveryState, RecordState};
use fanlog_model::Offset;
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    last: Offset,
    is: RecordState,
}

impl Run {
    fn records(&self, first: Offset) -> i64 {
        self.last.0 - first.0 + 1
    }
}

/// Runs by their first offsets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Runs {
    runs: BTreeMap<Offset, Run>,
    terminal: i64,
    retried: i64,
}

impl Runs {
    /// The state of the record at an offset, and the last offset up to which it is known to be the same.
    pub(super) fn at(&self, offset: Offset) -> (RecordState, Offset) {
        if let Some((_, run)) = self.runs.range(..=offset).next_back()
            && run.last >= offset
        {
            return (run.is, run.last);
        }
        let next = self.runs.range(offset..).next();
        let last = next.map_or(i64::MAX, |(first, _)| first.0 - 1);
        (RecordState::FRESH, Offset(last))
    }

    /// The records from `first` to `last` are now so.
    pub(super) fn set(&mut self, first: Offset, last: Offset, is: RecordState) {
        if first > last {
            return;
        }
        self.cut_before(first);
        if last.0 < i64::MAX {
            self.cut_before(Offset(last.0 + 1));
        }
        self.clear(first, last);
        if is == RecordState::FRESH {
            return;
        }
        let (first, last) = self.take_neighbours(first, last, is);
        self.insert(first, Run { last, is });
    }

    /// Nothing is known of what lies below `start`.
    pub(super) fn forget_below(&mut self, start: Offset) {
        if start.0 > i64::MIN {
            self.cut_before(start);
            self.clear(Offset(i64::MIN), Offset(start.0 - 1));
        }
    }

    /// All runs, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Offset, Offset, RecordState)> + '_ {
        self.runs
            .iter()
            .map(|(first, run)| (*first, run.last, run.is))
    }

    /// The first offset behind all runs; none if there are none.
    pub(super) fn end(&self) -> Option<Offset> {
        let last = self.runs.last_key_value();
        last.map(|(_, run)| Offset(run.last.0.saturating_add(1)))
    }

    pub(super) fn len(&self) -> usize {
        self.runs.len()
    }

    /// How many records are done with.
    pub(super) fn terminal(&self) -> i64 {
        self.terminal
    }

    /// How many records are available and were delivered before.
    pub(super) fn retried(&self) -> i64 {
        self.retried
    }

    /// Makes a run that reaches over the place between `at - 1` and `at` two.
    fn cut_before(&mut self, at: Offset) {
        let Some((first, run)) = self.runs.range_mut(..at).next_back() else {
            return;
        };
        if run.last < at {
            return;
        }
        debug_assert!(*first < at);
        let behind = *run;
        run.last = Offset(at.0 - 1);
        self.runs.insert(at, behind);
    }

    /// Removes the runs between two places at which none reaches over.
    fn clear(&mut self, first: Offset, last: Offset) {
        while let Some((&at, _)) = self.runs.range(first..=last).next() {
            self.remove(at);
        }
    }

    /// Removes neighbours of the same state; the bounds with them.
    fn take_neighbours(
        &mut self,
        first: Offset,
        last: Offset,
        is: RecordState,
    ) -> (Offset, Offset) {
        let (mut from, mut to) = (first, last);
        if let Some((&before, run)) = self.runs.range(..first).next_back()
            && run.last.0 + 1 == first.0
            && run.is == is
        {
            from = before;
            self.remove(before);
        }
        if last.0 < i64::MAX
            && let Some(run) = self.runs.get(&Offset(last.0 + 1))
            && run.is == is
        {
            to = run.last;
            self.remove(Offset(last.0 + 1));
        }
        (from, to)
    }

    fn insert(&mut self, first: Offset, run: Run) {
        self.count(first, &run, 1);
        self.runs.insert(first, run);
    }

    fn remove(&mut self, first: Offset) {
        if let Some(run) = self.runs.remove(&first) {
            self.count(first, &run, -1);
        }
    }

    fn count(&mut self, first: Offset, run: &Run, sign: i64) {
        let records = sign * run.records(first);
        match run.is.state {
            DeliveryState::Available => self.retried += records,
            DeliveryState::Acknowledged | DeliveryState::Archived => self.terminal += records,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn state(code: u8) -> RecordState {
        let state = match code % 4 {
            0 => return RecordState::FRESH,
            1 => DeliveryState::Available,
            2 => DeliveryState::Acknowledged,
            _ => DeliveryState::Archived,
        };
        RecordState {
            state,
            delivery_count: i16::from(code / 4 % 2) + 1,
        }
    }

    proptest! {
        #[test]
        fn runs_are_what_a_list_of_states_is(steps in proptest::collection::vec((0..40_i64, 0..12_i64, any::<u8>()), 0..60)) {
            let mut runs = Runs::default();
            let mut list = [RecordState::FRESH; 64];
            for (first, length, code) in steps {
                runs.set(Offset(first), Offset(first + length), state(code));
                list[first as usize..=(first + length) as usize].fill(state(code));
                if code == 255 {
                    runs.forget_below(Offset(first));
                    list[..first as usize].fill(RecordState::FRESH);
                }
                for (at, is) in list.iter().enumerate() {
                    let (found, last) = runs.at(Offset(at as i64));
                    prop_assert_eq!(found, *is);
                    prop_assert!(last.0 >= at as i64);
                }
                let terminal = list.iter().filter(|is| is.state.is_terminal()).count() as i64;
                let retried = list.iter().filter(|is| !is.state.is_terminal() && **is != RecordState::FRESH).count() as i64;
                prop_assert_eq!((runs.terminal(), runs.retried()), (terminal, retried));
                let all: Vec<_> = runs.iter().collect();
                prop_assert!(all.windows(2).all(|w| w[0].1 < w[1].0 && (w[0].1.0 + 1 < w[1].0.0 || w[0].2 != w[1].2)));
            }
        }
    }

    #[test]
    fn the_distance_costs_nothing() {
        let mut runs = Runs::default();
        let done = RecordState {
            state: DeliveryState::Acknowledged,
            delivery_count: 1,
        };
        runs.set(Offset(1), Offset(i64::MAX - 1), done);
        runs.set(
            Offset(1_000_000_000_000),
            Offset(1_000_000_000_000),
            RecordState::FRESH,
        );
        assert_eq!(runs.len(), 2);
        assert_eq!(runs.terminal(), i64::MAX - 2);
    }
}
