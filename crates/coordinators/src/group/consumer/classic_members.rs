//! Members of the classic protocol in a group of the new one: a rolling upgrade's other half.
//!
//! Why it exists: a group changes protocol one process at a time, and must go on reading meanwhile. Such a member joins, syncs and
//! sends heartbeats as it always did; it is answered at once, from its own assignment, and told to join again when that changes.
//! Owns: the translation.   Never: the phases of a classic rebalance; there are none here.
//! Invariants: GRP-1, GRP-2.   Read next: `conversion.rs`.

use super::draft::Draft;
use super::heartbeat::{drop_unused_regexes, unknown_member};
use super::requests::in_order;
use super::subscription_bytes::{Subscription, assignment_bytes};
use super::{ClassicMember, ConsumerMember, CurrentAssignment, MemberState};
use crate::group::deadlines::Purpose;
use crate::group::decide::{Deciding, ms};
use crate::group::memory::{self, Growth};
use crate::group::subscription::CONSUMER_PROTOCOL_TYPE;
use crate::group::{
    Answer, GROUP_RECORD_BYTES_MAX, GroupError, Heartbeat, InstanceId, Join, Joined, Leave,
    LeavingMember, LeftMember, MemberId, Protocol, Sync, Synced,
};
use fanlog_model::GroupId;
use std::collections::BTreeMap;
use std::sync::Arc;

impl<'a> Deciding<'a> {
    /// JoinGroup to a consumer group.
    pub(in crate::group) fn classic_join(&mut self, join: Join) -> Result<(), GroupError> {
        let mut draft = self.existing_draft(&join.group)?;
        let id = match join.member_id.is_none() {
            true => MemberId(format!("{}-{}", join.client_id, join.fresh_id.hyphenated()).into()),
            false => join.member_id.clone(),
        };
        self.check_classic_join(&draft, &join, &id)?;
        // Only a process that has no id yet may take a place: one that lost its own must not have it back.
        let holder = match (&join.instance_id, join.member_id.is_none()) {
            (Some(instance), true) => draft.state().instances.get(instance).cloned(),
            (Some(instance), false) => {
                check_bearer(&draft, instance, &id)?;
                None
            }
            (None, _) => None,
        };
        if let Some(holder) = &holder
            && join.member_id.is_none()
            && self.must_downgrade(&draft, std::slice::from_ref(holder))
        {
            self.downgrade(&draft, std::slice::from_ref(holder));
            return self.join_after_downgrade(join);
        }
        let is_dynamic_newcomer = join.member_id.is_none() && join.instance_id.is_none();
        if is_dynamic_newcomer && join.requires_member_id {
            return Err(GroupError::MemberIdRequired { member: id });
        }
        if let Some(holder) = holder {
            draft.take_place(&holder, &id);
        }
        let before = draft.state().members.get(&id).cloned();
        let subscription = self.update_classic(&mut draft, &join, &id, before.as_deref());
        draft.state().check_names(&draft.id)?;
        self.update_target(&mut draft);
        let owned = subscription.owned_ids(self.topics);
        let current = self.reconcile(&mut draft, &id, Some(&owned));
        self.check_memory(Growth::Known, draft.grown(), None)
            .map_err(|max| GroupError::MemoryFull {
                group: join.group.clone(),
                max,
            })?;
        self.keep(draft);
        let session = Purpose::Session(join.group.clone(), id.clone());
        self.set_deadline(session, ms(join.session_timeout_ms));
        // It may have been a member of the new protocol.
        let revocation = Purpose::Revocation(join.group.clone(), id.clone());
        self.waiting.deadlines.cancel(revocation);
        // It must ask for its assignment in time.
        let sync = Purpose::Rejoin(join.group.clone(), id.clone());
        self.set_deadline(sync, ms(join.rebalance_timeout_ms));
        let joined = Joined {
            member_id: id,
            generation: current.epoch,
            protocol_type: Some(CONSUMER_PROTOCOL_TYPE.into()),
            protocol: join.protocols.first().map(|protocol| protocol.name.clone()),
            leader: MemberId::from(""),
            skip_assignment: false,
            members: Vec::new(),
        };
        self.reply(join.call, Answer::Join(Ok(joined)));
        Ok(())
    }

    fn check_classic_join(
        &self,
        draft: &Draft<'_>,
        join: &Join,
        id: &MemberId,
    ) -> Result<(), GroupError> {
        let state = draft.state();
        let max = self.settings.consumer.members_max();
        if state.members.len() >= max && !state.members.contains_key(id) {
            return Err(GroupError::GroupFull {
                group: draft.id.clone(),
                max,
            });
        }
        let is_consumer = &*join.protocol_type == CONSUMER_PROTOCOL_TYPE;
        let others = state.members.iter().filter(|(other, _)| *other != id);
        let others = others.filter_map(|(_, member)| member.classic.as_ref());
        let held = others
            .clone()
            .map(|other| memory::of_protocols(&other.protocols));
        let given = held.sum::<usize>() + memory::of_protocols(&join.protocols);
        if given > GROUP_RECORD_BYTES_MAX {
            return Err(GroupError::GroupTooLarge {
                group: draft.id.clone(),
                given,
                max: GROUP_RECORD_BYTES_MAX,
            });
        }
        if !is_consumer || !has_common_protocol(&join.protocols, others) {
            return Err(GroupError::InconsistentProtocol {
                group: draft.id.clone(),
            });
        }
        Ok(())
    }

    fn update_classic(
        &mut self,
        draft: &mut Draft<'_>,
        join: &Join,
        id: &MemberId,
        before: Option<&ConsumerMember>,
    ) -> Subscription {
        let metadata = join.protocols.first().map(|protocol| &*protocol.metadata);
        let subscription = Subscription::read(metadata.unwrap_or_default());
        let old = before.cloned().unwrap_or_default();
        let member = ConsumerMember {
            instance_id: join.instance_id.clone().or(old.instance_id),
            rack_id: subscription.rack_id.clone().or(old.rack_id),
            client_id: join.client_id.clone(),
            client_host: join.client_host.clone(),
            topics: in_order(&subscription.topics),
            regex: None,
            rebalance_timeout_ms: join.rebalance_timeout_ms,
            server_assignor: None,
            classic: Some(ClassicMember {
                session_timeout_ms: join.session_timeout_ms,
                protocols: join.protocols.clone(),
            }),
        };
        let has_changed = old.topics != member.topics || old.regex.is_some_and(|r| !r.is_empty());
        draft.put_member(id, member);
        drop_unused_regexes(draft);
        if has_changed || draft.is_unassigned() {
            let hash = draft.state().metadata_hash(self.topics);
            draft.raise_epoch(hash);
        }
        subscription
    }

    /// SyncGroup to a consumer group.
    pub(in crate::group) fn classic_sync(&mut self, sync: &Sync) -> Result<Synced, GroupError> {
        let draft = self.existing_draft(&sync.group)?;
        let (member, current) =
            self.classic_member(&draft, &sync.member_id, sync.instance_id.as_ref())?;
        check_generation(&draft, sync.generation, &current)?;
        let protocol = member
            .classic
            .as_ref()
            .and_then(|classic| classic.protocols.first());
        let differs = |given: &Option<Arc<str>>, ours: &str| {
            given.as_ref().is_some_and(|given| &**given != ours)
        };
        let ours = protocol.map_or("", |protocol| &protocol.name);
        if differs(&sync.protocol_type, CONSUMER_PROTOCOL_TYPE) || differs(&sync.protocol, ours) {
            return Err(GroupError::InconsistentProtocol {
                group: draft.id.clone(),
            });
        }
        if draft.epoch() > current.epoch && current.state != MemberState::UnrevokedPartitions {
            self.await_rejoin(&draft, &sync.member_id, &member);
            return Err(GroupError::RebalanceInProgress {
                group: draft.id.clone(),
            });
        }
        let name = (sync.group.clone(), sync.member_id.clone());
        self.waiting
            .deadlines
            .cancel(Purpose::Rejoin(name.0, name.1));
        self.restart_classic_session(&draft.id, &sync.member_id, &member);
        Ok(Synced {
            protocol_type: Some(CONSUMER_PROTOCOL_TYPE.into()),
            protocol: protocol.map(|protocol| protocol.name.clone()),
            assignment: assignment_bytes(&current.assigned.sets(), self.topics, protocol),
        })
    }

    /// Heartbeat to a consumer group.
    pub(in crate::group) fn classic_heartbeat(
        &mut self,
        heartbeat: &Heartbeat,
    ) -> Result<(), GroupError> {
        let draft = self.existing_draft(&heartbeat.group)?;
        let id = &heartbeat.member_id;
        let (member, current) = self.classic_member(&draft, id, heartbeat.instance_id.as_ref())?;
        check_generation(&draft, heartbeat.generation, &current)?;
        self.restart_classic_session(&draft.id, id, &member);
        let must_rejoin = current.epoch < draft.epoch()
            || current.state == MemberState::UnrevokedPartitions
            || (current.state == MemberState::UnreleasedPartitions && !waits(&draft, id, &current));
        if !must_rejoin {
            return Ok(());
        }
        self.await_rejoin(&draft, id, &member);
        Err(GroupError::RebalanceInProgress {
            group: draft.id.clone(),
        })
    }

    /// LeaveGroup to a consumer group.
    pub(in crate::group) fn classic_leave(
        &mut self,
        leave: &Leave,
    ) -> Result<Vec<LeftMember>, GroupError> {
        let draft = self.existing_draft(&leave.group)?;
        let mut gone = Vec::new();
        let left = leave.members.iter().map(|member| {
            let result = leaving(&draft, member);
            let result = result.map(|id| {
                if !gone.contains(&id) {
                    gone.push(id);
                }
            });
            LeftMember {
                member_id: member.member_id.clone(),
                instance_id: member.instance_id.clone(),
                result,
            }
        });
        let left = left.collect();
        self.fence(draft, &gone);
        Ok(left)
    }

    /// The member that a request of the classic protocol speaks for.
    fn classic_member(
        &self,
        draft: &Draft<'_>,
        id: &MemberId,
        instance: Option<&InstanceId>,
    ) -> Result<(Arc<ConsumerMember>, CurrentAssignment), GroupError> {
        let unknown = || unknown_member(&draft.id, id);
        if let Some(instance) = instance {
            check_bearer(draft, instance, id)?;
        }
        let member = draft.state().members.get(id).ok_or_else(unknown)?;
        match member.classic {
            Some(_) => Ok((member.clone(), draft.current(id))),
            None => Err(unknown()),
        }
    }

    fn restart_classic_session(&mut self, group: &GroupId, id: &MemberId, member: &ConsumerMember) {
        let timeout = member.classic.as_ref().map_or(0, |c| c.session_timeout_ms);
        self.set_deadline(Purpose::Session(group.clone(), id.clone()), ms(timeout));
    }

    /// A member that was told to join again must do so in time.
    fn await_rejoin(&mut self, draft: &Draft<'_>, id: &MemberId, member: &ConsumerMember) {
        let purpose = Purpose::Rejoin(draft.id.clone(), id.clone());
        if !self.waiting.deadlines.has(&purpose) {
            self.set_deadline(purpose, ms(member.rebalance_timeout_ms));
        }
    }
}

/// Checks that a static name is this member's, and not one's that came after it (GRP-2).
fn check_bearer(draft: &Draft<'_>, instance: &InstanceId, id: &MemberId) -> Result<(), GroupError> {
    match draft.state().instances.get(instance) {
        Some(bearer) if bearer == id => Ok(()),
        Some(_) => Err(fenced(&draft.id, instance, id)),
        None => Err(unknown_member(&draft.id, id)),
    }
}

/// Whether a part of the member's target is still somebody else's.
fn waits(draft: &Draft<'_>, id: &MemberId, current: &CurrentAssignment) -> bool {
    draft.state().target(id).iter().any(|(topic, partitions)| {
        partitions.iter().any(|partition| {
            let owns = current.assigned.epoch(*topic, *partition).is_some();
            !owns && !draft.is_free_for(id, *topic, *partition)
        })
    })
}

fn has_common_protocol<'m>(
    offered: &[Protocol],
    others: impl Iterator<Item = &'m ClassicMember>,
) -> bool {
    let mut counts = BTreeMap::<&str, usize>::new();
    let mut members = 0;
    for other in others {
        members += 1;
        for protocol in &other.protocols {
            *counts.entry(&protocol.name).or_default() += 1;
        }
    }
    let by_all = |p: &Protocol| counts.get(&*p.name).copied().unwrap_or(0) == members;
    offered.iter().any(by_all)
}

fn check_generation(
    draft: &Draft<'_>,
    given: i32,
    current: &CurrentAssignment,
) -> Result<(), GroupError> {
    if given == current.epoch {
        return Ok(());
    }
    Err(GroupError::IllegalGeneration {
        group: draft.id.clone(),
        given,
        current: current.epoch,
    })
}

fn leaving(draft: &Draft<'_>, member: &LeavingMember) -> Result<MemberId, GroupError> {
    let unknown = || unknown_member(&draft.id, &member.member_id);
    let state = draft.state();
    let id = match &member.instance_id {
        Some(instance) => {
            let holder = state.instances.get(instance).ok_or_else(unknown)?;
            if !member.member_id.is_none() && *holder != member.member_id {
                return Err(fenced(&draft.id, instance, &member.member_id));
            }
            holder
        }
        None => &member.member_id,
    };
    match state.members.contains_key(id) {
        true => Ok(id.clone()),
        false => Err(unknown()),
    }
}

pub(super) fn fenced(group: &GroupId, instance: &InstanceId, member: &MemberId) -> GroupError {
    GroupError::FencedInstance {
        group: group.clone(),
        instance: instance.clone(),
        member: member.clone(),
    }
}
