//! What retention may not take yet, and what it took all the same.
//!
//! Why it exists: nothing that a queue is not done with goes in silence. Retention asks before it takes (`retention-hold`); what goes by
//! size, by DeleteRecords or with a topic is counted, announced, and passed over from then on.

use super::Queues;
use super::begin::Source;
use super::live::SourceKind;
use crate::machines::MachineShard;
use crate::partition::Partition;
use fanlog_coordinators::queue::QueueKey;
use fanlog_model::Offset;
use std::sync::Arc;

impl Queues {
    /// The first record of a partition that a queue which holds retention is not done with; none if there is no such queue. While that
    /// is not known, nothing may go.
    pub(crate) fn hold_for(&self, partition: &Partition) -> Option<Offset> {
        let broker = self.broker().ok()?;
        let catalog = broker.catalog_view();
        let topic = partition.topic_id();
        let name = partition.topic().as_str();
        let redriven = name.strip_suffix(".redrive").map(Into::into);
        let readers = catalog
            .queues_of_topic(topic)
            .chain(redriven.as_ref().and_then(|name| catalog.queue(name)));
        let mut first: Option<Offset> = None;
        for queue in readers {
            let Ok(live) = self.live(&broker, &queue.name) else {
                continue;
            };
            if !live.settings.is_retention_held {
                continue;
            }
            let key = live.key(topic, partition.index());
            let start = self.shard_now(&key).map(|shard| {
                shard.look(&key, |ledger, _, _| {
                    let is_its_own =
                        ledger.is_initialized() && ledger.head().incarnation == queue.id;
                    is_its_own.then(|| ledger.start())
                })
            });
            let start = match start {
                Some(Ok(Some(start))) => start,
                // It begins behind what is there when it first gets something by it.
                Some(Ok(None)) if topic != queue.topic => continue,
                // Not begun, loading, or broken.
                Some(Ok(None) | Err(_)) | None => Offset::ZERO,
            };
            first = Some(first.map_or(start, |first| first.min(start)));
        }
        first
    }

    /// A partition's log begins here now.
    pub(crate) fn follow_trim(&self, partition: &Arc<Partition>, log_start: Offset) {
        let Ok(broker) = self.broker() else {
            return;
        };
        let is_meant = |key: &&QueueKey| {
            key.topic == partition.topic_id() && key.partition == partition.index()
        };
        for shard in self.shards().iter() {
            // One that is loading follows when it is asked for something.
            let keys = shard.with_active(|machines| {
                let keys = machines.of.keys().filter(is_meant).cloned();
                keys.collect::<Vec<_>>()
            });
            for key in keys.into_iter().flatten() {
                let (Some(policy), topics) = (self.policy_of(&key), broker.topics()) else {
                    continue;
                };
                let live = self.live(&broker, &key.group);
                let kind = live.ok().zip(topics.by_id(key.topic));
                let source = Source {
                    kind: kind.map_or(SourceKind::Main, |(live, topic)| live.kind_of(topic)),
                    key,
                    partition: partition.clone(),
                    shard: shard.clone(),
                };
                if let Err(error) = self.follow_log_start(&source, &policy, log_start) {
                    tracing::debug!(queue = %source.key.group, %error, "what went is noted later");
                }
            }
        }
    }
}
