//! How members go: they leave, or they are not heard of any more.
//!
//! Invariants: GRP-1 (what a member owned is free once it is out), GRP-2 (who is out can't speak).

use super::draft::Draft;
use super::heartbeat::{drop_unused_regexes, unknown_member};
use super::requests::{ConsumerHeartbeat, MemberHeartbeat, STATIC_LEAVE_EPOCH};
use super::{ConsumerRecord, MemberState, OwnedPartitions, TargetEpoch};
use crate::group::decide::Deciding;
use crate::group::{GroupError, MemberId};
use fanlog_model::{GroupId, TimestampMs};

impl Deciding<'_> {
    /// A member says goodbye, for good or (if it is static) for a while.
    pub(super) fn consumer_leave(
        &mut self,
        heartbeat: &ConsumerHeartbeat,
    ) -> Result<MemberHeartbeat, GroupError> {
        let mut draft = self.existing_draft(&heartbeat.group)?;
        let id = &heartbeat.member_id;
        if let Some(instance) = &heartbeat.instance_id {
            let holder = draft.state().instances.get(instance);
            let holder = holder.ok_or_else(|| unknown_member(&draft.id, id))?;
            if holder != id {
                return Err(GroupError::FencedInstance {
                    group: draft.id.clone(),
                    instance: instance.clone(),
                    member: id.clone(),
                });
            }
        }
        if !draft.state().members.contains_key(id) {
            return Err(unknown_member(&draft.id, id));
        }
        let left = MemberHeartbeat {
            member_id: id.clone(),
            epoch: heartbeat.member_epoch,
            heartbeat_interval_ms: 0,
            assignment: None,
        };
        if heartbeat.member_epoch != STATIC_LEAVE_EPOCH {
            self.fence(draft, std::slice::from_ref(id));
            return Ok(left);
        }
        // It keeps its place until its session is over; what it was to give up it no longer reads.
        let mut current = draft.current(id);
        current.epoch = STATIC_LEAVE_EPOCH;
        current.pending_revocation = OwnedPartitions::default();
        if current.state == MemberState::UnrevokedPartitions {
            current.state = MemberState::Stable;
        }
        draft.put_current(id, current);
        self.watch_revocation(&draft, id);
        self.keep(draft);
        Ok(left)
    }

    /// Takes members out, and raises the epoch so that others get what they had.
    pub(super) fn fence(&mut self, mut draft: Draft<'_>, members: &[MemberId]) {
        if members.is_empty() {
            return;
        }
        if self.must_downgrade(&draft, members) {
            return self.downgrade(&draft, members);
        }
        for id in members {
            draft.remove_member(id);
        }
        drop_unused_regexes(&mut draft);
        let hash = draft.state().metadata_hash(self.topics);
        draft.raise_epoch(hash);
        if draft.state().members.is_empty() {
            // The target of nobody is made, and whoever comes next shall not wait because of it.
            let epoch = draft.epoch();
            draft.record(ConsumerRecord::TargetEpoch(Some(TargetEpoch {
                epoch,
                made_at: TimestampMs(0),
            })));
        }
        self.keep(draft);
    }

    /// The deadline of a session, of a revocation, or of a classic member's next step.
    pub(in crate::group) fn consumer_member_over(&mut self, group: &GroupId, member: &MemberId) {
        let Ok(draft) = self.existing_draft(group) else {
            return;
        };
        if draft.state().members.contains_key(member) {
            self.fence(draft, std::slice::from_ref(member));
        }
    }
}
