//! What publishers, groups and the watching thread know of each other.

use crate::figures::{record, times};
use crate::gaps::Gaps;
use hdrhistogram::Histogram;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// Which part of the run a batch belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Burst,
    Baseline,
}

/// Times until acknowledged, in microseconds.
#[derive(Debug)]
pub(super) struct Times {
    pub(super) burst: Histogram<u64>,
    pub(super) baseline: Histogram<u64>,
    /// Since the last progress line.
    pub(super) lately: Histogram<u64>,
}

/// All of it.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) started: Instant,
    pub(super) gaps: Gaps,
    /// Records acknowledged, by partition.
    acknowledged: Vec<AtomicU64>,
    /// Records read, by group.
    read: Vec<AtomicU64>,
    unsent: AtomicU64,
    times: Mutex<Times>,
    /// Publishers stop the baseline.
    pub(super) is_enough: AtomicBool,
    /// The group that is held back is let go.
    pub(super) is_lifted: AtomicBool,
    /// Everything that will ever be acknowledged is.
    pub(super) is_published: AtomicBool,
    /// Somebody failed: the others end.
    pub(super) has_failed: AtomicBool,
}

impl Shared {
    pub(super) fn new(partitions: usize, groups: usize) -> Self {
        Self {
            started: Instant::now(),
            gaps: Gaps::new(),
            acknowledged: (0..partitions).map(|_| AtomicU64::new(0)).collect(),
            read: (0..groups).map(|_| AtomicU64::new(0)).collect(),
            unsent: AtomicU64::new(0),
            times: Mutex::new(Times {
                burst: times(),
                baseline: times(),
                lately: times(),
            }),
            is_enough: AtomicBool::new(false),
            is_lifted: AtomicBool::new(false),
            is_published: AtomicBool::new(false),
            has_failed: AtomicBool::new(false),
        }
    }

    /// Runs a thread's work, and tells the others if it fails.
    pub(super) fn guarded<T>(&self, work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<T> {
        let done = work();
        if done.is_err() {
            self.has_failed.store(true, Ordering::Relaxed);
        }
        done
    }

    pub(super) fn acknowledged(
        &self,
        partition: usize,
        records: u64,
        phase: Phase,
        took: Duration,
    ) {
        self.acknowledged[partition].fetch_add(records, Ordering::Release);
        self.gaps.acknowledged();
        let mut times = self.times();
        record(&mut times.lately, took);
        record(
            match phase {
                Phase::Burst => &mut times.burst,
                Phase::Baseline => &mut times.baseline,
            },
            took,
        );
    }

    /// Records that were due and that nobody will send, and how long they had waited.
    pub(super) fn unsent(&self, records: u64, waited: Duration) {
        self.unsent.fetch_add(records, Ordering::Relaxed);
        record(&mut self.times().burst, waited);
    }

    pub(super) fn read(&self, group: usize, records: u64) {
        self.read[group].fetch_add(records, Ordering::Relaxed);
    }

    pub(super) fn times(&self) -> MutexGuard<'_, Times> {
        self.times.lock().expect("a panic ends the program")
    }

    pub(super) fn unsent_records(&self) -> u64 {
        self.unsent.load(Ordering::Relaxed)
    }

    pub(super) fn acknowledged_in(&self, partition: usize) -> u64 {
        self.acknowledged[partition].load(Ordering::Acquire)
    }

    pub(super) fn acknowledged_records(&self) -> u64 {
        let all = self.acknowledged.iter();
        all.map(|one| one.load(Ordering::Acquire)).sum()
    }

    pub(super) fn read_records(&self, group: usize) -> u64 {
        self.read[group].load(Ordering::Relaxed)
    }

    /// How far a group is behind; a record may be read before its acknowledgement has come.
    pub(super) fn lag(&self, group: usize) -> u64 {
        self.acknowledged_records()
            .saturating_sub(self.read_records(group))
    }

    pub(super) fn is(&self, what: &AtomicBool) -> bool {
        what.load(Ordering::Acquire) || self.has_failed.load(Ordering::Relaxed)
    }
}
