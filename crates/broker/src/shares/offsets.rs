//! Where share groups stand, and moving them: DescribeShareGroupOffsets, AlterShareGroupOffsets, DeleteShareGroupOffsets.

use super::Shares;
use crate::groups::CoordinatorError;
use crate::lookup::TopicRef;
use crate::machines::MachineShard;
use fanlog_coordinators::share::{Input, Ledger, ShareKey, ShareRecord};
use fanlog_model::{GroupId, LeaderEpoch, Offset, PartitionIndex, TopicId};
use std::collections::BTreeSet;

/// One partition that a share group reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SharePartitionRef {
    /// The topic.
    pub topic: TopicId,
    /// The partition.
    pub partition: PartitionIndex,
}

/// Where a share group stands in a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShareOffset {
    /// The first offset that is not done with; none before the first read.
    pub start: Option<Offset>,
    /// The leader epoch of its last record.
    pub leader_epoch: LeaderEpoch,
    /// How many records are not done with; none before the first read.
    pub lag: Option<i64>,
}

impl Shares {
    /// The partitions of which a share group has a state.
    ///
    /// # Errors
    /// The states are loading or cannot be read.
    pub fn partitions_of(
        &self,
        group: &GroupId,
    ) -> Result<Vec<SharePartitionRef>, CoordinatorError> {
        let broker = self.broker()?;
        if broker.queues().is_queue(group) {
            return broker.queues().share_partitions(group);
        }
        let mut found = BTreeSet::new();
        for shard in self.shards().iter() {
            shard.with_active(|machines| {
                let keys = machines.of.keys().filter(|key| key.group == *group);
                found.extend(keys.map(|key| SharePartitionRef {
                    topic: key.topic,
                    partition: key.partition,
                }));
            })?;
        }
        Ok(found.into_iter().collect())
    }

    /// Where a share group stands in a partition; none if it has no state of it.
    ///
    /// # Errors
    /// The state is loading or cannot be read.
    pub fn offset(
        &self,
        group: &GroupId,
        of: SharePartitionRef,
    ) -> Result<Option<ShareOffset>, CoordinatorError> {
        let broker = self.broker()?;
        if broker.queues().is_queue(group) {
            return broker.queues().share_offset(group, of);
        }
        let key = key(group, of);
        let Some(shard) = self.shard_now(&key) else {
            return Ok(None);
        };
        let (is_there, start, leader_epoch, complete) =
            shard.look(&key, |ledger: &Ledger, _| {
                (
                    ledger.is_initialized(),
                    ledger.start(),
                    ledger.leader_epoch(),
                    ledger.delivery_complete_count(),
                )
            })?;
        if !is_there {
            return Ok(None);
        }
        let partition = broker.partition(&TopicRef::Id(of.topic), of.partition);
        let lag = start
            .zip(partition.ok())
            .map(|(start, partition)| partition.high_watermark().0 - start.0 - complete);
        Ok(Some(ShareOffset {
            start,
            leader_epoch,
            lag,
        }))
    }

    /// Begins anew: what was known of a partition is forgotten. Without a start `share.auto.offset.reset` says where.
    /// Durable on return.
    ///
    /// # Errors
    /// The state cannot be written.
    pub async fn initialize(
        &self,
        group: &GroupId,
        of: SharePartitionRef,
        state_epoch: i32,
        start: Option<Offset>,
    ) -> Result<(), CoordinatorError> {
        self.decide_durably(group, of, Input::Initialize { state_epoch, start })
            .await
    }

    async fn decide_durably(
        &self,
        group: &GroupId,
        of: SharePartitionRef,
        input: Input<'_>,
    ) -> Result<(), CoordinatorError> {
        let broker = self.broker()?;
        let key = key(group, of);
        let shard = self.shard(&key).await?;
        let policy = self.policy(&broker, group);
        let decided = shard.decide(&key, &policy, input)?;
        shard.durable(decided).await.map(|_| ())
    }

    /// Sees to it that a partition has a state; durable on return.
    ///
    /// # Errors
    /// The state cannot be written.
    pub async fn ensure_initialized(
        &self,
        group: &GroupId,
        of: SharePartitionRef,
        state_epoch: i32,
    ) -> Result<(), CoordinatorError> {
        let key = key(group, of);
        let shard = self.shard(&key).await?;
        if !shard.look(&key, |ledger, _| ledger.is_initialized())? {
            self.check_memory(&*self.broker()?)?;
        }
        self.decide_durably(group, of, Input::EnsureInitialized { state_epoch })
            .await
    }

    /// Forgets what a share group knows of some partitions, or of all. Durable on return.
    ///
    /// # Errors
    /// The state cannot be written.
    pub async fn delete_states(
        &self,
        group: &GroupId,
        only: Option<TopicId>,
    ) -> Result<(), CoordinatorError> {
        for shard in self.shards().iter() {
            let end = shard.log_all(|machines, _| {
                let gone = machines.of.keys().filter(|key| {
                    key.group == *group && only.is_none_or(|topic| topic == key.topic)
                });
                gone.map(|key| (key.clone(), ShareRecord::Deleted))
                    .collect()
            })?;
            shard.durable_to(end).await?;
        }
        Ok(())
    }
}

fn key(group: &GroupId, of: SharePartitionRef) -> ShareKey {
    ShareKey {
        group: group.clone(),
        topic: of.topic,
        partition: of.partition,
    }
}
