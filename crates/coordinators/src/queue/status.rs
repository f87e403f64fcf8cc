//! Why a partition of a queue is as it is, for people.

use super::{Counters, Ledger, State, Waiting};
use crate::Now;
use fanlog_model::{Offset, TimestampMs};
use std::num::NonZeroU64;
use std::ops::Bound;
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
    /// Records that wait for their time, delayed or resting, as far as the topic was looked at.
    pub timed: u64,
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

/// How many keys and consumers are listed.
const LISTED_MAX: usize = 100;
/// How many keys are looked at for those that are blocked.
const KEYS_LOOKED_AT_MAX: usize = 10_000;

/// What the partition looks like now. Lists are bounded.
pub fn status(ledger: &Ledger, waiting: &Waiting, now: Now) -> PartitionStatus {
    let index = ledger.index();
    let ready = waiting.ready_count();
    let timed = waiting.timers.len() as u64;
    PartitionStatus {
        start: ledger.start(),
        cursor: waiting.cursor(ledger),
        held: index.held,
        consumers: consumers(ledger, waiting, now),
        ready,
        resting: index.resting,
        timed,
        passed_over: (waiting.keys.len() as u64 + waiting.keyless).saturating_sub(ready + timed),
        next_due: waiting.timers.first().map(|(due, _)| *due),
        blocked_keys: blocked_keys(ledger, waiting, now),
        attempts: index.by_attempts,
        moving: index.moving,
        done_behind: index.done,
        counters: ledger.head.counters,
    }
}

fn consumers(ledger: &Ledger, waiting: &Waiting, now: Now) -> Vec<ConsumerStatus> {
    let index = ledger.index();
    let one = |(number, held): (&u32, &u64)| {
        let from = (*number, TimestampMs(i64::MIN), Offset(i64::MIN));
        let to = (*number, TimestampMs(i64::MAX), Offset(i64::MAX));
        let mut locks = index
            .of_consumer
            .range(from..=to)
            .map(|(_, until, _)| on_the_wall(waiting, now, *until));
        let next_deadline = locks.next();
        ConsumerStatus {
            consumer: ledger.consumer(*number),
            held: *held,
            next_deadline,
            last_deadline: locks.next_back().or(next_deadline),
        }
    };
    index.consumers.iter().take(LISTED_MAX).map(one).collect()
}

/// When a lock runs out as the wall clock says it.
pub(super) fn on_the_wall(waiting: &Waiting, now: Now, until: TimestampMs) -> TimestampMs {
    if !waiting.is_loaded {
        return until;
    }
    let left = until.0.saturating_sub(waiting.steady(now).0);
    TimestampMs(now.wall.0.saturating_add(left))
}

fn blocked_keys(ledger: &Ledger, waiting: &Waiting, now: Now) -> Vec<BlockedKey> {
    let mut blocked = Vec::new();
    let mut from = Bound::Unbounded;
    for _ in 0..KEYS_LOOKED_AT_MAX {
        let next = waiting.keys.range((from, Bound::Unbounded)).next();
        let Some((key, first)) = next.copied() else {
            break;
        };
        from = Bound::Excluded((key, Offset(i64::MAX)));
        blocked.extend(blocked_key(ledger, waiting, now, (key, first)));
        if blocked.len() == LISTED_MAX {
            break;
        }
    }
    blocked
}

fn blocked_key(
    ledger: &Ledger,
    waiting: &Waiting,
    now: Now,
    (key, first): (NonZeroU64, Offset),
) -> Option<BlockedKey> {
    let of_key = (key, Offset(i64::MIN))..=(key, Offset(i64::MAX));
    let blocked = |offset, until, reason| BlockedKey {
        key: key.get(),
        offset,
        until,
        reason,
    };
    if let Some((_, offset)) = waiting.held_keys.range(of_key).next()
        && let (State::Held(held), _) = ledger.state(*offset)
    {
        let until = on_the_wall(waiting, now, held.until);
        let reason = BlockReason::Held(ledger.consumer(held.consumer));
        return Some(blocked(*offset, until, reason));
    }
    let parked = waiting.parked.get(&first)?;
    let (due, reason) = match ledger.state(first).0 {
        State::Resting { due, .. } => {
            let last = ledger.histories.of(first).last();
            let reason = last.map_or_else(|| Arc::from(""), |attempt| attempt.reason.clone());
            (due, BlockReason::Resting(reason))
        }
        _ => (parked.due, BlockReason::Delayed),
    };
    (due > now.wall).then(|| blocked(first, due, reason))
}
