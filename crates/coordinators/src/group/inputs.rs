//! What a group machine is asked: one struct per request, free of the wire.

use super::consumer::{ConsumerHeartbeat, RegexResolved};
use super::share::{ShareHeartbeat, ShareStatesChanged};
use super::{InstanceId, MemberId, OffsetsProducer};
use crate::CallId;
use bytes::Bytes;
use fanlog_model::{
    GroupId, LeaderEpoch, Offset, PartitionIndex, TopicId, TopicName, TopicPartition,
};
use std::collections::BTreeSet;
use std::sync::Arc;
use uuid::Uuid;

/// One input of [`decide`](super::decide).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// JoinGroup.
    Join(Join),
    /// SyncGroup.
    Sync(Sync),
    /// Heartbeat.
    Heartbeat(Heartbeat),
    /// LeaveGroup.
    Leave(Leave),
    /// OffsetCommit.
    CommitOffsets(CommitOffsets),
    /// OffsetFetch for one group. It goes through the machine so that its reply waits behind the records before it (GRP-3).
    FetchOffsets(FetchOffsets),
    /// TxnOffsetCommit.
    CommitInTransaction(CommitInTransaction),
    /// A transaction that has committed offsets here has ended.
    EndOffsets(EndOffsets),
    /// OffsetDelete.
    DeleteOffsets(DeleteOffsets),
    /// DeleteGroups, for one group.
    DeleteGroup {
        /// Who asks.
        call: CallId,
        /// The group to delete.
        group: GroupId,
    },
    /// DescribeGroups, for one group.
    Describe {
        /// Who asks.
        call: CallId,
        /// The group to describe.
        group: GroupId,
    },
    /// ConsumerGroupHeartbeat.
    ConsumerHeartbeat(ConsumerHeartbeat),
    /// ConsumerGroupDescribe, for one group.
    DescribeConsumer {
        /// Who asks.
        call: CallId,
        /// The group to describe.
        group: GroupId,
    },
    /// ListGroups.
    List(List),
    /// ShareGroupHeartbeat.
    ShareHeartbeat(ShareHeartbeat),
    /// ShareGroupDescribe, for one group.
    DescribeShare {
        /// Who asks.
        call: CallId,
        /// The group to describe.
        group: GroupId,
    },
    /// Partitions of a share group have a state now, or none any more.
    ShareStatesChanged(ShareStatesChanged),
    /// Topics came or have more partitions: consumer groups of the new protocol that read them need another assignment.
    TopicsChanged,
    /// An expression of a group may stand for other topics than before.
    RegexResolved(RegexResolved),
    /// A topic is gone: its offsets must not be read as those of a later topic of the same name.
    TopicDeleted(TopicName),
    /// Topics are gone, perhaps with others of the same names in their place: share groups have no states of them.
    ShareTopicsDeleted(BTreeSet<TopicId>),
    /// Some partitions are gone.
    PartitionsDeleted(Vec<TopicPartition>),
    /// A deadline may have passed; fires at most one of them, so ask [`next_deadline`](super::next_deadline) again afterwards.
    Tick,
}

/// One embedded protocol that a member offers: a name and opaque metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Protocol {
    /// The name, for example of an assignor.
    pub name: Arc<str>,
    /// What the leader will read.
    pub metadata: Bytes,
}

/// JoinGroup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Join {
    /// Who asks.
    pub call: CallId,
    /// The group to join.
    pub group: GroupId,
    /// The member id that the client knows, or an empty one.
    pub member_id: MemberId,
    /// Randomness drawn by the runtime, for a member id should one be needed.
    pub fresh_id: Uuid,
    /// `group.instance.id`, for a static member.
    pub instance_id: Option<InstanceId>,
    /// The client id of the request's header.
    pub client_id: Arc<str>,
    /// The client's address, as shown to operators.
    pub client_host: Arc<str>,
    /// Session timeout in ms.
    pub session_timeout_ms: i32,
    /// Rebalance timeout in ms (version 0 has none: then the session timeout).
    pub rebalance_timeout_ms: i32,
    /// "consumer", "connect", "sr" or another word: opaque.
    pub protocol_type: Arc<str>,
    /// The protocols offered, the preferred one first.
    pub protocols: Vec<Protocol>,
    /// Versions 4 and up: a new dynamic member is sent back for a second request with the id it was given (KIP-394).
    pub requires_member_id: bool,
    /// Versions 9 and up: a static leader that came back is told to skip the assignment (KIP-814).
    pub supports_skip_assignment: bool,
}

/// SyncGroup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sync {
    /// Who asks.
    pub call: CallId,
    /// The group.
    pub group: GroupId,
    /// The member.
    pub member_id: MemberId,
    /// `group.instance.id`, for a static member.
    pub instance_id: Option<InstanceId>,
    /// The generation that the member joined.
    pub generation: i32,
    /// The protocol type that the member believes in, from version 5.
    pub protocol_type: Option<Arc<str>>,
    /// The protocol that the member believes in, from version 5.
    pub protocol: Option<Arc<str>>,
    /// The leader's assignments; empty from the others.
    pub assignments: Vec<(MemberId, Bytes)>,
}

/// Heartbeat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heartbeat {
    /// Who asks.
    pub call: CallId,
    /// The group.
    pub group: GroupId,
    /// The member.
    pub member_id: MemberId,
    /// `group.instance.id`, for a static member.
    pub instance_id: Option<InstanceId>,
    /// The member's generation.
    pub generation: i32,
}

/// LeaveGroup. Versions 0 to 2 name one member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leave {
    /// Who asks.
    pub call: CallId,
    /// The group.
    pub group: GroupId,
    /// Who leaves.
    pub members: Vec<LeavingMember>,
}

/// One member of a LeaveGroup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeavingMember {
    /// The member; empty where an operator removes a static member by its instance id alone.
    pub member_id: MemberId,
    /// `group.instance.id`.
    pub instance_id: Option<InstanceId>,
}

/// OffsetCommit. The listener has checked that the topics exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitOffsets {
    /// Who asks.
    pub call: CallId,
    /// The group.
    pub group: GroupId,
    /// The member; empty from outside the group.
    pub member_id: MemberId,
    /// `group.instance.id`, for a static member.
    pub instance_id: Option<InstanceId>,
    /// The member's generation; -1 from outside the group.
    pub generation: i32,
    /// Versions 9 and up answer "no such group" by name; older ones say "illegal generation".
    pub names_missing_group: bool,
    /// `retention_time_ms` of versions 2 to 4, where it is not -1.
    pub retention_ms: Option<i64>,
    /// What to store.
    pub offsets: Vec<OffsetToCommit>,
}

impl CommitOffsets {
    /// Whether it says for which member it speaks.
    pub(super) fn names_member(&self) -> bool {
        self.generation >= 0 || !self.member_id.as_str().is_empty() || self.instance_id.is_some()
    }
}

/// One partition of an OffsetCommit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OffsetToCommit {
    /// The topic.
    pub topic: TopicName,
    /// The topic's id, as the request gave it or the listener knows it; zero if unknown.
    pub topic_id: TopicId,
    /// The partition.
    pub partition: PartitionIndex,
    /// The next offset that the group will read.
    pub offset: Offset,
    /// The leader epoch of the last record read; -1 if unknown.
    pub leader_epoch: LeaderEpoch,
    /// The client's own note.
    pub metadata: Arc<str>,
}

/// TxnOffsetCommit. The runtime has made sure that the producer's transaction is under way and knows of this partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitInTransaction {
    /// Who writes.
    pub producer: OffsetsProducer,
    /// What, and for which group.
    pub commit: CommitOffsets,
}

/// The end of a transaction, as its marker says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndOffsets {
    /// Who asks.
    pub call: CallId,
    /// Whose transaction.
    pub producer: OffsetsProducer,
    /// Whether its offsets count.
    pub is_commit: bool,
    /// The epoch of the coordinator that says so.
    pub coordinator_epoch: i32,
}

/// OffsetFetch for one group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchOffsets {
    /// Who asks.
    pub call: CallId,
    /// The group.
    pub group: GroupId,
    /// The member and its epoch, where a member of the new protocol says who it is.
    pub member: Option<(MemberId, i32)>,
    /// The partitions wanted; `None` for all that have an offset.
    pub partitions: Option<Vec<TopicPartition>>,
    /// Whether offsets that a transaction under way may replace are answered as unstable.
    pub require_stable: bool,
}

/// OffsetDelete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeleteOffsets {
    /// Who asks.
    pub call: CallId,
    /// The group.
    pub group: GroupId,
    /// The partitions whose offsets go.
    pub partitions: Vec<TopicPartition>,
}

/// ListGroups. An empty filter lets everything through; words compare without regard to case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List {
    /// Who asks.
    pub call: CallId,
    /// State names wanted.
    pub states: Vec<Arc<str>>,
    /// Group types wanted.
    pub types: Vec<Arc<str>>,
}

impl Input {
    /// The group that the input concerns, by which the runtime finds its machine; `None` for what concerns every machine.
    pub fn group(&self) -> Option<&GroupId> {
        match self {
            Self::Join(join) => Some(&join.group),
            Self::Sync(sync) => Some(&sync.group),
            Self::Heartbeat(heartbeat) => Some(&heartbeat.group),
            Self::Leave(leave) => Some(&leave.group),
            Self::CommitOffsets(commit) => Some(&commit.group),
            Self::CommitInTransaction(commit) => Some(&commit.commit.group),
            Self::FetchOffsets(fetch) => Some(&fetch.group),
            Self::DeleteOffsets(delete) => Some(&delete.group),
            Self::DeleteGroup { group, .. }
            | Self::Describe { group, .. }
            | Self::DescribeConsumer { group, .. }
            | Self::DescribeShare { group, .. } => Some(group),
            Self::ShareHeartbeat(heartbeat) => Some(&heartbeat.group),
            Self::ShareStatesChanged(changed) => Some(&changed.group),
            Self::ConsumerHeartbeat(heartbeat) => Some(&heartbeat.group),
            Self::RegexResolved(resolved) => Some(&resolved.group),
            Self::EndOffsets(_)
            | Self::List(_)
            | Self::TopicDeleted(_)
            | Self::ShareTopicsDeleted(_)
            | Self::PartitionsDeleted(_)
            | Self::TopicsChanged
            | Self::Tick => None,
        }
    }
}
