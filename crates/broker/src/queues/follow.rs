//! How queues follow the rest of the broker: their log opens, topics and queues go, settings change.

use super::Queues;
use super::shard::Shard;
use crate::machines::MachineShard;
use crate::topics_view::{Topic, TopicsView};
use fanlog_coordinators::catalog::{CatalogView, Queue};
use fanlog_coordinators::queue::{QueueKey, QueueRecord};
use fanlog_model::TopicId;
use std::collections::HashMap;
use std::sync::Arc;
use uuid::Uuid;

/// What was followed last.
#[derive(Debug, Default)]
pub(super) struct Seen {
    queues: Vec<Arc<Queue>>,
    /// The topics that queues hand out: how many open partitions each has.
    read: HashMap<TopicId, usize>,
}

fn read_by_queues(catalog: &CatalogView, topics: &TopicsView) -> HashMap<TopicId, usize> {
    let is_redriven = |topic: &Topic| {
        let queue = topic.name.as_str().strip_suffix(".redrive");
        queue.is_some_and(|queue| catalog.queue(&queue.into()).is_some())
    };
    let is_read = |topic: &Topic| catalog.queues_of_topic(topic.id).len() > 0 || is_redriven(topic);
    let read = topics.iter().filter(|topic| is_read(topic));
    let open = |topic: &Topic| {
        let partitions = topic.partitions.iter();
        partitions.filter(|one| !one.may_be_opened()).count()
    };
    read.map(|topic| (topic.id, open(topic))).collect()
}

impl Queues {
    /// The catalog and the topics are now these: the machines start when their log is open, and forget what is gone.
    pub(crate) fn follow(
        self: &Arc<Self>,
        catalog: &CatalogView,
        topics: &TopicsView,
        gone: &[Arc<Topic>],
        in_background: bool,
    ) {
        self.shards
            .follow_topics(topics, in_background, |partition| {
                Shard::new(partition, self)
            });
        let queues: Vec<_> = catalog.queues().cloned().collect();
        let read = read_by_queues(catalog, topics);
        let seen = Seen {
            queues: queues.clone(),
            read: read.clone(),
        };
        let seen = std::mem::replace(&mut *self.seen.lock(), seen);
        let before = seen.queues;
        let is_new = |(topic, count)| seen.read.get(topic).is_none_or(|before| before < count);
        let has_more = read.iter().any(is_new);
        let is_same = queues.len() == before.len()
            && queues
                .iter()
                .zip(&before)
                .all(|(now, before)| Arc::ptr_eq(now, before));
        if is_same && gone.is_empty() && !has_more {
            // The settings may be others.
            self.wake_if_roomy();
            return;
        }
        for topic in gone {
            self.tell_of_gone(topic);
        }
        let is_any_gone = before
            .iter()
            .any(|queue| catalog.queue_by_id(queue.id).is_none());
        if is_any_gone {
            // Redrives go with their queue.
            self.resume_redrives();
        }
        if is_any_gone || !gone.is_empty() {
            for shard in self.shards().iter() {
                self.forget_gone_of(shard);
            }
        }
        // What is paused may go on, there are more partitions, and who waits for a queue that is gone is told so.
        self.seats.wake_all();
    }

    /// A topic goes, and with it what its queues were not done with.
    fn tell_of_gone(&self, topic: &Topic) {
        for shard in self.shards().iter() {
            // One that loads or is broken has nothing to tell.
            let _ = shard.with_active(|machines| {
                for (key, known) in machines.of.iter().filter(|(key, _)| key.topic == topic.id) {
                    let Some(partition) = topic.partition(key.partition) else {
                        continue;
                    };
                    let left = known.ledger.left_below(partition.high_watermark());
                    if left > 0 {
                        tracing::warn!(queue = %key.group, partition = %partition.folder(), records = left, "a topic is deleted, and with it records that a queue was not done with");
                    }
                }
            });
        }
    }

    /// Forgets what a shard knows of queues and topics that are gone. One that is loading does this when it is done.
    pub(super) fn forget_gone_of(&self, shard: &Arc<Shard>) {
        let Ok(broker) = self.broker() else {
            return;
        };
        let (catalog, topics) = (broker.catalog_view(), broker.topics());
        let begun = self.beginning.lock().clone();
        // While a start opens its topics, what the catalog has counts: all of them will be there.
        let is_gone = |key: &QueueKey, incarnation: Uuid| {
            let queue = catalog.queue_by_id(incarnation);
            let has_queue = queue.is_some_and(|queue| queue.name == key.group);
            let has_topic =
                catalog.topic_by_id(key.topic).is_some() || topics.by_id(key.topic).is_some();
            !(has_topic && (has_queue || begun.contains(&incarnation)))
        };
        let forgotten = shard.log_all(|machines| {
            let known = machines.of.iter();
            let gone = known.filter(|(key, known)| is_gone(key, known.ledger.head().incarnation));
            gone.map(|(key, _)| (key.clone(), QueueRecord::Deleted))
                .collect()
        });
        if let Err(error) = forgotten {
            tracing::debug!(partition = %shard.partition().folder(), %error, "states of queues that are gone stay for now");
        }
        self.pieces
            .forget(|key| catalog.queue(&key.group).is_none());
        self.lives
            .lock()
            .retain(|name, _| catalog.queue(name).is_some());
        self.share_members
            .lock()
            .retain(|name| catalog.queue(name).is_some());
    }

    /// Lets every lock that has run out and every time that has come take effect; the timers do this on their own.
    pub fn tick(self: &Arc<Self>) {
        for shard in self.shards().iter() {
            while shard.tick_some() {}
        }
        self.restart_movers();
        self.resume_redrives();
    }

    /// The timers end; requests are still decided upon.
    pub(crate) fn stop_timers(&self) {
        self.shards.stop_timers();
    }
}
