//! What compaction does.

use fanlog_storage::Cleaned;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

/// The counters of the cleaner.
#[derive(Debug)]
pub(crate) struct CleanerMetrics {
    runs: Counter,
    failures: Counter,
    read_bytes: Counter,
    written_bytes: Counter,
    removed_records: Counter,
    run_seconds: Histogram,
    dirty_ratio_max: Gauge<f64, AtomicU64>,
    uncleanable: Gauge,
}

impl CleanerMetrics {
    pub(super) fn register(registry: &mut Registry) -> Self {
        // From 10 ms, a few small segments, to 5 hours.
        let run_seconds = Histogram::new(exponential_buckets(0.01, 4.0, 11));
        let metrics = Self {
            runs: Counter::default(),
            failures: Counter::default(),
            read_bytes: Counter::default(),
            written_bytes: Counter::default(),
            removed_records: Counter::default(),
            run_seconds,
            dirty_ratio_max: Gauge::default(),
            uncleanable: Gauge::default(),
        };
        let mut counter = |name: &str, help: &str, counter: &Counter| {
            registry.register(name, help, counter.clone());
        };
        counter(
            "cleaner_runs",
            "Compactions of a log, finished or not",
            &metrics.runs,
        );
        counter(
            "cleaner_failures",
            "Compactions that failed; the broker's log says why",
            &metrics.failures,
        );
        counter(
            "cleaner_read_bytes",
            "Bytes of batches read by compaction",
            &metrics.read_bytes,
        );
        counter(
            "cleaner_written_bytes",
            "Bytes of batches written by compaction",
            &metrics.written_bytes,
        );
        counter(
            "cleaner_removed_records",
            "Records removed by compaction",
            &metrics.removed_records,
        );
        registry.register(
            "cleaner_run_seconds",
            "How long compacting a log took",
            metrics.run_seconds.clone(),
        );
        registry.register(
            "cleaner_dirty_ratio_max",
            "The largest share of bytes not compacted yet of any compacted log, when last looked at",
            metrics.dirty_ratio_max.clone(),
        );
        registry.register(
            "cleaner_uncleanable_partitions",
            "Compacted partitions that are not compacted until the broker restarts; its log says why",
            metrics.uncleanable.clone(),
        );
        metrics
    }

    /// A compaction ended.
    pub(crate) fn count_run(&self, done: &Cleaned, took: Duration, has_failed: bool) {
        self.runs.inc();
        self.failures.inc_by(u64::from(has_failed));
        self.read_bytes.inc_by(done.bytes_read);
        self.written_bytes.inc_by(done.bytes_written);
        self.removed_records.inc_by(done.records_removed);
        self.run_seconds.observe(took.as_secs_f64());
    }

    pub(crate) fn set_dirty_ratio_max(&self, ratio: f64) {
        self.dirty_ratio_max.set(ratio);
    }

    pub(crate) fn set_uncleanable(&self, partitions: usize) {
        self.uncleanable
            .set(i64::try_from(partitions).unwrap_or(i64::MAX));
    }
}
