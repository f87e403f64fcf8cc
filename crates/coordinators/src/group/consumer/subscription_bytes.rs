//! What members of the classic protocol say and hear in bytes: subscriptions and assignments of the protocol type "consumer".
//!
//! Members send what they like; what can't be read is a subscription to nothing.

use super::OwnedPartitions;
use crate::group::{PartitionSets, Protocol, TopicsSnapshot};
use bytes::Bytes;
use fanlog_model::{PartitionIndex, TopicId};
use fanlog_protocol::messages::consumer_protocol_assignment::TopicPartition;
use fanlog_protocol::messages::{ConsumerProtocolAssignment, ConsumerProtocolSubscription};
use std::borrow::Cow;
use std::sync::Arc;

/// A classic member's subscription.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Subscription {
    pub(super) topics: Vec<Arc<str>>,
    pub(super) rack_id: Option<Arc<str>>,
    owned: Vec<(Arc<str>, Vec<i32>)>,
}

impl Subscription {
    /// Reads a subscription of any version.
    pub(super) fn read(bytes: &[u8]) -> Self {
        let Ok(read) = ConsumerProtocolSubscription::decode_with_version_prefix(bytes) else {
            return Self::default();
        };
        let owned = read.owned_partitions.iter();
        Self {
            topics: read.topics.iter().map(|name| Arc::from(&**name)).collect(),
            rack_id: read
                .rack_id
                .as_deref()
                .filter(|rack| !rack.is_empty())
                .map(Arc::from),
            owned: owned
                .map(|topic| (Arc::from(&*topic.topic), topic.partitions.clone()))
                .collect(),
        }
    }

    /// What the member says it owns.
    pub(super) fn owned_ids(&self, topics: &dyn TopicsSnapshot) -> Vec<(TopicId, Vec<i32>)> {
        let owned = self.owned.iter();
        let known = owned.filter_map(|(name, partitions)| {
            let (id, _) = topics.by_name(name)?;
            Some((id, partitions.clone()))
        });
        known.collect()
    }
}

/// An assignment in bytes, of the version that the member's own subscription has.
pub(super) fn assignment_bytes(
    assigned: &PartitionSets,
    topics: &dyn TopicsSnapshot,
    protocol: Option<&Protocol>,
) -> Bytes {
    let version = protocol.and_then(|protocol| {
        let first = protocol.metadata.get(..size_of::<i16>())?;
        Some(i16::from_be_bytes(first.try_into().ok()?))
    });
    let newest = *ConsumerProtocolAssignment::VERSIONS.end();
    let version = version.unwrap_or(0).clamp(0, newest);
    let named = assigned.iter().filter_map(|(id, partitions)| {
        Some(TopicPartition {
            topic: Cow::Owned(topics.name_of(*id)?.to_string()),
            partitions: partitions.iter().map(|index| index.0).collect(),
        })
    });
    let assignment = ConsumerProtocolAssignment {
        assigned_partitions: named.collect(),
        user_data: None,
    };
    // Names of topics that exist fit in a string.
    let bytes = assignment.encode_with_version_prefix(version);
    bytes.map(Bytes::from).unwrap_or_default()
}

/// Why an assignment can't be taken over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnreadableAssignment {
    /// It isn't one of the protocol type "consumer".
    Malformed,
    /// An assignor of the client's own put something into it that would be lost.
    HasUserData,
}

/// Reads what a leader assigned to a member.
pub(super) fn read_assignment(
    bytes: &[u8],
    topics: &dyn TopicsSnapshot,
    epoch: i32,
) -> Result<OwnedPartitions, UnreadableAssignment> {
    if bytes.is_empty() {
        return Ok(OwnedPartitions::default());
    }
    let read = ConsumerProtocolAssignment::decode_with_version_prefix(bytes)
        .map_err(|_| UnreadableAssignment::Malformed)?;
    if read.user_data.as_ref().is_some_and(|data| !data.is_empty()) {
        return Err(UnreadableAssignment::HasUserData);
    }
    let mut owned = OwnedPartitions::default();
    for topic in &read.assigned_partitions {
        let Some((id, _)) = topics.by_name(&topic.topic) else {
            continue;
        };
        for partition in &topic.partitions {
            owned.insert(id, PartitionIndex(*partition), epoch);
        }
    }
    Ok(owned)
}
