//! Who may commit and read offsets of a consumer group.
//!
//! Invariants: GRP-2. A member may speak of an epoch before its present one as long as it has owned the partition since then.

use super::heartbeat::unknown_member;
use super::{ConsumerGroup, CurrentAssignment};
use crate::group::decide::Deciding;
use crate::group::{CommitOffsets, GroupError, MemberId, OffsetToCommit};
use fanlog_model::GroupId;

impl Deciding<'_> {
    pub(in crate::group) fn check_consumer_commit(
        &self,
        group: &ConsumerGroup,
        commit: &CommitOffsets,
    ) -> Result<(), GroupError> {
        let state = group.state();
        if commit.generation < 0 && state.members.is_empty() {
            return Ok(());
        }
        let id = &commit.member_id;
        let unknown = || unknown_member(&commit.group, id);
        let member = state.members.get(id).ok_or_else(unknown)?;
        let current = state.currents.get(id).ok_or_else(unknown)?;
        if member.classic.is_some() {
            return match commit.generation == current.epoch {
                true => Ok(()),
                false => Err(GroupError::IllegalGeneration {
                    group: commit.group.clone(),
                    given: commit.generation,
                    current: current.epoch,
                }),
            };
        }
        if !commit.names_missing_group {
            return Err(GroupError::OldCommit {
                group: commit.group.clone(),
            });
        }
        let owns_since = |offset: &OffsetToCommit| owns_since(current, offset, commit.generation);
        let given = commit.generation;
        let is_accepted = given == current.epoch
            || (0..current.epoch).contains(&given) && commit.offsets.iter().all(owns_since);
        match is_accepted {
            true => Ok(()),
            false => Err(stale(&commit.group, id, given, current.epoch)),
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
        match known.classic {
            Some(_) => Err(GroupError::IllegalGeneration {
                group: id.clone(),
                given: epoch,
                current,
            }),
            None => Err(stale(id, member, epoch, current)),
        }
    }
}

fn owns_since(current: &CurrentAssignment, offset: &OffsetToCommit, epoch: i32) -> bool {
    let (topic, partition) = (offset.topic_id, offset.partition);
    let assigned = current.assigned.epoch(topic, partition);
    let since = assigned.or_else(|| current.pending_revocation.epoch(topic, partition));
    since.is_some_and(|since| since <= epoch)
}

fn stale(group: &GroupId, member: &MemberId, given: i32, current: i32) -> GroupError {
    GroupError::StaleMemberEpoch {
        group: group.clone(),
        member: member.clone(),
        given,
        current,
    }
}
