//! The log of one partition: what may be appended, where it lies, and how far it is durable.
//!
//! Why it exists: consumers, producers and recovery must agree on one order of records, whatever the machine does.
//! Owns: a partition's folder.   Never: locks, threads, waiting (the broker calls it under the partition's lock).
//! In -> out: batches -> offsets; offsets -> plans to read; tickets -> the durable offset.
//! Invariants: LOG-1 to LOG-4. `log start <= durable <= log end`; what lies between `synced` and `durable` is in the journal.
//! Read next: `append.rs`, then `sync.rs`, then `open.rs` and `recovery.rs`.

mod append;
mod change;
mod checked_batches;
mod compaction;
mod files;
mod lookup;
mod open;
mod read;
mod recovery;
mod replay;
mod retention;
mod roll;
mod sync;
mod tail;
#[cfg(test)]
mod tests;
mod transactions;
mod unpacker;

pub use checked_batches::CheckedBatches;
pub use compaction::{BegunSwap, Dirtiness};
pub(crate) use files::save_clean_to;
pub use lookup::TimeSearch;
pub use read::ReadSearch;
pub use retention::Removal;
pub use sync::SyncTicket;
pub use transactions::{AbortedSearch, SearchedSegment};

use crate::config::LogConfig;
use crate::error::{LogFailed, OpenLogError};
use crate::formats::file_names;
use crate::leader_epochs::LeaderEpochs;
use crate::producer_state::ProducerState;
use crate::segment::Segment;
use crate::types::ActiveProducer;
use compaction::Compaction;
use fanlog_environment::{Disk, Environment, KeptFile};
use fanlog_model::{LeaderEpoch, Offset, TimestampMs, TopicId};
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::Arc;
use sync::SealedSegment;

/// One partition's log. All methods block on the disk and none waits for another log.
#[derive(Debug)]
pub struct Log {
    environment: Environment,
    dir: Arc<Path>,
    name: Arc<str>,
    topic_id: Option<TopicId>,
    config: LogConfig,
    /// By base offset; the last one is appended to. Never empty.
    segments: Vec<Segment>,
    log_start: Offset,
    /// The start that is durable: the log's, or an earlier one until the next removal.
    log_start_saved: Offset,
    /// The base offsets of segments below the log's start whose files may still be there.
    forgotten: Vec<Offset>,
    log_end: Offset,
    /// Every batch below is durable, in its segment or in the journal: the high watermark. Where the topic does not wait for that it is
    /// what was appended.
    durable: Offset,
    /// Every batch below was synced in its segment, and its file's name too.
    synced: Offset,
    /// Segments that were sealed and not synced since, rising.
    sealed: Vec<SealedSegment>,
    /// Who leads now; its first append gives it an entry in `epochs`.
    leader_epoch: LeaderEpoch,
    epochs: LeaderEpochs,
    /// The version of `epochs` that its file holds.
    epochs_saved: u64,
    producers: ProducerState,
    /// Transactions that have ended, and whose markers are not durable yet: where they began, and where the marker lies.
    undurable_ends: BTreeSet<(Offset, Offset)>,
    /// Whether any segment may have an aborted transaction.
    has_aborted: bool,
    /// The offset of the latest producer snapshot on disk.
    last_snapshot: Option<Offset>,
    /// What was appended since.
    bytes_since_snapshot: u64,
    /// What was appended since the producers were written last, to a snapshot or to `recovery-producers`, and how long that was.
    bytes_since_producers: u64,
    producers_bytes: u64,
    /// Counts names created in the folder, and how many of them are known to be durable.
    dir_changes: u64,
    dir_synced: u64,
    compaction: Compaction,
    /// Counts truncations: a sync that began before one says nothing about what lies behind it.
    generation: u64,
    failed: Option<LogFailed>,
    /// Whether a ticket's sync failed, which may not have been told yet. Held while the segment is synced: the kernel tells
    /// of an error once, and another sync of the same file, at the same time or later, succeeds.
    has_sync_failed: Arc<Mutex<bool>>,
    mark: Arc<KeptFile>,
}

impl Log {
    /// Whether a folder holds a log that was created completely.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn exists(environment: &Environment, dir: &Path) -> io::Result<bool> {
        let metadata = dir.join(file_names::PARTITION_METADATA);
        environment.disk.exists(&metadata)
    }

    /// The id of the topic that the folder belongs to; nothing where Kafka wrote none.
    pub fn topic_id(&self) -> Option<TopicId> {
        self.topic_id
    }

    /// The folder, in the data directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The settings.
    pub fn config(&self) -> &LogConfig {
        &self.config
    }

    /// Takes other settings from now on.
    pub fn update_config(&mut self, config: LogConfig) {
        for segment in &mut self.segments {
            segment.set_layout(config.layout(segment.is_dense()));
        }
        self.config = config;
    }

    /// The first offset that can be read.
    pub fn log_start_offset(&self) -> Offset {
        self.log_start
    }

    /// The offset of the next record.
    pub fn log_end_offset(&self) -> Offset {
        self.log_end
    }

    /// The offset up to which the log is durable: the high watermark.
    pub fn durable_offset(&self) -> Offset {
        self.durable
    }

    /// The offset up to which the segments are durable.
    pub fn synced_offset(&self) -> Offset {
        self.synced
    }

    /// How many sealed segments wait for a sync.
    pub fn unsynced_segments(&self) -> usize {
        self.sealed.len()
    }

    /// Everything below `end` is durable in the journal, or counts as such; answers the high watermark.
    ///
    /// # Errors
    /// The log has stopped.
    pub fn note_durable(&mut self, end: Offset) -> Result<Offset, LogFailed> {
        self.check_running()?;
        self.durable = self.durable.max(end.min(self.log_end));
        if !self.undurable_ends.is_empty() {
            let durable = self.durable;
            self.undurable_ends.retain(|(_, marker)| *marker >= durable);
        }
        Ok(self.durable)
    }

    /// Stops the log for good: what was to make its records durable has failed.
    pub fn stop(&mut self, what: &str, error: &io::Error) -> LogFailed {
        self.fail(what, error)
    }

    /// The offset up to which a reader sees neither open transactions nor what is not durable.
    pub fn last_stable_offset(&self) -> Offset {
        let open = self.producers.first_unstable_offset();
        let ended = self.undurable_ends.first().map(|(first, _)| *first);
        let first_unstable = open.into_iter().chain(ended).min();
        // What was deleted of a transaction is undecided for nobody.
        let is_stable_to = |offset: Offset| offset.max(self.log_start).min(self.durable);
        first_unstable.map_or(self.durable, is_stable_to)
    }

    /// Who leads, as far as the log was told.
    pub fn leader_epoch(&self) -> LeaderEpoch {
        self.leader_epoch
    }

    /// The bytes of all batches.
    pub fn size_bytes(&self) -> u64 {
        self.segments.iter().map(|segment| segment.size).sum()
    }

    /// How many segments there are.
    pub fn segment_count(&self) -> usize {
        self.segments.len()
    }

    /// The producers remembered.
    pub fn active_producers(&self) -> Vec<ActiveProducer> {
        self.producers.active()
    }

    /// One producer, if it is remembered.
    pub fn active_producer(&self, id: fanlog_model::ProducerId) -> Option<ActiveProducer> {
        self.producers.active_one(id)
    }

    /// Forgets the producers that have been silent for `producer.id.expiration.ms`; says how many.
    pub fn expire_producers(&mut self, now: TimestampMs) -> usize {
        let span = self.config.producer_id_expiration_ms;
        self.producers
            .expire(TimestampMs(now.get().saturating_sub(span)))
    }

    /// Why the log has stopped, if it has.
    pub fn failure(&self) -> Option<&LogFailed> {
        self.failed.as_ref()
    }

    fn check_running(&self) -> Result<(), LogFailed> {
        match &self.failed {
            Some(failed) => Err(failed.clone()),
            None => Ok(()),
        }
    }

    fn disk(&self) -> &dyn Disk {
        &*self.environment.disk
    }

    fn active(&self) -> &Segment {
        self.segments
            .last()
            .expect("a log has at least one segment")
    }

    fn active_mut(&mut self) -> &mut Segment {
        self.segments
            .last_mut()
            .expect("a log has at least one segment")
    }

    /// Stops the log for good, and notes so on disk, where that is possible.
    fn fail(&mut self, what: &str, error: &io::Error) -> LogFailed {
        let failed = LogFailed {
            log: self.name.clone(),
            reason: format!("{what} failed: {error}").into(),
        };
        tracing::error!(log = %self.name, %error, "{what} failed: the log stops");
        files::note_sync_failure(self.disk(), &self.dir);
        self.failed.get_or_insert(failed).clone()
    }

    /// Holds what must be true after every operation.
    fn check_invariants(&self) {
        use fanlog_model::invariants::{LOG_1, LOG_3};
        assert!(
            self.log_start <= self.log_end
                && self.durable <= self.log_end
                && self.synced <= self.log_end,
            "{LOG_3}: {} has start {}, durable {}, end {}",
            self.name,
            self.log_start,
            self.durable,
            self.log_end
        );
        assert!(
            self.active().base_offset <= self.log_end,
            "{LOG_1}: {}",
            self.name
        );
        debug_assert!(
            self.segments
                .windows(2)
                .all(|pair| pair[0].base_offset < pair[1].base_offset),
            "{LOG_3}: the segments of {} do not rise",
            self.name
        );
    }
}

fn open_error(path: &Path) -> impl Fn(io::Error) -> OpenLogError + '_ {
    move |source| OpenLogError::Io {
        path: path.to_owned(),
        source,
    }
}

/// Whether an error says nothing about the bytes that are there already: it may be gone at the next try.
pub(crate) fn is_transient(error: &io::Error) -> bool {
    let kind = matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::OutOfMemory
    );
    kind || is_out_of_files(error)
}

/// Whether a file or folder could not even be opened, as too many are open: nothing was asked of the disk.
fn is_out_of_files(error: &io::Error) -> bool {
    const ENFILE: i32 = 23;
    const EMFILE: i32 = 24;
    matches!(error.raw_os_error(), Some(ENFILE | EMFILE))
}
