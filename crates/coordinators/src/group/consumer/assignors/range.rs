//! Range: each topic's partitions in as many ranges as it has readers, in the order of their names.
//!
//! Topics with as many partitions and the same readers are cut alike, so what is keyed alike comes together in one member. Static
//! members come first and by their own names, which outlive their processes.

use super::{PartitionCounts, Subscriber, by_topic, count_of};
use crate::group::PartitionSets;
use fanlog_model::PartitionIndex;

pub(super) fn assign(
    subscribers: &[Subscriber<'_>],
    counts: &PartitionCounts,
) -> Vec<PartitionSets> {
    let mut assigned = vec![PartitionSets::new(); subscribers.len()];
    for (topic, mut readers) in by_topic(subscribers) {
        readers.sort_by_key(|position| {
            let subscriber = &subscribers[*position];
            let name = subscriber.instance_id.unwrap_or(subscriber.member_id);
            (subscriber.instance_id.is_none(), name)
        });
        let partitions = usize::try_from(count_of(counts, topic)).unwrap_or(0);
        let (each, more) = (partitions / readers.len(), partitions % readers.len());
        let mut indexes = (0..count_of(counts, topic)).map(PartitionIndex);
        for (rank, position) in readers.into_iter().enumerate() {
            let length = each + usize::from(rank < more);
            if length > 0 {
                let range = indexes.by_ref().take(length).collect();
                assigned[position].insert(topic, range);
            }
        }
    }
    assigned
}
