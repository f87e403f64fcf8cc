//! OffsetFetch: where a group has read to.
//!
//! Invariants: GRP-3. The ledger already holds what is not yet durable; the reply waits behind it, as every reply does.

use super::decide::Deciding;
use super::{Answer, FetchOffsets, FetchedOffset, GroupError, LedgerGroup};
use fanlog_model::TopicPartition;

impl Deciding<'_> {
    pub(super) fn fetch_offsets(&mut self, fetch: FetchOffsets) {
        let known = self.ledger.group(&fetch.group);
        let checked = self.check_fetch(&fetch, known);
        let pending = fetch.require_stable.then(|| self.ledger.pending());
        let offsets = checked.map(|()| {
            let mut offsets = fetched(known, fetch.partitions);
            for offset in &mut offsets {
                offset.is_unstable =
                    pending.is_some_and(|pending| pending.has(&fetch.group, &offset.partition));
            }
            offsets
        });
        self.reply(fetch.call, Answer::FetchOffsets(offsets));
    }

    /// Who says that it is a member of a consumer group must be one.
    fn check_fetch(
        &self,
        fetch: &FetchOffsets,
        known: Option<&LedgerGroup>,
    ) -> Result<(), GroupError> {
        let consumer = known.and_then(|known| known.consumer.as_ref());
        match (consumer, &fetch.member) {
            (Some(group), Some((member, epoch))) => {
                self.check_consumer_fetch(&fetch.group, group, member, *epoch)
            }
            _ => Ok(()),
        }
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
            is_unstable: false,
        });
        return all.collect();
    };
    let wanted = partitions.into_iter().map(|partition| FetchedOffset {
        committed: group.and_then(|group| group.offsets.get(&partition).cloned()),
        partition,
        is_unstable: false,
    });
    wanted.collect()
}
