//! SyncGroup: the leader brings the assignments, the others wait for theirs.
//!
//! Invariants: GRP-1 (a generation is assigned once: what the leader says is logged, and nobody is told before that is durable).

use super::deadlines::Purpose;
use super::decide::Deciding;
use super::live_group::{LiveGroup, Phase};
use super::rebalance::synced;
use super::{Answer, GROUP_RECORD_BYTES_MAX, GroupError, MemberId, Sync};
use bytes::Bytes;
use std::collections::BTreeMap;
use std::sync::Arc;

impl Deciding<'_> {
    pub(super) fn sync(&mut self, sync: Sync) {
        let call = sync.call;
        let unknown = GroupError::UnknownMember {
            group: sync.group.clone(),
            member: sync.member_id.clone(),
        };
        let result = match sync.group.as_str().is_empty() {
            true => Err(GroupError::InvalidGroupId),
            false if self.is_consumer(&sync.group) => {
                let synced = self.classic_sync(&sync);
                return self.reply(call, Answer::Sync(synced));
            }
            false => self
                .with_group(&sync.group.clone(), |deciding, group| {
                    deciding.sync_group(group, sync)
                })
                .unwrap_or(Err(unknown)),
        };
        if let Err(error) = result {
            self.reply(call, Answer::Sync(Err(error)));
        }
    }

    fn sync_group(&mut self, group: &mut LiveGroup, sync: Sync) -> Result<(), GroupError> {
        group.check_member(&sync.member_id, sync.instance_id.as_ref())?;
        group.check_generation(sync.generation)?;
        let differs = |given: &Option<Arc<str>>, ours: &Option<Arc<str>>| {
            given.is_some() && ours.is_some() && given != ours
        };
        if differs(&sync.protocol_type, &group.protocol_type)
            || differs(&sync.protocol, &group.protocol)
        {
            return Err(GroupError::InconsistentProtocol { group: sync.group });
        }
        match group.phase {
            Phase::Preparing { .. } => Err(GroupError::RebalanceInProgress { group: sync.group }),
            Phase::Completing => {
                self.sync_completing(group, sync);
                Ok(())
            }
            Phase::Stable => {
                self.has_synced(group, &sync.member_id);
                self.restart_session(group, &sync.member_id);
                let answer = synced(group, &sync.member_id);
                self.reply(sync.call, Answer::Sync(Ok(answer)));
                Ok(())
            }
            Phase::Empty => Err(GroupError::UnknownMember {
                group: sync.group,
                member: sync.member_id,
            }),
        }
    }

    /// Parks the caller; if it is the leader, everybody parked goes on.
    fn sync_completing(&mut self, group: &mut LiveGroup, sync: Sync) {
        self.has_synced(group, &sync.member_id);
        let member = group.members.get_mut(&sync.member_id);
        let superseded = member.and_then(|member| member.awaiting_sync.replace(sync.call));
        if let Some(call) = superseded {
            let error = GroupError::RebalanceInProgress {
                group: group.id.clone(),
            };
            self.reply(call, Answer::Sync(Err(error)));
        }
        if group.is_leader(&sync.member_id) {
            self.assign(group, sync.assignments);
        }
    }

    /// A member has asked for its assignment; after the last one there is nobody to wait for.
    fn has_synced(&mut self, group: &mut LiveGroup, member_id: &MemberId) {
        group.pending_sync.remove(member_id);
        if group.pending_sync.is_empty() {
            self.waiting
                .deadlines
                .cancel(Purpose::Sync(group.id.clone()));
        }
    }

    /// Takes the leader's word: members that it names get what it says, others get nothing, strangers are ignored.
    fn assign(&mut self, group: &mut LiveGroup, assignments: Vec<(MemberId, Bytes)>) {
        let mut assignments: BTreeMap<MemberId, Bytes> = assignments.into_iter().collect();
        for (member_id, member) in &mut group.members {
            member.assignment = assignments.remove(member_id).unwrap_or_default();
        }
        let given = record_bytes(group);
        if given <= GROUP_RECORD_BYTES_MAX {
            self.become_stable(group);
            return;
        }
        let error = GroupError::GroupTooLarge {
            group: group.id.clone(),
            given,
            max: GROUP_RECORD_BYTES_MAX,
        };
        self.refuse_syncs(group, &error);
        self.prepare_rebalance(group);
    }
}

/// How large the group's record will be, give or take a few bytes per member.
fn record_bytes(group: &LiveGroup) -> usize {
    let protocol = group.protocol.as_deref();
    let member = |(id, member): (&MemberId, &super::live_group::Member)| {
        let names = id.as_str().len() + member.client_id.len() + member.client_host.len();
        let instance = member.instance_id.as_ref().map_or(0, |i| i.as_str().len());
        names + instance + member.metadata(protocol).len() + member.assignment.len() + 32
    };
    group.members.iter().map(member).sum()
}
