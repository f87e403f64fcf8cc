//! Transactions as a log sees them: which of its batches are undecided, and which were aborted.
//!
//! Why it exists: a reader of committed records must see no record of an open transaction (TXN-1), and is told of those that were aborted.
//! In -> out: a marker -> an entry of the segment's transaction index; a range of offsets -> the aborted transactions in it.
//! Invariants: TXN-1. A transaction counts as undecided until its marker is durable.

use super::Log;
use super::read::read_error;
use crate::error::{AppendError, ReadError};
use crate::formats::transaction_index::AbortedTransaction;
use crate::producer_state::{CoordinatorsBatch, EndedTransaction};
use crate::segment::Segment;
use fanlog_environment::Disk;
use fanlog_model::invariants::TXN_1;
use fanlog_model::{Offset, ProducerEpoch, ProducerId};
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl Log {
    pub(super) fn note_ended(&mut self, ended: &EndedTransaction) {
        assert!(
            ended.first_offset < ended.marker,
            "{TXN_1}: {} has a marker at {} of what began at {}",
            self.name,
            ended.marker,
            ended.first_offset
        );
        if !ended.is_aborted {
            return;
        }
        self.has_aborted = true;
        self.active().note_aborted(AbortedTransaction {
            producer_id: ended.producer_id,
            first_offset: ended.first_offset,
            last_offset: ended.marker,
            last_stable_offset: ended.last_stable_offset,
        });
    }

    /// Whether a producer has a transaction open under this epoch: what it appends goes on with it.
    pub fn is_in_transaction(&self, id: ProducerId, epoch: ProducerEpoch) -> bool {
        self.producers.is_in_transaction(id, epoch)
    }

    /// Whether a coordinator's batch in a producer's name would be taken now: a marker of a coordinator's epoch (`is_later`: of the second
    /// generation), or records that were allowed when the log ended at `allowed_at`.
    ///
    /// # Errors
    /// Why not.
    pub fn check_coordinators_batch(
        &self,
        producer_id: ProducerId,
        producer_epoch: ProducerEpoch,
        coordinator_epoch: Option<i32>,
        is_later: bool,
        allowed_at: Option<Offset>,
    ) -> Result<(), AppendError> {
        let batch = CoordinatorsBatch {
            producer_id,
            producer_epoch,
            is_control: coordinator_epoch.is_some(),
            coordinator_epoch,
            is_later,
        };
        self.producers.check_coordinators(batch, allowed_at)
    }

    /// The aborted transactions that have records in `from..below`, by where they began, if no file has to be read for that.
    pub fn aborted_recent(&self, from: Offset, below: Offset) -> Option<Vec<AbortedTransaction>> {
        if !self.has_aborted || from >= below {
            return Some(Vec::new());
        }
        let active = self.active();
        if from < active.base_offset {
            return None;
        }
        let mut found = Found::new(from, below);
        active.scan_aborted_in_memory(self.disk(), from, |entry| found.take(entry))?;
        Some(found.sorted())
    }

    /// A search for the same, of which one segment after the other is asked for without the log's lock. Nothing where no transaction was
    /// ever aborted.
    pub fn aborted_search(&self, from: Offset, below: Offset) -> Option<AbortedSearch> {
        (self.has_aborted && from < below).then(|| AbortedSearch {
            disk: self.environment.disk.clone(),
            name: self.name.clone(),
            swaps_before: self.compaction.swaps.load(Ordering::Acquire),
            next: self.segments[self.segment_index(from)].base_offset,
            found: Found::new(from, below),
        })
    }

    /// The next segment that a search has to look into; nothing at the log's end.
    pub fn next_of_search(&self, search: &AbortedSearch) -> Option<SearchedSegment> {
        let begins_at_or_behind = |s: &Segment| s.base_offset < search.next;
        let number = self.segments.partition_point(begins_at_or_behind);
        let segment = self.segments.get(number)?;
        let is_sealed = number + 1 < self.segments.len();
        Some(SearchedSegment(segment.snapshot(is_sealed)))
    }

    /// All segments, as they are now.
    pub(super) fn searched_segments(&self) -> Vec<SearchedSegment> {
        let active = self.segments.len() - 1;
        let segments = self.segments.iter().enumerate();
        let snapshot = |(i, s): (usize, &Segment)| SearchedSegment(s.snapshot(i < active));
        segments.map(snapshot).collect()
    }

    /// How often compaction has put other segments in the place of some. What was planned before says nothing of what is found after.
    pub fn swap_count(&self) -> u64 {
        self.compaction.swaps.load(Ordering::Acquire)
    }
}

/// One segment of a search, as it was when it was asked for.
#[derive(Debug)]
pub struct SearchedSegment(Segment);

/// A search for aborted transactions.
#[derive(Debug)]
pub struct AbortedSearch {
    disk: Arc<dyn Disk>,
    name: Arc<str>,
    swaps_before: u64,
    next: Offset,
    found: Found,
}

impl AbortedSearch {
    /// Looks into a segment; whether nothing further on can be of interest. Blocks.
    ///
    /// # Errors
    /// The disk refuses, or the index there is damaged.
    pub fn look_into(&mut self, segment: &SearchedSegment) -> Result<bool, ReadError> {
        let segment = &segment.0;
        self.next = segment.base_offset.plus(1);
        let (from, found) = (self.found.from, &mut self.found);
        segment
            .scan_aborted(&*self.disk, from, |entry| found.take(entry))
            .map_err(|error| read_error(&self.name, error))
    }

    /// How many swaps there were when it began.
    pub fn swaps_before(&self) -> u64 {
        self.swaps_before
    }

    /// What was found, by where it began.
    pub fn finish(self) -> Vec<AbortedTransaction> {
        self.found.sorted()
    }
}

#[derive(Debug)]
struct Found {
    from: Offset,
    below: Offset,
    transactions: Vec<AbortedTransaction>,
}

impl Found {
    fn new(from: Offset, below: Offset) -> Self {
        Self {
            from,
            below,
            transactions: Vec::new(),
        }
    }

    /// Takes an entry where it is of interest; whether none behind it can be: all that was open when it ended began further on.
    fn take(&mut self, entry: &AbortedTransaction) -> bool {
        if entry.last_offset >= self.from && entry.first_offset < self.below {
            self.transactions.push(*entry);
        }
        entry.last_stable_offset >= self.below
    }

    /// As consumers rely on.
    fn sorted(mut self) -> Vec<AbortedTransaction> {
        self.transactions
            .sort_by_key(|t| (t.first_offset, t.producer_id));
        self.transactions
    }
}
