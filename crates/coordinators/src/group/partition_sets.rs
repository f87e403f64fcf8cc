//! Partitions by topic id, as the records of the new group types name them.

use fanlog_model::{PartitionIndex, TopicId};
use std::collections::{BTreeMap, BTreeSet};

/// Partitions of several topics. No topic is there without a partition.
pub type PartitionSets = BTreeMap<TopicId, BTreeSet<PartitionIndex>>;

/// How many partitions there are.
pub(super) fn count(sets: &PartitionSets) -> usize {
    sets.values().map(BTreeSet::len).sum()
}

/// Gathers what a record or a request lists: topics that repeat are one, empty ones are none.
pub(super) fn gather(
    lists: impl IntoIterator<Item = (TopicId, impl IntoIterator<Item = i32>)>,
) -> PartitionSets {
    let mut sets = PartitionSets::new();
    for (topic, partitions) in lists {
        let mut partitions = partitions.into_iter().map(PartitionIndex).peekable();
        if partitions.peek().is_some() {
            sets.entry(topic).or_default().extend(partitions);
        }
    }
    sets
}
