//! Where the batches lie that were appended last.
//!
//! Why it exists: most consumers read at the end of a log, over and over. Where those batches begin is known from the append, and
//! finding it out anew would cost several reads of the file for every look.
//! Owns: the last few positions of the active segment.   Never: what was appended before the log was opened.

use fanlog_model::Offset;
use std::collections::VecDeque;

/// How many batches are remembered: 8 KiB a log at most, and nothing for a log that nobody appends to.
const BATCHES_MAX: usize = 1024;

/// The last batches, one behind the other without holes.
#[derive(Debug)]
pub(crate) struct RecentBatches {
    base_offset: Offset,
    /// Offset, as a distance from the segment's, and position of each batch.
    begins: VecDeque<(u32, u32)>,
    /// Where the last one ends.
    end: (u32, u32),
}

/// A run of whole batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) first_offset: Offset,
    pub(crate) next_offset: Offset,
    pub(crate) position: u64,
    pub(crate) end: u64,
}

impl RecentBatches {
    pub(crate) fn new(base_offset: Offset) -> Self {
        Self {
            base_offset,
            begins: VecDeque::new(),
            end: (0, 0),
        }
    }

    /// Notes a batch that was appended: it begins where the one before ends.
    pub(crate) fn note(&mut self, first_offset: Offset, next_offset: Offset, run: (u64, u64)) {
        let relative = |offset: Offset| u32::try_from(offset.get() - self.base_offset.get());
        let place =
            |offset, position: u64| Some((relative(offset).ok()?, u32::try_from(position).ok()?));
        let (Some(begin), Some(end)) = (place(first_offset, run.0), place(next_offset, run.1))
        else {
            self.begins.clear();
            return;
        };
        if begin != self.end {
            self.begins.clear();
        }
        if self.begins.len() == BATCHES_MAX {
            self.begins.pop_front();
        }
        self.begins.push_back(begin);
        self.end = end;
    }

    /// The batches from the one that holds `from` on, of `bytes_max` bytes at most but at least one batch, that end at or below
    /// `below`. Nothing where `from` is not among the batches remembered; an empty run where the first batch does not end below.
    pub(crate) fn find(&self, from: Offset, bytes_max: u64, below: Offset) -> Option<Run> {
        let wanted = from.get() - self.base_offset.get();
        let first = self
            .begins
            .partition_point(|(offset, _)| i64::from(*offset) <= wanted)
            .checked_sub(1)?;
        if wanted >= i64::from(self.end.0) {
            return None;
        }
        let (first_offset, position) = self.begins[first];
        let end_max = u64::from(position).saturating_add(bytes_max);
        let below = below.get() - self.base_offset.get();
        let may_end =
            |(offset, at): (u32, u32)| i64::from(offset) <= below && u64::from(at) <= end_max;
        // The ends of the batches: where the next begins.
        let (mut last, mut too_far) = (first, self.begins.len());
        while too_far - last > 1 {
            let middle = last + (too_far - last) / 2;
            if may_end(self.begins[middle]) {
                last = middle;
            } else {
                too_far = middle;
            }
        }
        let end_of_last = if may_end(self.end) {
            self.end
        } else {
            self.begins[last]
        };
        let end = match end_of_last {
            // One batch, whatever its size.
            end if end.1 == position => self.begins.get(first + 1).copied().unwrap_or(self.end),
            end => end,
        };
        let is_below = i64::from(end.0) <= below;
        let absolute = |relative: u32| self.base_offset.plus(relative.into());
        Some(Run {
            first_offset: absolute(first_offset),
            next_offset: if is_below { absolute(end.0) } else { from },
            position: position.into(),
            end: if is_below {
                end.1.into()
            } else {
                position.into()
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Batches of two records and 100 bytes each, the first at offset 1000 and byte 500.
    fn batches(count: u64) -> RecentBatches {
        let mut recent = RecentBatches::new(Offset(900));
        for n in 0..count {
            let first = Offset(1000 + 2 * n as i64);
            recent.note(first, first.plus(2), (500 + 100 * n, 600 + 100 * n));
        }
        recent
    }

    fn check(from: i64, bytes_max: u64, below: i64, expected: Option<(i64, i64, u64, u64)>) {
        let found = batches(10).find(Offset(from), bytes_max, Offset(below));
        let found = found.map(|r| (r.first_offset.get(), r.next_offset.get(), r.position, r.end));
        assert_eq!(found, expected, "{from} {bytes_max} {below}");
    }

    #[test]
    fn whole_batches_are_found_within_the_limits() {
        check(1000, 10_000, 5000, Some((1000, 1020, 500, 1500)));
        check(1001, 10_000, 1020, Some((1000, 1020, 500, 1500)));
        check(1004, 299, 1020, Some((1004, 1008, 700, 900)));
        check(1004, 300, 1020, Some((1004, 1010, 700, 1000)));
        check(1004, 10_000, 1009, Some((1004, 1008, 700, 900)));
        check(1018, 10_000, 1020, Some((1018, 1020, 1400, 1500)));
    }

    #[test]
    fn the_first_batch_comes_at_any_size_but_not_above_the_watermark() {
        check(1004, 1, 1020, Some((1004, 1006, 700, 800)));
        check(1018, 0, 1020, Some((1018, 1020, 1400, 1500)));
        check(1004, 1000, 1005, Some((1004, 1004, 700, 700)));
    }

    #[test]
    fn what_is_not_remembered_is_not_found() {
        check(999, 1000, 1020, None);
        check(1020, 1000, 1020, None);
        let long = batches(5000);
        assert_eq!(long.begins.len(), BATCHES_MAX);
        assert_eq!(long.find(Offset(1000), 1, Offset(1 << 20)), None);
        assert!(long.find(Offset(10_990), 1, Offset(1 << 20)).is_some());
    }

    #[test]
    fn a_batch_that_does_not_follow_begins_anew() {
        let mut recent = batches(3);
        recent.note(Offset(1010), Offset(1011), (1000, 1100));
        assert_eq!(recent.find(Offset(1004), 1, Offset(2000)), None);
        assert!(recent.find(Offset(1010), 1, Offset(2000)).is_some());
    }
}
