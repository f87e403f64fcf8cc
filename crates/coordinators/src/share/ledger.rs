//! What the log remembers of a share-partition.

use super::{RecordState, ShareRecord, Snapshot, StateBatch};
use crate::runs::Runs;
use fanlog_model::{LeaderEpoch, Offset, TimestampMs};

/// The state of one share-partition: what its records in the log add up to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    pub(super) is_initialized: bool,
    pub(super) snapshot_epoch: i32,
    pub(super) state_epoch: i32,
    pub(super) leader_epoch: LeaderEpoch,
    pub(super) start: Option<Offset>,
    pub(super) runs: Runs<RecordState>,
    pub(super) created_at: TimestampMs,
    pub(super) updates_since_snapshot: u32,
}

impl Ledger {
    /// Whether the share-partition exists.
    pub fn is_initialized(&self) -> bool {
        self.is_initialized
    }

    /// The first offset that is not done with; `None` before the first read.
    pub fn start(&self) -> Option<Offset> {
        self.start
    }

    /// Rises with each new beginning.
    pub fn state_epoch(&self) -> i32 {
        self.state_epoch
    }

    /// Rises with each snapshot.
    pub fn snapshot_epoch(&self) -> i32 {
        self.snapshot_epoch
    }

    /// The leader epoch in its last record.
    pub fn leader_epoch(&self) -> LeaderEpoch {
        self.leader_epoch
    }

    /// How many records behind the start are done with.
    pub fn delivery_complete_count(&self) -> i64 {
        self.runs.terminal()
    }

    /// How many records are available and were delivered before.
    pub fn retried_count(&self) -> i64 {
        self.runs.retried()
    }

    /// How many runs of states it holds: what its memory goes by.
    pub fn runs(&self) -> usize {
        self.runs.len()
    }

    /// How many updates were logged since its last snapshot.
    pub fn updates_since_snapshot(&self) -> u32 {
        self.updates_since_snapshot
    }

    /// The state of the record at an offset, and the last offset up to which it is the same.
    pub fn at(&self, offset: Offset) -> (RecordState, Offset) {
        self.runs.at(offset)
    }

    /// Everything, for a record of its own.
    pub(super) fn snapshot(&self, now: TimestampMs) -> Snapshot {
        let batch = |(first, last, is)| StateBatch { first, last, is };
        Snapshot {
            snapshot_epoch: self.snapshot_epoch,
            state_epoch: self.state_epoch,
            leader_epoch: self.leader_epoch,
            start: self.start,
            delivery_complete_count: count(self.runs.terminal()),
            created_at: self.created_at,
            written_at: now,
            batches: self.runs.iter().map(batch).collect(),
        }
    }

    /// The first offset not done with, were these states set.
    pub(super) fn start_with(&self, batches: &[StateBatch]) -> Option<Offset> {
        let mut at = self.start?;
        let mut batches = batches.iter().peekable();
        loop {
            while batches.next_if(|batch| batch.last < at).is_some() {}
            let (is, last) = match batches.peek() {
                Some(batch) if batch.first <= at => (batch.is, batch.last),
                Some(batch) => {
                    let (is, last) = self.runs.at(at);
                    (is, last.min(Offset(batch.first.0 - 1)))
                }
                None => self.runs.at(at),
            };
            if !is.state.is_terminal() || last.0 == i64::MAX {
                return Some(at);
            }
            at = last.plus(1);
        }
    }

    fn set_all(&mut self, batches: &[StateBatch]) {
        for batch in batches {
            self.runs.set(batch.first, batch.last, batch.is);
        }
        if let Some(start) = self.start {
            self.runs.forget_below(start);
        }
    }
}

/// As the record's field can say it.
pub(super) fn count(records: i64) -> i32 {
    i32::try_from(records).unwrap_or(i32::MAX)
}

/// Lets a record take effect; total, and the only thing that changes a ledger.
pub fn apply(ledger: &mut Ledger, record: &ShareRecord) {
    match record {
        ShareRecord::Snapshot(snapshot) => {
            *ledger = Ledger {
                is_initialized: true,
                snapshot_epoch: snapshot.snapshot_epoch,
                state_epoch: snapshot.state_epoch,
                leader_epoch: snapshot.leader_epoch,
                start: snapshot.start,
                runs: Runs::default(),
                created_at: snapshot.created_at,
                updates_since_snapshot: 0,
            };
            ledger.set_all(&snapshot.batches);
        }
        // An update without its snapshot says nothing.
        ShareRecord::Update(_) if !ledger.is_initialized => {}
        ShareRecord::Update(update) => {
            ledger.leader_epoch = update.leader_epoch;
            ledger.start = update.start.or(ledger.start);
            ledger.updates_since_snapshot += 1;
            ledger.set_all(&update.batches);
        }
        ShareRecord::Deleted => *ledger = Ledger::default(),
    }
}
