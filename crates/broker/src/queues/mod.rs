//! Queues: named subscriptions on topics, with leases on records, as listeners call them.
//!
//! Why it exists: who has work done wants the next message and not to be held up by the one that always fails; partitions and offsets
//! are in the way. Here the machine of each partition is found, records are read and handed out, and moved where they go.
//! Owns: one shard per partition of `__fanlog_queues`, who waits for messages.   Never: what may become of a record (the machine says
//! so), the policy (the catalog has it).
//! In -> out: receive, settle -> messages that are held, answers once durable.
//! Invariants: QUE-1, QUE-2, QUE-3, QUE-4.   Read next: `types.rs`.

mod dead_types;
mod delays;
mod piece;
mod receipt;
mod status_types;
mod types;

pub use dead_types::{DeadDone, DeadLetter, DeadLetterShown, DeadLetters, DeadSelection, Redrive};
pub use delays::{DELIVER_AFTER, DELIVER_AT};
pub use receipt::{Receipt, ReceiptError};
pub use status_types::{
    BlockedKey, ConsumerLoad, Drain, Hindrance, QueuePartitionStatus, QueueStatus,
};
pub use types::{
    CancelOutcome, Headers, Message, MessageId, MessageIdError, NewQueue, QueueDescription,
    QueueError, Receive, Received, SettleFailure, SettleOutcome, SettledEach, Start,
};

use crate::broker::Broker;
use crate::groups::CoordinatorError;
use fanlog_model::GroupId;
use std::collections::BTreeMap;
use std::sync::Arc;

/// All queues.
#[derive(Debug, Default)]
pub struct Queues {}

impl Queues {
    fn unfinished<R>(&self) -> Result<R, QueueError> {
        let reason = "this broker does not serve queues yet".into();
        Err(CoordinatorError::NotAvailable { reason }.into())
    }

    /// Makes a queue; the answer comes when it is durable.
    ///
    /// # Errors
    /// The name is taken, there is no such topic, or a setting is wrong.
    pub async fn create(&self, _queue: NewQueue) -> Result<QueueDescription, QueueError> {
        self.unfinished()
    }

    /// Changes settings of a queue; `None` takes one back to its default. To pause is to set `paused`.
    ///
    /// # Errors
    /// There is no such queue, or a setting is wrong.
    pub async fn alter(
        &self,
        _queue: &GroupId,
        _changes: BTreeMap<String, Option<String>>,
    ) -> Result<QueueDescription, QueueError> {
        self.unfinished()
    }

    /// Ends a queue, and forgets what it knows of its topic's records. The topic stays, and so do its dead letters.
    ///
    /// # Errors
    /// There is no such queue.
    pub async fn delete(&self, _queue: &GroupId) -> Result<(), QueueError> {
        self.unfinished()
    }

    /// All queues, in the order of their names.
    pub fn list(&self) -> Vec<QueueDescription> {
        Vec::new()
    }

    /// What a queue is.
    ///
    /// # Errors
    /// There is no such queue.
    pub fn describe(&self, _queue: &GroupId) -> Result<QueueDescription, QueueError> {
        self.unfinished()
    }

    /// Hands messages to a consumer, waiting for the first one as it asks.
    ///
    /// # Errors
    /// There is no such queue, or its state cannot be read or written.
    pub async fn receive(
        &self,
        _queue: &GroupId,
        _wanted: Receive,
    ) -> Result<Received, QueueError> {
        self.unfinished()
    }

    /// Takes what became of messages; one answer each, in the order given, once it is durable.
    ///
    /// # Errors
    /// There is no such queue.
    pub async fn settle(
        &self,
        _queue: &GroupId,
        _items: Vec<(Receipt, SettleOutcome)>,
    ) -> Result<SettledEach, QueueError> {
        self.unfinished()
    }

    /// Sees to it that messages are not delivered any more: in one queue, or, if none is named, in all queues on their topics.
    ///
    /// # Errors
    /// There is no such queue.
    pub async fn cancel(
        &self,
        _queue: Option<&GroupId>,
        _messages: Vec<MessageId>,
    ) -> Result<Vec<CancelOutcome>, QueueError> {
        self.unfinished()
    }

    /// How a queue stands, and why it may be stuck.
    ///
    /// # Errors
    /// There is no such queue.
    pub fn status(&self, _queue: &GroupId) -> Result<QueueStatus, QueueError> {
        self.unfinished()
    }

    /// Some dead letters of a queue, from behind `after` on.
    ///
    /// # Errors
    /// There is no such queue, or its dead letters cannot be read.
    pub async fn dead_list(
        &self,
        _queue: &GroupId,
        _after: Option<MessageId>,
        _max: usize,
    ) -> Result<DeadLetters, QueueError> {
        self.unfinished()
    }

    /// One dead letter with all that it holds.
    ///
    /// # Errors
    /// There is no such queue or no such dead letter.
    pub async fn dead_show(
        &self,
        _queue: &GroupId,
        _id: MessageId,
    ) -> Result<DeadLetterShown, QueueError> {
        self.unfinished()
    }

    /// Delivers dead letters again.
    ///
    /// # Errors
    /// There is no such queue, or its dead letters cannot be read.
    pub async fn redrive(
        &self,
        _queue: &GroupId,
        _redrive: Redrive,
    ) -> Result<DeadDone, QueueError> {
        self.unfinished()
    }

    /// Gives dead letters up for good.
    ///
    /// # Errors
    /// There is no such queue, or its dead letters cannot be read.
    pub async fn discard(
        &self,
        _queue: &GroupId,
        _which: DeadSelection,
    ) -> Result<DeadDone, QueueError> {
        self.unfinished()
    }
}

impl Broker {
    /// Queues.
    pub fn queues(&self) -> &Arc<Queues> {
        &self.queues
    }
}
