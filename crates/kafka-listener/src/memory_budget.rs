//! One budget of memory for the requests of all connections.
//!
//! Why it exists: a thousand connections of a hundred megabytes each are more than any machine has.
//! A frame waits for its share before its body is read, so pressure goes back through the socket to the client.
//! Invariants: OPS-1.

use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Shares are counted in units of this many bytes, since a semaphore counts at most 2^32-1 at once.
const UNIT_BYTES: usize = 1024;

/// The shared budget. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct MemoryBudget {
    units: Arc<Semaphore>,
    units_max: u32,
}

/// A share of the budget, given back when dropped.
#[derive(Debug)]
pub(crate) struct MemoryLease {
    _permit: OwnedSemaphorePermit,
}

impl MemoryBudget {
    /// A budget of `bytes`, rounded up to a whole kibibyte.
    pub(crate) fn new(bytes: usize) -> Self {
        let units_max = bytes
            .div_ceil(UNIT_BYTES)
            .clamp(1, Semaphore::MAX_PERMITS.min(u32::MAX as usize));
        Self {
            units: Arc::new(Semaphore::new(units_max)),
            units_max: u32::try_from(units_max).expect("clamped to u32 above"),
        }
    }

    /// Waits for a share of `bytes`; a request larger than the whole budget takes all of it, alone.
    pub(crate) async fn lease(&self, bytes: usize) -> MemoryLease {
        let units = u32::try_from(bytes.div_ceil(UNIT_BYTES)).unwrap_or(u32::MAX);
        let permit = Arc::clone(&self.units)
            .acquire_many_owned(units.clamp(1, self.units_max))
            .await
            .expect("the budget's semaphore is never closed");
        MemoryLease { _permit: permit }
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
        let budget = MemoryBudget::new(4 * UNIT_BYTES);
        let mut poll = Context::from_waker(Waker::noop());
        let Poll::Ready(first) = pin!(budget.lease(3 * UNIT_BYTES)).poll(&mut poll) else {
            panic!("the budget was free");
        };
        let mut second = pin!(budget.lease(2 * UNIT_BYTES));
        assert!(second.as_mut().poll(&mut poll).is_pending());
        drop(first);
        assert!(second.as_mut().poll(&mut poll).is_ready());
    }

    #[test]
    fn a_request_over_the_whole_budget_is_served_alone() {
        let budget = MemoryBudget::new(2 * UNIT_BYTES);
        let mut poll = Context::from_waker(Waker::noop());
        assert!(pin!(budget.lease(usize::MAX)).poll(&mut poll).is_ready());
    }
}
