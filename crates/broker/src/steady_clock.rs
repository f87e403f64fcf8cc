//! The wall clock for what deletes: it never runs ahead of the time that has really passed.
//!
//! Why it exists: a clock that is set ten years ahead by mistake must not make every record, offset and producer look
//! expired. Time-outs measured in wall time believe the wall clock only as far as the monotonic clock agrees.
//! Never: stamps records; those get the wall clock as it is.

use fanlog_environment::Clock;
use fanlog_model::TimestampMs;
use std::sync::Arc;
use std::time::Duration;

/// How far the wall clock may run ahead since the start before it is no longer believed: more than NTP ever steps
/// a clock that it keeps. A machine that was suspended catches up at the next start.
const AHEAD_MS_MAX: i64 = 10 * 60 * 1000;

/// The wall clock, held to the monotonic one. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct SteadyClock {
    clock: Arc<dyn Clock>,
    wall_at_start: TimestampMs,
    monotonic_at_start: Duration,
}

impl SteadyClock {
    /// Believes the wall clock as it is now.
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            wall_at_start: clock.wall_ms(),
            monotonic_at_start: clock.monotonic(),
            clock,
        }
    }

    /// The wall clock's time, or where it would be had it not jumped ahead.
    pub(crate) fn wall_ms(&self) -> TimestampMs {
        let passed = self.monotonic().saturating_sub(self.monotonic_at_start);
        let passed_ms = i64::try_from(passed.as_millis()).unwrap_or(i64::MAX);
        let latest = self
            .wall_at_start
            .0
            .saturating_add(passed_ms)
            .saturating_add(AHEAD_MS_MAX);
        self.clock.wall_ms().min(TimestampMs(latest))
    }

    pub(crate) fn monotonic(&self) -> Duration {
        self.clock.monotonic()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fanlog_environment::ManualClock;

    #[test]
    fn it_follows_the_wall_clock_and_does_not_jump_ahead_with_it() {
        const HOUR_MS: i64 = 3_600_000;
        let manual = Arc::new(ManualClock::new(TimestampMs(1_000)));
        let steady = SteadyClock::new(manual.clone());
        assert_eq!(steady.wall_ms(), TimestampMs(1_000));
        manual.advance(Duration::from_secs(3_600));
        assert_eq!(steady.wall_ms(), TimestampMs(1_000 + HOUR_MS));
        manual.set_wall_ms(TimestampMs(100_000 * HOUR_MS));
        assert_eq!(
            steady.wall_ms(),
            TimestampMs(1_000 + HOUR_MS + AHEAD_MS_MAX)
        );
        manual.set_wall_ms(TimestampMs(5));
        assert_eq!(steady.wall_ms(), TimestampMs(5));
    }
}
