//! What a queue allows: read anew for each decision, as it may change while records are on their way.

pub use fanlog_model::settings::{Backoff, Order};
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

/// The partition to which records are moved, once and only once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MoveTarget {
    /// The topic.
    pub topic: TopicId,
    /// Its partition; the machine stays with the one that it used first while the topic is the same.
    pub partition: PartitionIndex,
}
