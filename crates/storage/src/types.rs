//! What goes into and comes out of a log's operations.

use fanlog_model::{LeaderEpoch, Offset, ProducerEpoch, ProducerId, TimestampMs};

/// How a log is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecoveryMode {
    /// Whether the broker that had the log open last closed it: nothing is searched for damage then.
    pub clean: bool,
}

/// Who appends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AppendOrigin {
    /// A client, whose batches are checked in full.
    Client,
    /// The broker, that copies records which a log has taken already: checked as a client's, but for the size. They may have been packed
    /// tighter there, and refused they would hold up all behind them for ever.
    Mover,
    /// One of our coordinators, which may write several batches and control records.
    Coordinator,
    /// One of our coordinators, or who stands in for it, that ends a transaction of the second generation: the epoch of its marker lies
    /// above that of the transaction.
    LaterMarker,
}

/// What an append did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// The offset of the first record, or of the original where this was a duplicate.
    pub first_offset: Offset,
    /// The offset of the last record. The append is durable once the durable offset lies above it; for a duplicate as well.
    pub last_offset: Offset,
    /// The time given to the records where the topic has LogAppendTime, else none (-1).
    pub log_append_time: TimestampMs,
    /// Where the log starts.
    pub log_start_offset: Offset,
    /// Whether nothing was appended, because an earlier append had the same sequences (PRD-1).
    pub is_duplicate: bool,
    /// How many records were appended.
    pub record_count: i64,
    /// How many bytes were appended.
    pub bytes: usize,
}

/// How much to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadLimit {
    /// At most so many bytes of batches.
    pub max_bytes: usize,
    /// One batch is read even where it exceeds `max_bytes`.
    pub min_one_batch: bool,
    /// Nothing at or above this offset is read: the high watermark for consumers.
    pub below: Offset,
}

/// A record found by time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimestampOffset {
    /// Its time.
    pub timestamp: TimestampMs,
    /// Its offset.
    pub offset: Offset,
    /// The epoch of its batch.
    pub leader_epoch: LeaderEpoch,
}

/// What retention removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retained {
    /// How many segments.
    pub deleted_segments: usize,
    /// How many bytes of batches.
    pub deleted_bytes: u64,
    /// How many offsets the log start moved.
    pub deleted_offsets: i64,
    /// Where the log starts now.
    pub log_start_offset: Offset,
    /// How many bytes would have gone, had they not been held.
    pub held_bytes: u64,
}

/// What retention leaves, though it is too old or too much: somebody has yet to read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetentionHold {
    /// From here on.
    pub from: Offset,
    /// At most so many bytes of whole segments; none for no limit. Beyond it the oldest go.
    pub bytes_max: Option<u64>,
}

/// A producer that the log remembers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActiveProducer {
    /// The producer.
    pub producer_id: ProducerId,
    /// Its epoch.
    pub producer_epoch: ProducerEpoch,
    /// The last sequence it wrote, -1 for none.
    pub last_sequence: i32,
    /// The largest timestamp of its last batch.
    pub last_timestamp: TimestampMs,
    /// The epoch of the coordinator that wrote its last marker, -1 for none.
    pub coordinator_epoch: i32,
    /// Where its open transaction began, -1 for none.
    pub current_txn_start_offset: Offset,
}
