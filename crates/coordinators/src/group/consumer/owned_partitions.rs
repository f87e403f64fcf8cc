//! Partitions that a member owns, each with the member epoch since which it does.

use crate::group::PartitionSets;
use fanlog_model::{PartitionIndex, TopicId};
use std::collections::BTreeMap;

/// Partitions by topic and index, with the epoch of their assignment. No topic is there without a partition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnedPartitions(pub BTreeMap<TopicId, BTreeMap<PartitionIndex, i32>>);

impl OwnedPartitions {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of them, in order, with their epochs.
    pub fn iter(&self) -> impl Iterator<Item = (TopicId, PartitionIndex, i32)> {
        self.0.iter().flat_map(|(topic, partitions)| {
            partitions
                .iter()
                .map(|(index, epoch)| (*topic, *index, *epoch))
        })
    }

    /// Since which epoch a partition is owned.
    pub fn epoch(&self, topic: TopicId, partition: PartitionIndex) -> Option<i32> {
        self.0.get(&topic)?.get(&partition).copied()
    }

    /// Adds a partition.
    pub fn insert(&mut self, topic: TopicId, partition: PartitionIndex, epoch: i32) {
        self.0.entry(topic).or_default().insert(partition, epoch);
    }

    /// Without the epochs.
    pub fn sets(&self) -> PartitionSets {
        let set = |partitions: &BTreeMap<_, _>| partitions.keys().copied().collect();
        self.0.iter().map(|(id, of)| (*id, set(of))).collect()
    }

    /// How many.
    pub fn count(&self) -> usize {
        self.0.values().map(BTreeMap::len).sum()
    }
}

impl FromIterator<(TopicId, PartitionIndex, i32)> for OwnedPartitions {
    fn from_iter<T: IntoIterator<Item = (TopicId, PartitionIndex, i32)>>(all: T) -> Self {
        let mut owned = Self::default();
        for (topic, partition, epoch) in all {
            owned.insert(topic, partition, epoch);
        }
        owned
    }
}
