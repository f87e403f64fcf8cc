//! InitProducerId: a producer takes over a transactional id.
//!
//! Whoever had the name before is fenced by a higher epoch (TXN-2); a transaction that it left under way is aborted first. A producer
//! that says what it is goes on after an error of its own, unless another has come in between (KIP-360).

use super::decide::Deciding;
use super::records::is_exhausted;
use super::settings::TRANSACTIONAL_ID_BYTES_MAX;
use super::{
    Answer, InitProducerId, Producer, Transaction, TransactionError, TransactionState, memory,
};
use fanlog_model::{ProducerEpoch, ProducerId, TimestampMs};
use std::collections::BTreeSet;

/// A producer that has just been given an id, and no epoch.
const NO_EPOCH: ProducerEpoch = ProducerEpoch::NONE;

impl Deciding<'_> {
    pub(super) fn init_producer_id(&mut self, init: InitProducerId) {
        let result = self.init(&init);
        self.reply(init.call, Answer::InitProducerId(result));
    }

    fn init(&mut self, init: &InitProducerId) -> Result<Producer, TransactionError> {
        let given = init.id.as_str().len();
        if given == 0 || given > TRANSACTIONAL_ID_BYTES_MAX {
            let max = TRANSACTIONAL_ID_BYTES_MAX;
            return Err(TransactionError::InvalidId { given, max });
        }
        let max = self.settings.timeout_ms_max;
        if init.timeout_ms <= 0 || init.timeout_ms > max {
            let given = init.timeout_ms;
            return Err(TransactionError::InvalidTimeout { given, max });
        }
        let Some(known) = self.ledger.get(&init.id) else {
            return self.begin(init);
        };
        if let Some(expected) = init.expected
            && !may_be(known, expected)
        {
            return Err(self.fenced(&init.id, expected, known));
        }
        match known.state {
            TransactionState::PrepareCommit | TransactionState::PrepareAbort => {
                Err(TransactionError::Concurrent {
                    id: init.id.clone(),
                })
            }
            TransactionState::Ongoing => {
                // The epoch that fences is never given to anybody.
                self.abort_and_fence(&init.id, known);
                Err(TransactionError::Concurrent {
                    id: init.id.clone(),
                })
            }
            TransactionState::Empty
            | TransactionState::CompleteCommit
            | TransactionState::CompleteAbort => self.take_over(init, known),
        }
    }

    /// The first producer of a name.
    fn begin(&mut self, init: &InitProducerId) -> Result<Producer, TransactionError> {
        self.check_memory(memory::of_id(&init.id), true)?;
        let fresh = init.fresh.ok_or(TransactionError::NeedsProducerId)?;
        let blank = Transaction {
            producer_id: fresh,
            previous_producer_id: ProducerId::NONE,
            next_producer_id: ProducerId::NONE,
            producer_epoch: NO_EPOCH,
            timeout_ms: init.timeout_ms,
            state: TransactionState::Empty,
            partitions: BTreeSet::new(),
            updated_at: self.now.wall,
            started_at: TimestampMs::NONE,
            client_version: 0,
        };
        self.give(init, &blank, (fresh, ProducerEpoch(0)), None)
    }

    fn take_over(
        &mut self,
        init: &InitProducerId,
        known: &Transaction,
    ) -> Result<Producer, TransactionError> {
        let expected = init.expected.map(|producer| producer.epoch);
        let matches = expected.is_none_or(|epoch| epoch == known.producer_epoch);
        if known.is_epoch_exhausted() && matches {
            let fresh = init.fresh.ok_or(TransactionError::NeedsProducerId)?;
            let last = expected.map(|_| known.producer_epoch);
            return self.give(init, known, (fresh, ProducerEpoch(0)), last);
        }
        let last_epoch = self.waiting.live.get(&init.id).and_then(|l| l.last_epoch);
        match (expected, init.expected) {
            (None, _) => {
                let bumped = ProducerEpoch(known.producer_epoch.get() + 1);
                self.give(init, known, (known.producer_id, bumped), None)
            }
            (Some(epoch), _) if epoch == known.producer_epoch => {
                let bumped = ProducerEpoch(epoch.get() + 1);
                self.give(init, known, (known.producer_id, bumped), Some(epoch))
            }
            // It asks again for what it was given already.
            (Some(epoch), _) if Some(epoch) == last_epoch => {
                let again = (known.producer_id, known.producer_epoch);
                self.give(init, known, again, last_epoch)
            }
            (Some(epoch), given) => {
                let id = given.map_or(known.producer_id, |given| given.id);
                Err(self.fenced(&init.id, Producer { id, epoch }, known))
            }
        }
    }

    fn give(
        &mut self,
        init: &InitProducerId,
        known: &Transaction,
        (id, epoch): (ProducerId, ProducerEpoch),
        last_epoch: Option<ProducerEpoch>,
    ) -> Result<Producer, TransactionError> {
        let is_rotated = id != known.producer_id;
        let next = Transaction {
            producer_id: id,
            previous_producer_id: match is_rotated {
                true => known.producer_id,
                false => known.previous_producer_id,
            },
            next_producer_id: ProducerId::NONE,
            producer_epoch: epoch,
            timeout_ms: init.timeout_ms,
            state: TransactionState::Empty,
            partitions: BTreeSet::new(),
            started_at: TimestampMs::NONE,
            ..known.clone()
        };
        self.record(&init.id, next);
        self.waiting
            .change(&init.id, |live| live.last_epoch = last_epoch);
        Ok(Producer { id, epoch })
    }
}

/// Whether a producer that says what it is may be the present one, or the one before it that does not know yet that it ran out of epochs.
fn may_be(known: &Transaction, expected: Producer) -> bool {
    known.producer_epoch == NO_EPOCH
        || expected.id == known.producer_id
        || (expected.id == known.previous_producer_id && is_exhausted(expected.epoch))
}
