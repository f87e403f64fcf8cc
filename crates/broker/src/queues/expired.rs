//! Receipts whose lock ran out, and to which queue a receipt belongs: what a listener needs that promises more of a delete than `settle`.

use super::Queues;
use super::begin::Source;
use super::cancel::no_room;
use super::receipt::{Handed, Receipt};
use super::settle::LOCK_MAX;
use super::types::{QueueError, SettleFailure};
use crate::broker::Broker;
use crate::groups::CoordinatorError;
use fanlog_coordinators::queue::{Claim, Input, Outcome, Policy, Reply, Settle, State, Taken};
use fanlog_model::{GroupId, Offset};
use std::sync::Arc;
use std::time::Duration;

impl Queues {
    /// Which of some queues a receipt was given by; none where it is no receipt of theirs. Whether it is still held is not asked.
    pub fn queue_of(&self, queues: &[GroupId], receipt: &Receipt) -> Option<GroupId> {
        let broker = self.broker().ok()?;
        let topics = broker.topics();
        let handed = Handed::decode(receipt).ok()?;
        // A topic that is gone has taken its receipts along.
        topics.by_id(handed.topic)?;
        let gives = |name: &&GroupId| {
            let live = self.live(&broker, name);
            live.is_ok_and(|live| live.mark() == handed.queue)
        };
        queues.iter().find(gives).cloned()
    }

    /// Whether a message is held under a receipt now.
    ///
    /// # Errors
    /// There is no such queue, it is none of its receipts, or its state cannot be read.
    pub async fn held(
        self: &Arc<Self>,
        queue: &GroupId,
        receipt: &Receipt,
    ) -> Result<bool, SettleFailure> {
        let (_, source, handed, _) = self.handed(queue, receipt).await?;
        let state = self.state_of(&source, handed.offset)?;
        Ok(matches!(state, State::Held(held) if held.grant == handed.grant))
    }

    /// Ends a message whose lock ran out after it was done: it comes no more. Who holds it by now keeps it, and may settle it, but it does
    /// not come back. Whether there was still something to end; durable when answered.
    ///
    /// # Errors
    /// There is no such queue, it is none of its receipts, or its state cannot be written.
    pub async fn delete_expired(
        self: &Arc<Self>,
        queue: &GroupId,
        receipt: &Receipt,
    ) -> Result<bool, SettleFailure> {
        let (broker, source, handed, policy) = self.handed(queue, receipt).await?;
        broker.room().await;
        let decided = source
            .shard
            .decide(&source.key, &policy, Input::Cancel(&[handed.offset]))?;
        let reply = source.shard.durable(decided).await?;
        let Reply::Taken(taken) = reply else {
            unreachable!("a machine answers in kind");
        };
        match taken.first() {
            Some(Taken::Taken) => Ok(true),
            Some(Taken::NoRoom | Taken::NoTarget | Taken::Busy) => Err(unavailable(no_room())),
            Some(Taken::Over) | None => Ok(false),
        }
    }

    /// Says for how long whoever holds a message by now has it, under a receipt of before: zero gives it back, as an attempt that failed.
    /// Whether anybody holds it; durable when answered.
    ///
    /// # Errors
    /// There is no such queue, it is none of its receipts, or its state cannot be written.
    pub async fn extend_any(
        self: &Arc<Self>,
        queue: &GroupId,
        receipt: &Receipt,
        lock: Duration,
    ) -> Result<bool, SettleFailure> {
        let (broker, source, handed, policy) = self.handed(queue, receipt).await?;
        broker.room().await;
        let State::Held(held) = self.state_of(&source, handed.offset)? else {
            return Ok(false);
        };
        let outcome = match lock.is_zero() {
            true => Outcome::Nack {
                delay: Some(Duration::ZERO),
                reason: "given back under an earlier receipt",
            },
            false => Outcome::Extend(lock.min(LOCK_MAX)),
        };
        let item = Settle {
            offset: handed.offset,
            claim: Claim::Grant(held.grant),
            outcome,
        };
        let input = Input::Settle {
            items: &[item],
            is_atomic: false,
        };
        let decided = source.shard.decide(&source.key, &policy, input)?;
        let Reply::Settled(each) = source.shard.durable(decided).await? else {
            unreachable!("a machine answers in kind");
        };
        // Its holder may have settled it in between.
        Ok(each.iter().all(Result::is_ok))
    }

    async fn handed(
        self: &Arc<Self>,
        queue: &GroupId,
        receipt: &Receipt,
    ) -> Result<(Arc<Broker>, Source, Handed, Policy), SettleFailure> {
        let broker = self.broker()?;
        let handed = Handed::decode(receipt)?;
        let live = self.live(&broker, queue);
        let live = live.map_err(|_| SettleFailure::OfAnother {
            queue: queue.clone(),
        })?;
        if handed.queue != live.mark() {
            return Err(SettleFailure::OfAnother {
                queue: queue.clone(),
            });
        }
        let source = self
            .settled_source(&broker, &live, handed.topic, handed.partition)
            .await?;
        let policy = self.policy(&broker, &live, source.kind, source.key.partition);
        // A lock that has run out holds nothing, whether or not a timer has seen it.
        self.settle_due(&source, &policy).map_err(unavailable)?;
        let end = source.partition.high_watermark();
        // A number that was never given to anybody ends nothing.
        let is_given = source.shard.look(&source.key, |ledger, _, _| {
            handed.grant < ledger.head().next_grant || handed.offset < ledger.start()
        })?;
        match is_given && handed.offset < end {
            true => Ok((broker, source, handed, policy)),
            false => Err(SettleFailure::OfAnother {
                queue: queue.clone(),
            }),
        }
    }

    fn state_of(&self, source: &Source, offset: Offset) -> Result<State, CoordinatorError> {
        source
            .shard
            .look(&source.key, |ledger, _, _| ledger.state(offset).0)
    }
}

fn unavailable(error: QueueError) -> SettleFailure {
    match error {
        QueueError::Unavailable(error) => error.into(),
        other => CoordinatorError::NotAvailable {
            reason: other.to_string().into(),
        }
        .into(),
    }
}
