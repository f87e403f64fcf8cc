//! What a queue allows: read anew for each decision, as it may change while records are on their way.

use fanlog_model::{PartitionIndex, TopicId};
use std::time::Duration;

/// The rules of one partition of a queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// How long a record is held, where its consumer says nothing (`lock`).
    pub lock: Duration,
    /// How often a record is delivered at most (`max-attempts`); 0 for without an end.
    pub attempts_max: u16,
    /// How long a record rests after an attempt that failed (`backoff`).
    pub backoff: Backoff,
    /// Whether records of a key wait for each other (`order`).
    pub order: Order,
    /// How many records are held at once (`max-in-flight`), in this partition.
    pub window: i64,
    /// Nothing is handed out (`paused`); what is held may be settled.
    pub is_paused: bool,
    /// Where records go after their last attempt, or when they are redriven; `None`: they are given up and counted.
    pub target: Option<MoveTarget>,
    /// How many records may be tracked in memory (held, resting, delayed, passed over) until no new ones are looked at.
    pub tracked_max: usize,
    /// How many updates are logged between two snapshots at least; more where a snapshot is large.
    pub updates_per_snapshot: u32,
}

/// How long a record rests after an attempt that failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Backoff {
    /// Not at all.
    #[default]
    None,
    /// Always as long.
    Fixed {
        /// So long.
        delay: Duration,
        /// Up to so many hundredths of it less, by chance that depends on the record and the attempt alone.
        jitter_percent: u8,
    },
    /// Twice as long each time.
    Exponential {
        /// After the first attempt.
        first: Duration,
        /// Never longer.
        max: Duration,
        /// As of `Fixed`.
        jitter_percent: u8,
    },
}

/// Whether records wait for each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// No.
    #[default]
    None,
    /// Those of one key do: in the order of their offsets, to one consumer at a time (QUE-3).
    Key,
}

/// The partition to which records are moved, once and only once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MoveTarget {
    /// The topic.
    pub topic: TopicId,
    /// Its partition; the machine stays with the one that it used first while the topic is the same.
    pub partition: PartitionIndex,
}
