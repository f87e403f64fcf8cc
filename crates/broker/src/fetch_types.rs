//! What a fetch asks for and what it gets.

use crate::lookup::{EpochError, LookupError, PartitionUnavailable, TopicRef};
use bytes::Bytes;
use fanlog_model::{LeaderEpoch, Offset, PartitionIndex, ProducerId};
use fanlog_storage::FileSlice;
use std::time::Duration;
use thiserror::Error;

/// Which records a consumer may see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Isolation {
    /// All durable records.
    #[default]
    ReadUncommitted,
    /// Durable records below the last stable offset.
    ReadCommitted,
}

/// A fetch over many partitions; the answer has one entry for each, in this order.
#[derive(Clone, Debug)]
pub struct FetchRequestPlan {
    /// What to read, in the order in which partitions may use up `bytes_max`.
    pub partitions: Vec<FetchPartition>,
    /// Wait until this many bytes are there; 0 answers at once.
    pub bytes_min: usize,
    /// At most this many bytes in all; the first batch may exceed it.
    pub bytes_max: usize,
    /// The longest wait for `bytes_min`.
    pub wait_max: Duration,
    /// Which records may be seen.
    pub isolation: Isolation,
    /// The number of the partition that is read first; those before it are read last. Whoever asks again and again in the same
    /// order changes it each time, so that no partition starves the others.
    pub first: usize,
    /// Runs of records of this many bytes or more are handed out as slices of their files, where the disk has such as can be
    /// sent; others are read.
    pub sent_from_file_min: usize,
}

/// One partition of a fetch.
#[derive(Clone, Debug)]
pub struct FetchPartition {
    /// The topic.
    pub topic: TopicRef,
    /// The partition.
    pub partition: PartitionIndex,
    /// The first offset wanted.
    pub offset: Offset,
    /// At most this many bytes from this partition.
    pub bytes_max: usize,
    /// The leader epoch that the client knows, if it does.
    pub leader_epoch: Option<LeaderEpoch>,
    /// The epoch of the last record that the client has, if it says so: its log may have run apart from ours.
    pub last_fetched_epoch: Option<LeaderEpoch>,
}

/// The records of one partition, in memory or in their files, and where the partition stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FetchedRecords {
    /// Whole batches in order, as slices of what was read; the first one contains the offset asked for.
    pub records: Vec<Bytes>,
    /// The same, where they are to be sent from their files: checked, and in the page cache. `records` is empty then.
    pub in_files: Vec<FileSlice>,
    /// Nothing at or above this offset is visible.
    pub high_watermark: Offset,
    /// Nothing at or above this offset is decided.
    pub last_stable_offset: Offset,
    /// The first offset still kept.
    pub log_start_offset: Offset,
    /// The partition's leader epoch.
    pub leader_epoch: LeaderEpoch,
    /// Aborted transactions in `records`; only for `Isolation::ReadCommitted`.
    pub aborted_transactions: Vec<AbortedTransaction>,
    /// Where the client's log ran apart from ours; there are no records then.
    pub diverging: Option<DivergingEpoch>,
}

/// The last epoch that a client's log and ours may have in common, and where it ends here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DivergingEpoch {
    /// The largest epoch here that is not above the client's.
    pub epoch: LeaderEpoch,
    /// Where its records end.
    pub end_offset: Offset,
}

impl FetchedRecords {
    /// How many bytes of records there are.
    pub fn bytes(&self) -> usize {
        let in_memory: usize = self.records.iter().map(Bytes::len).sum();
        in_memory
            + self
                .in_files
                .iter()
                .map(|slice| slice.length)
                .sum::<usize>()
    }
}

/// A transaction whose records a `ReadCommitted` consumer skips.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AbortedTransaction {
    /// Who wrote it.
    pub producer_id: ProducerId,
    /// Its first offset.
    pub first_offset: Offset,
}

/// Why one partition of a fetch has no records.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FetchError {
    /// There is no such partition, or it was deleted while the fetch waited.
    #[error(transparent)]
    Lookup(#[from] LookupError),
    /// The leader epochs differ.
    #[error(transparent)]
    Epoch(#[from] EpochError),
    /// The partition cannot serve.
    #[error(transparent)]
    Unavailable(#[from] PartitionUnavailable),
    /// The offset lies below the log's start or above its high watermark.
    #[error(
        "offset {requested} is out of range: the log has {log_start_offset} to {high_watermark}"
    )]
    OffsetOutOfRange {
        /// What was asked for.
        requested: Offset,
        /// The first offset kept.
        log_start_offset: Offset,
        /// The first offset not visible.
        high_watermark: Offset,
    },
    /// The bytes there are not those that were written. Other parts of the partition stay readable.
    #[error("partition {partition} is damaged: {reason}")]
    Damaged {
        /// The partition's folder name.
        partition: String,
        /// Which file, and where.
        reason: String,
    },
    /// The disk did not give the bytes.
    #[error("partition {partition} could not be read: {reason}")]
    Read {
        /// The partition's folder name.
        partition: String,
        /// What the disk said.
        reason: String,
    },
}
