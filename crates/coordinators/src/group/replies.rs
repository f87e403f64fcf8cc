//! What a group machine answers. A reply may leave only when every record decided up to it is durable.

use super::consumer::{DescribedConsumerGroup, MemberHeartbeat};
use super::share::{DescribedShareGroup, ShareHeartbeatAnswer};
use super::{CommittedOffset, GroupError, InstanceId, MemberId, OffsetError};
use crate::CallId;
use bytes::Bytes;
use fanlog_model::{GroupId, PartitionIndex, TopicName, TopicPartition};
use std::fmt;
use std::sync::Arc;

/// An answer and whom it is for. A parked Join or Sync is answered by the decision on another input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// Who asked.
    pub call: CallId,
    /// The answer.
    pub answer: Answer,
}

/// The answer to each kind of input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// To Join.
    Join(Result<Joined, GroupError>),
    /// To Sync.
    Sync(Result<Synced, GroupError>),
    /// To Heartbeat.
    Heartbeat(Result<(), GroupError>),
    /// To Leave: one result per member, in the request's order.
    Leave(Result<Vec<LeftMember>, GroupError>),
    /// To CommitOffsets: one result per offset, in the request's order.
    CommitOffsets(Result<Vec<OffsetOutcome>, GroupError>),
    /// To EndOffsets.
    OffsetsEnded,
    /// To FetchOffsets: the partitions asked for in their order, or all in order of topic and partition. A group that does not exist
    /// has no offsets; refused is only who says that it is a member, and isn't.
    FetchOffsets(Result<Vec<FetchedOffset>, GroupError>),
    /// To DeleteOffsets: one result per partition, in the request's order.
    DeleteOffsets(Result<Vec<OffsetOutcome>, GroupError>),
    /// To DeleteGroup.
    DeleteGroup(Result<(), GroupError>),
    /// To Describe; `GroupNotFound` where older versions show a group in state Dead.
    Describe(Result<DescribedGroup, GroupError>),
    /// To ConsumerHeartbeat.
    ConsumerHeartbeat(Result<MemberHeartbeat, GroupError>),
    /// To ShareHeartbeat.
    ShareHeartbeat(Result<ShareHeartbeatAnswer, GroupError>),
    /// To DescribeShare.
    DescribeShare(Result<DescribedShareGroup, GroupError>),
    /// To ShareStatesChanged: the group's epoch.
    ShareStatesChanged(Result<i32, GroupError>),
    /// To DescribeConsumer.
    DescribeConsumer(Result<DescribedConsumerGroup, GroupError>),
    /// To List.
    List(Vec<ListedGroup>),
}

/// The generation that a member has joined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Joined {
    /// The member's id from now on.
    pub member_id: MemberId,
    /// The generation.
    pub generation: i32,
    /// The group's protocol type.
    pub protocol_type: Option<Arc<str>>,
    /// The protocol chosen.
    pub protocol: Option<Arc<str>>,
    /// The leader.
    pub leader: MemberId,
    /// Whether a returning leader must keep the assignment that exists (KIP-814).
    pub skip_assignment: bool,
    /// All members, for the leader only.
    pub members: Vec<JoinedMember>,
}

/// What the leader learns of a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JoinedMember {
    /// The member.
    pub member_id: MemberId,
    /// `group.instance.id`, for a static member.
    pub instance_id: Option<InstanceId>,
    /// Its metadata for the protocol chosen.
    pub metadata: Bytes,
}

/// What a member has been assigned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Synced {
    /// The group's protocol type.
    pub protocol_type: Option<Arc<str>>,
    /// The protocol chosen.
    pub protocol: Option<Arc<str>>,
    /// The leader's words for this member.
    pub assignment: Bytes,
}

/// The outcome for one leaving member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftMember {
    /// The member id as given.
    pub member_id: MemberId,
    /// The instance id as given.
    pub instance_id: Option<InstanceId>,
    /// Whether it left.
    pub result: Result<(), GroupError>,
}

/// The outcome for one partition of a commit or a deletion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OffsetOutcome {
    /// The topic.
    pub topic: TopicName,
    /// The partition.
    pub partition: PartitionIndex,
    /// Whether it was done.
    pub result: Result<(), OffsetError>,
}

/// One partition of an OffsetFetch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchedOffset {
    /// The partition.
    pub partition: TopicPartition,
    /// What is stored; `None` if the group has no offset there. Where its topic id is neither zero nor the topic's
    /// present id, it belongs to an earlier life of the topic and must be shown as none.
    pub committed: Option<CommittedOffset>,
    /// Whether a transaction under way may replace it, and that matters to whoever asked.
    pub is_unstable: bool,
}

/// A group for DescribeGroups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescribedGroup {
    /// The group.
    pub group: GroupId,
    /// Its state.
    pub state: GroupState,
    /// Its protocol type, or an empty word.
    pub protocol_type: Arc<str>,
    /// The protocol chosen, in state Stable; else an empty word.
    pub protocol: Arc<str>,
    /// Its members.
    pub members: Vec<DescribedMember>,
}

/// A member for DescribeGroups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescribedMember {
    /// The member.
    pub member_id: MemberId,
    /// `group.instance.id`, for a static member.
    pub instance_id: Option<InstanceId>,
    /// The client id of its JoinGroup.
    pub client_id: Arc<str>,
    /// The address of its JoinGroup.
    pub client_host: Arc<str>,
    /// Its metadata for the protocol chosen, in state Stable; else empty.
    pub metadata: Bytes,
    /// Its assignment.
    pub assignment: Bytes,
}

/// A group for ListGroups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedGroup {
    /// The group.
    pub group: GroupId,
    /// Its protocol type, or an empty word.
    pub protocol_type: Arc<str>,
    /// Its state.
    pub state: GroupState,
    /// Its type's name: "classic", "consumer" or "share".
    pub group_type: &'static str,
}

/// The state of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GroupState {
    /// No members; perhaps offsets.
    Empty,
    /// Waiting for members to join the next generation.
    PreparingRebalance,
    /// The generation stands; waiting for the leader's assignment.
    CompletingRebalance,
    /// Of the new protocol: the assignment is to be made anew.
    Assigning,
    /// Of the new protocol: members are on their way to their new assignment.
    Reconciling,
    /// Every member has been assigned its part.
    Stable,
    /// The group does not exist.
    Dead,
}

impl GroupState {
    /// The state's name in Kafka's words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Empty => "Empty",
            Self::PreparingRebalance => "PreparingRebalance",
            Self::CompletingRebalance => "CompletingRebalance",
            Self::Assigning => "Assigning",
            Self::Reconciling => "Reconciling",
            Self::Stable => "Stable",
            Self::Dead => "Dead",
        }
    }
}

impl fmt::Display for GroupState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
