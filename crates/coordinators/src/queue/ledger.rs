//! What the log remembers of a partition of a queue.
//!
//! Owns: the state of each record that differs from "never delivered".   Never: what can be found again in the topic.
//! In -> out: records of the log -> state.   Read next: `waiting.rs` for the rest.

use super::counters::add;
use super::history::Histories;
use super::index::{Index, first_to_last};
use super::snapshot::Partial;
use super::{Attempt, Change, Head, MoveRow, QueueRecord, State, To, Update};
use crate::runs::Runs;
use fanlog_model::Offset;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The state of one partition of a queue: what its records in the log add up to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    pub(super) is_initialized: bool,
    pub(super) head: Head,
    pub(super) states: Runs<State>,
    pub(super) histories: Histories,
    /// Consumers that hold something.
    pub(super) consumers: BTreeMap<u32, Arc<str>>,
    pub(super) by_name: BTreeMap<Arc<str>, u32>,
    pub(super) updates_since_snapshot: u64,
    /// A snapshot of which pieces are missing.
    pub(super) partial: Option<Box<Partial>>,
}

impl Ledger {
    /// Whether the queue reads this partition.
    pub fn is_initialized(&self) -> bool {
        self.is_initialized
    }

    /// What is known of the partition as a whole.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// The first offset that is not done with.
    pub fn start(&self) -> Offset {
        self.head.start
    }

    /// The first offset behind everything of which something is known.
    pub fn end(&self) -> Offset {
        let end = self.states.end();
        end.map_or(self.head.start, |end| end.max(self.head.start))
    }

    /// The state of a record, and the last offset up to which the states go on so: alike, or as the numbers of hand-overs and moves rise.
    pub fn state(&self, offset: Offset) -> (State, Offset) {
        match offset < self.head.start {
            true => (State::Done, Offset(self.head.start.0 - 1)),
            false => self.states.at(offset),
        }
    }

    /// How many records are held.
    pub fn held_count(&self) -> u64 {
        self.index().held
    }

    /// How many records are on their way to the target.
    pub fn moving_count(&self) -> u64 {
        self.index().moving
    }

    /// How many records below an offset it is not done with, gaps that were not found yet among them.
    pub fn left_below(&self, end: Offset) -> u64 {
        let all = (end.0 - self.head.start.0).max(0).unsigned_abs();
        all.saturating_sub(self.index().done)
    }

    /// How many runs of states it holds: what its memory and its snapshots go by.
    pub fn runs(&self) -> usize {
        self.states.len()
    }

    /// The name of a consumer that holds something.
    pub fn consumer(&self, number: u32) -> Arc<str> {
        let name = self.consumers.get(&number);
        name.cloned().unwrap_or_else(|| Arc::from(""))
    }

    pub(super) fn index(&self) -> &Index {
        self.states.index()
    }

    /// A number for a consumer of that name, and whether it is new.
    pub(super) fn consumer_number(&self, name: &str) -> (u32, bool) {
        if let Some(number) = self.by_name.get(name) {
            return (*number, false);
        }
        let last = self.consumers.last_key_value().map(|(last, _)| *last);
        let next = last.map_or(Some(0), |last| last.checked_add(1));
        let unused = || {
            let mut numbers = 0..=u32::MAX;
            numbers.find(|number| !self.consumers.contains_key(number))
        };
        let number = next.or_else(unused);
        (number.expect("fewer than 2^32 names fit into memory"), true)
    }

    /// How many records from the start to below an offset are not done with.
    pub(super) fn open_below(&self, end: Offset) -> u64 {
        let all = end
            .0
            .saturating_sub(self.head.start.0)
            .max(0)
            .unsigned_abs();
        let runs = self.states.iter().take_while(|(first, ..)| *first < end);
        let done = runs.filter(|(.., is)| *is == State::Done);
        let before = Offset(end.0.saturating_sub(1));
        let done = done.map(|(first, last, _)| first_to_last(first, last.min(before)));
        all.saturating_sub(done.sum())
    }

    fn update(&mut self, update: &Update) {
        if let Some(log_start) = update.log_start.filter(|to| *to > self.head.start) {
            let lost = self.open_below(log_start);
            add(&mut self.head.counters.lost, lost);
            self.head.log_start = log_start;
            self.start_at(log_start);
        }
        let next_grant = update.next_grant.unwrap_or_default();
        self.head.next_grant = self.head.next_grant.max(next_grant);
        if let Some(below) = update.moved_below {
            self.moved(below);
        }
        if let Some(row) = update.row {
            self.renumber(row);
        }
        for (number, name) in &update.consumers {
            self.name_consumer(*number, name.clone());
        }
        add(&mut self.head.counters.failed, update.failed);
        for (offset, attempt) in &update.failures {
            self.histories.add(*offset, attempt.clone());
        }
        for change in &update.changes {
            self.change(change);
        }
        self.pass_done();
        self.forget_idle_consumers();
        self.updates_since_snapshot += 1;
    }

    fn change(&mut self, change: &Change) {
        let Change { first, last, to } = *change;
        let records = first_to_last(first, last);
        match to {
            To::Done(why) => {
                self.head.counters.count_done(why, records);
                self.histories.forget(first, last);
            }
            To::State(State::Held(held)) if held.grant >= self.head.next_grant => {
                add(&mut self.head.counters.delivered, records);
                self.head.next_grant = held.grant.saturating_add(records);
            }
            To::State(State::Moving { number, .. }) => {
                let next = number.saturating_add(records);
                self.head.row.next = self.head.row.next.max(next);
            }
            To::State(_) => {}
        }
        self.states.set(first, last, to.state());
    }

    /// The start stands at a record that is not done with.
    pub(super) fn pass_done(&mut self) {
        if let (State::Done, last) = self.states.at(self.head.start) {
            self.start_at(last.plus(1));
        }
    }

    fn start_at(&mut self, start: Offset) {
        self.head.start = start;
        self.states.forget_below(start);
        self.histories.forget(Offset(i64::MIN), Offset(start.0 - 1));
    }

    fn moved(&mut self, below: u64) {
        while let Some((&number, &first)) = self.index().row.first_key_value()
            && number < below
        {
            let (_, last) = self.states.at(first);
            let left = i64::try_from(below - number).unwrap_or(i64::MAX);
            let last = last.min(Offset(first.0.saturating_add(left - 1)));
            add(&mut self.head.counters.moved, first_to_last(first, last));
            self.histories.forget(first, last);
            self.states.set(first, last, State::Done);
        }
        let below = below.min(self.head.row.next);
        self.head.moved_below = self.head.moved_below.max(below);
        self.pass_done();
    }

    /// What is still to be moved stands in a new row, in the order of the old.
    fn renumber(&mut self, row: MoveRow) {
        let firsts: Vec<Offset> = self.index().row.values().copied().collect();
        // Never below the old numbers, so that no two moves have the same on the way.
        let base = row.base.max(self.head.row.next);
        let mut number = base;
        for first in firsts {
            if let (State::Moving { attempts, .. }, last) = self.states.at(first) {
                let is = State::Moving { attempts, number };
                self.states.set(first, last, is);
                number = number.saturating_add(first_to_last(first, last));
            }
        }
        self.head.row = MoveRow {
            base,
            next: number,
            ..row
        };
        self.head.moved_below = base;
    }

    pub(super) fn name_consumer(&mut self, number: u32, name: Arc<str>) {
        self.by_name.insert(name.clone(), number);
        self.consumers.insert(number, name);
    }

    pub(super) fn forget_idle_consumers(&mut self) {
        for number in std::mem::take(&mut self.states.index_mut().idle) {
            if self.index().consumers.contains_key(&number) {
                continue;
            }
            if let Some(name) = self.consumers.remove(&number) {
                self.by_name.remove(&name);
            }
        }
    }
}

/// Changes the ledger as a record of the log says: the only way in which it ever changes.
pub fn apply(ledger: &mut Ledger, record: &QueueRecord) {
    match record {
        QueueRecord::Snapshot(piece) => ledger.apply_piece(piece),
        // An update without its snapshot says nothing.
        QueueRecord::Update(_) if !ledger.is_initialized => ledger.partial = None,
        QueueRecord::Update(update) => {
            ledger.partial = None;
            ledger.update(update);
        }
        QueueRecord::Deleted => *ledger = Ledger::default(),
    }
}

/// The attempts of a record that failed, the last of them last: of records that are not done with.
pub fn history(ledger: &Ledger, offset: Offset) -> Vec<Attempt> {
    ledger.histories.of(offset).to_vec()
}
