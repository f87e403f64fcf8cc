//! The one door: an input comes in, a record to log and an answer come out.
//!
//! Never: changes the ledger; the runtime applies the record.
//! Invariants: QUE-1, QUE-2.   Read next: `acquire.rs`, `acknowledge.rs`.

use super::ledger::count;
use super::{
    Acquire, Input, Ledger, Policy, Reply, ShareRecord, StateBatch, Update, Waiting, apply,
};
use crate::Now;
use fanlog_model::invariants::QUE_2;
use fanlog_model::{LeaderEpoch, Offset};

/// What one input leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// To append, and to apply to the ledger right after. If the append fails, drop the machine.
    pub record: Option<ShareRecord>,
    /// To release once the record, and all decided before, are durable; what was acquired may go at once, as nothing of
    /// it is logged.
    pub reply: Reply,
    /// Whether records became available, or room for new ones: those who wait may look again.
    pub has_freed: bool,
    /// How many records were given up because they had been delivered too often.
    pub given_up: i64,
    /// How many records that nobody was done with or held went with the beginning of the log.
    pub lost: i64,
}

impl Decision {
    fn new(reply: Reply) -> Self {
        Self {
            record: None,
            reply,
            has_freed: false,
            given_up: 0,
            lost: 0,
        }
    }
}

/// Decides on one input. The ledger must hold every record decided so far.
pub fn decide(
    policy: &Policy,
    leader_epoch: LeaderEpoch,
    ledger: &Ledger,
    waiting: &mut Waiting,
    now: Now,
    input: Input<'_>,
) -> Decision {
    let mut deciding = Deciding {
        policy,
        leader_epoch,
        ledger,
        waiting,
        now,
        decision: Decision::new(Reply::Done),
    };
    match input {
        Input::Initialize { state_epoch, start } => deciding.initialize(state_epoch, start),
        Input::EnsureInitialized { state_epoch } => {
            if !ledger.is_initialized {
                deciding.initialize(state_epoch, None);
            }
        }
        Input::Begin(start) => deciding.begin(start),
        Input::Acquire(acquire) => deciding.acquire_some(&acquire),
        Input::Acknowledge { member, ranges } => deciding.acknowledge(member, ranges),
        Input::Release { member } => deciding.release(member),
        Input::LogStart(start) => deciding.log_start(start),
        Input::Tick => deciding.tick(),
    }
    deciding.decision
}

/// One decision in the making. Its methods stand in the files of the inputs.
pub(super) struct Deciding<'a> {
    pub(super) policy: &'a Policy,
    pub(super) leader_epoch: LeaderEpoch,
    pub(super) ledger: &'a Ledger,
    pub(super) waiting: &'a mut Waiting,
    pub(super) now: Now,
    pub(super) decision: Decision,
}

impl Deciding<'_> {
    fn initialize(&mut self, state_epoch: i32, start: Option<Offset>) {
        let next = Ledger {
            snapshot_epoch: self.ledger.snapshot_epoch.wrapping_add(1).max(0),
            state_epoch,
            leader_epoch: self.leader_epoch,
            start,
            created_at: self.now.wall,
            ..Ledger::default()
        };
        *self.waiting = Waiting::default();
        self.decision.record = Some(ShareRecord::Snapshot(next.snapshot(self.now.wall)));
        self.decision.has_freed = true;
    }

    fn begin(&mut self, start: Offset) {
        if self.ledger.is_initialized && self.ledger.start.is_none() {
            let delivery_complete_count = 0;
            self.log(Update {
                start: Some(start),
                delivery_complete_count,
                ..Update::default()
            });
            self.decision.has_freed = true;
        }
    }

    fn acquire_some(&mut self, acquire: &Acquire<'_>) {
        let acquired = self.acquire(acquire);
        self.decision.reply = Reply::Acquired(acquired);
    }

    /// New states of records that were available: logs them, and the start that they lead to.
    pub(super) fn set(&mut self, batches: Vec<StateBatch>) {
        let Some(start) = self.ledger.start else {
            return;
        };
        if batches.is_empty() {
            return;
        }
        let new_start = self.ledger.start_with(&batches).unwrap_or(start);
        let is_done = |batch: &&StateBatch| batch.is.state.is_terminal();
        let records = |batch: &StateBatch| batch.last.0 - batch.first.0 + 1;
        let newly_done: i64 = batches.iter().filter(is_done).map(records).sum();
        // Everything that the start passes is done with.
        let passed = new_start.0 - start.0;
        let complete = self.ledger.runs.terminal() + newly_done - passed;
        assert!(
            complete >= 0,
            "{QUE_2}: the start passes a record that is not done with"
        );
        self.log(Update {
            start: (new_start != start).then_some(new_start),
            delivery_complete_count: count(complete),
            batches,
            ..Update::default()
        });
    }

    /// Logs an update; or, where there were many, everything.
    pub(super) fn log(&mut self, update: Update) {
        debug_assert!(self.decision.record.is_none(), "one record per decision");
        let update = ShareRecord::Update(Update {
            snapshot_epoch: self.ledger.snapshot_epoch,
            leader_epoch: self.leader_epoch,
            ..update
        });
        let is_due = self.ledger.updates_since_snapshot + 1 >= self.policy.updates_per_snapshot;
        self.decision.record = Some(match is_due {
            false => update,
            true => {
                let mut next = self.ledger.clone();
                apply(&mut next, &update);
                next.snapshot_epoch = next.snapshot_epoch.wrapping_add(1).max(0);
                ShareRecord::Snapshot(next.snapshot(self.now.wall))
            }
        });
    }
}

/// Everything that a ledger holds, as a record that makes those before it needless.
pub fn snapshot(ledger: &Ledger, leader_epoch: LeaderEpoch, now: Now) -> ShareRecord {
    let mut next = ledger.clone();
    next.leader_epoch = leader_epoch;
    next.snapshot_epoch = next.snapshot_epoch.wrapping_add(1).max(0);
    ShareRecord::Snapshot(next.snapshot(now.wall))
}
