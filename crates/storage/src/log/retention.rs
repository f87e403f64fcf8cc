//! Retention: which segments go, and how they go.
//!
//! The log's start is made durable first, then files are removed, the oldest first: whatever subset of the removals survives a crash,
//! the next open finishes them.

use super::Log;
use super::roll::into_io;
use crate::error::ChangeError;
use crate::formats::file_names;
use crate::types::Retained;
use fanlog_environment::Disk;
use fanlog_model::{Offset, TimestampMs};
use std::io;
use std::path::Path;

/// What a segment's files end with.
const SUFFIXES: [&str; 5] = [
    file_names::LOG,
    file_names::OFFSET_INDEX,
    file_names::TIME_INDEX,
    file_names::TRANSACTION_INDEX,
    file_names::PRODUCER_SNAPSHOT,
];

impl Log {
    /// Removes the oldest segments that are too old (by the largest time of their records), too many (by size), or below the log's start.
    /// Only what is durable goes; the active segment goes where all of it may, after a roll.
    ///
    /// # Errors
    /// The disk refuses, or the log has stopped.
    pub fn apply_retention(&mut self, now: TimestampMs) -> Result<Retained, ChangeError> {
        self.check_running()?;
        let mut count = self
            .count_expired(now)
            .map_err(|error| self.change_io(error))?;
        if count == self.segments.len() {
            if self.active().size == 0 {
                count -= 1;
            } else {
                self.roll_or_change_error(now)?;
            }
        }
        if count == 0 {
            return Ok(Retained {
                log_start_offset: self.log_start,
                ..Retained::default()
            });
        }
        let start = self.segments[count].base_offset.max(self.log_start);
        self.move_start(start)
            .map_err(|error| self.change_io(error))
    }

    /// How many segments, the oldest first, may go.
    fn count_expired(&mut self, now: TimestampMs) -> io::Result<usize> {
        let mut excess = match self.config.retention_bytes {
            max if max >= 0 && self.config.is_deleted_by_retention => {
                i64::try_from(self.size_bytes()).unwrap_or(i64::MAX) - max
            }
            _ => 0,
        };
        let mut count = 0;
        for (i, segment) in self.segments.iter().enumerate() {
            let next = self.segments.get(i + 1);
            let end = next.map_or(self.log_end, |next| next.base_offset);
            let size = i64::try_from(segment.size).unwrap_or(i64::MAX);
            let is_below_start = next.is_some() && end <= self.log_start;
            let is_excess = excess > 0 && excess >= size && segment.size > 0;
            let may_go = end <= self.durable
                && (is_below_start || is_excess || self.is_too_old_to_keep(i, now)?);
            if !may_go {
                break;
            }
            excess -= size;
            count += 1;
        }
        Ok(count)
    }

    fn is_too_old_to_keep(&self, i: usize, now: TimestampMs) -> io::Result<bool> {
        let retention_ms = self.config.retention_ms;
        let segment = &self.segments[i];
        if retention_ms < 0 || !self.config.is_deleted_by_retention || segment.size == 0 {
            return Ok(false);
        }
        self.note_open(segment.base_offset);
        let max = segment.max_timestamp(self.disk()).map_err(into_io)?;
        // Records without a time are kept: nothing says how old they are.
        Ok(max.is_some_and(|max| now.get().saturating_sub(max.timestamp.get()) > retention_ms))
    }

    /// Moves the log's start up to `offset`, for good, and removes the segments below. What is below is gone for every reader once this
    /// returns, and after any crash. Answers the log's start.
    ///
    /// # Errors
    /// The offset is above the high watermark; the disk refuses; the log has stopped.
    pub fn delete_records_before(&mut self, offset: Offset) -> Result<Offset, ChangeError> {
        self.check_running()?;
        if offset.get() < 0 || offset > self.durable {
            return Err(self.change_out_of_range(offset));
        }
        if offset > self.log_start {
            self.move_start(offset)
                .map_err(|error| self.change_io(error))?;
        }
        Ok(self.log_start)
    }

    /// Makes `start` the log's start and removes the segments below it.
    fn move_start(&mut self, start: Offset) -> io::Result<Retained> {
        if start > self.log_start {
            self.save_log_start(start)?;
        }
        let before = self.log_start;
        self.log_start = start;
        self.epochs.truncate_from_start(start);
        let count = self
            .segments
            .windows(2)
            .take_while(|pair| pair[1].base_offset <= start)
            .count();
        let mut retained = Retained {
            deleted_segments: count,
            deleted_offsets: start.get() - before.get(),
            log_start_offset: start,
            ..Retained::default()
        };
        for segment in self.segments.drain(..count) {
            retained.deleted_bytes += segment.size;
            remove_segment(&*self.environment.disk, &self.dir, segment.base_offset)?;
        }
        if count > 0 {
            self.environment.disk.sync_dir(&self.dir)?;
        }
        self.check_invariants();
        Ok(retained)
    }
}

/// Removes a segment's files, those that there are.
pub(super) fn remove_segment(disk: &dyn Disk, dir: &Path, base_offset: Offset) -> io::Result<()> {
    for suffix in SUFFIXES {
        let path = dir.join(file_names::with_offset(base_offset, suffix));
        match disk.remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}
