//! The shards of one internal topic: they start when it opens, and each has its timer.
//!
//! Owns: one shard per partition.   Never: makes the topic.
//! In -> out: the topics as they are -> shards that load; a name -> its shard.

use super::MachineShard;
use super::shard::run_timer;
use crate::blocking::Blocking;
use crate::groups::partition_of_name;
use crate::partition::Partition;
use crate::topics_view::{Topic, TopicsView};
use fanlog_model::PartitionIndex;
use parking_lot::{Mutex, RwLock};
use std::sync::Arc;
use tokio::task::AbortHandle;

/// The shards of a topic; none until it is there.
#[derive(Debug)]
pub(crate) struct Shards<S> {
    topic: &'static str,
    shards: RwLock<Arc<[Arc<S>]>>,
    timers: Mutex<Vec<AbortHandle>>,
    has_timers: bool,
    blocking: Blocking,
}

impl<S: MachineShard> Shards<S> {
    /// None yet.
    pub(crate) fn new(topic: &'static str, has_timers: bool, blocking: Blocking) -> Self {
        Self {
            topic,
            shards: RwLock::new(Arc::from([])),
            timers: Mutex::default(),
            has_timers,
            blocking,
        }
    }

    /// All of them, in the order of their partitions.
    pub(crate) fn all(&self) -> Arc<[Arc<S>]> {
        self.shards.read().clone()
    }

    /// The shard of a partition of the topic.
    pub(crate) fn of_partition(&self, index: PartitionIndex) -> Option<Arc<S>> {
        let index = usize::try_from(index.0).ok()?;
        self.shards.read().get(index).cloned()
    }

    /// The shard that has what bears this name.
    pub(crate) fn of_name(&self, name: &str) -> Option<Arc<S>> {
        let shards = self.all();
        let count = i32::try_from(shards.len()).ok();
        let count = count.filter(|count| *count > 0)?;
        let index = partition_of_name(name, count);
        shards.get(index.0 as usize).cloned()
    }

    /// The topics are now these: the machines start when theirs is open. Until its log is replayed a machine answers that it is
    /// loading; at a start that must not hold up the rest of the broker.
    pub(crate) fn follow_topics(
        &self,
        topics: &TopicsView,
        in_background: bool,
        new: impl Fn(Arc<Partition>) -> Arc<S>,
    ) {
        let mut topics = topics.iter();
        let Some(ours) = topics.find(|topic| topic.name.as_str() == self.topic) else {
            return;
        };
        let new = self.start(ours, new);
        let load = move || new.iter().for_each(|shard| shard.load());
        match in_background {
            true => drop(self.blocking.spawn(load)),
            false => load(),
        }
    }

    /// Gives every partition its machine and answers those that are new. Where the opening of a partition was tried
    /// again, the machine over the attempt that failed goes: it would be broken for ever.
    fn start(&self, topic: &Topic, make: impl Fn(Arc<Partition>) -> Arc<S>) -> Vec<Arc<S>> {
        let before = self.all();
        let mut new = Vec::new();
        let partitions = topic.partitions.iter();
        let shards: Arc<[_]> = partitions
            .map(|partition| {
                let mut known = before.iter();
                if let Some(shard) = known.find(|s| Arc::ptr_eq(s.base().partition(), partition)) {
                    return shard.clone();
                }
                let shard = make(Arc::clone(partition));
                new.push(shard.clone());
                shard
            })
            .collect();
        if new.is_empty() {
            return new;
        }
        *self.shards.write() = shards;
        if self.has_timers {
            let run = |shard: &Arc<S>| tokio::spawn(run_timer(shard.clone())).abort_handle();
            self.timers.lock().extend(new.iter().map(run));
        }
        new
    }

    /// Whether what is to be done later is done by itself; in simulations it waits for a tick.
    pub(crate) fn has_timers(&self) -> bool {
        self.has_timers
    }

    /// The timers end; requests are still decided upon.
    pub(crate) fn stop_timers(&self) {
        for timer in self.timers.lock().drain(..) {
            timer.abort();
        }
    }
}
