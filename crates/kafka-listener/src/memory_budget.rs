//! One budget of memory for the requests of all connections.
//!
//! Why it exists: a thousand connections of a hundred megabytes each are more than any machine has.
//! A frame waits for its share before its body is read, so pressure goes back through the socket to the client.
//! The budget has lanes by size: a few huge requests that arrive slowly must not hold up a heartbeat.
//! Invariants: OPS-1.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::sleep;

/// Shares are counted in units of this many bytes, since a semaphore counts at most 2^32-1 at once.
const UNIT_BYTES: usize = 1024;
/// Requests up to this size are small: heartbeats, commits, fetches.
pub(crate) const SMALL_BYTES_MAX: usize = 16 * 1024;
/// Requests up to this size are ordinary: what producers send as they are usually set up.
const ORDINARY_BYTES_MAX: usize = 2 * 1024 * 1024;
/// Who holds memory that others wait for, and makes no progress for this long, loses it.
pub(crate) const GIVE_WAY_AFTER: Duration = Duration::from_secs(1);

/// The shared budget. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct MemoryBudget {
    small: Arc<Lane>,
    ordinary: Arc<Lane>,
    large: Arc<Lane>,
}

/// The part of the budget that is for requests of one kind of size.
#[derive(Debug)]
struct Lane {
    units: Arc<Semaphore>,
    units_max: u32,
    waiting: AtomicUsize,
}

/// A share of the budget, given back when dropped.
#[derive(Debug)]
pub(crate) struct MemoryLease {
    lane: Arc<Lane>,
    bytes: usize,
    _permit: OwnedSemaphorePermit,
}

/// Counts one who waits, however the wait ends.
struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl MemoryBudget {
    /// A budget of about `bytes`: an eighth for small requests, three for ordinary ones, half for large ones.
    pub(crate) fn new(bytes: usize) -> Self {
        let eighths = |n: usize| Arc::new(Lane::new(bytes / 8 * n));
        Self {
            small: eighths(1),
            ordinary: eighths(3),
            large: eighths(4),
        }
    }

    /// Waits for a share of `bytes`; a request larger than the whole lane takes all of it, alone.
    pub(crate) async fn lease(&self, bytes: usize) -> MemoryLease {
        let lane = if bytes <= SMALL_BYTES_MAX {
            &self.small
        } else if bytes <= ORDINARY_BYTES_MAX {
            &self.ordinary
        } else {
            &self.large
        };
        lane.waiting.fetch_add(1, Ordering::Relaxed);
        let _waiting = Waiting(&lane.waiting);
        let units = u32::try_from(bytes.div_ceil(UNIT_BYTES)).unwrap_or(u32::MAX);
        let permit = Arc::clone(&lane.units)
            .acquire_many_owned(units.clamp(1, lane.units_max))
            .await
            .expect("the budget's semaphore is never closed");
        MemoryLease {
            lane: Arc::clone(lane),
            bytes,
            _permit: permit,
        }
    }
}

impl Lane {
    /// Rounded up to a whole unit.
    fn new(bytes: usize) -> Self {
        let units_max = bytes
            .div_ceil(UNIT_BYTES)
            .clamp(1, Semaphore::MAX_PERMITS.min(u32::MAX as usize));
        Self {
            units: Arc::new(Semaphore::new(units_max)),
            units_max: u32::try_from(units_max).expect("clamped to u32 above"),
            waiting: AtomicUsize::new(0),
        }
    }
}

impl MemoryLease {
    /// How many bytes it was asked for.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether somebody waits for memory of this kind.
    pub(crate) fn is_wanted(&self) -> bool {
        self.lane.waiting.load(Ordering::Relaxed) > 0
    }

    /// Completes when somebody waits for this memory and the holder had its time.
    pub(crate) async fn must_give_way(lease: Option<&Self>) {
        let Some(lease) = lease else {
            return pending().await;
        };
        loop {
            sleep(GIVE_WAY_AFTER).await;
            if lease.is_wanted() {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    #[test]
    fn a_share_waits_until_another_is_given_back() {
        let budget = MemoryBudget::new(8 * 4 * UNIT_BYTES);
        let mut poll = Context::from_waker(Waker::noop());
        let Poll::Ready(first) = pin!(budget.lease(3 * UNIT_BYTES)).poll(&mut poll) else {
            panic!("the budget was free");
        };
        let mut second = pin!(budget.lease(2 * UNIT_BYTES));
        assert!(!first.is_wanted());
        assert!(second.as_mut().poll(&mut poll).is_pending());
        assert!(first.is_wanted());
        drop(first);
        assert!(second.as_mut().poll(&mut poll).is_ready());
    }

    #[test]
    fn a_request_over_the_whole_budget_is_served_alone() {
        let budget = MemoryBudget::new(8 * UNIT_BYTES);
        let mut poll = Context::from_waker(Waker::noop());
        assert!(pin!(budget.lease(usize::MAX)).poll(&mut poll).is_ready());
    }

    #[test]
    fn large_requests_leave_room_for_small_ones() {
        let budget = MemoryBudget::new(1024 * 1024);
        let mut poll = Context::from_waker(Waker::noop());
        let large = pin!(budget.lease(usize::MAX)).poll(&mut poll);
        let ordinary = pin!(budget.lease(ORDINARY_BYTES_MAX)).poll(&mut poll);
        assert!(large.is_ready() && ordinary.is_ready());
        assert!(pin!(budget.lease(usize::MAX)).poll(&mut poll).is_pending());
        assert!(
            pin!(budget.lease(SMALL_BYTES_MAX))
                .poll(&mut poll)
                .is_ready()
        );
    }
}
