//! One segment: a file of batches that ends where the next begins, and its two indexes.
//!
//! Why it exists: a log that is one file can neither be trimmed nor searched.
//! Owns: `<base offset>.log`, `.index`, `.timeindex`.   Never: which offsets are visible, when to roll.
//! In -> out: an offset or a time -> where in the file its batch begins.
//! Invariants: an index only says where a walk may begin. What it says is checked against the batch found there, and an index that
//! does not agree is built anew: a damaged index costs time and never an answer.   Read next: `search.rs`.

mod checked_ranges;
mod indexes;
mod open;
mod recent_batches;
mod search;
mod transactions;

pub(crate) use checked_ranges::CheckedRanges;
pub(crate) use indexes::{IndexFiles, Indexes, MaxTimestamp};
pub(crate) use recent_batches::{RecentBatches, Run};

use crate::config::Layout;
use crate::formats::file_names::{self, LOG};
use crate::header::{BatchHeader, Step};
use fanlog_environment::{Disk, DiskFile, KeptFile, OpenMode};
use fanlog_model::{Offset, TimestampMs};
use parking_lot::Mutex;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use thiserror::Error;

/// Why a segment does not give what it should.
#[derive(Debug, Error)]
pub(crate) enum SegmentError {
    /// The disk refused.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// No batch is where one must be.
    #[error("{} is corrupt at byte {position}: {reason}", path.display())]
    Broken {
        path: PathBuf,
        position: u64,
        reason: &'static str,
    },
}

/// A batch in a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Located {
    pub(crate) position: u64,
    pub(crate) header: BatchHeader,
}

/// One segment.
#[derive(Debug)]
pub(crate) struct Segment {
    pub(crate) base_offset: Offset,
    dir: Arc<Path>,
    /// Where its batches end.
    pub(crate) size: u64,
    /// When it was created, as far as this process knows.
    pub(crate) created: TimestampMs,
    /// The largest timestamp of the first batch: what rolling by time counts from.
    first_timestamp: Option<TimestampMs>,
    log: Arc<KeptFile>,
    /// Shared with the snapshots of a sealed segment, so that what they open serves the next.
    indexes: Arc<Mutex<Option<Indexes>>>,
    /// Which of its bytes need not be checked before they are sent.
    checked: Arc<CheckedRanges>,
    /// Whether a batch was appended since it was opened.
    is_written: bool,
    /// Where the batches lie that were appended last.
    recent: RecentBatches,
    /// Its files may go, or grow, at any moment: nothing is written to them.
    is_snapshot: bool,
    layout: Layout,
}

impl Segment {
    /// A new segment without batches. Its name is not durable yet.
    pub(crate) fn create(
        disk: &dyn Disk,
        dir: &Arc<Path>,
        base_offset: Offset,
        now: TimestampMs,
        layout: Layout,
    ) -> io::Result<Self> {
        let path = dir.join(file_names::with_offset(base_offset, LOG));
        let file = disk.open(&path, OpenMode::CreateOrOpen)?;
        // A file of this name can only be left from a roll that failed half-way, before anything was written to it.
        if !file.is_empty()? {
            let reason = format!("{} has bytes already", path.display());
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, reason));
        }
        file.read_no_further();
        let segment = Self::existing(dir, base_offset, 0, now, layout);
        segment.log.put(disk, file);
        *segment.indexes.lock() = Some(Indexes::empty(dir, base_offset));
        Ok(segment)
    }

    /// A segment on disk; its indexes are opened when needed.
    pub(crate) fn existing(
        dir: &Arc<Path>,
        base_offset: Offset,
        size: u64,
        now: TimestampMs,
        layout: Layout,
    ) -> Self {
        Self {
            base_offset,
            dir: dir.clone(),
            size,
            created: now,
            first_timestamp: None,
            log: Arc::default(),
            indexes: Arc::default(),
            checked: Arc::default(),
            is_written: false,
            recent: RecentBatches::new(base_offset),
            is_snapshot: false,
            layout,
        }
    }

    /// The segment as it is now, to be searched without the log's lock. `is_sealed` says that it does not change any more.
    pub(crate) fn snapshot(&self, is_sealed: bool) -> Self {
        let indexes = match is_sealed {
            true => self.indexes.clone(),
            false => Arc::new(Mutex::new(self.indexes.lock().clone())),
        };
        Self {
            base_offset: self.base_offset,
            dir: self.dir.clone(),
            size: self.size,
            created: self.created,
            first_timestamp: self.first_timestamp,
            log: self.log.clone(),
            indexes,
            checked: self.checked.clone(),
            is_written: self.is_written,
            recent: RecentBatches::new(self.base_offset),
            is_snapshot: true,
            layout: self.layout,
        }
    }

    pub(crate) fn set_layout(&mut self, layout: Layout) {
        self.layout = layout;
    }

    /// Whether its batches follow each other without holes, as compaction leaves them.
    pub(crate) fn is_dense(&self) -> bool {
        self.layout.is_dense
    }

    pub(crate) fn log_path(&self) -> PathBuf {
        self.path(LOG)
    }

    pub(crate) fn path(&self, suffix: &str) -> PathBuf {
        self.dir
            .join(file_names::with_offset(self.base_offset, suffix))
    }

    /// The file of batches, opened where it is not.
    pub(crate) fn log_file(&self, disk: &dyn Disk) -> io::Result<Arc<dyn DiskFile>> {
        let open = || {
            let file = disk.open(&self.log_path(), OpenMode::ReadWrite)?;
            file.read_no_further();
            Ok(file)
        };
        self.log.get(disk, open)
    }

    /// The place of the open file of batches.
    pub(crate) fn kept_log(&self) -> Arc<KeptFile> {
        self.log.clone()
    }

    /// The file of batches, about to be written: it stays open until it is synced.
    pub(crate) fn log_file_to_write(&self, disk: &dyn Disk) -> io::Result<Arc<dyn DiskFile>> {
        // Before it is opened: whoever looks for a file to close meanwhile must not take this one.
        self.log.pin();
        self.log_file(disk)
    }

    /// Everything in the file is synced.
    pub(crate) fn note_synced(&self) {
        self.log.unpin();
    }

    #[cfg(test)]
    pub(crate) fn has_open_file(&self) -> bool {
        self.log.is_open()
    }

    /// Lets go of the open file.
    pub(crate) fn close_file(&self) {
        self.log.close();
    }

    /// Notes a batch that was written at the segment's end.
    pub(crate) fn note(&mut self, disk: &dyn Disk, header: &BatchHeader) {
        let interval = self.layout.index_interval_bytes;
        let position = self.size;
        let mut indexes = self.indexes.lock();
        let indexes = indexes
            .as_mut()
            .expect("the active segment's indexes are in memory");
        indexes.note(position, header, interval);
        if indexes.offsets.is_flush_due() {
            // What a full disk does not take now stays in memory and is tried again.
            let _ = indexes.flush(disk);
        }
        if self.size == 0 {
            self.first_timestamp = Some(header.max_timestamp);
        }
        self.size += header.bytes;
        if !self.is_written {
            self.is_written = true;
            // What is appended is checked before.
            self.checked.add(position, u64::MAX);
        }
        let run = (position, self.size);
        self.recent
            .note(header.base_offset, header.next_offset(), run);
    }

    /// The batches from `from` on, where they were appended lately: see [`RecentBatches::find`].
    pub(crate) fn find_recent(&self, from: Offset, bytes_max: u64, below: Offset) -> Option<Run> {
        self.recent.find(from, bytes_max, below)
    }

    /// Which of its bytes need not be checked before they are sent.
    pub(crate) fn checked_ranges(&self) -> &Arc<CheckedRanges> {
        &self.checked
    }

    /// Notes a batch that was found where `size` counts it already.
    pub(crate) fn note_found(&mut self, position: u64, header: &BatchHeader) {
        let interval = self.layout.index_interval_bytes;
        let mut indexes = self.indexes.lock();
        let indexes = indexes
            .as_mut()
            .expect("the active segment's indexes are in memory");
        let last = indexes.offsets.last();
        if last.is_some_and(|entry| u64::from(entry.position) == position) {
            indexes.note_indexed(header);
        } else {
            indexes.note(position, header, interval);
        }
        if position == 0 {
            self.first_timestamp = Some(header.max_timestamp);
        }
    }

    /// The largest timestamp of the first batch.
    pub(crate) fn first_timestamp(
        &mut self,
        disk: &dyn Disk,
    ) -> Result<Option<TimestampMs>, SegmentError> {
        if self.first_timestamp.is_none() {
            self.first_timestamp = self.read_first_timestamp(disk)?;
        }
        Ok(self.first_timestamp)
    }

    /// As [`Segment::first_timestamp`], which is looked up in the file each time.
    pub(crate) fn read_first_timestamp(
        &self,
        disk: &dyn Disk,
    ) -> Result<Option<TimestampMs>, SegmentError> {
        if self.size == 0 {
            return Ok(None);
        }
        let file = self.log_file(disk)?;
        let mut walk = self.walk(&*file, 0);
        match self.checked(walk.step()?)? {
            Step::Batch { header, .. } => Ok(Some(header.max_timestamp)),
            _ => Ok(None),
        }
    }

    /// How many entries its indexes hold: offset, time.
    pub(crate) fn index_entries(&mut self) -> (usize, usize) {
        match &*self.indexes.lock() {
            Some(indexes) => (indexes.offsets.len(), indexes.times.len()),
            None => (0, 0),
        }
    }
}
