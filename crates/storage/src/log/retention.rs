//! Retention: which segments go, and how they go.
//!
//! What goes is forgotten under the log's lock, which takes no time; its files go without the lock, by a [`Removal`]. The log's start is
//! made durable first, then files are removed, the oldest first: whatever subset of the removals survives a crash, the next open
//! finishes them. What fails is in the next removal again.

use super::roll::into_io;
use super::{Log, files, is_transient};
use crate::error::ChangeError;
use crate::formats::file_names;
use crate::segment::Segment;
use crate::types::{Retained, RetentionHold};
use fanlog_environment::{Disk, write_atomically_beside};
use fanlog_model::{Offset, TimestampMs};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// What a segment's files end with.
const SUFFIXES: [&str; 5] = [
    file_names::LOG,
    file_names::OFFSET_INDEX,
    file_names::TIME_INDEX,
    file_names::TRANSACTION_INDEX,
    file_names::PRODUCER_SNAPSHOT,
];

impl Log {
    /// As [`Log::start_retention`] without a hold, and removes the files too.
    ///
    /// # Errors
    /// As there.
    pub fn apply_retention(&mut self, now: TimestampMs) -> Result<Retained, ChangeError> {
        let retained = self.start_retention(now, None)?;
        self.finish_removals()?;
        Ok(retained)
    }

    /// Forgets the oldest segments that are too old (by the largest time of their records), too many (by size), or below the log's start.
    /// Their files go with the next removal. Only what is synced goes; the active segment goes where all of it may, after a roll. What is
    /// held stays, as far as the hold reaches.
    ///
    /// # Errors
    /// The disk refuses, or the log has stopped.
    pub fn start_retention(
        &mut self,
        now: TimestampMs,
        hold: Option<RetentionHold>,
    ) -> Result<Retained, ChangeError> {
        self.check_running()?;
        let mut count = self
            .count_expired(now)
            .map_err(|error| self.change_io(error))?;
        let expired = count;
        count = hold.map_or(count, |hold| self.count_not_held(count, hold));
        let held = self.segments[count..expired].iter();
        let held_bytes = held.map(|segment| segment.size).sum();
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
                held_bytes,
                ..Retained::default()
            });
        }
        let start = self.segments[count].base_offset.max(self.log_start);
        let retained = self.move_start(start);
        Ok(Retained {
            held_bytes,
            ..retained
        })
    }

    /// How many of the segments that may go by their age and size are not held: those that end before the hold, and the oldest others
    /// as long as more is held than the hold may.
    fn count_not_held(&self, expired: usize, hold: RetentionHold) -> usize {
        let from = hold.from.max(self.log_start);
        let ends = self.segments.iter().skip(1).map(|next| next.base_offset);
        let ends = ends.chain([self.log_end]).take(expired);
        let mut count = ends.take_while(|end| *end <= from).count();
        let held = self.segments[count..expired].iter();
        let mut held_bytes: u64 = held.map(|segment| segment.size).sum();
        while count < expired && hold.bytes_max.is_some_and(|max| held_bytes > max) {
            held_bytes -= self.segments[count].size;
            count += 1;
        }
        count
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
            let may_go = end <= self.synced
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
        let max = segment.max_timestamp(self.disk()).map_err(into_io)?;
        match max {
            Some(max) => Ok(now.get().saturating_sub(max.timestamp.get()) > retention_ms),
            // Records without a time are kept: nothing says how old they are. Without a record there is nothing to keep.
            None => segment.has_no_record(self.disk()).map_err(into_io),
        }
    }

    /// The time of the newest record in the segment that an offset is in: retention by age goes by it. None where no record has a time.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn newest_beside(&self, offset: Offset) -> io::Result<Option<TimestampMs>> {
        let segment = &self.segments[self.segment_index(offset)];
        let max = segment.max_timestamp(self.disk()).map_err(into_io)?;
        Ok(max.map(|max| max.timestamp))
    }

    /// As [`Log::start_deletion`], and for good: what is below is gone after any crash once this returns.
    ///
    /// # Errors
    /// As there, and the disk refuses.
    pub fn delete_records_before(&mut self, offset: Offset) -> Result<Offset, ChangeError> {
        let start = self.start_deletion(offset)?;
        self.finish_removals()?;
        Ok(start)
    }

    /// Moves the log's start up to `offset`, and forgets the segments below as far as they are synced. What is below is gone for every reader; it is gone for
    /// good once the next removal is done. Answers the log's start.
    ///
    /// # Errors
    /// The offset is above the high watermark; the log has stopped.
    pub fn start_deletion(&mut self, offset: Offset) -> Result<Offset, ChangeError> {
        self.check_running()?;
        if offset.get() < 0 || offset > self.durable {
            return Err(self.change_out_of_range(offset));
        }
        if offset > self.log_start {
            self.move_start(offset);
        }
        Ok(self.log_start)
    }

    fn move_start(&mut self, start: Offset) -> Retained {
        let before = self.log_start;
        self.log_start = start;
        self.epochs.truncate_from_start(start);
        let goes =
            |pair: &&[Segment]| pair[1].base_offset <= start && pair[1].base_offset <= self.synced;
        let count = match self.is_swapping() {
            // The next retention forgets what lies below the start.
            true => 0,
            false => self.segments.windows(2).take_while(goes).count(),
        };
        let mut retained = Retained {
            deleted_segments: count,
            deleted_offsets: start.get() - before.get(),
            log_start_offset: start,
            ..Retained::default()
        };
        for segment in self.segments.drain(..count) {
            retained.deleted_bytes += segment.size;
            self.forgotten.push(segment.base_offset);
        }
        let first = self.segments[0].base_offset;
        self.sealed.retain(|segment| segment.end >= first);
        self.check_invariants();
        retained
    }

    /// What must be removed, and noted on disk before that; nothing where all is done, or where the log has stopped. At most one
    /// removal may be out at a time.
    pub fn begin_removal(&self) -> Option<Removal> {
        let has_moved = self.log_start_saved < self.log_start;
        if self.failed.is_some() || !(has_moved || self.has_forgotten()) {
            return None;
        }
        Some(Removal {
            disk: self.environment.disk.clone(),
            dir: self.dir.clone(),
            log_start: self.log_start,
            has_moved,
            snapshot: self.snapshot_at_first(),
            segments: self.forgotten.clone(),
        })
    }

    /// The producers where the first segment begins, if no sync could write them: nothing else will say what those wrote whose batches
    /// go. What lies below is synced.
    fn snapshot_at_first(&self) -> Option<(Offset, Arc<[u8]>)> {
        let first = self.segments[0].base_offset;
        let sealed = self.sealed.iter().find(|segment| segment.end == first);
        sealed.map(|segment| (first, segment.snapshot.clone()))
    }

    /// Takes a removal back with what [`Removal::run`] said.
    ///
    /// # Errors
    /// What it said: the next removal has it again.
    pub fn finish_removal(
        &mut self,
        removal: &Removal,
        result: io::Result<()>,
    ) -> Result<(), ChangeError> {
        result.map_err(|error| self.change_io(error))?;
        self.log_start_saved = self.log_start_saved.max(removal.log_start);
        if let Some((offset, _)) = &removal.snapshot {
            self.sealed.retain(|segment| segment.end != *offset);
            if self.last_snapshot.is_none_or(|latest| latest < *offset) {
                self.replace_snapshot(*offset);
            }
        }
        self.forgotten
            .retain(|base_offset| !removal.segments.contains(base_offset));
        Ok(())
    }

    /// Whether segments were forgotten whose files may still be there.
    pub(super) fn has_forgotten(&self) -> bool {
        !self.forgotten.is_empty()
    }

    /// Removes what is forgotten here and now.
    pub(super) fn finish_removals(&mut self) -> Result<(), ChangeError> {
        match self.begin_removal() {
            Some(removal) => {
                let result = removal.run();
                self.finish_removal(&removal, result)
            }
            None => Ok(()),
        }
    }
}

/// What the temporary file of a removal ends with; what is written under the log's lock has another suffix.
const REMOVAL_SUFFIX: &str = ".removal.tmp";

/// Files to remove. It holds what it needs; the log may go on meanwhile.
#[derive(Debug)]
#[must_use = "a removal must be run and handed to Log::finish_removal"]
pub struct Removal {
    disk: Arc<dyn Disk>,
    dir: Arc<Path>,
    log_start: Offset,
    has_moved: bool,
    snapshot: Option<(Offset, Arc<[u8]>)>,
    /// Base offsets, rising.
    segments: Vec<Offset>,
}

impl Removal {
    /// Makes the log's start durable and removes the files below. Blocks; the log's lock must not be held.
    ///
    /// # Errors
    /// What the disk said; some of it may be done.
    pub fn run(&self) -> io::Result<()> {
        // First, as the next start removes what lies below the log's start.
        if let Some((offset, bytes)) = &self.snapshot {
            self.save(&files::snapshot_path(&self.dir, *offset), bytes)?;
        }
        if self.has_moved {
            let bytes = files::encode_log_start(&self.dir, self.log_start)?;
            self.save(
                &self.dir.join(file_names::LOG_START_OFFSET_CHECKPOINT),
                &bytes,
            )?;
        }
        for base_offset in &self.segments {
            remove_segment(&*self.disk, &self.dir, *base_offset)?;
        }
        if !self.segments.is_empty() {
            self.disk.sync_dir(&self.dir)?;
        }
        Ok(())
    }

    fn save(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let write = || write_atomically_beside(&*self.disk, path, bytes, REMOVAL_SUFFIX);
        match write() {
            Err(error) if is_transient(&error) && self.make_room()? => write(),
            written => written,
        }
    }

    /// On a full disk nothing could be removed for want of the few bytes that say so. Indexes can be built anew, should a crash
    /// bring their segments back. Says whether any went.
    fn make_room(&self) -> io::Result<bool> {
        let mut has_room = false;
        for base_offset in &self.segments {
            for suffix in [file_names::OFFSET_INDEX, file_names::TIME_INDEX] {
                let path = self.dir.join(file_names::with_offset(*base_offset, suffix));
                has_room |= self.disk.remove_file(&path).is_ok();
            }
        }
        self.disk.sync_dir(&self.dir)?;
        Ok(has_room)
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
