//! Whether a group got every record of a partition once and in order.

use std::collections::BTreeMap;

/// What a reader saw of one partition, whose records are numbered from 0.
#[derive(Clone, Debug, Default)]
pub(super) struct Sequence {
    /// The number that comes next if nothing is amiss.
    next: u64,
    /// Numbers that were passed over: from, to (exclusive).
    missing: BTreeMap<u64, u64>,
    counts: Counts,
}

/// What was amiss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) lost: u64,
    pub(super) duplicated: u64,
    pub(super) out_of_order: u64,
}

impl Counts {
    pub(super) fn add(&mut self, other: Counts) {
        self.lost += other.lost;
        self.duplicated += other.duplicated;
        self.out_of_order += other.out_of_order;
    }
}

impl Sequence {
    /// A record came.
    pub(super) fn saw(&mut self, number: u64) {
        if number >= self.next {
            if number > self.next {
                self.missing.insert(self.next, number);
            }
            self.next = number + 1;
            return;
        }
        let gap = self.missing.range(..=number).next_back();
        match gap.map(|(from, to)| (*from, *to)) {
            Some((from, to)) if number < to => {
                self.missing.remove(&from);
                if from < number {
                    self.missing.insert(from, number);
                }
                if number + 1 < to {
                    self.missing.insert(number + 1, to);
                }
                self.counts.out_of_order += 1;
            }
            _ => self.counts.duplicated += 1,
        }
    }

    /// How far it got.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// The verdict when `acknowledged` records are there to be read.
    pub(super) fn counts(&self, acknowledged: u64) -> Counts {
        let missing: u64 = self.missing.iter().map(|(from, to)| to - from).sum();
        Counts {
            lost: missing + acknowledged.saturating_sub(self.next),
            ..self.counts
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(numbers: &[u64], acknowledged: u64, lost: u64, duplicated: u64, out_of_order: u64) {
        let mut sequence = Sequence::default();
        numbers.iter().for_each(|number| sequence.saw(*number));
        let expected = Counts {
            lost,
            duplicated,
            out_of_order,
        };
        assert_eq!(sequence.counts(acknowledged), expected, "{numbers:?}");
    }

    #[test]
    fn every_way_in_which_records_can_be_amiss_is_counted() {
        check(&[0, 1, 2, 3], 4, 0, 0, 0);
        check(&[], 3, 3, 0, 0);
        // The end is missing, the beginning, the middle.
        check(&[0, 1], 4, 2, 0, 0);
        check(&[2, 3], 4, 2, 0, 0);
        check(&[0, 3], 4, 2, 0, 0);
        // Twice, from the beginning again, and in another order.
        check(&[0, 1, 1, 2], 3, 0, 1, 0);
        check(&[0, 1, 0, 1, 2], 3, 0, 2, 0);
        check(&[0, 2, 1, 3], 4, 0, 0, 1);
        // Late, and then once more.
        check(&[0, 5, 2, 2, 4], 6, 2, 1, 2);
    }
}
