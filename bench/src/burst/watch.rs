//! The thread that watches a run: a line a second, the turning points, and what was measured at them.

use super::shared::Shared;
use super::{Baseline, Burst};
use crate::figures::Figures;
use crate::processor;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

const LINE_INTERVAL: Duration = Duration::from_secs(1);
const LOOK_INTERVAL: Duration = Duration::from_millis(20);
/// How long the group that was let go may take.
const DRAIN_MAX: Duration = Duration::from_secs(600);

/// Processor time of generator and broker, in seconds.
#[derive(Clone, Copy)]
struct Processors {
    generator: f64,
    broker: f64,
}

pub(super) struct Watch<'a> {
    burst: &'a Burst,
    shared: &'a Shared,
    began: Processors,
    line: Instant,
    acknowledged: u64,
    lags_max: Vec<u64>,
}

impl<'a> Watch<'a> {
    pub(super) fn new(burst: &'a Burst, shared: &'a Shared) -> Self {
        Self {
            burst,
            shared,
            began: processors(burst),
            line: shared.started,
            acknowledged: 0,
            lags_max: vec![0; burst.groups.len()],
        }
    }

    /// Until `is_over`, or somebody failed.
    pub(super) fn until(&mut self, mut is_over: impl FnMut() -> bool) {
        while !is_over() && !self.shared.is(&self.shared.has_failed) {
            std::thread::sleep(LOOK_INTERVAL);
            if self.line.elapsed() >= LINE_INTERVAL {
                self.say();
            }
        }
    }

    fn say(&mut self) {
        let elapsed = self.line.elapsed().as_secs_f64();
        let acknowledged = self.shared.acknowledged_records();
        let rate = (acknowledged - self.acknowledged) as f64 / elapsed;
        (self.line, self.acknowledged) = (Instant::now(), acknowledged);
        let mut lags = Vec::new();
        for (group, name) in self.burst.groups.iter().enumerate() {
            let lag = self.shared.lag(group);
            self.lags_max[group] = self.lags_max[group].max(lag);
            lags.push(format!("{name} {lag}"));
        }
        let mut times = self.shared.times();
        let ms = |quantile| times.lately.value_at_quantile(quantile) as f64 / 1000.0;
        eprintln!(
            "{:>4.0} s  {rate:>7.0} acknowledged/s, {acknowledged} in all  p50 {:.1}  p99 {:.1}  max {:.1} ms  lag: {}",
            self.shared.started.elapsed().as_secs_f64(),
            ms(0.5),
            ms(0.99),
            times.lately.max() as f64 / 1000.0,
            lags.join(", ")
        );
        times.lately.reset();
    }

    /// The burst: its speed, and whose processor time it took.
    pub(super) fn burst(&mut self, figures: &mut Figures) {
        let (shared, span) = (self.shared, self.burst.span);
        self.until(|| shared.started.elapsed() >= span);
        let seconds = shared.started.elapsed().as_secs_f64();
        let rate = |records: u64| records as f64 / seconds;
        let read = (0..self.burst.groups.len()).map(|group| shared.read_records(group));
        let (acknowledged, read) = (rate(shared.acknowledged_records()), rate(read.sum()));
        figures.put("records_per_second", acknowledged);
        figures.put("read_records_per_second", read);
        figures.put("stall_ms", shared.gaps.longest_ms());
        let now = processors(self.burst);
        let percent = |now: f64, began: f64| 100.0 * (now - began) / seconds;
        let generator = percent(now.generator, self.began.generator);
        let broker = percent(now.broker, self.began.broker);
        figures.put("generator_cpu_percent", generator);
        if self.burst.broker_process.is_some() {
            figures.put("broker_cpu_percent", broker);
        }
        if acknowledged < 0.98 * f64::from(self.burst.rate) {
            eprintln!(
                "the rate was not reached: of {} processors the generator took {generator:.0} % of one, the broker {broker:.0} %",
                std::thread::available_parallelism().map_or(0, usize::from)
            );
        }
    }

    /// The baseline: how long the backlog would last, and how long it lasts once the group is let go.
    pub(super) fn baseline(&mut self, baseline: Baseline, figures: &mut Figures) {
        let shared = self.shared;
        let held = self.burst.held_group();
        // What was under way in the burst is not the baseline's.
        let settled = Instant::now() + baseline.span / 4;
        self.until(|| Instant::now() >= settled);
        let read = || held.map_or(0, |group| shared.read_records(group));
        let (began, acknowledged, was_read) =
            (Instant::now(), shared.acknowledged_records(), read());
        self.until(|| began.elapsed() >= baseline.span);
        let seconds = began.elapsed().as_secs_f64();
        let coming = (shared.acknowledged_records() - acknowledged) as f64 / seconds;
        figures.put("baseline_records_per_second", coming);
        if let Some(group) = held {
            let going = (read() - was_read) as f64 / seconds;
            let backlog = shared.lag(group);
            figures.put("capped_records_per_second", going);
            figures.put("backlog", backlog as f64);
            let minutes = drain_minutes(backlog, going, coming);
            figures.put("predicted_drain_minutes", minutes);
            eprintln!(
                "backlog {backlog}: at {going:.0} read and {coming:.0} published a second it would last {minutes:.1} minutes; the group is let go"
            );
            shared.is_lifted.store(true, Ordering::Release);
            let (lifted, was_read) = (Instant::now(), read());
            // A fetch of the baseline is always under way.
            let near = u64::from(baseline.rate).max(100);
            self.until(|| shared.lag(group) <= near || lifted.elapsed() > DRAIN_MAX);
            let seconds = lifted.elapsed().as_secs_f64();
            figures.put("drain_seconds", seconds);
            figures.put(
                "drain_records_per_second",
                (read() - was_read) as f64 / seconds,
            );
        }
        shared.is_enough.store(true, Ordering::Release);
    }

    pub(super) fn lags_max(&self) -> &[u64] {
        &self.lags_max
    }
}

/// Minutes until a backlog is worked off that grows by `coming` and shrinks by `going` records a second.
fn drain_minutes(backlog: u64, going: f64, coming: f64) -> f64 {
    if going <= coming {
        return f64::INFINITY;
    }
    backlog as f64 / (going - coming) / 60.0
}

fn processors(burst: &Burst) -> Processors {
    let broker = burst.broker_process.map(|id| id.to_string());
    Processors {
        generator: processor::seconds("self").unwrap_or(f64::NAN),
        broker: broker
            .and_then(|id| processor::seconds(&id).ok())
            .unwrap_or(f64::NAN),
    }
}

#[cfg(test)]
mod tests {
    use super::drain_minutes;

    #[test]
    fn a_backlog_lasts_as_long_as_the_rates_say() {
        assert_eq!(drain_minutes(8_640_000, 2000.0, 500.0), 96.0);
        assert_eq!(drain_minutes(1, 500.0, 500.0), f64::INFINITY);
    }
}
