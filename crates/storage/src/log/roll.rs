//! Roll: seal the active segment and begin another.
//!
//! Nothing is synced here, under the lock: what the sealed segment lacks is in the journal, and the next sync of the log has it.

use super::sync::SealedSegment;
use super::{Log, is_transient};
use crate::error::{ChangeError, LogFailed};
use crate::formats::{offset_index, producer_snapshot, time_index};
use crate::segment::{IndexFiles, Segment, SegmentError};
use fanlog_model::{Offset, TimestampMs};
use std::io;

/// Why a log did not roll.
#[derive(Debug)]
pub(super) enum RollError {
    /// A sync failed: the log has stopped.
    Failed(LogFailed),
    /// The disk refused; the active segment is as it was.
    Io(io::Error),
}

impl Log {
    /// Rolls where the active segment is older than `segment.ms`, so that retention can have it; says whether it did.
    ///
    /// # Errors
    /// The disk refuses, or the log has stopped.
    pub fn roll_if_due(&mut self, now: TimestampMs) -> Result<bool, ChangeError> {
        self.check_running()?;
        let is_due = self.is_too_old(now, now);
        if is_due.map_err(|error| self.change_io(error))? {
            self.roll_or_change_error(now)?;
            return Ok(true);
        }
        Ok(false)
    }

    pub(super) fn roll_or_change_error(&mut self, now: TimestampMs) -> Result<(), ChangeError> {
        self.roll(now).map_err(|error| match error {
            RollError::Failed(failed) => ChangeError::Failed(failed),
            RollError::Io(source) => self.change_io(source),
        })?;
        self.check_invariants();
        Ok(())
    }

    pub(super) fn change_io(&self, source: io::Error) -> ChangeError {
        ChangeError::Io {
            log: self.name.clone(),
            source,
        }
    }

    /// Whether the active segment should not take `bytes` more, up to `last_offset` and `max_timestamp`.
    pub(super) fn is_roll_due(
        &mut self,
        bytes: u64,
        max_timestamp: TimestampMs,
        last_offset: Offset,
        now: TimestampMs,
    ) -> io::Result<bool> {
        let (offset_entries_max, time_entries_max) = self.index_entries_max();
        let segment_bytes = u64::from(self.config.segment_bytes.min(i32::MAX as u32));
        let active = self.active_mut();
        if active.size == 0 {
            return Ok(false);
        }
        let (offset_entries, time_entries) = active.index_entries();
        let is_full = active.size + bytes > segment_bytes
            || offset_entries >= offset_entries_max
            || time_entries >= time_entries_max
            || last_offset.get() - active.base_offset.get() > i64::from(i32::MAX);
        Ok(is_full || self.is_too_old(max_timestamp, now)?)
    }

    /// As Kafka has it: counted from the first batch's timestamp to the new one's, or on the clock where the first has none.
    fn is_too_old(&mut self, timestamp: TimestampMs, now: TimestampMs) -> io::Result<bool> {
        let segment_ms = self.config.segment_ms_max();
        let disk = self.environment.disk.clone();
        let active = self.active_mut();
        if active.size == 0 {
            return Ok(false);
        }
        let first = active.first_timestamp(&*disk).map_err(into_io)?;
        let waited = match first {
            Some(first) if first.get() >= 0 => timestamp.get().saturating_sub(first.get()),
            _ => now.get().saturating_sub(active.created.get()),
        };
        Ok(waited > segment_ms)
    }

    fn index_entries_max(&self) -> (usize, usize) {
        let bytes = self.config.segment_index_bytes as usize;
        // Kafka keeps one place free in the time index, for the entry that sealing adds.
        let offsets = (bytes / offset_index::ENTRY_BYTES).max(1);
        let times = (bytes / time_index::ENTRY_BYTES).saturating_sub(1).max(1);
        (offsets, times)
    }

    /// Seals the active segment and begins another at the log's end.
    pub(super) fn roll(&mut self, now: TimestampMs) -> Result<(), RollError> {
        if let Err(error) = self.write_indexes() {
            return Err(match is_transient(&error) {
                true => RollError::Io(error),
                false => RollError::Failed(self.fail("writing the indexes", &error)),
            });
        }
        let layout = self.config.layout(self.compaction.is_dense(self.log_end));
        let segment = Segment::create(self.disk(), &self.dir, self.log_end, now, layout)
            .map_err(RollError::Io)?;
        self.note_sealed();
        self.dir_changes += 1;
        self.segments.push(segment);
        Ok(())
    }

    /// The active segment is complete: the next sync makes it durable, and writes the producers as they are at its end.
    pub(super) fn note_sealed(&mut self) {
        self.sealed.push(SealedSegment {
            base_offset: self.active().base_offset,
            log: self.active().kept_log(),
            end: self.log_end,
            snapshot: producer_snapshot::encode(&self.producers.to_snapshot()).into(),
        });
        self.bytes_since_snapshot = 0;
        self.bytes_since_producers = 0;
    }

    /// Writes the active segment's indexes.
    pub(super) fn write_indexes(&mut self) -> io::Result<IndexFiles> {
        let disk = self.environment.disk.clone();
        let files = self.active_mut().with_indexes(&*disk, |indexes| {
            indexes.push_max_timestamp();
            indexes.flush(&*disk)
        });
        let files = files.map_err(into_io)?;
        if files.is_named_anew {
            self.dir_changes += 1;
        }
        Ok(files)
    }

    /// Writes and syncs the active segment's indexes.
    pub(super) fn flush_indexes(&mut self) -> io::Result<()> {
        self.write_indexes()?.sync()
    }
}

/// A damaged segment is an error of the medium to whoever only wanted to write.
pub(super) fn into_io(error: SegmentError) -> io::Error {
    match error {
        SegmentError::Io(error) => error,
        broken @ SegmentError::Broken { .. } => {
            io::Error::new(io::ErrorKind::InvalidData, broken.to_string())
        }
    }
}
