//! EndTxn, time-outs, and what comes after: the outcome is decided, its markers are written, and it is complete.
//!
//! The first generation tells a repeated request from a new one by the state alone, and so a late one may end the transaction after
//! the one that it was meant for. The second bumps the epoch with every end: what arrives with the epoch before can only be a
//! repetition, and what arrives with the present one can only be about the present transaction.
//! Invariants: TXN-1: an outcome, once logged, is never changed. TXN-2.

use super::decide::{Deciding, MarkersToWrite};
use super::records::{epoch_after, may_be_a_clients};
use super::{
    Answer, ClientVersion, EndTransaction, OutcomeId, Producer, Transaction, TransactionError,
    TransactionState, TransactionalId,
};
use fanlog_model::{ProducerEpoch, ProducerId};
use std::collections::BTreeSet;

/// What a request to end a transaction leads to.
enum Ending {
    /// It was ended so already.
    Was,
    /// It is ended now.
    Now {
        /// Whether nothing was ever added to it.
        is_empty: bool,
    },
}

impl Deciding<'_> {
    pub(super) fn end(&mut self, end: &EndTransaction) {
        match self.try_end(end) {
            Ok(Some(producer)) => self.reply(end.call, Answer::End(Ok(producer))),
            // Answered once the markers are written.
            Ok(None) => {}
            Err(error) => self.reply(end.call, Answer::End(Err(error))),
        }
    }

    fn try_end(&mut self, end: &EndTransaction) -> Result<Option<Producer>, TransactionError> {
        let id = &end.id;
        let known = self.ledger.get(id);
        let known = known.ok_or_else(|| self.not_of(end))?;
        let (is_commit, is_second) = (end.is_commit, known.is_second_generation());
        let repetition = Repetition::of(known, end.producer, is_second);
        if known.producer_id != end.producer.id && !repetition.over_rotation {
            return Err(self.not_of(end));
        }
        if !may_be_a_clients(end.producer.epoch)
            || !is_epoch_valid(known, end.producer, is_second, repetition)
        {
            return Err(self.fenced(id, end.producer, known));
        }
        let ending = ending(
            known,
            is_commit,
            is_second,
            end.version,
            repetition.is_any(),
        );
        match ending.ok_or_else(|| self.refused_in(id, known, is_commit))? {
            Ending::Was => Ok(Some(Producer {
                id: known.producer_id,
                epoch: known.producer_epoch,
            })),
            Ending::Now { is_empty } => {
                self.prepare(end, known, is_empty)?;
                Ok(None)
            }
        }
    }

    fn not_of(&self, end: &EndTransaction) -> TransactionError {
        TransactionError::ProducerIdMapping {
            id: end.id.clone(),
            given: end.producer.id,
        }
    }

    fn refused_in(
        &self,
        id: &TransactionalId,
        known: &Transaction,
        is_commit: bool,
    ) -> TransactionError {
        let is_same = match known.state {
            TransactionState::PrepareCommit => is_commit,
            TransactionState::PrepareAbort => !is_commit,
            _ => false,
        };
        match is_same {
            true => TransactionError::Concurrent { id: id.clone() },
            false => TransactionError::InvalidState {
                id: id.clone(),
                state: known.state,
            },
        }
    }

    fn prepare(
        &mut self,
        end: &EndTransaction,
        known: &Transaction,
        is_empty: bool,
    ) -> Result<(), TransactionError> {
        let mut next = Transaction {
            state: match end.is_commit {
                true => TransactionState::PrepareCommit,
                false => TransactionState::PrepareAbort,
            },
            client_version: end.version.number(),
            ..known.clone()
        };
        if is_empty {
            next.started_at = self.now.wall;
        }
        let mut last_epoch = self.waiting.live.get(&end.id).and_then(|l| l.last_epoch);
        if end.version == ClientVersion::Second {
            if known.is_epoch_exhausted() {
                next.next_producer_id = end.fresh.ok_or(TransactionError::NeedsProducerId)?;
            }
            let bumped = epoch_after(known.producer_epoch);
            next.producer_epoch =
                bumped.ok_or_else(|| self.fenced(&end.id, end.producer, known))?;
            last_epoch = Some(known.producer_epoch);
        }
        self.record(&end.id, next.clone());
        let until = self.now.monotonic + self.settings.end_wait;
        self.waiting.change(&end.id, |live| {
            live.last_epoch = last_epoch;
            live.ending = Some((end.call, until));
        });
        self.write_markers(&end.id, &next);
        Ok(())
    }

    /// The markers of an outcome follow once it is durable.
    pub(super) fn write_markers(&mut self, id: &TransactionalId, transaction: &Transaction) {
        let outcome = self.waiting.new_outcome();
        self.waiting.change(id, |live| live.outcome = Some(outcome));
        self.decision.markers.push(MarkersToWrite {
            id: id.clone(),
            outcome,
            producer: Producer {
                id: transaction.producer_id,
                epoch: transaction.producer_epoch,
            },
            is_commit: transaction.state == TransactionState::PrepareCommit,
            partitions: transaction.partitions.iter().cloned().collect(),
        });
    }

    /// All markers are durable. They may be those of a machine that was dropped since: then others are being written.
    pub(super) fn complete(&mut self, id: &TransactionalId, outcome: OutcomeId) {
        let Some(known) = self.ledger.get(id) else {
            return;
        };
        if self.waiting.outcome_of(id) != Some(outcome) {
            return;
        }
        self.waiting.change(id, |live| live.outcome = None);
        let (producer_id, producer_epoch) = known.producer_after_completion();
        let next = Transaction {
            producer_id,
            previous_producer_id: match producer_id == known.producer_id {
                true => known.previous_producer_id,
                false => known.producer_id,
            },
            next_producer_id: ProducerId::NONE,
            producer_epoch,
            state: match known.state {
                TransactionState::PrepareCommit => TransactionState::CompleteCommit,
                _ => TransactionState::CompleteAbort,
            },
            partitions: BTreeSet::new(),
            ..known.clone()
        };
        self.record(id, next);
        self.answer_ended(id, known);
    }

    pub(super) fn answer_without_markers(&mut self, id: &TransactionalId) {
        if let Some(known) = self.ledger.get(id) {
            self.answer_ended(id, known);
        }
    }

    fn answer_ended(&mut self, id: &TransactionalId, known: &Transaction) {
        let (producer, epoch) = known.producer_after_completion();
        let mut ending = None;
        self.waiting.change(id, |live| ending = live.ending.take());
        if let Some((call, _)) = ending {
            let producer = Producer {
                id: producer,
                epoch,
            };
            self.reply(call, Answer::End(Ok(producer)));
        }
    }

    /// The transaction has been under way for too long: it is aborted, and its producer fenced.
    pub(super) fn time_out(&mut self, id: &TransactionalId) {
        match self.ledger.get(id) {
            Some(known) if known.state == TransactionState::Ongoing => {
                self.abort_and_fence(id, known);
            }
            _ => self.waiting.change(id, |live| live.times_out_at = None),
        }
    }

    /// Aborts under a higher epoch, which is never given to anybody but to markers. Where there is none, nobody has the present one.
    pub(super) fn abort_and_fence(&mut self, id: &TransactionalId, known: &Transaction) {
        let next = Transaction {
            state: TransactionState::PrepareAbort,
            producer_epoch: epoch_after(known.producer_epoch).unwrap_or(known.producer_epoch),
            ..known.clone()
        };
        self.record(id, next.clone());
        self.waiting.change(id, |live| live.last_epoch = None);
        self.write_markers(id, &next);
    }
}

/// Whether a request of the second generation repeats the one that led to the present epoch.
#[derive(Clone, Copy)]
struct Repetition {
    over_bump: bool,
    /// The end has used up the producer id's epochs, and the name has another one.
    over_rotation: bool,
}

impl Repetition {
    fn of(known: &Transaction, given: Producer, is_second: bool) -> Self {
        let epoch = given.epoch.get();
        Self {
            over_bump: is_second
                && given.id == known.producer_id
                && i32::from(known.producer_epoch.get()) == i32::from(epoch) + 1,
            over_rotation: is_second
                && known.previous_producer_id == given.id
                && epoch == i16::MAX - 1
                && known.producer_epoch == ProducerEpoch(0),
        }
    }

    fn is_any(self) -> bool {
        self.over_bump || self.over_rotation
    }
}

fn is_epoch_valid(
    known: &Transaction,
    given: Producer,
    is_second: bool,
    repetition: Repetition,
) -> bool {
    let is_present = known.producer_epoch == given.epoch;
    match known.state {
        _ if !is_second => is_present,
        TransactionState::Empty | TransactionState::Ongoing => is_present,
        TransactionState::PrepareCommit | TransactionState::PrepareAbort => repetition.over_bump,
        TransactionState::CompleteCommit | TransactionState::CompleteAbort => {
            repetition.is_any() || is_present
        }
    }
}

/// What a request that comes from the transaction's producer leads to; nothing where it does not fit.
fn ending(
    known: &Transaction,
    is_commit: bool,
    is_second: bool,
    version: ClientVersion,
    is_repetition: bool,
) -> Option<Ending> {
    let was_committed = match known.state {
        TransactionState::Ongoing => return Some(Ending::Now { is_empty: false }),
        TransactionState::PrepareCommit | TransactionState::PrepareAbort => return None,
        TransactionState::Empty => {
            let may_abort = version == ClientVersion::Second && !is_commit;
            return may_abort.then_some(Ending::Now { is_empty: true });
        }
        TransactionState::CompleteCommit => true,
        TransactionState::CompleteAbort => false,
    };
    match (is_second, is_repetition) {
        (false, _) | (true, true) => (was_committed == is_commit).then_some(Ending::Was),
        // Nothing was added since: there is nothing to commit, and an abort bumps the epoch.
        (true, false) => (!is_commit).then_some(Ending::Now { is_empty: true }),
    }
}
