//! ConsumerGroupHeartbeat: a member joins, lives, changes its mind or leaves, and learns what it owns.
//!
//! Why it exists: one request does all of it, so that a member which isn't concerned by a change is never interrupted.
//! Owns: the order of the steps: member, group epoch, target, what is owned.   Never: how a step is made.
//! In -> out: [`ConsumerHeartbeat`] -> records, and the member's epoch and partitions.
//! Invariants: GRP-1, GRP-2.   Read next: `reconcile.rs`, `fence.rs`.

use super::draft::Draft;
use super::reconcile::Step;
use super::requests::{
    ConsumerHeartbeat, JOIN_EPOCH, LEAVE_EPOCH, MemberHeartbeat, STATIC_LEAVE_EPOCH,
    SubscribedRegex,
};
use super::{
    ConsumerGroup, ConsumerMember, ConsumerRecord, CurrentAssignment, MemberState, ResolvedRegex,
};
use crate::group::deadlines::Purpose;
use crate::group::decide::{Deciding, ms};
use crate::group::live_group::LiveGroup;
use crate::group::memory::Growth;
use crate::group::{Answer, GroupError, GroupKind, InstanceId, MemberId};
use fanlog_model::{GroupId, TopicId};
use std::collections::BTreeSet;
use std::sync::Arc;

impl<'a> Deciding<'a> {
    pub(in crate::group) fn consumer_heartbeat(&mut self, heartbeat: ConsumerHeartbeat) {
        let call = heartbeat.call;
        let result = self.consumer_heartbeat_checked(heartbeat);
        self.reply(call, Answer::ConsumerHeartbeat(result));
    }

    fn consumer_heartbeat_checked(
        &mut self,
        mut heartbeat: ConsumerHeartbeat,
    ) -> Result<MemberHeartbeat, GroupError> {
        heartbeat.check(&self.settings.consumer.assignors)?;
        if matches!(heartbeat.member_epoch, LEAVE_EPOCH | STATIC_LEAVE_EPOCH) {
            return self.consumer_leave(&heartbeat);
        }
        if heartbeat.member_id.is_none() {
            let id = heartbeat.fresh_id.hyphenated().to_string();
            heartbeat.member_id = MemberId(id.into());
        }
        let (mut draft, classic) = self.draft_for(&heartbeat)?;
        let (before, current) = match self.step(&mut draft, &heartbeat) {
            Ok(step) => step,
            Err(error) => {
                if let Some(group) = classic {
                    self.put_group(group);
                }
                return Err(error);
            }
        };
        if let Some(group) = classic {
            self.finish_upgrade(&group, &draft);
        }
        let paces = self.settings.consumer.paces(&heartbeat.group);
        let session = Purpose::Session(heartbeat.group.clone(), heartbeat.member_id.clone());
        self.watch_revocation(&draft, &heartbeat.member_id);
        self.keep(draft);
        self.set_deadline(session, paces.session_timeout);
        // It may have spoken the classic protocol before, under the same id.
        let rejoin = Purpose::Rejoin(heartbeat.group.clone(), heartbeat.member_id.clone());
        self.waiting.deadlines.cancel(rejoin);
        let must_tell = heartbeat.member_epoch == JOIN_EPOCH
            || heartbeat.is_full()
            || before.assigned.sets() != current.assigned.sets();
        Ok(MemberHeartbeat {
            member_id: heartbeat.member_id,
            epoch: current.epoch,
            heartbeat_interval_ms: paces.heartbeat_interval_ms,
            assignment: must_tell.then(|| current.assigned.sets()),
        })
    }

    /// All that a heartbeat changes of a group. Returns what the member owned and what it owns now.
    fn step(
        &mut self,
        draft: &mut Draft<'_>,
        heartbeat: &ConsumerHeartbeat,
    ) -> Result<(CurrentAssignment, CurrentAssignment), GroupError> {
        let growth = if draft.is_new {
            Growth::New
        } else {
            Growth::Known
        };
        let before = self.admit(draft, heartbeat)?;
        let has_changed = self.update_consumer(draft, heartbeat)?;
        self.update_target(draft);
        let id = &heartbeat.member_id;
        let known = draft.current(id);
        let is_there = known.state == MemberState::Stable && known.epoch == draft.target_epoch();
        let current = match is_there && !has_changed {
            true => known,
            false => self.reconcile(draft, id, heartbeat.owned.as_deref()),
        };
        self.check_memory(growth, draft.grown(), None)
            .map_err(|max| GroupError::MemoryFull {
                group: heartbeat.group.clone(),
                max,
            })?;
        Ok((before, current))
    }

    /// The group as it is, or as it comes into being with a member that joins; and the classic group that it was, taken out.
    fn draft_for(
        &mut self,
        heartbeat: &ConsumerHeartbeat,
    ) -> Result<(Draft<'a>, Option<LiveGroup>), GroupError> {
        let id = &heartbeat.group;
        let joins = heartbeat.member_epoch == JOIN_EPOCH;
        match self.kind(id) {
            Some(GroupKind::Consumer) => Ok((self.existing_draft(id)?, None)),
            None if joins => Ok((Draft::new(id, Vec::new()), None)),
            Some(GroupKind::Classic) if joins => self.upgrade(id),
            None | Some(GroupKind::Classic | GroupKind::Share | GroupKind::Queue) => {
                Err(GroupError::GroupNotFound { group: id.clone() })
            }
        }
    }

    /// A consumer group that exists.
    pub(super) fn existing_draft(&self, id: &GroupId) -> Result<Draft<'a>, GroupError> {
        let known = self
            .ledger
            .group(id)
            .and_then(|known| known.consumer.as_ref());
        let draft = known.map(|group| Draft::of(id, group));
        draft.ok_or_else(|| GroupError::GroupNotFound { group: id.clone() })
    }

    /// Checks that the member may speak, and makes it one that is known. Returns what it owned so far.
    fn admit(
        &self,
        draft: &mut Draft<'_>,
        heartbeat: &ConsumerHeartbeat,
    ) -> Result<CurrentAssignment, GroupError> {
        let id = &heartbeat.member_id;
        let members = &draft.state().members;
        let max = self.settings.consumer.members_max();
        let joins = heartbeat.member_epoch == JOIN_EPOCH;
        let holder = heartbeat.instance_id.as_ref();
        let holder = holder.and_then(|instance| draft.state().instances.get(instance).cloned());
        if members.len() >= max && !members.contains_key(id) && !(joins && holder.is_some()) {
            return Err(GroupError::GroupFull {
                group: draft.id.clone(),
                max,
            });
        }
        match (&heartbeat.instance_id, holder) {
            (Some(instance), Some(holder)) if joins && holder != *id => {
                self.replace_static(draft, instance, &holder, id)?;
                return Ok(CurrentAssignment::default());
            }
            (Some(_), None) if joins => {}
            (None, _) if joins => {}
            (Some(instance), Some(holder)) if holder != *id => {
                return Err(GroupError::FencedInstance {
                    group: draft.id.clone(),
                    instance: instance.clone(),
                    member: id.clone(),
                });
            }
            (Some(_), None) => return Err(unknown_member(&draft.id, id)),
            (None, _) | (Some(_), Some(_)) => {}
        }
        if !draft.state().members.contains_key(id) {
            return match joins {
                true => Ok(CurrentAssignment::default()),
                false => Err(unknown_member(&draft.id, id)),
            };
        }
        let current = draft.current(id);
        check_epoch(draft, heartbeat, &current)?;
        Ok(current)
    }

    /// A new process comes in the place of a static member: it gets what the one before had, once that one is away.
    fn replace_static(
        &self,
        draft: &mut Draft<'_>,
        instance: &InstanceId,
        old: &MemberId,
        new: &MemberId,
    ) -> Result<(), GroupError> {
        let current = draft.current(old);
        let before = draft.state().members.get(old);
        let is_classic = before.is_some_and(|member| member.classic.is_some());
        if current.epoch != STATIC_LEAVE_EPOCH && !is_classic {
            return Err(GroupError::UnreleasedInstance {
                group: draft.id.clone(),
                instance: instance.clone(),
            });
        }
        draft.take_place(old, new);
        Ok(())
    }

    /// Takes over what the member brings; the group's epoch rises if what it reads has changed. Returns whether it has.
    fn update_consumer(
        &self,
        draft: &mut Draft<'_>,
        heartbeat: &ConsumerHeartbeat,
    ) -> Result<bool, GroupError> {
        let id = &heartbeat.member_id;
        let before = draft.state().members.get(id).cloned();
        let updated = heartbeat.updated(before.as_deref());
        let old_regex = before.as_ref().and_then(|member| regex_of(member)).cloned();
        let new_regex = regex_of(&updated).cloned();
        let old_topics = before.as_ref().map(|member| member.topics.clone());
        let has_changed =
            old_topics.unwrap_or_default() != updated.topics || old_regex != new_regex;
        if let Some(regex) = &heartbeat.regex {
            self.check_regex(draft, regex)?;
        }
        draft.put_member(id, updated);
        if old_regex != new_regex {
            drop_unused_regexes(draft);
        }
        let mut has_changed = has_changed;
        if let (Some(regex), Some(_)) = (&heartbeat.regex, &new_regex) {
            // The member may be the first to say what its expression stands for now.
            has_changed |= self.resolve(draft, &regex.pattern, regex.topics.as_ref().ok());
        }
        if has_changed {
            draft.state().check_names(&draft.id)?;
        }
        // Topics that come and go are told in an input of their own.
        if draft.is_unassigned() || has_changed {
            let hash = draft.state().metadata_hash(self.topics);
            draft.raise_epoch(hash);
        }
        Ok(has_changed)
    }

    fn check_regex(&self, draft: &Draft<'_>, regex: &SubscribedRegex) -> Result<(), GroupError> {
        match &regex.topics {
            Err(reason) if !regex.pattern.is_empty() => Err(GroupError::InvalidRegex {
                group: draft.id.clone(),
                reason: reason.clone(),
            }),
            _ => Ok(()),
        }
    }

    /// Notes what an expression stands for, if that is news. One that stands for too many topics by now goes on standing for those
    /// that it did: in Kafka too, topics that come don't shut out a member that is in.
    pub(super) fn resolve(
        &self,
        draft: &mut Draft<'_>,
        pattern: &Arc<str>,
        topics: Option<&Arc<[Arc<str>]>>,
    ) -> bool {
        let Some(topics) = topics else {
            return false;
        };
        let known = draft.state().regexes.get(pattern);
        if let Some(known) = known
            && (known.topics == *topics || !draft.state().has_room_for(&known.topics, topics))
        {
            return false;
        }
        let resolved = ResolvedRegex {
            topics: topics.clone(),
            version: 0,
            resolved_at: self.now.wall,
        };
        draft.record(ConsumerRecord::Regex(
            pattern.clone(),
            Some(Arc::new(resolved)),
        ));
        true
    }

    /// Makes the target anew if that is due.
    pub(super) fn update_target(&self, draft: &mut Draft<'_>) {
        let interval = self.settings.consumer.paces(&draft.id).assignment_interval;
        let assignors = &self.settings.consumer.assignors;
        draft.update_target(self.topics, assignors, interval, self.now);
    }

    /// Lets a member make its next step.
    pub(super) fn reconcile(
        &self,
        draft: &mut Draft<'_>,
        id: &MemberId,
        claimed: Option<&[(TopicId, Vec<i32>)]>,
    ) -> CurrentAssignment {
        let current = draft.current(id);
        let Some(member) = draft.state().members.get(id) else {
            return current;
        };
        let subscribed = draft.state().topic_ids(member, self.topics);
        let step = Step {
            target_epoch: draft.target_epoch(),
            target: draft.state().target(id),
            claimed,
            is_subscribed: &|topic| subscribed.contains(&topic),
            is_free: &|topic, partition| draft.is_free_for(id, topic, partition),
        };
        let next = step.next(&current);
        draft.put_current(id, next.clone());
        next
    }

    /// A member that must give something up has its own time for that.
    pub(super) fn watch_revocation(&mut self, draft: &Draft<'_>, id: &MemberId) {
        let purpose = Purpose::Revocation(draft.id.clone(), id.clone());
        let current = draft.current(id);
        let member = draft.state().members.get(id);
        let timeout = member.map_or(0, |member| member.rebalance_timeout_ms);
        let known = self.ledger.group(&draft.id);
        let known = known.and_then(|known| known.consumer.as_ref()?.state().currents.get(id));
        if current.state != MemberState::UnrevokedPartitions {
            self.waiting.deadlines.cancel(purpose);
        } else if known.is_none_or(|known| **known != current) {
            self.set_deadline(purpose, ms(timeout));
        }
    }

    /// Logs what was decided; nobody waits for who was taken out.
    pub(super) fn keep(&mut self, draft: Draft<'_>) {
        for id in draft.removed() {
            self.forget_deadlines(&draft.id, &id);
        }
        for record in draft.into_records() {
            self.record(record);
        }
    }

    /// After loading: every member has its full time again.
    pub(in crate::group) fn watch_members(&mut self, id: &GroupId, group: &ConsumerGroup) {
        let state = group.state();
        for (member_id, member) in state.members.iter() {
            let session = match &member.classic {
                Some(classic) => ms(classic.session_timeout_ms),
                None => self.settings.consumer.paces(id).session_timeout,
            };
            self.set_deadline(Purpose::Session(id.clone(), member_id.clone()), session);
            let current = state.currents.get(member_id);
            let is_revoking = current.is_some_and(|c| c.state == MemberState::UnrevokedPartitions);
            if is_revoking && member.classic.is_none() {
                let revocation = Purpose::Revocation(id.clone(), member_id.clone());
                self.set_deadline(revocation, ms(member.rebalance_timeout_ms));
            }
        }
    }

    pub(super) fn forget_deadlines(&mut self, group: &GroupId, member: &MemberId) {
        let name = || (group.clone(), member.clone());
        for purpose in [
            |(group, member)| Purpose::Session(group, member),
            |(group, member)| Purpose::Revocation(group, member),
            |(group, member)| Purpose::Rejoin(group, member),
        ] {
            self.waiting.deadlines.cancel(purpose(name()));
        }
    }
}

/// Checks that a member speaks of its present epoch, or of the one before where it may have missed the answer (GRP-2).
fn check_epoch(
    draft: &Draft<'_>,
    heartbeat: &ConsumerHeartbeat,
    current: &CurrentAssignment,
) -> Result<(), GroupError> {
    let given = heartbeat.member_epoch;
    let owns_no_more = || {
        let claimed = heartbeat.owned.as_ref();
        claimed.is_some_and(|claimed| {
            claimed.iter().all(|(topic, partitions)| {
                let mut indexes = partitions
                    .iter()
                    .map(|index| fanlog_model::PartitionIndex(*index));
                indexes.all(|index| current.assigned.epoch(*topic, index).is_some())
            })
        })
    };
    let is_accepted = given == JOIN_EPOCH
        || given == current.epoch
        || (given < current.epoch && given == current.previous_epoch && owns_no_more());
    if is_accepted {
        return Ok(());
    }
    Err(GroupError::FencedMemberEpoch {
        group: draft.id.clone(),
        member: heartbeat.member_id.clone(),
        given,
        current: current.epoch,
    })
}

pub(super) fn regex_of(member: &ConsumerMember) -> Option<&Arc<str>> {
    member.regex.as_ref().filter(|regex| !regex.is_empty())
}

/// Expressions that no member uses any more go.
pub(super) fn drop_unused_regexes(draft: &mut Draft<'_>) {
    let state = draft.state();
    if state.regexes.is_empty() {
        return;
    }
    let used: BTreeSet<_> = state.members.values().filter_map(|m| regex_of(m)).collect();
    let is_used = |regex: &Arc<str>| used.contains(regex);
    let unused: Vec<_> = state
        .regexes
        .keys()
        .filter(|r| !is_used(r))
        .cloned()
        .collect();
    for regex in unused {
        draft.record(ConsumerRecord::Regex(regex, None));
    }
}

pub(super) fn unknown_member(group: &GroupId, member: &MemberId) -> GroupError {
    GroupError::UnknownMember {
        group: group.clone(),
        member: member.clone(),
    }
}
