//! Where those wait who want records of a share-partition, or of a partition of a queue.
//!
//! Why it exists: a wait must end exactly when records come back or the partition's state changes, never by polling; and
//! one reads at a time, so that many who wait don't read the same bytes for nothing.
//! Owns: who waits.   Never: what they wait for.
//! In -> out: a key -> a place in its waiting room, until it is dropped.

use crate::waiters::FetchWatchers;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;

/// One waiting room, while somebody is in it.
#[derive(Debug, Default)]
pub(crate) struct Seat {
    pub(crate) watchers: FetchWatchers,
    /// Held by who looks for records.
    pub(crate) turn: tokio::sync::Mutex<()>,
}

/// All waiting rooms.
#[derive(Debug)]
pub(crate) struct Seats<K> {
    taken: Mutex<BTreeMap<K, Arc<Seat>>>,
}

impl<K> Default for Seats<K> {
    fn default() -> Self {
        Self {
            taken: Mutex::default(),
        }
    }
}

/// A place in a waiting room; it is cleared away behind the last one.
#[derive(Debug)]
pub(crate) struct Seated<K: Ord> {
    seats: Arc<Seats<K>>,
    key: K,
    seat: Option<Arc<Seat>>,
}

impl<K: Ord + Clone> Seats<K> {
    pub(crate) fn take(self: &Arc<Self>, key: &K) -> Seated<K> {
        let mut taken = self.taken.lock();
        let seat = taken.entry(key.clone()).or_default().clone();
        Seated {
            seats: self.clone(),
            key: key.clone(),
            seat: Some(seat),
        }
    }

    /// Those who wait for records look again.
    pub(crate) fn wake(&self, key: &K) {
        let seat = self.taken.lock().get(key).cloned();
        if let Some(seat) = seat {
            seat.watchers.wake_all();
        }
    }

    /// All who wait look again.
    pub(crate) fn wake_all(&self) {
        self.wake_where(|_| true);
    }

    /// Those who wait in some of the rooms look again.
    pub(crate) fn wake_where(&self, is_meant: impl Fn(&K) -> bool) {
        let taken = self.taken.lock();
        let meant = taken.iter().filter(|(key, _)| is_meant(key));
        let seats: Vec<_> = meant.map(|(_, seat)| seat.clone()).collect();
        drop(taken);
        for seat in seats {
            seat.watchers.wake_all();
        }
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.taken.lock().len()
    }
}

impl<K: Ord> Seated<K> {
    pub(crate) fn key(&self) -> &K {
        &self.key
    }

    pub(crate) fn seat(&self) -> &Arc<Seat> {
        self.seat.as_ref().expect("it is there until it is dropped")
    }
}

impl<K: Ord> Drop for Seated<K> {
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

    #[test]
    fn an_empty_waiting_room_is_cleared_away() {
        let seats = Arc::new(Seats::default());
        let first = seats.take(&7);
        let second = seats.take(&7);
        assert!(Arc::ptr_eq(first.seat(), second.seat()));
        drop(first);
        assert_eq!(seats.len(), 1);
        drop(second);
        assert_eq!(seats.len(), 0);
    }
}
