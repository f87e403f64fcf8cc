//! What the machine is asked: one struct per request, free of the wire.

use super::{OutcomeId, TransactionalId};
use crate::CallId;
use fanlog_model::{ProducerEpoch, ProducerId, TopicPartition};
use std::time::Duration;

/// One input of [`decide`](super::decide).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// InitProducerId with a transactional id.
    InitProducerId(InitProducerId),
    /// AddPartitionsToTxn, AddOffsetsToTxn, or what Produce and TxnOffsetCommit do in their stead.
    AddPartitions(AddPartitions),
    /// EndTxn.
    End(EndTransaction),
    /// All markers of an outcome are durable.
    MarkersWritten {
        /// Whose.
        id: TransactionalId,
        /// Which.
        outcome: OutcomeId,
    },
    /// DescribeTransactions, for one name.
    Describe {
        /// Who asks.
        call: CallId,
        /// The name.
        id: TransactionalId,
    },
    /// ListTransactions.
    List(List),
    /// A deadline may have passed; fires at most one of them, so ask [`next_deadline`](super::next_deadline) again afterwards.
    Tick,
}

/// Who writes, as a request names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Producer {
    /// The producer id.
    pub id: ProducerId,
    /// Its epoch.
    pub epoch: ProducerEpoch,
}

/// The generation of the protocol that a request belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientVersion {
    /// Partitions are added before they are written to; the epoch stays.
    First,
    /// KIP-890: partitions are added by writing to them; the epoch rises with every transaction.
    Second,
}

impl ClientVersion {
    /// As a record has it.
    pub(super) fn number(self) -> i16 {
        match self {
            Self::First => 0,
            Self::Second => 2,
        }
    }
}

/// InitProducerId.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InitProducerId {
    /// Who asks.
    pub call: CallId,
    /// The name.
    pub id: TransactionalId,
    /// `transaction.timeout.ms`.
    pub timeout_ms: i32,
    /// What the producer is now, where it goes on after an error (KIP-360).
    pub expected: Option<Producer>,
    /// A producer id that nobody has, where the machine said that it needs one.
    pub fresh: Option<ProducerId>,
}

/// Partitions become part of a transaction, or must be part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddPartitions {
    /// Who asks.
    pub call: CallId,
    /// The name.
    pub id: TransactionalId,
    /// Who writes.
    pub producer: Producer,
    /// The partitions.
    pub partitions: Vec<TopicPartition>,
    /// Nothing is added: it is asked whether they are part of it.
    pub verify_only: bool,
    /// The generation of the protocol.
    pub version: ClientVersion,
}

/// EndTxn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndTransaction {
    /// Who asks.
    pub call: CallId,
    /// The name.
    pub id: TransactionalId,
    /// Who ends it.
    pub producer: Producer,
    /// Whether its records count.
    pub is_commit: bool,
    /// The generation of the protocol.
    pub version: ClientVersion,
    /// A producer id that nobody has, where the machine said that it needs one.
    pub fresh: Option<ProducerId>,
}

/// ListTransactions. An empty filter lets everything through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List {
    /// Who asks.
    pub call: CallId,
    /// The states wanted, by their names.
    pub states: Vec<String>,
    /// The producer ids wanted.
    pub producers: Vec<ProducerId>,
    /// Only transactions under way for longer.
    pub longer_than: Option<Duration>,
}

impl Input {
    /// The name that the input concerns; `None` for what concerns every machine.
    pub fn id(&self) -> Option<&TransactionalId> {
        match self {
            Self::InitProducerId(init) => Some(&init.id),
            Self::AddPartitions(add) => Some(&add.id),
            Self::End(end) => Some(&end.id),
            Self::MarkersWritten { id, .. } | Self::Describe { id, .. } => Some(id),
            Self::List(_) | Self::Tick => None,
        }
    }
}
