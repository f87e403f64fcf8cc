//! States of topics that are gone are deleted.
//!
//! Why it exists: a topic may go while a shard is loading, when nothing can be written; and its log may refuse a deletion, as
//! on a full disk. So a shard that has loaded looks for topics that are gone, and tries again what was refused.
//! In -> out: the topics as they are -> deletions, logged.   Never: decisions; where a deletion is refused, the machines stand.

use super::shard::{Machines, RECORDS_PER_BATCH, Shard};
use crate::machines::MachineShard;
use fanlog_coordinators::share::{ShareKey, ShareRecord};
use fanlog_model::TopicId;
use std::time::Duration;

/// After so long the log is asked again to take deletions that it refused.
const AGAIN_AFTER: Duration = Duration::from_secs(10);

impl Shard {
    /// A topic is gone. Where the shard is loading, it finds that out itself.
    pub(super) fn forget_topic(&self, topic: TopicId) {
        let _ = self.with_active(|machines| self.forget(machines, |key| key.topic == topic));
    }

    /// Deletes the states of all topics that are gone.
    pub(super) fn forget_gone_topics(&self, machines: &mut Machines) {
        match self.broker() {
            Some(broker) => {
                let topics = broker.topics();
                self.forget(machines, |key| topics.by_id(key.topic).is_none());
            }
            // It is about to start: which topics there are is known in a moment.
            None => self.forget_later(machines),
        }
    }

    /// Tries again, if that is due.
    pub(super) fn forget_again(&self) {
        let now = self.base().now().monotonic;
        // Where it loads again, it looks at the end.
        let _ = self.with_active(|machines| {
            if machines.forget_again_at.is_some_and(|at| at <= now) {
                self.forget_gone_topics(machines);
            }
        });
    }

    fn forget(&self, machines: &mut Machines, is_gone: impl Fn(&ShareKey) -> bool) {
        machines.forget_again_at = None;
        let gone = machines.of.keys().filter(|key| is_gone(key));
        let gone = gone.map(|key| (key.clone(), ShareRecord::Deleted));
        let gone: Vec<_> = gone.collect();
        for some in gone.chunks(RECORDS_PER_BATCH) {
            if let Err(error) = self.log(machines, some, self.base().now()) {
                tracing::warn!(partition = %self.partition().folder(), %error, "states of share groups of deleted topics stay for now");
                return self.forget_later(machines);
            }
        }
    }

    fn forget_later(&self, machines: &mut Machines) {
        machines.forget_again_at = Some(self.base().now().monotonic + AGAIN_AFTER);
    }
}
