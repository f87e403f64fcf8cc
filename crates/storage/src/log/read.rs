//! Read: where whole batches lie, so that their bytes can be read or sent without the lock.

use super::Log;
use crate::error::ReadError;
use crate::header::Step;
use crate::segment::{Located, Segment, SegmentError};
use crate::types::{FileSlice, ReadLimit, ReadPlan};
use fanlog_model::Offset;
use std::sync::Arc;

/// How many sealed segments keep their file open (OPS-1).
const OPEN_SEALED_MAX: usize = 4;

impl Log {
    /// Plans a read: whole batches, the first of which holds `from`, none at or above `limit.below`. The batches of one plan lie in one
    /// segment; the next read goes on behind them. A plan without batches means that there is nothing yet, or that the first batch
    /// exceeds `limit.max_bytes` and was not asked for.
    ///
    /// # Errors
    /// `from` is outside the log; the disk refuses; the bytes there are damaged.
    pub fn read(&self, from: Offset, limit: ReadLimit) -> Result<ReadPlan, ReadError> {
        if from < self.log_start || from > self.log_end {
            return Err(self.out_of_range(from));
        }
        let below = limit.below.min(self.log_end);
        let mut plan = ReadPlan {
            slices: Vec::new(),
            next_offset: from,
            log_start_offset: self.log_start,
        };
        if from >= below {
            return Ok(plan);
        }
        let found = self.locate(from).map_err(|error| self.read_error(error))?;
        let Some((segment, first)) = found.filter(|(_, first)| first.header.next_offset() <= below)
        else {
            return Ok(plan);
        };
        let allowed = first.header.bytes <= limit.max_bytes as u64 || limit.min_one_batch;
        if allowed {
            self.extend(segment, first, limit.max_bytes as u64, below, &mut plan)
                .map_err(|error| self.read_error(error))?;
        }
        Ok(plan)
    }

    /// The segment and batch that hold `from`, or the first behind it where compaction has left a hole.
    pub(super) fn locate(&self, from: Offset) -> Result<Option<(&Segment, Located)>, SegmentError> {
        for segment in &self.segments[self.segment_index(from)..] {
            if segment.size == 0 {
                continue;
            }
            self.note_open(segment.base_offset);
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

    /// Adds the batches from `first` on, as far as the limits go.
    fn extend(
        &self,
        segment: &Segment,
        first: Located,
        max_bytes: u64,
        below: Offset,
        plan: &mut ReadPlan,
    ) -> Result<(), SegmentError> {
        let file = segment.log_file(self.disk())?;
        let start = first.position;
        let end_max = start.saturating_add(max_bytes);
        let mut end = start + first.header.bytes;
        let mut next_offset = first.header.next_offset();
        let mut walk = segment.walk_from(&*file, end, Some(next_offset));
        // The index leads over most of what is wanted; the batches between its last entry and the limit are walked.
        if let Some(boundary) = segment.boundary(self.disk(), end, end_max, below)? {
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
            first_offset: first.header.base_offset,
            is_dense: !self.config.is_compacted,
        });
        Ok(())
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

    /// Notes that a segment's file may be open, and closes the one unused for longest where there are too many.
    pub(super) fn note_open(&self, base_offset: Offset) {
        if base_offset == self.active().base_offset {
            return;
        }
        let mut open = self.open_sealed.lock();
        open.retain(|offset| *offset != base_offset);
        open.push_back(base_offset);
        if open.len() > OPEN_SEALED_MAX
            && let Some(oldest) = open.pop_front()
            && let Some(segment) = self.segments.iter().find(|s| s.base_offset == oldest)
        {
            segment.close_file();
        }
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
