//! The machines of one partition of `__fanlog_queues`: when each is due, what they take of memory, and where each stands in the log.

use crate::machines::MemoryShare;
use fanlog_coordinators::Now;
use fanlog_coordinators::queue::{self, Ledger, QueueKey, QueueRecord, Waiting};
use fanlog_model::Offset;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The log is cut after so many bytes at the earliest.
const BYTES_MIN: u64 = 1024 * 1024;
/// And after so many times what the snapshots of all take.
const SNAPSHOTS_PER_CUT: u64 = 4;
/// What a run of states takes in a snapshot, about.
const RUN_BYTES: u64 = 48;
/// What a machine takes of memory beside its states.
const MACHINE_BYTES: usize = 512;

/// The partitions of queues that a log knows; in order, so that what is done to all of them is done in the same order each time.
pub(crate) type Loaded = BTreeMap<QueueKey, QueuePartition>;

/// One partition of a queue.
#[derive(Debug, Default)]
pub(crate) struct QueuePartition {
    pub(super) ledger: Ledger,
    pub(super) waiting: Waiting,
    /// Where its last whole snapshot begins in the log: nothing before it is needed.
    pub(super) snapshot_at: Offset,
    /// Where a snapshot begins that is not whole yet.
    begun_at: Offset,
    armed: Option<Duration>,
    bytes: usize,
    runs: u64,
}

#[derive(Debug)]
pub(crate) struct Machines {
    pub(super) of: Loaded,
    deadlines: BTreeSet<(Duration, QueueKey)>,
    /// Everything below this offset was decided upon: no answer leaves before it is durable.
    pub(super) decided_end: Offset,
    /// Bytes appended since the log was cut last.
    pub(super) appended_bytes: u64,
    memory: MemoryShare,
    bytes: usize,
    runs: u64,
}

impl QueuePartition {
    /// A record of the log takes effect.
    pub(super) fn apply(&mut self, record: &QueueRecord, at: Offset) {
        queue::apply(&mut self.ledger, record);
        if let QueueRecord::Snapshot(piece) = record {
            if record.begins_snapshot() {
                self.begun_at = at;
            }
            if piece.index + 1 >= piece.count {
                self.snapshot_at = self.begun_at;
            }
        }
    }
}

impl Machines {
    pub(super) fn new(of: Loaded, decided_end: Offset, memory: MemoryShare, now: Now) -> Self {
        let mut machines = Self {
            of,
            deadlines: BTreeSet::new(),
            decided_end,
            appended_bytes: 0,
            memory,
            bytes: 0,
            runs: 0,
        };
        let keys: Vec<_> = machines.of.keys().cloned().collect();
        for key in keys {
            machines.note_or_forget(&key, now);
        }
        machines
    }

    /// What the log has taken takes effect.
    pub(super) fn apply(&mut self, key: &QueueKey, record: &QueueRecord, at: Offset) {
        if matches!(record, QueueRecord::Deleted) {
            return self.forget(key);
        }
        self.of.entry(key.clone()).or_default().apply(record, at);
    }

    /// The machine of `key` may have changed: when it is due, and how much memory it takes. One that nobody has begun is not kept for a
    /// question about it.
    pub(super) fn note_or_forget(&mut self, key: &QueueKey, now: Now) {
        let Some(known) = self.of.get_mut(key) else {
            return;
        };
        if !known.ledger.is_initialized() {
            return self.forget(key);
        }
        let next = queue::next_deadline(&known.ledger, &known.waiting, now);
        if next != known.armed {
            if let Some(before) = known.armed {
                self.deadlines.remove(&(before, key.clone()));
            }
            if let Some(next) = next {
                self.deadlines.insert((next, key.clone()));
            }
            known.armed = next;
        }
        let bytes = MACHINE_BYTES + queue::memory(&known.ledger, &known.waiting);
        let runs = 1 + known.ledger.runs() as u64;
        self.bytes = self.bytes + bytes - known.bytes;
        self.runs = self.runs + runs - known.runs;
        (known.bytes, known.runs) = (bytes, runs);
        self.memory.note(self.bytes, 0, usize::MAX);
    }

    /// Nothing of it is due any more.
    pub(super) fn disarm(&mut self, key: &QueueKey) {
        if let Some(known) = self.of.get_mut(key)
            && let Some(armed) = known.armed.take()
        {
            self.deadlines.remove(&(armed, key.clone()));
        }
    }

    fn forget(&mut self, key: &QueueKey) {
        self.disarm(key);
        if let Some(known) = self.of.remove(key) {
            self.bytes -= known.bytes;
            self.runs -= known.runs;
            self.memory.note(self.bytes, 0, usize::MAX);
        }
    }

    pub(super) fn next_deadline(&self) -> Option<Duration> {
        self.deadlines.first().map(|(at, _)| *at)
    }

    /// One of which something is due.
    pub(super) fn due(&self, now: Duration) -> Option<QueueKey> {
        let first = self.deadlines.first().filter(|(at, _)| *at <= now);
        first.map(|(_, key)| key.clone())
    }

    /// Whether the log has grown enough to be cut.
    pub(super) fn is_long(&self) -> bool {
        self.appended_bytes >= BYTES_MIN.max(SNAPSHOTS_PER_CUT * RUN_BYTES * self.runs)
    }
}
