//! How a segment comes by its indexes: opened, taken over up to an offset, or built anew from the batches.

use super::{Indexes, Located, MaxTimestamp, Segment, SegmentError};
use crate::formats::offset_index::OffsetEntry;
use crate::header::Step;
use crate::sparse_index::SparseIndex;
use fanlog_environment::Disk;
use fanlog_model::{Offset, TimestampMs};
use std::io;

impl Segment {
    pub(super) fn set_indexes(&mut self, indexes: Indexes) {
        *self.indexes.lock() = Some(indexes);
    }

    /// Begins the indexes anew; a walk of all batches fills them. Aborted transactions whose markers lie below `noted` are taken over:
    /// the walk notes only those behind.
    pub(crate) fn reset_indexes(
        &mut self,
        disk: &dyn Disk,
        noted: Offset,
    ) -> Result<(), SegmentError> {
        let mut indexes = Indexes::empty(&self.dir, self.base_offset);
        indexes.aborted = self.aborted_below(disk, noted)?;
        self.set_indexes(indexes);
        Ok(())
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

    pub(super) fn open_indexes(&self, disk: &dyn Disk) -> Result<Indexes, SegmentError> {
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
        indexes.aborted = self.open_aborted(disk)?;
        match indexes.times.last() {
            Some(last) => {
                let offset = indexes.absolute(last.relative_offset);
                let timestamp = last.timestamp;
                if !self.holds_timestamp(disk, &indexes, offset, timestamp)? {
                    return self.rebuild_indexes(disk);
                }
                indexes.max = Some(MaxTimestamp { timestamp, offset });
            }
            // Only a segment that has no record with a time has no entry; a walk finds out.
            None if self.size > 0 => return self.build_indexes(disk),
            None => {}
        }
        Ok(indexes)
    }

    /// Builds the indexes from the batches, and writes them where the disk takes them.
    pub(super) fn rebuild_indexes(&self, disk: &dyn Disk) -> Result<Indexes, SegmentError> {
        tracing::warn!(segment = %self.log_path().display(), "index is missing or damaged: it is built anew from the batches");
        self.build_indexes(disk)
    }

    fn build_indexes(&self, disk: &dyn Disk) -> Result<Indexes, SegmentError> {
        let mut indexes = Indexes::empty(&self.dir, self.base_offset);
        indexes.aborted = self.open_aborted(disk)?;
        let file = self.log_file(disk)?;
        let mut walk = self.walk(&*file, 0);
        while let Step::Batch { position, header } = self.checked(walk.step()?)? {
            // The offset lies outside the checksum: where offsets may have holes, nothing else has looked at it.
            if header.last_offset.get() - self.base_offset.get() > i64::from(i32::MAX) {
                return Err(SegmentError::Broken {
                    path: self.log_path(),
                    position,
                    reason: "the batch's offset is too far from the segment's",
                });
            }
            indexes.note(position, &header, self.layout.index_interval_bytes);
        }
        indexes.push_max_timestamp();
        if !self.is_snapshot {
            let _ = indexes.flush(disk);
        }
        Ok(indexes)
    }

    /// Takes over the entries below `end` of indexes whose files may be damaged behind it, and answers where a walk to the segment's
    /// end may begin. Without usable entries, or without as many as there were, the walk begins at 0, with empty indexes. Entries at `synced`
    /// or behind were written, and perhaps not synced. Aborted transactions are taken over as [`Segment::reset_indexes`] does.
    pub(crate) fn resume_indexes(
        &mut self,
        disk: &dyn Disk,
        end: Offset,
        synced: Offset,
        expected: Option<(u32, u32)>,
        noted: Offset,
    ) -> Result<u64, SegmentError> {
        let is_complete = |indexes: &Indexes| {
            expected.is_none_or(|(offsets, times)| {
                indexes.offsets.len() == offsets as usize && indexes.times.len() == times as usize
            })
        };
        match self.entries_below(disk, end, synced) {
            Ok(mut indexes) => {
                let last = indexes.offsets.last();
                let start = last.map_or(0, |entry| u64::from(entry.position));
                let is_usable = start > 0 && is_complete(&indexes) && self.agree(disk, &indexes)?;
                if is_usable {
                    indexes.aborted = self.aborted_below(disk, noted)?;
                    self.set_indexes(indexes);
                    return Ok(start);
                }
            }
            Err(error) if is_index_unusable(&error) => {}
            Err(error) => return Err(error.into()),
        }
        self.reset_indexes(disk, noted)?;
        Ok(0)
    }

    pub(super) fn entries_below(
        &self,
        disk: &dyn Disk,
        end: Offset,
        synced: Offset,
    ) -> io::Result<Indexes> {
        let mut indexes = Indexes::empty(&self.dir, self.base_offset);
        let base_offset = self.base_offset;
        let is_below = |relative: u32| base_offset.plus(relative.into()) < end;
        let is_synced = |relative: u32| base_offset.plus(relative.into()) < synced;
        indexes.offsets = SparseIndex::open_checked(disk, indexes.offsets.path().to_owned())?;
        indexes
            .offsets
            .truncate(disk, |e| is_below(e.relative_offset))?;
        indexes
            .offsets
            .write_again_from(disk, |e| is_synced(e.relative_offset))?;
        indexes.times = SparseIndex::open_checked(disk, indexes.times.path().to_owned())?;
        indexes
            .times
            .truncate(disk, |e| is_below(e.relative_offset))?;
        indexes
            .times
            .write_again_from(disk, |e| is_synced(e.relative_offset))?;
        indexes.max = indexes.times.last().map(|last| MaxTimestamp {
            timestamp: last.timestamp,
            offset: indexes.absolute(last.relative_offset),
        });
        Ok(indexes)
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

    /// Whether the last entries of both indexes say what the batches say.
    pub(super) fn agree(&self, disk: &dyn Disk, indexes: &Indexes) -> Result<bool, SegmentError> {
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

    /// Whether the batch that ends at `offset` has `timestamp` as its largest.
    pub(super) fn holds_timestamp(
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
}

/// Whether an index must be built anew, rather than the disk be blamed.
fn is_index_unusable(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof
    )
}
