//! How share groups follow the rest of the broker: their topic opens, other topics go.

use super::Shares;
use super::shard::Shard;
use crate::machines::ShardBase;
use crate::topics_view::TopicsView;
use fanlog_model::TopicId;

impl Shares {
    /// The topics are now these: the machines start when theirs is open.
    pub(crate) fn follow_topics(&self, topics: &TopicsView, in_background: bool) {
        self.shards
            .follow_topics(topics, in_background, |partition| {
                Shard::new(
                    ShardBase::new(partition, self.clock.clone(), self.blocking),
                    self.broker.get().cloned().unwrap_or_default(),
                    self.seats.clone(),
                    self.counts.clone(),
                )
            });
    }

    /// A topic is gone, and with it what became of its records.
    pub(crate) fn forget_topic(&self, topic: TopicId) {
        for shard in self.shards().iter() {
            shard.forget_topic(topic);
        }
        self.seats.wake_where(|key| key.topic == topic);
    }

    /// Lets every lock that has run out take effect; the timers do this on their own.
    pub fn tick(&self) {
        for shard in self.shards().iter() {
            shard.tick();
        }
    }

    /// The timers end; requests are still decided upon.
    pub(crate) fn stop_timers(&self) {
        self.shards.stop_timers();
    }
}
