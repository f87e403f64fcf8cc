//! End to end: the time from when a record is written until a consumer has it, both in this process and by one clock.

use crate::connection::Connection;
use crate::figures::{Figures, record, times};
use crate::load::{Load, Shape, acknowledged};
use crate::pace::{Pace, Turn};
use crate::reader::{Limits, StampReader};
use crate::stamp::{self, STAMP_BYTES};
use anyhow::ensure;
use fanlog_protocol::records::Compression;
use hdrhistogram::Histogram;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// What a consumer asks for by default: anything, at once.
const LIMITS: Limits = Limits {
    bytes_max: 16 * 1024 * 1024,
    partition_bytes_max: 1024 * 1024,
    wait_ms: 500,
    bytes_min: 1,
};
/// How long the last records may take.
const ARRIVAL_TIMEOUT: Duration = Duration::from_secs(30);

/// A shape of load.
#[derive(Clone, Debug)]
pub struct EndToEnd {
    /// Where the broker is.
    pub broker: String,
    /// A topic that is new.
    pub topic: String,
    /// How many partitions it has.
    pub partitions: i32,
    /// The bytes of a record's value.
    pub record_bytes: usize,
    /// Single records a second.
    pub rate: u32,
    /// How long.
    pub span: Duration,
    /// What of it is not counted.
    pub warm_up: Duration,
}

impl EndToEnd {
    /// Runs the load.
    ///
    /// # Errors
    /// A record was refused or did not arrive, or a connection broke.
    pub fn run(&self) -> anyhow::Result<Figures> {
        let shape = Shape {
            record_bytes: self.record_bytes.max(STAMP_BYTES),
            batch_bytes: 1,
            compression: Compression::None,
        };
        let load = Load::new(&self.topic, shape, -1)?;
        let bytes = load.batch_bytes();
        let started = Instant::now();
        let total = OnceLock::new();
        let all = std::thread::scope(|scope| {
            let sending = Connection::open(&self.broker)?;
            let receiving = sending.second()?;
            let total = &total;
            let receiver = scope.spawn(move || acknowledgements(receiving, total));
            let sender = scope.spawn(move || {
                let sent = self.send(sending, load, started);
                // Where sending failed, nobody waits for what never comes.
                let _ = total.set(*sent.as_ref().unwrap_or(&0));
                sent
            });
            let all = self.consume(started, total);
            sender.join().expect("a panic ends the program")?;
            receiver.join().expect("a panic ends the program")?;
            all
        })?;
        let mut figures = Figures::default();
        let elapsed = started.elapsed().saturating_sub(self.warm_up);
        figures.put_moved(all.len(), all.len() * bytes, elapsed);
        figures.put_times(&all);
        Ok(figures)
    }

    fn send(
        &self,
        mut connection: Connection,
        mut load: Load,
        started: Instant,
    ) -> anyhow::Result<u64> {
        let places = stamp::places(load.batch_mut())?;
        let mut pace = Pace::new(started, self.span, self.rate.into(), 0, 1);
        let mut sent = 0u64;
        while let Turn::Send { from, .. } = pace.turn() {
            let partition = (sent % u64::from(self.partitions.unsigned_abs())) as i32;
            let at = u64::try_from((from - started).as_nanos())?;
            stamp::stamp(load.batch_mut(), &places, sent, at);
            connection.send(load.addressed(partition, sent as i32))?;
            sent += 1;
        }
        Ok(sent)
    }

    fn consume(&self, started: Instant, total: &OnceLock<u64>) -> anyhow::Result<Histogram<u64>> {
        let mut reader = StampReader::open(&self.broker, &self.topic, self.partitions)?;
        let mut times = times();
        let mut received = 0;
        let warm_up = u64::try_from(self.warm_up.as_nanos())?;
        let deadline = started + self.span + ARRIVAL_TIMEOUT;
        while total.get().is_none_or(|total| received < *total) {
            ensure!(
                Instant::now() < deadline,
                "{received} of {total:?} records arrived within {ARRIVAL_TIMEOUT:?}"
            );
            received += reader.fetch(LIMITS, |_, stamp| {
                let now = started.elapsed().as_nanos() as u64;
                if stamp.sent_ns >= warm_up {
                    let took = now.saturating_sub(stamp.sent_ns);
                    record(&mut times, Duration::from_nanos(took));
                }
            })?;
        }
        Ok(times)
    }
}

/// Takes what the broker says to each record, so that a refusal is seen and its window never fills.
fn acknowledgements(mut connection: Connection, total: &OnceLock<u64>) -> anyhow::Result<()> {
    let mut got = 0;
    while total.get().is_none_or(|total| got < *total) {
        acknowledged(connection.receive()?, got as i32)?;
        got += 1;
    }
    Ok(())
}
