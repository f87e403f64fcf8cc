//! The bytes that all fetches together may hold in memory, and their turns at the disk.
//!
//! Why it exists: a thousand consumers of fifty megabytes each are more than any machine has. What is sent from its file takes none.
//! Invariants: OPS-1.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The unit in which the budget is counted, so that it fits the semaphore's numbers.
const BUDGET_UNIT: usize = 1024;
/// How many fetches read from the disk at once; they have their turns in order, so that each consumer that catches up gets its share
/// and syncs do not wait long for the disk.
const LOADS_MAX: usize = 4;
/// A fetch of no more than this is small.
pub(crate) const SMALL_BYTES_MAX: usize = 1024 * 1024;

/// A share of the memory that fetches may hold; given back when dropped.
#[derive(Debug)]
pub struct FetchMemory {
    lanes: Vec<(OwnedSemaphorePermit, Arc<Lane>)>,
}

impl FetchMemory {
    /// No memory.
    pub(crate) fn none() -> Self {
        Self { lanes: Vec::new() }
    }

    pub(crate) fn is_none(&self) -> bool {
        self.lanes.is_empty()
    }

    /// Both shares as one.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.lanes.extend(other.lanes);
        self
    }

    /// As much as so many bytes take; the rest is given back.
    pub(crate) fn cut_to(mut self, bytes: usize) -> Self {
        let mut left = bytes.div_ceil(BUDGET_UNIT);
        for (permit, _) in &mut self.lanes {
            let kept = permit.num_permits().min(left);
            drop(permit.split(permit.num_permits() - kept));
            left -= kept;
        }
        self
    }

    /// Whether other fetches wait for memory of this kind.
    pub fn is_wanted(&self) -> bool {
        let wanted = |lane: &Lane| lane.waiting.load(Ordering::Relaxed) > 0;
        self.lanes.iter().any(|(_, lane)| wanted(lane))
    }
}

/// The bytes that all fetches together may hold: a quarter is for small ones, so that they never wait for large ones.
#[derive(Clone, Debug)]
pub(crate) struct FetchBudget {
    small: Arc<Lane>,
    large: Arc<Lane>,
    loads: Arc<Semaphore>,
}

#[derive(Debug)]
struct Lane {
    units: Arc<Semaphore>,
    units_max: usize,
    waiting: AtomicUsize,
}

/// Counts one who waits, however the wait ends.
struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Lane {
    fn new(bytes: usize) -> Arc<Self> {
        let units_max = bytes.div_ceil(BUDGET_UNIT).clamp(1, u32::MAX as usize);
        Arc::new(Self {
            units: Arc::new(Semaphore::new(units_max)),
            units_max,
            waiting: AtomicUsize::new(0),
        })
    }

    fn units_for(&self, bytes: usize) -> u32 {
        bytes.div_ceil(BUDGET_UNIT).min(self.units_max) as u32
    }
}

impl FetchBudget {
    pub(crate) fn new(bytes: usize) -> Self {
        let quarter = bytes / 4;
        Self {
            small: Lane::new(quarter),
            large: Lane::new(bytes - quarter),
            loads: Arc::new(Semaphore::new(LOADS_MAX)),
        }
    }

    /// Room for a large fetch, if there is any now.
    pub(crate) fn try_reserve_large(&self, bytes: usize) -> Option<FetchMemory> {
        let lane = &self.large;
        let units = Arc::clone(&lane.units).try_acquire_many_owned(lane.units_for(bytes));
        units.ok().map(|permit| FetchMemory {
            lanes: vec![(permit, Arc::clone(lane))],
        })
    }

    /// Room for more, if there is any now: what is for small fetches comes last.
    pub(crate) fn try_reserve(&self, bytes: usize) -> Option<FetchMemory> {
        if bytes > SMALL_BYTES_MAX {
            return self.try_reserve_large(bytes);
        }
        self.try_reserve_large(bytes).or_else(|| {
            let lane = &self.small;
            let units = Arc::clone(&lane.units).try_acquire_many_owned(lane.units_for(bytes));
            units.ok().map(|permit| FetchMemory {
                lanes: vec![(permit, Arc::clone(lane))],
            })
        })
    }

    /// Waits for a turn at reading what was not appended lately.
    pub(crate) async fn turn_to_load(&self) -> OwnedSemaphorePermit {
        let turn = Arc::clone(&self.loads).acquire_owned().await;
        turn.expect("the budget's semaphore is never closed")
    }

    /// Waits for room. A single batch larger than the whole budget gets all of it, so that it can be read at all.
    pub(crate) async fn reserve(&self, bytes: usize) -> FetchMemory {
        if bytes == 0 {
            return FetchMemory::none();
        }
        let lane = match bytes {
            ..=SMALL_BYTES_MAX => &self.small,
            _ => &self.large,
        };
        lane.waiting.fetch_add(1, Ordering::Relaxed);
        let _waiting = Waiting(&lane.waiting);
        let permit = Arc::clone(&lane.units)
            .acquire_many_owned(lane.units_for(bytes))
            .await
            .expect("the budget's semaphore is never closed");
        FetchMemory {
            lanes: vec![(permit, Arc::clone(lane))],
        }
    }

    pub(crate) fn bytes_max(&self) -> usize {
        self.large.units_max * BUDGET_UNIT
    }
}
