//! What the members of a share group read: made when members or topics change, not when a member says that it lives.
//!
//! Why it exists: members report every few seconds, and there are as many as a group may have: a report must not look at the
//! others. What was found when they were looked at last is kept until something changes.
//! In -> out: a group, the topics -> records of its epoch and targets; what has no state yet.
//! Invariants: what is kept of a group is what would be found now.   Read next: `assignor.rs`.

use super::assignor::{Candidate, assign};
use super::{ShareGroup, ShareGroupEpoch, ShareRecord};
use crate::group::consumer::TargetEpoch;
use crate::group::decide::Deciding;
use crate::group::{GroupRecord, PartitionSets};
use fanlog_model::{GroupId, TopicId};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What was found of a share group whose assignment is made for the members and topics as they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::group) struct SettledShareGroup {
    /// Partitions that it reads and has no state of.
    pub(in crate::group) without_state: Arc<PartitionSets>,
}

impl Deciding<'_> {
    /// What was found of a group, if nothing has changed since.
    pub(super) fn settled_share_group(&self, id: &GroupId) -> Option<SettledShareGroup> {
        self.waiting.settled_shares.get(id).cloned()
    }

    /// Remembers a group that was just assigned.
    pub(super) fn settle_share_group(
        &mut self,
        id: &GroupId,
        group: &ShareGroup,
    ) -> SettledShareGroup {
        let settled = SettledShareGroup {
            without_state: Arc::new(without_state(group)),
        };
        let kept = settled.clone();
        self.waiting.settled_shares.insert(id.clone(), kept);
        settled
    }

    /// A record is decided upon: what was found of a share group holds only as long as none of its facts change that lead to it.
    pub(in crate::group) fn unsettle_share_group(&mut self, record: &GroupRecord) {
        if let GroupRecord::Share { group, record } = record
            && !matches!(record, ShareRecord::Current(..))
        {
            self.waiting.settled_shares.remove(group);
        }
    }

    /// Topics came, went or grew: every group is looked at when one of its members reports next.
    pub(in crate::group) fn unsettle_share_groups(&mut self) {
        self.waiting.settled_shares.clear();
    }

    /// Raises the group's epoch where its members or topics have changed, and assigns anew.
    pub(super) fn assign_share_group(
        &mut self,
        group: &mut ShareGroup,
        id: &GroupId,
        has_changed: bool,
    ) {
        let epoch = epoch_of(group);
        let topics = self.topics_of(group);
        let metadata_hash = hash(&topics);
        if has_changed || metadata_hash != epoch.metadata_hash {
            let raised = ShareGroupEpoch {
                epoch: epoch.epoch + 1,
                metadata_hash,
            };
            self.share_record(group, id, ShareRecord::Epoch(Some(raised)));
        }
        let epoch = epoch_of(group).epoch;
        if group
            .target_epoch
            .is_some_and(|target| target.epoch == epoch)
        {
            return;
        }
        let candidates = group.members.iter().map(|(member_id, member)| {
            let names = member.topics.iter();
            let topics = names.filter_map(|name| topics.get(name).copied()).collect();
            let before = group.targets.get(member_id).map(|target| &**target);
            (member_id.clone(), Candidate { topics, before })
        });
        let assigned = assign(&candidates.collect());
        for (member_id, target) in assigned {
            if group.targets.get(&member_id).map(|before| &**before) != Some(&target) {
                let record = ShareRecord::Target(member_id, Some(Arc::new(target)));
                self.share_record(group, id, record);
            }
        }
        let made = TargetEpoch {
            epoch,
            made_at: self.now.wall,
        };
        self.share_record(group, id, ShareRecord::TargetEpoch(Some(made)));
    }

    /// The topics that there are of those that members name.
    fn topics_of(&self, group: &ShareGroup) -> BTreeMap<Arc<str>, (TopicId, i32)> {
        let names = group
            .members
            .values()
            .flat_map(|member| member.topics.iter());
        let names: BTreeSet<&Arc<str>> = names.collect();
        let found = |name: &Arc<str>| Some((name.clone(), self.topics.by_name(name)?));
        names.into_iter().filter_map(found).collect()
    }
}

pub(super) fn epoch_of(group: &ShareGroup) -> ShareGroupEpoch {
    group.epoch.unwrap_or_default()
}

/// What members read and what has no state yet.
pub(in crate::group) fn without_state(group: &ShareGroup) -> PartitionSets {
    let mut missing = PartitionSets::new();
    for (topic, indexes) in group.targets.values().flat_map(|target| target.iter()) {
        missing.entry(*topic).or_default().extend(indexes);
    }
    let known = group.partitions.iter().flat_map(|p| &p.initialized);
    for topic in known {
        if let Some(indexes) = missing.get_mut(&topic.id) {
            indexes.retain(|index| !topic.partitions.contains(index));
        }
    }
    missing.retain(|_, indexes| !indexes.is_empty());
    missing
}

/// FNV-1a over names, ids and numbers of partitions: it only has to change when they do.
fn hash(topics: &BTreeMap<Arc<str>, (TopicId, i32)>) -> i64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut eat = |bytes: &[u8]| {
        for byte in bytes {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        }
    };
    for (name, (id, partitions)) in topics {
        eat(name.as_bytes());
        eat(id.0.as_bytes());
        eat(&partitions.to_be_bytes());
    }
    hash.cast_signed()
}
