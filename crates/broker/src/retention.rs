//! The regular work on logs: retention, rolling by time, forgetting idle producers.
//!
//! Why it exists: old records go when their time has come, not when somebody appends.
//! In -> out: the clock -> logs start later; groups that had not read what went are counted.

use crate::broker::Broker;
use crate::partition::Partition;
use crate::topics_view::Topic;
use fanlog_model::Offset;
use fanlog_storage::RetentionHold;
use std::sync::Arc;
use std::time::Duration;

impl Broker {
    /// One round over all partitions, those that could not be opened too; the maintenance task calls it at `log.retention.check.interval.ms`. Blocks.
    pub fn maintain(&self) {
        self.note_time();
        let topics = self.topics();
        let all = || topics.iter().flat_map(|topic| &topic.partitions);
        for topic in topics.iter() {
            for partition in &topic.partitions {
                let hold = self.hold_of(topic, partition);
                self.maintain_partition(partition, hold);
            }
        }
        if all().any(|partition| partition.may_be_opened()) {
            self.reconcile();
        }
        self.dedup.maintain(&self.topics());
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

    /// What queues hold back of a partition: they have yet to be done with it.
    fn hold_of(&self, topic: &Topic, partition: &Partition) -> Option<RetentionHold> {
        let from = self.queues().hold_for(partition)?;
        let bytes_max = topic.settings.retention_hold_bytes;
        Some(RetentionHold { from, bytes_max })
    }

    fn maintain_partition(&self, partition: &Arc<Partition>, hold: Option<RetentionHold>) {
        let now = self.steady_clock.wall_ms();
        let maintained = partition.change(|log| {
            log.expire_producers(now);
            let before = log.log_start_offset();
            let retained = log.roll_if_due(now);
            let retained = retained.and_then(|_| log.start_retention(now, hold));
            retained.map(|retained| (before, retained))
        });
        // A segment may have been sealed.
        partition.mark_dirty_if_unsynced();
        match maintained {
            Ok(Ok((before, retained))) if retained.log_start_offset > before => {
                let after = retained.log_start_offset;
                tracing::info!(partition = %partition.folder(), %before, %after, "retention moved the start of the log");
                if hold.is_some_and(|hold| hold.from.max(before) < after) {
                    tracing::warn!(partition = %partition.folder(), "records went before queues were done with them: they hold back retention.hold.bytes at most; raise it, or have the queues worked off");
                }
                self.count_lost(partition, before, after);
                // A fetch that waits below the new start is out of range now.
                partition.watchers().wake_all();
            }
            Ok(Ok((_, retained))) => {
                if retained.held_bytes > 0 {
                    tracing::debug!(partition = %partition.folder(), bytes = retained.held_bytes, "retention waits for queues");
                }
            }
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
