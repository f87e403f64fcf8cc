//! What a share group allows: the limits and choices that the states and locks themselves don't know.
//!
//! Why it exists: queues with other rules use the same machine; what differs stands here and nowhere else.

use super::DeliveryState;
use std::time::Duration;

/// The rules of one share-partition, read anew for each decision: they may change while it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// How often a record is delivered at most (`share.delivery.count.limit`).
    pub delivery_count_max: i16,
    /// How long a record is held without being renewed (`share.record.lock.duration.ms`).
    pub lock: Duration,
    /// Whether a holder may have its lock start anew (`share.renew.acknowledge.enable`).
    pub may_renew: bool,
    /// How many records are held or wait for another attempt, until no new ones are given (`share.partition.max.record.locks`).
    pub window: i64,
    /// How many runs of states are kept, until no new records are given: what scattered acknowledgements may take up.
    pub runs_max: usize,
    /// Whether records that failed often are delivered in ever smaller numbers, so that the bad one is found.
    pub isolates_poison: bool,
    /// How many updates are logged between two snapshots.
    pub updates_per_snapshot: u32,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            delivery_count_max: 5,
            lock: Duration::from_secs(30),
            may_renew: true,
            window: 2000,
            runs_max: 20_000,
            isolates_poison: true,
            updates_per_snapshot: 500,
        }
    }
}

impl Policy {
    /// What becomes of a record that was not done with, after so many deliveries.
    pub fn after_failure(&self, delivery_count: i16) -> DeliveryState {
        match delivery_count >= self.delivery_count_max {
            true => DeliveryState::Archived,
            false => DeliveryState::Available,
        }
    }

    /// How many of `records` that were delivered so often may be delivered together; `None` for as many as are wanted.
    /// From half of the attempts on each attempt is given half of what the one before had, and the last one a single record.
    pub fn isolated(&self, delivery_count: i16, records: i64) -> Option<i64> {
        let half = (self.delivery_count_max + 1) / 2;
        if !self.isolates_poison || delivery_count < half.max(1) {
            return None;
        }
        match delivery_count >= self.delivery_count_max - 1 {
            true => Some(1),
            false => Some((records / 2).max(1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_records_are_found_by_halves() {
        let policy = Policy::default();
        assert_eq!(policy.isolated(0, 200), None);
        assert_eq!(policy.isolated(2, 200), None);
        assert_eq!(policy.isolated(3, 200), Some(100));
        assert_eq!(policy.isolated(4, 100), Some(1));
        assert_eq!(policy.isolated(3, 1), Some(1));
        let least = Policy {
            delivery_count_max: 2,
            ..policy
        };
        assert_eq!(least.isolated(0, 9), None);
        assert_eq!(least.isolated(1, 9), Some(1));
    }
}
