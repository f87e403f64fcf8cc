//! The longest time in which nothing was acknowledged, over all connections.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Shared by the threads that receive acknowledgements.
#[derive(Debug)]
pub(crate) struct Gaps {
    began: Instant,
    last_us: AtomicU64,
    longest_us: AtomicU64,
}

impl Gaps {
    /// Begins to count now.
    pub(crate) fn new() -> Self {
        Self {
            began: Instant::now(),
            last_us: AtomicU64::new(0),
            longest_us: AtomicU64::new(0),
        }
    }

    /// Something was acknowledged.
    pub(crate) fn acknowledged(&self) {
        self.at(u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX));
    }

    fn at(&self, now_us: u64) {
        // Threads may pass each other here by a microsecond; the later time stays.
        let before = self.last_us.fetch_max(now_us, Ordering::Relaxed);
        let gap = now_us.saturating_sub(before);
        self.longest_us.fetch_max(gap, Ordering::Relaxed);
    }

    /// The longest gap so far, in milliseconds.
    pub(crate) fn longest_ms(&self) -> f64 {
        self.longest_us.load(Ordering::Relaxed) as f64 / 1000.0
    }
}

#[cfg(test)]
mod tests {
    use super::Gaps;

    #[test]
    fn the_longest_gap_lies_between_neighbours_whatever_their_order() {
        let gaps = Gaps::new();
        for now in [10, 40, 39, 41, 241, 250] {
            gaps.at(now);
        }
        assert_eq!(gaps.longest_ms(), 0.2);
    }
}
