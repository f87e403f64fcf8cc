//! LeaveGroup: members go in an orderly way, or an operator removes static members by name.

use super::decide::Deciding;
use super::live_group::{LiveGroup, Phase};
use super::{Answer, GroupError, Leave, LeavingMember, LeftMember};

impl Deciding<'_> {
    pub(super) fn leave(&mut self, leave: Leave) {
        if leave.group.as_str().is_empty() {
            return self.reply(leave.call, Answer::Leave(Err(GroupError::InvalidGroupId)));
        }
        if self.is_consumer(&leave.group) {
            let left = self.classic_leave(&leave);
            return self.reply(leave.call, Answer::Leave(left));
        }
        let left = self
            .with_group(&leave.group, |deciding, group| {
                deciding.leave_group(group, &leave.members)
            })
            .unwrap_or_else(|| {
                let nobody = |m: &LeavingMember| left_member(m, Err(unknown(&leave, m)));
                leave.members.iter().map(nobody).collect()
            });
        self.reply(leave.call, Answer::Leave(Ok(left)));
    }

    fn leave_group(&mut self, group: &mut LiveGroup, members: &[LeavingMember]) -> Vec<LeftMember> {
        let members_before = group.members.len();
        let mut left = Vec::with_capacity(members.len());
        for member in members {
            let result = self.leave_member(group, member);
            left.push(left_member(member, result));
        }
        let some_left = group.members.len() < members_before;
        match group.phase {
            Phase::Stable | Phase::Completing if some_left => self.prepare_rebalance(group),
            Phase::Preparing { .. } => self.complete_join_if_all_joined(group),
            Phase::Stable | Phase::Completing | Phase::Empty => {}
        }
        left
    }

    fn leave_member(
        &mut self,
        group: &mut LiveGroup,
        member: &LeavingMember,
    ) -> Result<(), GroupError> {
        let instance = member.instance_id.as_ref();
        let member_id = if member.member_id.is_none() {
            let holder = instance.and_then(|instance| group.static_members.get(instance));
            holder.cloned().ok_or_else(|| GroupError::UnknownMember {
                group: group.id.clone(),
                member: member.member_id.clone(),
            })?
        } else {
            if !group.pending_join.contains(&member.member_id) {
                group.check_member(&member.member_id, instance)?;
            }
            member.member_id.clone()
        };
        self.drop_member(group, &member_id);
        Ok(())
    }
}

fn unknown(leave: &Leave, member: &LeavingMember) -> GroupError {
    GroupError::UnknownMember {
        group: leave.group.clone(),
        member: member.member_id.clone(),
    }
}

fn left_member(member: &LeavingMember, result: Result<(), GroupError>) -> LeftMember {
    LeftMember {
        member_id: member.member_id.clone(),
        instance_id: member.instance_id.clone(),
        result,
    }
}
