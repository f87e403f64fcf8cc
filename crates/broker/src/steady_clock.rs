//! The wall clock for what deletes: it never runs ahead of the time that has really passed.
//!
//! Why it exists: a clock that is set ten years ahead by mistake must not make every record, offset and producer look
//! expired. Time-outs measured in wall time believe the wall clock only as far as the monotonic clock agrees.
//! A process that starts believes it only as far as the time last seen allows; see `docs/decisions/wrong-clocks.md`.
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
    believed_at_start: TimestampMs,
    monotonic_at_start: Duration,
    ahead_ms_max: i64,
}

impl SteadyClock {
    /// Believes the wall clock as it is now, unless it is more than `jump_ms_max` after the time last seen by an earlier
    /// process: then time goes on from there, as if none had passed in between.
    pub(crate) fn new(
        clock: Arc<dyn Clock>,
        last_seen: Option<TimestampMs>,
        jump_ms_max: i64,
    ) -> Self {
        let now = clock.wall_ms();
        let last_seen = last_seen.unwrap_or(now);
        let is_believed = now.0.saturating_sub(last_seen.0) <= jump_ms_max;
        Self {
            // A clock that was behind, as before the network was there, may catch up to what was seen.
            believed_at_start: if is_believed {
                now.max(last_seen)
            } else {
                last_seen
            },
            ahead_ms_max: if is_believed { AHEAD_MS_MAX } else { 0 },
            monotonic_at_start: clock.monotonic(),
            clock,
        }
    }

    /// The wall clock's time, or where it would be had it not jumped ahead.
    pub(crate) fn wall_ms(&self) -> TimestampMs {
        let latest = self.passed_ms().saturating_add(self.ahead_ms_max);
        self.clock.wall_ms().min(TimestampMs(latest))
    }

    /// What the next process may take for the time last seen: no jump of the clock counts, however small, or many
    /// starts would add up.
    pub(crate) fn seen_ms(&self) -> TimestampMs {
        self.clock.wall_ms().min(TimestampMs(self.passed_ms()))
    }

    /// How far the wall clock is ahead of what is believed; none where it is believed.
    pub(crate) fn disbelieved(&self) -> Option<Duration> {
        let ahead = self.clock.wall_ms().0.saturating_sub(self.wall_ms().0);
        let ahead = u64::try_from(ahead).ok().filter(|ahead| *ahead > 0)?;
        Some(Duration::from_millis(ahead))
    }

    /// What was believed at the start, and the time that has passed since.
    fn passed_ms(&self) -> i64 {
        let passed = self.monotonic().saturating_sub(self.monotonic_at_start);
        let passed_ms = i64::try_from(passed.as_millis()).unwrap_or(i64::MAX);
        self.believed_at_start.0.saturating_add(passed_ms)
    }

    pub(crate) fn monotonic(&self) -> Duration {
        self.clock.monotonic()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fanlog_environment::ManualClock;

    const HOUR_MS: i64 = 3_600_000;

    fn clock_at(wall_ms: i64) -> Arc<ManualClock> {
        Arc::new(ManualClock::new(TimestampMs(wall_ms)))
    }

    #[test]
    fn it_follows_the_wall_clock_and_does_not_jump_ahead_with_it() {
        let manual = clock_at(1_000);
        let steady = SteadyClock::new(manual.clone(), None, 0);
        assert_eq!(steady.wall_ms(), TimestampMs(1_000));
        manual.advance(Duration::from_secs(3_600));
        assert_eq!(steady.wall_ms(), TimestampMs(1_000 + HOUR_MS));
        assert_eq!(steady.disbelieved(), None);
        manual.set_wall_ms(TimestampMs(100_000 * HOUR_MS));
        assert_eq!(
            steady.wall_ms(),
            TimestampMs(1_000 + HOUR_MS + AHEAD_MS_MAX)
        );
        assert_eq!(steady.seen_ms(), TimestampMs(1_000 + HOUR_MS));
        assert!(steady.disbelieved().is_some());
        manual.set_wall_ms(TimestampMs(5));
        assert_eq!(steady.wall_ms(), TimestampMs(5));
        assert_eq!(steady.seen_ms(), TimestampMs(5));
    }

    #[test]
    fn a_start_believes_the_clock_as_far_as_what_was_seen_allows() {
        let check = |now: i64, last_seen: i64, expected: i64| {
            let manual = clock_at(now);
            let last_seen = Some(TimestampMs(last_seen));
            let steady = SteadyClock::new(manual.clone(), last_seen, 24 * HOUR_MS);
            assert_eq!(steady.wall_ms(), TimestampMs(expected));
            manual.advance(Duration::from_secs(3_600));
            assert_eq!(steady.wall_ms(), TimestampMs(expected + HOUR_MS));
            assert_eq!(steady.disbelieved().is_some(), now != expected);
        };
        check(HOUR_MS, 0, HOUR_MS);
        check(24 * HOUR_MS, 0, 24 * HOUR_MS);
        check(25 * HOUR_MS, 0, 0);
        check(i64::MAX / 2, 7, 7);
        // The clock was set back, or was wrong before: what it says now deletes nothing.
        check(5, 24 * HOUR_MS, 5);
    }

    #[test]
    fn a_clock_that_was_behind_at_the_start_may_catch_up_to_what_was_seen() {
        let manual = clock_at(0);
        let seen = 500_000 * HOUR_MS;
        let steady = SteadyClock::new(manual.clone(), Some(TimestampMs(seen)), 24 * HOUR_MS);
        manual.set_wall_ms(TimestampMs(seen + 1));
        assert_eq!(steady.wall_ms(), TimestampMs(seen + 1));
    }

    #[test]
    fn many_starts_with_a_wrong_clock_do_not_add_up() {
        let mut seen = TimestampMs(1_000);
        for _ in 0..10_000 {
            let manual = clock_at(1_000_000 * HOUR_MS);
            seen = SteadyClock::new(manual, Some(seen), 24 * HOUR_MS).seen_ms();
        }
        assert_eq!(seen, TimestampMs(1_000));
    }
}
