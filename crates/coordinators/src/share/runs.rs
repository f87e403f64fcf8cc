//! The states of the records of a share-partition: only what differs from "available, never delivered" takes up memory.

use super::{DeliveryState, RecordState};
use crate::runs::{RunState, Runs};
use fanlog_model::Offset;

/// How many records of which kind there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    terminal: i64,
    retried: i64,
}

impl RunState for RecordState {
    type Index = Counts;
    const UNKNOWN: Self = Self::FRESH;

    fn note(self, first: Offset, last: Offset, counts: &mut Counts, is_there: bool) {
        let records = last.0 - first.0 + 1;
        let records = if is_there { records } else { -records };
        match self.state {
            DeliveryState::Available => counts.retried += records,
            DeliveryState::Acknowledged | DeliveryState::Archived => counts.terminal += records,
        }
    }
}

impl Runs<RecordState> {
    /// How many records are done with.
    pub(super) fn terminal(&self) -> i64 {
        self.index().terminal
    }

    /// How many records are available and were delivered before.
    pub(super) fn retried(&self) -> i64 {
        self.index().retried
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
