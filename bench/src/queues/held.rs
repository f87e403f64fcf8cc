//! Very many messages that are held, or wait for their time; and the first one after a restart.

use super::api::{self, Consumer};
use crate::figures::Figures;
use crate::threads;
use anyhow::{Context, ensure};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How many messages a receive asks for: the most.
const MAX: usize = 1000;
/// Consumers at once.
const CONSUMERS: usize = 4;
/// How long the broker may take until something is there.
const TIMEOUT: Duration = Duration::from_secs(120);
/// How soon one that is not there yet is asked again.
const AGAIN_AFTER: Duration = Duration::from_millis(2);

/// Messages of a queue that stay held.
#[derive(Clone, Debug)]
pub struct Hold {
    /// host:port of the broker's HTTP.
    pub http: String,
    /// The queue, which is made.
    pub queue: String,
    /// A topic with that many records and more, or twice as many.
    pub topic: String,
    /// How many are to be held, or to wait for their time.
    pub records: u64,
    /// What becomes of them.
    pub how: How,
}

/// How messages stay with a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// All of a receive are held: neighbours that are alike.
    Held,
    /// Every other one is acknowledged, so that no neighbours are alike.
    Scattered,
    /// Every other one has another lock, so that no neighbours are alike, as where each was received by itself.
    Unlike,
    /// They wait for their time: one look finds that.
    Delayed,
}

impl Hold {
    /// Makes the queue and has them held.
    ///
    /// # Errors
    /// The broker refuses, or there are not as many in the end.
    pub fn run(&self) -> anyhow::Result<Figures> {
        let settings = [("lock", "12h"), ("max-in-flight", "1000000")];
        api::create(&self.http, &self.queue, &self.topic, &settings)?;
        let started = Instant::now();
        let name = match self.how {
            How::Delayed => {
                self.look()?;
                "waiting_for_time"
            }
            How::Held | How::Scattered | How::Unlike => {
                let held = AtomicU64::new(0);
                threads::run(CONSUMERS, |number| self.hold(number, &held))?;
                "in_flight_records"
            }
        };
        let took = started.elapsed().as_secs_f64();
        let status = api::status(&self.http, &self.queue)?;
        let found = status[name].as_f64();
        let found = found.with_context(|| format!("{name} in {status}"))?;
        let wanted = self.records as f64;
        ensure!(
            found >= wanted && found < wanted + (CONSUMERS * MAX) as f64,
            "{name} is {found} instead of {wanted}"
        );
        let mut figures = Figures::default();
        figures.put("seconds", took);
        figures.put("records", found);
        figures.put("memory_bytes", api::memory_bytes(&self.http)?);
        Ok(figures)
    }

    fn hold(&self, number: usize, held: &AtomicU64) -> anyhow::Result<()> {
        let name = format!("consumer-{number}");
        let mut consumer = Consumer::open(&self.http, &self.queue, &name, (MAX, "1s"))?;
        while held.load(Ordering::Relaxed) < self.records {
            let messages = consumer.receive()?;
            ensure!(
                !messages.is_empty(),
                "the topic has too few records: {held:?} are held"
            );
            let mut count = messages.len() as u64;
            let odd = messages.iter().filter(|message| message.offset % 2 != 0);
            let odd: Vec<&str> = odd.map(|message| &*message.receipt).collect();
            let outcomes = match self.how {
                How::Scattered => {
                    count -= odd.len() as u64;
                    consumer.ack(&odd)?
                }
                How::Unlike => consumer.extend(&odd, "11h")?,
                How::Held | How::Delayed => Vec::new(),
            };
            ensure!(outcomes.iter().all(|counts| *counts), "one was refused");
            held.fetch_add(count, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Nothing can be received, and now the queue knows that.
    fn look(&self) -> anyhow::Result<()> {
        let mut consumer = Consumer::open(&self.http, &self.queue, "looks", (1, "0s"))?;
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let messages = consumer.receive()?;
            ensure!(messages.is_empty(), "a delayed message came");
            let waiting = api::status(&self.http, &self.queue)?["waiting_for_time"].as_f64();
            if waiting.is_some_and(|waiting| waiting >= self.records as f64) {
                return Ok(());
            }
            ensure!(
                Instant::now() < deadline,
                "only {waiting:?} wait for their time"
            );
        }
    }
}

/// Makes a queue that begins with what its topic holds.
///
/// # Errors
/// The broker refuses.
pub fn make(http: &str, queue: &str, topic: &str) -> anyhow::Result<Figures> {
    api::create(http, queue, topic, &[])?;
    let mut figures = Figures::default();
    figures.put("memory_bytes", api::memory_bytes(http)?);
    Ok(figures)
}

/// Asks for one message again and again until it is there.
///
/// # Errors
/// There is none within two minutes.
pub fn first(http: &str, queue: &str) -> anyhow::Result<Figures> {
    let started = Instant::now();
    loop {
        let consumer = Consumer::open(http, queue, "first", (1, "100ms"));
        let received = consumer.and_then(|mut consumer| consumer.receive());
        if received.as_ref().is_ok_and(|messages| !messages.is_empty()) {
            let mut figures = Figures::default();
            figures.put("seconds", started.elapsed().as_secs_f64());
            return Ok(figures);
        }
        if started.elapsed() > TIMEOUT {
            let none = received.map(|_| ()).context("no message comes");
            return none.and_then(|()| anyhow::bail!("no message comes"));
        }
        std::thread::sleep(AGAIN_AFTER);
    }
}
