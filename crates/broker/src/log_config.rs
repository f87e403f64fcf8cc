//! A topic's settings in force, as its logs want them.

use fanlog_model::settings::{
    self, BrokerSettings, CompressionType, MessageTimestampType, TopicSettings,
};
use fanlog_protocol::records::{Compression, TimestampType};
use fanlog_storage::{Durability, LogConfig};

/// What a topic's settings ask of its logs.
pub(crate) fn log_config(topic: &TopicSettings, broker: &BrokerSettings) -> LogConfig {
    LogConfig {
        segment_bytes: topic.segment_bytes,
        segment_ms: signed(topic.segment_ms),
        segment_index_bytes: topic.segment_index_bytes,
        index_interval_bytes: topic.index_interval_bytes,
        retention_ms: topic.retention_ms.map_or(-1, signed),
        retention_bytes: topic.retention_bytes.map_or(-1, signed),
        max_message_bytes: topic.max_message_bytes,
        timestamp_type: match topic.timestamp_type {
            MessageTimestampType::CreateTime => TimestampType::CreateTime,
            MessageTimestampType::LogAppendTime => TimestampType::LogAppendTime,
        },
        timestamp_before_max_ms: topic.timestamp_before_max_ms,
        timestamp_after_max_ms: topic.timestamp_after_max_ms,
        compression_type: match topic.compression_type {
            CompressionType::Producer => None,
            CompressionType::Uncompressed => Some(Compression::None),
            CompressionType::Gzip => Some(Compression::Gzip),
            CompressionType::Snappy => Some(Compression::Snappy),
            CompressionType::Lz4 => Some(Compression::Lz4),
            CompressionType::Zstd => Some(Compression::Zstd),
        },
        is_compacted: topic.cleanup_policy.compact,
        min_cleanable_dirty_ratio: topic.min_cleanable_dirty_ratio,
        min_compaction_lag_ms: topic.min_compaction_lag_ms,
        max_compaction_lag_ms: topic.max_compaction_lag_ms,
        delete_retention_ms: topic.delete_retention_ms,
        is_deleted_by_retention: topic.cleanup_policy.delete,
        durability: match topic.durability {
            settings::Durability::Sync => Durability::Sync,
            settings::Durability::Interval(ms) => Durability::Interval(ms),
            settings::Durability::Os => Durability::Os,
        },
        producer_id_expiration_ms: signed(broker.producer_id_expiration_ms),
    }
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
