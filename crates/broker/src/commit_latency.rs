//! How long acknowledgements take, compared with how long they usually take.
//!
//! Why it exists: work in the background must make way when it slows commits down, and what is slow depends on the disk.
//! Invariants: OPS-1; no lock, as every acknowledgement comes by here. Two that come at once may count as one.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// An acknowledgement moves the recent latency by an eighth, and the usual one by a 64th.
const RECENT_SHIFT: u32 = 3;
const USUAL_SHIFT: u32 = 6;
/// Differences below these are noise: for work that can stop altogether, and for work that can go on more slowly.
const HIGH_NOISE: Duration = Duration::from_millis(1);
const RAISED_NOISE: Duration = Duration::from_micros(50);
/// Without an acknowledgement for so long there is nobody to make way for.
const QUIET: Duration = Duration::from_millis(200);

/// The latency of acknowledgements now and usually.
#[derive(Debug, Default)]
pub(crate) struct CommitLatency {
    recent_ns: AtomicU64,
    usual_ns: AtomicU64,
    count: AtomicU64,
    last_at_ns: AtomicU64,
    /// While the background works, what it causes must not pass for usual.
    is_held: AtomicBool,
    held_until_ns: AtomicU64,
}

impl CommitLatency {
    /// An acknowledgement came after `waited`, at `now` on the monotonic clock.
    pub(crate) fn note(&self, now: Duration, waited: Duration) {
        let (now, waited) = (nanoseconds(now), nanoseconds(waited));
        move_to(&self.recent_ns, waited, RECENT_SHIFT);
        let is_held = self.is_held.load(Ordering::Relaxed)
            || now < self.held_until_ns.load(Ordering::Relaxed);
        if !is_held || self.usual_ns.load(Ordering::Relaxed) == 0 {
            move_to(&self.usual_ns, waited, USUAL_SHIFT);
        }
        self.last_at_ns.store(now, Ordering::Relaxed);
        self.count.fetch_add(1, Ordering::Relaxed);
    }

    /// Keeps the usual latency as it is, or lets it follow again.
    pub(crate) fn hold(&self, is_held: bool) {
        self.is_held.store(is_held, Ordering::Relaxed);
    }

    /// Keeps the usual latency as it is until then.
    pub(crate) fn hold_until(&self, until: Duration) {
        self.held_until_ns
            .fetch_max(nanoseconds(until), Ordering::Relaxed);
    }

    /// Whether acknowledgements take twice as long as usual.
    pub(crate) fn is_high(&self) -> bool {
        let (recent, usual) = self.both();
        usual > 0 && recent > 2 * usual + nanoseconds(HIGH_NOISE)
    }

    /// Whether acknowledgements take half as long again as usual, and somebody waits for any.
    pub(crate) fn is_raised(&self, now: Duration) -> bool {
        let (recent, usual) = self.both();
        let last_at = self.last_at_ns.load(Ordering::Relaxed);
        let is_raised = recent > usual + usual / 2 + nanoseconds(RAISED_NOISE);
        usual > 0 && is_raised && nanoseconds(now).saturating_sub(last_at) < nanoseconds(QUIET)
    }

    fn both(&self) -> (u64, u64) {
        let recent = self.recent_ns.load(Ordering::Relaxed);
        (recent, self.usual_ns.load(Ordering::Relaxed))
    }

    /// How long they usually take.
    pub(crate) fn usual(&self) -> Duration {
        Duration::from_nanos(self.usual_ns.load(Ordering::Relaxed))
    }

    /// How many acknowledgements there were.
    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }
}

fn nanoseconds(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX >> 8)
}

fn move_to(mean: &AtomicU64, ns: u64, shift: u32) {
    let before = mean.load(Ordering::Relaxed);
    let after = match before {
        0 => ns,
        _ if ns >= before => before + ((ns - before) >> shift),
        _ => before - ((before - ns) >> shift),
    };
    mean.store(after.max(1), Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(latency: &CommitLatency, count: usize, ms: u64) {
        for _ in 0..count {
            latency.note(Duration::ZERO, Duration::from_millis(ms));
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

    #[test]
    fn half_as_long_again_is_raised_while_anybody_waits() {
        let latency = CommitLatency::default();
        let us = Duration::from_micros;
        for _ in 0..100 {
            latency.note(Duration::ZERO, us(200));
        }
        latency.hold_until(us(10));
        for _ in 0..100 {
            latency.note(us(9), us(340));
        }
        assert!(!latency.is_raised(us(10)));
        for _ in 0..100 {
            latency.note(us(9), us(360));
        }
        assert!(latency.is_raised(us(10)) && !latency.is_high());
        assert!(!latency.is_raised(us(10) + QUIET), "nobody is there");
    }
}
