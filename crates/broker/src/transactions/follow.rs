//! How transactions follow the rest of the broker: their topic opens, settings change.

use super::shard::Shard;
use super::{TRANSACTIONS_TOPIC, Transactions};
use crate::machine_runtime::run_timer;
use crate::topics_view::{Topic, TopicsView};
use fanlog_coordinators::transaction::TransactionSettings;
use fanlog_model::settings::BrokerSettings;
use std::sync::Arc;
use std::time::Duration;

impl Transactions {
    /// The topics are now these: the machines start when theirs is open.
    pub(crate) fn follow_topics(&self, topics: &TopicsView, in_background: bool) {
        let mut ours = topics
            .iter()
            .filter(|topic| topic.name.as_str() == TRANSACTIONS_TOPIC);
        let Some(ours) = ours.next() else {
            return;
        };
        let new = self.start_shards(ours);
        let load = move || new.iter().for_each(Shard::load);
        if in_background {
            self.shared.blocking.spawn(load);
        } else {
            load();
        }
    }

    /// Gives every partition its machine and answers those that are new. Where the opening of a partition was tried
    /// again, the machine over the attempt that failed goes: it would be broken for ever.
    fn start_shards(&self, topic: &Topic) -> Vec<Arc<Shard>> {
        let before = self.shards();
        let mut new = Vec::new();
        let partitions = topic.partitions.iter();
        let shards: Arc<[_]> = partitions
            .map(|partition| {
                let mut known = before.iter();
                if let Some(shard) = known.find(|s| Arc::ptr_eq(s.partition(), partition)) {
                    return shard.clone();
                }
                let shard = Shard::new(Arc::clone(partition), self.shared.clone());
                new.push(shard.clone());
                shard
            })
            .collect();
        if new.is_empty() {
            return new;
        }
        *self.shards.write() = shards;
        if self.shared.has_timers {
            let run = |shard: &Arc<Shard>| tokio::spawn(run_timer(shard.clone())).abort_handle();
            self.timers.lock().extend(new.iter().map(run));
        }
        new
    }

    pub(crate) fn follow_settings(&self, settings: TransactionSettings) {
        *self.shared.settings.lock() = settings;
    }

    /// The timers end; requests are still decided upon.
    pub(crate) fn stop_timers(&self) {
        for timer in self.timers.lock().drain(..) {
            timer.abort();
        }
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
