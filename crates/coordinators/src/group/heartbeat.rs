//! Heartbeat: a member says that it lives, and learns whether it must join again.

use super::decide::Deciding;
use super::live_group::{LiveGroup, Phase};
use super::{Answer, GroupError, Heartbeat};

impl Deciding<'_> {
    pub(super) fn heartbeat(&mut self, heartbeat: Heartbeat) {
        let unknown = GroupError::UnknownMember {
            group: heartbeat.group.clone(),
            member: heartbeat.member_id.clone(),
        };
        let result = match heartbeat.group.as_str().is_empty() {
            true => Err(GroupError::InvalidGroupId),
            false if self.is_consumer(&heartbeat.group) => self.classic_heartbeat(&heartbeat),
            false => self
                .with_group(&heartbeat.group, |deciding, group| {
                    deciding.heartbeat_group(group, &heartbeat)
                })
                .unwrap_or(Err(unknown)),
        };
        self.reply(heartbeat.call, Answer::Heartbeat(result));
    }

    fn heartbeat_group(
        &mut self,
        group: &mut LiveGroup,
        heartbeat: &Heartbeat,
    ) -> Result<(), GroupError> {
        group.check_member(&heartbeat.member_id, heartbeat.instance_id.as_ref())?;
        group.check_generation(heartbeat.generation)?;
        self.restart_session(group, &heartbeat.member_id);
        match group.phase {
            Phase::Preparing { .. } => Err(GroupError::RebalanceInProgress {
                group: group.id.clone(),
            }),
            // Members may heartbeat from the moment they have joined.
            Phase::Completing | Phase::Stable => Ok(()),
            Phase::Empty => unreachable!("an empty group has no member to pass the check"),
        }
    }
}
