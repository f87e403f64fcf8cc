//! Who waits for a partition: acknowledgements for their offset to be durable, fetches for something to change.
//!
//! Why it exists: a long poll or an acknowledgement must cost nothing while it waits and wake exactly when the
//! watermark moves, the log fails or the topic goes (P56), never by polling.
//! Owns: the parked callers.   Never: offsets themselves; the partition tells it.
//! In -> out: `move_to`, `fail` -> woken callers. A caller that goes away leaves nothing that can fail.
//! Invariants: LOG-2 (an acknowledgement is released at or below the durable offset).   Read next: `partition.rs`.

use crate::lookup::PartitionUnavailable;
use fanlog_model::Offset;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::{Notify, oneshot};

type Durable = Result<(), PartitionUnavailable>;

/// Acknowledgements that wait for durability, by the offset that they need.
#[derive(Debug)]
pub(crate) struct AckWaiters {
    state: Mutex<AckState>,
}

#[derive(Debug)]
struct AckState {
    durable: Offset,
    failure: Option<PartitionUnavailable>,
    parked: BTreeMap<(Offset, u64), oneshot::Sender<Durable>>,
    tickets: u64,
}

/// An acknowledgement that is decided already, or will be.
#[derive(Debug)]
pub(crate) enum Ack {
    Decided(Durable),
    Parked(oneshot::Receiver<Durable>),
}

impl AckWaiters {
    pub(crate) fn new(durable: Offset) -> Self {
        let state = AckState {
            durable,
            failure: None,
            parked: BTreeMap::new(),
            tickets: 0,
        };
        Self {
            state: Mutex::new(state),
        }
    }

    /// Waits until everything below `needed` is durable.
    pub(crate) fn wait_for(&self, needed: Offset) -> Ack {
        let mut state = self.state.lock();
        if needed <= state.durable {
            return Ack::Decided(Ok(()));
        }
        if let Some(failure) = &state.failure {
            return Ack::Decided(Err(failure.clone()));
        }
        let (sender, receiver) = oneshot::channel();
        let ticket = state.tickets;
        state.tickets += 1;
        state.parked.insert((needed, ticket), sender);
        Ack::Parked(receiver)
    }

    /// Everything below `durable` is durable: those who waited for it go.
    pub(crate) fn move_to(&self, durable: Offset) {
        let mut state = self.state.lock();
        // Commits and syncs of segments tell it independently, and one may be late.
        state.durable = state.durable.max(durable);
        let durable = state.durable;
        let still_parked = state.parked.split_off(&(durable.plus(1), 0));
        let released = std::mem::replace(&mut state.parked, still_parked);
        drop(state);
        for sender in released.into_values() {
            // A caller that went away needs no answer.
            let _ = sender.send(Ok(()));
        }
    }

    /// Nothing more becomes durable: all who wait are told why.
    pub(crate) fn fail(&self, failure: &PartitionUnavailable) {
        let mut state = self.state.lock();
        state.failure.get_or_insert_with(|| failure.clone());
        let parked = std::mem::take(&mut state.parked);
        drop(state);
        for sender in parked.into_values() {
            let _ = sender.send(Err(failure.clone()));
        }
    }
}

/// One waiting fetch: it is woken once for any number of changes, and told which of its partitions changed.
#[derive(Debug, Default)]
pub(crate) struct FetchWaiter {
    changed: Mutex<Vec<usize>>,
    notify: Notify,
}

impl FetchWaiter {
    fn wake(&self, position: usize) {
        self.changed.lock().push(position);
        self.notify.notify_one();
    }

    /// Waits for a change; the positions of the partitions that changed, perhaps none, perhaps repeated.
    pub(crate) async fn changed(&self) -> Vec<usize> {
        self.notify.notified().await;
        std::mem::take(&mut *self.changed.lock())
    }
}

/// The fetches that wait for one partition.
#[derive(Debug, Default)]
pub(crate) struct FetchWatchers {
    waiting: Mutex<BTreeMap<u64, (Arc<FetchWaiter>, usize)>>,
    tickets: AtomicU64,
}

impl FetchWatchers {
    /// Registers a fetch, in which this partition has `position`, until `unwatch`.
    pub(crate) fn watch(&self, waiter: &Arc<FetchWaiter>, position: usize) -> u64 {
        let ticket = self.tickets.fetch_add(1, Ordering::Relaxed);
        self.waiting
            .lock()
            .insert(ticket, (waiter.clone(), position));
        ticket
    }

    /// The fetch no longer waits.
    pub(crate) fn unwatch(&self, ticket: u64) {
        self.waiting.lock().remove(&ticket);
    }

    /// Something changed: more to read, or a failure, or the end of the topic.
    pub(crate) fn wake_all(&self) {
        for (waiter, position) in self.waiting.lock().values() {
            waiter.wake(*position);
        }
    }

    #[cfg(test)]
    pub(crate) fn count(&self) -> usize {
        self.waiting.lock().len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gone() -> PartitionUnavailable {
        PartitionUnavailable::Deleted {
            partition: "t-0".into(),
        }
    }

    fn decided(ack: &mut Ack) -> Option<Durable> {
        match ack {
            Ack::Decided(result) => Some(result.clone()),
            Ack::Parked(receiver) => receiver.try_recv().ok(),
        }
    }

    #[test]
    fn an_acknowledgement_goes_when_its_offset_is_durable_and_not_before() {
        let acks = AckWaiters::new(Offset(0));
        let mut first = acks.wait_for(Offset(5));
        let mut second = acks.wait_for(Offset(7));
        acks.move_to(Offset(4));
        assert_eq!(decided(&mut first), None);
        acks.move_to(Offset(6));
        assert_eq!(decided(&mut first), Some(Ok(())));
        assert_eq!(decided(&mut second), None);
        acks.move_to(Offset(7));
        assert_eq!(decided(&mut second), Some(Ok(())));
    }

    #[test]
    fn a_failure_answers_those_who_wait_and_those_who_come_later() {
        let acks = AckWaiters::new(Offset(3));
        let mut waiting = acks.wait_for(Offset(5));
        drop(acks.wait_for(Offset(6)));
        acks.fail(&gone());
        assert_eq!(decided(&mut waiting), Some(Err(gone())));
        assert_eq!(decided(&mut acks.wait_for(Offset(9))), Some(Err(gone())));
        // What was durable before stays acknowledged.
        assert_eq!(decided(&mut acks.wait_for(Offset(3))), Some(Ok(())));
    }

    #[tokio::test]
    async fn a_change_before_the_wait_is_not_missed() {
        let watchers = FetchWatchers::default();
        let waiter = Arc::new(FetchWaiter::default());
        let ticket = watchers.watch(&waiter, 3);
        watchers.wake_all();
        assert_eq!(waiter.changed().await, vec![3]);
        watchers.unwatch(ticket);
        assert_eq!(watchers.count(), 0);
    }
}
