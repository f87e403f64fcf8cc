//! The small files of a log: epochs, snapshots, log start, recovery mark, the note of a failed sync.

use super::Log;
use crate::formats::file_names::{self, PRODUCER_SNAPSHOT};
use crate::formats::{
    leader_epoch_checkpoint, offset_checkpoint, partition_metadata, producer_snapshot,
    recovery_mark, recovery_producers,
};
use fanlog_environment::{Disk, KeptFile, OpenMode, read_bounded, write_atomically};
use fanlog_model::{Offset, PartitionIndex, TopicId, TopicName, TopicPartition};
use leader_epoch_checkpoint::EpochEntry;
use producer_snapshot::SnapshotEntry;
use recovery_producers::RecoveryProducers;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

impl Log {
    /// Writes the leader epochs, where their file does not hold them.
    pub(super) fn save_epochs(&mut self) -> io::Result<()> {
        if self.epochs_saved != self.epochs.version() {
            let path = self.dir.join(file_names::LEADER_EPOCH_CHECKPOINT);
            write_atomically(self.disk(), &path, &self.epochs.encode())?;
            self.epochs_saved = self.epochs.version();
        }
        Ok(())
    }

    /// Writes the producers as they are at the log's end, where no snapshot holds them. Everything below must be durable: a snapshot
    /// says so to recovery.
    pub(super) fn save_snapshot(&mut self) -> io::Result<()> {
        if self.last_snapshot == Some(self.log_end) {
            return Ok(());
        }
        let bytes = producer_snapshot::encode(&self.producers.to_snapshot());
        write_atomically(self.disk(), &snapshot_path(&self.dir, self.log_end), &bytes)?;
        self.replace_snapshot(self.log_end);
        Ok(())
    }

    /// Notes the latest snapshot; the one before goes, unless it belongs to a segment.
    pub(super) fn replace_snapshot(&mut self, latest: Offset) {
        let before = self.last_snapshot.replace(latest);
        self.bytes_since_snapshot = 0;
        self.bytes_since_producers = 0;
        if let Some(before) = before {
            self.remove_snapshot(before);
        }
    }

    /// Removes a snapshot, unless it is the latest or belongs to a segment.
    pub(super) fn remove_snapshot(&self, offset: Offset) {
        let is_of_segment = self.segments.iter().any(|s| s.base_offset == offset);
        if self.last_snapshot != Some(offset) && !is_of_segment {
            // A snapshot too many does no harm.
            let _ = self.disk().remove_file(&snapshot_path(&self.dir, offset));
        }
    }

    /// Notes the producers at an offset below which everything is durable. Without a sync: what a power cut leaves of it is told from what
    /// was written, and only makes recovery read more.
    pub(super) fn write_producers(&mut self, producers: &[u8]) {
        let path = self.dir.join(file_names::RECOVERY_PRODUCERS);
        let written = (|| {
            let file = self.disk().open(&path, OpenMode::CreateOrOpen)?;
            file.write_all_at(producers, 0)?;
            if file.len()? > producers.len() as u64 {
                file.set_len(producers.len() as u64)?;
            }
            Ok::<_, io::Error>(())
        })();
        if let Err(error) = written {
            tracing::warn!(log = %self.name, %error, "a start may have to read more for want of recovery-producers");
        }
    }

    /// Makes the log's start durable.
    pub(super) fn save_log_start(&self, log_start: Offset) -> io::Result<()> {
        let bytes = encode_log_start(&self.dir, log_start)?;
        let path = self.dir.join(file_names::LOG_START_OFFSET_CHECKPOINT);
        write_atomically(self.disk(), &path, &bytes)
    }
}

/// The bytes of the file that says where the log starts.
pub(super) fn encode_log_start(dir: &Path, log_start: Offset) -> io::Result<Vec<u8>> {
    Ok(offset_checkpoint::encode(&[(
        partition_of(dir)?,
        log_start,
    )]))
}

pub(super) fn snapshot_path(dir: &Path, offset: Offset) -> PathBuf {
    dir.join(file_names::with_offset(offset, PRODUCER_SNAPSHOT))
}

/// Reads a small file and decodes it; nothing where it is missing or unreadable, which is said in the log.
fn read_or_none<T, E: std::fmt::Display>(
    disk: &dyn Disk,
    path: &Path,
    bytes_max: usize,
    decode: impl Fn(&[u8]) -> Result<T, E>,
) -> io::Result<Option<T>> {
    let bytes = match read_bounded(disk, path, bytes_max) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            tracing::warn!(path = %path.display(), %error, "file is not usable");
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    match decode(&bytes) {
        Ok(value) => Ok(Some(value)),
        Err(error) => {
            tracing::warn!(path = %path.display(), %error, "file is damaged and is not used");
            Ok(None)
        }
    }
}

pub(super) fn read_snapshot(
    disk: &dyn Disk,
    dir: &Path,
    offset: Offset,
) -> io::Result<Option<Vec<SnapshotEntry>>> {
    let path = snapshot_path(dir, offset);
    read_or_none(
        disk,
        &path,
        producer_snapshot::FILE_BYTES_MAX,
        producer_snapshot::decode,
    )
}

pub(super) fn read_epochs(disk: &dyn Disk, dir: &Path) -> io::Result<Option<Vec<EpochEntry>>> {
    let path = dir.join(file_names::LEADER_EPOCH_CHECKPOINT);
    let bytes_max = leader_epoch_checkpoint::FILE_BYTES_MAX;
    read_or_none(disk, &path, bytes_max, leader_epoch_checkpoint::decode)
}

pub(super) fn read_topic_id(disk: &dyn Disk, dir: &Path) -> io::Result<Option<TopicId>> {
    let path = dir.join(file_names::PARTITION_METADATA);
    let bytes_max = partition_metadata::FILE_BYTES_MAX;
    read_or_none(disk, &path, bytes_max, partition_metadata::decode)
}

pub(super) fn write_topic_id(disk: &dyn Disk, dir: &Path, id: TopicId) -> io::Result<()> {
    let path = dir.join(file_names::PARTITION_METADATA);
    write_atomically(disk, &path, &partition_metadata::encode(id))
}

/// Where the log starts, as last made durable; 0 where that was never needed. Unlike an index it cannot be built anew: an unreadable
/// one is an error, so that deleted records do not come back.
pub(super) fn read_log_start(disk: &dyn Disk, dir: &Path) -> io::Result<Option<Offset>> {
    let path = dir.join(file_names::LOG_START_OFFSET_CHECKPOINT);
    let bytes = match read_bounded(disk, &path, offset_checkpoint::FILE_BYTES_MAX) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let of = partition_of(dir)?;
    offset_checkpoint::decode(&bytes)
        .ok()
        .and_then(|entries| entries.into_iter().find(|(partition, _)| *partition == of))
        .map(|(_, offset)| Some(offset))
        .ok_or_else(|| {
            let message = "it is damaged; remove it to have the deleted records back";
            io::Error::new(io::ErrorKind::InvalidData, message)
        })
}

/// Notes up to where the log is clean.
pub(crate) fn save_clean_to(disk: &dyn Disk, dir: &Path, clean_to: Offset) -> io::Result<()> {
    let bytes = offset_checkpoint::encode(&[(partition_of(dir)?, clean_to)]);
    let path = dir.join(file_names::CLEANER_OFFSET_CHECKPOINT);
    write_atomically(disk, &path, &bytes)
}

/// Up to where the log is clean; nothing where that is not known, which costs work and nothing else.
pub(super) fn read_clean_to(disk: &dyn Disk, dir: &Path) -> io::Result<Option<Offset>> {
    let path = dir.join(file_names::CLEANER_OFFSET_CHECKPOINT);
    let bytes_max = offset_checkpoint::FILE_BYTES_MAX;
    let entries = read_or_none(disk, &path, bytes_max, offset_checkpoint::decode)?;
    let of = partition_of(dir)?;
    let entry = entries
        .into_iter()
        .flatten()
        .find(|(partition, _)| *partition == of);
    Ok(entry.map(|(_, offset)| offset))
}

/// The partition that a folder `<topic>-<partition>` is of.
pub(super) fn partition_of(dir: &Path) -> io::Result<TopicPartition> {
    let parsed = (|| {
        let name = dir.file_name()?.to_str()?;
        let (topic, partition) = name.rsplit_once('-')?;
        let topic = TopicName::new(topic).ok()?;
        let partition = PartitionIndex(partition.parse().ok()?);
        Some(TopicPartition { topic, partition })
    })();
    parsed.ok_or_else(|| {
        let message = format!("{} is not named <topic>-<partition>", dir.display());
        io::Error::new(io::ErrorKind::InvalidInput, message)
    })
}

/// How far the log is known to be durable; 0 where nothing readable says so.
pub(super) fn read_mark(disk: &dyn Disk, dir: &Path) -> io::Result<Offset> {
    let path = dir.join(file_names::RECOVERY_MARK);
    let mark = read_or_none(
        disk,
        &path,
        recovery_mark::FILE_BYTES,
        recovery_mark::decode,
    )?;
    Ok(mark.unwrap_or(Offset::ZERO))
}

pub(super) fn read_producers(disk: &dyn Disk, dir: &Path) -> io::Result<Option<RecoveryProducers>> {
    let path = dir.join(file_names::RECOVERY_PRODUCERS);
    let bytes_max = recovery_producers::FILE_BYTES_MAX;
    read_or_none(disk, &path, bytes_max, recovery_producers::decode)
}

/// Overwrites the mark, without a sync: an older one only makes recovery read more.
pub(super) fn write_mark(mark: &Arc<KeptFile>, disk: &dyn Disk, dir: &Path, durable: Offset) {
    let path = || dir.join(file_names::RECOVERY_MARK);
    let file = mark.get(disk, || disk.open(&path(), OpenMode::CreateOrOpen));
    let written = file.and_then(|file| file.write_all_at(&recovery_mark::encode(durable), 0));
    if let Err(error) = written {
        tracing::warn!(dir = %dir.display(), %error, "recovery mark is not written");
        mark.close();
    }
}

/// Replaces the mark for good.
pub(super) fn save_mark(disk: &dyn Disk, dir: &Path, durable: Offset) -> io::Result<()> {
    let path = dir.join(file_names::RECOVERY_MARK);
    let file = disk.open(&path, OpenMode::CreateOrOpen)?;
    file.write_all_at(&recovery_mark::encode(durable), 0)?;
    if file.len()? != recovery_mark::FILE_BYTES as u64 {
        file.set_len(recovery_mark::FILE_BYTES as u64)?;
    }
    file.sync_data()
}

/// Leaves a note that the page cache may hold what the disk does not. Best effort: a start that is not clean does not trust it anyway.
pub(super) fn note_sync_failure(disk: &dyn Disk, dir: &Path) {
    let noted = (|| {
        let path = dir.join(file_names::SYNC_FAILURE_MARKER);
        disk.open(&path, OpenMode::CreateOrOpen)?.sync_data()?;
        disk.sync_dir(dir)
    })();
    if let Err(error) = noted {
        tracing::warn!(dir = %dir.display(), %error, "the failed sync cannot be noted on the disk");
    }
}
