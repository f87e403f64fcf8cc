//! Checkout: publishes the sale's events at a rate and remembers what was acknowledged, and how fast.

use super::order::{self, Kind};
use super::summary::Acknowledged;
use fanlog_client::{ClientError, Delivered, Producer, ProducerRecord};
use fanlog_environment::{Clock, SystemClock};
use fanlog_model::TopicName;
use hdrhistogram::Histogram;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::{Instant, MissedTickBehavior, interval};

/// How long after `placed` an order is settled.
const SETTLED_AFTER: Duration = Duration::from_millis(1500);
const TICK: Duration = Duration::from_millis(5);
/// The longest acknowledgement told apart, in microseconds.
const LATENCY_US_MAX: u64 = 60_000_000;

/// What checkout knows.
pub(crate) struct Tally {
    pub(crate) acknowledged: Vec<Acknowledged>,
    pub(crate) failures: Vec<String>,
    /// Microseconds, since the start.
    pub(crate) latency: Histogram<u64>,
    /// Microseconds, since it was last taken.
    pub(crate) latency_lately: Histogram<u64>,
}

fn histogram() -> Histogram<u64> {
    Histogram::new_with_max(LATENCY_US_MAX, 3)
        .expect("the bounds are constants that suit each other")
}

/// The publisher's side of the sale. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Checkout {
    producer: Arc<Producer>,
    topic: TopicName,
    clock: Arc<SystemClock>,
    tally: Arc<Mutex<Tally>>,
}

impl Checkout {
    pub(crate) fn new(producer: Producer, topic: TopicName) -> Self {
        let tally = Tally {
            acknowledged: Vec::new(),
            failures: Vec::new(),
            latency: histogram(),
            latency_lately: histogram(),
        };
        Self {
            producer: Arc::new(producer),
            topic,
            clock: Arc::new(SystemClock::new()),
            tally: Arc::new(Mutex::new(tally)),
        }
    }

    pub(crate) fn with_tally<T>(&self, look: impl FnOnce(&mut Tally) -> T) -> T {
        look(&mut self.tally.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Sells `per_second` orders for as long as told, then settles the last of them.
    pub(crate) async fn sell(&self, per_second: u32, time: Duration) -> Result<(), ClientError> {
        let begun = Instant::now();
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut placed = 0;
        let mut unsettled = VecDeque::new();
        while begun.elapsed() < time || !unsettled.is_empty() {
            ticks.tick().await;
            let due = begun.elapsed().min(time).as_secs_f64() * f64::from(per_second);
            while (placed as f64) < due {
                placed += 1;
                self.publish(placed, Kind::Placed).await?;
                unsettled.push_back((Instant::now() + SETTLED_AFTER, placed));
            }
            while let Some((_, order)) = unsettled.pop_front_if(|(at, _)| *at <= Instant::now()) {
                self.publish(order, Kind::settled(order)).await?;
            }
        }
        self.producer.flush().await;
        Ok(())
    }

    async fn publish(&self, order: u64, kind: Kind) -> Result<(), ClientError> {
        let record = ProducerRecord {
            topic: self.topic.clone(),
            partition: None,
            timestamp: self.clock.wall_ms(),
            key: Some(order::key(order).into()),
            value: Some(order::json(order, kind).into()),
            headers: Vec::new(),
        };
        let begun = self.clock.monotonic();
        let delivery = self.producer.send(record).await?;
        let this = self.clone();
        tokio::spawn(async move {
            let outcome = delivery.await;
            this.note(order, kind, outcome, this.clock.monotonic() - begun);
        });
        Ok(())
    }

    fn note(
        &self,
        order: u64,
        kind: Kind,
        outcome: Result<Delivered, ClientError>,
        took: Duration,
    ) {
        self.with_tally(|tally| match outcome {
            Ok(Delivered {
                partition,
                offset: Some(offset),
                ..
            }) => {
                let took = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
                tally.latency.saturating_record(took);
                tally.latency_lately.saturating_record(took);
                let partition = partition.partition.0;
                tally.acknowledged.push(Acknowledged {
                    partition,
                    offset: offset.0,
                    order,
                    kind,
                });
            }
            Ok(Delivered { offset: None, .. }) => {
                tally.failures.push("acknowledged without an offset".into())
            }
            Err(error) => tally.failures.push(error.to_string()),
        });
    }
}
