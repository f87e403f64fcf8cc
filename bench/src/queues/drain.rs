//! A filled topic drained through a queue over HTTP, and the time from a record's turn to be sent until it is acknowledged.

use super::api::{self, Consumer};
use crate::connection::Connection;
use crate::figures::{Figures, record, times};
use crate::load::{Load, acknowledged};
use crate::pace::{Pace, Turn};
use crate::threads;
use anyhow::{Context, ensure};
use fanlog_model::TimestampMs;
use fanlog_protocol::records::{BatchBuilder, Compression, NewRecord};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant, SystemTime};

/// Consumers stop when nothing comes for so long and all has been sent.
const WAIT: &str = "1s";
/// How many empty receives in a row end a drain that is not complete.
const EMPTY_MAX: u32 = 30;

/// A drain.
#[derive(Clone, Debug)]
pub struct Drain {
    /// host:port of the broker's HTTP.
    pub http: String,
    /// The queue, which is made.
    pub queue: String,
    /// A topic as `Fill` leaves it.
    pub topic: String,
    /// Its records.
    pub records: u64,
    /// Consumers, a connection and a thread each.
    pub consumers: usize,
    /// How many messages each asks for.
    pub max: usize,
}

impl Drain {
    /// Runs it.
    ///
    /// # Errors
    /// The broker refuses, or a connection broke.
    pub fn run(&self) -> anyhow::Result<Figures> {
        api::create(&self.http, &self.queue, &self.topic, &[("lock", "5m")])?;
        let left = AtomicU64::new(self.records);
        let took = AtomicU64::new(0);
        let refused = AtomicU64::new(0);
        let started = Instant::now();
        threads::run(self.consumers, |number| {
            let name = format!("consumer-{number}");
            let how = (self.max, WAIT);
            let mut consumer = Consumer::open(&self.http, &self.queue, &name, how)?;
            let mut empty = 0;
            while left.load(Ordering::Relaxed) > 0 {
                let messages = consumer.receive()?;
                empty = if messages.is_empty() { empty + 1 } else { 0 };
                ensure!(empty < EMPTY_MAX, "{left:?} messages don't come");
                let receipts: Vec<&str> = messages.iter().map(|one| &*one.receipt).collect();
                let outcomes = consumer.ack(&receipts)?;
                let done = outcomes.iter().filter(|counts| **counts).count() as u64;
                refused.fetch_add(outcomes.len() as u64 - done, Ordering::Relaxed);
                left.fetch_sub(done, Ordering::Relaxed);
                if done > 0 {
                    // Who waits for more when everything is done with does not count.
                    let now = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
                    took.fetch_max(now, Ordering::Relaxed);
                }
            }
            Ok(())
        })?;
        let seconds = took.load(Ordering::Relaxed) as f64 / 1e6;
        let mut figures = Figures::default();
        figures.put("records_per_second", self.records as f64 / seconds);
        figures.put("seconds", seconds);
        figures.put("refused", refused.load(Ordering::Relaxed) as f64);
        Ok(figures)
    }
}

/// Records sent at a rate by Kafka's protocol, received and acknowledged over HTTP.
#[derive(Clone, Debug)]
pub struct Acked {
    /// host:port of the broker.
    pub broker: String,
    /// host:port of its HTTP.
    pub http: String,
    /// The queue, which is made.
    pub queue: String,
    /// A topic that is new.
    pub topic: String,
    /// Its partitions.
    pub partitions: usize,
    /// Consumers, a connection and a thread each.
    pub consumers: usize,
    /// How many messages each asks for.
    pub max: usize,
    /// Records a second.
    pub rate: f64,
    /// The bytes of each value.
    pub record_bytes: usize,
    /// How long.
    pub span: Duration,
    /// How much of that does not count.
    pub warm_up: Duration,
}

impl Acked {
    /// Runs it.
    ///
    /// # Errors
    /// The broker refuses, or a connection broke.
    pub fn run(&self) -> anyhow::Result<Figures> {
        api::create(&self.http, &self.queue, &self.topic, &[("lock", "5m")])?;
        let started = Instant::now() + Duration::from_millis(500);
        let (sent, has_ended) = (AtomicU64::new(0), AtomicBool::new(false));
        let taken = AtomicU64::new(0);
        let (mut all, mut acked) = (times(), 0);
        std::thread::scope(|scope| {
            let sending = scope.spawn(|| {
                let outcome = self.send(started, &sent);
                has_ended.store(true, Ordering::Relaxed);
                outcome
            });
            let consumed = threads::run(self.consumers, |number| {
                self.consume(number, started, (&sent, &taken, &has_ended))
            });
            sending.join().expect("a panic ends the program")?;
            for (of_consumer, count) in consumed? {
                all.add(of_consumer).context("times")?;
                acked += count;
            }
            anyhow::Ok(())
        })?;
        let mut figures = Figures::default();
        figures.put("sent", sent.load(Ordering::Relaxed) as f64);
        figures.put("acknowledged", acked as f64);
        figures.put(
            "sent_per_second",
            sent.load(Ordering::Relaxed) as f64 / self.span.as_secs_f64(),
        );
        figures.put_times(&all);
        Ok(figures)
    }

    /// One record a batch, not waiting for the one before; its value says when it was due, in microseconds from the start.
    fn send(&self, started: Instant, sent: &AtomicU64) -> anyhow::Result<()> {
        let mut connection = Connection::open(&self.broker)?;
        let mut answers = connection.second()?;
        let (sender, under_way) = mpsc::channel();
        std::thread::scope(|scope| {
            let acknowledging = scope.spawn(move || {
                for number in under_way {
                    acknowledged(answers.receive()?, number)?;
                }
                anyhow::Ok(())
            });
            let mut pace = Pace::new(started, self.span, self.rate, 0, 1);
            let mut number = 0;
            while let Turn::Send { from, .. } = pace.turn() {
                let due = from.saturating_duration_since(started).as_micros();
                let value = format!("{due:<width$}", width = self.record_bytes);
                let mut load = Load::of(&self.topic, &one_record(&value)?, 1, -1)?;
                let partition = number % i32::try_from(self.partitions)?;
                connection.send(load.addressed(partition, number))?;
                // Who waits for the answers has ended where one of them was an error.
                let _ = sender.send(number);
                sent.fetch_add(1, Ordering::Relaxed);
                number += 1;
            }
            drop(sender);
            acknowledging.join().expect("a panic ends the program")
        })
    }

    fn consume(
        &self,
        number: usize,
        started: Instant,
        (sent, taken, has_ended): (&AtomicU64, &AtomicU64, &AtomicBool),
    ) -> anyhow::Result<(hdrhistogram::Histogram<u64>, u64)> {
        let name = format!("consumer-{number}");
        let mut consumer = Consumer::open(&self.http, &self.queue, &name, (self.max, WAIT))?;
        let (mut found, mut acked) = (times(), 0);
        let mut empty = 0;
        loop {
            let messages = consumer.receive()?;
            empty = if messages.is_empty() { empty + 1 } else { 0 };
            let is_over = has_ended.load(Ordering::Relaxed)
                && taken.load(Ordering::Relaxed) >= sent.load(Ordering::Relaxed);
            if is_over || empty >= EMPTY_MAX {
                return Ok((found, acked));
            }
            let receipts: Vec<&str> = messages.iter().map(|one| &*one.receipt).collect();
            let outcomes = consumer.ack(&receipts)?;
            let now = started.elapsed();
            for (message, counts) in messages.iter().zip(outcomes) {
                let due: u64 = message.value.trim_end().parse().context("a time")?;
                let due = Duration::from_micros(due);
                taken.fetch_add(u64::from(counts), Ordering::Relaxed);
                if counts && due >= self.warm_up {
                    record(&mut found, now.saturating_sub(due));
                    acked += 1;
                }
            }
        }
    }
}

fn one_record(value: &str) -> anyhow::Result<Vec<u8>> {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?;
    let mut builder = BatchBuilder::new(Compression::None);
    builder.push(&NewRecord {
        timestamp: TimestampMs(i64::try_from(now.as_millis())?),
        key: None,
        value: Some(value.as_bytes()),
        headers: &[],
    })?;
    builder.build().context("a batch")
}
