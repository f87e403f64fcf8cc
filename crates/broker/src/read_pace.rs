//! How long the next read of old records waits: a decision, without the waiting.
//!
//! Why it exists: whoever reads old records has time; whoever waits for an acknowledgement has not. While acknowledgements take longer
//! than usual, old records are read more slowly, down to a rate that they always get.
//! In -> out: whether acknowledgements are slow, and how much was read -> a pause.
//! Invariants: OPS-1; the pause is bounded, so that a replay never stands still.   Read next: `cold_reads.rs`.

use std::time::Duration;

/// What all reads of old records together get in a second, however slow acknowledgements are.
pub(crate) const BYTES_PER_SECOND_MIN: u64 = 64 * 1024 * 1024;
/// The first pause; each further one is twice as long.
const PAUSE_MIN: Duration = Duration::from_micros(250);
/// How a pause becomes shorter with each piece while acknowledgements are as usual: by an eighth.
const SHORTER_BY: u32 = 8;

/// The pause between two pieces.
#[derive(Debug, Default)]
pub(crate) struct ReadPace {
    pause: Duration,
}

impl ReadPace {
    /// How long to wait after a piece of so many bytes that came from the disk.
    pub(crate) fn after(&mut self, bytes: usize, is_slow: bool) -> Duration {
        let longest = Duration::from_secs_f64(bytes as f64 / BYTES_PER_SECOND_MIN as f64);
        let next = match is_slow {
            true => (self.pause * 2).max(PAUSE_MIN),
            false => self.pause - self.pause / SHORTER_BY,
        };
        self.pause = match is_slow || next >= PAUSE_MIN / 2 {
            true => next.min(longest),
            false => Duration::ZERO,
        };
        self.pause
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PIECE: usize = 256 * 1024;

    #[test]
    fn nobody_waits_while_acknowledgements_are_as_usual() {
        let mut pace = ReadPace::default();
        for _ in 0..10 {
            assert_eq!(pace.after(PIECE, false), Duration::ZERO);
        }
    }

    #[test]
    fn however_slow_acknowledgements_are_the_smallest_rate_is_kept() {
        let mut pace = ReadPace::default();
        let pieces = 1_000;
        let waited: Duration = (0..pieces).map(|_| pace.after(PIECE, true)).sum();
        let rate = (pieces * PIECE) as f64 / waited.as_secs_f64();
        assert!(rate >= BYTES_PER_SECOND_MIN as f64, "{rate}");
        assert!(
            rate < 1.1 * BYTES_PER_SECOND_MIN as f64,
            "it does make way: {rate}"
        );
        let small = pace.after(1024, true);
        assert!(
            small < Duration::from_micros(20),
            "a small piece waits little: {small:?}"
        );
    }

    #[test]
    fn what_made_way_comes_back_to_full_speed_by_itself() {
        let mut pace = ReadPace::default();
        for _ in 0..100 {
            pace.after(PIECE, true);
        }
        let pieces = (0..).take_while(|_| !pace.after(PIECE, false).is_zero());
        assert!(pieces.count() < 40);
    }
}
