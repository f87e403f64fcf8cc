//! The one door: an input comes in, records to log and an answer come out.
//!
//! A decision may change a record more than once; what it has changed so far lies over the ledger, which it only reads.
//! Never: changes the ledger; the runtime applies the records.
//! Invariants: QUE-1, QUE-2, QUE-3, QUE-4.   Read next: `acquire.rs`, `settle.rs`, `come_back.rs`.

use super::index::first_to_last;
use super::{
    Change, Counters, Head, Input, Ledger, MoveRow, Policy, QueueRecord, Reply, SettleError,
    SnapshotPiece, State, Taken, To, Update, Waiting, Why, snapshot,
};
use crate::Now;
use crate::runs::{RunState, Runs};
use fanlog_model::{Offset, ProducerId};
use std::collections::BTreeMap;
use uuid::Uuid;

/// What one input leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// To append as one batch, and to apply to the ledger right after: an update; before it, now and then, the pieces of a snapshot.
    /// If the append fails, drop the machine and load it anew.
    pub records: Vec<QueueRecord>,
    /// To release once the records, and all decided before, are durable; what was acquired may go at once.
    pub reply: Reply,
    /// Those who wait for records may look again.
    pub has_freed: bool,
    /// There is something to move: see `moves`.
    pub has_moves: bool,
    /// Nothing more goes into this answer of an `Acquire`: it is full, or what comes next goes alone, or may not go now.
    pub is_answer_over: bool,
    /// More of the same is due: hand in the same `Tick` or `Release` again.
    pub is_more_due: bool,
    /// What happened to how many records.
    pub counts: Counters,
}

/// Decides on one input. The ledger must hold every record decided so far.
pub fn decide(
    policy: &Policy,
    ledger: &Ledger,
    waiting: &mut Waiting,
    now: Now,
    input: Input<'_>,
) -> Decision {
    let mut deciding = Deciding::new(policy, ledger, waiting, now);
    if let Input::Initialize {
        incarnation,
        start,
        producer,
    } = input
    {
        return deciding.initialize(incarnation, start, producer);
    }
    if !ledger.is_initialized {
        deciding.decision.reply = nothing_there(&input);
        return deciding.decision;
    }
    deciding.load();
    match input {
        Input::Initialize { .. } => {}
        Input::Acquire(acquire) => deciding.acquire(&acquire),
        Input::Settle { items, is_atomic } => deciding.settle(items, is_atomic),
        Input::Release { consumer } => deciding.release_all_of(consumer),
        Input::Cancel(offsets) => deciding.cancel(offsets),
        Input::Move(offsets) => deciding.move_some(offsets),
        Input::Send { offsets, target } => deciding.send_some(offsets, target),
        Input::Recall { row } => deciding.recall(row),
        Input::Moved { row, through } => deciding.moved(row, through),
        Input::Renumber { row, through } => deciding.renumber(row, through),
        Input::Purge(below) => deciding.purge(below),
        Input::LogStart(start) => deciding.log_start(start),
        Input::Tick => deciding.tick(),
    }
    deciding.finish()
}

/// The answer of a partition that the queue does not read.
fn nothing_there(input: &Input<'_>) -> Reply {
    match input {
        Input::Acquire(_) => Reply::Acquired(Vec::new()),
        Input::Settle { items, .. } => {
            let each = |item: &super::Settle<'_>| Err(SettleError::NotHeld(item.offset));
            Reply::Settled(items.iter().map(each).collect())
        }
        Input::Cancel(offsets) | Input::Move(offsets) | Input::Send { offsets, .. } => {
            Reply::Taken(vec![Taken::Over; offsets.len()])
        }
        _ => Reply::Done,
    }
}

/// What a decision makes of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pending {
    Nothing,
    To(To),
}

impl RunState for Pending {
    type Index = ();
    const UNKNOWN: Self = Self::Nothing;

    fn advanced(self, by: i64) -> Self {
        match self {
            Self::To(To::State(state)) => Self::To(To::State(state.advanced(by))),
            other => other,
        }
    }

    fn note(self, _: Offset, _: Offset, (): &mut (), _: bool) {}
}

/// One decision in the making. Its methods stand in the files of the inputs.
pub(super) struct Deciding<'a> {
    pub(super) policy: &'a Policy,
    pub(super) ledger: &'a Ledger,
    pub(super) waiting: &'a mut Waiting,
    pub(super) now: Now,
    pub(super) decision: Decision,
    pub(super) changes: Runs<Pending>,
    pub(super) update: Update,
    /// The row of moves with what this decision has added.
    pub(super) row: Option<MoveRow>,
    /// Held records that came back because of an earlier one of their key: from which hand-over.
    pub(super) sent_back: BTreeMap<Offset, super::Held>,
    /// Everything below is over.
    pub(super) start: Offset,
}

impl<'a> Deciding<'a> {
    fn new(policy: &'a Policy, ledger: &'a Ledger, waiting: &'a mut Waiting, now: Now) -> Self {
        Self {
            policy,
            ledger,
            waiting,
            now,
            decision: Decision {
                records: Vec::new(),
                reply: Reply::Done,
                has_freed: false,
                has_moves: false,
                is_answer_over: false,
                is_more_due: false,
                counts: Counters::default(),
            },
            changes: Runs::default(),
            update: Update::default(),
            row: None,
            sent_back: BTreeMap::new(),
            start: ledger.head.start,
        }
    }

    fn initialize(mut self, incarnation: Uuid, start: Offset, producer: ProducerId) -> Decision {
        *self.waiting = Waiting::default();
        let head = Head {
            incarnation,
            start,
            log_start: start,
            next_grant: self.ledger.head.next_grant,
            producer,
            ..Head::default()
        };
        self.decision.has_freed = true;
        self.decision.records = vec![QueueRecord::Snapshot(SnapshotPiece {
            count: 1,
            head: Some(head),
            ..SnapshotPiece::default()
        })];
        self.decision
    }

    /// The state of a record as this decision has left it, and the last offset up to which it goes on so.
    pub(super) fn at(&self, offset: Offset) -> (State, Offset) {
        match self.changes.at(offset) {
            (Pending::To(to), last) => (to.state(), last),
            (Pending::Nothing, last) => {
                let (state, known_last) = self.ledger.state(offset);
                (state, known_last.min(last))
            }
        }
    }

    pub(super) fn set(&mut self, offset: Offset, state: State) {
        let to = Pending::To(To::State(state));
        self.changes.set(offset, offset, to);
    }

    /// The queue has done with these.
    pub(super) fn done(&mut self, first: Offset, last: Offset, why: Why) {
        let records = first_to_last(first, last);
        self.decision.counts.count_done(why, records);
        self.decision.has_freed = true;
        self.changes.set(first, last, Pending::To(To::Done(why)));
    }

    /// Whether a record far from the others may get a state of its own: those that nobody bounds by taking records are bounded here.
    /// Not by whether memory is full now: what is withdrawn then takes next to nothing, and gives back more.
    pub(super) fn may_scatter(&self, offset: Offset) -> bool {
        let runs = self.ledger.runs() + self.changes.len();
        offset.0 < i64::MAX && runs < self.policy.scattered_max
    }

    /// Logs what has changed; before it everything, where much was logged since that was done last.
    fn finish(mut self) -> Decision {
        let changes = self.changes.iter().filter_map(|(first, last, pending)| {
            let to = match pending {
                Pending::Nothing => return None,
                Pending::To(to) => to,
            };
            Some(Change { first, last, to })
        });
        self.update.changes = changes.collect();
        self.update.failed = self.decision.counts.failed;
        if self.update == Update::default() {
            return self.decision;
        }
        let updates = self.ledger.updates_since_snapshot + 1;
        let runs = self.ledger.runs() as u64;
        if updates >= u64::from(self.policy.updates_per_snapshot).max(runs / 8) {
            self.decision.records = snapshot(self.ledger);
        }
        let update = QueueRecord::Update(self.update);
        self.decision.records.push(update);
        self.decision
    }
}
