//! Opens the logs of partitions, and creates those that are missing.
//!
//! Why it exists: the catalog says which partitions there are; a crash between its record and the folders leaves
//! folders missing, and this makes them. Where the catalog knows that they were there they were lost, and nothing is
//! made. One log that cannot be opened is offline, with the reason; others serve.
//! Never: deletes anything but the folder of a topic that the catalog has deleted.
//! Read next: `folders.rs`, `reconcile.rs`.

use crate::blocking::Blocking;
use crate::cold_reads::ColdReads;
use crate::committer::Committer;
use crate::folders::{PARTITION_METADATA, mark_deleted, remove_deleted, topic_id_in};
use crate::metrics::{Metrics, TopicMetrics};
use crate::partition::{Partition, PartitionShared, Place};
use crate::sync_threads::SyncQueue;
use fanlog_environment::Environment;
use fanlog_model::{LeaderEpoch, TopicId};
use fanlog_storage::journal::Recovered;
use fanlog_storage::{Log, LogConfig, OpenLogError, RecoveryMode};
use std::collections::HashSet;
use std::io;
use std::path::Path;
use std::sync::Arc;
use thiserror::Error;

/// A partition to open.
#[derive(Debug)]
pub(crate) struct Opening {
    pub(crate) place: Place,
    pub(crate) config: LogConfig,
    pub(crate) metrics: Arc<TopicMetrics>,
    pub(crate) is_internal: bool,
    /// Whether the folder was there once, so that it is not to be made.
    pub(crate) is_made: bool,
}

/// What opening a log needs beside its place and settings.
#[derive(Debug)]
pub(crate) struct Opener {
    pub(crate) environment: Environment,
    pub(crate) queue: Arc<SyncQueue>,
    pub(crate) committer: Arc<Committer>,
    pub(crate) cold_reads: Arc<ColdReads>,
    /// What the journal held at the start, for logs that are not open yet.
    pub(crate) recovered: Recovered,
    pub(crate) leader_epoch: LeaderEpoch,
    pub(crate) metrics: Arc<Metrics>,
    /// How many logs are opened or closed at once.
    pub(crate) threads: usize,
    /// Where work runs that blocks.
    pub(crate) blocking: Blocking,
    /// Whether the last run ended cleanly, so that logs are trusted as they are.
    pub(crate) is_clean: bool,
}

/// Why a partition's log is not open. Fate: the partition is offline; see `may_pass`.
#[derive(Debug, Error)]
enum OpenError {
    #[error(transparent)]
    Log(#[from] OpenLogError),
    #[error(
        "{PARTITION_METADATA} in its folder {folder} says that it belongs to topic id {found}, and the catalog says {expected}: restore that file if it is damaged; if the folder is another topic's, move it away"
    )]
    Foreign {
        folder: Arc<str>,
        found: TopicId,
        expected: TopicId,
    },
    #[error(
        "its folder {folder} is missing or has no {PARTITION_METADATA}; restore it from a backup, or delete the topic, or, to go on without its records, make the folder with an empty file named {BEGIN_EMPTY} in it"
    )]
    Missing { folder: Arc<str> },
    #[error("the folder of an earlier, deleted topic of this name is in the way: {0}")]
    Earlier(io::Error),
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl OpenError {
    /// Whether the same attempt may succeed later: when there is space again, or files may be opened again.
    fn may_pass(&self) -> bool {
        let error = match self {
            Self::Log(OpenLogError::Io { source, .. }) => source,
            Self::Earlier(error) | Self::Io(error) => error,
            Self::Log(OpenLogError::Corrupt { .. } | OpenLogError::Exists { .. })
            | Self::Foreign { .. }
            | Self::Missing { .. } => return false,
        };
        // After an I/O error a second attempt could succeed without the disk having anything.
        matches!(
            error.kind(),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
        ) || matches!(error.raw_os_error(), Some(ENFILE | EMFILE))
    }
}

/// What an operator leaves in a folder to say that the partition's records are given up.
const BEGIN_EMPTY: &str = "begin-empty";

/// Too many open files, in the system and in this process.
const ENFILE: i32 = 23;
const EMFILE: i32 = 24;

impl Opener {
    /// The partition, online if its log can be opened or created.
    pub(crate) fn open(&self, opening: Opening, deleted: &HashSet<TopicId>) -> Arc<Partition> {
        let Opening {
            place,
            config,
            metrics,
            is_internal,
            is_made,
        } = opening;
        let shared = PartitionShared {
            clock: self.environment.clock.clone(),
            queue: self.queue.clone(),
            committer: self.committer.clone(),
            cold_reads: self.cold_reads.clone(),
            leader_epoch: self.leader_epoch,
            metrics,
            is_internal,
        };
        let id = place.log_id();
        match self.open_log(&place, config, is_made, deleted) {
            Ok(log) => {
                self.committer
                    .journal
                    .note_recovered(id, log.synced_offset());
                self.recovered.forget(id);
                Partition::online(place, log, shared)
            }
            Err(error) => {
                self.committer.journal.keep(id);
                tracing::error!(partition = %place.folder, %error, "the partition is offline");
                Partition::offline(place, &error.to_string(), error.may_pass(), shared)
            }
        }
    }

    fn open_log(
        &self,
        place: &Place,
        config: LogConfig,
        is_made: bool,
        deleted: &HashSet<TopicId>,
    ) -> Result<Log, OpenError> {
        let disk = &*self.environment.disk;
        let folder: &str = &place.folder;
        let dir = Path::new(folder);
        let consent = dir.join(BEGIN_EMPTY);
        let has_consent = is_made && disk.exists(&consent)?;
        if disk.exists(dir)? {
            match topic_id_in(disk, folder)? {
                Some(found) if found == place.topic_id => return self.open_existing(place, config),
                Some(found) if deleted.contains(&found) => {
                    let marked = mark_deleted(disk, folder, found).map_err(OpenError::Earlier)?;
                    remove_deleted(disk, &marked).map_err(OpenError::Earlier)?;
                }
                Some(found) => {
                    return Err(OpenError::Foreign {
                        folder: place.folder.clone(),
                        found,
                        expected: place.topic_id,
                    });
                }
                // Storage tells a folder whose creation a crash cut short from one that lost its metadata.
                None => {}
            }
        }
        // What looks like a creation that a crash cut short is a loss, once the creation is known to have ended.
        if is_made && !has_consent {
            return Err(OpenError::Missing {
                folder: place.folder.clone(),
            });
        }
        // Nothing of it can be anywhere else, or it was given up.
        self.committer.journal.forget(place.log_id());
        let log = Log::create(
            &self.environment,
            dir,
            place.topic_id,
            config,
            self.leader_epoch,
        )?;
        if has_consent {
            tracing::warn!(partition = %folder, "the partition begins anew without its records, as {BEGIN_EMPTY} asks");
            disk.remove_file(&consent)?;
            disk.sync_dir(dir)?;
        }
        Ok(log)
    }

    fn open_existing(&self, place: &Place, config: LogConfig) -> Result<Log, OpenError> {
        let mode = RecoveryMode {
            clean: self.is_clean,
        };
        let dir = Path::new(&*place.folder);
        let replay = self.recovered.replay(place.log_id());
        Ok(Log::open_with(
            &self.environment,
            dir,
            config,
            mode,
            self.leader_epoch,
            &replay,
        )?)
    }
}
