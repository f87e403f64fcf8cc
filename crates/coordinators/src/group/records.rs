//! What a group machine logs: the records of `__consumer_offsets`.

use super::consumer::ConsumerRecord;
use super::share::ShareRecord;
use super::{InstanceId, MemberId};
use bytes::Bytes;
use fanlog_model::{GroupId, LeaderEpoch, Offset, TimestampMs, TopicId, TopicPartition};
use std::sync::Arc;

/// One record; `record_format.rs` has its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GroupRecord {
    /// A group as of its last completed rebalance.
    Group {
        /// The group.
        group: GroupId,
        /// What is remembered of it.
        metadata: GroupMetadata,
    },
    /// The group is gone (a tombstone).
    GroupDeleted {
        /// The group.
        group: GroupId,
    },
    /// A committed offset.
    Offset {
        /// The group.
        group: GroupId,
        /// The partition.
        partition: TopicPartition,
        /// What was committed.
        committed: CommittedOffset,
    },
    /// A committed offset is gone (a tombstone).
    OffsetDeleted {
        /// The group.
        group: GroupId,
        /// The partition.
        partition: TopicPartition,
    },
    /// A fact about a consumer group of the new protocol.
    Consumer {
        /// The group.
        group: GroupId,
        /// The fact.
        record: ConsumerRecord,
    },
    /// A fact about a share group.
    Share {
        /// The group.
        group: GroupId,
        /// The fact.
        record: ShareRecord,
    },
}

/// A group as of its last completed rebalance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupMetadata {
    /// "consumer" or another word; `None` for a group that never had a member.
    pub protocol_type: Option<Arc<str>>,
    /// The generation.
    pub generation: i32,
    /// The protocol chosen.
    pub protocol: Option<Arc<str>>,
    /// The leader. None, although there are members: the group was one of the new protocol and has no generation of its own yet.
    pub leader: Option<MemberId>,
    /// When the group came into its state; old records don't say.
    pub state_since: Option<TimestampMs>,
    /// The members, in order of their ids. None: the group is Empty.
    pub members: Vec<MemberMetadata>,
}

/// A member as of the last completed rebalance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberMetadata {
    /// The member.
    pub member_id: MemberId,
    /// `group.instance.id`, for a static member.
    pub instance_id: Option<InstanceId>,
    /// The client id of its JoinGroup.
    pub client_id: Arc<str>,
    /// The address of its JoinGroup.
    pub client_host: Arc<str>,
    /// Its rebalance timeout in ms.
    pub rebalance_timeout_ms: i32,
    /// Its session timeout in ms.
    pub session_timeout_ms: i32,
    /// Its metadata for the protocol chosen.
    pub subscription: Bytes,
    /// Its assignment.
    pub assignment: Bytes,
}

/// A committed offset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommittedOffset {
    /// The next offset that the group will read.
    pub offset: Offset,
    /// The leader epoch of the last record read; -1 if unknown.
    pub leader_epoch: LeaderEpoch,
    /// The client's own note.
    pub metadata: Arc<str>,
    /// When it was committed.
    pub committed_at: TimestampMs,
    /// When it expires, where the client asked for a retention of its own (old versions).
    pub expires_at: Option<TimestampMs>,
    /// The topic's id at the time; zero if unknown.
    pub topic_id: TopicId,
}
