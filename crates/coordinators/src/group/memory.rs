//! How much memory groups take, about, and whether there is room for more (OPS-1).
//!
//! Why it exists: names and notes are as long as clients like, so that a number of groups or offsets bounds nothing.
//! In -> out: what is there, what would be added -> yes, or the limit.
//! What is new is admitted up to the limit. What there is may go on and grow up to twice the limit: a consumer that restarts, or joins a
//! group that is there, must not be locked out by groups that somebody else makes.

use super::consumer::{ConsumerMember, CurrentAssignment, ResolvedRegex};
use super::decide::Deciding;
use super::live_group::LiveGroup;
use super::partition_sets;
use super::share::{ShareMember, SharePartitions};
use super::{CommittedOffset, GroupMetadata, InstanceId, MemberId, PartitionSets, Protocol};
use fanlog_model::{GroupId, TopicPartition};
use std::sync::Arc;

/// A group without members and offsets; the first offset brings a node of the tree with room for eleven.
const GROUP_BYTES: usize = 1_536;
const OFFSET_BYTES: usize = 192;
const MEMBER_BYTES: usize = 512;
const PROTOCOL_BYTES: usize = 96;
/// A topic and a partition in a member's assignment, with their share of the index of owners.
const ASSIGNED_TOPIC_BYTES: usize = 512;
const ASSIGNED_PARTITION_BYTES: usize = 64;
const NAME_BYTES: usize = 48;

pub(super) fn of_group(id: &GroupId) -> usize {
    GROUP_BYTES + id.as_str().len()
}

pub(super) fn of_offset(partition: &TopicPartition, metadata: &str) -> usize {
    OFFSET_BYTES + partition.topic.as_str().len() + metadata.len()
}

pub(super) fn of_committed(partition: &TopicPartition, committed: &CommittedOffset) -> usize {
    of_offset(partition, &committed.metadata)
}

/// What the ledger has of a group's last rebalance.
pub(super) fn of_metadata(metadata: &GroupMetadata) -> usize {
    let members = metadata.members.iter().map(|member| {
        let names = member.client_id.len() + member.client_host.len();
        of_member_id(&member.member_id, member.instance_id.as_ref())
            + names
            + member.subscription.len()
            + member.assignment.len()
    });
    members.sum()
}

pub(super) fn of_member_id(id: &MemberId, instance: Option<&InstanceId>) -> usize {
    MEMBER_BYTES + id.as_str().len() + instance.map_or(0, |instance| instance.as_str().len())
}

pub(super) fn of_protocols(protocols: &[Protocol]) -> usize {
    let bytes = |p: &Protocol| PROTOCOL_BYTES + p.name.len() + p.metadata.len();
    protocols.iter().map(bytes).sum()
}

pub(super) fn of_consumer_member(id: &MemberId, member: &ConsumerMember) -> usize {
    let optional = |name: &Option<Arc<str>>| name.as_ref().map_or(0, |name| name.len());
    let classic = member.classic.as_ref();
    of_member_id(id, member.instance_id.as_ref())
        + member.client_id.len()
        + member.client_host.len()
        + optional(&member.rack_id)
        + optional(&member.regex)
        + optional(&member.server_assignor)
        + of_names(&member.topics)
        + classic.map_or(0, |classic| of_protocols(&classic.protocols))
}

pub(super) fn of_target(id: &MemberId, target: &PartitionSets) -> usize {
    let partitions = partition_sets::count(target);
    of_member_id(id, None)
        + target.len() * ASSIGNED_TOPIC_BYTES
        + partitions * ASSIGNED_PARTITION_BYTES
}

pub(super) fn of_current(id: &MemberId, current: &CurrentAssignment) -> usize {
    let (assigned, revoked) = (&current.assigned, &current.pending_revocation);
    of_member_id(id, None)
        + (assigned.0.len() + revoked.0.len()) * ASSIGNED_TOPIC_BYTES
        + (assigned.count() + revoked.count()) * ASSIGNED_PARTITION_BYTES
}

pub(super) fn of_regex(regex: &str, resolved: &ResolvedRegex) -> usize {
    MEMBER_BYTES + regex.len() + of_names(&resolved.topics)
}

pub(super) fn of_share_member(id: &MemberId, member: &ShareMember) -> usize {
    of_member_id(id, None)
        + member.client_id.len()
        + member.client_host.len()
        + member.rack_id.as_ref().map_or(0, |rack| rack.len())
        + of_names(&member.topics)
}

pub(super) fn of_share_partitions(partitions: &SharePartitions) -> usize {
    let topics = partitions.initializing.iter();
    let topics = topics.chain(&partitions.initialized).map(|topic| {
        ASSIGNED_TOPIC_BYTES + topic.name.len() + topic.partitions.len() * ASSIGNED_PARTITION_BYTES
    });
    let deleting = partitions.deleting.iter();
    let deleting = deleting.map(|topic| NAME_BYTES + topic.name.len());
    topics.chain(deleting).sum()
}

pub(super) fn of_names(names: &[Arc<str>]) -> usize {
    names.iter().map(|name| NAME_BYTES + name.len()).sum()
}

/// What asks for memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Growth {
    /// A group or an offset that is not there yet.
    New,
    /// More of what is there.
    Known,
}

impl Deciding<'_> {
    /// Whether so many bytes more may be held, beside a group that was taken out.
    ///
    /// # Errors
    /// The limit that is met.
    pub(super) fn check_memory(
        &mut self,
        growth: Growth,
        bytes: usize,
        taken_out: Option<&LiveGroup>,
    ) -> Result<(), usize> {
        let limit = self.settings.memory_bytes_max;
        let max = match growth {
            Growth::New => limit,
            Growth::Known => limit.saturating_mul(2),
        };
        let live = self.waiting.bytes + taken_out.map_or(0, |group| group.bytes);
        let held = self.settings.memory_bytes_elsewhere + self.ledger.bytes() + live + self.added;
        if bytes == 0 || held.saturating_add(bytes) <= max {
            return Ok(());
        }
        self.decision.refused_for_memory += 1;
        Err(limit)
    }
}
