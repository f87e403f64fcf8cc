//! How share groups follow the rest of the broker: their topic opens, other topics go.

use super::shard::Shard;
use super::{SHARE_STATE_TOPIC, Shares};
use crate::machine_runtime::run_timer;
use crate::topics_view::{Topic, TopicsView};
use fanlog_model::TopicId;
use std::sync::Arc;

impl Shares {
    /// The topics are now these: the machines start when theirs is open.
    pub(crate) fn follow_topics(&self, topics: &TopicsView, in_background: bool) {
        let mut ours = topics
            .iter()
            .filter(|topic| topic.name.as_str() == SHARE_STATE_TOPIC);
        let Some(ours) = ours.next() else {
            return;
        };
        let new = self.start_shards(ours);
        let load = move || new.iter().for_each(|shard| shard.load());
        if in_background {
            self.blocking.spawn(load);
        } else {
            load();
        }
    }

    fn start_shards(&self, topic: &Topic) -> Vec<Arc<Shard>> {
        let before = self.shards();
        let mut new = Vec::new();
        let shards: Arc<[_]> = topic
            .partitions
            .iter()
            .map(|partition| {
                let mut known = before.iter();
                if let Some(shard) = known.find(|s| Arc::ptr_eq(s.partition(), partition)) {
                    return shard.clone();
                }
                let shard = Shard::new(
                    Arc::clone(partition),
                    self.clock.clone(),
                    self.broker.get().cloned().unwrap_or_default(),
                    self.blocking,
                    self.seats.clone(),
                    self.counts.clone(),
                );
                new.push(shard.clone());
                shard
            })
            .collect();
        if new.is_empty() {
            return new;
        }
        *self.shards.write() = shards;
        if self.has_timers {
            let run = |shard: &Arc<Shard>| tokio::spawn(run_timer(shard.clone())).abort_handle();
            self.timers.lock().extend(new.iter().map(run));
        }
        new
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
        for timer in self.timers.lock().drain(..) {
            timer.abort();
        }
    }
}
