//! One segment: a file of batches that ends where the next begins, and its two indexes.
//!
//! Why it exists: a log that is one file can neither be trimmed nor searched.
//! Owns: `<base offset>.log`, `.index`, `.timeindex`.   Never: which offsets are visible, when to roll.
//! In -> out: an offset or a time -> where in the file its batch begins.
//! Invariants: an index only says where a walk may begin. What it says is checked against the batch found there, and an index that
//! does not agree is built anew: a damaged index costs time and never an answer.   Read next: `sparse_index.rs`.

use crate::config::Layout;
use crate::formats::file_names::{self, LOG, OFFSET_INDEX, TIME_INDEX};
use crate::formats::offset_index::OffsetEntry;
use crate::formats::time_index::TimeEntry;
use crate::header::{BatchHeader, HeaderWalk, Step};
use crate::sparse_index::SparseIndex;
use fanlog_environment::{Disk, DiskFile, OpenMode};
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

/// The largest timestamp of a segment and the last offset of the first batch that has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MaxTimestamp {
    pub(crate) timestamp: TimestampMs,
    pub(crate) offset: Offset,
}

/// A batch in a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Located {
    pub(crate) position: u64,
    pub(crate) header: BatchHeader,
}

/// The indexes of a segment and what an append must know to extend them.
#[derive(Debug)]
pub(crate) struct Indexes {
    base_offset: Offset,
    pub(crate) offsets: SparseIndex<OffsetEntry>,
    pub(crate) times: SparseIndex<TimeEntry>,
    pub(crate) max: Option<MaxTimestamp>,
    bytes_since_entry: u64,
}

impl Indexes {
    pub(crate) fn empty(dir: &Path, base_offset: Offset) -> Self {
        let path = |suffix| dir.join(file_names::with_offset(base_offset, suffix));
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
        if self
            .max
            .is_none_or(|max| header.max_timestamp > max.timestamp)
            && header.max_timestamp.get() >= 0
        {
            self.max = Some(MaxTimestamp {
                timestamp: header.max_timestamp,
                offset: header.last_offset,
            });
        }
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

    /// Notes the batch that the last entry of the offset index is about, while walking what was written before.
    fn note_indexed(&mut self, header: &BatchHeader) {
        self.bytes_since_entry = header.bytes;
        if self
            .max
            .is_none_or(|max| header.max_timestamp > max.timestamp)
            && header.max_timestamp.get() >= 0
        {
            self.max = Some(MaxTimestamp {
                timestamp: header.max_timestamp,
                offset: header.last_offset,
            });
        }
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
    log: Mutex<Option<Arc<dyn DiskFile>>>,
    indexes: Mutex<Option<Indexes>>,
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
        let segment = Self::existing(dir, base_offset, 0, now, layout);
        *segment.log.lock() = Some(file);
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
            log: Mutex::new(None),
            indexes: Mutex::new(None),
            layout,
        }
    }

    pub(crate) fn set_layout(&mut self, layout: Layout) {
        self.layout = layout;
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
        let mut log = self.log.lock();
        if let Some(file) = &*log {
            return Ok(file.clone());
        }
        let file = disk.open(&self.log_path(), OpenMode::ReadWrite)?;
        *log = Some(file.clone());
        Ok(file)
    }

    /// Lets go of the open file.
    pub(crate) fn close_file(&self) {
        *self.log.lock() = None;
    }

    /// Notes a batch that was written at the segment's end.
    pub(crate) fn note(&mut self, disk: &dyn Disk, header: &BatchHeader) {
        let interval = self.layout.index_interval_bytes;
        let position = self.size;
        let indexes = self.indexes.get_mut();
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
    }

    /// Notes a batch that was found where `size` counts it already.
    pub(crate) fn note_found(&mut self, position: u64, header: &BatchHeader) {
        let interval = self.layout.index_interval_bytes;
        let indexes = self.indexes.get_mut();
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

    /// Takes over the entries below `end` of indexes whose files may be damaged behind it, and answers where a walk to the segment's
    /// end may begin. Without usable entries the walk begins at 0, with empty indexes.
    pub(crate) fn resume_indexes(
        &mut self,
        disk: &dyn Disk,
        end: Offset,
    ) -> Result<u64, SegmentError> {
        match self.entries_below(disk, end) {
            Ok(indexes) => {
                let last = indexes.offsets.last();
                let start = last.map_or(0, |entry| u64::from(entry.position));
                let is_usable = start > 0 && self.agree(disk, &indexes)?;
                if is_usable {
                    self.set_indexes(indexes);
                    return Ok(start);
                }
            }
            Err(error) if is_index_unusable(&error) => {}
            Err(error) => return Err(error.into()),
        }
        self.reset_indexes();
        Ok(0)
    }

    fn entries_below(&self, disk: &dyn Disk, end: Offset) -> io::Result<Indexes> {
        let mut indexes = Indexes::empty(&self.dir, self.base_offset);
        let base_offset = self.base_offset;
        let is_below = |relative: u32| base_offset.plus(relative.into()) < end;
        indexes.offsets = SparseIndex::open_checked(disk, indexes.offsets.path().to_owned())?;
        indexes
            .offsets
            .truncate(disk, |e| is_below(e.relative_offset))?;
        indexes.times = SparseIndex::open_checked(disk, indexes.times.path().to_owned())?;
        indexes
            .times
            .truncate(disk, |e| is_below(e.relative_offset))?;
        indexes.max = indexes.times.last().map(|last| MaxTimestamp {
            timestamp: last.timestamp,
            offset: indexes.absolute(last.relative_offset),
        });
        Ok(indexes)
    }

    /// Whether the last entries of both indexes say what the batches say.
    fn agree(&self, disk: &dyn Disk, indexes: &Indexes) -> Result<bool, SegmentError> {
        let of_offset = |e: OffsetEntry| (indexes.absolute(e.relative_offset), e.position.into());
        if let Some((offset, position)) = indexes.offsets.last().map(of_offset)
            && !self.agrees(disk, offset, position)?
        {
            return Ok(false);
        }
        match indexes.max {
            Some(max) => self.holds_timestamp(disk, indexes, max.offset, max.timestamp),
            None => Ok(true),
        }
    }

    /// Opens the indexes of a segment that was closed in order, and answers where the batch of the last entry begins.
    pub(crate) fn last_indexed(&mut self, disk: &dyn Disk) -> Result<u64, SegmentError> {
        let last = self.with_indexes(disk, |indexes| {
            let last = indexes.offsets.last();
            Ok(last.map(|e| (indexes.absolute(e.relative_offset), u64::from(e.position))))
        })?;
        match last {
            None => Ok(0),
            Some((offset, position)) if self.agrees(disk, offset, position)? => Ok(position),
            Some(_) => {
                let rebuilt = self.rebuild_indexes(disk)?;
                self.set_indexes(rebuilt);
                self.last_indexed(disk)
            }
        }
    }

    /// The largest timestamp of the first batch.
    pub(crate) fn first_timestamp(
        &mut self,
        disk: &dyn Disk,
    ) -> Result<Option<TimestampMs>, SegmentError> {
        if self.first_timestamp.is_none() && self.size > 0 {
            let file = self.log_file(disk)?;
            let mut walk = self.walk(&*file, 0);
            if let Step::Batch { header, .. } = self.checked(walk.step()?)? {
                self.first_timestamp = Some(header.max_timestamp);
            }
        }
        Ok(self.first_timestamp)
    }

    /// How many entries its indexes hold: offset, time.
    pub(crate) fn index_entries(&mut self) -> (usize, usize) {
        match self.indexes.get_mut() {
            Some(indexes) => (indexes.offsets.len(), indexes.times.len()),
            None => (0, 0),
        }
    }

    /// Begins the indexes anew; a walk of all batches fills them.
    pub(crate) fn reset_indexes(&mut self) {
        self.set_indexes(Indexes::empty(&self.dir, self.base_offset));
    }

    fn set_indexes(&mut self, indexes: Indexes) {
        *self.indexes.get_mut() = Some(indexes);
    }

    /// Works on the indexes, which are opened, or built anew where they cannot be used.
    pub(crate) fn with_indexes<R>(
        &self,
        disk: &dyn Disk,
        work: impl FnOnce(&mut Indexes) -> io::Result<R>,
    ) -> Result<R, SegmentError> {
        let mut guard = self.indexes.lock();
        let mut indexes = match guard.take() {
            Some(indexes) => indexes,
            None => self.open_indexes(disk)?,
        };
        let result = work(&mut indexes);
        *guard = Some(indexes);
        Ok(result?)
    }

    fn open_indexes(&self, disk: &dyn Disk) -> Result<Indexes, SegmentError> {
        let opened = (|| {
            let mut indexes = Indexes::empty(&self.dir, self.base_offset);
            indexes.offsets = SparseIndex::open(disk, indexes.offsets.path().to_owned())?;
            indexes.times = SparseIndex::open(disk, indexes.times.path().to_owned())?;
            Ok::<_, io::Error>(indexes)
        })();
        let mut indexes = match opened {
            Ok(indexes) => indexes,
            Err(error) if is_index_unusable(&error) => return self.rebuild_indexes(disk),
            Err(error) => return Err(error.into()),
        };
        match indexes.times.last() {
            Some(last) => {
                let offset = indexes.absolute(last.relative_offset);
                let timestamp = last.timestamp;
                if !self.holds_timestamp(disk, &indexes, offset, timestamp)? {
                    return self.rebuild_indexes(disk);
                }
                indexes.max = Some(MaxTimestamp { timestamp, offset });
            }
            // Only a segment whose records have no time has no entry; a walk finds out.
            None if self.size > 0 => return self.rebuild_indexes(disk),
            None => {}
        }
        Ok(indexes)
    }

    /// Whether the batch that ends at `offset` has `timestamp` as its largest.
    fn holds_timestamp(
        &self,
        disk: &dyn Disk,
        indexes: &Indexes,
        offset: Offset,
        timestamp: TimestampMs,
    ) -> Result<bool, SegmentError> {
        let found = self.find_with(disk, indexes, offset)?;
        Ok(found.is_some_and(|Located { header, .. }| {
            header.last_offset == offset && header.max_timestamp == timestamp
        }))
    }

    /// Builds the indexes from the batches, and writes them where the disk takes them.
    fn rebuild_indexes(&self, disk: &dyn Disk) -> Result<Indexes, SegmentError> {
        tracing::warn!(segment = %self.log_path().display(), "index is missing or damaged: it is built anew from the batches");
        let mut indexes = Indexes::empty(&self.dir, self.base_offset);
        let file = self.log_file(disk)?;
        let mut walk = self.walk(&*file, 0);
        while let Step::Batch { position, header } = self.checked(walk.step()?)? {
            indexes.note(position, &header, self.layout.index_interval_bytes);
        }
        indexes.push_max_timestamp();
        let _ = indexes.flush(disk);
        Ok(indexes)
    }

    /// A walk from a batch on. Behind an index entry the first offset is only known once it has been read.
    pub(crate) fn walk<'a>(&self, file: &'a dyn DiskFile, position: u64) -> HeaderWalk<'a> {
        let expected = (position == 0).then_some(self.base_offset);
        self.walk_from(file, position, expected)
    }

    /// A walk from the batch that begins at `expected` on.
    pub(crate) fn walk_from<'a>(
        &self,
        file: &'a dyn DiskFile,
        position: u64,
        expected: Option<Offset>,
    ) -> HeaderWalk<'a> {
        HeaderWalk::new(file, position, self.size, expected, self.layout.is_dense)
    }

    /// A step that must not be broken.
    pub(crate) fn checked(&self, step: Step) -> Result<Step, SegmentError> {
        match step {
            Step::Broken { position } => Err(SegmentError::Broken {
                path: self.log_path(),
                position,
                reason: "no whole record batch begins there",
            }),
            step => Ok(step),
        }
    }

    /// Where a walk that looks for `offset` may begin, according to the index; checked against the batch there.
    fn start_for(
        &self,
        disk: &dyn Disk,
        indexes: &Indexes,
        offset: Offset,
    ) -> Result<Option<u64>, SegmentError> {
        let is_before = |e: &OffsetEntry| indexes.absolute(e.relative_offset) <= offset;
        let Some(entry) = indexes.offsets.last_where(disk, is_before)? else {
            return Ok(Some(0));
        };
        let position = u64::from(entry.position);
        Ok(self
            .agrees(disk, indexes.absolute(entry.relative_offset), position)?
            .then_some(position))
    }

    /// Whether a batch begins at `position` that ends at `offset`, as an index entry says; or before, as an entry of Kafka's may say
    /// that is about several batches.
    fn agrees(&self, disk: &dyn Disk, offset: Offset, position: u64) -> Result<bool, SegmentError> {
        if position >= self.size {
            return Ok(false);
        }
        let file = self.log_file(disk)?;
        let step = self.walk(&*file, position).step()?;
        Ok(matches!(step, Step::Batch { header, .. }
            if header.base_offset >= self.base_offset && header.last_offset <= offset))
    }

    fn find_with(
        &self,
        disk: &dyn Disk,
        indexes: &Indexes,
        offset: Offset,
    ) -> Result<Option<Located>, SegmentError> {
        let start = self.start_for(disk, indexes, offset)?.unwrap_or(0);
        let file = self.log_file(disk)?;
        let mut walk = self.walk(&*file, start);
        while let Step::Batch { position, header } = self.checked(walk.step()?)? {
            if header.last_offset >= offset {
                return Ok(Some(Located { position, header }));
            }
        }
        Ok(None)
    }

    /// The first batch that ends at `offset` or behind it; nothing where the segment ends before.
    pub(crate) fn find(
        &self,
        disk: &dyn Disk,
        offset: Offset,
    ) -> Result<Option<Located>, SegmentError> {
        let mut guard = self.indexes.lock();
        let mut indexes = match guard.take() {
            Some(indexes) => indexes,
            None => self.open_indexes(disk)?,
        };
        let mut found = self.start_for(disk, &indexes, offset);
        if matches!(found, Ok(None)) {
            found = self.rebuild_indexes(disk).map(|rebuilt| {
                indexes = rebuilt;
                None
            });
        }
        let found = found.and_then(|_| self.find_with(disk, &indexes, offset));
        *guard = Some(indexes);
        found
    }

    /// The last batch boundary up to `position_max`, and below `below`, that the index knows, beyond `after`.
    pub(crate) fn boundary(
        &self,
        disk: &dyn Disk,
        after: u64,
        position_max: u64,
        below: Offset,
    ) -> Result<Option<u64>, SegmentError> {
        let entry = self.with_indexes(disk, |indexes| {
            let is_before = |e: &OffsetEntry| {
                u64::from(e.position) <= position_max && indexes.absolute(e.relative_offset) < below
            };
            let entry = indexes.offsets.last_where(disk, is_before)?;
            Ok(entry.map(|e| (indexes.absolute(e.relative_offset), u64::from(e.position))))
        })?;
        match entry {
            Some((offset, position)) if position > after => {
                Ok(self.agrees(disk, offset, position)?.then_some(position))
            }
            _ => Ok(None),
        }
    }

    /// The largest timestamp of its batches.
    pub(crate) fn max_timestamp(
        &self,
        disk: &dyn Disk,
    ) -> Result<Option<MaxTimestamp>, SegmentError> {
        self.with_indexes(disk, |indexes| Ok(indexes.max))
    }

    /// Of the batches that end below `below`, the first that has the largest timestamp.
    pub(crate) fn max_timestamp_below(
        &self,
        disk: &dyn Disk,
        below: Offset,
    ) -> Result<Option<MaxTimestamp>, SegmentError> {
        match self.max_timestamp(disk)? {
            Some(max) if max.offset >= below => {}
            max => return Ok(max),
        }
        let file = self.log_file(disk)?;
        let mut walk = self.walk(&*file, 0);
        let mut max: Option<MaxTimestamp> = None;
        while let Step::Batch { header, .. } = self.checked(walk.step()?)? {
            if header.last_offset >= below {
                break;
            }
            if max.is_none_or(|max| header.max_timestamp > max.timestamp) {
                max = Some(MaxTimestamp {
                    timestamp: header.max_timestamp,
                    offset: header.last_offset,
                });
            }
        }
        Ok(max)
    }

    /// From where on a record of `timestamp` or later may lie: everything before it is earlier.
    pub(crate) fn offset_before_timestamp(
        &self,
        disk: &dyn Disk,
        timestamp: TimestampMs,
    ) -> Result<Offset, SegmentError> {
        let lookup = |indexes: &mut Indexes| {
            let entry = indexes
                .times
                .last_where(disk, |e| e.timestamp < timestamp)?;
            Ok(entry.map(|e| (e.timestamp, indexes.absolute(e.relative_offset))))
        };
        let Some((found, offset)) = self.with_indexes(disk, lookup)? else {
            return Ok(self.base_offset);
        };
        let batch = self.find(disk, offset)?;
        let agrees = batch.is_some_and(|Located { header, .. }| {
            header.last_offset == offset && header.max_timestamp == found
        });
        if agrees {
            return Ok(offset.plus(1));
        }
        let rebuilt = self.rebuild_indexes(disk)?;
        *self.indexes.lock() = Some(rebuilt);
        let found = self.with_indexes(disk, lookup)?;
        Ok(found.map_or(self.base_offset, |(_, offset)| offset.plus(1)))
    }
}

/// Whether an index must be built anew, rather than the disk be blamed.
pub(crate) fn is_index_unusable(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof
    )
}
