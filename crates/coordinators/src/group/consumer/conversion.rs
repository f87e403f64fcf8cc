//! From the classic protocol to the new one and back, while the group reads on.
//!
//! Why it exists: a fleet is upgraded one process at a time, and may have to go back. The first member of the new protocol converts its
//! group; when the last one goes, what is left is a classic group again, and rebalances as such.
//! In -> out: a classic group -> the facts of a consumer group, and the other way. Both are one decision, logged as one batch.
//! Invariants: GRP-1 (what members own goes over with them).

use super::classic_members::fenced;
use super::draft::{Draft, NO_HASH, tombstones};
use super::subscription_bytes::{Subscription, assignment_bytes, read_assignment};
use super::{
    ClassicMember, ConsumerMember, ConsumerRecord, ConsumerState, CurrentAssignment, GroupEpoch,
    MemberState, OwnedPartitions, TargetEpoch,
};
use crate::group::deadlines::Purpose;
use crate::group::decide::{Deciding, ms};
use crate::group::live_group::{LiveGroup, Member, Phase};
use crate::group::subscription::CONSUMER_PROTOCOL_TYPE;
use crate::group::{Answer, GroupError, GroupMetadata, GroupRecord, Join, LedgerGroup, MemberId};
use bytes::Bytes;
use fanlog_model::{GroupId, TimestampMs};
use std::collections::BTreeSet;
use std::sync::Arc;

impl<'a> Deciding<'a> {
    /// A classic group becomes one of the new protocol, because a member of that joins. It is taken out and must either be put back
    /// or given to [`finish_upgrade`](Self::finish_upgrade).
    pub(super) fn upgrade(
        &mut self,
        id: &GroupId,
    ) -> Result<(Draft<'a>, Option<LiveGroup>), GroupError> {
        let not_found = || GroupError::GroupNotFound { group: id.clone() };
        let group = self.take_group(id).ok_or_else(not_found)?;
        if group.phase == Phase::Empty {
            let had_members = self
                .ledger
                .group(id)
                .is_some_and(|known| known.metadata.is_some());
            let tombstone = GroupRecord::GroupDeleted { group: id.clone() };
            let records = had_members.then_some(tombstone);
            return Ok((Draft::new(id, records.into_iter().collect()), Some(group)));
        }
        let is_possible = self.settings.consumer.migration_policy.may_upgrade()
            && group.uses_consumer_protocol()
            && group.members.len() <= self.settings.consumer.members_max();
        let facts = match is_possible {
            true => self.facts_of(&group),
            false => None,
        };
        let Some(facts) = facts else {
            self.put_group(group);
            return Err(not_found());
        };
        let tombstone = GroupRecord::GroupDeleted { group: id.clone() };
        let mut draft = Draft::converted(id, vec![tombstone], &facts);
        draft.is_new = false;
        Ok((draft, Some(group)))
    }

    /// The classic group is no more: its deadlines are over, and who is parked must join again; but not who lost its place to
    /// the member that joined.
    pub(super) fn finish_upgrade(&mut self, group: &LiveGroup, draft: &Draft<'_>) {
        let id = &group.id;
        self.forget_classic(group);
        for (member_id, member) in &group.members {
            let lost_name = member.instance_id.as_ref();
            let lost_name = lost_name.filter(|_| !draft.state().members.contains_key(member_id));
            let refused = || match lost_name {
                Some(instance) => fenced(id, instance, member_id),
                None => GroupError::RebalanceInProgress { group: id.clone() },
            };
            if let Some(call) = member.awaiting_join {
                self.reply(call, Answer::Join(Err(refused())));
            }
            if let Some(call) = member.awaiting_sync {
                self.reply(call, Answer::Sync(Err(refused())));
            }
            let session = Purpose::Session(id.clone(), member_id.clone());
            self.set_deadline(session, ms(member.session_timeout_ms));
        }
    }

    /// The deadlines of a classic group are over.
    fn forget_classic(&mut self, group: &LiveGroup) {
        let id = &group.id;
        self.waiting.deadlines.cancel(Purpose::Join(id.clone()));
        self.waiting.deadlines.cancel(Purpose::Sync(id.clone()));
        for member in group.members.keys().chain(&group.pending_join) {
            let session = Purpose::Session(id.clone(), member.clone());
            self.waiting.deadlines.cancel(session);
        }
    }

    /// What the log will say of a classic group's members; `None` where something would be lost.
    fn facts_of(&self, group: &LiveGroup) -> Option<Vec<ConsumerRecord>> {
        let epoch = group.generation.max(1);
        let protocol = group.protocol.clone().or_else(|| group.select_protocol());
        let mut taken = BTreeSet::new();
        let (mut members, mut targets, mut currents) = (Vec::new(), Vec::new(), Vec::new());
        for (id, member) in &group.members {
            let subscription = Subscription::read(&member.metadata(protocol.as_deref()));
            let assignment = self.assignment_of(group, id, member);
            let owned = read_assignment(assignment, self.topics, epoch).ok()?;
            let owned = owned.iter().filter(|(topic, partition, _)| {
                // A leader may have assigned one partition twice; the log must not say so.
                taken.insert((*topic, *partition))
            });
            let owned: OwnedPartitions = owned.collect();
            targets.push(ConsumerRecord::Target(
                id.clone(),
                Some(Arc::new(owned.sets())),
            ));
            currents.push(ConsumerRecord::Current(
                id.clone(),
                Some(Arc::new(CurrentAssignment {
                    epoch,
                    previous_epoch: epoch,
                    state: MemberState::Stable,
                    assigned: owned,
                    pending_revocation: OwnedPartitions::default(),
                })),
            ));
            let member = consumer_member(member, &subscription);
            members.push(ConsumerRecord::Member(id.clone(), Some(Arc::new(member))));
        }
        let mut facts = members;
        facts.push(ConsumerRecord::Epoch(Some(GroupEpoch {
            epoch,
            metadata_hash: NO_HASH,
        })));
        facts.append(&mut targets);
        facts.push(ConsumerRecord::TargetEpoch(Some(TargetEpoch {
            epoch,
            made_at: TimestampMs(0),
        })));
        facts.append(&mut currents);
        Some(facts)
    }

    /// What a classic member may read. A rebalance that had to begin anew has forgotten that; the log has it of the generation
    /// that was completed last.
    fn assignment_of<'m>(
        &'m self,
        group: &LiveGroup,
        id: &MemberId,
        member: &'m Member,
    ) -> &'m [u8] {
        let logged = || {
            let metadata = self.ledger.group(&group.id)?.metadata.as_ref()?;
            metadata.members.iter().find(|m| m.member_id == *id)
        };
        match member.assignment.is_empty() {
            true => logged().map_or(&[], |member| &member.assignment),
            false => &member.assignment,
        }
    }

    /// Whether only classic members are left once these are gone.
    pub(super) fn must_downgrade(&self, draft: &Draft<'_>, gone: &[MemberId]) -> bool {
        let state = draft.state();
        let members = state.members.iter();
        let mut left = members.filter(|(id, _)| !gone.contains(id)).peekable();
        let is_left = left.peek().is_some();
        is_left
            && self.settings.consumer.migration_policy.may_downgrade()
            && left.all(|(_, member)| member.classic.is_some())
            && have_common_protocol(state, gone)
            && state.members.len() - gone.len() <= self.settings.members_max()
    }

    /// A group that has only classic members is a classic group again, and they join its next generation.
    pub(super) fn downgrade(&mut self, draft: &Draft<'_>, gone: &[MemberId]) {
        let id = draft.id.clone();
        for member in draft.state().members.keys() {
            self.forget_deadlines(&id, member);
        }
        let mut group = self.classic_group(draft, gone);
        if let Some(known) = self
            .ledger
            .group(&id)
            .and_then(|known| known.consumer.as_ref())
        {
            for record in tombstones(&id, known) {
                self.record(record);
            }
        }
        // Without a leader, because the rebalance that follows must follow after a crash as well: until then nobody has what those
        // had who are gone.
        let metadata = GroupMetadata {
            leader: None,
            ..group.to_metadata()
        };
        self.record(GroupRecord::Group {
            group: id,
            metadata,
        });
        self.restart_sessions(&group);
        self.prepare_rebalance(&mut group);
        self.put_group(group);
    }

    fn classic_group(&self, draft: &Draft<'_>, gone: &[MemberId]) -> LiveGroup {
        let metadata = GroupMetadata {
            protocol_type: Some(CONSUMER_PROTOCOL_TYPE.into()),
            generation: draft.epoch(),
            ..GroupMetadata::default()
        };
        let empty = LedgerGroup {
            metadata: Some(metadata),
            ..LedgerGroup::default()
        };
        let mut group = LiveGroup::from_ledger(&draft.id, &empty);
        for (id, member) in draft.state().members.iter() {
            if gone.contains(id) {
                continue;
            }
            let Some(classic) = &member.classic else {
                continue;
            };
            // No log of ours gives a name twice.
            let instance = member.instance_id.as_ref();
            if instance.is_some_and(|instance| group.static_members.contains_key(instance)) {
                continue;
            }
            // With what it was told to give up and may still read: should the group be converted again before its next
            // generation, nobody else may have that.
            let held = draft.current(id).held();
            let assignment = assignment_bytes(&held, self.topics, classic.protocols.first());
            group.add(id.clone(), classic_member(member, classic, assignment));
        }
        group.protocol = group.select_protocol();
        group.subscribed_topics = group.compute_subscribed_topics();
        group.enter(Phase::Stable, self.now.wall);
        group
    }

    /// A classic member took the place of the last one of the new protocol: it joins what the group has become.
    pub(super) fn join_after_downgrade(&mut self, join: Join) -> Result<(), GroupError> {
        let id = join.group.clone();
        let Some(mut group) = self.waiting.groups.remove(&id) else {
            return Err(GroupError::GroupNotFound { group: id });
        };
        self.waiting.bytes -= group.bytes;
        let result = self.join_group(&mut group, join);
        self.put_group(group);
        result
    }
}

/// Whether all who stay offer one protocol; no log of ours says otherwise.
fn have_common_protocol(state: &ConsumerState, gone: &[MemberId]) -> bool {
    let stay = state.members.iter().filter(|(id, _)| !gone.contains(id));
    let mut offered = stay
        .filter_map(|(_, member)| member.classic.as_ref())
        .map(|classic| {
            let names = classic
                .protocols
                .iter()
                .map(|protocol| protocol.name.clone());
            names.collect::<BTreeSet<_>>()
        });
    let first = offered.next().unwrap_or_default();
    let common = offered.fold(first, |common, names| &common & &names);
    !common.is_empty()
}

fn consumer_member(member: &Member, subscription: &Subscription) -> ConsumerMember {
    ConsumerMember {
        instance_id: member.instance_id.clone(),
        rack_id: subscription.rack_id.clone(),
        client_id: member.client_id.clone(),
        client_host: member.client_host.clone(),
        topics: super::requests::in_order(&subscription.topics),
        regex: None,
        rebalance_timeout_ms: member.rebalance_timeout_ms,
        server_assignor: None,
        classic: Some(ClassicMember {
            session_timeout_ms: member.session_timeout_ms,
            protocols: member.protocols.clone(),
        }),
    }
}

fn classic_member(member: &ConsumerMember, classic: &ClassicMember, assignment: Bytes) -> Member {
    Member {
        instance_id: member.instance_id.clone(),
        client_id: member.client_id.clone(),
        client_host: member.client_host.clone(),
        rebalance_timeout_ms: member.rebalance_timeout_ms,
        session_timeout_ms: classic.session_timeout_ms,
        protocols: classic.protocols.clone(),
        assignment,
        awaiting_join: None,
        awaiting_sync: None,
        is_new: false,
    }
}
