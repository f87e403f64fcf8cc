//! How far each group is behind, in records and in time, computed when it is asked for.
//!
//! Why it exists: "200 records behind" says little; "the oldest unread one is 40 minutes old" says whether to worry.
//! Never: keeps anything up to date between scrapes; a scrape looks at the groups' ledgers and, for the age, at
//! one batch header each, at most `AGE_LOOKUPS_MAX` of them.

use crate::broker::Broker;
use crate::groups::GroupPosition;
use crate::partition::Partition;
use fanlog_model::{Offset, TimestampMs, TopicPartition};
use parking_lot::Mutex;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;
use prometheus_client::metrics::MetricType;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, OnceLock, Weak};

/// How many logs one scrape looks into; what was found before and still holds is not looked up again.
const AGE_LOOKUPS_MAX: usize = 1_000;

/// Computes the lag at each scrape.
#[derive(Debug)]
pub(super) struct LagCollector {
    broker: Arc<OnceLock<Weak<Broker>>>,
    known: Mutex<HashMap<TopicPartition, HashMap<Offset, TimestampMs>>>,
}

struct Lag {
    labels: super::Labels<3>,
    records: i64,
    age_seconds: Option<f64>,
}

impl LagCollector {
    pub(super) fn new(broker: Arc<OnceLock<Weak<Broker>>>) -> Self {
        Self {
            broker,
            known: Mutex::new(HashMap::new()),
        }
    }

    fn lags(&self, broker: &Broker) -> Vec<Lag> {
        let now = broker.environment().clock.wall_ms();
        let topics = broker.topics();
        let mut known = self.known.lock();
        let mut kept: HashMap<TopicPartition, HashMap<Offset, TimestampMs>> = HashMap::new();
        let mut lookups_left = AGE_LOOKUPS_MAX;
        let mut lags = Vec::new();
        for GroupPosition {
            group,
            partition,
            committed,
        } in broker.groups().positions()
        {
            let topic = topics.by_name(&partition.topic);
            let Some(log) = topic.and_then(|topic| topic.partition(partition.partition)) else {
                continue;
            };
            let records = (log.high_watermark().0 - committed.0).max(0);
            let mut timestamp = None;
            if records > 0 {
                timestamp = known
                    .get(&partition)
                    .and_then(|times| times.get(&committed))
                    .copied();
                if timestamp.is_none() && lookups_left > 0 {
                    lookups_left -= 1;
                    timestamp = first_unread_at(log, committed);
                }
            }
            if let Some(timestamp) = timestamp {
                kept.entry(partition.clone())
                    .or_default()
                    .insert(committed, timestamp);
            }
            let age = |timestamp: TimestampMs| (now.0 - timestamp.0).max(0) as f64 / 1000.0;
            lags.push(Lag {
                labels: [
                    ("group", group.to_string()),
                    ("topic", partition.topic.to_string()),
                    ("partition", partition.partition.to_string()),
                ],
                records,
                age_seconds: if records == 0 {
                    Some(0.0)
                } else {
                    timestamp.map(age)
                },
            });
        }
        *known = kept;
        lags
    }
}

/// When the batch with the first unread record was written, by its first record's timestamp.
fn first_unread_at(log: &Partition, committed: Offset) -> Option<TimestampMs> {
    log.batch_timestamp(committed).ok().flatten()
}

impl Collector for LagCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let Some(broker) = self.broker.get().and_then(Weak::upgrade) else {
            return Ok(());
        };
        broker.note_positions();
        let lags = self.lags(&broker);
        let mut records = encoder.encode_descriptor(
            "group_lag_records",
            "Records between a group's committed offset and the high watermark",
            None,
            MetricType::Gauge,
        )?;
        for lag in &lags {
            records
                .encode_family(&lag.labels)?
                .encode_gauge(&lag.records)?;
        }
        let mut ages = encoder.encode_descriptor(
            "group_lag_age_seconds",
            "Age of the batch that holds the first record a group has not committed",
            None,
            MetricType::Gauge,
        )?;
        for lag in &lags {
            if let Some(age) = lag.age_seconds {
                ages.encode_family(&lag.labels)?.encode_gauge(&age)?;
            }
        }
        Ok(())
    }
}
