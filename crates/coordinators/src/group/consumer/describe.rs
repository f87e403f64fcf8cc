//! ConsumerGroupDescribe, and the state of a group.

use super::{ConsumerState, MemberState};
use crate::CallId;
use crate::group::decide::Deciding;
use crate::group::{
    Answer, GroupError, GroupState, InstanceId, MemberId, PartitionSets, TopicsSnapshot,
};
use fanlog_model::{GroupId, TopicId};
use std::sync::Arc;

/// A group for ConsumerGroupDescribe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescribedConsumerGroup {
    /// The group.
    pub group: GroupId,
    /// Its state.
    pub state: GroupState,
    /// Its epoch.
    pub epoch: i32,
    /// The epoch of its target assignment.
    pub target_epoch: i32,
    /// The assignor's name.
    pub assignor: &'static str,
    /// Its members.
    pub members: Vec<DescribedConsumer>,
}

/// A member for ConsumerGroupDescribe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescribedConsumer {
    /// The member.
    pub member_id: MemberId,
    /// `group.instance.id`, for a static member.
    pub instance_id: Option<InstanceId>,
    /// `client.rack`.
    pub rack_id: Option<Arc<str>>,
    /// Its epoch.
    pub epoch: i32,
    /// The client id of its last request.
    pub client_id: Arc<str>,
    /// Its address.
    pub client_host: Arc<str>,
    /// The topics that it names.
    pub topics: Arc<[Arc<str>]>,
    /// Its regular expression.
    pub regex: Option<Arc<str>>,
    /// What it owns or has not given up yet, of topics that exist.
    pub assigned: Vec<NamedPartitions>,
    /// What it shall own, of topics that exist.
    pub target: Vec<NamedPartitions>,
    /// Whether it speaks the classic protocol.
    pub is_classic: bool,
}

/// Partitions of a topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedPartitions {
    /// The topic's id.
    pub id: TopicId,
    /// Its name.
    pub name: Arc<str>,
    /// The partitions, in order.
    pub partitions: Vec<i32>,
}

impl ConsumerState {
    /// The group's state.
    pub fn group_state(&self) -> GroupState {
        let target = self.target_epoch.map_or(0, |target| target.epoch);
        if self.members.is_empty() {
            return GroupState::Empty;
        }
        if self.epoch.is_some_and(|epoch| epoch.epoch > target) {
            return GroupState::Assigning;
        }
        let has_arrived = |id: &MemberId| {
            let current = self.currents.get(id);
            current.is_some_and(|c| c.state == MemberState::Stable && c.epoch == target)
        };
        match self.members.keys().all(has_arrived) {
            true => GroupState::Stable,
            false => GroupState::Reconciling,
        }
    }
}

impl Deciding<'_> {
    pub(in crate::group) fn describe_consumer(&mut self, call: CallId, id: GroupId) {
        let known = self
            .ledger
            .group(&id)
            .and_then(|known| known.consumer.as_ref());
        let result = known.map(|group| self.described(&id, group.state()));
        let result = result.ok_or(GroupError::GroupNotFound { group: id });
        self.reply(call, Answer::DescribeConsumer(result));
    }

    fn described(&self, id: &GroupId, state: &ConsumerState) -> DescribedConsumerGroup {
        let members = state.members.iter().map(|(id, member)| {
            let current = state.currents.get(id);
            let assigned = current.map(|current| current.held());
            DescribedConsumer {
                member_id: id.clone(),
                instance_id: member.instance_id.clone(),
                rack_id: member.rack_id.clone(),
                epoch: current.map_or(0, |current| current.epoch),
                client_id: member.client_id.clone(),
                client_host: member.client_host.clone(),
                topics: member.topics.clone(),
                regex: member.regex.clone(),
                assigned: named(&assigned.unwrap_or_default(), self.topics),
                target: named(state.target(id), self.topics),
                is_classic: member.classic.is_some(),
            }
        });
        DescribedConsumerGroup {
            group: id.clone(),
            state: state.group_state(),
            epoch: state.epoch.map_or(0, |epoch| epoch.epoch),
            target_epoch: state.target_epoch.map_or(0, |target| target.epoch),
            assignor: state
                .preferred_assignor(&self.settings.consumer.assignors)
                .name(),
            members: members.collect(),
        }
    }
}

fn named(sets: &PartitionSets, topics: &dyn TopicsSnapshot) -> Vec<NamedPartitions> {
    let named = sets.iter().filter_map(|(id, partitions)| {
        Some(NamedPartitions {
            id: *id,
            name: topics.name_of(*id)?,
            partitions: partitions.iter().map(|index| index.0).collect(),
        })
    });
    named.collect()
}
