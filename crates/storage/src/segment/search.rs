//! Search: from an offset or a time to a batch.

use super::{Indexes, Located, MaxTimestamp, Segment, SegmentError};
use crate::formats::offset_index::OffsetEntry;
use crate::formats::time_index::TimeEntry;
use crate::header::{HeaderWalk, Step};
use fanlog_environment::{Disk, DiskFile};
use fanlog_model::{Offset, TimestampMs};

impl Segment {
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
    pub(super) fn start_for(
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
    pub(super) fn agrees(
        &self,
        disk: &dyn Disk,
        offset: Offset,
        position: u64,
    ) -> Result<bool, SegmentError> {
        if position >= self.size {
            return Ok(false);
        }
        let file = self.log_file(disk)?;
        let step = self.walk(&*file, position).step()?;
        Ok(matches!(step, Step::Batch { header, .. }
            if header.base_offset >= self.base_offset && header.last_offset <= offset))
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
        let found = match self.start_for(disk, &indexes, offset) {
            Ok(Some(start)) => self.find_from(disk, start, offset),
            Ok(None) => self.rebuild_indexes(disk).and_then(|rebuilt| {
                indexes = rebuilt;
                self.find_with(disk, &indexes, offset)
            }),
            Err(error) => Err(error),
        };
        *guard = Some(indexes);
        found
    }

    pub(super) fn find_with(
        &self,
        disk: &dyn Disk,
        indexes: &Indexes,
        offset: Offset,
    ) -> Result<Option<Located>, SegmentError> {
        let start = self.start_for(disk, indexes, offset)?.unwrap_or(0);
        self.find_from(disk, start, offset)
    }

    fn find_from(
        &self,
        disk: &dyn Disk,
        start: u64,
        offset: Offset,
    ) -> Result<Option<Located>, SegmentError> {
        let file = self.log_file(disk)?;
        let mut walk = self.walk(&*file, start);
        while let Step::Batch { position, header } = self.checked(walk.step()?)? {
            if header.last_offset >= offset {
                return Ok(Some(Located { position, header }));
            }
        }
        Ok(None)
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

    /// Whether compaction has left no record of it.
    pub(crate) fn has_no_record(&self, disk: &dyn Disk) -> Result<bool, SegmentError> {
        let file = self.log_file(disk)?;
        let mut walk = self.walk(&*file, 0);
        while let Step::Batch { header, .. } = self.checked(walk.step()?)? {
            if !header.is_empty {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Of the batches that end below `below`, the first that has the largest timestamp.
    pub(crate) fn max_timestamp_below(
        &self,
        disk: &dyn Disk,
        below: Offset,
    ) -> Result<Option<MaxTimestamp>, SegmentError> {
        let (whole, indexed) = self.with_indexes(disk, |indexes| {
            let is_below = |e: &TimeEntry| indexes.absolute(e.relative_offset) < below;
            let entry = indexes.times.last_where(disk, is_below)?;
            Ok((
                indexes.max,
                entry.map(|e| indexes.absolute(e.relative_offset)),
            ))
        })?;
        if whole.is_none_or(|max| max.offset < below) {
            return Ok(whole);
        }
        let start = match indexed {
            Some(offset) => self.find(disk, offset)?.map_or(0, |found| found.position),
            None => 0,
        };
        let file = self.log_file(disk)?;
        let mut walk = self.walk(&*file, start);
        let mut max: Option<MaxTimestamp> = None;
        while let Step::Batch { header, .. } = self.checked(walk.step()?)? {
            if header.last_offset >= below {
                break;
            }
            let is_later = max.is_none_or(|max| header.max_timestamp > max.timestamp);
            if is_later && !header.is_empty {
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
