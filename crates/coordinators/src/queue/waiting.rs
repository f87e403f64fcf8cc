//! What is found again by reading the topic: how far it was looked at (the cursor), and what was found there that has to wait.
//!
//! Why it exists: a log of every record that was merely seen would be as long as the topic. Everything below the cursor that is not
//! done with, held or moving stands here: it is *ready*, or *parked* until its time, or it waits for an earlier record of its key.
//! Of the records of a key only the first can be ready or have a timer; the others cost an entry in `keys` each.
//! Never: anything that a consumer was promised; that is in the ledger.
//! Invariants: QUE-3, QUE-4.   Read next: `track.rs`.

use super::{Ledger, Order, Policy, State};
use crate::Now;
use crate::runs::{RunState, Runs};
use fanlog_model::{Offset, TimestampMs};
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU64;
use std::time::Duration;

/// What only this process knows. Losing it costs another look at the topic, and breaks no promise.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    pub(super) is_loaded: bool,
    pub(super) order: Order,
    /// The wall clock when it was loaded. Locks run on the clock that goes on steadily from there.
    pub(super) loaded_at: Now,
    /// Everything below was looked at.
    pub(super) cursor: Offset,
    pub(super) next_grant: u64,
    /// What can go at once.
    pub(super) ready: Runs<Ready>,
    /// What has a time of its own, and what is ready and has a key.
    pub(super) parked: BTreeMap<Offset, Parked>,
    /// What has to wait for its time and for nothing else.
    pub(super) timers: BTreeSet<(TimestampMs, Offset)>,
    /// What has a key and is not held; what was cancelled or moved meanwhile may stand here until its turn comes.
    pub(super) keys: BTreeSet<(NonZeroU64, Offset)>,
    /// What has a key and is held.
    pub(super) held_keys: BTreeSet<(NonZeroU64, Offset)>,
    /// How many records stand here that have no key.
    pub(super) keyless: u64,
}

/// A record with a time, or with a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parked {
    pub(super) key: Option<NonZeroU64>,
    pub(super) due: TimestampMs,
}

/// Whether a record can go at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ready {
    No,
    Yes,
}

impl RunState for Ready {
    /// How many can.
    type Index = u64;
    const UNKNOWN: Self = Self::No;

    fn note(self, first: Offset, last: Offset, count: &mut u64, is_there: bool) {
        let records = super::index::first_to_last(first, last);
        *count = match is_there {
            true => count.wrapping_add(records),
            false => count.wrapping_sub(records),
        };
    }
}

impl Waiting {
    /// The clock of the locks.
    pub(super) fn steady(&self, now: Now) -> TimestampMs {
        let passed = now.monotonic.saturating_sub(self.loaded_at.monotonic);
        later(self.loaded_at.wall, passed)
    }

    /// How many records are tracked: those that are held or moving, and those that stand here.
    pub(super) fn tracked(&self, ledger: &Ledger) -> u64 {
        let waiting = self.keys.len() as u64 + self.keyless;
        ledger.index().held + ledger.index().moving + waiting
    }

    /// How many records can go at once.
    pub fn ready_count(&self) -> u64 {
        *self.ready.index()
    }

    /// How far the topic was looked at.
    pub fn cursor(&self, ledger: &Ledger) -> Offset {
        self.cursor.max(ledger.head.start)
    }

    /// Moves the cursor on to the next record that may be given, or of which nothing is known.
    pub(super) fn pass_known(&mut self, ledger: &Ledger) -> Offset {
        self.cursor = first_open(ledger, self.cursor(ledger));
        self.cursor
    }

    /// Whether a record of which nothing is known may be looked at. Those of which the log knows something always may: they would
    /// never come back otherwise.
    pub(super) fn has_room(&self, ledger: &Ledger, policy: &Policy, at: Offset, new: u64) -> bool {
        let tracked = self.tracked(ledger) + new;
        tracked < policy.tracked_max as u64 || at < ledger.end()
    }
}

/// The first record from there on that is neither done with, held nor moving.
fn first_open(ledger: &Ledger, mut from: Offset) -> Offset {
    while let (State::Done | State::Held(_) | State::Moving { .. }, last) = ledger.states.at(from) {
        from = last.plus(1);
    }
    from
}

/// Where there is something to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextRead {
    /// The first offset.
    pub from: Offset,
    /// Whether nothing is known of what stands there: it may be behind the end of the log. Otherwise its record can go at once.
    pub is_scan: bool,
}

/// Where to read for the next `Acquire`; none while nothing may be handed out: then the next input that has freed something, or
/// the next tick, may change that.
pub fn next_read(
    ledger: &Ledger,
    waiting: &mut Waiting,
    policy: &Policy,
    now: Now,
) -> Option<NextRead> {
    let _ = now;
    let held = i64::try_from(ledger.held_count()).unwrap_or(i64::MAX);
    if !ledger.is_initialized || policy.is_paused || held >= policy.window {
        return None;
    }
    let is_known = waiting.is_loaded && waiting.order == policy.order;
    if let Some((from, ..)) = waiting.ready.iter().next()
        && is_known
    {
        return Some(NextRead {
            from,
            is_scan: false,
        });
    }
    let from = match is_known {
        true => waiting.pass_known(ledger),
        false => first_open(ledger, ledger.head.start),
    };
    let has_room = !is_known || waiting.has_room(ledger, policy, from, 0);
    has_room.then_some(NextRead {
        from,
        is_scan: true,
    })
}

/// Where to read for one `Acquire`, in order, beginning with what `next_read` said: what can go at once first, in so many places at most,
/// then what nothing is known of.
pub fn reads_from(
    ledger: &Ledger,
    waiting: &mut Waiting,
    policy: &Policy,
    next: NextRead,
    most: usize,
) -> Vec<NextRead> {
    if next.is_scan {
        return vec![next];
    }
    let ready = waiting.ready.iter_from(next.from);
    let ready = ready.map(|(first, ..)| NextRead {
        from: first.max(next.from),
        is_scan: false,
    });
    let mut reads: Vec<_> = ready.take(most.max(1)).collect();
    if reads.len() < most {
        let from = waiting.pass_known(ledger);
        let scan = waiting.has_room(ledger, policy, from, 0).then_some(from);
        reads.extend(scan.map(|from| NextRead {
            from,
            is_scan: true,
        }));
    }
    reads
}

/// The wall clock may jump: a time that it says is trusted no longer ahead than this, then looked at again.
const WALL_CLOCK_TRUST: Duration = Duration::from_secs(1);

/// When to hand in the next `Input::Tick`, on the monotonic clock; now or before if there is something to do at once.
pub fn next_deadline(ledger: &Ledger, waiting: &Waiting, now: Now) -> Option<Duration> {
    let lock = ledger.index().locks.first().map(|(until, _)| *until);
    if !waiting.is_loaded {
        return lock.map(|_| now.monotonic);
    }
    let lock =
        lock.map(|until| waiting.loaded_at.monotonic + between(waiting.loaded_at.wall, until));
    let due = waiting
        .timers
        .first()
        .map(|(due, _)| now.monotonic + between(now.wall, *due).min(WALL_CLOCK_TRUST));
    [lock, due].into_iter().flatten().min()
}

/// From one time to a later one; nothing if it is not later.
pub(super) fn between(from: TimestampMs, to: TimestampMs) -> Duration {
    let millis = to.0.saturating_sub(from.0);
    Duration::from_millis(u64::try_from(millis).unwrap_or(0))
}

/// So much later.
pub(super) fn later(from: TimestampMs, by: Duration) -> TimestampMs {
    let millis = i64::try_from(by.as_millis()).unwrap_or(i64::MAX);
    TimestampMs(from.0.saturating_add(millis))
}

/// A run of states with its places in the indexes, in B-trees that are half full, as they are where things are added in order.
const RUN_BYTES: usize = 200;
const READY_BYTES: usize = 40;
const PARKED_BYTES: usize = 54;
const TIMER_BYTES: usize = 32;
const KEY_BYTES: usize = 32;
const CONSUMER_BYTES: usize = 160;

/// How many bytes of memory both take up, about; counted, not walked. A record that is held or rests takes up 200 bytes (less where
/// neighbours are alike), 32 more with order per key, 86 more while it waits for a time; one that is delayed 86, with a key 118; one that
/// was passed over 32; one that is done with behind others that are not: nothing but its share of a run.
pub fn memory(ledger: &Ledger, waiting: &Waiting) -> usize {
    ledger.runs() * RUN_BYTES
        + ledger.histories.bytes()
        + ledger.consumers.len() * CONSUMER_BYTES
        + waiting.ready.len() * READY_BYTES
        + waiting.parked.len() * PARKED_BYTES
        + waiting.timers.len() * TIMER_BYTES
        + (waiting.keys.len() + waiting.held_keys.len()) * KEY_BYTES
}
