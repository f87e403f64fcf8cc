//! Consumer groups of the new protocol, as listeners call them; and their regular expressions, which are resolved here.
//!
//! Why it exists: to match an expression with all topics takes time, which a group's machine must not spend while others wait for it.
//! Owns: when expressions are resolved anew.   Never: what follows from it; the machine says so.
//! Read next: `shard.rs`.

use super::shard::Shard;
use super::{GroupRequestError, Groups, answer};
use crate::topics_view::TopicsView;
use fanlog_coordinators::group::consumer::{
    ConsumerHeartbeat, DescribedConsumerGroup, MemberHeartbeat, RegexResolved, SubscribedRegex,
    TopicRegex,
};
use fanlog_coordinators::group::{Answer, Input};
use fanlog_model::GroupId;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl Groups {
    /// ConsumerGroupHeartbeat. `call`, `fresh_id` and the topics of the expression are filled in here.
    ///
    /// # Errors
    /// The group refuses, or its coordinator cannot answer.
    pub async fn consumer_heartbeat(
        self: &Arc<Self>,
        mut heartbeat: ConsumerHeartbeat,
    ) -> Result<MemberHeartbeat, GroupRequestError> {
        heartbeat.fresh_id = self.entropy.uuid();
        let shard = self.shard(&heartbeat.group).await?;
        let resolved_over = match heartbeat.regex.take() {
            Some(regex) if !regex.pattern.is_empty() => {
                let (regex, topics) = self.resolve(regex.pattern).await;
                heartbeat.regex = Some(regex);
                Some(topics)
            }
            other => {
                heartbeat.regex = other;
                None
            }
        };
        let ask = |call| Input::ConsumerHeartbeat(ConsumerHeartbeat { call, ..heartbeat });
        let answer = answer!(shard.ask(ask).await?, ConsumerHeartbeat)?;
        // A topic that came meanwhile was told to groups that did not know the expression yet.
        if resolved_over.is_some_and(|topics| !Arc::ptr_eq(&topics, &self.topics())) {
            self.refresh_expressions();
        }
        Ok(answer)
    }

    /// ConsumerGroupDescribe, for one group.
    ///
    /// # Errors
    /// There is no such group, or its coordinator cannot answer.
    pub async fn describe_consumer(
        &self,
        group: GroupId,
    ) -> Result<DescribedConsumerGroup, GroupRequestError> {
        let shard = self.shard(&group).await?;
        let ask = |call| Input::DescribeConsumer { call, group };
        Ok(answer!(shard.ask(ask).await?, DescribeConsumer)?)
    }

    fn topics(&self) -> Arc<TopicsView> {
        let broker = self.broker();
        broker.map(|broker| broker.topics()).unwrap_or_default()
    }

    /// What an expression stands for, and the topics among which it was looked for.
    async fn resolve(&self, pattern: Arc<str>) -> (SubscribedRegex, Arc<TopicsView>) {
        let topics = self.topics();
        let work = {
            let (topics, pattern) = (topics.clone(), pattern.clone());
            move || {
                let regex = TopicRegex::new(&pattern);
                let regex = regex.map_err(|error| Arc::<str>::from(error.to_string()))?;
                Ok(matching(&regex, &topics))
            }
        };
        let resolved = self.blocking.run(work).await;
        let resolved = resolved.unwrap_or_else(|_| Err("it could not be resolved".into()));
        let regex = SubscribedRegex {
            pattern,
            topics: resolved,
        };
        (regex, topics)
    }

    /// The topics are no longer what they were.
    pub(crate) fn topics_changed(self: &Arc<Self>) {
        let mark = mark(&self.topics());
        if self.topics_mark.swap(mark, Ordering::AcqRel) == mark {
            return;
        }
        for shard in self.shards().iter() {
            shard.tell_news(Input::TopicsChanged);
        }
        self.refresh_expressions();
    }

    /// Has all expressions of all groups resolved anew, once for however many changes came since the last time.
    pub(super) fn refresh_expressions(self: &Arc<Self>) {
        let has_any = |shard: &Arc<Shard>| !shard.expressions().is_empty();
        if !self.shards().iter().any(has_any) || !self.refresh.ask() {
            return;
        }
        let groups = self.clone();
        self.blocking.spawn(move || {
            groups.refresh.run(|| groups.tell_expressions());
        });
    }

    fn tell_expressions(&self) {
        let topics = self.topics();
        for shard in self.shards().iter() {
            for (group, pattern) in shard.expressions() {
                let Ok(regex) = TopicRegex::new(&pattern) else {
                    continue;
                };
                let resolved = RegexResolved {
                    group,
                    pattern,
                    topics: matching(&regex, &topics),
                };
                if !shard.tell_news(Input::RegexResolved(resolved)) {
                    // All of them are told later.
                    break;
                }
            }
        }
    }
}

/// A number for which topics there are, with how many partitions: settings change more often than that.
fn mark(topics: &TopicsView) -> u64 {
    let mut hasher = DefaultHasher::new();
    for topic in topics.iter() {
        (topic.id, topic.partitions.len()).hash(&mut hasher);
    }
    hasher.finish()
}

fn matching(regex: &TopicRegex, topics: &TopicsView) -> Arc<[Arc<str>]> {
    regex.matching(topics.iter().map(|topic| topic.name.as_str().into()))
}

impl Shard {
    /// The expressions of its groups.
    fn expressions(&self) -> Vec<(GroupId, Arc<str>)> {
        let found = self.with_ledger(|ledger| {
            let groups = ledger.groups().filter_map(|(id, known)| {
                let group = known.consumer.as_ref()?;
                Some((id, group.state()))
            });
            groups
                .flat_map(|(id, state)| {
                    let patterns = state.regexes.keys();
                    patterns.map(|pattern| (id.clone(), pattern.clone()))
                })
                .collect::<Vec<_>>()
        });
        found.unwrap_or_default()
    }
}
