//! How each queue stands, computed when it is asked for: what `fanlog queue status` says, as numbers.
//!
//! Never: keeps anything up to date between scrapes; a scrape looks at the queues' machines, and at one batch header for each
//! partition that has something waiting.

use super::broker_gauges::gauge;
use crate::broker::Broker;
use crate::queues::QueueStatus;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;
use prometheus_client::metrics::MetricType;
use std::fmt;
use std::sync::{Arc, OnceLock, Weak};

/// Looks at the queues at each scrape.
#[derive(Debug)]
pub(super) struct QueueCollector {
    broker: Arc<OnceLock<Weak<Broker>>>,
}

impl QueueCollector {
    pub(super) fn new(broker: Arc<OnceLock<Weak<Broker>>>) -> Self {
        Self { broker }
    }
}

/// A number of one queue.
type Number = fn(&QueueStatus) -> u64;

const GAUGES: [(&str, &str, Number); 9] = [
    (
        "queue_depth_records",
        "Records that the queue is not done with; those not looked at yet count, wanted or not",
        |status| status.depth,
    ),
    (
        "queue_unread_records",
        "Records that the queue has not looked at yet",
        |status| status.unread,
    ),
    (
        "queue_available_records",
        "Records that were looked at and could be handed out now",
        |status| status.available,
    ),
    (
        "queue_in_flight_records",
        "Records that consumers hold",
        |status| status.in_flight_records,
    ),
    (
        "queue_resting_records",
        "Records that were delivered and come again",
        |status| status.resting,
    ),
    (
        "queue_waiting_for_time_records",
        "Records that wait for their time",
        |status| status.waiting_for_time,
    ),
    (
        "queue_waiting_for_key_records",
        "Records that wait for an earlier one of their key",
        |status| status.waiting_for_key,
    ),
    (
        "queue_dead_letters",
        "Dead letters that were neither redriven nor discarded",
        |status| status.dead_letters.unwrap_or(0),
    ),
    (
        "queue_moving_records",
        "Records on their way to another topic",
        |status| status.moving,
    ),
];

const COUNTERS: [(&str, &str, Number); 3] = [
    (
        "queue_acknowledged_records",
        "Records that consumers are done with",
        |status| status.acknowledged,
    ),
    (
        "queue_given_up_records",
        "Records that failed too often, where there is no dead-letter topic",
        |status| status.given_up,
    ),
    (
        "queue_lost_records",
        "Records that retention or DeleteRecords took before the queue was done with them",
        |status| status.lost,
    ),
];

impl Collector for QueueCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let Some(broker) = self.broker.get().and_then(Weak::upgrade) else {
            return Ok(());
        };
        let queues = broker.queues();
        let bytes = i64::try_from(queues.memory_bytes()).unwrap_or(i64::MAX);
        gauge(
            &mut encoder,
            "queue_memory_bytes",
            "Memory that queues take, about; fanlog.queues.memory.bytes bounds it",
            &bytes,
        )?;
        let catalog = broker.catalog_view();
        let names = catalog.queues().map(|queue| &queue.name);
        // One that goes meanwhile is left out.
        let all: Vec<_> = names.filter_map(|name| queues.status(name).ok()).collect();
        let labels = |status: &QueueStatus| [("queue", status.name.to_string())];
        for (name, help, number) in GAUGES {
            let mut family = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
            for status in &all {
                let number = i64::try_from(number(status)).unwrap_or(i64::MAX);
                family
                    .encode_family(&labels(status))?
                    .encode_gauge(&number)?;
            }
        }
        let now = broker.environment().clock.wall_ms();
        let mut ages = encoder.encode_descriptor(
            "queue_oldest_age_seconds",
            "Age of the batch that holds the first record the queue is not done with",
            None,
            MetricType::Gauge,
        )?;
        for status in &all {
            let age = status.oldest.as_ref();
            let age = age.map_or(0, |(_, timestamp)| (now.0 - timestamp.0).max(0));
            let seconds = age as f64 / 1000.0;
            ages.encode_family(&labels(status))?
                .encode_gauge(&seconds)?;
        }
        for (name, help, number) in COUNTERS {
            let mut family = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
            for status in &all {
                family
                    .encode_family(&labels(status))?
                    .encode_counter::<prometheus_client::encoding::NoLabelSet, _, u64>(
                        &number(status),
                        None,
                    )?;
            }
        }
        Ok(())
    }
}
