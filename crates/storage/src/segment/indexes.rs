//! The two indexes of a segment, kept in step.

use crate::formats::file_names::{self, OFFSET_INDEX, TIME_INDEX};
use crate::formats::offset_index::OffsetEntry;
use crate::formats::time_index::TimeEntry;
use crate::header::BatchHeader;
use crate::sparse_index::SparseIndex;
use fanlog_environment::{Disk, DiskFile};
use fanlog_model::{Offset, TimestampMs};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The largest timestamp of a segment and the last offset of the first batch that has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MaxTimestamp {
    pub(crate) timestamp: TimestampMs,
    pub(crate) offset: Offset,
}

/// The indexes of a segment and what an append must know to extend them.
#[derive(Clone, Debug)]
pub(crate) struct Indexes {
    base_offset: Offset,
    pub(crate) offsets: SparseIndex<OffsetEntry>,
    pub(crate) times: SparseIndex<TimeEntry>,
    pub(crate) max: Option<MaxTimestamp>,
    bytes_since_entry: u64,
}

impl Indexes {
    pub(crate) fn empty(dir: &Path, base_offset: Offset) -> Self {
        Self::with_paths(base_offset, |suffix| {
            dir.join(file_names::with_offset(base_offset, suffix))
        })
    }

    /// Indexes without entries, in files named as told.
    pub(crate) fn with_paths(base_offset: Offset, path: impl Fn(&str) -> PathBuf) -> Self {
        Self {
            base_offset,
            offsets: SparseIndex::empty(path(OFFSET_INDEX)),
            times: SparseIndex::empty(path(TIME_INDEX)),
            max: None,
            bytes_since_entry: 0,
        }
    }

    fn relative(&self, offset: Offset) -> u32 {
        u32::try_from(offset.get() - self.base_offset.get())
            .expect("a segment is rolled before its offsets exceed 31 bits")
    }

    pub(crate) fn absolute(&self, relative_offset: u32) -> Offset {
        self.base_offset.plus(relative_offset.into())
    }

    /// Notes a batch behind all others.
    pub(crate) fn note(&mut self, position: u64, header: &BatchHeader, interval: u32) {
        self.note_timestamp(header);
        if self.bytes_since_entry > u64::from(interval) {
            self.offsets.push(OffsetEntry {
                relative_offset: self.relative(header.last_offset),
                position: u32::try_from(position).expect("a segment is smaller than 2 GiB"),
            });
            self.push_max_timestamp();
            self.bytes_since_entry = 0;
        }
        self.bytes_since_entry += header.bytes;
    }

    /// Where compaction has left no record nothing has that time.
    fn note_timestamp(&mut self, header: &BatchHeader) {
        let is_later = self
            .max
            .is_none_or(|max| header.max_timestamp > max.timestamp);
        if is_later && header.max_timestamp.get() >= 0 && !header.is_empty {
            self.max = Some(MaxTimestamp {
                timestamp: header.max_timestamp,
                offset: header.last_offset,
            });
        }
    }

    /// Notes the batch that the last entry of the offset index is about, while walking what was written before.
    pub(crate) fn note_indexed(&mut self, header: &BatchHeader) {
        self.bytes_since_entry = header.bytes;
        self.note_timestamp(header);
    }

    /// Adds the largest timestamp so far to the time index, where it is not in it: due with each entry of the offset index and when
    /// the segment is sealed.
    pub(crate) fn push_max_timestamp(&mut self) {
        let Some(max) = self.max else { return };
        if self
            .times
            .last()
            .is_none_or(|last| last.timestamp < max.timestamp)
        {
            self.times.push(TimeEntry {
                timestamp: max.timestamp,
                relative_offset: self.relative(max.offset),
            });
        }
    }

    /// Writes both to their files.
    pub(crate) fn flush(&mut self, disk: &dyn Disk) -> io::Result<[Arc<dyn DiskFile>; 2]> {
        let times = self.times.flush(disk)?;
        let offsets = self.offsets.flush(disk)?;
        Ok([offsets, times])
    }
}
