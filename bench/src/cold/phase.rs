//! The phases of a run, and times kept apart by phase.

use crate::figures::{Figures, record, times};
use hdrhistogram::Histogram;
use std::time::Duration;

/// What goes on beside the steady load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Something that is not measured.
    Uncounted,
    /// Nothing.
    Quiet,
    /// A reader takes old records that are not in memory.
    Replay,
    /// It takes them again, from memory.
    Again,
    /// The same bytes are read at the same rate by this tool, without a broker.
    Machine,
    /// A reader of old records is stopped in the middle of an answer.
    Frozen,
}

/// How many phases there are.
pub(super) const PHASES: usize = 6;

impl Phase {
    /// Its name in figures.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Uncounted => "uncounted",
            Self::Quiet => "quiet",
            Self::Replay => "replay",
            Self::Again => "again",
            Self::Machine => "machine",
            Self::Frozen => "frozen",
        }
    }
}

/// Times by phase.
#[derive(Debug)]
pub(super) struct Times(Vec<Histogram<u64>>);

impl Times {
    pub(super) fn new() -> Self {
        Self((0..PHASES).map(|_| times()).collect())
    }

    pub(super) fn record(&mut self, phase: usize, time: Duration) {
        if let Some(of_phase) = self.0.get_mut(phase) {
            record(of_phase, time);
        }
    }

    pub(super) fn add(&mut self, others: &Self) -> anyhow::Result<()> {
        for (all, more) in self.0.iter_mut().zip(&others.0) {
            all.add(more)?;
        }
        Ok(())
    }

    /// Adds the percentiles of a phase, in milliseconds.
    pub(super) fn put(&self, figures: &mut Figures, phase: Phase, what: &str) {
        let of_phase = &self.0[phase as usize];
        for (name, quantile) in [("p50", 0.5), ("p99", 0.99), ("p999", 0.999)] {
            let name = format!("{}_{what}_{name}_ms", phase.name());
            figures.put(name, of_phase.value_at_quantile(quantile) as f64 / 1000.0);
        }
        figures.put(
            format!("{}_{what}_max_ms", phase.name()),
            of_phase.max() as f64 / 1000.0,
        );
        figures.put(
            format!("{}_{what}_count", phase.name()),
            of_phase.len() as f64,
        );
    }

    /// How often as long the times of a phase are as those of the quiet one.
    pub(super) fn put_ratio(&self, figures: &mut Figures, phase: Phase, what: &str) {
        let p99 = |phase: Phase| self.0[phase as usize].value_at_quantile(0.99) as f64;
        let name = format!("{}_{what}_p99_ratio", phase.name());
        figures.put(name, p99(phase) / p99(Phase::Quiet).max(1.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_are_kept_apart_and_compared_with_the_quiet_one() {
        let mut times = Times::new();
        for _ in 0..100 {
            times.record(Phase::Quiet as usize, Duration::from_micros(500));
            times.record(Phase::Replay as usize, Duration::from_micros(1500));
        }
        let mut all = Times::new();
        all.add(&times).unwrap();
        let mut figures = Figures::default();
        all.put(&mut figures, Phase::Replay, "ack");
        all.put_ratio(&mut figures, Phase::Replay, "ack");
        assert_eq!(figures.get("replay_ack_count"), Some(100.0));
        assert!((figures.get("replay_ack_p99_ms").unwrap() - 1.5).abs() < 0.01);
        assert!((figures.get("replay_ack_p99_ratio").unwrap() - 3.0).abs() < 0.02);
    }
}
