//! Opens the logs of partitions, and creates those that are missing.
//!
//! Why it exists: the catalog says which partitions there are; a crash between its record and the folders leaves
//! folders missing, and this makes them. One log that cannot be opened is offline, with the reason; others serve.
//! Never: deletes anything but the folder of a topic that the catalog has deleted.
//! Read next: `folders.rs`, `reconcile.rs`.

use crate::folders::{mark_deleted, remove_deleted, topic_id_in};
use crate::metrics::{Metrics, TopicMetrics};
use crate::partition::{Partition, PartitionShared, Place};
use crate::sync_threads::SyncQueue;
use fanlog_environment::Environment;
use fanlog_model::{LeaderEpoch, TopicId};
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
}

/// What opening a log needs beside its place and settings.
#[derive(Debug)]
pub(crate) struct Opener {
    pub(crate) environment: Environment,
    pub(crate) queue: Arc<SyncQueue>,
    pub(crate) leader_epoch: LeaderEpoch,
    pub(crate) metrics: Arc<Metrics>,
    /// How many logs are opened or closed at once.
    pub(crate) threads: usize,
    /// Whether the last run ended cleanly, so that logs are trusted as they are.
    pub(crate) is_clean: bool,
}

/// Why a partition's log is not open. Fate: the partition is offline; see `may_pass`.
#[derive(Debug, Error)]
enum OpenError {
    #[error(transparent)]
    Log(#[from] OpenLogError),
    #[error(
        "its folder {folder} belongs to topic id {found}, and the catalog says {expected}; move the folder away"
    )]
    Foreign {
        folder: Arc<str>,
        found: TopicId,
        expected: TopicId,
    },
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
            | Self::Foreign { .. } => return false,
        };
        // After an I/O error a second attempt could succeed without the disk having anything.
        matches!(
            error.kind(),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
        ) || matches!(error.raw_os_error(), Some(ENFILE | EMFILE))
    }
}

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
        } = opening;
        let shared = PartitionShared {
            clock: self.environment.clock.clone(),
            queue: self.queue.clone(),
            leader_epoch: self.leader_epoch,
            metrics,
            is_internal,
        };
        match self.open_log(&place, config, deleted) {
            Ok(log) => Partition::online(place, log, shared),
            Err(error) => {
                tracing::error!(partition = %place.folder, %error, "the partition is offline");
                Partition::offline(place, &error.to_string(), error.may_pass(), shared)
            }
        }
    }

    fn open_log(
        &self,
        place: &Place,
        config: LogConfig,
        deleted: &HashSet<TopicId>,
    ) -> Result<Log, OpenError> {
        let disk = &*self.environment.disk;
        let folder: &str = &place.folder;
        if disk.exists(Path::new(folder))? {
            match topic_id_in(disk, folder) {
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
        let dir = Path::new(folder);
        let log = Log::create(
            &self.environment,
            dir,
            place.topic_id,
            config,
            self.leader_epoch,
        )?;
        Ok(log)
    }

    fn open_existing(&self, place: &Place, config: LogConfig) -> Result<Log, OpenError> {
        let mode = RecoveryMode {
            clean: self.is_clean,
        };
        let dir = Path::new(&*place.folder);
        Ok(Log::open(
            &self.environment,
            dir,
            config,
            mode,
            self.leader_epoch,
        )?)
    }
}
