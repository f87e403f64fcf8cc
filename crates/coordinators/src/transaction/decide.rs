//! The one door: an input comes in; records, replies and markers come out.
//!
//! Owns: the order in which an input is looked at.   Never: changes the ledger; the runtime applies the records.
//! Invariants: TXN-1, TXN-2.   Read next: `end.rs`.

use super::records::may_be_a_clients;
use super::waiting::Purpose;
use super::{
    Answer, Input, Ledger, Producer, Reply, Transaction, TransactionError, TransactionRecord,
    TransactionSettings, TransactionState, TransactionalId, Waiting,
};
use crate::{CallId, Now};
use fanlog_model::TopicPartition;
use fanlog_model::invariants::{TXN_1, TXN_2};
use std::time::Duration;

/// What one input leads to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decision {
    /// To append in this order, and to apply to the ledger right after.
    pub records: Vec<TransactionRecord>,
    /// To release when these records, and all decided before, are durable. If the append fails, drop the machine.
    pub replies: Vec<Reply>,
    /// To write then, too.
    pub markers: Vec<MarkersToWrite>,
    /// How many new names or partitions were refused for want of memory.
    pub refused_for_memory: u64,
}

/// One outcome, as one load of the machine has it. The producer and its epoch don't tell one transaction from the next: in the first
/// generation they stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OutcomeId {
    /// The machine's load: after another, what is left to do is handed out anew.
    pub load: u64,
    number: u64,
}

impl OutcomeId {
    pub(super) fn new(load: u64, number: u64) -> Self {
        Self { load, number }
    }
}

/// The outcome of a transaction, to be written to all partitions that it touched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkersToWrite {
    /// Whose.
    pub id: TransactionalId,
    /// Which of its outcomes: markers of no other may be written, or complete it.
    pub outcome: OutcomeId,
    /// What the markers carry.
    pub producer: Producer,
    /// Whether its records count.
    pub is_commit: bool,
    /// Where they go.
    pub partitions: Vec<TopicPartition>,
}

/// Decides on one input. The ledger must hold every record decided so far.
pub fn decide(
    settings: &TransactionSettings,
    ledger: &Ledger,
    waiting: &mut Waiting,
    now: Now,
    input: Input,
) -> Decision {
    let mut deciding = Deciding::new(settings, ledger, waiting, now);
    match input {
        Input::InitProducerId(init) => deciding.init_producer_id(init),
        Input::AddPartitions(add) => deciding.add_partitions(add),
        Input::End(end) => deciding.end(&end),
        Input::MarkersWritten { id, outcome } => deciding.complete(&id, outcome),
        Input::Describe { call, id } => deciding.describe(call, id),
        Input::List(list) => deciding.list(list),
        Input::Tick => deciding.tick(),
    }
    deciding.decision
}

/// One decision in the making. Its methods stand in the files of the requests.
pub(super) struct Deciding<'a> {
    pub(super) settings: &'a TransactionSettings,
    pub(super) ledger: &'a Ledger,
    pub(super) waiting: &'a mut Waiting,
    pub(super) now: Now,
    pub(super) decision: Decision,
}

impl<'a> Deciding<'a> {
    pub(super) fn new(
        settings: &'a TransactionSettings,
        ledger: &'a Ledger,
        waiting: &'a mut Waiting,
        now: Now,
    ) -> Self {
        Self {
            settings,
            ledger,
            waiting,
            now,
            decision: Decision::default(),
        }
    }

    pub(super) fn reply(&mut self, call: CallId, answer: Answer) {
        self.decision.replies.push(Reply { call, answer });
    }

    /// Has a transactional id stand so from now on.
    pub(super) fn record(&mut self, id: &TransactionalId, mut next: Transaction) {
        next.updated_at = self.now.wall;
        if let Some(before) = self.ledger.get(id) {
            assert!(
                before.state.may_become(next.state),
                "{TXN_1}: '{id}' goes from {} to {}",
                before.state.name(),
                next.state.name()
            );
            assert!(
                before.producer_id != next.producer_id
                    || before.producer_epoch <= next.producer_epoch,
                "{TXN_2}: '{id}' goes from epoch {} back to {}",
                before.producer_epoch,
                next.producer_epoch
            );
        }
        if next.state == TransactionState::Ongoing {
            self.set_time_out(id, &next);
        } else {
            self.waiting.change(id, |live| live.times_out_at = None);
        }
        self.decision.records.push(TransactionRecord::Transaction {
            id: id.clone(),
            transaction: next,
        });
    }

    /// The transaction, if the request comes from its producer.
    pub(super) fn checked(
        &self,
        id: &TransactionalId,
        producer: Producer,
    ) -> Result<&'a Transaction, TransactionError> {
        let known = self.ledger.get(id);
        let known = known.filter(|known| known.producer_id == producer.id);
        let known = known.ok_or_else(|| TransactionError::ProducerIdMapping {
            id: id.clone(),
            given: producer.id,
        })?;
        if known.producer_epoch != producer.epoch || !may_be_a_clients(producer.epoch) {
            return Err(self.fenced(id, producer, known));
        }
        if known.state.is_ending() {
            return Err(TransactionError::Concurrent { id: id.clone() });
        }
        Ok(known)
    }

    pub(super) fn fenced(
        &self,
        id: &TransactionalId,
        given: Producer,
        known: &Transaction,
    ) -> TransactionError {
        TransactionError::Fenced {
            id: id.clone(),
            given: given.epoch,
            current: known.producer_epoch,
        }
    }

    /// A transaction is timed from its beginning, on the wall clock over a restart.
    pub(super) fn set_time_out(&mut self, id: &TransactionalId, transaction: &Transaction) {
        let known = self.waiting.live.get(id).and_then(|live| live.times_out_at);
        if known.is_some() {
            return;
        }
        let timeout = i64::from(transaction.timeout_ms.max(0));
        let passed = self
            .now
            .wall
            .get()
            .saturating_sub(transaction.started_at.get());
        let left = timeout.saturating_sub(passed).clamp(0, timeout);
        let at = self.now.monotonic + Duration::from_millis(left.unsigned_abs());
        self.waiting.change(id, |live| live.times_out_at = Some(at));
    }

    /// Fires the earliest deadline, if it has passed.
    fn tick(&mut self) {
        let due = self.waiting.deadlines.first();
        let due = due.filter(|(at, _)| *at <= self.now.monotonic).cloned();
        match due.map(|(_, purpose)| purpose) {
            None => {}
            Some(Purpose::TimeOut(id)) => self.time_out(&id),
            Some(Purpose::Answer(id)) => self.answer_without_markers(&id),
            Some(Purpose::ExpireIds { from }) => self.expire_ids(from),
        }
    }
}
