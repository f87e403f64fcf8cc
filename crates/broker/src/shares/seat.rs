//! Where those wait who want records of a share-partition.
//!
//! Why it exists: a wait must end exactly when records come back or the partition's state changes, never by polling; and
//! one reads at a time, so that many who wait don't read the same bytes for nothing.

use crate::waiters::FetchWatchers;
use fanlog_coordinators::share::ShareKey;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

/// One share-partition's waiting room, while somebody is in it.
#[derive(Debug, Default)]
pub(super) struct Seat {
    pub(super) watchers: FetchWatchers,
    /// Held by who looks for records.
    pub(super) turn: tokio::sync::Mutex<()>,
}

/// All waiting rooms.
#[derive(Debug, Default)]
pub(super) struct Seats {
    taken: Mutex<HashMap<ShareKey, Arc<Seat>>>,
}

/// A place in a waiting room; it is cleared away behind the last one.
#[derive(Debug)]
pub(super) struct Seated {
    seats: Arc<Seats>,
    key: ShareKey,
    seat: Option<Arc<Seat>>,
}

impl Seats {
    pub(super) fn take(self: &Arc<Self>, key: &ShareKey) -> Seated {
        let mut taken = self.taken.lock();
        let seat = taken.entry(key.clone()).or_default().clone();
        Seated {
            seats: self.clone(),
            key: key.clone(),
            seat: Some(seat),
        }
    }

    /// Those who wait for records of a share-partition look again.
    pub(super) fn wake(&self, key: &ShareKey) {
        let seat = self.taken.lock().get(key).cloned();
        if let Some(seat) = seat {
            seat.watchers.wake_all();
        }
    }

    /// All who wait look again.
    pub(super) fn wake_all(&self) {
        let seats: Vec<_> = self.taken.lock().values().cloned().collect();
        for seat in seats {
            seat.watchers.wake_all();
        }
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.taken.lock().len()
    }
}

impl Seated {
    pub(super) fn key(&self) -> &ShareKey {
        &self.key
    }

    pub(super) fn seat(&self) -> &Arc<Seat> {
        self.seat.as_ref().expect("it is there until it is dropped")
    }
}

impl Drop for Seated {
    fn drop(&mut self) {
        let mut taken = self.seats.taken.lock();
        drop(self.seat.take());
        let is_last = taken
            .get(&self.key)
            .is_some_and(|seat| Arc::strong_count(seat) == 1);
        if is_last {
            taken.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fanlog_model::{PartitionIndex, TopicId};

    #[test]
    fn an_empty_waiting_room_is_cleared_away() {
        let seats = Arc::new(Seats::default());
        let key = ShareKey {
            group: "g".into(),
            topic: TopicId::ZERO,
            partition: PartitionIndex(0),
        };
        let first = seats.take(&key);
        let second = seats.take(&key);
        assert!(Arc::ptr_eq(first.seat(), second.seat()));
        drop(first);
        assert_eq!(seats.len(), 1);
        drop(second);
        assert_eq!(seats.len(), 0);
    }
}
