//! Which topics the members of a group read, by name and by regular expression.

use super::{ConsumerMember, ConsumerState};
use crate::group::{GROUP_RECORD_BYTES_MAX, GroupError, TopicsSnapshot, memory};
use fanlog_model::{GroupId, TopicId};
use std::collections::BTreeSet;
use std::sync::Arc;

impl ConsumerState {
    /// The names of the topics that a member reads; a name may come twice.
    pub(super) fn topics_of<'s>(
        &'s self,
        member: &'s ConsumerMember,
    ) -> impl Iterator<Item = &'s Arc<str>> {
        let regex = member.regex.as_ref().filter(|regex| !regex.is_empty());
        let resolved = regex.and_then(|regex| self.regexes.get(regex));
        let more = resolved
            .into_iter()
            .flat_map(|resolved| resolved.topics.iter());
        member.topics.iter().chain(more)
    }

    /// The names of all topics that members read.
    pub(in crate::group) fn topics(&self) -> BTreeSet<&str> {
        self.names().map(|name| &**name).collect()
    }

    /// The same, each as often as it is read by another list or expression.
    fn names(&self) -> impl Iterator<Item = &Arc<str>> {
        let named = self.lists.keys().flat_map(|list| list.iter());
        let resolved = self.regexes.values();
        named.chain(resolved.flat_map(|resolved| resolved.topics.iter()))
    }

    /// How many bytes the names take that members read, where lists that are the same count once. Whatever looks at a group's topics
    /// takes as long as that.
    pub(super) fn names_bytes(&self) -> usize {
        let lists = self.lists.keys().map(|list| &**list);
        let resolved = self.regexes.values().map(|resolved| &*resolved.topics);
        lists.chain(resolved).map(memory::of_names).sum()
    }

    /// Whether an expression may stand for other topics than before.
    pub(super) fn has_room_for(&self, before: &[Arc<str>], now: &[Arc<str>]) -> bool {
        let (before, now) = (memory::of_names(before), memory::of_names(now));
        now <= before || self.names_bytes() - before + now <= GROUP_RECORD_BYTES_MAX
    }

    /// Checks that against what one group may have (OPS-1).
    pub(super) fn check_names(&self, group: &GroupId) -> Result<(), GroupError> {
        let given = self.names_bytes();
        match given <= GROUP_RECORD_BYTES_MAX {
            true => Ok(()),
            false => Err(GroupError::GroupTooLarge {
                group: group.clone(),
                given,
                max: GROUP_RECORD_BYTES_MAX,
            }),
        }
    }

    /// A number that changes when the topics that the group reads do: when one comes, goes, or has more partitions.
    pub(super) fn metadata_hash(&self, topics: &dyn TopicsSnapshot) -> i64 {
        let mut hash = Fnv::default();
        for name in self.topics() {
            if let Some((id, partitions)) = topics.by_name(name) {
                hash.add(name.as_bytes());
                hash.add(&[0]);
                hash.add(id.0.as_bytes());
                hash.add(&partitions.to_be_bytes());
            }
        }
        hash.0.cast_signed()
    }

    /// The ids of the topics that a member reads and that exist.
    pub(super) fn topic_ids(
        &self,
        member: &ConsumerMember,
        topics: &dyn TopicsSnapshot,
    ) -> BTreeSet<TopicId> {
        let names = self.topics_of(member);
        names
            .filter_map(|name| topics.by_name(name).map(|(id, _)| id))
            .collect()
    }
}

/// FNV-1a of 64 bits: it must stay the same over versions, because it is logged.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
