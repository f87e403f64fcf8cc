//! Where a share group begins to read a partition that it has not read before (`share.auto.offset.reset`).
//!
//! Why it is logged before anything is handed out: Kafka finds the beginning anew at each start until something is
//! acknowledged, so records that nobody was done with can be passed over. Here they can't (QUE-2).

use super::fetch::ShareFetchError;
use super::shard::Shard;
use super::{SharePartitionRef, Shares};
use crate::broker::Broker;
use crate::fetch_types::Isolation;
use crate::lookup::TopicRef;
use crate::offsets_types::OffsetSpec;
use crate::partition::Partition;
use fanlog_coordinators::share::{Input, Policy, ShareKey};
use fanlog_model::settings::{OffsetReset, ShareGroupSettings};
use fanlog_model::{Offset, TimestampMs};
use std::sync::Arc;

impl Shares {
    /// Sees to it that a share-partition has begun, and that it does not begin before its log.
    pub(super) async fn begin(
        &self,
        broker: &Arc<Broker>,
        shard: &Arc<Shard>,
        key: &ShareKey,
        partition: &Arc<Partition>,
        settings: &ShareGroupSettings,
        policy: &Policy,
    ) -> Result<(), ShareFetchError> {
        // Of a topic that is gone no state is made any more.
        partition.check_serving()?;
        let known = shard.look(key, |ledger, _| (ledger.is_initialized(), ledger.start()))?;
        match known {
            (true, Some(start)) => {
                Self::follow_log_start(shard, key, partition, policy, start)?;
                return Ok(());
            }
            (true, None) => {}
            // A state that no group knows of could not be deleted, and a later group would begin where it stands.
            (false, _) => {
                let of = SharePartitionRef {
                    topic: key.topic,
                    partition: key.partition,
                };
                if !broker.groups().has_share_state(&key.group, of).await? {
                    let group = key.group.clone();
                    return Err(ShareFetchError::NoState { group });
                }
                self.check_memory(broker)?;
                shard.decide(key, policy, Input::EnsureInitialized { state_epoch: 0 })?;
            }
        }
        let start = self.first_offset(broker, key, partition, settings).await?;
        let begun = shard.decide(key, policy, Input::Begin(start))?;
        shard.durable(begun).await?;
        Ok(())
    }

    /// Whether the log begins behind `from` now: then nothing before its beginning is looked for any more.
    pub(super) fn follow_log_start(
        shard: &Arc<Shard>,
        key: &ShareKey,
        partition: &Partition,
        policy: &Policy,
        from: Offset,
    ) -> Result<bool, ShareFetchError> {
        let log_start = partition.with_log(|log| log.log_start_offset())?;
        let is_behind = from < log_start;
        if is_behind {
            shard.decide(key, policy, Input::LogStart(log_start))?;
        }
        Ok(is_behind)
    }

    async fn first_offset(
        &self,
        broker: &Arc<Broker>,
        key: &ShareKey,
        partition: &Arc<Partition>,
        settings: &ShareGroupSettings,
    ) -> Result<Offset, ShareFetchError> {
        let (earliest, latest) =
            partition.with_log(|log| (log.log_start_offset(), log.durable_offset()))?;
        let back_ms = match settings.auto_offset_reset {
            OffsetReset::Earliest => return Ok(earliest),
            OffsetReset::Latest => return Ok(latest),
            OffsetReset::ByDuration(back_ms) => back_ms,
        };
        let since = TimestampMs(self.clock.wall_ms().0.saturating_sub(back_ms));
        let (broker, topic, index) = (broker.clone(), TopicRef::Id(key.topic), key.partition);
        let searched = self.blocking.run(move || {
            let spec = OffsetSpec::Timestamp(since);
            broker.list_offset(&topic, index, spec, Isolation::ReadUncommitted, None)
        });
        let found = match searched.await {
            Ok(found) => found.map_err(ShareFetchError::from_offsets)?,
            Err(panicked) => std::panic::resume_unwind(panicked.into_panic()),
        };
        Ok(found.offset.unwrap_or(latest))
    }
}
