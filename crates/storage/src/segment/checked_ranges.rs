//! Which bytes of a segment this process has written, or read and found whole.
//!
//! Why it exists: bytes that go from the file to a socket are not looked at on the way. What came from the disk is checked
//! once before; what was appended since the start was checked then.
//! Never: whether the disk still has them. A consumer checks what it gets as well.

use parking_lot::Mutex;

/// How many ranges are remembered; of more, the smallest is forgotten and checked again when it is read.
const RANGES_MAX: usize = 32;

/// Ranges of bytes, in order, that neither overlap nor touch.
#[derive(Debug, Default)]
pub(crate) struct CheckedRanges(Mutex<Vec<(u64, u64)>>);

impl CheckedRanges {
    /// Whether all of `start..end` was checked.
    pub(crate) fn contain(&self, start: u64, end: u64) -> bool {
        let ranges = self.0.lock();
        ranges.iter().any(|(from, to)| *from <= start && end <= *to)
    }

    /// Notes that `start..end` was checked.
    pub(crate) fn add(&self, start: u64, end: u64) {
        let mut ranges = self.0.lock();
        let (mut start, mut end) = (start, end);
        ranges.retain(|(from, to)| {
            let is_apart = *to < start || end < *from;
            if !is_apart {
                start = start.min(*from);
                end = end.max(*to);
            }
            is_apart
        });
        let place = ranges.partition_point(|(from, _)| *from < start);
        ranges.insert(place, (start, end));
        if ranges.len() > RANGES_MAX
            && let Some(smallest) = (0..ranges.len()).min_by_key(|i| ranges[*i].1 - ranges[*i].0)
        {
            ranges.remove(smallest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(added: &[(u64, u64)], expected: &[(u64, u64)]) {
        let ranges = CheckedRanges::default();
        for (start, end) in added {
            ranges.add(*start, *end);
        }
        assert_eq!(*ranges.0.lock(), expected, "{added:?}");
    }

    #[test]
    fn ranges_that_overlap_or_touch_become_one() {
        check(&[(0, 10), (10, 20)], &[(0, 20)]);
        check(&[(20, 30), (0, 10)], &[(0, 10), (20, 30)]);
        check(&[(20, 30), (0, 10), (5, 25)], &[(0, 30)]);
        check(&[(0, 30), (5, 25)], &[(0, 30)]);
        check(&[(0, 5), (10, 15), (20, 25), (12, 40)], &[(0, 5), (10, 40)]);
    }

    #[test]
    fn a_range_is_contained_only_as_a_whole() {
        let ranges = CheckedRanges::default();
        ranges.add(100, u64::MAX);
        ranges.add(0, 10);
        assert!(ranges.contain(0, 10) && ranges.contain(3, 4) && ranges.contain(100, 1 << 40));
        assert!(!ranges.contain(0, 11) && !ranges.contain(5, 105) && !ranges.contain(99, 101));
    }

    #[test]
    fn no_more_are_kept_than_the_limit_and_the_large_ones_stay() {
        let ranges = CheckedRanges::default();
        ranges.add(1 << 30, u64::MAX);
        ranges.add(0, 1000);
        for n in 0..100 {
            ranges.add(10_000 + n * 10, 10_000 + n * 10 + 1);
        }
        assert_eq!(ranges.0.lock().len(), RANGES_MAX);
        assert!(ranges.contain(0, 1000) && ranges.contain(1 << 30, 1 << 31));
    }
}
