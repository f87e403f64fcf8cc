//! Purge: a queue is done with everything that is there now, durably when answered.

use super::Queues;
use super::begin::Source;
use super::take::readable_end;
use super::types::QueueError;
use crate::broker::Broker;
use fanlog_coordinators::queue::{Input, Policy};
use fanlog_model::GroupId;
use std::sync::Arc;

/// How often what is due is let take effect in one go: others have a turn in between.
const TICKS_MAX: usize = 1_000;

impl Queues {
    /// Ends all messages that are there, whether they wait, rest, are delayed or held: receipts of the latter are void. Dead letters, and
    /// what is on its way to them, stay.
    ///
    /// # Errors
    /// There is no such queue, or its state cannot be written.
    pub async fn purge(self: &Arc<Self>, queue: &GroupId) -> Result<(), QueueError> {
        let broker = self.broker()?;
        let live = self.live(&broker, queue)?;
        broker.room().await;
        let mut all = Vec::new();
        for source in self.handed_out(&broker, queue).await? {
            self.begun(&broker, &live, &source).await?;
            let policy = self.policy(&broker, &live, source.kind, source.key.partition);
            let below = readable_end(&source.partition)?;
            let input = Input::Purge(below);
            let decided = source.shard.decide(&source.key, &policy, input)?;
            all.push((source.shard, decided));
        }
        for (shard, decided) in all {
            shard.durable(decided).await?;
        }
        self.note_pace(&broker, &live);
        Ok(())
    }

    /// The partitions of which a queue hands out records.
    pub(super) async fn handed_out(
        &self,
        broker: &Broker,
        queue: &GroupId,
    ) -> Result<Vec<Source>, QueueError> {
        let live = self.live(broker, queue)?;
        let mut all = Vec::new();
        for (kind, topic) in live.sources(&broker.topics()) {
            for partition in topic.partitions.iter().filter(|_| kind.is_handed_out()) {
                all.push(self.source(&live, kind, partition).await?);
            }
        }
        Ok(all)
    }

    /// Lets what is due by now take effect, without waiting for a timer.
    pub(super) fn settle_due(&self, source: &Source, policy: &Policy) -> Result<(), QueueError> {
        for _ in 0..TICKS_MAX {
            let decided = source.shard.decide(&source.key, policy, Input::Tick)?;
            if !decided.is_more_due {
                return Ok(());
            }
        }
        Ok(())
    }
}
