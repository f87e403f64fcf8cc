//! Produce: connections that keep their batches in flight, as fast as acknowledgements come.

use crate::connection::Connection;
use crate::figures::{Figures, record, times};
use crate::gaps::Gaps;
use crate::load::{Load, Shape, acknowledged};
use crate::pace::Stop;
use crate::threads;
use hdrhistogram::Histogram;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// A shape of load.
#[derive(Clone, Debug)]
pub struct Produce {
    /// Where the broker is.
    pub broker: String,
    /// A topic that exists.
    pub topic: String,
    /// How many partitions it has.
    pub partitions: i32,
    /// The batches.
    pub shape: Shape,
    /// How many connections, a thread each.
    pub connections: usize,
    /// How many requests each connection has under way.
    pub in_flight: usize,
    /// `acks` of the requests; not 0, which has no answers.
    pub acks: i16,
    /// How long.
    pub span: Duration,
    /// Ends earlier once so many bytes were acknowledged.
    pub bytes_max: u64,
    /// Ends earlier once somebody says so.
    pub stop: Stop,
}

struct Done {
    batches: u64,
    times: Histogram<u64>,
}

impl Produce {
    /// Runs the load and counts what was acknowledged.
    ///
    /// # Errors
    /// A batch was refused, or a connection broke.
    pub fn run(&self) -> anyhow::Result<Figures> {
        let load = Load::new(&self.topic, self.shape, self.acks)?;
        let share = self.bytes_max / self.connections.max(1) as u64 / load.batch_bytes();
        let gaps = Gaps::new();
        let started = Instant::now();
        let done = threads::run(self.connections, |number| {
            self.one(number, load.clone(), share.max(1), &gaps)
        })?;
        let elapsed = started.elapsed();
        let mut all = times();
        let mut batches = 0;
        for one in done {
            batches += one.batches;
            all.add(one.times)?;
        }
        let mut figures = Figures::default();
        let (records, bytes) = (batches * load.records(), batches * load.batch_bytes());
        figures.put_moved(records, bytes, elapsed);
        figures.put("batches", batches as f64);
        figures.put_times(&all);
        figures.put("stall_ms", gaps.longest_ms());
        Ok(figures)
    }

    fn one(
        &self,
        number: usize,
        mut load: Load,
        batches_max: u64,
        gaps: &Gaps,
    ) -> anyhow::Result<Done> {
        let mut connection = Connection::open(&self.broker)?;
        let mut sent_at = VecDeque::with_capacity(self.in_flight);
        let mut times = times();
        let (mut sent, mut batches) = (0u64, 0u64);
        let end = Instant::now() + self.span;
        loop {
            let goes_on = sent < batches_max && Instant::now() < end && !self.stop.is_given();
            if goes_on && sent_at.len() < self.in_flight {
                let turn = sent * self.connections as u64 + number as u64;
                let partition = (turn % u64::from(self.partitions.unsigned_abs())) as i32;
                sent_at.push_back(Instant::now());
                connection.send(load.addressed(partition, sent as i32))?;
                sent += 1;
                continue;
            }
            let Some(at) = sent_at.pop_front() else {
                return Ok(Done { batches, times });
            };
            acknowledged(connection.receive()?, batches as i32)?;
            gaps.acknowledged();
            record(&mut times, at.elapsed());
            batches += 1;
        }
    }
}
