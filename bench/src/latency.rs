//! Latency: single records at a given rate, and the time until each is acknowledged.
//!
//! The rate is kept whatever the broker does (an open loop): a record that could not be sent in time, because the broker was slow, counts
//! from when it should have been sent. A sender that merely woke up late, as threads do, counts from its waking.

use crate::connection::Connection;
use crate::figures::{Figures, record, times};
use crate::load::{Load, Shape, acknowledged};
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
    /// How many connections.
    pub connections: usize,
    /// How long.
    pub span: Duration,
    /// What of it is not counted: the first moments are the connection's.
    pub warm_up: Duration,
}

/// A record that is under way: when it was due, and whether it counts.
type Sent = (Instant, bool);

impl Latency {
    /// Runs the load.
    ///
    /// # Errors
    /// A record was refused, or a connection broke.
    pub fn run(&self) -> anyhow::Result<Figures> {
        let shape = Shape {
            record_bytes: self.record_bytes,
            batch_bytes: 1,
            compression: Compression::None,
        };
        let load = Load::new(&self.topic, shape, -1)?;
        let started = Instant::now();
        let all = std::thread::scope(|scope| {
            let mut threads = Vec::new();
            for number in 0..self.connections {
                let connection = Connection::open(&self.broker)?;
                let (under_way, awaited) = mpsc::channel();
                let receiving = connection.second()?;
                let load = load.clone();
                let sender = scope.spawn(move || self.send(number, connection, load, &under_way));
                threads.push((sender, scope.spawn(move || receive(receiving, &awaited))));
            }
            let mut all = times();
            for (sender, receiver) in threads {
                sender.join().expect("a panic ends the program")?;
                all.add(receiver.join().expect("a panic ends the program")?)?;
            }
            anyhow::Ok(all)
        })?;
        let mut figures = Figures::default();
        let bytes = all.len() * load.batch_bytes();
        figures.put_moved(
            all.len(),
            bytes,
            started.elapsed().saturating_sub(self.warm_up),
        );
        figures.put_times(&all);
        Ok(figures)
    }

    fn send(
        &self,
        number: usize,
        mut connection: Connection,
        mut load: Load,
        under_way: &mpsc::Sender<Sent>,
    ) -> anyhow::Result<()> {
        let connections = self.connections as u32;
        let interval = Duration::from_secs(1) * connections / self.rate.max(1);
        let started = Instant::now();
        // Connections take turns instead of sending in step.
        let mut due = started + interval * number as u32 / connections;
        let mut sent = 0i32;
        while due < started + self.span {
            let now = Instant::now();
            let from = if now < due {
                std::thread::sleep(due - now);
                Instant::now()
            } else {
                due
            };
            let partition = (sent.unsigned_abs() * connections + number as u32)
                % self.partitions.unsigned_abs();
            if under_way
                .send((from, due >= started + self.warm_up))
                .is_err()
            {
                // The receiver has failed and says why.
                return Ok(());
            }
            connection.send(load.addressed(partition as i32, sent))?;
            sent += 1;
            due += interval;
        }
        Ok(())
    }
}

fn receive(
    mut connection: Connection,
    awaited: &mpsc::Receiver<Sent>,
) -> anyhow::Result<Histogram<u64>> {
    let mut times = times();
    for (correlation, (from, counts)) in awaited.iter().enumerate() {
        acknowledged(connection.receive()?, correlation as i32)?;
        if counts {
            record(&mut times, from.elapsed());
        }
    }
    Ok(times)
}
