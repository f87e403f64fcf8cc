//! What administrators ask of a share group: ShareGroupDescribe, DeleteGroups, and the bookkeeping of which partitions have
//! a state.

use super::assignment::epoch_of;
use super::{
    ShareAssignment, ShareGroup, ShareGroupEpoch, ShareMember, SharePartitions, ShareRecord,
    ShareTopic,
};
use crate::CallId;
use crate::group::decide::Deciding;
use crate::group::{Answer, GroupError, GroupKind, GroupRecord, GroupState, MemberId};
use fanlog_model::{GroupId, TopicId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A share group as administrators see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescribedShareGroup {
    /// The group.
    pub group: GroupId,
    /// Empty or Stable.
    pub state: GroupState,
    /// The group's epoch.
    pub epoch: i32,
    /// For which epoch its assignment was made.
    pub assignment_epoch: i32,
    /// Its members.
    pub members: Vec<DescribedShareMember>,
    /// Which share-partitions have a state.
    pub partitions: Arc<SharePartitions>,
}

/// A member of a share group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescribedShareMember {
    /// Its id.
    pub member_id: MemberId,
    /// How it describes itself.
    pub member: Arc<ShareMember>,
    /// What it reads.
    pub current: Arc<ShareAssignment>,
}

/// Partitions of a share group have a state from now on, or topics have none any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShareStatesChanged {
    /// Who asks.
    pub call: CallId,
    /// The share group.
    pub group: GroupId,
    /// Partitions that have a state, with the names of their topics.
    pub initialized: Vec<ShareTopic>,
    /// Topics of which there is no state any more.
    pub removed: Vec<TopicId>,
    /// Refuse where the group has members; and make it where there is none, for its offsets.
    pub is_for_offsets: bool,
}

impl ShareGroup {
    /// Whether it has members.
    pub fn state(&self) -> GroupState {
        match self.members.is_empty() {
            true => GroupState::Empty,
            false => GroupState::Stable,
        }
    }
}

impl Deciding<'_> {
    pub(in crate::group) fn describe_share(&mut self, call: CallId, id: GroupId) {
        let known = self
            .ledger
            .group(&id)
            .and_then(|known| known.share.as_deref());
        let described = known.map(|group| described(&id, group));
        let result = match id.as_str().is_empty() {
            true => Err(GroupError::InvalidGroupId),
            false => described.ok_or(GroupError::GroupNotFound { group: id }),
        };
        self.reply(call, Answer::DescribeShare(result));
    }

    /// Answers the group's epoch.
    pub(in crate::group) fn share_states_changed(&mut self, changed: &ShareStatesChanged) {
        let result = self.change_share_states(changed);
        self.reply(changed.call, Answer::ShareStatesChanged(result));
    }

    fn change_share_states(&mut self, changed: &ShareStatesChanged) -> Result<i32, GroupError> {
        let id = &changed.group;
        let not_found = || GroupError::GroupNotFound { group: id.clone() };
        if id.as_str().is_empty() {
            return Err(GroupError::InvalidGroupId);
        }
        GroupError::check_names(&[("group id", id.as_str())])?;
        let known = match self.kind(id) {
            None if changed.is_for_offsets => None,
            Some(GroupKind::Share) => self.ledger.group(id).and_then(|g| g.share.as_deref()),
            _ => return Err(not_found()),
        };
        let mut group = known.cloned().unwrap_or_default();
        if changed.is_for_offsets && group.state() != GroupState::Empty {
            return Err(GroupError::GroupNotEmpty {
                group: id.clone(),
                state: group.state(),
            });
        }
        if known.is_none() {
            let first = ShareGroupEpoch {
                epoch: 1,
                metadata_hash: 0,
            };
            self.share_record(&mut group, id, ShareRecord::Epoch(Some(first)));
        }
        let before = group.partitions.clone();
        let after = with_changes(before.as_deref(), changed);
        if before.as_deref() != Some(&after) {
            let record = ShareRecord::Partitions(Some(Arc::new(after)));
            self.share_record(&mut group, id, record);
        }
        Ok(epoch_of(&group).epoch)
    }

    /// Topics are gone: no group has states of them.
    pub(in crate::group) fn share_topic_deleted(&mut self, is_gone: impl Fn(&ShareTopic) -> bool) {
        let groups = self.ledger.groups().filter_map(|(id, known)| {
            let partitions = known.share.as_ref()?.partitions.as_ref()?;
            let is_known = partitions.initialized.iter().any(&is_gone)
                || partitions.initializing.iter().any(&is_gone);
            if !is_known {
                return None;
            }
            let mut partitions = SharePartitions::clone(partitions);
            partitions.initialized.retain(|topic| !is_gone(topic));
            partitions.initializing.retain(|topic| !is_gone(topic));
            Some(GroupRecord::Share {
                group: id.clone(),
                record: ShareRecord::Partitions(Some(Arc::new(partitions))),
            })
        });
        for record in groups.collect::<Vec<_>>() {
            self.record(record);
        }
    }

    /// Deletes a share group that has no members.
    pub(in crate::group) fn delete_share_group(
        &mut self,
        id: &GroupId,
        group: &ShareGroup,
    ) -> Result<(), GroupError> {
        if group.state() != GroupState::Empty {
            return Err(GroupError::GroupNotEmpty {
                group: id.clone(),
                state: group.state(),
            });
        }
        let targets = group.targets.keys().cloned();
        let currents = group.currents.keys().cloned();
        let records = targets
            .map(|member| ShareRecord::Target(member, None))
            .chain(currents.map(|member| ShareRecord::Current(member, None)))
            .chain([
                ShareRecord::Partitions(None),
                ShareRecord::TargetEpoch(None),
                ShareRecord::Epoch(None),
            ]);
        for record in records.collect::<Vec<_>>() {
            let group = id.clone();
            self.record(GroupRecord::Share { group, record });
        }
        Ok(())
    }
}

fn described(id: &GroupId, group: &ShareGroup) -> DescribedShareGroup {
    let members = group.members.iter().map(|(member_id, member)| {
        let current = group.currents.get(member_id).cloned();
        DescribedShareMember {
            member_id: member_id.clone(),
            member: member.clone(),
            current: current.unwrap_or_default(),
        }
    });
    let epoch = epoch_of(group).epoch;
    DescribedShareGroup {
        group: id.clone(),
        state: group.state(),
        epoch,
        assignment_epoch: group.target_epoch.map_or(epoch, |target| target.epoch),
        members: members.collect(),
        partitions: group.partitions.clone().unwrap_or_default(),
    }
}

fn with_changes(before: Option<&SharePartitions>, changed: &ShareStatesChanged) -> SharePartitions {
    let mut after = before.cloned().unwrap_or_default();
    let mut topics: BTreeMap<TopicId, ShareTopic> = BTreeMap::new();
    for topic in after
        .initialized
        .drain(..)
        .chain(changed.initialized.iter().cloned())
    {
        match topics.get_mut(&topic.id) {
            Some(known) => known.partitions.extend(topic.partitions),
            None => {
                topics.insert(topic.id, topic);
            }
        }
    }
    topics.retain(|id, _| !changed.removed.contains(id));
    after.initialized = topics.into_values().collect();
    after
}
