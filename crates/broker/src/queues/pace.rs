//! How fast records come into a queue's topic and how fast the queue is done with them, from a few samples.

use super::status_types::Drain;
use std::collections::VecDeque;
use std::time::Duration;

/// How far back the samples go.
const WINDOW: Duration = Duration::from_secs(60);
/// Samples stand so far apart at least.
const APART: Duration = Duration::from_secs(1);
/// Over less time there is no rate.
const SPAN_MIN: Duration = Duration::from_millis(500);

/// What was counted at one moment, since ever.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    pub(super) at: Duration,
    pub(super) came: u64,
    pub(super) went: u64,
}

/// The samples of the last minute.
#[derive(Debug, Default)]
pub(super) struct Pace {
    samples: VecDeque<Sample>,
}

impl Pace {
    /// Whether another sample is worth taking.
    pub(super) fn is_due(&self, now: Duration) -> bool {
        let last = self.samples.back();
        last.is_none_or(|last| now.saturating_sub(last.at) >= APART)
    }

    /// Takes a sample; records per second that came and that went, since the oldest one that counts.
    pub(super) fn rates(&mut self, now: Sample) -> Option<(f64, f64)> {
        if self.is_due(now.at) {
            self.samples.push_back(now);
        }
        // The oldest one kept is just older than the window.
        while self.samples.len() > 2 && now.at.saturating_sub(self.samples[1].at) >= WINDOW {
            self.samples.pop_front();
        }
        let first = self.samples.front()?;
        let span = now.at.saturating_sub(first.at);
        if span < SPAN_MIN {
            return None;
        }
        let per_second = |count: u64| count as f64 / span.as_secs_f64();
        let (came, went) = (
            now.came.saturating_sub(first.came),
            now.went.saturating_sub(first.went),
        );
        Some((per_second(came), per_second(went)))
    }
}

impl Drain {
    /// When a queue of such a depth is empty at these rates, in and out.
    pub(super) fn of(depth: u64, rates: Option<(f64, f64)>) -> Self {
        if depth == 0 {
            return Self::Empty;
        }
        match rates {
            None => Self::Unknown,
            Some((came, went)) if went <= came => Self::Never,
            Some((came, went)) => {
                let seconds = depth as f64 / (went - came);
                Duration::try_from_secs_f64(seconds).map_or(Self::Never, Self::In)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(seconds: u64, came: u64, went: u64) -> Sample {
        Sample {
            at: Duration::from_secs(seconds),
            came,
            went,
        }
    }

    #[test]
    fn rates_are_those_of_the_last_minute() {
        let mut pace = Pace::default();
        assert_eq!(pace.rates(sample(0, 100, 0)), None);
        assert_eq!(pace.rates(sample(10, 200, 50)), Some((10.0, 5.0)));
        assert_eq!(pace.rates(sample(60, 700, 50)), Some((10.0, 50.0 / 60.0)));
        assert_eq!(pace.rates(sample(120, 700, 650)), Some((0.0, 10.0)));
    }

    #[test]
    fn a_queue_drains_if_more_goes_than_comes() {
        assert_eq!(Drain::of(0, None), Drain::Empty);
        assert_eq!(Drain::of(5, None), Drain::Unknown);
        assert_eq!(Drain::of(5, Some((2.0, 2.0))), Drain::Never);
        let in_5_s = Drain::In(Duration::from_secs(5));
        assert_eq!(Drain::of(10, Some((2.0, 4.0))), in_5_s);
    }
}
