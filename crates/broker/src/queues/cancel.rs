//! Messages that are not to be delivered any more: in one queue, or in all on their topic. Durable when answered.

use super::Queues;
use super::begin::{Source, not_available};
use super::live::Live;
use super::take::readable_end;
use super::types::{CancelOutcome, MessageId, QueueError};
use crate::broker::Broker;
use crate::topics_view::Topic;
use fanlog_coordinators::queue::{Input, Reply, Taken};
use fanlog_model::{GroupId, Offset, PartitionIndex, TopicName};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What is to be cancelled in one partition: the place of each message, and its offset.
type ByPartition = BTreeMap<(TopicName, PartitionIndex), Vec<(usize, Offset)>>;

impl Queues {
    /// Sees to it that messages are not delivered any more: in one queue, or, if none is named, in all queues on their topics.
    ///
    /// # Errors
    /// There is no such queue, or no topic of one of the messages: then nothing is cancelled.
    pub async fn cancel(
        self: &Arc<Self>,
        queue: Option<&GroupId>,
        messages: Vec<MessageId>,
    ) -> Result<Vec<CancelOutcome>, QueueError> {
        let broker = self.broker()?;
        let named = queue.map(|queue| self.live(&broker, queue)).transpose()?;
        let mut by_partition = ByPartition::new();
        for (position, id) in messages.iter().enumerate() {
            let of = (id.topic.clone(), id.partition);
            by_partition
                .entry(of)
                .or_default()
                .push((position, id.offset));
        }
        if named.is_none() {
            let topics = broker.topics();
            let unknown = by_partition.keys().map(|(topic, _)| topic);
            let mut unknown = unknown.filter(|topic| topics.by_name(topic).is_none());
            if let Some(topic) = unknown.next().cloned() {
                return Err(QueueError::NoSuchTopic { topic });
            }
        }
        let outcome = |id| CancelOutcome {
            id,
            queues: Vec::new(),
        };
        let mut outcomes: Vec<_> = messages.into_iter().map(outcome).collect();
        for ((topic, partition), offsets) in by_partition {
            let topics = broker.topics();
            let lives = match (&named, topics.by_name(&topic)) {
                (Some(live), _) => vec![live.clone()],
                (None, Some(topic)) => self.on_topic(&broker, topic),
                // It was deleted meanwhile.
                (None, None) => Vec::new(),
            };
            for live in lives {
                let place = topics.by_name(&topic);
                let cancelled = self
                    .cancel_in(&broker, &live, place, partition, &offsets)
                    .await;
                for (at, (position, _)) in offsets.iter().enumerate() {
                    let outcome = &mut outcomes[*position];
                    let one = match &cancelled {
                        Ok(each) => match each[at] {
                            Some(Taken::Taken) => Ok(true),
                            Some(Taken::Over) => Ok(false),
                            Some(Taken::NoRoom | Taken::NoTarget | Taken::Busy) => Err(no_room()),
                            None => Err(no_such(&outcome.id, &live)),
                        },
                        Err(Some(error)) => Err(error.clone()),
                        Err(None) => Err(no_such(&outcome.id, &live)),
                    };
                    outcome.queues.push((live.name().clone(), one));
                }
            }
        }
        Ok(outcomes)
    }

    fn on_topic(&self, broker: &Broker, topic: &Topic) -> Vec<Arc<Live>> {
        let catalog = broker.catalog_view();
        let names = catalog.queues_of_topic(topic.id).map(|queue| &queue.name);
        names
            .filter_map(|name| self.live(broker, name).ok())
            .collect()
    }

    /// What became of each; none where it is not there (yet). The error is none where the queue does not read the
    /// partition.
    async fn cancel_in(
        self: &Arc<Self>,
        broker: &Arc<Broker>,
        live: &Live,
        topic: Option<&Arc<Topic>>,
        partition: PartitionIndex,
        offsets: &[(usize, Offset)],
    ) -> Result<Vec<Option<Taken>>, Option<QueueError>> {
        let topic = topic.ok_or(None)?;
        let is_read = topic.id == live.queue.topic || live.redrive.as_ref() == Some(&topic.name);
        let place = topic.partition(partition).filter(|_| is_read).ok_or(None)?;
        let source = self.source(live, live.kind_of(topic), place).await?;
        self.begun(broker, live, &source).await?;
        let end = readable_end(place)?;
        let there: Vec<_> = offsets.iter().map(|(_, offset)| *offset).collect();
        let there: Vec<_> = there.into_iter().filter(|offset| *offset < end).collect();
        let policy = self.policy(broker, live, source.kind, partition);
        let decided = source
            .shard
            .decide(&source.key, &policy, Input::Cancel(&there));
        let decided = decided.map_err(QueueError::from)?;
        let reply = source
            .shard
            .durable(decided)
            .await
            .map_err(QueueError::from)?;
        let Reply::Taken(taken) = reply else {
            unreachable!("a machine answers in kind");
        };
        let mut taken = taken.into_iter();
        let each = offsets.iter();
        Ok(each
            .map(|(_, offset)| (*offset < end).then(|| taken.next().unwrap_or(Taken::Over)))
            .collect())
    }

    /// As `begin`, for whoever does not have the partition's turn.
    pub(super) async fn begun(
        &self,
        broker: &Arc<Broker>,
        live: &Live,
        source: &Source,
    ) -> Result<(), QueueError> {
        let policy = self.policy(broker, live, source.kind, source.key.partition);
        let seated = self.seats.take(&source.key);
        let _turn = seated.seat().turn.lock().await;
        self.begin(broker, live, source, &policy).await
    }
}

fn no_such(id: &MessageId, live: &Live) -> QueueError {
    QueueError::NoSuchMessage {
        id: id.clone(),
        reason: format!("queue '{}' has no such message", live.name()).into(),
    }
}

/// It is still delivered.
pub(super) fn no_room() -> QueueError {
    not_available(
        &"too many records of the partition have a state of their own; try again when the queue has worked some off",
    )
}
