//! Read: where whole batches lie, so that their bytes can be read or sent without the lock.
//!
//! What was appended lately is found in memory. For anything else files are read, which may have to come from the disk: that is a
//! [`ReadSearch`], planned under the lock and run without it.

use super::Log;
use crate::error::ReadError;
use crate::header::Step;
use crate::read_plan::{FileSlice, ReadPlan};
use crate::segment::{Located, Segment, SegmentError};
use crate::types::ReadLimit;
use fanlog_environment::Disk;
use fanlog_model::Offset;
use std::sync::Arc;

/// How many segments a search looks into: where compaction has emptied more in a row, it is done under the lock.
const SEARCHED_MAX: usize = 8;

impl Log {
    /// Plans a read: whole batches, the first of which holds `from`, none at or above `limit.below`. The batches of one plan lie in one
    /// segment; the next read goes on behind them. A plan without batches means that there is nothing yet, or that the first batch
    /// exceeds `limit.max_bytes` and was not asked for.
    ///
    /// # Errors
    /// `from` is outside the log; the disk refuses; the bytes there are damaged.
    pub fn read(&self, from: Offset, limit: ReadLimit) -> Result<ReadPlan, ReadError> {
        if let Some(plan) = self.read_recent(from, limit)? {
            return Ok(plan);
        }
        let limit = self.limited(limit);
        let mut plan = self.empty_plan(from);
        let located = self.locate(from).map_err(|error| self.read_error(error))?;
        if let Some((segment, first)) = located {
            let reading = Reading {
                disk: self.disk(),
                limit,
            };
            let extended = reading.extend(segment, first, &mut plan);
            extended.map_err(|error| self.read_error(error))?;
        }
        Ok(plan)
    }

    /// As [`Log::read`], if no file has to be read for it; nothing otherwise.
    ///
    /// # Errors
    /// `from` is outside the log; the file cannot be opened.
    pub fn read_recent(
        &self,
        from: Offset,
        limit: ReadLimit,
    ) -> Result<Option<ReadPlan>, ReadError> {
        if from < self.log_start || from > self.log_end {
            return Err(self.out_of_range(from));
        }
        let limit = self.limited(limit);
        let mut plan = self.empty_plan(from);
        // A fetch over many partitions asks the last ones for nothing.
        let wants_nothing = limit.max_bytes == 0 && !limit.min_one_batch;
        if from >= limit.below || wants_nothing {
            return Ok(Some(plan));
        }
        let active = self.active();
        let bytes_max = limit.max_bytes as u64;
        let Some(run) = active.find_recent(from, bytes_max, limit.below) else {
            return Ok(None);
        };
        let length = run.end - run.position;
        if length == 0 || (length > bytes_max && !limit.min_one_batch) {
            return Ok(Some(plan));
        }
        let file = active.log_file(self.disk());
        plan.next_offset = run.next_offset;
        plan.slices.push(FileSlice {
            file: file.map_err(|error| self.read_error(error.into()))?,
            position: run.position,
            length: usize::try_from(length).expect("a segment is smaller than 2 GiB"),
            segment: active.base_offset,
            first_offset: run.first_offset,
            is_dense: active.is_dense(),
            checked: active.checked_ranges().clone(),
        });
        Ok(Some(plan))
    }

    /// A search for what [`Log::read`] finds, as the log is now. It reads nothing yet.
    ///
    /// # Errors
    /// `from` is outside the log.
    pub fn read_search(&self, from: Offset, limit: ReadLimit) -> Result<ReadSearch, ReadError> {
        if from < self.log_start || from > self.log_end {
            return Err(self.out_of_range(from));
        }
        let active = self.active().base_offset;
        let candidates = &self.segments[self.segment_index(from)..];
        let filled = candidates.iter().filter(|segment| segment.size > 0);
        let segments = filled
            .take(SEARCHED_MAX)
            .map(|segment| segment.snapshot(segment.base_offset < active))
            .collect();
        Ok(ReadSearch {
            disk: self.environment.disk.clone(),
            name: self.name.clone(),
            segments,
            from,
            limit: self.limited(limit),
            plan: self.empty_plan(from),
        })
    }

    fn limited(&self, limit: ReadLimit) -> ReadLimit {
        let below = limit.below.min(self.log_end);
        ReadLimit { below, ..limit }
    }

    fn empty_plan(&self, from: Offset) -> ReadPlan {
        ReadPlan {
            slices: Vec::new(),
            next_offset: from,
            log_start_offset: self.log_start,
        }
    }

    /// The segment and batch that hold `from`, or the first behind it where compaction has left a hole.
    pub(super) fn locate(&self, from: Offset) -> Result<Option<(&Segment, Located)>, SegmentError> {
        for segment in &self.segments[self.segment_index(from)..] {
            if segment.size == 0 {
                continue;
            }
            if let Some(found) = segment.find(self.disk(), from)? {
                return Ok(Some((segment, found)));
            }
        }
        Ok(None)
    }

    /// The number of the segment that `offset` would lie in.
    pub(super) fn segment_index(&self, offset: Offset) -> usize {
        let begun = self
            .segments
            .partition_point(|segment| segment.base_offset <= offset);
        begun.saturating_sub(1)
    }

    pub(super) fn out_of_range(&self, offset: Offset) -> ReadError {
        ReadError::OffsetOutOfRange {
            offset,
            log_start_offset: self.log_start,
            log_end_offset: self.log_end,
        }
    }

    pub(super) fn read_error(&self, error: SegmentError) -> ReadError {
        read_error(&self.name, error)
    }
}

/// A search for batches: planned under the log's lock, run without it.
#[derive(Debug)]
pub struct ReadSearch {
    disk: Arc<dyn Disk>,
    name: Arc<str>,
    segments: Vec<Segment>,
    from: Offset,
    limit: ReadLimit,
    plan: ReadPlan,
}

impl ReadSearch {
    /// Finds the batches. Blocks. Nothing where they lie further on than it looks.
    ///
    /// # Errors
    /// The disk refuses; the bytes there are damaged. Both may also mean that the segment was removed or replaced meanwhile:
    /// [`Log::read`] tells.
    pub fn run(&self) -> Result<Option<ReadPlan>, ReadError> {
        let mut plan = self.plan.clone();
        if self.from >= self.limit.below {
            return Ok(Some(plan));
        }
        let reading = Reading {
            disk: &*self.disk,
            limit: self.limit,
        };
        for segment in &self.segments {
            let found = segment.find(&*self.disk, self.from);
            let found = found.map_err(|error| read_error(&self.name, error))?;
            if let Some(first) = found {
                let extended = reading.extend(segment, first, &mut plan);
                return extended
                    .map(|()| Some(plan))
                    .map_err(|error| read_error(&self.name, error));
            }
        }
        Ok(None)
    }
}

/// How far a read goes.
struct Reading<'a> {
    disk: &'a dyn Disk,
    limit: ReadLimit,
}

impl Reading<'_> {
    /// Adds the batches from `first` on, as far as the limits go.
    fn extend(
        &self,
        segment: &Segment,
        first: Located,
        plan: &mut ReadPlan,
    ) -> Result<(), SegmentError> {
        let ReadLimit {
            max_bytes,
            min_one_batch,
            below,
        } = self.limit;
        let max_bytes = max_bytes as u64;
        let is_too_large = first.header.bytes > max_bytes && !min_one_batch;
        if first.header.next_offset() > below || is_too_large {
            return Ok(());
        }
        let file = segment.log_file(self.disk)?;
        let start = first.position;
        let end_max = start.saturating_add(max_bytes);
        let mut end = start + first.header.bytes;
        let mut next_offset = first.header.next_offset();
        let mut walk = segment.walk_from(&*file, end, Some(next_offset));
        // The index leads over most of what is wanted; the batches between its last entry and the limit are walked.
        if let Some(boundary) = segment.boundary(self.disk, end, end_max, below)? {
            walk.jump_to(boundary);
        }
        while walk.position() < end_max {
            let position = walk.position();
            let Step::Batch { header, .. } = walk.step()? else {
                // The segment's end, or damage: the read that begins there says so.
                break;
            };
            let batch_end = position + header.bytes;
            if batch_end > end_max || header.next_offset() > below {
                end = end.max(position);
                next_offset = next_offset.max(header.base_offset);
                break;
            }
            end = batch_end;
            next_offset = header.next_offset();
        }
        plan.next_offset = next_offset;
        plan.slices.push(FileSlice {
            file,
            position: start,
            length: usize::try_from(end - start).expect("a segment is smaller than 2 GiB"),
            segment: segment.base_offset,
            first_offset: first.header.base_offset,
            is_dense: segment.is_dense(),
            checked: segment.checked_ranges().clone(),
        });
        Ok(())
    }
}

pub(super) fn read_error(log: &Arc<str>, error: SegmentError) -> ReadError {
    match error {
        SegmentError::Io(source) => ReadError::Io {
            log: log.clone(),
            source,
        },
        SegmentError::Broken {
            path,
            position,
            reason,
        } => ReadError::Corrupt {
            path,
            position,
            reason: reason.into(),
        },
    }
}
