//! What a topic's settings ask of its logs.

use fanlog_protocol::records::{Compression, TimestampType};

/// When a topic's records are acknowledged and visible, and so what a power cut may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// Once they are durable.
    Sync,
    /// Once they are appended; they are synced so many milliseconds later.
    Interval(u32),
    /// Once they are appended; the operating system writes them when it likes.
    Os,
}

/// The settings of one log, under Kafka's names. The catalog fills it in; it may change while the log is open.
#[derive(Clone, Debug, PartialEq)]
pub struct LogConfig {
    /// `segment.bytes`: a segment is rolled before it grows beyond.
    pub segment_bytes: u32,
    /// `segment.ms`: a segment is rolled when its first batch is older.
    pub segment_ms: i64,
    /// `segment.index.bytes`: a segment is rolled when its index is full.
    pub segment_index_bytes: u32,
    /// `index.interval.bytes`: the bytes of batches for each index entry.
    pub index_interval_bytes: u32,
    /// `retention.ms`: segments whose records are all older may go; -1 keeps them.
    pub retention_ms: i64,
    /// `retention.bytes`: segments beyond this size may go, the oldest first; -1 keeps them.
    pub retention_bytes: i64,
    /// `max.message.bytes`: the largest batch taken, in bytes as stored.
    pub max_message_bytes: u32,
    /// `message.timestamp.type`.
    pub timestamp_type: TimestampType,
    /// `message.timestamp.before.max.ms`.
    pub timestamp_before_max_ms: i64,
    /// `message.timestamp.after.max.ms`.
    pub timestamp_after_max_ms: i64,
    /// `compression.type`: nothing stands for `producer`, which stores batches as they came.
    pub compression_type: Option<Compression>,
    /// Whether `cleanup.policy` has `compact`: every record then needs a key.
    pub is_compacted: bool,
    /// `min.cleanable.dirty.ratio`: the share of dirty bytes above which a cleaning is due.
    pub min_cleanable_dirty_ratio: f64,
    /// `min.compaction.lag.ms`: a segment is not cleaned while it has a younger record.
    pub min_compaction_lag_ms: i64,
    /// `max.compaction.lag.ms`: a cleaning is due for records that are older.
    pub max_compaction_lag_ms: i64,
    /// `delete.retention.ms`: how long tombstones stay from their first cleaning on; for ever where it is the largest number.
    pub delete_retention_ms: i64,
    /// Whether `cleanup.policy` has `delete`: retention by time and size applies.
    pub is_deleted_by_retention: bool,
    /// `durability`: when records are acknowledged and visible.
    pub durability: Durability,
    /// `producer.id.expiration.ms`: a producer that wrote nothing for so long is forgotten.
    pub producer_id_expiration_ms: i64,
}

impl Default for LogConfig {
    /// Kafka 4.4's defaults.
    fn default() -> Self {
        Self {
            segment_bytes: 1024 * 1024 * 1024,
            segment_ms: 7 * 24 * 60 * 60 * 1000,
            segment_index_bytes: 10 * 1024 * 1024,
            index_interval_bytes: 4096,
            retention_ms: 7 * 24 * 60 * 60 * 1000,
            retention_bytes: -1,
            max_message_bytes: 1024 * 1024 + 12,
            timestamp_type: TimestampType::CreateTime,
            timestamp_before_max_ms: i64::MAX,
            timestamp_after_max_ms: 60 * 60 * 1000,
            compression_type: None,
            is_compacted: false,
            min_cleanable_dirty_ratio: 0.5,
            min_compaction_lag_ms: 0,
            max_compaction_lag_ms: i64::MAX,
            delete_retention_ms: 24 * 60 * 60 * 1000,
            is_deleted_by_retention: true,
            durability: Durability::Sync,
            producer_id_expiration_ms: 24 * 60 * 60 * 1000,
        }
    }
}

/// What a segment has to know of the settings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    /// The bytes of batches for each index entry.
    pub(crate) index_interval_bytes: u32,
    /// Whether offsets have no holes, as compaction leaves them.
    pub(crate) is_dense: bool,
}

impl LogConfig {
    /// After how long a segment is rolled: a record that is to be compacted in time must be in a sealed one.
    pub(crate) fn segment_ms_max(&self) -> i64 {
        match self.is_compacted && self.max_compaction_lag_ms > 0 {
            true => self.segment_ms.min(self.max_compaction_lag_ms),
            false => self.segment_ms,
        }
    }

    pub(crate) fn layout(&self, is_dense: bool) -> Layout {
        Layout {
            index_interval_bytes: self.index_interval_bytes,
            is_dense,
        }
    }
}
