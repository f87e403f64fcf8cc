//! The cleaner: compacts one log after the other, the dirtiest first.
//!
//! Why it exists: compaction reads and writes as much as all producers together, if it is let.
//! Owns: which log is next, which are given up, and how fast it goes.   Never: what stays of a log; that is storage's.
//! In -> out: the clock and the settings -> smaller logs.
//! Invariants: one log at a time; no lock of a partition is held but for a swap. It stops, where it must, after any piece of work.
//! Read next: `cleaner_pace.rs`, `partition/cleaning.rs`; the reasons are in docs/decisions/compaction.md.

use crate::broker::Broker;
use crate::cleaner_pace::Pacer;
use crate::metrics::CleanerMetrics;
use crate::partition::Partition;
use fanlog_model::settings::BrokerSettings;
use fanlog_model::{PartitionIndex, TopicId};
use fanlog_storage::{CleanError, Cleaned, CleanerMemory};
use parking_lot::{Condvar, Mutex};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// The shortest pause where there is nothing to clean.
const PAUSE: Duration = Duration::from_millis(10);
/// After how long a log is tried again whose cleaning failed for a reason that may pass.
const RETRY_PAUSE: Duration = Duration::from_secs(60);

/// What the cleaner remembers.
#[derive(Debug, Default)]
pub(crate) struct Cleaner {
    /// Held while a log is cleaned.
    running: Mutex<()>,
    stop: StopSignal,
    /// Logs that could not be cleaned, and from when on it is tried again; none for never.
    failed: Mutex<BTreeMap<(TopicId, PartitionIndex), Option<Duration>>>,
}

#[derive(Debug, Default)]
struct StopSignal {
    is_given: Mutex<bool>,
    given: Condvar,
}

impl StopSignal {
    fn is_given(&self) -> bool {
        *self.is_given.lock()
    }

    /// Waits, unless it is given meanwhile.
    fn wait(&self, span: Duration) {
        let mut is_given = self.is_given.lock();
        if !*is_given {
            self.given.wait_for(&mut is_given, span);
        }
    }

    fn give(&self) {
        *self.is_given.lock() = true;
        self.given.notify_all();
    }
}

impl Cleaner {
    /// Ends the cleaning under way, and waits until it has.
    pub(crate) fn stop(&self) {
        self.stop.give();
        drop(self.running.lock());
    }

    fn may_be_tried(&self, partition: &Partition, now: Duration) -> bool {
        match self.failed.lock().get(&key(partition)) {
            None => true,
            Some(None) => false,
            Some(Some(retry_at)) => *retry_at <= now,
        }
    }

    fn note_failed(&self, partition: &Partition, retry_at: Option<Duration>) {
        self.failed.lock().insert(key(partition), retry_at);
    }

    /// Forgets logs that are gone; how many are given up.
    fn forget_all_but(&self, is_there: impl Fn(TopicId) -> bool) -> usize {
        let mut failed = self.failed.lock();
        failed.retain(|(topic, _), _| is_there(*topic));
        failed
            .values()
            .filter(|retry_at| retry_at.is_none())
            .count()
    }
}

fn key(partition: &Partition) -> (TopicId, PartitionIndex) {
    (partition.topic_id(), partition.index())
}

impl Broker {
    /// Cleans the compacted log that needs it most, if any does; says whether one did. Blocks for as long as it takes.
    pub fn clean_dirtiest(&self) -> bool {
        let _running = self.cleaner.running.lock();
        if self.cleaner.stop.is_given() {
            return false;
        }
        match self.dirtiest() {
            Some(partition) => {
                self.clean(&partition);
                true
            }
            None => false,
        }
    }

    /// Of the logs whose cleaning is due, the one with the largest share of dirty bytes.
    fn dirtiest(&self) -> Option<Arc<Partition>> {
        let now = self.steady_clock.wall_ms();
        let monotonic = self.steady_clock.monotonic();
        let topics = self.topics();
        let compacted = topics
            .iter()
            .filter(|topic| topic.settings.cleanup_policy.compact);
        let partitions = compacted.flat_map(|topic| &topic.partitions);
        let (mut ratio_max, mut best) = (0.0_f64, None);
        for partition in partitions.chain([self.catalog.partition()]) {
            let dirtiness = match partition.dirtiness(now) {
                Ok(Some(dirtiness)) => dirtiness,
                Ok(None) => continue,
                Err(error) => {
                    tracing::warn!(partition = %partition.folder(), %error, "how much there is to compact is not known");
                    continue;
                }
            };
            let ratio = dirtiness.ratio();
            ratio_max = ratio_max.max(ratio);
            let is_best = best.as_ref().is_none_or(|(best, _)| ratio > *best);
            if dirtiness.is_due && is_best && self.cleaner.may_be_tried(partition, monotonic) {
                best = Some((ratio, partition.clone()));
            }
        }
        let metrics = self.cleaner_metrics();
        metrics.set_dirty_ratio_max(ratio_max);
        let catalog = self.catalog.partition().topic_id();
        let is_there = |id| id == catalog || topics.by_id(id).is_some();
        metrics.set_uncleanable(self.cleaner.forget_all_but(is_there));
        best.map(|(_, partition)| partition)
    }

    fn clean(&self, partition: &Partition) {
        let started = self.steady_clock.monotonic();
        let settings = self.settings();
        let commits = self.metrics().commits().clone();
        let now = self.steady_clock.wall_ms();
        let may_go_on = || !self.cleaner.stop.is_given() && partition.check_serving().is_ok();
        let wait = |span| self.cleaner.stop.wait(span);
        let bytes_per_second = settings.log_cleaner_io_bytes_per_second_max;
        let clock = || self.steady_clock.monotonic();
        let mut pacer = Pacer::new(bytes_per_second, &clock, &commits, &may_go_on, &wait);
        // A simulation's clock stands still while it waits.
        let waits = self.config.has_timers;
        commits.hold(true);
        let result = partition.clean(now, memory(&settings), &mut |work| match waits {
            true => pacer.go_on(work),
            false => may_go_on(),
        });
        commits.hold(false);
        let took = self.steady_clock.monotonic().saturating_sub(started);
        let has_failed = matches!(&result, Err(error) if !is_expected(error));
        let done = match &result {
            Ok(Some(done)) => *done,
            _ => Cleaned::default(),
        };
        self.cleaner_metrics().count_run(&done, took, has_failed);
        match result {
            Ok(Some(done)) => self.tell(partition, &done, took),
            Ok(None) => {
                // It was due, and is not now: nothing that would not pass.
                let retry_at = self.steady_clock.monotonic() + RETRY_PAUSE;
                self.cleaner.note_failed(partition, Some(retry_at));
            }
            Err(error) => self.note_failure(partition, &error),
        }
    }

    fn tell(&self, partition: &Partition, done: &Cleaned, took: Duration) {
        self.cleaner.failed.lock().remove(&key(partition));
        let (before, after) = done.segments;
        tracing::info!(
            partition = %partition.folder(), from = %done.from, to = %done.to, keys = done.keys, removed = done.records_removed,
            read = done.bytes_read, written = done.bytes_written, segments_before = before, segments_after = after,
            took_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX), "compacted"
        );
        if done.records_without_key > 0 {
            let records = done.records_without_key;
            tracing::warn!(partition = %partition.folder(), records, "compaction removed records without a key, from before the topic was compacted");
        }
    }

    fn note_failure(&self, partition: &Partition, error: &CleanError) {
        if error.may_pass() {
            let retry_at = match is_expected(error) {
                true => Duration::ZERO,
                false => self.steady_clock.monotonic() + RETRY_PAUSE,
            };
            self.cleaner.note_failed(partition, Some(retry_at));
            if !is_expected(error) {
                tracing::warn!(partition = %partition.folder(), %error, "compaction is tried again later; nothing was lost");
            }
        } else {
            self.cleaner.note_failed(partition, None);
            tracing::error!(partition = %partition.folder(), %error, "the partition is not compacted any more until the broker restarts; nothing was deleted");
        }
    }

    fn cleaner_metrics(&self) -> &CleanerMetrics {
        self.metrics().cleaner()
    }

    pub(crate) fn start_cleaner(self: &Arc<Self>) {
        if !self.settings().is_log_cleaner_enabled {
            return;
        }
        let weak = Arc::downgrade(self);
        let task = tokio::spawn(async move {
            loop {
                let Some(broker) = weak.upgrade() else {
                    return;
                };
                let backoff = Duration::from_millis(broker.settings().log_cleaner_backoff_ms);
                let cleaned = tokio::task::spawn_blocking(move || broker.clean_dirtiest()).await;
                match cleaned {
                    Ok(true) => {}
                    Ok(false) => tokio::time::sleep(backoff.max(PAUSE)).await,
                    Err(error) => {
                        tracing::error!(%error, "compaction stopped at an internal error");
                        tokio::time::sleep(RETRY_PAUSE).await;
                    }
                }
            }
        });
        self.tasks.lock().push(task.abort_handle());
    }
}

/// What happens in the course of things: a stop, or retention that was faster.
fn is_expected(error: &CleanError) -> bool {
    matches!(error, CleanError::Interrupted | CleanError::Overtaken)
}

fn memory(settings: &BrokerSettings) -> CleanerMemory {
    let bytes = settings.log_cleaner_dedupe_buffer_bytes;
    CleanerMemory {
        map_bytes: usize::try_from(bytes).unwrap_or(usize::MAX),
        map_load_factor: settings.log_cleaner_load_factor,
        buffer_bytes: settings.log_cleaner_io_buffer_bytes.max(4096) as usize,
    }
}
