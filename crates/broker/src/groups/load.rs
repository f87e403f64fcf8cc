//! Loading a group machine: replays its partition of `__consumer_offsets`.
//!
//! Why it exists: start and recovery from a failed write are the same path.
//! Never: loads the log as a whole; it is read in bounded chunks.
//! Invariants: replay equals live.   Read next: `shard.rs`.

use super::shard::Shard;
use crate::partition::Partition;
use crate::replay::{ReplayError, Replayed, replay_all};
use fanlog_coordinators::group::{Input, Ledger, apply, apply_end, apply_pending, record_format};
use fanlog_model::Offset;
use std::collections::BTreeSet;

impl Shard {
    /// What was deleted while nobody could note it: topics that groups have offsets for, and those whose records they share.
    pub(super) fn gone_topics(&self, ledger: &Ledger) -> Vec<Input> {
        let Some(topics) = self.broker().map(|broker| broker.topics()) else {
            return Vec::new();
        };
        let committed = ledger.groups().flat_map(|(_, group)| group.offsets.keys());
        let pending = ledger.pending().all().map(|(_, partition)| partition);
        let names: BTreeSet<_> = committed
            .chain(pending)
            .map(|partition| &partition.topic)
            .filter(|topic| topics.by_name(topic).is_none())
            .collect();
        let partitions = ledger.groups().filter_map(|(_, known)| {
            let share = known.share.as_ref()?;
            share.partitions.as_ref()
        });
        let shared = partitions.flat_map(|of| of.initialized.iter().chain(&of.initializing));
        let ids: BTreeSet<_> = shared
            .map(|topic| topic.id)
            .filter(|id| topics.by_id(*id).is_none())
            .collect();
        let names = names.into_iter().cloned().map(Input::TopicDeleted);
        let ids = (!ids.is_empty()).then_some(Input::ShareTopicsDeleted(ids));
        names.chain(ids).collect()
    }
}

/// What the log remembers, and where it ends.
pub(super) fn replayed(partition: &Partition) -> Result<(Ledger, Offset), ReplayError> {
    let mut ledger = Ledger::default();
    let end = replay_all(partition, |replayed| {
        let (key, value, producer) = match replayed {
            Replayed::Record {
                key,
                value,
                in_transaction_of,
                ..
            } => (key, value, in_transaction_of),
            Replayed::End {
                producer,
                is_commit,
            } => {
                apply_end(&mut ledger, producer, is_commit);
                return Ok(());
            }
        };
        match (record_format::decode(key, value), producer) {
            (Ok(record), Some(producer)) => apply_pending(&mut ledger, producer, &record),
            (Ok(record), None) => apply(&mut ledger, &record),
            (Err(skipped), _) => {
                tracing::warn!(partition = %partition.folder(), %skipped, "a record is not ours");
            }
        }
        Ok(())
    })?;
    Ok((ledger, end))
}
