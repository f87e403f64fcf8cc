//! JoinGroup: who gets in, under which member id, and whether that takes a rebalance.
//!
//! Why it exists: clients come new, come back, come twice, and come as static members under a new process.
//! Owns: admission.   Never: the phases themselves.
//! In -> out: [`Join`] -> a parked call, or an answer at once.
//! Invariants: GRP-2, OPS-1.   Read next: `rebalance.rs`.

use super::consumer::tombstones;
use super::deadlines::Purpose;
use super::decide::{Deciding, ms};
use super::live_group::{LiveGroup, Member, Phase};
use super::memory::{self, Growth};
use super::rebalance::joined;
use super::{
    Answer, GROUP_RECORD_BYTES_MAX, GroupError, GroupKind, GroupSettings, InstanceId, Join,
    MEMBERS_PER_GROUP_MAX, MemberId, NEW_MEMBER_JOIN_TIMEOUT, PENDING_MEMBERS_PER_GROUP_MAX,
    PROTOCOLS_BYTES_MAX, PROTOCOLS_PER_MEMBER_MAX, Protocol,
};
use std::collections::BTreeSet;

/// The member whose place a static member takes.
fn replaced<'a>(group: &'a LiveGroup, join: &Join) -> Option<&'a MemberId> {
    group.static_members.get(join.instance_id.as_ref()?)
}

/// All members' protocols together are held to the limit of a group's record, also before one is written.
fn check_group_bytes(group: &LiveGroup, join: &Join) -> Result<(), GroupError> {
    let bytes = |protocols: &[Protocol]| -> usize {
        let sizes = protocols.iter().map(|p| p.name.len() + p.metadata.len());
        sizes.sum()
    };
    let replaced = replaced(group, join);
    let others = group.members.iter();
    let others = others.filter(|(id, _)| **id != join.member_id && Some(*id) != replaced);
    let given = bytes(&join.protocols) + others.map(|(_, m)| bytes(&m.protocols)).sum::<usize>();
    if given <= GROUP_RECORD_BYTES_MAX {
        return Ok(());
    }
    Err(GroupError::GroupTooLarge {
        group: group.id.clone(),
        given,
        max: GROUP_RECORD_BYTES_MAX,
    })
}

impl GroupSettings {
    /// The most members of a group.
    pub(super) fn members_max(&self) -> usize {
        self.group_size_max.min(MEMBERS_PER_GROUP_MAX)
    }
}

impl Deciding<'_> {
    pub(super) fn join(&mut self, mut join: Join) {
        let call = join.call;
        drop_repeated_names(&mut join.protocols);
        let result = match self.check_join(&join) {
            Ok(()) => self.join_checked(join),
            Err(error) => Err(error),
        };
        if let Err(error) = result {
            self.reply(call, Answer::Join(Err(error)));
        }
    }

    fn check_join(&self, join: &Join) -> Result<(), GroupError> {
        if join.group.as_str().is_empty() {
            return Err(GroupError::InvalidGroupId);
        }
        let instance = join.instance_id.as_ref().map_or("", InstanceId::as_str);
        GroupError::check_names(&[
            ("group id", join.group.as_str()),
            ("client id", &join.client_id),
            ("client host", &join.client_host),
            ("group.instance.id", instance),
            ("protocol type", &join.protocol_type),
        ])?;
        let names = join.protocols.iter().map(|p| ("protocol name", &*p.name));
        GroupError::check_names(&names.collect::<Vec<_>>())?;
        let (min, max) = (
            self.settings.session_timeout_ms_min,
            self.settings.session_timeout_ms_max,
        );
        let given = join.session_timeout_ms;
        if given < min || given > max {
            return Err(GroupError::InvalidSessionTimeout { given, min, max });
        }
        let size = |p: &Protocol| p.name.len() + p.metadata.len();
        let bytes = join.protocols.iter().map(size).sum();
        if bytes > PROTOCOLS_BYTES_MAX || join.protocols.len() > PROTOCOLS_PER_MEMBER_MAX {
            return Err(GroupError::ProtocolsTooLarge {
                group: join.group.clone(),
                given: bytes,
                max: PROTOCOLS_BYTES_MAX,
            });
        }
        Ok(())
    }

    fn join_checked(&mut self, join: Join) -> Result<(), GroupError> {
        match self.kind(&join.group) {
            Some(GroupKind::Share | GroupKind::Queue) => {
                return Err(GroupError::InconsistentProtocol { group: join.group });
            }
            Some(GroupKind::Consumer) => return self.join_consumer_group(join),
            None | Some(GroupKind::Classic) => {}
        }
        self.join_classic_group(join)
    }

    /// A consumer group without members is taken over; one with members takes the classic member in.
    fn join_consumer_group(&mut self, join: Join) -> Result<(), GroupError> {
        let known = self.ledger.group(&join.group);
        let Some(group) = known.and_then(|known| known.consumer.as_ref()) else {
            return self.join_classic_group(join);
        };
        if !group.state().members.is_empty() {
            return self.classic_join(join);
        }
        let id = join.group.clone();
        let result = self.join_classic_group(join);
        if self.waiting.groups.contains_key(&id) {
            for record in tombstones(&id, group) {
                self.record(record);
            }
        }
        result
    }

    fn join_classic_group(&mut self, join: Join) -> Result<(), GroupError> {
        let existing = self.take_group(&join.group);
        let mut group = match existing {
            Some(group) => group,
            None if join.member_id.is_none() => {
                let group = LiveGroup::new(&join.group, self.now.wall);
                self.check_join_memory(Growth::New, &group, &join)?;
                group
            }
            None => return Err(unknown_member(&join)),
        };
        let result = self.join_group(&mut group, join);
        self.put_group(group);
        result
    }

    pub(super) fn join_group(
        &mut self,
        group: &mut LiveGroup,
        join: Join,
    ) -> Result<(), GroupError> {
        let members_max = self.settings.members_max();
        if !has_room(group, &join.member_id, members_max) {
            self.drop_member(group, &join.member_id);
            return Err(group_full(group, members_max));
        }
        if !group.supports(&join.protocol_type, &join.protocols) {
            return Err(GroupError::InconsistentProtocol {
                group: join.group.clone(),
            });
        }
        check_group_bytes(group, &join)?;
        self.check_join_memory(Growth::Known, group, &join)?;
        if !join.member_id.is_none() {
            return self.join_known_member(group, join);
        }
        match join.instance_id.clone() {
            Some(instance) => self.join_static_member(group, join, &instance),
            None => self.join_dynamic_member(group, join),
        }
    }

    fn check_join_memory(
        &mut self,
        growth: Growth,
        group: &LiveGroup,
        join: &Join,
    ) -> Result<(), GroupError> {
        let given = memory::of_protocols(&join.protocols);
        let known = replaced(group, join).unwrap_or(&join.member_id);
        let more = match group.members.get(known) {
            Some(member) => given.saturating_sub(memory::of_protocols(&member.protocols)),
            None => {
                let fresh = fresh_member_id(&join.client_id, join);
                let member = memory::of_member_id(&fresh, join.instance_id.as_ref());
                given + member + join.client_id.len() + join.client_host.len()
            }
        };
        self.check_memory(growth, more, Some(group))
            .map_err(|max| GroupError::MemoryFull {
                group: group.id.clone(),
                max,
            })
    }

    /// A static member without a member id: new, or a new process in the place of an old one.
    fn join_static_member(
        &mut self,
        group: &mut LiveGroup,
        join: Join,
        instance: &InstanceId,
    ) -> Result<(), GroupError> {
        let member_id = fresh_member_id(instance.as_str(), &join);
        match group.static_members.get(instance).cloned() {
            Some(old_id) => self.replace_static_member(group, join, &old_id, member_id),
            None => self.add_member(group, join, member_id),
        }
        Ok(())
    }

    fn join_dynamic_member(&mut self, group: &mut LiveGroup, join: Join) -> Result<(), GroupError> {
        let member_id = fresh_member_id(&join.client_id, &join);
        if !join.requires_member_id {
            self.add_member(group, join, member_id);
            return Ok(());
        }
        if group.pending_join.len() >= PENDING_MEMBERS_PER_GROUP_MAX {
            return Err(group_full(group, PENDING_MEMBERS_PER_GROUP_MAX));
        }
        group.add_pending(member_id.clone());
        let purpose = Purpose::Session(group.id.clone(), member_id.clone());
        self.set_deadline(purpose, ms(join.session_timeout_ms));
        Err(GroupError::MemberIdRequired { member: member_id })
    }

    fn join_known_member(&mut self, group: &mut LiveGroup, join: Join) -> Result<(), GroupError> {
        let member_id = join.member_id.clone();
        if group.pending_join.contains(&member_id) && join.instance_id.is_none() {
            self.add_member(group, join, member_id);
            return Ok(());
        }
        group.check_member(&member_id, join.instance_id.as_ref())?;
        if must_rebalance(group, &join)? {
            self.update_member(group, join, &member_id);
            self.rebalance(group);
        } else {
            // Its earlier answer was lost, or it asks for no reason: the present generation stands.
            let current = joined(group, &member_id);
            self.reply(join.call, Answer::Join(Ok(current)));
        }
        Ok(())
    }

    fn add_member(&mut self, group: &mut LiveGroup, join: Join, member_id: MemberId) {
        if group.members.is_empty() {
            group.protocol_type = Some(join.protocol_type.clone());
        }
        if let Phase::Preparing {
            initial: Some(initial),
        } = &mut group.phase
        {
            initial.member_added = true;
        }
        let member = Member {
            instance_id: join.instance_id,
            client_id: join.client_id,
            client_host: join.client_host,
            rebalance_timeout_ms: join.rebalance_timeout_ms,
            session_timeout_ms: join.session_timeout_ms,
            protocols: join.protocols,
            assignment: bytes::Bytes::new(),
            awaiting_join: Some(join.call),
            awaiting_sync: None,
            is_new: true,
        };
        group.add(member_id.clone(), member);
        // A new member can't send heartbeats, because it doesn't know its id yet; but a defunct one must not stay for ever.
        let purpose = Purpose::Session(group.id.clone(), member_id);
        self.set_deadline(purpose, NEW_MEMBER_JOIN_TIMEOUT);
        self.rebalance(group);
    }

    /// Takes over what a member now brings, and parks its call.
    fn update_member(&mut self, group: &mut LiveGroup, join: Join, member_id: &MemberId) {
        group.change_member(member_id, |member| {
            member.rebalance_timeout_ms = join.rebalance_timeout_ms;
            member.session_timeout_ms = join.session_timeout_ms;
            member.client_id = join.client_id;
            member.client_host = join.client_host;
        });
        let superseded = group.update(member_id, join.protocols, Some(join.call));
        if let Some(call) = superseded {
            let error = GroupError::RebalanceInProgress {
                group: group.id.clone(),
            };
            self.reply(call, Answer::Join(Err(error)));
        }
    }

    /// A new process takes a static member's place: the old one is fenced, and if the group is Stable and its protocol stays,
    /// the assignment stays too.
    fn replace_static_member(
        &mut self,
        group: &mut LiveGroup,
        join: Join,
        old_id: &MemberId,
        new_id: MemberId,
    ) {
        let was_leader = group.is_leader(old_id);
        let old_leader = group.leader.clone();
        self.rename_member(group, old_id, new_id.clone());
        let call = join.call;
        let supports_skip_assignment = join.supports_skip_assignment;
        self.update_member(group, join, &new_id);
        self.restart_session(group, &new_id);
        match group.phase {
            Phase::Stable if group.select_protocol() == group.protocol => {
                group.take_join_call(&new_id);
                self.record_group(group);
                let mut answer = joined(group, &new_id);
                if supports_skip_assignment {
                    answer.skip_assignment = was_leader;
                } else {
                    // A client that can't be told to skip must not think that it leads, or it would assign anew.
                    answer.members = Vec::new();
                    answer.leader = old_leader.expect("a group with members has a leader");
                }
                self.reply(call, Answer::Join(Ok(answer)));
            }
            Phase::Stable | Phase::Completing => self.prepare_rebalance(group),
            Phase::Preparing { .. } | Phase::Empty => self.complete_join_if_all_joined(group),
        }
    }

    /// Gives a static member its new id; whoever is parked under the old one is fenced (GRP-2).
    fn rename_member(&mut self, group: &mut LiveGroup, old_id: &MemberId, new_id: MemberId) {
        let old_session = Purpose::Session(group.id.clone(), old_id.clone());
        self.waiting.deadlines.cancel(old_session);
        let was_leader = group.is_leader(old_id);
        let was_pending_sync = group.pending_sync.contains(old_id);
        let Some(mut member) = group.remove(old_id) else {
            return;
        };
        let calls = (member.awaiting_join.take(), member.awaiting_sync.take());
        if let Some(instance) = member.instance_id.clone() {
            let fenced = GroupError::FencedInstance {
                group: group.id.clone(),
                instance,
                member: old_id.clone(),
            };
            if let Some(call) = calls.0 {
                self.reply(call, Answer::Join(Err(fenced.clone())));
            }
            if let Some(call) = calls.1 {
                self.reply(call, Answer::Sync(Err(fenced)));
            }
        }
        member.is_new = false;
        group.add(new_id.clone(), member);
        if was_pending_sync {
            group.pending_sync.insert(new_id.clone());
        }
        if was_leader {
            group.leader = Some(new_id);
        }
    }
}

/// Whether a known member's Join takes a rebalance (or belongs to the one under way).
fn must_rebalance(group: &LiveGroup, join: &Join) -> Result<bool, GroupError> {
    let member = group.members.get(&join.member_id);
    let is_unchanged = member.is_some_and(|member| member.protocols == join.protocols);
    match group.phase {
        Phase::Preparing { .. } => Ok(true),
        Phase::Completing => Ok(!is_unchanged),
        // The leader joins again when what it would assign has changed, such as a topic's partitions.
        Phase::Stable => Ok(group.is_leader(&join.member_id) || !is_unchanged),
        Phase::Empty => Err(unknown_member(join)),
    }
}

/// Whether a group has room: during a rebalance those who rejoined count, so that the last ones fall out of a group too large.
fn has_room(group: &LiveGroup, member_id: &MemberId, max: usize) -> bool {
    let member = group.members.get(member_id);
    match group.phase {
        Phase::Empty => true,
        Phase::Preparing { .. } => {
            member.is_some_and(|m| m.awaiting_join.is_some()) || group.awaiting_join < max
        }
        Phase::Completing | Phase::Stable => member.is_some() || group.members.len() < max,
    }
}

fn group_full(group: &LiveGroup, max: usize) -> GroupError {
    GroupError::GroupFull {
        group: group.id.clone(),
        max,
    }
}

fn unknown_member(join: &Join) -> GroupError {
    GroupError::UnknownMember {
        group: join.group.clone(),
        member: join.member_id.clone(),
    }
}

fn fresh_member_id(prefix: &str, join: &Join) -> MemberId {
    MemberId(format!("{prefix}-{}", join.fresh_id.hyphenated()).into())
}

/// A name offered twice counts once, or the member would have two votes.
fn drop_repeated_names(protocols: &mut Vec<Protocol>) {
    let mut seen = BTreeSet::new();
    protocols.retain(|protocol| seen.insert(protocol.name.clone()));
}
