//! Open: find out what is in a folder, and make it durable before anyone relies on it.
//!
//! After a clean shutdown only the end of the last segment is looked at. Otherwise the last segment is walked from the last snapshot on
//! (segments before it are durable as a whole, see `roll.rs`), every checksum is computed, a torn tail is cut off, and damage to
//! what was durable stops the partition with an error; nothing is deleted then.
//! Everything that can be computed from the batches (indexes, snapshots, epochs) is computed anew where it is missing or damaged.

use super::tail::Walk;
use super::{Log, files, open_error, retention};
use crate::config::LogConfig;
use crate::error::OpenLogError;
use crate::formats::file_names::{self, LOG, PRODUCER_SNAPSHOT};
use crate::header::{BatchHeader, Step};
use crate::leader_epochs::LeaderEpochs;
use crate::producer_state::ProducerState;
use crate::segment::{Segment, SegmentError};
use crate::types::RecoveryMode;
use fanlog_environment::{Disk, Environment, OpenMode};
use fanlog_model::{LeaderEpoch, Offset};
use parking_lot::Mutex;
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
        let disk = &*environment.disk;
        let listing = Listing::read(disk, dir).map_err(open_error(dir))?;
        let mut log = Self::assemble(environment, dir, config, leader_epoch, &listing)?;
        let is_clean = mode.clean && !listing.has_sync_failure && log.open_clean()?;
        if !is_clean {
            log.recover(&listing)?;
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
    ) -> Result<Self, OpenLogError> {
        let disk = &*environment.disk;
        let io_error = open_error(dir);
        let dir: Arc<Path> = dir.into();
        let saved_start = files::read_log_start(disk, &dir).map_err(open_error(
            &dir.join(file_names::LOG_START_OFFSET_CHECKPOINT),
        ))?;
        let now = environment.clock.wall_ms();
        let layout = config.layout();
        let mut segments: Vec<Segment> = listing
            .segments
            .iter()
            .map(|(base_offset, size)| Segment::existing(&dir, *base_offset, *size, now, layout))
            .collect();
        check_sizes(&segments)?;
        let mut log_start = saved_start.unwrap_or(Offset::ZERO);
        finish_removals(disk, &dir, &mut segments, log_start).map_err(&io_error)?;
        if segments.is_empty() {
            if listing.has_mark || saved_start.is_some() || !listing.snapshots.is_empty() {
                return Err(missing(&dir, log_start, "the segment files are missing"));
            }
            let first = Segment::create(disk, &dir, Offset::ZERO, now, layout);
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
            leader_epoch,
            epochs: LeaderEpochs::default(),
            epochs_saved: 0,
            producers: ProducerState::default(),
            last_snapshot: None,
            bytes_since_snapshot: 0,
            dir_changes: 0,
            dir_synced: 0,
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
        let walked = self.walk_tail(walk).map_err(&io_error)?;
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
        Ok(true)
    }

    fn set_epochs(&mut self, entries: Vec<crate::formats::leader_epoch_checkpoint::EpochEntry>) {
        self.epochs = LeaderEpochs::new(entries);
        self.epochs_saved = self.epochs.version();
    }

    /// Finds the end of the log, and everything that can be computed from its batches.
    fn recover(&mut self, listing: &Listing) -> Result<(), OpenLogError> {
        let path = self.active().log_path();
        let io_error = open_error(&path);
        let disk = self.environment.disk.clone();
        for name in &listing.unfinished {
            // Each crash would leave one more; one too many does no harm.
            let _ = disk.remove_file(&self.dir.join(name));
        }
        self.read_past_the_page_cache().map_err(&io_error)?;
        if !listing.has_mark {
            // Nothing was ever durable here: the process may have been killed, or a sync have failed, between creating the folder
            // and syncing its name and those in it.
            disk.sync_dir(&self.dir).map_err(&io_error)?;
            let parent = self.dir.parent().unwrap_or(Path::new(""));
            disk.sync_dir(parent).map_err(&io_error)?;
        }
        let mark = files::read_mark(&*disk, &self.dir).map_err(&io_error)?;
        self.load_snapshot(listing).map_err(&io_error)?;
        let snapshot = self.last_snapshot.unwrap_or(Offset::ZERO);
        let base_offset = self.active().base_offset;
        let durable = mark.max(snapshot).max(base_offset).max(self.log_start);
        self.check_chain()?;
        let are_epochs_known = self.load_sealed(snapshot)?;
        let position = if snapshot > base_offset && are_epochs_known {
            let resumed = self.active_mut().resume_indexes(&*disk, snapshot);
            resumed.map_err(|error| self.open_segment_error(error))?
        } else {
            self.active_mut().reset_indexes();
            0
        };
        let notes_from = snapshot.max(base_offset);
        #[cfg(feature = "planted-faults")]
        let notes_from = crate::planted::notes_from(notes_from);
        let walk = Walk {
            position,
            notes_from,
            checks_crc: true,
        };
        let walked = self.walk_tail(walk).map_err(&io_error)?;
        if let Some(position) = walked.broken_at {
            self.check_is_torn(position, walked.end, durable)?;
        }
        if walked.end < durable {
            let reason = format!("the log was durable up to offset {durable} and ends here");
            return Err(self.corrupt(self.active().size, walked.end, reason));
        }
        self.log_end = walked.end;
        self.epochs.truncate_from_start(self.log_start);
        let is_new = walked.broken_at.is_some() || walked.end > durable || listing.has_sync_failure;
        if is_new {
            self.settle(walked.broken_at).map_err(&io_error)?;
        }
        self.durable = self.log_end;
        Ok(())
    }

    /// Cuts a torn tail off, makes what is left durable and notes how far it reaches.
    fn settle(&mut self, torn_at: Option<u64>) -> io::Result<()> {
        let disk = self.environment.disk.clone();
        let file = self.active().log_file(&*disk)?;
        if let Some(position) = torn_at {
            let bytes = self.active().size - position;
            tracing::warn!(log = %self.name, bytes, end = %self.log_end, "cut off a torn tail, which was not durable");
            file.set_len(position)?;
            self.active_mut().size = position;
        }
        file.sync_data()?;
        disk.sync_dir(&self.dir)?;
        files::save_mark(&*disk, &self.dir, self.log_end)?;
        match disk.remove_file(&self.dir.join(file_names::SYNC_FAILURE_MARKER)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        disk.sync_dir(&self.dir)
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

    /// Each segment but the last must end where the next begins. Compaction may remove its last batches.
    fn check_chain(&self) -> Result<(), OpenLogError> {
        if self.config.is_compacted {
            return Ok(());
        }
        for pair in self.segments.windows(2) {
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

    /// Epochs and producers up to the last segment: from their files, and from the batches of earlier segments where those are missing.
    /// Says whether the epochs were saved.
    fn load_sealed(&mut self, snapshot: Offset) -> Result<bool, OpenLogError> {
        let saved = files::read_epochs(self.disk(), &self.dir).map_err(open_error(&self.dir))?;
        let is_saved = saved.is_some();
        self.set_epochs(saved.unwrap_or_default());
        if !is_saved {
            self.epochs_saved = u64::MAX;
        }
        let walk_from = if is_saved {
            snapshot
        } else {
            self.segments[0].base_offset
        };
        self.epochs.truncate_from_end(walk_from);
        let (mut epochs, mut producers) =
            (self.epochs.clone(), std::mem::take(&mut self.producers));
        let now = self.environment.clock.wall_ms();
        for i in self.segment_index(walk_from)..self.segments.len() - 1 {
            let segment = &self.segments[i];
            self.walk_sealed(segment, |header| {
                epochs.assign(header.leader_epoch, header.base_offset);
                if header.base_offset >= snapshot {
                    producers.apply(header, now);
                }
            })
            .map_err(|error| self.open_segment_error(error))?;
        }
        (self.epochs, self.producers) = (epochs, producers);
        Ok(is_saved)
    }

    fn walk_sealed(
        &self,
        segment: &Segment,
        mut note: impl FnMut(&BatchHeader),
    ) -> Result<(), SegmentError> {
        let file = segment.log_file(self.disk())?;
        let mut walk = segment.walk(&*file, 0);
        while let Step::Batch { header, .. } = segment.checked(walk.step()?)? {
            note(&header);
        }
        Ok(())
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

fn is_unfinished_snapshot(name: &str) -> bool {
    let written = name.strip_suffix(".tmp");
    let written = written.map(|name| name.strip_suffix(".sync").unwrap_or(name));
    let parsed = written.and_then(file_names::parse);
    matches!(parsed, Some((_, PRODUCER_SNAPSHOT)))
}

/// Removes the segments below the log's start that a crash kept.
fn finish_removals(
    disk: &dyn Disk,
    dir: &Path,
    segments: &mut Vec<Segment>,
    log_start: Offset,
) -> io::Result<()> {
    let is_below = |pair: &[Segment]| pair[1].base_offset <= log_start;
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
