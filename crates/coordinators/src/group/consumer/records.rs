//! What is logged of a consumer group of the new protocol, one kind of record for each of its facts.

use super::OwnedPartitions;
use crate::group::{InstanceId, MemberId, PartitionSets, Protocol};
use fanlog_model::TimestampMs;
use std::sync::Arc;

/// A fact about one group; `None` is a tombstone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConsumerRecord {
    /// The group's epoch.
    Epoch(Option<GroupEpoch>),
    /// A member.
    Member(MemberId, Option<Arc<ConsumerMember>>),
    /// For which group epoch the target assignment was made.
    TargetEpoch(Option<TargetEpoch>),
    /// What a member shall own.
    Target(MemberId, Option<Arc<PartitionSets>>),
    /// What a member owns.
    Current(MemberId, Option<Arc<CurrentAssignment>>),
    /// The topics that a regular expression stands for.
    Regex(Arc<str>, Option<Arc<ResolvedRegex>>),
}

/// A group's epoch: it rises whenever the assignment must be made anew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupEpoch {
    /// The epoch.
    pub epoch: i32,
    /// A hash of the topics that the group reads, for which the epoch was raised last.
    pub metadata_hash: i64,
}

/// The epoch of the target assignment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TargetEpoch {
    /// The group epoch that it was made for.
    pub epoch: i32,
    /// When it was made; -1 if an earlier version of Kafka did not say.
    pub made_at: TimestampMs,
}

/// A member, as it described itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConsumerMember {
    /// `group.instance.id`, for a static member.
    pub instance_id: Option<InstanceId>,
    /// `client.rack`.
    pub rack_id: Option<Arc<str>>,
    /// The client id of its last request.
    pub client_id: Arc<str>,
    /// Its address.
    pub client_host: Arc<str>,
    /// The topics that it names, in order and each once.
    pub topics: Arc<[Arc<str>]>,
    /// The regular expression for more topics; an empty one is none.
    pub regex: Option<Arc<str>>,
    /// How long it may take to give partitions up, in ms.
    pub rebalance_timeout_ms: i32,
    /// The assignor that it prefers.
    pub server_assignor: Option<Arc<str>>,
    /// What it brought where it speaks the classic protocol.
    pub classic: Option<ClassicMember>,
}

/// What a member of the classic protocol brought to a group that was converted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClassicMember {
    /// Its session time-out in ms.
    pub session_timeout_ms: i32,
    /// What it offered, in order of preference.
    pub protocols: Vec<Protocol>,
}

/// What a member owns, and how far it has come towards its target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CurrentAssignment {
    /// The member's epoch; -2 for a static member that is away.
    pub epoch: i32,
    /// The epoch before, accepted from a member that missed the answer with the new one.
    pub previous_epoch: i32,
    /// Where it stands.
    pub state: MemberState,
    /// What it may read.
    pub assigned: OwnedPartitions,
    /// What it was told to give up, and has not yet said it did: nobody else may read that.
    pub pending_revocation: OwnedPartitions,
}

impl CurrentAssignment {
    /// What the member may read, and what it has not said yet that it no longer does.
    pub fn held(&self) -> PartitionSets {
        let mut held = self.assigned.sets();
        for (topic, partition, _) in self.pending_revocation.iter() {
            held.entry(topic).or_default().insert(partition);
        }
        held
    }
}

/// Where a member stands on its way to its target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MemberState {
    /// It has what it shall have, as of its epoch.
    #[default]
    Stable,
    /// It must give partitions up.
    UnrevokedPartitions,
    /// It waits for partitions that others have not given up.
    UnreleasedPartitions,
    /// A state from a later version.
    Unknown,
}

/// The topics that a regular expression stands for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResolvedRegex {
    /// Their names, in order.
    pub topics: Arc<[Arc<str>]>,
    /// Kafka notes the version of its metadata here.
    pub version: i64,
    /// When it was resolved.
    pub resolved_at: TimestampMs,
}
