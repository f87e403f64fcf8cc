//! OffsetDelete, DeleteGroups, and offsets that go with their topic.

use super::consumer::{ConsumerGroup, tombstones};
use super::decide::Deciding;
use super::live_group::{LiveGroup, Phase};
use super::{
    Answer, DeleteOffsets, GroupError, GroupRecord, GroupState, OffsetError, OffsetOutcome,
};
use crate::CallId;
use fanlog_model::{GroupId, PartitionIndex, TopicName, TopicPartition};

impl Deciding<'_> {
    pub(super) fn delete_offsets(&mut self, delete: DeleteOffsets) {
        let id = &delete.group;
        if id.as_str().is_empty() {
            let refused = Err(GroupError::InvalidGroupId);
            return self.reply(delete.call, Answer::DeleteOffsets(refused));
        }
        if let Some(group) = self
            .ledger
            .group(id)
            .and_then(|known| known.consumer.as_ref())
        {
            let read = group.state().topics();
            let outcomes = delete.partitions.iter().map(|partition| {
                let is_read = read.contains(partition.topic.as_str());
                self.delete_offset(id, is_read, partition)
            });
            let outcomes = outcomes.collect();
            return self.reply(delete.call, Answer::DeleteOffsets(Ok(outcomes)));
        }
        let result = self
            .with_group(id, |deciding, group| {
                check_not_opaque(group)?;
                let partitions = delete.partitions.iter();
                Ok(partitions
                    .map(|partition| {
                        let is_read = group.is_subscribed_to(partition.topic.as_str());
                        deciding.delete_offset(&group.id, is_read, partition)
                    })
                    .collect())
            })
            .unwrap_or_else(|| Err(not_found(id)));
        self.reply(delete.call, Answer::DeleteOffsets(result));
    }

    fn delete_offset(
        &mut self,
        group: &GroupId,
        is_read: bool,
        partition: &TopicPartition,
    ) -> OffsetOutcome {
        let result = if is_read {
            Err(OffsetError::SubscribedTopic {
                group: group.clone(),
            })
        } else {
            if self.ledger.offset(group, partition).is_some()
                || self.ledger.pending().has(group, partition)
            {
                self.record_offset_deleted(group, partition);
            }
            Ok(())
        };
        OffsetOutcome {
            topic: partition.topic.clone(),
            partition: partition.partition,
            result,
        }
    }

    pub(super) fn delete_group(&mut self, call: CallId, id: GroupId) {
        if let Some(group) = self
            .ledger
            .group(&id)
            .and_then(|known| known.consumer.as_ref())
        {
            let result = self.delete_consumer_group(&id, group);
            return self.reply(call, Answer::DeleteGroup(result));
        }
        if let Some(group) = self
            .ledger
            .group(&id)
            .and_then(|known| known.share.as_ref())
        {
            let result = self.delete_share_group(&id, group);
            return self.reply(call, Answer::DeleteGroup(result));
        }
        let result = match self.take_group(&id) {
            None => Err(not_found(&id)),
            Some(group) if group.phase == Phase::Empty => {
                self.delete_empty_group(group);
                Ok(())
            }
            Some(group) => {
                let state = group.state();
                self.put_group(group);
                Err(GroupError::GroupNotEmpty { group: id, state })
            }
        };
        self.reply(call, Answer::DeleteGroup(result));
    }

    fn delete_consumer_group(
        &mut self,
        id: &GroupId,
        group: &ConsumerGroup,
    ) -> Result<(), GroupError> {
        let state = group.state().group_state();
        if state != GroupState::Empty {
            return Err(GroupError::GroupNotEmpty {
                group: id.clone(),
                state,
            });
        }
        self.delete_all_offsets(id);
        for record in tombstones(id, group) {
            self.record(record);
        }
        Ok(())
    }

    /// Offsets first: a prefix of these records leaves a group that can be deleted again.
    fn delete_empty_group(&mut self, mut group: LiveGroup) {
        for member_id in group.pending_join.clone() {
            self.drop_member(&mut group, &member_id);
        }
        self.delete_all_offsets(&group.id);
        if self.ledger.group(&group.id).is_some() {
            self.record(GroupRecord::GroupDeleted { group: group.id });
        }
    }

    /// Those in force, and those of transactions under way.
    fn delete_all_offsets(&mut self, group: &GroupId) {
        for partition in self.ledger.offsets_of(group) {
            self.record_offset_deleted(group, partition);
        }
    }

    /// Offsets of a topic that is gone must not be taken for those of a later topic of the same name.
    pub(super) fn topic_deleted(&mut self, topic: &TopicName) {
        let at = |partition: i32| TopicPartition {
            topic: topic.clone(),
            partition: PartitionIndex(partition),
        };
        let all_partitions = at(i32::MIN)..=at(i32::MAX);
        for (id, known) in self.ledger.groups() {
            for (partition, _) in known.offsets.range(all_partitions.clone()) {
                self.record_offset_deleted(id, partition);
            }
        }
        self.delete_pending(|partition| partition.topic == *topic);
    }

    /// Offsets of transactions under way, beside those in force.
    fn delete_pending(&mut self, goes: impl Fn(&TopicPartition) -> bool) {
        let ledger = self.ledger;
        for (group, partition) in ledger.pending().all() {
            if goes(partition) && ledger.offset(group, partition).is_none() {
                self.record_offset_deleted(group, partition);
            }
        }
    }

    pub(super) fn partitions_deleted(&mut self, partitions: &[TopicPartition]) {
        for (id, known) in self.ledger.groups() {
            for partition in partitions {
                if known.offsets.contains_key(partition) {
                    self.record_offset_deleted(id, partition);
                }
            }
        }
        self.delete_pending(|partition| partitions.contains(partition));
    }

    pub(super) fn record_offset_deleted(&mut self, group: &GroupId, partition: &TopicPartition) {
        self.record(GroupRecord::OffsetDeleted {
            group: group.clone(),
            partition: partition.clone(),
        });
    }
}

/// A live group of an opaque protocol type may be reading anything, so none of its offsets can be deleted.
fn check_not_opaque(group: &LiveGroup) -> Result<(), GroupError> {
    if group.phase == Phase::Empty || group.uses_consumer_protocol() {
        return Ok(());
    }
    Err(GroupError::GroupNotEmpty {
        group: group.id.clone(),
        state: group.state(),
    })
}

fn not_found(id: &GroupId) -> GroupError {
    GroupError::GroupNotFound { group: id.clone() }
}
