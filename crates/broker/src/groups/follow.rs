//! How groups follow the rest of the broker: their topic opens, other topics go, settings change, records are lost.

use super::Groups;
use super::shard::Shard;
use crate::machines::ShardBase;
use crate::topics_view::TopicsView;
use fanlog_coordinators::group::consumer::assignors::Assignor;
use fanlog_coordinators::group::{
    ConsumerPaces, ConsumerSettings, GroupSettings, Input, MigrationPolicy,
};
use fanlog_model::settings::{self, BrokerSettings, ConsumerGroupSettings};
use fanlog_model::{GroupId, Offset, TopicName, TopicPartition};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

impl Groups {
    /// The topics are now these: the machines start when theirs is open. Until its log is replayed, a machine's
    /// groups answer that they are loading; at a start that must not hold up the rest of the broker.
    pub(crate) fn follow_topics(self: &Arc<Self>, topics: &TopicsView, in_background: bool) {
        self.shards
            .follow_topics(topics, in_background, |partition| {
                Shard::new(
                    ShardBase::new(partition, self.clock.clone(), self.blocking),
                    self.settings.clone(),
                    self.memory.clone(),
                    self.weak_broker(),
                )
            });
    }

    /// A topic is gone, and with it the offsets committed for it.
    pub(crate) fn forget_topic(&self, topic: &TopicName) {
        for shard in self.shards().iter() {
            // One that is loading compares with the topics when it is done; one that is broken answers nothing.
            let _ = shard.tell(Input::TopicDeleted(topic.clone()));
        }
    }

    pub(crate) fn follow_settings(&self, settings: GroupSettings) {
        *self.settings.lock() = settings;
    }

    /// Who had not read what lies between the old and the new start of a log, and how much of it.
    pub(crate) fn lost_by_trim(
        &self,
        partition: &TopicPartition,
        before: Offset,
        after: Offset,
    ) -> Vec<(GroupId, u64)> {
        let mut lost = Vec::new();
        for shard in self.shards().iter() {
            shard.with_ledger(|ledger| {
                for (group, known) in ledger.groups() {
                    let Some(committed) = known.offsets.get(partition) else {
                        continue;
                    };
                    let unread = after.0 - committed.offset.max(before).0;
                    if unread > 0 {
                        lost.push((group.clone(), unread.unsigned_abs()));
                    }
                }
            });
        }
        lost
    }

    /// The timers end; requests are still decided upon.
    pub(crate) fn stop_timers(&self) {
        self.shards.stop_timers();
    }
}

/// The paces of consumer groups: of those that have none of their own, and of each that has.
pub(crate) type ConsumerPacesOfGroups = (
    ConsumerGroupSettings,
    BTreeMap<GroupId, ConsumerGroupSettings>,
);

fn consumer_settings(
    broker: &settings::ConsumerSettings,
    (paces, own): ConsumerPacesOfGroups,
) -> ConsumerSettings {
    let paces_of = |given: ConsumerGroupSettings| ConsumerPaces {
        session_timeout: Duration::from_millis(given.session_timeout_ms),
        heartbeat_interval_ms: given.heartbeat_interval_ms,
        assignment_interval: Duration::from_millis(given.assignment_interval_ms),
    };
    let own = own.into_iter().map(|(group, own)| (group, paces_of(own)));
    let assignors = broker.assignors.iter();
    let assignors: Vec<_> = assignors
        .filter_map(|name| Assignor::from_name(name))
        .collect();
    ConsumerSettings {
        assignors: match assignors.is_empty() {
            true => Assignor::ALL.to_vec(),
            false => assignors,
        },
        paces: paces_of(paces),
        own_paces: Arc::new(own.collect()),
        group_size_max: broker.group_size_max as usize,
        migration_policy: MigrationPolicy::from_name(&broker.migration_policy).unwrap_or_default(),
    }
}

/// The settings that group machines obey.
pub(crate) fn group_settings(
    broker: &BrokerSettings,
    paces: ConsumerPacesOfGroups,
) -> GroupSettings {
    let ms = |ms: u64| Duration::from_millis(ms);
    let small = |number: u32| i32::try_from(number).unwrap_or(i32::MAX);
    GroupSettings {
        share_session_timeout: ms(broker.share.session_timeout_ms),
        initial_rebalance_delay: ms(broker.group_initial_rebalance_delay_ms.into()),
        session_timeout_ms_min: small(broker.group_min_session_timeout_ms),
        session_timeout_ms_max: small(broker.group_max_session_timeout_ms),
        group_size_max: broker.group_max_size as usize,
        offset_metadata_bytes_max: broker.offset_metadata_max_bytes as usize,
        offsets_retention: ms(broker.offsets_retention_ms),
        offsets_retention_check_interval: ms(broker.offsets_retention_check_interval_ms),
        consumer: consumer_settings(&broker.consumer, paces),
        memory_bytes_max: usize::try_from(broker.groups_memory_bytes).unwrap_or(usize::MAX),
        memory_bytes_elsewhere: 0,
    }
}
