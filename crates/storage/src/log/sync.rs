//! Sync: how a log becomes durable, and how it stops when that fails.
//!
//! A ticket is drawn under the log's lock, run without it, and handed back under it. Between the two the log goes on appending; the
//! next ticket covers that.
//!
//! Everything below the synced offset is in a file that was synced after it was written, under a name whose folder was synced. The
//! files that only save work at the next start (epochs, indexes, snapshot) are written by the same ticket, in an order that lets
//! recovery rely on them: a snapshot at an offset says that all batches, index entries and epochs below that offset are durable.

use super::{Log, files, is_out_of_files, is_transient};
use crate::error::{ChangeError, LogFailed};
use crate::formats::{file_names, producer_snapshot, recovery_producers};
use crate::segment::IndexFiles;
use fanlog_environment::{Disk, DiskFile, KeptFile, OpenMode, write_atomically_beside};
use fanlog_model::Offset;
use fanlog_model::invariants::LOG_1;
use parking_lot::Mutex;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A snapshot is due when so many bytes were appended since the last: recovery walks no more than that and the unsynced tail.
const SNAPSHOT_BYTES: u64 = 64 * 1024 * 1024;

/// As often the producers are noted without a sync, for a start after `kill -9`; less often where they are many.
const PRODUCERS_BYTES: u64 = 512 * 1024;
/// So many times their own length is appended at least until the producers are noted again.
const PRODUCERS_SHARE: u64 = 16;

/// What the temporary files of tickets end with; what is written under the log's lock has another suffix.
const TICKET_SUFFIX: &str = ".sync.tmp";

/// What one sync has to do. It holds what it needs; the log may go on meanwhile.
#[derive(Debug)]
#[must_use = "a ticket must be run and handed to Log::finish_sync"]
pub struct SyncTicket {
    disk: Arc<dyn Disk>,
    dir: Arc<Path>,
    log_file: Arc<dyn DiskFile>,
    sealed: Vec<SealedSegment>,
    end: Offset,
    generation: u64,
    /// Whether the folder has names that are not durable, and up to which change the sync covers it.
    syncs_dir: bool,
    dir_changes: u64,
    epochs: Option<Vec<u8>>,
    epochs_version: u64,
    snapshot: Option<Snapshot>,
    producers: Option<Producers>,
    has_sync_failed: Arc<Mutex<bool>>,
    are_epochs_saved: AtomicBool,
    is_snapshot_saved: AtomicBool,
    /// How many of the sealed segments' snapshots, the first ones, are on disk.
    sealed_snapshots: AtomicUsize,
}

/// A segment that was sealed and is not synced.
#[derive(Clone, Debug)]
pub(super) struct SealedSegment {
    pub(super) base_offset: Offset,
    /// Its file of batches, which tells of a write back that failed.
    pub(super) log: Arc<KeptFile>,
    pub(super) end: Offset,
    /// The producers at its end.
    pub(super) snapshot: Arc<[u8]>,
}

/// What is noted of the producers once the sync is done, and how much was appended since the last note.
#[derive(Debug)]
struct Producers {
    bytes: Vec<u8>,
    since: u64,
    /// The aborted transactions that the note relies on.
    aborted: Option<Arc<dyn DiskFile>>,
}

#[derive(Debug)]
struct Snapshot {
    indexes: IndexFiles,
    bytes: Vec<u8>,
}

impl SyncTicket {
    /// Syncs. Blocks; the log's lock must not be held.
    ///
    /// # Errors
    /// What the disk said. The log cannot go on then; [`Log::finish_sync`] stops it.
    pub fn run(&self) -> io::Result<()> {
        self.save_epochs()?;
        if self.syncs_dir {
            self.disk.sync_dir(&self.dir)?;
        }
        for segment in &self.sealed {
            self.sync_sealed(segment)?;
        }
        sync_segment(&*self.log_file, &self.has_sync_failed)?;
        if let Some(aborted) = self.producers.as_ref().and_then(|p| p.aborted.as_ref()) {
            aborted.sync_data()?;
        }
        self.save_sealed_snapshots()?;
        self.save_snapshot()
    }

    /// Under its name: retention may have removed it.
    fn sync_sealed(&self, segment: &SealedSegment) -> io::Result<()> {
        let open = |suffix| {
            let name = file_names::with_offset(segment.base_offset, suffix);
            self.disk.open(&self.dir.join(name), OpenMode::ReadWrite)
        };
        let log = segment.log.get(&*self.disk, || open(file_names::LOG));
        let indexes = [
            file_names::OFFSET_INDEX,
            file_names::TIME_INDEX,
            file_names::TRANSACTION_INDEX,
        ]
        .map(open);
        for file in [log].into_iter().chain(indexes) {
            match file {
                Ok(file) => sync_segment(&*file, &self.has_sync_failed)?,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn save_sealed_snapshots(&self) -> io::Result<()> {
        if !self.are_epochs_saved.load(Ordering::Acquire) {
            return Ok(());
        }
        for (i, segment) in self.sealed.iter().enumerate() {
            let path = files::snapshot_path(&self.dir, segment.end);
            let written = self.replace(&path, &segment.snapshot);
            if written.is_ok() {
                self.sealed_snapshots.store(i + 1, Ordering::Release);
            }
            tolerate(
                written,
                "a start may have to read more for want of a snapshot",
            )?;
        }
        Ok(())
    }

    /// The offset that is durable once this has run.
    pub fn end_offset(&self) -> Offset {
        self.end
    }

    fn save_epochs(&self) -> io::Result<()> {
        if let Some(bytes) = &self.epochs {
            let path = self.dir.join(file_names::LEADER_EPOCH_CHECKPOINT);
            let written = self.replace(&path, bytes);
            self.are_epochs_saved
                .store(written.is_ok(), Ordering::Release);
            return tolerate(written, "the leader epochs are written with the next sync");
        }
        self.are_epochs_saved.store(true, Ordering::Release);
        Ok(())
    }

    /// A roll may write the same file meanwhile, from a state that is as good: whichever is renamed last stays.
    fn replace(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        write_atomically_beside(&*self.disk, path, bytes, TICKET_SUFFIX)
    }

    fn save_snapshot(&self) -> io::Result<()> {
        let Some(snapshot) = &self.snapshot else {
            return Ok(());
        };
        if !self.are_epochs_saved.load(Ordering::Acquire) {
            return Ok(());
        }
        snapshot.indexes.sync()?;
        let path = files::snapshot_path(&self.dir, self.end);
        let written = self.replace(&path, &snapshot.bytes);
        self.is_snapshot_saved
            .store(written.is_ok(), Ordering::Release);
        tolerate(
            written,
            "the producer snapshot is written with a later sync",
        )
    }
}

/// Syncs the active segment's file, unless a sync of it has failed: a success would then say nothing.
pub(super) fn sync_segment(file: &dyn DiskFile, has_failed: &Mutex<bool>) -> io::Result<()> {
    let mut has_failed = has_failed.lock();
    if *has_failed {
        return Err(io::Error::other("a sync of the segment has failed before"));
    }
    file.sync_data().inspect_err(|_| *has_failed = true)
}

/// A disk that is full keeps us from saving work, not from keeping promises.
fn tolerate(written: io::Result<()>, consequence: &str) -> io::Result<()> {
    match written {
        Err(error) if is_transient(&error) => {
            tracing::warn!(%error, "{consequence}");
            Ok(())
        }
        written => written,
    }
}

impl Log {
    /// What must be synced for everything appended so far to be durable; nothing where it is, or where the log has stopped. At most one
    /// ticket may be out at a time.
    pub fn begin_sync(&mut self) -> Option<SyncTicket> {
        let is_synced = self.synced == self.log_end && self.sealed.is_empty();
        if self.failed.is_some() || is_synced {
            return None;
        }
        let log_file = match self.active().log_file(self.disk()) {
            Ok(file) => file,
            Err(error) => {
                self.fail("opening the segment for a sync", &error);
                return None;
            }
        };
        let snapshot = self.due_snapshot();
        let producers = match snapshot {
            Some(_) => None,
            None => self.due_producers(),
        };
        Some(SyncTicket {
            disk: self.environment.disk.clone(),
            dir: self.dir.clone(),
            log_file,
            sealed: self.sealed.clone(),
            end: self.log_end,
            generation: self.generation,
            syncs_dir: self.dir_changes > self.dir_synced,
            dir_changes: self.dir_changes,
            epochs: (self.epochs_saved != self.epochs.version()).then(|| self.epochs.encode()),
            epochs_version: self.epochs.version(),
            snapshot,
            producers,
            has_sync_failed: self.has_sync_failed.clone(),
            are_epochs_saved: AtomicBool::new(false),
            is_snapshot_saved: AtomicBool::new(false),
            sealed_snapshots: AtomicUsize::new(0),
        })
    }

    fn due_snapshot(&mut self) -> Option<Snapshot> {
        if self.bytes_since_snapshot < self.snapshot_interval() {
            return None;
        }
        match self.write_indexes() {
            Ok(indexes) => Some(Snapshot {
                indexes,
                bytes: producer_snapshot::encode(&self.producers.to_snapshot()),
            }),
            Err(error) => {
                tracing::warn!(log = %self.name, %error, "indexes are not written yet");
                None
            }
        }
    }

    fn due_producers(&mut self) -> Option<Producers> {
        let since = self.bytes_since_producers;
        if since < self.producers_interval() {
            return None;
        }
        let files = match self.write_indexes() {
            Ok(files) => files,
            Err(error) => {
                tracing::warn!(log = %self.name, %error, "indexes are not written yet");
                return None;
            }
        };
        let snapshot = producer_snapshot::encode(&self.producers.to_snapshot());
        self.producers_bytes = snapshot.len() as u64;
        let index_entries = self.active_mut().index_entries();
        let count = |entries| u32::try_from(entries).unwrap_or(u32::MAX);
        let index_entries = (count(index_entries.0), count(index_entries.1));
        let since_snapshot = self.bytes_since_snapshot;
        let bytes =
            recovery_producers::encode(self.log_end, since_snapshot, index_entries, &snapshot);
        Some(Producers {
            bytes,
            since,
            aborted: files.aborted,
        })
    }

    fn producers_interval(&self) -> u64 {
        let interval = (u64::from(self.config.segment_bytes) / 16).clamp(1, PRODUCERS_BYTES);
        match self.producers_bytes * PRODUCERS_SHARE {
            long if long > PRODUCERS_BYTES => long,
            _ => interval,
        }
    }

    /// Small segments have their snapshot when they are sealed; four within one keep recovery short where they are large.
    fn snapshot_interval(&self) -> u64 {
        (u64::from(self.config.segment_bytes) / 4).clamp(1, SNAPSHOT_BYTES)
    }

    /// Takes a ticket back with what [`SyncTicket::run`] said, and answers the synced offset. It lies below the ticket's end
    /// where a file could not be opened for want of file handles: then the caller tries again with a new ticket.
    ///
    /// # Errors
    /// The sync failed: the log has stopped. The pages that it could not write may be gone from memory too, so that no later sync could
    /// be believed; only a restart, which reads the disk, finds out what is there.
    pub fn finish_sync(
        &mut self,
        ticket: SyncTicket,
        result: io::Result<()>,
    ) -> Result<Offset, LogFailed> {
        let synced = self.end_sync(ticket, result)?;
        self.note_durable(synced)?;
        Ok(synced)
    }

    /// As [`Log::finish_sync`], and leaves it to the caller to say by [`Log::note_durable`] that what was synced counts as durable.
    ///
    /// # Errors
    /// As there.
    pub fn end_sync(
        &mut self,
        ticket: SyncTicket,
        result: io::Result<()>,
    ) -> Result<Offset, LogFailed> {
        if let Err(error) = result {
            if !is_out_of_files(&error) {
                return Err(self.fail("sync", &error));
            }
            tracing::warn!(log = %self.name, %error, "the folder is synced later");
            self.check_running()?;
            return Ok(self.synced);
        }
        self.check_running()?;
        if ticket.generation == self.generation {
            self.take_in(&ticket);
        }
        self.check_invariants();
        Ok(self.synced)
    }

    pub(super) fn take_in(&mut self, ticket: &SyncTicket) {
        assert!(
            ticket.end <= self.log_end,
            "{LOG_1}: {} was synced to {} and ends at {}",
            self.name,
            ticket.end,
            self.log_end
        );
        self.dir_synced = self.dir_synced.max(ticket.dir_changes);
        if ticket.are_epochs_saved.load(Ordering::Acquire) {
            self.epochs_saved = ticket.epochs_version;
        }
        if ticket.end == self.log_end {
            self.active().note_synced();
        }
        let saved = &ticket.sealed[..ticket.sealed_snapshots.load(Ordering::Acquire)];
        let is_saved = |segment: &SealedSegment| saved.iter().any(|s| s.end == segment.end);
        for segment in saved {
            self.note_sealed_synced(segment.base_offset);
        }
        self.sealed.retain(|segment| !is_saved(segment));
        for segment in saved {
            if self.last_snapshot.is_none_or(|latest| latest < segment.end) {
                self.replace_snapshot(segment.end);
            }
        }
        if ticket.end > self.synced {
            self.synced = ticket.end;
            let disk = self.environment.disk.clone();
            files::write_mark(&self.mark, &*disk, &self.dir, ticket.end);
            let are_epochs_saved = ticket.are_epochs_saved.load(Ordering::Acquire);
            if let Some(producers) = ticket.producers.as_ref().filter(|_| are_epochs_saved) {
                self.write_producers(&producers.bytes);
                let since = self.bytes_since_producers;
                self.bytes_since_producers = since.saturating_sub(producers.since);
            }
        }
        // A roll in the meantime has made a later one.
        let is_latest = self.last_snapshot.is_none_or(|latest| latest < ticket.end);
        if ticket.is_snapshot_saved.load(Ordering::Acquire) {
            if is_latest {
                self.replace_snapshot(ticket.end);
            } else {
                self.remove_snapshot(ticket.end);
            }
        }
    }

    /// Retention may have removed it meanwhile.
    fn note_sealed_synced(&self, base_offset: Offset) {
        let found = self
            .segments
            .binary_search_by_key(&base_offset, |segment| segment.base_offset);
        if let Ok(i) = found {
            self.segments[i].note_synced();
        }
    }

    /// Closes the log in order: everything is durable, and the next open searches for nothing. The broker writes the note of a clean
    /// shutdown once all logs have been closed.
    ///
    /// # Errors
    /// The disk refuses, or the log had stopped: the shutdown is not clean then.
    pub fn close(mut self) -> Result<(), ChangeError> {
        self.check_running()?;
        self.finish_removals()?;
        let is_untouched = self.synced == self.log_end
            && self.sealed.is_empty()
            && self.last_snapshot == Some(self.log_end)
            && self.epochs_saved == self.epochs.version()
            && self.dir_changes == self.dir_synced;
        if is_untouched {
            return Ok(());
        }
        self.flush_all().map_err(|error| self.change_io(error))
    }

    /// Makes everything durable that the next start can use.
    pub(super) fn flush_all(&mut self) -> io::Result<()> {
        let disk = self.environment.disk.clone();
        if let Some(ticket) = self.begin_sync() {
            ticket.run()?;
            self.take_in(&ticket);
        }
        self.check_running().map_err(io::Error::other)?;
        disk.sync_dir(&self.dir)?;
        self.dir_synced = self.dir_changes;
        self.save_epochs()?;
        self.flush_indexes()?;
        self.save_snapshot()?;
        files::save_mark(&*disk, &self.dir, self.log_end)
    }
}
