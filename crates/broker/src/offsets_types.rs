//! What ListOffsets, OffsetForLeaderEpoch and DeleteRecords ask and get.

use crate::lookup::{EpochError, LookupError, PartitionUnavailable};
use fanlog_model::{LeaderEpoch, Offset, TimestampMs};
use thiserror::Error;

/// Which offset of a partition is wanted; Kafka writes the special ones as negative timestamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OffsetSpec {
    /// The first offset kept (-2).
    Earliest,
    /// The high watermark, or the last stable offset for `Isolation::ReadCommitted` (-1).
    Latest,
    /// The record with the largest timestamp (-3).
    MaxTimestamp,
    /// The first offset on the local disk (-4); as all offsets are local, the first one.
    EarliestLocal,
    /// The last offset in tiered storage (-5); none, as there is no tiered storage.
    LatestTiered,
    /// The first offset waiting to be tiered (-6); none, as there is no tiered storage.
    EarliestPendingUpload,
    /// The first record at or after this time.
    Timestamp(TimestampMs),
}

/// An offset found, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedOffset {
    /// The offset; none if no visible record qualifies.
    pub offset: Option<Offset>,
    /// The record's timestamp, for the timestamp lookups.
    pub timestamp: Option<TimestampMs>,
    /// The leader epoch under which the offset was or will be written.
    pub leader_epoch: Option<LeaderEpoch>,
}

/// Where the records of a leader epoch end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EpochEnd {
    /// The largest epoch at or below the one asked for; none if there is none.
    pub leader_epoch: Option<LeaderEpoch>,
    /// One past its last offset; none with `leader_epoch`.
    pub end_offset: Option<Offset>,
}

/// Why there is no answer about offsets.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum OffsetsError {
    /// There is no such partition.
    #[error(transparent)]
    Lookup(#[from] LookupError),
    /// The leader epochs differ.
    #[error(transparent)]
    Epoch(#[from] EpochError),
    /// The partition cannot serve.
    #[error(transparent)]
    Unavailable(#[from] PartitionUnavailable),
    /// The disk did not give the bytes.
    #[error("partition {partition} could not be read: {reason}")]
    Read {
        /// The partition's folder name.
        partition: String,
        /// What the disk said.
        reason: String,
    },
}

/// As `OffsetsError`; ListOffsets has no reasons of its own.
pub type ListOffsetsError = OffsetsError;

/// Why records were not deleted.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DeleteRecordsError {
    /// There is no such partition.
    #[error(transparent)]
    Lookup(#[from] LookupError),
    /// The partition cannot serve.
    #[error(transparent)]
    Unavailable(#[from] PartitionUnavailable),
    /// The offset is negative or above the high watermark.
    #[error(
        "cannot delete records before offset {requested}: the high watermark is {high_watermark}"
    )]
    OffsetOutOfRange {
        /// What was asked for.
        requested: Offset,
        /// The largest offset allowed.
        high_watermark: Offset,
    },
    /// The disk refused; it can be tried again.
    #[error("records of partition {partition} could not be deleted: {reason}")]
    Disk {
        /// The partition's folder name.
        partition: String,
        /// What the disk said.
        reason: String,
    },
    /// The topic is the broker's own: what it holds is not a client's to delete.
    #[error("topic '{topic}' is internal; its records cannot be deleted")]
    Internal {
        /// The topic.
        topic: String,
    },
    /// The topic keeps its last value per key: its policy does not allow it.
    #[error("topic '{topic}' does not have cleanup.policy delete; records of it cannot be deleted")]
    PolicyViolation {
        /// The topic.
        topic: String,
    },
}
