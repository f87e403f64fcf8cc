//! Who may commit and read offsets of a consumer group.
//!
//! Invariants: GRP-2. A member may speak of an epoch before its present one as long as it has owned the partition since then.

use super::heartbeat::unknown_member;
use super::{ConsumerGroup, ConsumerMember, CurrentAssignment};
use crate::group::decide::Deciding;
use crate::group::{CommitOffsets, GroupError, MemberId, OffsetToCommit};
use fanlog_model::GroupId;

impl Deciding<'_> {
    pub(in crate::group) fn check_consumer_commit(
        &self,
        group: &ConsumerGroup,
        commit: &CommitOffsets,
        is_transactional: bool,
    ) -> Result<(), GroupError> {
        let state = group.state();
        if commit.generation < 0 && state.members.is_empty() {
            return Ok(());
        }
        // A producer is fenced by its own epoch, and need not say for which member it speaks.
        if is_transactional && !commit.names_member() {
            return Ok(());
        }
        let id = &commit.member_id;
        let unknown = || unknown_member(&commit.group, id);
        let member = state.members.get(id).ok_or_else(unknown)?;
        let current = state.currents.get(id).ok_or_else(unknown)?;
        let is_old = !is_transactional && !commit.names_missing_group;
        if is_old && member.classic.is_none() {
            return Err(GroupError::OldCommit {
                group: commit.group.clone(),
            });
        }
        let owns_since = |offset: &OffsetToCommit| owns_since(current, offset, commit.generation);
        let given = commit.generation;
        let is_accepted = given == current.epoch
            || (0..current.epoch).contains(&given) && commit.offsets.iter().all(owns_since);
        #[cfg(feature = "planted-faults")]
        let is_accepted = is_accepted || crate::planted::skips_generation_check();
        match is_accepted {
            true => Ok(()),
            false => Err(wrong_epoch(&commit.group, id, member, given, current.epoch)),
        }
    }

    pub(in crate::group) fn check_consumer_fetch(
        &self,
        id: &GroupId,
        group: &ConsumerGroup,
        member: &MemberId,
        epoch: i32,
    ) -> Result<(), GroupError> {
        let state = group.state();
        let unknown = || unknown_member(id, member);
        let known = state.members.get(member).ok_or_else(unknown)?;
        let current = state
            .currents
            .get(member)
            .map_or(0, |current| current.epoch);
        if current == epoch {
            return Ok(());
        }
        Err(wrong_epoch(id, member, known, epoch, current))
    }
}

fn owns_since(current: &CurrentAssignment, offset: &OffsetToCommit, epoch: i32) -> bool {
    let (topic, partition) = (offset.topic_id, offset.partition);
    let assigned = current.assigned.epoch(topic, partition);
    let since = assigned.or_else(|| current.pending_revocation.epoch(topic, partition));
    since.is_some_and(|since| since <= epoch)
}

fn wrong_epoch(
    group: &GroupId,
    id: &MemberId,
    member: &ConsumerMember,
    given: i32,
    current: i32,
) -> GroupError {
    let group = group.clone();
    match member.classic {
        Some(_) => GroupError::IllegalGeneration {
            group,
            given,
            current,
        },
        None => GroupError::StaleMemberEpoch {
            group,
            member: id.clone(),
            given,
            current,
        },
    }
}
