//! Where a queue begins to read a partition, and how it follows the beginning of the partition's log.
//!
//! Why it is logged before anything is handed out: a beginning that is found anew at each start passes records over (QUE-2).

use super::Queues;
use super::live::{Live, SourceKind};
use super::shard::{Decided, Shard};
use super::types::QueueError;
use crate::broker::Broker;
use crate::fetch_types::Isolation;
use crate::groups::CoordinatorError;
use crate::lookup::TopicRef;
use crate::offsets_types::OffsetSpec;
use crate::partition::Partition;
use fanlog_coordinators::catalog::{Queue, QueueStart};
use fanlog_coordinators::queue::{Input, Policy, QueueKey};
use fanlog_model::{Offset, TopicName};
use std::fmt::Display;
use std::sync::Arc;
use uuid::Uuid;

/// One partition that a queue reads.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub(super) kind: SourceKind,
    pub(super) key: QueueKey,
    pub(super) partition: Arc<Partition>,
    pub(super) shard: Arc<Shard>,
}

impl Queues {
    /// The partition that a key names, as its queue reads it.
    pub(super) async fn source(
        &self,
        live: &Live,
        kind: SourceKind,
        partition: &Arc<Partition>,
    ) -> Result<Source, QueueError> {
        let key = live.key(partition.topic_id(), partition.index());
        Ok(Source {
            kind,
            shard: self.shard(&key).await?,
            key,
            partition: partition.clone(),
        })
    }

    /// Sees to it that the queue has begun to read a partition, and that it does not begin before its log. Whoever calls has the
    /// partition's turn.
    pub(super) async fn begin(
        &self,
        broker: &Arc<Broker>,
        live: &Live,
        source: &Source,
        policy: &Policy,
    ) -> Result<(), QueueError> {
        let id = live.queue.id;
        let has_begun = source.shard.look(&source.key, |ledger, _, _| {
            ledger.is_initialized() && ledger.head().incarnation == id
        })?;
        // Of a topic that is gone no state is made any more.
        let (log_start, end) = source
            .partition
            .with_log(|log| (log.log_start_offset(), log.durable_offset()))
            .map_err(|error| unreadable(source.partition.topic(), &error))?;
        if has_begun {
            return self.follow_log_start(source, policy, log_start);
        }
        let start = match source.kind {
            // What came before the queue is not its own.
            SourceKind::Redrive | SourceKind::Dead => end,
            SourceKind::Main if source.key.partition.0 >= live.queue.partitions_at_start => {
                log_start
            }
            SourceKind::Main => {
                first_offset(broker, &live.queue, &source.partition, live.queue.start).await?
            }
        };
        let begun = self
            .begin_at(broker, live.queue.id, source, policy, start)
            .await?;
        source.shard.durable(begun).await?;
        Ok(())
    }

    /// Decides where a queue begins to read a partition; it counts for good once that is durable. Who has known the queue for long
    /// may find that it is gone, and another one has its name: that one's state stays as it is.
    pub(super) async fn begin_at(
        &self,
        broker: &Arc<Broker>,
        incarnation: Uuid,
        source: &Source,
        policy: &Policy,
        start: Offset,
    ) -> Result<Decided, QueueError> {
        let producer = broker.init_producer_id().await;
        let producer = producer.map_err(|error| not_available(&error))?;
        let is_there = broker.catalog_view().queue_by_id(incarnation).is_some()
            || self.beginning.lock().contains(&incarnation);
        if !is_there {
            return Err(QueueError::NoSuchQueue {
                name: source.key.group.clone(),
            });
        }
        let begun = Input::Initialize {
            incarnation,
            start,
            producer,
        };
        Ok(source.shard.decide(&source.key, policy, begun)?)
    }

    /// The log begins here now: nothing before it is looked for any more.
    pub(super) fn follow_log_start(
        &self,
        source: &Source,
        policy: &Policy,
        log_start: Offset,
    ) -> Result<(), QueueError> {
        let known = source.shard.look(&source.key, |ledger, _, _| {
            ledger
                .is_initialized()
                .then(|| ledger.head().log_start.max(ledger.start()))
        })?;
        if known.is_some_and(|known| known < log_start) {
            let moved = Input::LogStart(log_start);
            source.shard.decide(&source.key, policy, moved)?;
        }
        Ok(())
    }
}

/// The offset at which a queue begins that is made now.
pub(super) async fn first_offset(
    broker: &Arc<Broker>,
    queue: &Queue,
    partition: &Arc<Partition>,
    start: QueueStart,
) -> Result<Offset, QueueError> {
    let (earliest, latest) = partition
        .with_log(|log| (log.log_start_offset(), log.durable_offset()))
        .map_err(|error| unreadable(partition.topic(), &error))?;
    let time = match start {
        QueueStart::Earliest => return Ok(earliest),
        QueueStart::Latest => return Ok(latest),
        QueueStart::Offset(offset) => return Ok(offset.clamp(earliest, latest)),
        QueueStart::Time(time) => time,
    };
    let (broker, topic, index) = (broker.clone(), TopicRef::Id(queue.topic), partition.index());
    let searched = broker.opener.blocking.run({
        let broker = broker.clone();
        move || {
            let spec = OffsetSpec::Timestamp(time);
            broker.list_offset(&topic, index, spec, Isolation::ReadUncommitted, None)
        }
    });
    let found = match searched.await {
        Ok(found) => found.map_err(|error| unreadable(partition.topic(), &error))?,
        Err(panicked) => std::panic::resume_unwind(panicked.into_panic()),
    };
    Ok(found.offset.unwrap_or(latest))
}

pub(super) fn unreadable(topic: &TopicName, error: &dyn Display) -> QueueError {
    QueueError::Read {
        topic: topic.clone(),
        reason: error.to_string().into(),
    }
}

pub(super) fn not_available(error: &dyn Display) -> QueueError {
    let reason = error.to_string().into();
    CoordinatorError::NotAvailable { reason }.into()
}
