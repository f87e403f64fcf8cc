//! How long acknowledgements take, compared with how long they usually take.
//!
//! Why it exists: work in the background must make way when it slows commits down, and what is slow depends on the disk.
//! Invariants: OPS-1; no lock, as every acknowledgement comes by here. Two that come at once may count as one.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// An acknowledgement moves the recent latency by an eighth, and the usual one by a 64th.
const RECENT_SHIFT: u32 = 3;
const USUAL_SHIFT: u32 = 6;
/// Differences below this are noise.
const NOISE: Duration = Duration::from_millis(1);

/// The latency of acknowledgements now and usually.
#[derive(Debug, Default)]
pub(crate) struct CommitLatency {
    recent_us: AtomicU64,
    usual_us: AtomicU64,
    count: AtomicU64,
    /// While the background works, what it causes must not pass for usual.
    is_held: AtomicBool,
}

impl CommitLatency {
    pub(crate) fn note(&self, waited: Duration) {
        let us = u64::try_from(waited.as_micros()).unwrap_or(u64::MAX >> 8);
        move_to(&self.recent_us, us, RECENT_SHIFT);
        if !self.is_held.load(Ordering::Relaxed) {
            move_to(&self.usual_us, us, USUAL_SHIFT);
        }
        self.count.fetch_add(1, Ordering::Relaxed);
    }

    /// Keeps the usual latency as it is, or lets it follow again.
    pub(crate) fn hold(&self, is_held: bool) {
        self.is_held.store(is_held, Ordering::Relaxed);
    }

    /// Whether acknowledgements take twice as long as usual.
    pub(crate) fn is_high(&self) -> bool {
        let usual = self.usual_us.load(Ordering::Relaxed);
        let noise = u64::try_from(NOISE.as_micros()).unwrap_or(u64::MAX);
        usual > 0 && self.recent_us.load(Ordering::Relaxed) > 2 * usual + noise
    }

    /// How many acknowledgements there were.
    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }
}

fn move_to(mean: &AtomicU64, us: u64, shift: u32) {
    let before = mean.load(Ordering::Relaxed);
    let after = match before {
        0 => us,
        _ if us >= before => before + ((us - before) >> shift),
        _ => before - ((before - us) >> shift),
    };
    mean.store(after.max(1), Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(latency: &CommitLatency, count: usize, ms: u64) {
        for _ in 0..count {
            latency.note(Duration::from_millis(ms));
        }
    }

    #[test]
    fn twice_the_usual_is_high_until_it_is_usual() {
        let latency = CommitLatency::default();
        assert!(!latency.is_high());
        note(&latency, 100, 3);
        assert!(!latency.is_high());
        note(&latency, 10, 20);
        assert!(latency.is_high());
        note(&latency, 1_000, 20);
        assert!(
            !latency.is_high(),
            "a slow disk is no reason to wait for ever"
        );
    }

    #[test]
    fn what_the_background_causes_does_not_become_usual() {
        let latency = CommitLatency::default();
        note(&latency, 100, 3);
        latency.hold(true);
        note(&latency, 1_000, 20);
        assert!(latency.is_high());
        latency.hold(false);
        note(&latency, 1_000, 20);
        assert!(!latency.is_high());
        assert_eq!(latency.count(), 2_100);
    }
}
