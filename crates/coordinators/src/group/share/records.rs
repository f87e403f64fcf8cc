//! What is logged of a share group, one kind of record for each of its facts.

use crate::group::consumer::TargetEpoch;
use crate::group::{MemberId, PartitionSets};
use fanlog_model::{PartitionIndex, TopicId};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A fact about one group; `None` is a tombstone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShareRecord {
    /// The group's epoch.
    Epoch(Option<ShareGroupEpoch>),
    /// A member.
    Member(MemberId, Option<Arc<ShareMember>>),
    /// For which group epoch the target assignment was made.
    TargetEpoch(Option<TargetEpoch>),
    /// What a member shall read.
    Target(MemberId, Option<Arc<PartitionSets>>),
    /// What a member reads.
    Current(MemberId, Option<Arc<ShareAssignment>>),
    /// Which share-partitions have a state.
    Partitions(Option<Arc<SharePartitions>>),
}

/// A group's epoch: it rises whenever the assignment must be made anew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShareGroupEpoch {
    /// The epoch.
    pub epoch: i32,
    /// A hash of the topics that the group reads, for which the epoch was raised last.
    pub metadata_hash: i64,
}

/// A member, as it described itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShareMember {
    /// `client.rack`.
    pub rack_id: Option<Arc<str>>,
    /// The client id of its last request.
    pub client_id: Arc<str>,
    /// Its address.
    pub client_host: Arc<str>,
    /// The topics that it names, in order and each once.
    pub topics: Arc<[Arc<str>]>,
}

/// What a member reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShareAssignment {
    /// The member's epoch.
    pub epoch: i32,
    /// The epoch before.
    pub previous_epoch: i32,
    /// Kafka's number for where the member stands; 0 is stable.
    pub state: i8,
    /// What it may read.
    pub assigned: PartitionSets,
}

/// Which share-partitions have a state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SharePartitions {
    /// Those whose state is being made.
    pub initializing: Vec<ShareTopic>,
    /// Those that have one.
    pub initialized: Vec<ShareTopic>,
    /// Topics whose states are being deleted.
    pub deleting: Vec<DeletingTopic>,
}

/// Partitions of one topic.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShareTopic {
    /// The topic's id.
    pub id: TopicId,
    /// Its name.
    pub name: Arc<str>,
    /// The partitions.
    pub partitions: BTreeSet<PartitionIndex>,
}

/// A topic whose states are being deleted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeletingTopic {
    /// The topic's id.
    pub id: TopicId,
    /// Its name.
    pub name: Arc<str>,
}
