//! The worked example: a burst of orders by the clock, read by several groups, one of which may be held back; then a baseline, while its
//! backlog is watched and at last let go.
//!
//! Every record has its number in its partition, and every group checks all of them.
//! In -> out: a broker, a topic that is new -> [`Figures`], and a line a second on standard error.
//! Read next: `watch.rs`.

mod group;
mod publish;
mod sequence;
mod shared;
mod watch;

use self::publish::Publisher;
use self::sequence::Counts;
use self::shared::Shared;
use self::watch::Watch;
use crate::connection::Connection;
use crate::figures::Figures;
use anyhow::{Context, ensure};
use std::sync::atomic::Ordering;
use std::sync::mpsc;
use std::thread::ScopedJoinHandle;
use std::time::Duration;

/// A group that reads no faster than so many records a second, until it is let go.
#[derive(Clone, Debug)]
pub struct Held {
    /// Its name, one of the groups'.
    pub group: String,
    /// Records a second.
    pub rate: u32,
}

/// What is published once the burst is over.
#[derive(Clone, Copy, Debug)]
pub struct Baseline {
    /// Records a second.
    pub rate: u32,
    /// How long rates are measured before the group that is held back is let go.
    pub span: Duration,
}

/// A shape of load.
#[derive(Clone, Debug)]
pub struct Burst {
    /// Where the broker is.
    pub broker: String,
    /// A topic that is new.
    pub topic: String,
    /// How many partitions it has.
    pub partitions: i32,
    /// The bytes of a record's value.
    pub record_bytes: usize,
    /// How many records go together in the burst.
    pub batch_records: u32,
    /// Records a second in the burst.
    pub rate: u32,
    /// How long the burst lasts.
    pub span: Duration,
    /// Connections that publish; each has partitions of its own.
    pub connections: usize,
    /// The names of the groups, a connection each.
    pub groups: Vec<String>,
    /// The one that is held back.
    pub held: Option<Held>,
    /// What follows the burst.
    pub baseline: Option<Baseline>,
    /// The broker's process, to say what it costs.
    pub broker_process: Option<u32>,
}

impl Burst {
    /// Runs the example.
    ///
    /// # Errors
    /// A record was refused, or a connection broke. Records that are missing are no error but a figure.
    pub fn run(&self) -> anyhow::Result<Figures> {
        self.check()?;
        let partitions = self.partitions.unsigned_abs() as usize;
        let shared = &Shared::new(partitions, self.groups.len());
        let mut figures = Figures::default();
        let mut watch = Watch::new(self, shared);
        let verdicts = std::thread::scope(|scope| {
            let mut groups = Vec::new();
            for number in 0..self.groups.len() {
                let work = move || shared.guarded(|| group::run(self, shared, number));
                groups.push(scope.spawn(work));
            }
            let mut publishers = Vec::new();
            for number in 0..self.connections {
                let opened = shared.guarded(|| {
                    let connection = Connection::open(&self.broker)?;
                    Ok((connection.second()?, connection))
                });
                let (receiving, connection) = opened?;
                let (under_way, awaited) = mpsc::channel();
                let publisher = Publisher::new(self, shared, number, connection, under_way);
                publishers.push(scope.spawn(move || {
                    shared.guarded(|| publish::receive(receiving, &awaited, shared))
                }));
                publishers.push(scope.spawn(move || shared.guarded(|| publisher.run())));
            }
            watch.burst(&mut figures);
            if let Some(baseline) = self.baseline {
                watch.baseline(baseline, &mut figures);
            }
            watch.until(|| publishers.iter().all(ScopedJoinHandle::is_finished));
            shared.is_published.store(true, Ordering::Release);
            watch.until(|| groups.iter().all(ScopedJoinHandle::is_finished));
            for publisher in publishers {
                publisher.join().expect("a panic ends the program")?;
            }
            let join = |group: ScopedJoinHandle<'_, anyhow::Result<_>>| {
                group.join().expect("a panic ends the program")
            };
            groups
                .into_iter()
                .map(join)
                .collect::<anyhow::Result<Vec<_>>>()
        })?;
        self.totals(shared, &mut figures);
        let (mut all, mut incomplete) = (Counts::default(), 0);
        for (number, verdict) in verdicts.iter().enumerate() {
            let name = &self.groups[number];
            all.add(verdict.counts);
            incomplete += u64::from(!verdict.is_complete);
            figures.put(
                format!("read_by_{name}"),
                shared.read_records(number) as f64,
            );
            figures.put(format!("lost_by_{name}"), verdict.counts.lost as f64);
            figures.put(
                format!("lag_max_of_{name}"),
                watch.lags_max()[number] as f64,
            );
        }
        figures.put("lost", all.lost as f64);
        figures.put("duplicated", all.duplicated as f64);
        figures.put("out_of_order", all.out_of_order as f64);
        figures.put("incomplete_groups", incomplete as f64);
        Ok(figures)
    }

    fn check(&self) -> anyhow::Result<()> {
        let partitions = self.partitions.unsigned_abs() as usize;
        ensure!(
            (1..=partitions).contains(&self.connections),
            "{} connections cannot each have partitions of their own among {partitions}",
            self.connections
        );
        if let Some(held) = &self.held {
            self.held_group()
                .with_context(|| format!("no group is called {:?}", held.group))?;
            ensure!(held.rate > 0, "a group that is held to nothing never ends");
            ensure!(
                self.baseline.is_some(),
                "a group is let go at the end of the baseline, and there is none"
            );
        }
        Ok(())
    }

    fn held_group(&self) -> Option<usize> {
        let held = self.held.as_ref()?;
        self.groups.iter().position(|name| *name == held.group)
    }

    fn totals(&self, shared: &Shared, figures: &mut Figures) {
        let records = shared.acknowledged_records();
        figures.put("seconds", shared.started.elapsed().as_secs_f64());
        figures.put("records", records as f64);
        figures.put("bytes", records as f64 * self.record_bytes as f64);
        figures.put("unsent", shared.unsent_records() as f64);
        let times = shared.times();
        figures.put_times(&times.burst);
        if !times.baseline.is_empty() {
            let p99 = times.baseline.value_at_quantile(0.99) as f64 / 1000.0;
            figures.put("baseline_p99_ms", p99);
        }
    }
}
