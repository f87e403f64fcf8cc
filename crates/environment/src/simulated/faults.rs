//! What goes wrong, and when.

use crate::entropy::SplitMix;
use std::collections::BTreeMap;
use std::io;

/// What becomes of the pages that a failed sync did not write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailedSync {
    /// The kernel takes them for clean: reads show them, no later sync writes them.
    PagesDropped,
    /// They stay dirty, and a later sync writes them.
    PagesKept,
    /// One of the two, by the disk's seed.
    Either,
}

#[derive(Clone, Debug)]
pub(super) struct Faults {
    pub(super) operations: u64,
    pub(super) syncs: u64,
    pub(super) chance: SplitMix,
    crash_at: Option<u64>,
    failing_syncs: BTreeMap<u64, FailedSync>,
}

// Linux's numbers, so that a caller that looks at them finds what the real disk gives.
const EIO: i32 = 5;
const ENOSPC: i32 = 28;

pub(super) fn input_output_error() -> io::Error {
    io::Error::from_raw_os_error(EIO)
}

pub(super) fn no_space() -> io::Error {
    io::Error::from_raw_os_error(ENOSPC)
}

fn crashed() -> io::Error {
    io::Error::other("the simulated machine has crashed")
}

impl Faults {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            operations: 0,
            syncs: 0,
            chance: SplitMix::new(seed),
            crash_at: None,
            failing_syncs: BTreeMap::new(),
        }
    }

    pub(super) fn crash_after(&mut self, operations: u64) {
        self.crash_at = Some(self.operations.saturating_add(operations));
    }

    pub(super) fn fail_sync_after(&mut self, syncs: u64, failed: FailedSync) {
        self.failing_syncs
            .insert(self.syncs.saturating_add(syncs), failed);
    }

    pub(super) fn lift(&mut self) {
        self.crash_at = None;
        self.failing_syncs.clear();
    }

    pub(super) fn is_crashed(&self) -> bool {
        self.crash_at.is_some_and(|at| self.operations >= at)
    }

    /// Before a read: it does not change what a crash leaves, so it is not counted.
    pub(super) fn check_running(&self) -> io::Result<()> {
        if self.is_crashed() {
            return Err(crashed());
        }
        Ok(())
    }

    /// Before a change.
    pub(super) fn count_operation(&mut self) -> io::Result<()> {
        self.check_running()?;
        self.operations += 1;
        Ok(())
    }

    /// Whether the change just counted is the one that the crash cuts off.
    pub(super) fn is_last_before_crash(&self) -> bool {
        self.crash_at == Some(self.operations)
    }

    /// Before a sync: what becomes of the pages where it is to fail.
    pub(super) fn count_sync(&mut self) -> io::Result<Option<FailedSync>> {
        self.count_operation()?;
        let failed = self.failing_syncs.remove(&self.syncs);
        self.syncs += 1;
        Ok(match failed {
            Some(FailedSync::Either) if self.chance.below(2) == 0 => Some(FailedSync::PagesKept),
            Some(FailedSync::Either) => Some(FailedSync::PagesDropped),
            failed => failed,
        })
    }
}
