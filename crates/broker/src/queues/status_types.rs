//! "Why is this stuck?": what a queue says of itself.

use super::types::MessageId;
use fanlog_model::{GroupId, PartitionIndex, TimestampMs, TopicName};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// How a queue stands.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueStatus {
    /// Its name.
    pub name: GroupId,
    /// The topic that it reads.
    pub topic: TopicName,
    /// What keeps it from handing out messages, in words for people; none where nothing does.
    pub hindrances: Vec<Hindrance>,
    /// How many records it is not done with, as far as is known: records not looked at yet count, wanted or not.
    pub depth: u64,
    /// How many of them nobody has looked at yet.
    pub unread: u64,
    /// How many could be handed out now, of those that were looked at.
    pub available: u64,
    /// The first record that it is not done with, in the partition where that is oldest; and the time of the record's batch.
    pub oldest: Option<(MessageId, TimestampMs)>,
    /// Who holds how much: a hundred at most, those with most first.
    pub in_flight: Vec<ConsumerLoad>,
    /// How many records are held by all.
    pub in_flight_records: u64,
    /// How many records were delivered and come again, whether due or not.
    pub resting: u64,
    /// How many records wait for a time, their own or that of the backoff, as far as the topic was looked at.
    pub waiting_for_time: u64,
    /// How many records wait for an earlier one of their key, as far as the topic was looked at.
    pub waiting_for_key: u64,
    /// Keys of which records wait: a hundred at most.
    pub blocked: Vec<BlockedKey>,
    /// When something falls due next.
    pub next_due: Option<TimestampMs>,
    /// How many of the records that are not done with were delivered so often; the highest number stands for all above.
    pub attempts: BTreeMap<u16, u64>,
    /// How many dead letters it has; none where it keeps none. Where queues share the topic, those of the others count too.
    pub dead_letters: Option<u64>,
    /// How many records are on their way to another topic.
    pub moving: u64,
    /// What keeps them from arriving.
    pub moving_hindrance: Option<Arc<str>>,
    /// Acknowledged since the queue was made.
    pub acknowledged: u64,
    /// Given up without a dead letter, since the queue was made.
    pub given_up: u64,
    /// Taken by retention, or by who deleted records, before it was done with them; since the queue was made.
    pub lost: u64,
    /// Records whose delay could not be read, since the broker's start: they are not delayed.
    pub unreadable_delays: u64,
    /// Records that came into the topic, per second.
    pub rate_in: Option<f64>,
    /// Records that it was done with, per second.
    pub rate_out: Option<f64>,
    /// When it will be empty, if things go on as they do.
    pub drain: Drain,
    /// Each partition for itself.
    pub partitions: Vec<QueuePartitionStatus>,
}

/// What keeps a queue, or some of its partitions, from handing out messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hindrance {
    /// It is paused.
    Paused,
    /// What became of its records is being read from the log.
    Loading {
        /// Of this partition.
        partition: PartitionIndex,
    },
    /// Its state, or the topic, cannot be read or written.
    Unavailable {
        /// Of this partition.
        partition: PartitionIndex,
        /// Why.
        reason: Arc<str>,
    },
    /// The memory for queues is full: no records that were not looked at yet are handed out.
    MemoryFull {
        /// What queues take.
        bytes: u64,
        /// What they may take (`fanlog.queues.memory.bytes`).
        limit: u64,
    },
    /// As many records as may be are in flight (`max-in-flight`).
    WindowFull {
        /// In this partition.
        partition: PartitionIndex,
        /// How many.
        in_flight: u64,
    },
}

/// What one consumer holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsumerLoad {
    /// Its name.
    pub consumer: Arc<str>,
    /// How many records.
    pub records: u64,
    /// When the first of its locks runs out.
    pub first_deadline: Option<TimestampMs>,
    /// When the last does.
    pub last_deadline: Option<TimestampMs>,
}

/// A key whose records wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockedKey {
    /// The key as text, if its record was read lately.
    pub key: Option<String>,
    /// The record that the others wait for.
    pub by: MessageId,
    /// Why that one is not done with, in words for people.
    pub reason: Arc<str>,
    /// Until when it is held or rests, at least.
    pub until: TimestampMs,
}

/// One partition of a queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuePartitionStatus {
    /// Which topic: the queue's own, or that of what was redriven.
    pub topic: TopicName,
    /// Which partition of it.
    pub partition: PartitionIndex,
    /// The first record that it is not done with.
    pub start: i64,
    /// How far it was looked at.
    pub cursor: i64,
    /// The end of what may be handed out.
    pub end: i64,
    /// Records held.
    pub in_flight: u64,
    /// Records it is not done with.
    pub depth: u64,
}

/// When a queue will be empty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Drain {
    /// It is.
    Empty,
    /// In about that time.
    In(Duration),
    /// More comes in than goes out.
    Never,
    /// The rates are not known yet.
    Unknown,
}
