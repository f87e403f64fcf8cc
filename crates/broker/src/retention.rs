//! The regular work on logs: retention, rolling by time, forgetting idle producers.
//!
//! Why it exists: old records go when their time has come, not when somebody appends.
//! In -> out: the clock -> logs start later; groups that had not read what went are counted.

use crate::broker::Broker;
use crate::partition::Partition;
use fanlog_model::Offset;
use std::sync::Arc;
use std::time::Duration;

impl Broker {
    /// One round over all partitions, those that could not be opened too; the maintenance task calls it at `log.retention.check.interval.ms`. Blocks.
    pub fn maintain(&self) {
        self.note_time();
        let topics = self.topics();
        let all = || topics.iter().flat_map(|topic| &topic.partitions);
        for partition in all() {
            self.maintain_partition(partition);
        }
        if all().any(|partition| partition.may_be_opened()) {
            self.reconcile();
        }
        self.note_made();
    }

    /// Notes the time for the next start, and says loudly where the clock is not believed.
    pub(crate) fn note_time(&self) {
        let disk = &*self.environment().disk;
        self.last_seen_time.note(disk, &self.steady_clock);
        if let Some(ahead) = self.steady_clock.disbelieved() {
            let days = ahead.as_secs() / 86_400;
            tracing::error!(
                days,
                "the clock is so far ahead of the time that is known to have passed that it is not believed: records, offsets and producers do not expire by it. If it is wrong, put it right; if it is right, restart with fanlog.clock.jump.max.ms raised for this one start"
            );
        }
    }

    fn maintain_partition(&self, partition: &Arc<Partition>) {
        let now = self.steady_clock.wall_ms();
        let maintained = partition.change(|log| {
            log.expire_producers(now);
            let before = log.log_start_offset();
            let retained = log.roll_if_due(now).and_then(|_| log.start_retention(now));
            retained.map(|_| (before, log.log_start_offset()))
        });
        // A segment may have been sealed.
        partition.mark_dirty_if_unsynced();
        match maintained {
            Ok(Ok((before, after))) if after > before => {
                tracing::info!(partition = %partition.folder(), %before, %after, "retention moved the start of the log");
                self.count_lost(partition, before, after);
                // A fetch that waits below the new start is out of range now.
                partition.watchers().wake_all();
            }
            Ok(Ok(_)) => {}
            Ok(Err(error)) => {
                tracing::warn!(partition = %partition.folder(), %error, "retention is tried again later");
            }
            // Offline or deleted: nothing to maintain.
            Err(_) => {}
        }
        // Also what an earlier round, or a deletion of records, has left.
        if let Err(error) = partition.finish_removals() {
            tracing::warn!(partition = %partition.folder(), %error, "old segments are removed later");
        }
    }

    /// Counts what groups had not committed of the records that went.
    pub(crate) fn count_lost(&self, partition: &Arc<Partition>, before: Offset, after: Offset) {
        if after <= before {
            return;
        }
        self.queues().follow_trim(partition, after);
        let place = partition.topic_partition();
        for (group, records) in self.groups().lost_by_trim(&place, before, after) {
            tracing::warn!(%group, partition = %place, records, "records went before the group had committed them");
            self.metrics().count_lost(&group, &place, records);
        }
    }

    pub(crate) fn start_maintenance(self: &Arc<Self>) {
        let weak = Arc::downgrade(self);
        let task = tokio::spawn(async move {
            loop {
                let Some(interval) = weak.upgrade().map(|broker| broker.maintenance_interval())
                else {
                    return;
                };
                tokio::time::sleep(interval).await;
                let Some(broker) = weak.upgrade() else {
                    return;
                };
                if let Err(error) = tokio::task::spawn_blocking(move || broker.maintain()).await {
                    tracing::error!(%error, "a round of maintenance stopped at an internal error");
                }
            }
        });
        self.tasks.lock().push(task.abort_handle());
    }

    fn maintenance_interval(&self) -> Duration {
        Duration::from_millis(self.settings().log_retention_check_interval_ms.max(1))
    }
}
