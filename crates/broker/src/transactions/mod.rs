//! Transactions: the machines of `__transaction_state`, as listeners call them.
//!
//! Why it exists: a transactional id lives in one partition of the topic; here its machine is found, the topic is made at first use, and
//! what a producer writes to a partition is first made known to its transaction.
//! Owns: one shard per partition.   Never: what a producer may do; the machine says so.
//! In -> out: request -> the answer of the id's machine, once durable; an outcome -> markers in every partition.
//! Invariants: TXN-1, TXN-2.   Read next: `shard.rs`, then `markers.rs`.

mod allow;
mod follow;
mod load;
mod marked;
mod markers;
mod offsets;
mod shard;

pub use allow::AllowError;
pub(crate) use follow::transaction_settings;
pub use marked::{MarkerError, WrittenMarker};
pub use offsets::TransactionalCommitError;

use crate::blocking::Blocking;
use crate::broker::Broker;
use crate::groups::CoordinatorError;
use crate::machines::{MachineMemory, Shards};
use crate::steady_clock::SteadyClock;
use fanlog_coordinators::CallId;
use fanlog_coordinators::transaction::{
    AddPartitions, Answer, ClientVersion, DescribedTransaction, EndTransaction, InitProducerId,
    Input, List, ListedTransactions, Producer, TransactionError, TransactionSettings,
    TransactionalId,
};
use fanlog_model::{PartitionIndex, TopicPartition};
use parking_lot::Mutex;
use shard::{Shard, Shared};
use std::sync::{Arc, OnceLock, Weak};
use thiserror::Error;

/// What the operator is told when transactional ids take all that they may.
const MEMORY_FULL: &str = "transactional ids take the memory of fanlog.transactions.memory.bytes: new ones are refused; raise it, or lower transactional.id.expiration.ms";

/// The topic that remembers transactions.
pub const TRANSACTIONS_TOPIC: &str = "__transaction_state";

/// Why a request about a transaction has no answer.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TransactionRequestError {
    /// The machine refuses.
    #[error(transparent)]
    Refused(#[from] TransactionError),
    /// The coordinator cannot answer; retry.
    #[error(transparent)]
    Coordinator(#[from] CoordinatorError),
}

/// All transactional ids.
#[derive(Debug)]
pub struct Transactions {
    broker: Arc<OnceLock<Weak<Broker>>>,
    shared: Shared,
    shards: Shards<Shard>,
}

/// Unwraps the answer of the kind that the question has.
macro_rules! answer {
    ($answer:expr, $kind:ident) => {
        match $answer {
            Answer::$kind(answer) => answer,
            other => unreachable!("a machine answers in kind, not with {other:?}"),
        }
    };
}

impl Transactions {
    pub(crate) fn new(
        clock: SteadyClock,
        settings: TransactionSettings,
        has_timers: bool,
        blocking: Blocking,
    ) -> Self {
        let broker = Arc::new(OnceLock::new());
        Self {
            broker: broker.clone(),
            shared: Shared {
                broker,
                clock,
                settings: Arc::new(Mutex::new(settings)),
                memory: Arc::new(MachineMemory::new(MEMORY_FULL)),
                blocking,
                has_timers,
            },
            shards: Shards::new(TRANSACTIONS_TOPIC, has_timers, blocking),
        }
    }

    pub(crate) fn belong_to(&self, broker: Weak<Broker>) {
        // Set once, at start.
        let _ = self.broker.set(broker);
    }

    /// InitProducerId with a transactional id.
    ///
    /// # Errors
    /// The machine refuses, or the coordinator cannot answer.
    pub async fn init_producer_id(
        &self,
        id: TransactionalId,
        timeout_ms: i32,
        expected: Option<Producer>,
    ) -> Result<Producer, TransactionRequestError> {
        let shard = self.shard(&id).await?;
        let mut fresh = None;
        loop {
            let id = id.clone();
            let init = |call| {
                Input::InitProducerId(InitProducerId {
                    call,
                    id,
                    timeout_ms,
                    expected,
                    fresh,
                })
            };
            match answer!(shard.ask(init).await?, InitProducerId) {
                Err(TransactionError::NeedsProducerId) if fresh.is_none() => {
                    fresh = Some(self.new_producer_id().await?);
                }
                answer => return Ok(answer?),
            }
        }
    }

    /// AddPartitionsToTxn, or the question whether partitions belong to a transaction; answers those that do not.
    ///
    /// # Errors
    /// The machine refuses, or the coordinator cannot answer.
    pub async fn add_partitions(
        &self,
        id: TransactionalId,
        producer: Producer,
        partitions: Vec<TopicPartition>,
        verify_only: bool,
        version: ClientVersion,
    ) -> Result<Vec<TopicPartition>, TransactionRequestError> {
        let shard = self.shard(&id).await?;
        let add = |call| {
            Input::AddPartitions(AddPartitions {
                call,
                id,
                producer,
                partitions,
                verify_only,
                version,
            })
        };
        Ok(answer!(shard.ask(add).await?, AddPartitions)?)
    }

    /// EndTxn; answers once the markers are written, or have been waited for long enough.
    ///
    /// # Errors
    /// The machine refuses, or the coordinator cannot answer.
    pub async fn end(
        &self,
        id: TransactionalId,
        producer: Producer,
        is_commit: bool,
        version: ClientVersion,
    ) -> Result<Producer, TransactionRequestError> {
        let shard = self.shard(&id).await?;
        let mut fresh = None;
        loop {
            let id = id.clone();
            let end = |call| {
                Input::End(EndTransaction {
                    call,
                    id,
                    producer,
                    is_commit,
                    version,
                    fresh,
                })
            };
            match answer!(shard.ask(end).await?, End) {
                Err(TransactionError::NeedsProducerId) if fresh.is_none() => {
                    fresh = Some(self.new_producer_id().await?);
                }
                answer => return Ok(answer?),
            }
        }
    }

    /// DescribeTransactions, for one id.
    ///
    /// # Errors
    /// There is no such id, or the coordinator cannot answer.
    pub async fn describe(
        &self,
        id: TransactionalId,
    ) -> Result<DescribedTransaction, TransactionRequestError> {
        let shard = self.shard(&id).await?;
        let answer = shard.ask(|call| Input::Describe { call, id }).await?;
        Ok(answer!(answer, Describe)?)
    }

    /// ListTransactions: those of all machines. `call` is filled in here.
    ///
    /// # Errors
    /// A coordinator cannot answer, so that the list would have gaps.
    pub async fn list(&self, list: List) -> Result<ListedTransactions, CoordinatorError> {
        let mut all = ListedTransactions::default();
        for shard in self.shards().iter() {
            let list = list.clone();
            let ask = |call: CallId| Input::List(List { call, ..list });
            let listed = answer!(shard.ask(ask).await?, List);
            all.transactions.extend(listed.transactions);
            all.unknown_states = listed.unknown_states;
        }
        all.transactions.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(all)
    }

    /// Makes sure that transactions have a place, as FindCoordinator does, and says which partition holds this id.
    ///
    /// # Errors
    /// The topic could not be made.
    pub async fn find(&self, id: &TransactionalId) -> Result<PartitionIndex, CoordinatorError> {
        let shard = self.shard(id).await?;
        Ok(shard.partition().index())
    }

    /// Lets every deadline that has passed take effect, and has markers written that could not be before; the timers do this on their own.
    pub fn tick(&self) {
        for shard in self.shards().iter() {
            shard.tick();
        }
    }

    /// How many bytes transactional ids take, about.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.shared.memory.bytes()
    }

    fn broker(&self) -> Result<Arc<Broker>, CoordinatorError> {
        self.shared
            .broker()
            .ok_or_else(|| CoordinatorError::NotAvailable {
                reason: "the broker is stopping".into(),
            })
    }

    fn shards(&self) -> Arc<[Arc<Shard>]> {
        self.shards.all()
    }

    async fn shard(&self, id: &TransactionalId) -> Result<Arc<Shard>, CoordinatorError> {
        if let Some(shard) = self.shards.of_name(id.as_str()) {
            return Ok(shard);
        }
        let made = self.broker()?.make_transactions_topic().await;
        made.map_err(|error| not_available(&error))?;
        let made = self.shards.of_name(id.as_str());
        made.ok_or(CoordinatorError::Loading)
    }

    async fn new_producer_id(&self) -> Result<fanlog_model::ProducerId, TransactionRequestError> {
        let drawn = self.broker()?.init_producer_id().await;
        Ok(drawn.map_err(|error| not_available(&error))?)
    }
}

fn not_available(error: &dyn std::fmt::Display) -> CoordinatorError {
    CoordinatorError::NotAvailable {
        reason: error.to_string().into(),
    }
}

#[cfg(test)]
mod tests;
