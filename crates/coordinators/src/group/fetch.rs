//! OffsetFetch: where a group has read to.
//!
//! Invariants: GRP-3. The ledger already holds what is not yet durable; the reply waits behind it, as every reply does.

use super::decide::Deciding;
use super::{Answer, FetchOffsets, FetchedOffset, LedgerGroup};
use fanlog_model::TopicPartition;

impl Deciding<'_> {
    pub(super) fn fetch_offsets(&mut self, fetch: FetchOffsets) {
        let offsets = fetched(self.ledger.group(&fetch.group), fetch.partitions);
        self.reply(fetch.call, Answer::FetchOffsets(offsets));
    }
}

fn fetched(
    group: Option<&LedgerGroup>,
    partitions: Option<Vec<TopicPartition>>,
) -> Vec<FetchedOffset> {
    let Some(partitions) = partitions else {
        let offsets = group.into_iter().flat_map(|group| &group.offsets);
        let all = offsets.map(|(partition, committed)| FetchedOffset {
            partition: partition.clone(),
            committed: Some(committed.clone()),
        });
        return all.collect();
    };
    let wanted = partitions.into_iter().map(|partition| FetchedOffset {
        committed: group.and_then(|group| group.offsets.get(&partition).cloned()),
        partition,
    });
    wanted.collect()
}
