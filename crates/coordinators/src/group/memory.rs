//! How much memory groups take, about, and whether there is room for more (OPS-1).
//!
//! Why it exists: names and notes are as long as clients like, so that a number of groups or offsets bounds nothing.
//! In -> out: what is there, what would be added -> yes, or the limit.
//! What is new is admitted up to the limit. What there is may go on and grow up to twice the limit: a consumer that restarts, or joins a
//! group that is there, must not be locked out by groups that somebody else makes.

use super::decide::Deciding;
use super::live_group::LiveGroup;
use super::{CommittedOffset, GroupMetadata, InstanceId, MemberId, Protocol};
use fanlog_model::{GroupId, TopicPartition};

/// A group without members and offsets; the first offset brings a node of the tree with room for eleven.
const GROUP_BYTES: usize = 1_536;
const OFFSET_BYTES: usize = 192;
const MEMBER_BYTES: usize = 512;
const PROTOCOL_BYTES: usize = 96;

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
