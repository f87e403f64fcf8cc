//! The aborted transactions of a segment: those whose markers lie in it.

use super::{Segment, SegmentError};
use crate::formats::file_names::TRANSACTION_INDEX;
use crate::formats::transaction_index::AbortedTransaction;
use crate::sparse_index::SparseIndex;
use fanlog_environment::Disk;
use fanlog_model::Offset;
use std::io;

impl Segment {
    /// What the file says; no entry where there is none. Unlike the other indexes it is not built anew where it is damaged: the batches
    /// of the segment do not say where a transaction began.
    pub(super) fn open_aborted(
        &self,
        disk: &dyn Disk,
    ) -> Result<SparseIndex<AbortedTransaction>, SegmentError> {
        let path = self.path(TRANSACTION_INDEX);
        match SparseIndex::open(disk, path.clone()) {
            Ok(index) => Ok(index),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(SparseIndex::empty(path)),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => Err(SegmentError::Broken {
                path,
                position: 0,
                reason: "its last entry is no aborted transaction",
            }),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether the file is as a log that was closed in order leaves it.
    pub(crate) fn check_aborted(&self, disk: &dyn Disk) -> Result<(), SegmentError> {
        self.open_aborted(disk).map(|_| ())
    }

    /// As far as the markers lie below `end`.
    pub(super) fn aborted_below(
        &self,
        disk: &dyn Disk,
        end: Offset,
    ) -> Result<SparseIndex<AbortedTransaction>, SegmentError> {
        let path = self.path(TRANSACTION_INDEX);
        // What a crash left behind `end` may be anything, of any length.
        if end <= self.base_offset {
            return Ok(SparseIndex::to_write_anew(disk, path)?);
        }
        let mut index: SparseIndex<AbortedTransaction> =
            SparseIndex::open_torn(disk, path.clone())?;
        index.truncate(disk, |entry: &AbortedTransaction| {
            entry.last_offset < end && entry.last_offset.get() > 0
        })?;
        Ok(index)
    }

    /// Notes a transaction that a marker at the segment's end has aborted.
    pub(crate) fn note_aborted(&self, entry: AbortedTransaction) {
        let mut indexes = self.indexes.lock();
        let indexes = indexes
            .as_mut()
            .expect("the active segment's indexes are in memory");
        indexes.aborted.push(entry);
    }

    /// Calls `each` with the aborted transactions whose markers lie at `from` or behind, until it has enough; whether it had. Nothing where
    /// a file would have to be read for that.
    pub(crate) fn scan_aborted_in_memory(
        &self,
        disk: &dyn Disk,
        from: Offset,
        each: impl FnMut(&AbortedTransaction) -> bool,
    ) -> Option<bool> {
        let indexes = self.indexes.lock();
        let aborted = &indexes.as_ref()?.aborted;
        let is_before = |entry: &AbortedTransaction| entry.last_offset < from;
        let is_in_memory = aborted.is_scan_in_memory(is_before);
        is_in_memory
            .then(|| aborted.scan(disk, is_before, each).ok())
            .flatten()
    }

    /// As [`Segment::scan_aborted_in_memory`], from the file too.
    pub(crate) fn scan_aborted(
        &self,
        disk: &dyn Disk,
        from: Offset,
        each: impl FnMut(&AbortedTransaction) -> bool,
    ) -> Result<bool, SegmentError> {
        let is_before = |entry: &AbortedTransaction| entry.last_offset < from;
        let in_memory = self.indexes.lock().as_ref().map(|i| i.aborted.clone());
        let aborted = match in_memory {
            Some(aborted) => aborted,
            None => self.open_aborted(disk)?,
        };
        Ok(aborted.scan(disk, is_before, each)?)
    }
}
