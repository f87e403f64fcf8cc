//! Which leader epoch wrote from which offset on: the answer to a consumer that asks whether its log was truncated.
//!
//! Owns: the entries of `leader-epoch-checkpoint`.   Never: the file (the log writes it before anything relies on it).
//! Invariants: both numbers rise from entry to entry.

use crate::formats::leader_epoch_checkpoint::{self, EpochEntry};
use fanlog_model::{LeaderEpoch, Offset};

/// The epochs of one log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LeaderEpochs {
    entries: Vec<EpochEntry>,
    /// Counts changes, so that the log knows which state its file holds.
    version: u64,
}

impl LeaderEpochs {
    pub(crate) fn new(entries: Vec<EpochEntry>) -> Self {
        Self {
            entries,
            version: 0,
        }
    }

    pub(crate) fn version(&self) -> u64 {
        self.version
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        leader_epoch_checkpoint::encode(&self.entries)
    }

    pub(crate) fn latest(&self) -> Option<LeaderEpoch> {
        self.entries.last().map(|entry| entry.epoch)
    }

    /// Notes a batch of `epoch` at `start_offset`; only the first of an epoch counts. A lower epoch is left out: the epochs of a
    /// log rise, and an answer from a sparser list is still right.
    pub(crate) fn assign(&mut self, epoch: LeaderEpoch, start_offset: Offset) {
        if epoch.get() < 0 || self.latest().is_some_and(|latest| latest >= epoch) {
            return;
        }
        // An epoch that wrote nothing before this one took over at the same offset has no batch.
        while self
            .entries
            .last()
            .is_some_and(|last| last.start_offset >= start_offset)
        {
            self.entries.pop();
        }
        self.entries.push(EpochEntry {
            epoch,
            start_offset,
        });
        self.version += 1;
    }

    /// Forgets what began at `end` or later.
    pub(crate) fn truncate_from_end(&mut self, end: Offset) {
        let kept = self
            .entries
            .partition_point(|entry| entry.start_offset < end);
        if kept < self.entries.len() {
            self.entries.truncate(kept);
            self.version += 1;
        }
    }

    /// Forgets what ended at `start` or earlier; the epoch that covers `start` begins there from now on.
    pub(crate) fn truncate_from_start(&mut self, start: Offset) {
        let begun = self
            .entries
            .partition_point(|entry| entry.start_offset <= start);
        let Some(covering) = begun.checked_sub(1) else {
            return;
        };
        if covering > 0 || self.entries[0].start_offset < start {
            self.entries.drain(..covering);
            self.entries[0].start_offset = start;
            self.version += 1;
        }
    }

    /// The epoch that wrote the record at `offset`.
    pub(crate) fn epoch_at(&self, offset: Offset) -> Option<LeaderEpoch> {
        let begun = self
            .entries
            .partition_point(|entry| entry.start_offset <= offset);
        begun.checked_sub(1).map(|i| self.entries[i].epoch)
    }

    /// Where `wanted` ended, as Kafka answers OffsetForLeaderEpoch: the largest known epoch up to it, and the offset after its last
    /// record. `current` leads now and goes on to `log_end`, even if it has written nothing.
    pub(crate) fn end_offset_for(
        &self,
        wanted: LeaderEpoch,
        current: LeaderEpoch,
        log_end: Offset,
    ) -> Option<(LeaderEpoch, Offset)> {
        if wanted.get() < 0 || wanted > current {
            return None;
        }
        if wanted == current {
            return Some((current, log_end));
        }
        let above = self.entries.partition_point(|entry| entry.epoch <= wanted);
        let end = self
            .entries
            .get(above)
            .map_or(log_end, |entry| entry.start_offset);
        match above.checked_sub(1) {
            Some(i) => Some((self.entries[i].epoch, end)),
            None => Some((wanted, end)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn epochs(entries: &[(i32, i64)]) -> LeaderEpochs {
        let mut epochs = LeaderEpochs::default();
        for (epoch, start) in entries {
            epochs.assign(LeaderEpoch(*epoch), Offset(*start));
        }
        epochs
    }

    fn listed(epochs: &LeaderEpochs) -> Vec<(i32, i64)> {
        let pair = |e: &EpochEntry| (e.epoch.get(), e.start_offset.get());
        epochs.entries.iter().map(pair).collect()
    }

    #[test]
    fn only_the_first_batch_of_a_higher_epoch_counts() {
        let all = epochs(&[(1, 0), (1, 5), (3, 10), (2, 20), (-1, 30), (4, 10)]);
        assert_eq!(listed(&all), [(1, 0), (4, 10)], "epoch 3 wrote nothing");
    }

    #[test]
    fn the_end_of_an_epoch_is_where_the_next_begins() {
        let all = epochs(&[(2, 10), (5, 20)]);
        let check = |wanted, expected: Option<(i32, i64)>| {
            let found = all.end_offset_for(LeaderEpoch(wanted), LeaderEpoch(7), Offset(30));
            let expected = expected.map(|(e, o)| (LeaderEpoch(e), Offset(o)));
            assert_eq!(found, expected, "epoch {wanted}");
        };
        check(-1, None);
        check(1, Some((1, 10)));
        check(2, Some((2, 20)));
        check(4, Some((2, 20)));
        check(5, Some((5, 30)));
        check(6, Some((5, 30)));
        check(7, Some((7, 30)));
        check(8, None);
        let none = LeaderEpochs::default();
        let led = none.end_offset_for(LeaderEpoch(7), LeaderEpoch(7), Offset(0));
        assert_eq!(led, Some((LeaderEpoch(7), Offset(0))), "never -1 once led");
    }

    #[test]
    fn truncation_keeps_what_is_still_in_the_log() {
        let check = |from_end: bool, at, expected: &[(i32, i64)]| {
            let mut all = epochs(&[(1, 0), (2, 10), (5, 20)]);
            if from_end {
                all.truncate_from_end(Offset(at));
            } else {
                all.truncate_from_start(Offset(at));
            }
            assert_eq!(listed(&all), expected, "at {at}");
        };
        check(true, 10, &[(1, 0)]);
        check(true, 11, &[(1, 0), (2, 10)]);
        check(true, 0, &[]);
        check(false, 0, &[(1, 0), (2, 10), (5, 20)]);
        check(false, 5, &[(1, 5), (2, 10), (5, 20)]);
        check(false, 20, &[(5, 20)]);
        check(false, 25, &[(5, 25)]);
        assert_eq!(
            epochs(&[(1, 0), (5, 20)]).epoch_at(Offset(19)),
            Some(LeaderEpoch(1))
        );
    }
}
