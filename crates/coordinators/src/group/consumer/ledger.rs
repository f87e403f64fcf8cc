//! What the log says of one consumer group of the new protocol.
//!
//! Why it exists: all that members were told is in the log, so that a restart changes nothing for them.
//! Owns: the facts and what follows from them alone (who owns a partition, which names are taken).   Never: deadlines, decisions.
//! In -> out: record -> changed group. Total: any record in any order.
//! Invariants: GRP-1.

use super::{
    ConsumerMember, ConsumerRecord, CurrentAssignment, GroupEpoch, ResolvedRegex, TargetEpoch,
};
use crate::group::memory;
use crate::group::{InstanceId, MemberId, PartitionSets};
use fanlog_model::{PartitionIndex, TopicId};
use std::collections::BTreeMap;
use std::sync::Arc;

type Map<K, V> = Arc<BTreeMap<K, V>>;

/// The facts. Cheap to clone, so that a decision can be made on a copy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConsumerState {
    /// The group's epoch.
    pub epoch: Option<GroupEpoch>,
    /// For which epoch the target was made.
    pub target_epoch: Option<TargetEpoch>,
    /// The members.
    pub members: Map<MemberId, Arc<ConsumerMember>>,
    /// What each member shall own.
    pub targets: Map<MemberId, Arc<PartitionSets>>,
    /// What each member owns.
    pub currents: Map<MemberId, Arc<CurrentAssignment>>,
    /// The regular expressions and their topics.
    pub regexes: Map<Arc<str>, Arc<ResolvedRegex>>,
    /// Who bears which static name.
    pub instances: Map<InstanceId, MemberId>,
    /// How many members speak the classic protocol.
    pub classic_members: usize,
    /// How many members name each list of topics. Those that name the same have one list, so that what is asked of all of a group's
    /// topics takes no longer for a thousand members than for one.
    pub lists: Map<Arc<[Arc<str>]>, usize>,
}

/// The facts, and who owns each partition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConsumerGroup {
    state: ConsumerState,
    owners: BTreeMap<TopicId, BTreeMap<PartitionIndex, MemberId>>,
    bytes: usize,
}

impl ConsumerState {
    /// Whether nothing is left.
    pub(super) fn is_nothing(&self) -> bool {
        self.epoch.is_none()
            && self.target_epoch.is_none()
            && self.members.is_empty()
            && self.targets.is_empty()
            && self.currents.is_empty()
            && self.regexes.is_empty()
    }

    /// Applies one record and says by how many bytes it grew.
    pub(super) fn apply(&mut self, record: &ConsumerRecord) -> isize {
        match record {
            ConsumerRecord::Epoch(epoch) => {
                self.epoch = *epoch;
                0
            }
            ConsumerRecord::TargetEpoch(epoch) => {
                self.target_epoch = *epoch;
                0
            }
            ConsumerRecord::Member(id, member) => self.put_member(id, member.as_ref()),
            ConsumerRecord::Target(id, target) => {
                let bytes = |target: &Arc<PartitionSets>| memory::of_target(id, target);
                put(&mut self.targets, id, target.as_ref(), bytes)
            }
            ConsumerRecord::Current(id, current) => {
                let bytes = |current: &Arc<CurrentAssignment>| memory::of_current(id, current);
                put(&mut self.currents, id, current.as_ref(), bytes)
            }
            ConsumerRecord::Regex(regex, resolved) => {
                let bytes = |resolved: &Arc<ResolvedRegex>| memory::of_regex(regex, resolved);
                put(&mut self.regexes, regex, resolved.as_ref(), bytes)
            }
        }
    }

    fn put_member(&mut self, id: &MemberId, member: Option<&Arc<ConsumerMember>>) -> isize {
        let member = member.map(|member| self.with_shared_list(member));
        if let Some(before) = self.members.get(id) {
            forget_list(&mut self.lists, &before.topics);
            self.classic_members -= usize::from(before.classic.is_some());
            if let Some(instance) = &before.instance_id
                && self.instances.get(instance) == Some(id)
            {
                Arc::make_mut(&mut self.instances).remove(instance);
            }
        }
        if let Some(member) = &member {
            self.classic_members += usize::from(member.classic.is_some());
            if let Some(instance) = &member.instance_id {
                Arc::make_mut(&mut self.instances).insert(instance.clone(), id.clone());
            }
        }
        let bytes = |member: &Arc<ConsumerMember>| memory::of_consumer_member(id, member);
        put(&mut self.members, id, member.as_ref(), bytes)
    }

    /// The member with the list that others name already, if they do.
    fn with_shared_list(&mut self, member: &Arc<ConsumerMember>) -> Arc<ConsumerMember> {
        let lists = Arc::make_mut(&mut self.lists);
        let known = lists.get_key_value(&member.topics);
        let list = known.map_or_else(|| member.topics.clone(), |(known, _)| known.clone());
        *lists.entry(list.clone()).or_default() += 1;
        match Arc::ptr_eq(&list, &member.topics) {
            true => member.clone(),
            false => Arc::new(ConsumerMember {
                topics: list,
                ..(**member).clone()
            }),
        }
    }

    fn counted_bytes(&self) -> usize {
        let members = self.members.iter();
        let targets = self.targets.iter();
        let currents = self.currents.iter();
        let regexes = self.regexes.iter();
        members
            .map(|(id, m)| memory::of_consumer_member(id, m))
            .sum::<usize>()
            + targets
                .map(|(id, t)| memory::of_target(id, t))
                .sum::<usize>()
            + currents
                .map(|(id, c)| memory::of_current(id, c))
                .sum::<usize>()
            + regexes
                .map(|(name, r)| memory::of_regex(name, r))
                .sum::<usize>()
    }
}

impl ConsumerGroup {
    /// The facts.
    pub fn state(&self) -> &ConsumerState {
        &self.state
    }

    /// Who owns a partition: who may read it, or has not said yet that it no longer does (GRP-1).
    pub fn owner(&self, topic: TopicId, partition: PartitionIndex) -> Option<&MemberId> {
        self.owners.get(&topic)?.get(&partition)
    }

    /// How much memory it takes, about.
    pub(in crate::group) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The same, counted anew.
    pub(in crate::group) fn counted_bytes(&self) -> usize {
        self.state.counted_bytes()
    }

    /// Whether nothing is left.
    pub(in crate::group) fn is_nothing(&self) -> bool {
        self.state.is_nothing()
    }

    /// Applies one record.
    pub(in crate::group) fn apply(&mut self, record: &ConsumerRecord) {
        if let ConsumerRecord::Current(id, current) = record {
            if let Some(before) = self.state.currents.get(id) {
                disown(&mut self.owners, id, before);
            }
            if let Some(current) = current {
                own(&mut self.owners, id, current);
            }
        }
        let grown = self.state.apply(record);
        self.bytes = self
            .bytes
            .checked_add_signed(grown)
            .expect("what is taken away was counted in");
    }
}

type Owners = BTreeMap<TopicId, BTreeMap<PartitionIndex, MemberId>>;

fn own(owners: &mut Owners, id: &MemberId, current: &CurrentAssignment) {
    let held = current.assigned.iter();
    for (topic, partition, _) in held.chain(current.pending_revocation.iter()) {
        let of_topic = owners.entry(topic).or_default();
        of_topic.insert(partition, id.clone());
    }
}

fn disown(owners: &mut Owners, id: &MemberId, current: &CurrentAssignment) {
    let held = current.assigned.iter();
    for (topic, partition, _) in held.chain(current.pending_revocation.iter()) {
        let Some(of_topic) = owners.get_mut(&topic) else {
            continue;
        };
        if of_topic.get(&partition) == Some(id) {
            of_topic.remove(&partition);
        }
        if of_topic.is_empty() {
            owners.remove(&topic);
        }
    }
}

fn forget_list(lists: &mut Map<Arc<[Arc<str>]>, usize>, list: &Arc<[Arc<str>]>) {
    let lists = Arc::make_mut(lists);
    if let Some(count) = lists.get_mut(list) {
        *count -= 1;
        if *count == 0 {
            lists.remove(list);
        }
    }
}

fn put<K: Ord + Clone, V: Clone>(
    map: &mut Map<K, V>,
    key: &K,
    value: Option<&V>,
    bytes: impl Fn(&V) -> usize,
) -> isize {
    if value.is_none() && !map.contains_key(key) {
        return 0;
    }
    let map = Arc::make_mut(map);
    let before = match value {
        Some(value) => map.insert(key.clone(), value.clone()),
        None => map.remove(key),
    };
    let size = |value: Option<&V>| value.map_or(0, &bytes).cast_signed();
    size(value) - size(before.as_ref())
}
