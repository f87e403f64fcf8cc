//! Open: the log as the names in its folder say, and, after a clean shutdown, a look at the end of its last segment. Anything else is
//! for `recovery.rs`.

use super::compaction::Compaction;
use super::tail::Walk;
use super::{Log, files, open_error, retention};
use crate::compaction::swap;
use crate::config::LogConfig;
use crate::error::OpenLogError;
use crate::formats::file_names::{self, LOG, PRODUCER_SNAPSHOT, TRANSACTION_INDEX};
use crate::formats::leader_epoch_checkpoint::EpochEntry;
use crate::journal::Replay;
use crate::leader_epochs::LeaderEpochs;
use crate::producer_state::ProducerState;
use crate::segment::{Segment, SegmentError};
use crate::types::RecoveryMode;
use fanlog_environment::{Disk, Environment, OpenMode};
use fanlog_model::{LeaderEpoch, Offset};
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// What a folder holds, by the names in it.
pub(super) struct Listing {
    /// Base offset and size of each segment, rising.
    segments: Vec<(Offset, u64)>,
    /// The offsets of the snapshots, rising.
    pub(super) snapshots: Vec<Offset>,
    pub(super) has_sync_failure: bool,
    pub(super) has_mark: bool,
    /// Whether compaction has left something.
    has_compaction: bool,
    /// Whether a segment has aborted transactions.
    has_transaction_index: bool,
    /// Snapshots that a crash cut off while they were written.
    pub(super) unfinished: Vec<OsString>,
}

impl Listing {
    fn read(disk: &dyn Disk, dir: &Path) -> io::Result<Self> {
        let mut listing = Self {
            segments: Vec::new(),
            snapshots: Vec::new(),
            has_sync_failure: false,
            has_mark: false,
            has_compaction: false,
            has_transaction_index: false,
            unfinished: Vec::new(),
        };
        for entry in disk.read_dir(dir)? {
            let name = entry.name.to_string_lossy();
            match file_names::parse(&name) {
                Some((base_offset, LOG)) => {
                    let file = disk.open(&dir.join(&*name), OpenMode::Read)?;
                    listing.segments.push((base_offset, file.len()?));
                }
                Some((_, TRANSACTION_INDEX)) => listing.has_transaction_index = true,
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
            undurable_ends: BTreeSet::new(),
            has_aborted: listing.has_transaction_index,
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
        let aborted = self.active().check_aborted(&*disk);
        aborted.map_err(|error| self.open_segment_error(error))?;
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

    pub(super) fn set_epochs(&mut self, entries: Vec<EpochEntry>) {
        self.epochs = LeaderEpochs::new(entries);
        self.epochs_saved = self.epochs.version();
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
