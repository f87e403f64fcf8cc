//! Latency: records at a given rate, and the time until each is acknowledged.
//!
//! The rate is kept whatever the broker does: what could not be sent in time counts from when it should have been sent, and what could
//! not be sent at all counts with the time it had waited when the run was over.
//! Read next: `pace.rs`.

use crate::connection::Connection;
use crate::figures::{Figures, record, times};
use crate::gaps::Gaps;
use crate::load::{Load, Shape, acknowledged};
use crate::pace::{Pace, Stop, Turn};
use fanlog_protocol::records::Compression;
use hdrhistogram::Histogram;
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// A shape of load.
#[derive(Clone, Debug)]
pub struct Latency {
    /// Where the broker is.
    pub broker: String,
    /// A topic that exists.
    pub topic: String,
    /// How many partitions it has.
    pub partitions: i32,
    /// The bytes of a record's value.
    pub record_bytes: usize,
    /// Records a second, over all connections.
    pub rate: u32,
    /// How many records go together.
    pub batch_records: u32,
    /// How many connections.
    pub connections: usize,
    /// How long.
    pub span: Duration,
    /// What of it is not counted: the first moments are the connection's.
    pub warm_up: Duration,
    /// Ends earlier once somebody says so.
    pub stop: Stop,
}

/// A batch that is under way: when its time begins, and whether it counts.
type Sent = (Instant, bool);

impl Latency {
    /// Runs the load.
    ///
    /// # Errors
    /// A record was refused, or a connection broke.
    pub fn run(&self) -> anyhow::Result<Figures> {
        let record_bytes = self.record_bytes.max(1);
        let shape = Shape {
            record_bytes,
            batch_bytes: record_bytes * self.batch_records.max(1) as usize,
            compression: Compression::None,
        };
        let load = Load::new(&self.topic, shape, -1)?;
        let gaps = Gaps::new();
        let started = Instant::now();
        let (mut all, unsent) = self.all(&load, &gaps)?;
        let mut figures = Figures::default();
        figures.put_moved(
            all.len() * load.records(),
            all.len() * load.batch_bytes(),
            started.elapsed().saturating_sub(self.warm_up),
        );
        figures.put("unsent", (unsent.len() * load.records()) as f64);
        all.add(unsent)?;
        figures.put_times(&all);
        figures.put("stall_ms", gaps.longest_ms());
        Ok(figures)
    }

    /// The times of what was acknowledged, and of what was never sent.
    fn all(&self, load: &Load, gaps: &Gaps) -> anyhow::Result<(Histogram<u64>, Histogram<u64>)> {
        std::thread::scope(|scope| {
            let mut threads = Vec::new();
            for number in 0..self.connections {
                let connection = Connection::open(&self.broker)?;
                let (under_way, awaited) = mpsc::channel();
                let receiving = connection.second()?;
                let load = load.clone();
                let sender = scope.spawn(move || self.send(number, connection, load, &under_way));
                threads.push((
                    sender,
                    scope.spawn(move || receive(receiving, &awaited, gaps)),
                ));
            }
            let (mut all, mut unsent) = (times(), times());
            for (sender, receiver) in threads {
                let left = sender.join().expect("a panic ends the program");
                // Where both failed the receiver knows why: the sender only finds the connection closed.
                all.add(receiver.join().expect("a panic ends the program")?)?;
                unsent.add(left?)?;
            }
            Ok((all, unsent))
        })
    }

    fn send(
        &self,
        number: usize,
        mut connection: Connection,
        mut load: Load,
        under_way: &mpsc::Sender<Sent>,
    ) -> anyhow::Result<Histogram<u64>> {
        let started = Instant::now();
        let batches_per_second = f64::from(self.rate) / f64::from(self.batch_records.max(1));
        let senders = self.connections;
        let mut pace = Pace::new(started, self.span, batches_per_second, number, senders);
        let mut sent = 0i32;
        let mut unsent = times();
        while !self.stop.is_given() {
            let (due, from) = match pace.turn() {
                Turn::Send { due, from } => (due, from),
                Turn::Over => break,
                Turn::Late => {
                    let missed = pace.missed(Instant::now());
                    missed.for_each(|waited| record(&mut unsent, waited));
                    break;
                }
            };
            let partition = (sent.unsigned_abs() * senders as u32 + number as u32)
                % self.partitions.unsigned_abs();
            let counts = due >= started + self.warm_up;
            if under_way.send((from, counts)).is_err() {
                // The receiver has failed and says why.
                break;
            }
            connection.send(load.addressed(partition as i32, sent))?;
            sent += 1;
        }
        Ok(unsent)
    }
}

fn receive(
    mut connection: Connection,
    awaited: &mpsc::Receiver<Sent>,
    gaps: &Gaps,
) -> anyhow::Result<Histogram<u64>> {
    let mut times = times();
    for (correlation, (from, counts)) in awaited.iter().enumerate() {
        acknowledged(connection.receive()?, correlation as i32)?;
        gaps.acknowledged();
        if counts {
            record(&mut times, from.elapsed());
        }
    }
    Ok(times)
}
