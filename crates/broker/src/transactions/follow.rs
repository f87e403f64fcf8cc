//! How transactions follow the rest of the broker: their topic opens, settings change.

use super::Transactions;
use super::shard::Shard;
use crate::topics_view::TopicsView;
use fanlog_coordinators::transaction::TransactionSettings;
use fanlog_model::settings::BrokerSettings;
use std::time::Duration;

impl Transactions {
    /// The topics are now these: the machines start when theirs is open.
    pub(crate) fn follow_topics(&self, topics: &TopicsView, in_background: bool) {
        self.shards
            .follow_topics(topics, in_background, |partition| {
                Shard::new(partition, self.shared.clone())
            });
    }

    pub(crate) fn follow_settings(&self, settings: TransactionSettings) {
        *self.shared.settings.lock() = settings;
    }

    /// The timers end; requests are still decided upon.
    pub(crate) fn stop_timers(&self) {
        self.shards.stop_timers();
    }
}

/// The settings that transaction machines obey.
pub(crate) fn transaction_settings(broker: &BrokerSettings) -> TransactionSettings {
    let ms = Duration::from_millis;
    TransactionSettings {
        timeout_ms_max: i32::try_from(broker.transaction_max_timeout_ms).unwrap_or(i32::MAX),
        id_expiration: ms(broker.transactional_id_expiration_ms),
        id_expiration_check_interval: ms(broker.transactional_id_cleanup_interval_ms),
        memory_bytes_max: usize::try_from(broker.transactions_memory_bytes).unwrap_or(usize::MAX),
        ..TransactionSettings::default()
    }
}
