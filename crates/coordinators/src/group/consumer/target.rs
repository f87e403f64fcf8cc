//! The target assignment: what every member shall own, made anew when the group's epoch has risen.
//!
//! Invariants: GRP-1 rests not on the target but on what is owned; of a target that is cut off by a crash the epoch is missing, and it
//! is made again.

use super::assignors::{Assignor, PartitionCounts, Subscriber};
use super::draft::Draft;
use super::{ConsumerMember, ConsumerRecord, ConsumerState, TargetEpoch};
use crate::Now;
use crate::group::{MemberId, PartitionSets, TopicsSnapshot};
use fanlog_model::TopicId;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

static NOTHING: PartitionSets = PartitionSets::new();

impl ConsumerState {
    /// What a member shall own.
    pub(super) fn target(&self, id: &MemberId) -> &PartitionSets {
        self.targets.get(id).map_or(&NOTHING, |target| target)
    }

    /// The assignor that most members prefer; of equals the one that the broker lists first.
    pub(super) fn preferred_assignor(&self, offered: &[Assignor]) -> Assignor {
        let votes = |assignor: &Assignor| {
            let prefers =
                |m: &&Arc<ConsumerMember>| m.server_assignor.as_deref() == Some(assignor.name());
            self.members.values().filter(prefers).count()
        };
        let counted = offered
            .iter()
            .rev()
            .map(|assignor| (votes(assignor), *assignor));
        let most = counted.max_by_key(|(votes, _)| *votes);
        most.map_or(Assignor::Uniform, |(_, assignor)| assignor)
    }
}

impl Draft<'_> {
    /// Makes the target anew if it is behind the group's epoch, and not sooner after the one before than `interval`: where many
    /// members come at once, one assignment does for all of them.
    pub(super) fn update_target(
        &mut self,
        topics: &dyn TopicsSnapshot,
        offered: &[Assignor],
        interval: Duration,
        now: Now,
    ) {
        if self.epoch() <= self.target_epoch() || self.must_wait(interval, now) {
            return;
        }
        let made = assign(self.state(), topics, offered);
        for (id, target) in made {
            if self.state().targets.get(&id) != Some(&target) {
                self.record(ConsumerRecord::Target(id, Some(target)));
            }
        }
        self.record(ConsumerRecord::TargetEpoch(Some(TargetEpoch {
            epoch: self.epoch(),
            made_at: now.wall,
        })));
    }

    fn must_wait(&self, interval: Duration, now: Now) -> bool {
        let Some(target) = self.state().target_epoch else {
            return false;
        };
        // A clock that was put back must not stop assignments.
        let since = now.wall.get().saturating_sub(target.made_at.get());
        u64::try_from(since).is_ok_and(|since| u128::from(since) < interval.as_millis())
    }
}

fn assign(
    state: &ConsumerState,
    topics: &dyn TopicsSnapshot,
    offered: &[Assignor],
) -> Vec<(MemberId, Arc<PartitionSets>)> {
    let mut counts = PartitionCounts::new();
    let mut lists = BTreeMap::new();
    let mut subscribers = Vec::with_capacity(state.members.len());
    for (id, member) in state.members.iter() {
        let list = lists
            // Members that name the same topics have one list.
            .entry((member.topics.as_ptr(), member.regex.as_deref()))
            .or_insert_with(|| known_topics(state, member, topics, &mut counts));
        subscribers.push(Subscriber {
            instance_id: member.instance_id.as_ref().map(|id| id.as_str()),
            member_id: id.as_str(),
            topics: list.clone(),
            before: state.target(id),
        });
    }
    let assignor = state.preferred_assignor(offered);
    let assigned = assignor.assign(&subscribers, &counts);
    let ids = state.members.keys().cloned();
    ids.zip(assigned.into_iter().map(Arc::new)).collect()
}

fn known_topics(
    state: &ConsumerState,
    member: &ConsumerMember,
    topics: &dyn TopicsSnapshot,
    counts: &mut PartitionCounts,
) -> Arc<[TopicId]> {
    let names = state.topics_of(member);
    let known = names.filter_map(|name| topics.by_name(name));
    let mut ids: Vec<TopicId> = known
        .map(|(id, count)| {
            counts.insert(id, count);
            id
        })
        .collect();
    ids.sort_unstable();
    ids.dedup();
    ids.into()
}
