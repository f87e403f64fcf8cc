//! Why an operation on a log is refused or fails; one enum for each operation.

use fanlog_model::{LeaderEpoch, Offset, ProducerEpoch, ProducerId};
use fanlog_protocol::records::InvalidBatch;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use thiserror::Error;

/// The log stopped for good: nothing more is appended or called durable until it has been opened anew.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "log {log} has stopped: {reason}; restart the broker, which reads the log back from the disk"
)]
pub struct LogFailed {
    /// The log's folder.
    pub log: Arc<str>,
    /// What happened.
    pub reason: Arc<str>,
}

/// Why a log cannot be created or opened. Nothing on disk was harmed.
#[derive(Debug, Error)]
pub enum OpenLogError {
    /// A log is there already.
    #[error(
        "folder {} has files already and no readable partition.metadata; restore that file, or move the folder away",
        dir.display()
    )]
    Exists {
        /// Its folder.
        dir: PathBuf,
    },
    /// The disk refused.
    #[error("log file {}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the disk said.
        source: io::Error,
    },
    /// Bytes that were durable are damaged: this partition stops, nothing is cut or deleted.
    #[error(
        "{} is corrupt at byte {position} (offset {offset} is expected there): {reason}; \
         nothing was deleted: restore the file from a copy, or delete the topic",
        path.display()
    )]
    Corrupt {
        /// The damaged file.
        path: PathBuf,
        /// Where in it.
        position: u64,
        /// The offset that should be there.
        offset: Offset,
        /// What is wrong.
        reason: String,
    },
}

/// Why batches are not appended. Nothing of them is in the log.
#[derive(Debug, Error)]
pub enum AppendError {
    /// The log has stopped.
    #[error(transparent)]
    Failed(#[from] LogFailed),
    /// The disk refused the write; what it had taken was cut off again. Retriable: there may be space later.
    #[error("log {log} cannot be written: {source}")]
    Io {
        /// The log's folder.
        log: Arc<str>,
        /// What the disk said.
        source: io::Error,
    },
    /// The leader's epoch is older than one in the log.
    #[error("leader epoch {given} is below {current}, which the log has seen")]
    StaleLeaderEpoch {
        /// The epoch of the append.
        given: LeaderEpoch,
        /// The log's latest epoch.
        current: LeaderEpoch,
    },
    /// A batch is corrupt, unreadable or breaks the topic's rules.
    #[error(transparent)]
    Invalid(#[from] InvalidBatch),
    /// A produce request carries exactly one batch for a partition.
    #[error("{count} record batches in one request; a client sends exactly one for a partition")]
    BatchCount {
        /// How many there are.
        count: usize,
    },
    /// A batch exceeds `max.message.bytes`.
    #[error("record batch of {bytes} bytes exceeds max.message.bytes {max}: send smaller batches")]
    TooLarge {
        /// The batch's size as it would be stored.
        bytes: usize,
        /// The setting.
        max: u32,
    },
    /// The batches do not fit in one segment.
    #[error("{bytes} bytes of record batches exceed segment.bytes {max}")]
    ExceedsSegment {
        /// Their size.
        bytes: usize,
        /// The setting.
        max: u32,
    },
    /// The batch would begin a transaction in the log that its coordinator knows nothing of, or that has ended meanwhile.
    #[error(
        "producer {producer_id} with epoch {producer_epoch} has no transaction under way that this partition belongs to"
    )]
    NotInTransaction {
        /// The producer.
        producer_id: ProducerId,
        /// The batch's epoch.
        producer_epoch: ProducerEpoch,
    },
    /// The producer has a transaction open here, and the batch is outside of it.
    #[error(
        "producer {producer_id} has a transaction under way, and the record batch is not part of it"
    )]
    OutsideTransaction {
        /// The producer.
        producer_id: ProducerId,
    },
    /// A marker of a coordinator that led earlier.
    #[error("coordinator epoch {found} is below {current}, which the log has a marker of")]
    CoordinatorFenced {
        /// The epoch of the last marker.
        current: i32,
        /// The refused marker's.
        found: i32,
    },
    /// The sequence is not the one that follows.
    #[error(
        "producer {producer_id} epoch {producer_epoch} sent sequence {found} where {expected} follows"
    )]
    OutOfOrderSequence {
        /// The producer.
        producer_id: ProducerId,
        /// Its epoch.
        producer_epoch: ProducerEpoch,
        /// The sequence that was expected.
        expected: i32,
        /// The sequence that came.
        found: i32,
    },
    /// The producer was fenced by a higher epoch.
    #[error(
        "producer {producer_id} sent epoch {found}, which is below its current epoch {current}"
    )]
    InvalidProducerEpoch {
        /// The producer.
        producer_id: ProducerId,
        /// Its current epoch.
        current: ProducerEpoch,
        /// The epoch that came.
        found: ProducerEpoch,
    },
}

/// Why nothing can be read.
#[derive(Debug, Error)]
pub enum ReadError {
    /// The offset is not in the log.
    #[error(
        "offset {offset} is outside the log, which holds {log_start_offset} to {log_end_offset}"
    )]
    OffsetOutOfRange {
        /// What was asked for.
        offset: Offset,
        /// The first offset there is.
        log_start_offset: Offset,
        /// The offset after the last.
        log_end_offset: Offset,
    },
    /// The disk refused.
    #[error("log {log} cannot be read: {source}")]
    Io {
        /// The log's folder.
        log: Arc<str>,
        /// What the disk said.
        source: io::Error,
    },
    /// The bytes are damaged. Other parts of the log stay readable.
    #[error("{path} is corrupt at byte {position}: {reason}", path = path.display())]
    Corrupt {
        /// The damaged file.
        path: PathBuf,
        /// Where in it.
        position: u64,
        /// What is wrong.
        reason: String,
    },
}

/// Damage that a read of batches met. It comes inside an [`io::Error`] of kind `InvalidData`.
#[derive(Debug, Error)]
#[error("{file} is corrupt at offset {offset}: {reason}; restore the file from a copy")]
pub struct DamagedSegment {
    /// The segment's file, in its log's folder.
    pub file: String,
    /// About where in it.
    pub offset: Offset,
    /// What is wrong.
    pub reason: String,
}

/// Why a log is not changed (truncated, trimmed, rolled).
#[derive(Debug, Error)]
pub enum ChangeError {
    /// The log has stopped.
    #[error(transparent)]
    Failed(#[from] LogFailed),
    /// The disk refused; the change can be tried again.
    #[error("log {log} cannot be changed: {source}")]
    Io {
        /// The log's folder.
        log: Arc<str>,
        /// What the disk said.
        source: io::Error,
    },
    /// The offset is above the high watermark, or below 0.
    #[error(
        "offset {offset} is outside the log, which holds {log_start_offset} to {high_watermark}"
    )]
    OffsetOutOfRange {
        /// What was asked for.
        offset: Offset,
        /// The first offset there is.
        log_start_offset: Offset,
        /// The offset after the last that is durable.
        high_watermark: Offset,
    },
}
