//! A queue with `order=key` worked by many consumers over HTTP, some keys of which fail.
//!
//! In -> out: a filled topic -> how fast the keys that never fail were done with, and how often a promise was broken.
//! Invariants that it watches: order per key, a key with one consumer at a time, each message done with once.

use super::api::{self, Consumer, Message};
use super::fill::key_in;
use super::order_check::OrderCheck;
use crate::figures::Figures;
use crate::keyed::key_of;
use crate::{processor, threads};
use anyhow::{Context, ensure};
use parking_lot::Mutex;
use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How long nothing may be done with until the run is given up.
const STUCK: Duration = Duration::from_secs(60);
/// How long a receive waits.
const WAIT: &str = "1s";
/// One key of so many fails.
const KEYS_PER_FAILING: u64 = 100;

/// A run.
#[derive(Clone, Debug)]
pub struct Ordered {
    /// host:port of the broker's HTTP.
    pub http: String,
    /// The queue, which is made.
    pub queue: String,
    /// A topic as `Fill` leaves it.
    pub topic: String,
    /// Its partitions.
    pub partitions: usize,
    /// Its records.
    pub records: u64,
    /// Its keys.
    pub keys: u64,
    /// Consumers, a connection and a thread each.
    pub consumers: usize,
    /// How many messages each asks for.
    pub max: usize,
    /// How often each key of the hundredth part that fails does so.
    pub failures: u32,
    /// The broker's process, if its processor time is to be measured until the healthy keys are done with.
    pub broker_process: Option<u32>,
}

/// When the healthy keys were done with, and the broker's processor time then.
#[derive(Clone, Copy)]
struct Ended {
    at: Instant,
    processor: f64,
}

struct Run<'a> {
    ordered: &'a Ordered,
    check: OrderCheck,
    healthy_left: AtomicU64,
    left: AtomicU64,
    healthy_ended: Mutex<Option<Ended>>,
    nearly_ended: Mutex<Option<Ended>>,
    last_done: Mutex<Instant>,
    nacks: AtomicU64,
    receives: AtomicU64,
}

/// Whether a key is one of those that fail, in runs in which they do.
fn is_failing(key: u64) -> bool {
    key_of(key, KEYS_PER_FAILING) == 0
}

impl Ordered {
    /// Runs it.
    ///
    /// # Errors
    /// The broker refuses, a connection broke, or nothing is done with for a minute.
    pub fn run(&self) -> anyhow::Result<Figures> {
        let settings = [
            ("order", "key"),
            ("backoff", "fixed:1s"),
            ("max-attempts", "20"),
            ("lock", "5m"),
        ];
        api::create(&self.http, &self.queue, &self.topic, &settings)?;
        let healthy = self.healthy();
        let run = Run {
            ordered: self,
            check: OrderCheck::new(
                self.keys + self.partitions as u64,
                self.records,
                self.partitions,
            ),
            healthy_left: AtomicU64::new(healthy),
            left: AtomicU64::new(self.records),
            healthy_ended: Mutex::new(None),
            nearly_ended: Mutex::new(None),
            last_done: Mutex::new(Instant::now()),
            nacks: AtomicU64::new(0),
            receives: AtomicU64::new(0),
        };
        let started = Instant::now();
        let processor = self.processor()?;
        threads::run(self.consumers, |number| run.consume(number))?;
        // Who waits for more when everything is done with does not count.
        let took = run.last_done.lock().duration_since(started);
        let ended = run.healthy_ended.lock().context("no healthy key")?;
        let mut figures = Figures::default();
        let healthy_took = (ended.at - started).as_secs_f64();
        figures.put("seconds", took.as_secs_f64());
        figures.put("healthy_seconds", healthy_took);
        figures.put("healthy_records", healthy as f64);
        figures.put("healthy_per_second", healthy as f64 / healthy_took);
        if let Some(nearly) = *run.nearly_ended.lock() {
            figures.put("nearly_seconds", (nearly.at - started).as_secs_f64());
            figures.put("nearly_broker_cpu_seconds", nearly.processor - processor);
        }
        let processor = ended.processor - processor;
        figures.put("healthy_broker_cpu_seconds", processor);
        let broken = &run.check.broken;
        for (name, count) in [
            ("nacks", &run.nacks),
            ("receives", &run.receives),
            ("out_of_order", &broken.out_of_order),
            ("shared_keys", &broken.shared_keys),
            ("twice", &broken.twice),
            ("refused", &broken.refused),
        ] {
            figures.put(name, count.load(Ordering::Relaxed) as f64);
        }
        let status = api::status(&self.http, &self.queue)?;
        for (name, of) in [
            ("queue_depth", "depth"),
            ("queue_acknowledged", "acknowledged"),
        ] {
            let number = status[of].as_f64();
            figures.put(name, number.with_context(|| format!("{of} in {status}"))?);
        }
        Ok(figures)
    }

    /// The broker's processor time so far, in seconds.
    fn processor(&self) -> anyhow::Result<f64> {
        let process = self.broker_process.map(|id| id.to_string());
        process.map_or(Ok(0.0), |id| processor::seconds(&id))
    }

    /// How many records have a key that never fails.
    fn healthy(&self) -> u64 {
        let of = |partition| {
            let count = super::fill::records_in(partition, self.partitions, self.records);
            let keys = (0..count).map(move |n| key_in(partition, self.partitions, n, self.keys));
            keys.filter(|key| !is_failing(*key)).count() as u64
        };
        (0..self.partitions).map(of).sum()
    }
}

impl Run<'_> {
    fn consume(&self, number: usize) -> anyhow::Result<()> {
        let of = self.ordered;
        let name = format!("consumer-{number}");
        let mut consumer = Consumer::open(&of.http, &of.queue, &name, (of.max, WAIT))?;
        while self.left.load(Ordering::Relaxed) > 0 {
            let messages = consumer.receive()?;
            self.receives.fetch_add(1, Ordering::Relaxed);
            if messages.is_empty() {
                let is_stuck = self.last_done.lock().elapsed() > STUCK;
                let left = self.left.load(Ordering::Relaxed);
                ensure!(!is_stuck || left == 0, "{left} messages don't come");
                continue;
            }
            self.work(number, &mut consumer, &messages)?;
        }
        Ok(())
    }

    /// Acknowledges a batch in one request, and nacks what fails in another.
    fn work(
        &self,
        number: usize,
        consumer: &mut Consumer,
        messages: &[Message],
    ) -> anyhow::Result<()> {
        let (mut good, mut bad) = (Vec::new(), Vec::new());
        let mut failed = HashSet::new();
        for message in messages {
            let key = message.key.context("a message without a key")?;
            self.check.is_known(message)?;
            self.check.received(number, key, message);
        }
        for message in messages {
            let key = message.key.context("a message without a key")?;
            if failed.contains(&key) {
                // It comes back with the earlier one of its key.
                self.check.giving_back(key);
            } else if is_failing(key) && self.check.fails(key, self.ordered.failures) {
                self.check.giving_back(key);
                failed.insert(key);
                bad.push(message);
            } else {
                self.check.acknowledging(key, message);
                good.push(message);
            }
        }
        let receipts: Vec<&str> = good.iter().map(|message| &*message.receipt).collect();
        let outcomes = consumer.ack(&receipts)?;
        let mut done = Vec::new();
        for (message, counts) in good.into_iter().zip(outcomes) {
            if self.check.acknowledged(message, counts) {
                done.push(message);
            }
        }
        self.count(&done)?;
        let receipts: Vec<&str> = bad.iter().map(|message| &*message.receipt).collect();
        for counts in consumer.nack(&receipts)? {
            self.nacks.fetch_add(1, Ordering::Relaxed);
            if !counts {
                self.check.broken.refused.fetch_add(1, Ordering::Relaxed);
            }
        }
        Ok(())
    }

    fn count(&self, done: &[&Message]) -> anyhow::Result<()> {
        if done.is_empty() {
            return Ok(());
        }
        let now = Instant::now();
        *self.last_done.lock() = now;
        let is_healthy = |message: &&&Message| message.key.is_some_and(|key| !is_failing(key));
        let healthy = done.iter().filter(is_healthy).count() as u64;
        let before = self.healthy_left.fetch_sub(healthy, Ordering::Relaxed);
        let nearly = self.ordered.records / 100;
        if before > nearly && before - healthy <= nearly {
            let processor = self.ordered.processor()?;
            *self.nearly_ended.lock() = Some(Ended { at: now, processor });
        }
        if healthy > 0 && before == healthy {
            let processor = self.ordered.processor()?;
            *self.healthy_ended.lock() = Some(Ended { at: now, processor });
        }
        self.left.fetch_sub(done.len() as u64, Ordering::Relaxed);
        Ok(())
    }
}
