//! Time: the wall's for timestamps, the monotonic one for deadlines.

use fanlog_model::TimestampMs;
use parking_lot::Mutex;
use std::fmt;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Where time comes from.
pub trait Clock: fmt::Debug + Send + Sync {
    /// Milliseconds since the Unix epoch. May jump either way: for timestamps, never for deadlines.
    fn wall_ms(&self) -> TimestampMs;
    /// Time since an arbitrary start. Never goes back: for deadlines.
    fn monotonic(&self) -> Duration;
}

/// The machine's clock.
#[derive(Debug)]
pub struct SystemClock {
    start: Instant,
}

impl SystemClock {
    /// A clock whose monotonic time starts at zero now.
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one door that real time comes in by"
    )]
    pub fn new() -> Self {
        Self {
            start: Instant::now(),
        }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one door that real time comes in by"
    )]
    fn wall_ms(&self) -> TimestampMs {
        // A clock set before 1970 reads as 1970: timestamps below zero mean "none" in the protocol.
        let since_epoch = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        TimestampMs(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX))
    }

    fn monotonic(&self) -> Duration {
        self.start.elapsed()
    }
}

/// A clock that moves only when it is told to.
#[derive(Debug)]
pub struct ManualClock {
    now: Mutex<(TimestampMs, Duration)>,
}

impl ManualClock {
    /// A clock that shows `wall_ms`, with monotonic time at zero.
    pub fn new(wall_ms: TimestampMs) -> Self {
        Self {
            now: Mutex::new((wall_ms, Duration::ZERO)),
        }
    }

    /// Lets `by` pass on both clocks.
    pub fn advance(&self, by: Duration) {
        let mut now = self.now.lock();
        let ms = i64::try_from(by.as_millis()).unwrap_or(i64::MAX);
        now.0 = TimestampMs(now.0.0.saturating_add(ms));
        now.1 = now.1.saturating_add(by);
    }

    /// Sets the wall clock, as an administrator or NTP would; monotonic time stays.
    pub fn set_wall_ms(&self, wall_ms: TimestampMs) {
        self.now.lock().0 = wall_ms;
    }
}

impl Clock for ManualClock {
    fn wall_ms(&self) -> TimestampMs {
        self.now.lock().0
    }

    fn monotonic(&self) -> Duration {
        self.now.lock().1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manual_clock_moves_only_when_told() {
        let clock = ManualClock::new(TimestampMs(1_000));
        clock.advance(Duration::from_millis(250));
        assert_eq!(clock.wall_ms(), TimestampMs(1_250));
        assert_eq!(clock.monotonic(), Duration::from_millis(250));
        clock.set_wall_ms(TimestampMs(7));
        assert_eq!(clock.wall_ms(), TimestampMs(7));
        assert_eq!(clock.monotonic(), Duration::from_millis(250));
    }

    #[test]
    fn the_system_clock_shows_this_century_and_never_goes_back() {
        let clock = SystemClock::new();
        assert!(clock.wall_ms() > TimestampMs(1_700_000_000_000));
        let earlier = clock.monotonic();
        assert!(clock.monotonic() >= earlier);
    }
}
