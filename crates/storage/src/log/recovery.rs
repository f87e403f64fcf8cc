//! Recovery: find out what is in a folder that was not closed in order, and make it durable before anyone relies on it.
//!
//! The log is walked from the last snapshot on (what lies below a snapshot was synced), every checksum is computed, what the segments lack is appended again from the journal, a torn
//! tail is cut off, and damage to what was durable stops the partition with an error; nothing is deleted then.
//! Everything that can be computed from the batches (indexes, snapshots, epochs) is computed anew where it is missing or damaged.

use super::open::Listing;
use super::tail::{Walk, Walked};
use super::{Log, files, open_error, retention};
use crate::config::Durability;
use crate::error::OpenLogError;
use crate::formats::file_names;
use crate::journal::{Damage, Replay};
use crate::producer_state::ProducerState;
use crate::segment::{Segment, SegmentError};
use fanlog_model::Offset;
use std::collections::VecDeque;
use std::io;
use std::path::Path;

impl Log {
    /// Finds the end of the log, and everything that can be computed from its batches.
    pub(super) fn recover(
        &mut self,
        listing: &Listing,
        replay: &Replay,
    ) -> Result<(), OpenLogError> {
        let path = self.active().log_path();
        let io_error = open_error(&path);
        let disk = self.environment.disk.clone();
        // A segment may have been begun whose name no sync has covered: the next one does.
        self.dir_changes += 1;
        for name in &listing.unfinished {
            // Each crash would leave one more; one too many does no harm.
            let _ = disk.remove_file(&self.dir.join(name));
        }
        if !listing.has_mark {
            // Nothing was ever durable here: the process may have been killed, or a sync have failed, between creating the folder
            // and syncing its name and those in it.
            disk.sync_dir(&self.dir).map_err(&io_error)?;
            let parent = self.dir.parent().unwrap_or(Path::new(""));
            disk.sync_dir(parent).map_err(&io_error)?;
        }
        let mark = files::read_mark(&*disk, &self.dir).map_err(&io_error)?;
        self.load_snapshot(listing).map_err(&io_error)?;
        let noted = self.load_producers().map_err(&io_error)?;
        let known = noted.offset;
        let proven = mark.max(known).max(replay.point());
        let are_epochs_known = self.load_epochs(known).map_err(&io_error)?;
        let walk_from = match are_epochs_known {
            // The indexes of a segment that ends there may not be durable.
            true if noted.index_entries.is_some() => Offset(known.get() - 1),
            true => known,
            false => self.segments[0].base_offset,
        };
        let first = self.segment_index(walk_from);
        self.check_chain(first)?;
        let rest = self.segments.split_off(first + 1);
        let Found { walked, rest } = self.walk_all(rest, &noted, are_epochs_known, replay)?;
        if walked.end < proven {
            let position = walked.broken_at.unwrap_or(self.active().size);
            let reason = format!("the log was durable up to offset {proven}");
            return Err(self.corrupt(position, walked.end, reason));
        }
        let lacking = replay.behind(walked.end).map_err(damaged)?;
        if !(self.is_journaled() && replay.is_there()) {
            self.check_is_torn(&walked, !rest.is_empty())?;
        }
        self.log_end = walked.end;
        self.epochs.truncate_from_start(self.log_start);
        let is_cut = walked.broken_at.is_some() || !rest.is_empty();
        let is_new = is_cut || walked.end > proven || !lacking.is_empty();
        if is_cut {
            self.cut_tail(walked.broken_at, &rest).map_err(&io_error)?;
        }
        self.append_again(&lacking).map_err(&io_error)?;
        if self.log_end < self.log_start {
            if self.is_journaled() {
                let reason = format!("the log starts at offset {}", self.log_start);
                return Err(self.corrupt(self.active().size, self.log_end, reason));
            }
            self.begin_at_start().map_err(&io_error)?;
        }
        if is_new || listing.has_sync_failure {
            let has_journal = self.is_journaled() && replay.is_there();
            self.settle(listing, has_journal).map_err(&io_error)?;
        }
        self.durable = self.log_end;
        self.synced = self.log_end;
        // The markers that came from the journal are durable as well: nothing else would say so before the next append.
        self.undurable_ends.clear();
        Ok(())
    }

    fn is_journaled(&self) -> bool {
        self.config.durability == Durability::Sync
    }

    /// Walks the last segment that is in the log so far, and those of `rest` behind it as far as they are whole, one after the other.
    fn walk_all(
        &mut self,
        rest: Vec<Segment>,
        noted: &Noted,
        are_epochs_known: bool,
        replay: &Replay,
    ) -> Result<Found, OpenLogError> {
        let path = self.active().log_path();
        let io_error = open_error(&path);
        let disk = self.environment.disk.clone();
        let mut rest = VecDeque::from(rest);
        self.read_past_the_page_cache().map_err(&io_error)?;
        let base_offset = self.active().base_offset;
        let mut position = 0;
        let known = noted.offset;
        let segment_error = |log: &Self, error| log.open_segment_error(error);
        let reset = self.active_mut().reset_indexes(&*disk, known);
        reset.map_err(|error| segment_error(self, error))?;
        let snapshot = self.last_snapshot.unwrap_or(Offset::ZERO);
        // Behind the snapshot a power cut may have taken index entries.
        for (from, entries) in [(known, noted.index_entries), (snapshot, None)] {
            if position == 0 && from > base_offset && are_epochs_known {
                let resumed = self
                    .active_mut()
                    .resume_indexes(&*disk, from, snapshot, entries, known);
                position = resumed.map_err(|error| self.open_segment_error(error))?;
            }
        }
        #[cfg(feature = "planted-faults")]
        let known = crate::planted::notes_from(known);
        let mut walk = Walk {
            position,
            notes_from: known,
            checks_crc: true,
        };
        loop {
            let walked = self.walk_tail(walk, replay).map_err(&io_error)?;
            let reaches = |next: Offset| walked.end == next;
            let is_whole = walked.broken_at.is_none();
            let Some(next) = rest.pop_front_if(|next| is_whole && reaches(next.base_offset)) else {
                let rest = rest.into();
                return Ok(Found { walked, rest });
            };
            self.log_end = next.base_offset;
            self.write_indexes().map_err(&io_error)?;
            if next.base_offset > snapshot {
                self.note_sealed();
            }
            self.segments.push(next);
            self.read_past_the_page_cache().map_err(&io_error)?;
            let reset = self.active_mut().reset_indexes(&*disk, known);
            reset.map_err(|error| segment_error(self, error))?;
            walk.position = 0;
        }
    }

    /// Cuts off what lies behind the last good batch: segments from the last on, so that at every moment a whole log is there.
    fn cut_tail(&mut self, torn_at: Option<u64>, rest: &[Segment]) -> io::Result<()> {
        let disk = self.environment.disk.clone();
        let mut bytes: u64 = 0;
        for segment in rest.iter().rev() {
            bytes += segment.size;
            retention::remove_segment(&*disk, &self.dir, segment.base_offset)?;
            disk.sync_dir(&self.dir)?;
        }
        if let Some(position) = torn_at {
            bytes += self.active().size - position;
            let file = self.active().log_file(&*disk)?;
            file.set_len(position)?;
            // What is written there next must not be mixed with it by another crash.
            file.sync_data()?;
            self.active_mut().size = position;
        }
        if bytes > 0 {
            tracing::warn!(log = %self.name, bytes, end = %self.log_end, "cut off a torn tail, which the segments did not hold durably");
        }
        Ok(())
    }

    /// A log that does not wait for the disk lost even what was deleted of it: it goes on, empty, where it starts.
    fn begin_at_start(&mut self) -> io::Result<()> {
        let disk = self.environment.disk.clone();
        while let Some(segment) = self.segments.pop() {
            retention::remove_segment(&*disk, &self.dir, segment.base_offset)?;
        }
        let now = self.environment.clock.wall_ms();
        let layout = self.config.layout(self.compaction.is_dense(self.log_start));
        let segment = Segment::create(&*disk, &self.dir, self.log_start, now, layout)?;
        self.segments.push(segment);
        self.sealed.clear();
        self.log_end = self.log_start;
        Ok(())
    }

    /// Makes all that was found durable and notes how far it reaches. With few syncs: a thousand logs may have to settle. Where there is a
    /// journal, it keeps the log's records until its checkpoint, which is written once all logs are open, says how far this one is
    /// durable; the note needs no sync of its own then.
    fn settle(&mut self, listing: &Listing, has_journal: bool) -> io::Result<()> {
        let disk = self.environment.disk.clone();
        match self.begin_sync() {
            Some(ticket) => {
                ticket.run()?;
                self.take_in(&ticket);
            }
            None => {
                self.check_running().map_err(io::Error::other)?;
                disk.sync_dir(&self.dir)?;
                self.active().log_file(&*disk)?.sync_data()?;
            }
        }
        if has_journal {
            files::write_mark(&self.mark, &*disk, &self.dir, self.log_end);
        } else {
            files::save_mark(&*disk, &self.dir, self.log_end)?;
        }
        if listing.has_sync_failure {
            match disk.remove_file(&self.dir.join(file_names::SYNC_FAILURE_MARKER)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        // The mark's own name, and that the note of the failed sync is gone.
        if listing.has_sync_failure || (!has_journal && !listing.has_mark) {
            disk.sync_dir(&self.dir)?;
        }
        Ok(())
    }

    /// What the kernel holds of the last segment may never have reached the disk (after a failed sync), and would not survive.
    fn read_past_the_page_cache(&mut self) -> io::Result<()> {
        let disk = self.environment.disk.clone();
        let path = self.active().log_path();
        self.active().close_file();
        disk.drop_page_cache(&path)?;
        let size = self.active().log_file(&*disk)?.len()?;
        self.active_mut().size = size;
        Ok(())
    }

    /// The latest snapshot that is not damaged.
    fn load_snapshot(&mut self, listing: &Listing) -> io::Result<()> {
        for offset in listing.snapshots.iter().rev() {
            if let Some(entries) = files::read_snapshot(self.disk(), &self.dir, *offset)? {
                self.producers = ProducerState::from_snapshot(&entries);
                self.last_snapshot = Some(*offset);
                return Ok(());
            }
        }
        self.producers = ProducerState::default();
        self.last_snapshot = None;
        Ok(())
    }

    /// The producers as they are known without a walk, and where.
    fn load_producers(&mut self) -> io::Result<Noted> {
        let snapshot = self.last_snapshot.unwrap_or(Offset::ZERO);
        let noted = files::read_producers(self.disk(), &self.dir)?;
        let Some(noted) = noted.filter(|noted| noted.offset > snapshot) else {
            return Ok(Noted {
                offset: snapshot,
                index_entries: None,
            });
        };
        self.producers = ProducerState::from_snapshot(&noted.entries);
        self.bytes_since_snapshot = noted.bytes_since_snapshot;
        Ok(Noted {
            offset: noted.offset,
            index_entries: Some(noted.index_entries),
        })
    }

    /// Each segment before the one where the walk begins must end where the next begins: compaction keeps its last batch, if without
    /// records.
    fn check_chain(&self, first: usize) -> Result<(), OpenLogError> {
        for pair in self.segments[..=first].windows(2) {
            let next = pair[1].base_offset;
            let last = pair[0].find(self.disk(), Offset(next.get() - 1));
            let last = last.map_err(|error| self.open_segment_error(error))?;
            if last.is_none_or(|last| last.header.next_offset() != next) {
                let reason =
                    format!("it does not reach to offset {next}, where the next segment begins");
                return Err(OpenLogError::Corrupt {
                    path: pair[0].log_path(),
                    position: pair[0].size,
                    offset: next,
                    reason,
                });
            }
        }
        Ok(())
    }

    /// The epochs of what lies below the snapshot; the batches say those behind it. Says whether they were saved; otherwise all batches
    /// are asked.
    fn load_epochs(&mut self, snapshot: Offset) -> io::Result<bool> {
        let saved = files::read_epochs(self.disk(), &self.dir)?;
        let is_saved = saved.is_some();
        self.set_epochs(saved.unwrap_or_default());
        if is_saved {
            self.epochs.truncate_from_end(snapshot);
        } else {
            self.epochs_saved = u64::MAX;
        }
        Ok(is_saved)
    }

    pub(super) fn open_segment_error(&self, error: SegmentError) -> OpenLogError {
        match error {
            SegmentError::Io(source) => OpenLogError::Io {
                path: self.dir.to_path_buf(),
                source,
            },
            SegmentError::Broken {
                path,
                position,
                reason,
            } => OpenLogError::Corrupt {
                path,
                position,
                offset: Offset(-1),
                reason: reason.into(),
            },
        }
    }
}

/// Below which offset the producers are known without a walk, and how many entries the indexes there must have.
struct Noted {
    offset: Offset,
    index_entries: Option<(u32, u32)>,
}

/// Where the walk over all segments ended, and which of them lie behind.
struct Found {
    walked: Walked,
    rest: Vec<Segment>,
}

fn damaged(damage: Damage) -> OpenLogError {
    OpenLogError::Corrupt {
        path: damage.path,
        position: damage.position,
        offset: damage.offset,
        reason: damage.reason,
    }
}
