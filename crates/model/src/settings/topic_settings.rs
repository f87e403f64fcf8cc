//! The settings of one topic in force, typed.

use super::Overrides;
use super::layers::{BrokerLayers, effective_topic_value};

/// What happens to old records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CleanupPolicy {
    /// Segments past retention go.
    pub delete: bool,
    /// Records must have keys, and the last of each key is kept.
    pub compact: bool,
}

/// How batches are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompressionType {
    /// As they came.
    Producer,
    /// Without compression.
    Uncompressed,
    /// With gzip.
    Gzip,
    /// With snappy.
    Snappy,
    /// With LZ4.
    Lz4,
    /// With Zstandard.
    Zstd,
}

/// Whose clock stamps the records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageTimestampType {
    /// The producer's.
    CreateTime,
    /// The broker's.
    LogAppendTime,
}

/// The longest that `durability=interval` may wait, in milliseconds: an hour.
pub(super) const INTERVAL_MS_MAX: u32 = 3_600_000;

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

/// The honoured settings of a topic, resolved from its overrides, the broker's settings and the defaults.
#[derive(Clone, Debug, PartialEq)]
pub struct TopicSettings {
    /// `cleanup.policy`.
    pub cleanup_policy: CleanupPolicy,
    /// `compression.type`.
    pub compression_type: CompressionType,
    /// `dedup.window.ms`; 0 for none.
    pub dedup_window_ms: i64,
    /// `delete.retention.ms`.
    pub delete_retention_ms: i64,
    /// `durability`.
    pub durability: Durability,
    /// `index.interval.bytes`.
    pub index_interval_bytes: u32,
    /// `max.compaction.lag.ms`.
    pub max_compaction_lag_ms: i64,
    /// `max.message.bytes`.
    pub max_message_bytes: u32,
    /// `message.timestamp.after.max.ms`.
    pub timestamp_after_max_ms: i64,
    /// `message.timestamp.before.max.ms`.
    pub timestamp_before_max_ms: i64,
    /// `message.timestamp.type`.
    pub timestamp_type: MessageTimestampType,
    /// `min.cleanable.dirty.ratio`.
    pub min_cleanable_dirty_ratio: f64,
    /// `min.compaction.lag.ms`.
    pub min_compaction_lag_ms: i64,
    /// `retention.bytes`; none for no limit.
    pub retention_bytes: Option<u64>,
    /// `retention.hold.bytes`; none for no limit.
    pub retention_hold_bytes: Option<u64>,
    /// `retention.ms`; none for no limit.
    pub retention_ms: Option<u64>,
    /// `segment.bytes`.
    pub segment_bytes: u32,
    /// `segment.index.bytes`.
    pub segment_index_bytes: u32,
    /// `segment.ms`.
    pub segment_ms: u64,
    /// `min.insync.replicas`: returned to clients, without effect here.
    pub min_insync_replicas: u32,
}

impl TopicSettings {
    /// Resolves a topic's overrides against its broker.
    pub fn resolve(topic: &Overrides, layers: &BrokerLayers<'_>) -> Self {
        let text = |name: &str| effective_topic_value(name, topic, layers);
        let number = |name: &str| -> i64 {
            let value = text(name).parse();
            value.expect("a number setting in force is a number: it was checked, or is a default")
        };
        let size = |name: &str| u32::try_from(number(name).max(0)).unwrap_or(u32::MAX);
        let limit = |name: &str| u64::try_from(number(name)).ok();
        Self {
            cleanup_policy: CleanupPolicy::of(&text("cleanup.policy")),
            compression_type: CompressionType::of(&text("compression.type")),
            dedup_window_ms: number("dedup.window.ms"),
            delete_retention_ms: number("delete.retention.ms"),
            durability: Durability::of(&text("durability")).unwrap_or(Durability::Sync),
            index_interval_bytes: size("index.interval.bytes"),
            max_compaction_lag_ms: number("max.compaction.lag.ms"),
            max_message_bytes: size("max.message.bytes"),
            timestamp_after_max_ms: number("message.timestamp.after.max.ms"),
            timestamp_before_max_ms: number("message.timestamp.before.max.ms"),
            timestamp_type: MessageTimestampType::of(&text("message.timestamp.type")),
            min_cleanable_dirty_ratio: text("min.cleanable.dirty.ratio")
                .parse()
                .expect("a number setting in force is a number: it was checked, or is a default"),
            min_compaction_lag_ms: number("min.compaction.lag.ms"),
            retention_bytes: limit("retention.bytes"),
            retention_hold_bytes: limit("retention.hold.bytes"),
            retention_ms: limit("retention.ms"),
            segment_bytes: size("segment.bytes"),
            segment_index_bytes: size("segment.index.bytes"),
            segment_ms: limit("segment.ms").unwrap_or(u64::MAX),
            min_insync_replicas: size("min.insync.replicas"),
        }
    }
}

impl CleanupPolicy {
    fn of(list: &str) -> Self {
        let has = |policy: &str| list.split(',').any(|item| item == policy);
        Self {
            delete: has("delete"),
            compact: has("compact"),
        }
    }
}

impl Durability {
    /// What a text says; nothing where it is none of them.
    pub(super) fn of(text: &str) -> Option<Self> {
        match text {
            "sync" => Some(Self::Sync),
            "os" => Some(Self::Os),
            _ => {
                let digits = text.strip_prefix("interval:")?;
                let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
                let ms = digits.parse().ok().filter(|_| is_number)?;
                (1..=INTERVAL_MS_MAX)
                    .contains(&ms)
                    .then_some(Self::Interval(ms))
            }
        }
    }
}

impl CompressionType {
    fn of(name: &str) -> Self {
        match name {
            "uncompressed" => Self::Uncompressed,
            "gzip" => Self::Gzip,
            "snappy" => Self::Snappy,
            "lz4" => Self::Lz4,
            "zstd" => Self::Zstd,
            _ => Self::Producer,
        }
    }
}

impl MessageTimestampType {
    fn of(name: &str) -> Self {
        match name {
            "LogAppendTime" => Self::LogAppendTime,
            _ => Self::CreateTime,
        }
    }
}
