//! The indexes of a segment, kept in step. The one of aborted transactions has a file only where there are any, and is the one that
//! the segment's batches alone cannot give: where a transaction began, an earlier segment may say.

use crate::formats::file_names::{self, OFFSET_INDEX, TIME_INDEX, TRANSACTION_INDEX};
use crate::formats::offset_index::OffsetEntry;
use crate::formats::time_index::TimeEntry;
use crate::formats::transaction_index::AbortedTransaction;
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

/// The files of a segment's indexes, written and not synced.
#[derive(Clone, Debug)]
pub(crate) struct IndexFiles {
    offsets: Arc<dyn DiskFile>,
    times: Arc<dyn DiskFile>,
    /// Of the aborted transactions, where there are any.
    pub(crate) aborted: Option<Arc<dyn DiskFile>>,
    /// Whether that file is new: its name is not durable.
    pub(crate) is_named_anew: bool,
}

impl IndexFiles {
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.offsets.sync_data()?;
        self.times.sync_data()?;
        self.aborted
            .as_ref()
            .map_or(Ok(()), |file| file.sync_data())
    }
}

/// The indexes of a segment and what an append must know to extend them.
#[derive(Clone, Debug)]
pub(crate) struct Indexes {
    base_offset: Offset,
    pub(crate) offsets: SparseIndex<OffsetEntry>,
    pub(crate) times: SparseIndex<TimeEntry>,
    /// The aborted transactions whose markers lie in the segment.
    pub(crate) aborted: SparseIndex<AbortedTransaction>,
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
            aborted: SparseIndex::empty(path(TRANSACTION_INDEX)),
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

    /// Writes all to their files.
    pub(crate) fn flush(&mut self, disk: &dyn Disk) -> io::Result<IndexFiles> {
        let times = self.times.flush(disk)?;
        let offsets = self.offsets.flush(disk)?;
        let had_file = self.aborted.has_file();
        let aborted = match self.aborted.is_nothing() {
            true => None,
            false => Some(self.aborted.flush(disk)?),
        };
        Ok(IndexFiles {
            offsets,
            times,
            is_named_anew: aborted.is_some() && !had_file,
            aborted,
        })
    }
}
