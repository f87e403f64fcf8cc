//! What a run found out, by name.

use hdrhistogram::Histogram;
use std::fmt;
use std::time::Duration;

/// Named numbers, in the order in which they were added.
#[derive(Clone, Debug, Default)]
pub struct Figures(Vec<(String, f64)>);

impl Figures {
    /// Adds a number.
    pub fn put(&mut self, name: impl Into<String>, value: f64) {
        self.0.push((name.into(), value));
    }

    /// Adds what was moved in `elapsed`: records and megabytes (10^6 bytes) a second, and both totals.
    pub fn put_moved(&mut self, records: u64, bytes: u64, elapsed: Duration) {
        let seconds = elapsed.as_secs_f64();
        self.put("seconds", seconds);
        self.put("records", records as f64);
        self.put("bytes", bytes as f64);
        self.put("records_per_second", records as f64 / seconds);
        self.put("megabytes_per_second", bytes as f64 / 1e6 / seconds);
    }

    /// Adds the percentiles of times that were recorded in microseconds, in milliseconds.
    pub fn put_times(&mut self, times: &Histogram<u64>) {
        for (name, quantile) in [("p50_ms", 0.5), ("p99_ms", 0.99), ("p999_ms", 0.999)] {
            self.put(name, times.value_at_quantile(quantile) as f64 / 1000.0);
        }
        self.put("max_ms", times.max() as f64 / 1000.0);
    }

    /// Adds all of another, each name behind `prefix`.
    pub fn put_all(&mut self, prefix: &str, other: &Self) {
        for (name, value) in &other.0 {
            self.put(format!("{prefix}{name}"), *value);
        }
    }

    /// A number by its name.
    pub fn get(&self, name: &str) -> Option<f64> {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| *value)
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, value) in &self.0 {
            writeln!(f, "{name} {value}")?;
        }
        Ok(())
    }
}

/// A histogram of microseconds up to a minute, with three digits.
pub fn times() -> Histogram<u64> {
    Histogram::new_with_bounds(1, 60_000_000, 3).expect("the bounds are in order")
}

/// Records a time; what exceeds the bounds counts as the bound.
pub fn record(times: &mut Histogram<u64>, time: Duration) {
    times.saturating_record(u64::try_from(time.as_micros()).unwrap_or(u64::MAX).max(1));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_the_times_that_were_recorded() {
        let mut all = times();
        for ms in 1..=1000 {
            record(&mut all, Duration::from_millis(ms));
        }
        let mut figures = Figures::default();
        figures.put_times(&all);
        for (name, ms) in [
            ("p50_ms", 500.0),
            ("p99_ms", 990.0),
            ("p999_ms", 999.0),
            ("max_ms", 1000.0),
        ] {
            let found = figures.get(name).unwrap();
            assert!((found - ms).abs() <= ms / 1000.0, "{name} is {found}");
        }
    }

    #[test]
    fn what_takes_longer_than_the_bounds_counts_as_the_bound() {
        let mut all = times();
        record(&mut all, Duration::from_secs(1000));
        record(&mut all, Duration::ZERO);
        assert!(all.max() >= 60_000_000 && all.min() == 1);
    }
}
