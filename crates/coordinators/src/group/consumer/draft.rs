//! One decision about a group, in the making: the facts as they will be, and the records that make them so.
//!
//! Why it exists: a heartbeat may change the member, the epoch, the target and what is owned, each seeing the one before.
//! Owns: the copy; the ledger follows when the records are applied.
//! In -> out: records -> facts.

use super::{
    ConsumerGroup, ConsumerMember, ConsumerRecord, ConsumerState, CurrentAssignment, GroupEpoch,
    JOIN_EPOCH, MemberState, OwnedPartitions,
};
use crate::group::{GroupRecord, MemberId};
use fanlog_model::{GroupId, PartitionIndex, TopicId};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The hash of a group that has never looked at its topics.
pub(super) const NO_HASH: i64 = 0;

/// A group being decided about.
#[derive(Debug)]
pub(super) struct Draft<'a> {
    pub(super) id: GroupId,
    before: Cow<'a, ConsumerGroup>,
    state: ConsumerState,
    removed: BTreeSet<MemberId>,
    records: Vec<GroupRecord>,
    grown: isize,
    /// Whether there was nothing of this kind before.
    pub(super) is_new: bool,
}

impl<'a> Draft<'a> {
    /// A group that exists.
    pub(super) fn of(id: &GroupId, group: &'a ConsumerGroup) -> Self {
        Self {
            id: id.clone(),
            state: group.state().clone(),
            before: Cow::Borrowed(group),
            removed: BTreeSet::new(),
            records: Vec::new(),
            grown: 0,
            is_new: false,
        }
    }

    /// A group that comes into being, after `records` that take away what it was.
    pub(super) fn new(id: &GroupId, records: Vec<GroupRecord>) -> Self {
        Self::converted(id, records, &[])
    }

    /// A group that comes into being with these facts.
    pub(super) fn converted(
        id: &GroupId,
        mut records: Vec<GroupRecord>,
        facts: &[ConsumerRecord],
    ) -> Self {
        let mut group = ConsumerGroup::default();
        for fact in facts {
            group.apply(fact);
            records.push(GroupRecord::Consumer {
                group: id.clone(),
                record: fact.clone(),
            });
        }
        Self {
            id: id.clone(),
            state: group.state().clone(),
            grown: group.bytes().cast_signed(),
            before: Cow::Owned(group),
            removed: BTreeSet::new(),
            records,
            is_new: true,
        }
    }

    /// The facts as they will be.
    pub(super) fn state(&self) -> &ConsumerState {
        &self.state
    }

    /// Decides on a record.
    pub(super) fn record(&mut self, record: ConsumerRecord) {
        self.grown += self.state.apply(&record);
        self.records.push(GroupRecord::Consumer {
            group: self.id.clone(),
            record,
        });
    }

    pub(super) fn epoch(&self) -> i32 {
        self.state.epoch.map_or(0, |epoch| epoch.epoch)
    }

    pub(super) fn target_epoch(&self) -> i32 {
        self.state.target_epoch.map_or(0, |target| target.epoch)
    }

    /// Whether the group has never looked at its topics: it is new, or was a classic one, whose members may be without an
    /// assignment.
    pub(super) fn is_unassigned(&self) -> bool {
        let epoch = self.state.epoch;
        epoch.is_none_or(|epoch| epoch.metadata_hash == NO_HASH)
    }

    /// A new group begins with 1 and has 2 once its first member has joined, as in Kafka.
    pub(super) fn raise_epoch(&mut self, metadata_hash: i64) {
        let epoch = self.epoch().max(1).saturating_add(1);
        self.record(ConsumerRecord::Epoch(Some(GroupEpoch {
            epoch,
            metadata_hash,
        })));
    }

    pub(super) fn put_member(&mut self, id: &MemberId, member: ConsumerMember) {
        let is_same = |known: &Arc<ConsumerMember>| **known == member;
        if !self.state.members.get(id).is_some_and(is_same) {
            self.record(ConsumerRecord::Member(id.clone(), Some(Arc::new(member))));
        }
    }

    pub(super) fn put_current(&mut self, id: &MemberId, current: CurrentAssignment) {
        let is_same = |known: &Arc<CurrentAssignment>| **known == current;
        if !self.state.currents.get(id).is_some_and(is_same) {
            self.record(ConsumerRecord::Current(id.clone(), Some(Arc::new(current))));
        }
    }

    /// Takes a member and all that is said of it away. What it owned is free.
    pub(super) fn remove_member(&mut self, id: &MemberId) {
        if self.state.currents.contains_key(id) {
            self.record(ConsumerRecord::Current(id.clone(), None));
        }
        if self.state.targets.contains_key(id) {
            self.record(ConsumerRecord::Target(id.clone(), None));
        }
        self.record(ConsumerRecord::Member(id.clone(), None));
        self.removed.insert(id.clone());
    }

    /// Gives all that one member had to another, which has yet to reach the target's epoch, wherever the one before stood.
    pub(super) fn take_place(&mut self, old: &MemberId, new: &MemberId) {
        let member = self.state.members.get(old).cloned();
        let target = self.state.targets.get(old).cloned();
        let mut current = self.current(old);
        self.remove_member(old);
        if let Some(member) = member {
            self.record(ConsumerRecord::Member(new.clone(), Some(member)));
        }
        if let Some(target) = target {
            self.record(ConsumerRecord::Target(new.clone(), Some(target)));
        }
        current.epoch = JOIN_EPOCH;
        current.previous_epoch = JOIN_EPOCH;
        // Nobody is left who could say that it has given something up: who bore the name is gone.
        current.pending_revocation = OwnedPartitions::default();
        current.state = MemberState::Stable;
        self.record(ConsumerRecord::Current(
            new.clone(),
            Some(Arc::new(current)),
        ));
    }

    /// Whether nobody but this member owns a partition (GRP-1). Only one member's assignment changes in one decision, beside
    /// those who are removed; so what others own is what they owned before.
    pub(super) fn is_free_for(
        &self,
        member: &MemberId,
        topic: TopicId,
        partition: PartitionIndex,
    ) -> bool {
        #[cfg(feature = "planted-faults")]
        if crate::planted::gives_what_is_owned() {
            return true;
        }
        let owner = self.before.owner(topic, partition);
        owner.is_none_or(|owner| {
            let is_gone = self.removed.contains(owner) || !self.state.members.contains_key(owner);
            owner == member || is_gone
        })
    }

    pub(super) fn current(&self, id: &MemberId) -> CurrentAssignment {
        let current = self.state.currents.get(id);
        current
            .map(|current| (**current).clone())
            .unwrap_or_default()
    }

    /// By how many bytes the group will have grown.
    pub(super) fn grown(&self) -> usize {
        usize::try_from(self.grown).unwrap_or(0)
    }

    /// Who was taken out.
    pub(super) fn removed(&self) -> Vec<MemberId> {
        self.removed.iter().cloned().collect()
    }

    pub(super) fn into_records(self) -> Vec<GroupRecord> {
        self.records
    }
}

/// The records that take a group of this kind away.
pub(in crate::group) fn tombstones(id: &GroupId, group: &ConsumerGroup) -> Vec<GroupRecord> {
    let state = group.state();
    let currents = state.currents.keys();
    let targets = state.targets.keys();
    let members = state.members.keys();
    let regexes = state.regexes.keys();
    let mut facts: Vec<ConsumerRecord> = currents
        .map(|member| ConsumerRecord::Current(member.clone(), None))
        .chain(targets.map(|member| ConsumerRecord::Target(member.clone(), None)))
        .chain(members.map(|member| ConsumerRecord::Member(member.clone(), None)))
        .chain(regexes.map(|regex| ConsumerRecord::Regex(regex.clone(), None)))
        .collect();
    if state.target_epoch.is_some() {
        facts.push(ConsumerRecord::TargetEpoch(None));
    }
    facts.push(ConsumerRecord::Epoch(None));
    let named = |record| GroupRecord::Consumer {
        group: id.clone(),
        record,
    };
    facts.into_iter().map(named).collect()
}
