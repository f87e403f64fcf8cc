//! One group as this process knows it: its members, what they offer, who is parked, and the phase of the rebalance.
//!
//! Why it exists: the rules of joining and voting, free of deadlines and replies.
//! Owns: the consistency of members, static names, pending ids and protocol counts.   Never: records, replies, time.
//! Read next: `rebalance.rs`.

use super::memory;
use super::subscription::{CONSUMER_PROTOCOL_TYPE, subscribed_topics};
use super::{
    GroupError, GroupMetadata, GroupState, InstanceId, LedgerGroup, MemberId, MemberMetadata,
    Protocol,
};
use crate::CallId;
use bytes::Bytes;
use fanlog_model::{GroupId, TimestampMs};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

/// Where a group stands. Dead groups are not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Empty,
    /// `initial` while an empty group waits for its first members.
    Preparing {
        initial: Option<InitialRebalance>,
    },
    Completing,
    Stable,
}

/// The wait of an empty group for more members: it is prolonged while members come in, up to the rebalance timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct InitialRebalance {
    pub(super) delay: Duration,
    pub(super) remaining: Duration,
    pub(super) member_added: bool,
}

/// A member.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) instance_id: Option<InstanceId>,
    pub(super) client_id: Arc<str>,
    pub(super) client_host: Arc<str>,
    pub(super) rebalance_timeout_ms: i32,
    pub(super) session_timeout_ms: i32,
    /// In order of preference; names are unique.
    pub(super) protocols: Vec<Protocol>,
    pub(super) assignment: Bytes,
    pub(super) awaiting_join: Option<CallId>,
    pub(super) awaiting_sync: Option<CallId>,
    /// The member has never been answered, so it may expire while it is parked.
    pub(super) is_new: bool,
}

/// A group.
#[derive(Clone, Debug)]
pub(super) struct LiveGroup {
    pub(super) id: GroupId,
    pub(super) phase: Phase,
    pub(super) state_since: Option<TimestampMs>,
    pub(super) protocol_type: Option<Arc<str>>,
    pub(super) protocol: Option<Arc<str>>,
    pub(super) generation: i32,
    pub(super) leader: Option<MemberId>,
    pub(super) members: BTreeMap<MemberId, Member>,
    pub(super) static_members: BTreeMap<InstanceId, MemberId>,
    /// Member ids given out and not seen again yet.
    pub(super) pending_join: BTreeSet<MemberId>,
    /// Members of this generation that have not asked for their assignment yet.
    pub(super) pending_sync: BTreeSet<MemberId>,
    /// How many members are parked in Join.
    pub(super) awaiting_join: usize,
    /// Topics that the generation reads; `None` if that can't be known.
    pub(super) subscribed_topics: Option<BTreeSet<Box<str>>>,
    /// How much memory it takes, about.
    pub(super) bytes: usize,
    protocol_counts: BTreeMap<Arc<str>, usize>,
}

impl Member {
    /// Its metadata for a protocol.
    pub(super) fn metadata(&self, protocol: Option<&str>) -> Bytes {
        let offered = |p: &&Protocol| Some(&*p.name) == protocol;
        self.protocols
            .iter()
            .find(offered)
            .map_or_else(Bytes::new, |p| p.metadata.clone())
    }

    fn vote<'m>(&'m self, candidates: &BTreeSet<&str>) -> Option<&'m Arc<str>> {
        let mut names = self.protocols.iter().map(|p| &p.name);
        names.find(|name| candidates.contains(&***name))
    }
}

/// Its assignment is the ledger's.
fn member_bytes(id: &MemberId, member: &Member) -> usize {
    memory::of_member_id(id, member.instance_id.as_ref())
        + member.client_id.len()
        + member.client_host.len()
        + memory::of_protocols(&member.protocols)
}

impl LiveGroup {
    /// A group that did not exist.
    pub(super) fn new(id: &GroupId, now: TimestampMs) -> Self {
        let mut group = Self::from_ledger(id, &LedgerGroup::default());
        group.state_since = Some(now);
        group
    }

    /// A group as the ledger remembers it: Empty, or Stable with the members of the last completed rebalance.
    pub(super) fn from_ledger(id: &GroupId, known: &LedgerGroup) -> Self {
        let metadata = known.metadata.clone().unwrap_or_default();
        let mut group = Self {
            id: id.clone(),
            phase: Phase::Empty,
            state_since: metadata.state_since,
            protocol_type: metadata.protocol_type,
            protocol: metadata.protocol,
            generation: metadata.generation,
            leader: None,
            members: BTreeMap::new(),
            static_members: BTreeMap::new(),
            pending_join: BTreeSet::new(),
            pending_sync: BTreeSet::new(),
            awaiting_join: 0,
            subscribed_topics: None,
            bytes: memory::of_group(id),
            protocol_counts: BTreeMap::new(),
        };
        for member in metadata.members {
            group.add_loaded(member);
        }
        if !group.members.is_empty() {
            group.phase = Phase::Stable;
            let known_leader = metadata.leader.filter(|id| group.members.contains_key(id));
            group.leader = known_leader.or_else(|| group.members.keys().next().cloned());
        }
        group.subscribed_topics = group.compute_subscribed_topics();
        group
    }

    fn add_loaded(&mut self, member: MemberMetadata) {
        // No log of ours repeats a name; one that does must not stop the rest from loading.
        let instance = member.instance_id.as_ref();
        let is_taken = instance.is_some_and(|i| self.static_members.contains_key(i));
        if is_taken || self.members.contains_key(&member.member_id) {
            return;
        }
        // Records before version 1 have no rebalance timeout.
        let rebalance_timeout_ms = match member.rebalance_timeout_ms {
            -1 => member.session_timeout_ms,
            given => given,
        };
        let protocol = Protocol {
            name: self.protocol.clone().unwrap_or_else(|| "".into()),
            metadata: member.subscription,
        };
        let loaded = Member {
            instance_id: member.instance_id,
            client_id: member.client_id,
            client_host: member.client_host,
            rebalance_timeout_ms,
            session_timeout_ms: member.session_timeout_ms,
            protocols: vec![protocol],
            assignment: member.assignment,
            awaiting_join: None,
            awaiting_sync: None,
            is_new: false,
        };
        self.add(member.member_id, loaded);
    }

    pub(super) fn state(&self) -> GroupState {
        match self.phase {
            Phase::Empty => GroupState::Empty,
            Phase::Preparing { .. } => GroupState::PreparingRebalance,
            Phase::Completing => GroupState::CompletingRebalance,
            Phase::Stable => GroupState::Stable,
        }
    }

    pub(super) fn enter(&mut self, phase: Phase, now: TimestampMs) {
        self.phase = phase;
        self.state_since = Some(now);
    }

    pub(super) fn is_leader(&self, member_id: &MemberId) -> bool {
        self.leader.as_ref() == Some(member_id)
    }

    pub(super) fn uses_consumer_protocol(&self) -> bool {
        self.protocol_type.as_deref() == Some(CONSUMER_PROTOCOL_TYPE)
    }

    /// Adds a member; the caller has checked its protocols.
    pub(super) fn add(&mut self, id: MemberId, member: Member) {
        if let Some(instance) = &member.instance_id {
            self.static_members.insert(instance.clone(), id.clone());
        }
        self.count_protocols(&member.protocols, 1);
        self.awaiting_join += usize::from(member.awaiting_join.is_some());
        self.leader.get_or_insert_with(|| id.clone());
        self.remove_pending(&id);
        self.bytes += member_bytes(&id, &member);
        let before = self.members.insert(id, member);
        assert!(before.is_none(), "a member id is fresh when it is added");
    }

    /// Takes a member or a pending id out; another member leads if it was the leader.
    pub(super) fn remove(&mut self, id: &MemberId) -> Option<Member> {
        self.remove_pending(id);
        self.pending_sync.remove(id);
        let member = self.members.remove(id)?;
        self.bytes -= member_bytes(id, &member);
        self.count_protocols(&member.protocols, -1);
        self.awaiting_join -= usize::from(member.awaiting_join.is_some());
        if let Some(instance) = &member.instance_id {
            self.static_members.remove(instance);
        }
        if self.is_leader(id) {
            self.leader = self.members.keys().next().cloned();
        }
        Some(member)
    }

    /// Remembers an id that was given out.
    pub(super) fn add_pending(&mut self, id: MemberId) {
        let bytes = memory::of_member_id(&id, None);
        if self.pending_join.insert(id) {
            self.bytes += bytes;
        }
    }

    fn remove_pending(&mut self, id: &MemberId) {
        if self.pending_join.remove(id) {
            self.bytes -= memory::of_member_id(id, None);
        }
    }

    /// Changes what else is known of a member than its protocols.
    pub(super) fn change_member(&mut self, id: &MemberId, change: impl FnOnce(&mut Member)) {
        if let Some(member) = self.members.get_mut(id) {
            self.bytes -= member_bytes(id, member);
            change(member);
            self.bytes += member_bytes(id, member);
        }
    }

    /// What it takes, counted anew.
    pub(super) fn counted_bytes(&self) -> usize {
        let pending = self.pending_join.iter();
        let members = self.members.iter();
        memory::of_group(&self.id)
            + pending
                .map(|id| memory::of_member_id(id, None))
                .sum::<usize>()
            + members
                .map(|(id, member)| member_bytes(id, member))
                .sum::<usize>()
    }

    /// Gives a member new protocols, and parks it if `call` is given. Returns a call of that member that was parked before.
    pub(super) fn update(
        &mut self,
        id: &MemberId,
        protocols: Vec<Protocol>,
        call: Option<CallId>,
    ) -> Option<CallId> {
        let member = self.members.get_mut(id)?;
        let before = std::mem::replace(&mut member.protocols, protocols.clone());
        let superseded = std::mem::replace(&mut member.awaiting_join, call);
        self.bytes += memory::of_protocols(&protocols);
        self.bytes -= memory::of_protocols(&before);
        self.awaiting_join += usize::from(call.is_some());
        self.awaiting_join -= usize::from(superseded.is_some());
        self.count_protocols(&before, -1);
        self.count_protocols(&protocols, 1);
        superseded
    }

    /// Takes the parked Join call of a member.
    pub(super) fn take_join_call(&mut self, id: &MemberId) -> Option<CallId> {
        let call = self.members.get_mut(id)?.awaiting_join.take()?;
        self.awaiting_join -= 1;
        Some(call)
    }

    fn count_protocols(&mut self, protocols: &[Protocol], change: isize) {
        for protocol in protocols {
            let count = self
                .protocol_counts
                .entry(protocol.name.clone())
                .or_default();
            *count = count
                .checked_add_signed(change)
                .expect("what is counted out was counted in");
            if *count == 0 {
                self.protocol_counts.remove(&protocol.name);
            }
        }
    }

    /// Whether a member with these protocols could be one of the group.
    pub(super) fn supports(&self, protocol_type: &str, protocols: &[Protocol]) -> bool {
        if self.members.is_empty() {
            return !protocol_type.is_empty() && !protocols.is_empty();
        }
        let offered_by_all =
            |p: &Protocol| self.protocol_counts.get(&p.name) == Some(&self.members.len());
        self.protocol_type.as_deref() == Some(protocol_type) && protocols.iter().any(offered_by_all)
    }

    /// The protocol that most members prefer among those that all offer; of equals, the first by name.
    pub(super) fn select_protocol(&self) -> Option<Arc<str>> {
        let by_all = |(_, count): &(&Arc<str>, &usize)| **count == self.members.len();
        let counts = self.protocol_counts.iter().filter(by_all);
        let candidates: BTreeSet<&str> = counts.map(|(name, _)| &**name).collect();
        let mut votes: BTreeMap<&Arc<str>, usize> = BTreeMap::new();
        for member in self.members.values() {
            *votes.entry(member.vote(&candidates)?).or_default() += 1;
        }
        let most = votes.values().max().copied()?;
        let mut winners = votes.iter().filter(|(_, count)| **count == most);
        winners.next().map(|(name, _)| Arc::clone(name))
    }

    /// Makes sure that the leader is one who joined. False if nobody did.
    pub(super) fn elect_joined_leader(&mut self) -> bool {
        let joined = |id: &MemberId| {
            let member = self.members.get(id);
            member.is_some_and(|member| member.awaiting_join.is_some())
        };
        if self.leader.as_ref().is_some_and(joined) {
            return true;
        }
        let elected = self.members.keys().find(|id| joined(id)).cloned();
        let is_elected = elected.is_some();
        if is_elected {
            self.leader = elected;
        }
        is_elected
    }

    pub(super) fn has_all_joined(&self) -> bool {
        self.awaiting_join == self.members.len() && self.pending_join.is_empty()
    }

    /// The longest rebalance timeout of the members.
    pub(super) fn rebalance_timeout(&self) -> Duration {
        let timeouts = self.members.values().map(|m| m.rebalance_timeout_ms);
        super::decide::ms(timeouts.max().unwrap_or(0))
    }

    /// Checks that a request comes from a member, and not from one whose static name was taken over (GRP-2).
    pub(super) fn check_member(
        &self,
        member_id: &MemberId,
        instance_id: Option<&InstanceId>,
    ) -> Result<(), GroupError> {
        let unknown = || GroupError::UnknownMember {
            group: self.id.clone(),
            member: member_id.clone(),
        };
        if let Some(instance) = instance_id {
            let holder = self.static_members.get(instance).ok_or_else(unknown)?;
            if holder != member_id {
                return Err(GroupError::FencedInstance {
                    group: self.id.clone(),
                    instance: instance.clone(),
                    member: member_id.clone(),
                });
            }
        }
        match self.members.contains_key(member_id) {
            true => Ok(()),
            false => Err(unknown()),
        }
    }

    /// Checks that a request speaks of the current generation (GRP-2).
    pub(super) fn check_generation(&self, given: i32) -> Result<(), GroupError> {
        if given == self.generation {
            return Ok(());
        }
        Err(GroupError::IllegalGeneration {
            group: self.id.clone(),
            given,
            current: self.generation,
        })
    }

    pub(super) fn compute_subscribed_topics(&self) -> Option<BTreeSet<Box<str>>> {
        if !self.uses_consumer_protocol() {
            return None;
        }
        let mut topics = BTreeSet::new();
        for member in self.members.values() {
            let metadata = member.metadata(self.protocol.as_deref());
            topics.extend(subscribed_topics(&metadata)?);
        }
        Some(topics)
    }

    /// Whether the group reads a topic. A consumer group whose subscription can't be read may read anything.
    pub(super) fn is_subscribed_to(&self, topic: &str) -> bool {
        match &self.subscribed_topics {
            Some(topics) => topics.contains(topic),
            None => self.uses_consumer_protocol(),
        }
    }

    /// The group as it is logged.
    pub(super) fn to_metadata(&self) -> GroupMetadata {
        let protocol = self.protocol.as_deref();
        let member = |(id, member): (&MemberId, &Member)| MemberMetadata {
            member_id: id.clone(),
            instance_id: member.instance_id.clone(),
            client_id: member.client_id.clone(),
            client_host: member.client_host.clone(),
            rebalance_timeout_ms: member.rebalance_timeout_ms,
            session_timeout_ms: member.session_timeout_ms,
            subscription: member.metadata(protocol),
            assignment: member.assignment.clone(),
        };
        GroupMetadata {
            protocol_type: self.protocol_type.clone(),
            generation: self.generation,
            protocol: self.protocol.clone(),
            leader: self.leader.clone(),
            state_since: self.state_since,
            members: self.members.iter().map(member).collect(),
        }
    }
}
