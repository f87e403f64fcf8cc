//! What the machine logs: the records of `__transaction_state`.

use super::{TransactionState, TransactionalId};
use fanlog_model::{ProducerEpoch, ProducerId, TimestampMs, TopicPartition};
use std::collections::BTreeSet;

/// One record; `record_format.rs` has its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TransactionRecord {
    /// A transactional id as it stands now.
    Transaction {
        /// The name.
        id: TransactionalId,
        /// All that is known of it.
        transaction: Transaction,
    },
    /// The transactional id has expired (a tombstone).
    Expired {
        /// The name.
        id: TransactionalId,
    },
}

/// A transactional id as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transaction {
    /// The producer id of the name.
    pub producer_id: ProducerId,
    /// The one that it had before, where that ran out of epochs.
    pub previous_producer_id: ProducerId,
    /// The one that it has once the transaction is complete, where the present one runs out of epochs.
    pub next_producer_id: ProducerId,
    /// The epoch: only a producer that knows it may write.
    pub producer_epoch: ProducerEpoch,
    /// How long a transaction may be under way.
    pub timeout_ms: i32,
    /// Where it stands.
    pub state: TransactionState,
    /// What the transaction under way has touched.
    pub partitions: BTreeSet<TopicPartition>,
    /// When the record was written.
    pub updated_at: TimestampMs,
    /// When the transaction began, -1 before the first.
    pub started_at: TimestampMs,
    /// The generation of the protocol that the producer speaks: 2 bumps the epoch with every transaction (KIP-890).
    pub client_version: i16,
}

impl Transaction {
    /// Whether the producer id has no epoch left to give: the largest one is for markers alone.
    pub fn is_epoch_exhausted(&self) -> bool {
        is_exhausted(self.producer_epoch)
    }

    /// Whether the producer speaks the second generation of the protocol.
    pub fn is_second_generation(&self) -> bool {
        self.client_version >= 2
    }

    /// The producer id and epoch that count once the transaction under way is complete.
    pub(super) fn producer_after_completion(&self) -> (ProducerId, ProducerEpoch) {
        match self.next_producer_id {
            ProducerId::NONE => (self.producer_id, self.producer_epoch),
            next => (next, ProducerEpoch(0)),
        }
    }
}

/// The epoch after this one; the largest has none.
pub(super) fn epoch_after(epoch: ProducerEpoch) -> Option<ProducerEpoch> {
    epoch.get().checked_add(1).map(ProducerEpoch)
}

/// Whether a producer may have been given this epoch: the largest is for markers alone.
pub(super) fn may_be_a_clients(epoch: ProducerEpoch) -> bool {
    epoch.get() < i16::MAX
}

pub(super) fn is_exhausted(epoch: ProducerEpoch) -> bool {
    epoch.get() >= i16::MAX - 1
}
