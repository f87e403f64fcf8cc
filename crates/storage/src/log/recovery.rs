//! Open: find out what is in a folder, and make it durable before anyone relies on it.
//!
//! After a clean shutdown only the end of the last segment is looked at. Otherwise the log is walked from the last snapshot on (what
//! lies below a snapshot was synced), every checksum is computed, what the segments lack is appended again from the journal, a torn
//! tail is cut off, and damage to what was durable stops the partition with an error; nothing is deleted then.
//! Everything that can be computed from the batches (indexes, snapshots, epochs) is computed anew where it is missing or damaged.

use super::compaction::Compaction;
use super::roll::RollError;
use super::tail::{Walk, Walked};
use super::{Log, files, open_error, retention};
use crate::compaction::swap;
use crate::config::{Durability, LogConfig};
use crate::error::OpenLogError;
use crate::formats::file_names::{self, LOG, PRODUCER_SNAPSHOT};
use crate::header::BatchHeader;
use crate::journal::{Damage, Kept, Replay};
use crate::leader_epochs::LeaderEpochs;
use crate::producer_state::ProducerState;
use crate::segment::{Segment, SegmentError};
use crate::types::RecoveryMode;
use fanlog_environment::{Disk, Environment, OpenMode};
use fanlog_model::{LeaderEpoch, Offset, TimestampMs};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// What a folder holds, by the names in it.
struct Listing {
    /// Base offset and size of each segment, rising.
    segments: Vec<(Offset, u64)>,
    /// The offsets of the snapshots, rising.
    snapshots: Vec<Offset>,
    has_sync_failure: bool,
    has_mark: bool,
    /// Whether compaction has left something.
    has_compaction: bool,
    /// Snapshots that a crash cut off while they were written.
    unfinished: Vec<OsString>,
}

impl Listing {
    fn read(disk: &dyn Disk, dir: &Path) -> io::Result<Self> {
        let mut listing = Self {
            segments: Vec::new(),
            snapshots: Vec::new(),
            has_sync_failure: false,
            has_mark: false,
            has_compaction: false,
            unfinished: Vec::new(),
        };
        for entry in disk.read_dir(dir)? {
            let name = entry.name.to_string_lossy();
            match file_names::parse(&name) {
                Some((base_offset, LOG)) => {
                    let file = disk.open(&dir.join(&*name), OpenMode::Read)?;
                    listing.segments.push((base_offset, file.len()?));
                }
                Some((offset, PRODUCER_SNAPSHOT)) => listing.snapshots.push(offset),
                _ if name == file_names::SYNC_FAILURE_MARKER => listing.has_sync_failure = true,
                _ if name == file_names::RECOVERY_MARK => listing.has_mark = true,
                _ if swap::is_of_compaction(&name) => listing.has_compaction = true,
                _ if is_unfinished_snapshot(&name) => listing.unfinished.push(entry.name.clone()),
                _ => {}
            }
        }
        listing.segments.sort_unstable();
        listing.snapshots.sort_unstable();
        Ok(listing)
    }
}

impl Log {
    /// Opens a log. What is in it is durable when this returns. `leader_epoch` is the one that leads from now on; it must be above those
    /// that led before (LOG-3).
    ///
    /// # Errors
    /// Bytes that were durable are damaged or missing; the disk refuses. Nothing was deleted.
    pub fn open(
        environment: &Environment,
        dir: &Path,
        config: LogConfig,
        mode: RecoveryMode,
        leader_epoch: LeaderEpoch,
    ) -> Result<Self, OpenLogError> {
        let nothing = Replay::default();
        Self::open_with(environment, dir, config, mode, leader_epoch, &nothing)
    }

    /// As [`Log::open`], with what the journal has of the log.
    ///
    /// # Errors
    /// As there; what was durable is damaged or missing in the journal, and in the segments too.
    pub fn open_with(
        environment: &Environment,
        dir: &Path,
        config: LogConfig,
        mode: RecoveryMode,
        leader_epoch: LeaderEpoch,
        replay: &Replay,
    ) -> Result<Self, OpenLogError> {
        let disk = &*environment.disk;
        let mut listing = Listing::read(disk, dir).map_err(open_error(dir))?;
        let compaction = Compaction::open(disk, dir, listing.has_compaction);
        let compaction = compaction.map_err(open_error(&dir.join(file_names::COMPACTION_STATE)))?;
        if listing.has_compaction {
            listing = Listing::read(disk, dir).map_err(open_error(dir))?;
        }
        let mut log = Self::assemble(environment, dir, config, leader_epoch, &listing, compaction)?;
        let is_clean = mode.clean && !listing.has_sync_failure && log.open_clean()?;
        if !is_clean {
            log.recover(&listing, replay)?;
        }
        // A log that was led by a higher epoch must not go back.
        log.leader_epoch = log
            .leader_epoch
            .max(log.epochs.latest().unwrap_or(LeaderEpoch(0)));
        log.check_invariants();
        Ok(log)
    }

    /// The log as the names in its folder say, before any batch was looked at.
    fn assemble(
        environment: &Environment,
        dir: &Path,
        config: LogConfig,
        leader_epoch: LeaderEpoch,
        listing: &Listing,
        compaction: Compaction,
    ) -> Result<Self, OpenLogError> {
        let disk = &*environment.disk;
        let io_error = open_error(dir);
        let dir: Arc<Path> = dir.into();
        let saved_start = files::read_log_start(disk, &dir).map_err(open_error(
            &dir.join(file_names::LOG_START_OFFSET_CHECKPOINT),
        ))?;
        let now = environment.clock.wall_ms();
        let layout = |base| config.layout(compaction.is_dense(base));
        let mut segments: Vec<Segment> = listing
            .segments
            .iter()
            .map(|(base, size)| Segment::existing(&dir, *base, *size, now, layout(*base)))
            .collect();
        check_sizes(&segments)?;
        let mut log_start = saved_start.unwrap_or(Offset::ZERO);
        // What no snapshot proves is looked at first: the producers are known from nothing else.
        let snapshot = listing.snapshots.last().copied().unwrap_or_default();
        let below = log_start.min(snapshot);
        finish_removals(disk, &dir, &mut segments, below).map_err(&io_error)?;
        if segments.is_empty() {
            if listing.has_mark || saved_start.is_some() || !listing.snapshots.is_empty() {
                return Err(missing(&dir, log_start, "the segment files are missing"));
            }
            let first = Segment::create(disk, &dir, Offset::ZERO, now, layout(Offset::ZERO));
            segments.push(first.map_err(&io_error)?);
            disk.sync_dir(&dir).map_err(&io_error)?;
        }
        let first = segments[0].base_offset;
        if first > log_start {
            // A folder that Kafka wrote keeps no start of its own.
            if listing.has_mark || saved_start.is_some() {
                return Err(missing(
                    &dir,
                    log_start,
                    "the first segment file is missing",
                ));
            }
            log_start = first;
        }
        let name = dir
            .file_name()
            .map_or_else(|| dir.to_string_lossy(), |n| n.to_string_lossy());
        Ok(Self {
            environment: environment.clone(),
            name: name.into(),
            topic_id: files::read_topic_id(disk, &dir).map_err(&io_error)?,
            dir: dir.clone(),
            config,
            log_end: segments[segments.len() - 1].base_offset.max(log_start),
            segments,
            log_start,
            log_start_saved: log_start,
            forgotten: Vec::new(),
            durable: Offset::ZERO,
            synced: Offset::ZERO,
            sealed: Vec::new(),
            leader_epoch,
            epochs: LeaderEpochs::default(),
            epochs_saved: 0,
            producers: ProducerState::default(),
            last_snapshot: None,
            bytes_since_snapshot: 0,
            bytes_since_producers: 0,
            producers_bytes: 0,
            dir_changes: 0,
            dir_synced: 0,
            compaction,
            generation: 0,
            failed: None,
            has_sync_failed: Arc::new(Mutex::new(false)),
            mark: Arc::default(),
        })
    }

    /// Opens what was closed in order; says whether everything was found as closing leaves it.
    fn open_clean(&mut self) -> Result<bool, OpenLogError> {
        let path = self.active().log_path();
        let io_error = open_error(&path);
        let disk = self.environment.disk.clone();
        let position = match self.active_mut().last_indexed(&*disk) {
            Ok(position) => position,
            Err(SegmentError::Broken { .. }) => return Ok(false),
            Err(SegmentError::Io(error)) => return Err(io_error(error)),
        };
        let walk = Walk {
            position,
            notes_from: Offset(i64::MAX),
            checks_crc: false,
        };
        let walked = self.walk_tail(walk, &Replay::default());
        let walked = walked.map_err(&io_error)?;
        let mark = files::read_mark(&*disk, &self.dir).map_err(&io_error)?;
        let epochs = files::read_epochs(&*disk, &self.dir).map_err(&io_error)?;
        let snapshot = files::read_snapshot(&*disk, &self.dir, walked.end).map_err(&io_error)?;
        let (Some(epochs), Some(snapshot)) = (epochs, snapshot) else {
            return Ok(false);
        };
        if walked.broken_at.is_some() || walked.end < mark || walked.end < self.log_start {
            return Ok(false);
        }
        self.set_epochs(epochs);
        self.epochs.truncate_from_end(walked.end);
        self.epochs.truncate_from_start(self.log_start);
        self.producers = ProducerState::from_snapshot(&snapshot);
        self.last_snapshot = Some(walked.end);
        self.log_end = walked.end;
        self.durable = walked.end;
        self.synced = walked.end;
        Ok(true)
    }

    fn set_epochs(&mut self, entries: Vec<crate::formats::leader_epoch_checkpoint::EpochEntry>) {
        self.epochs = LeaderEpochs::new(entries);
        self.epochs_saved = self.epochs.version();
    }

    /// Finds the end of the log, and everything that can be computed from its batches.
    fn recover(&mut self, listing: &Listing, replay: &Replay) -> Result<(), OpenLogError> {
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
        self.active_mut().reset_indexes();
        let mut position = 0;
        let known = noted.offset;
        let snapshot = self.last_snapshot.unwrap_or(Offset::ZERO);
        // Behind the snapshot a power cut may have taken index entries.
        for (from, entries) in [(known, noted.index_entries), (snapshot, None)] {
            if position == 0 && from > base_offset && are_epochs_known {
                let resumed = self
                    .active_mut()
                    .resume_indexes(&*disk, from, snapshot, entries);
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
            self.active_mut().reset_indexes();
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

    /// Appends what the journal has and the segments lack.
    fn append_again(&mut self, lacking: &[&Kept]) -> io::Result<()> {
        let now = self.environment.clock.wall_ms();
        let before = self.log_end;
        for kept in lacking {
            let bytes = kept.read()?;
            let mut at = 0;
            while let Some(header) = bytes.get(at..).and_then(BatchHeader::decode) {
                let end = at + usize::try_from(header.bytes).unwrap_or(usize::MAX);
                let batch = bytes.get(at..end).ok_or(io::ErrorKind::InvalidData)?;
                self.append_batch_again(&header, batch, now)?;
                at = end;
            }
        }
        if !lacking.is_empty() {
            tracing::info!(log = %self.name, from = %before, to = %self.log_end, "appended again from the journal");
        }
        Ok(())
    }

    fn append_batch_again(
        &mut self,
        header: &BatchHeader,
        batch: &[u8],
        now: TimestampMs,
    ) -> io::Result<()> {
        if header.next_offset() <= self.log_end {
            return Ok(());
        }
        if header.base_offset != self.log_end {
            let message = format!(
                "the journal has {} where {} follows",
                header.base_offset, self.log_end
            );
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        let (last, max_timestamp) = (header.last_offset, header.max_timestamp);
        if self.is_roll_due(header.bytes, max_timestamp, last, now)? {
            self.roll(now).map_err(|error| match error {
                RollError::Io(error) => error,
                RollError::Failed(failed) => io::Error::other(failed),
            })?;
        }
        let file = self.active().log_file_to_write(self.disk())?;
        file.write_all_at(batch, self.active().size)?;
        self.note(header, now);
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

    fn open_segment_error(&self, error: SegmentError) -> OpenLogError {
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

fn is_unfinished_snapshot(name: &str) -> bool {
    let written = name.strip_suffix(".tmp");
    let written = written.map(|name| {
        let other = name.strip_suffix(".sync").or(name.strip_suffix(".removal"));
        other.unwrap_or(name)
    });
    let parsed = written.and_then(file_names::parse);
    matches!(parsed, Some((_, PRODUCER_SNAPSHOT)))
}

/// Removes the segments below an offset that a crash kept.
fn finish_removals(
    disk: &dyn Disk,
    dir: &Path,
    segments: &mut Vec<Segment>,
    below: Offset,
) -> io::Result<()> {
    let is_below = |pair: &[Segment]| pair[1].base_offset <= below;
    let count = segments
        .windows(2)
        .take_while(|pair| is_below(pair))
        .count();
    #[cfg(feature = "planted-faults")]
    let count = crate::planted::removed_segments(count, segments.len());
    for segment in segments.drain(..count) {
        retention::remove_segment(disk, dir, segment.base_offset)?;
    }
    if count > 0 {
        disk.sync_dir(dir)?;
    }
    Ok(())
}

fn check_sizes(segments: &[Segment]) -> Result<(), OpenLogError> {
    let is_too_large = |segment: &&Segment| i32::try_from(segment.size).is_err();
    match segments.iter().find(is_too_large) {
        Some(segment) => Err(OpenLogError::Corrupt {
            path: segment.log_path(),
            position: i32::MAX as u64,
            offset: segment.base_offset,
            reason: "a segment has at most 2 GiB".into(),
        }),
        None => Ok(()),
    }
}

fn missing(dir: &Path, log_start: Offset, reason: &str) -> OpenLogError {
    OpenLogError::Corrupt {
        path: dir.join(file_names::with_offset(log_start, LOG)),
        position: 0,
        offset: log_start,
        reason: reason.into(),
    }
}
