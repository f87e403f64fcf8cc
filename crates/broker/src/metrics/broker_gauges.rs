//! Sizes, computed when they are asked for: logs, disk, partitions.

use crate::broker::Broker;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeGaugeValue, NoLabelSet};
use prometheus_client::metrics::MetricType;
use std::fmt;
use std::sync::{Arc, OnceLock, Weak};

/// Looks at the broker at each scrape.
#[derive(Debug)]
pub(super) struct BrokerGauges {
    broker: Arc<OnceLock<Weak<Broker>>>,
}

impl BrokerGauges {
    pub(super) fn new(broker: Arc<OnceLock<Weak<Broker>>>) -> Self {
        Self { broker }
    }
}

impl Collector for BrokerGauges {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let Some(broker) = self.broker.get().and_then(Weak::upgrade) else {
            return Ok(());
        };
        let topics = broker.topics();
        let is_catalog_offline = broker.catalog.partition().check_serving().is_err();
        let (mut partitions, mut offline) = (0_i64, i64::from(is_catalog_offline));
        let mut sizes = Vec::new();
        for topic in topics.iter() {
            let mut bytes = 0;
            for partition in &topic.partitions {
                partitions += 1;
                match partition.size_bytes() {
                    Ok(size) => bytes += size,
                    Err(_) => offline += 1,
                }
            }
            sizes.push(([("topic", topic.name.to_string())], bytes as i64));
        }
        let mut log_bytes = encoder.encode_descriptor(
            "topic_log_bytes",
            "Bytes of all segments of a topic",
            None,
            MetricType::Gauge,
        )?;
        for (labels, bytes) in &sizes {
            log_bytes.encode_family(labels)?.encode_gauge(bytes)?;
        }
        gauge(&mut encoder, "topics", "Topics", &(topics.len() as i64))?;
        gauge(
            &mut encoder,
            "partitions",
            "Partitions of all topics",
            &partitions,
        )?;
        gauge(
            &mut encoder,
            "partitions_offline",
            "Partitions that cannot serve; the broker's log says why",
            &offline,
        )?;
        gauge(
            &mut encoder,
            "segments_damaged",
            "Segments in which reads have met damage since the start; the broker's log says where",
            &i64::try_from(broker.damaged_files().len()).unwrap_or(i64::MAX),
        )?;
        let ids = broker.dedup.figures();
        gauge(
            &mut encoder,
            "message_ids",
            "Message ids that topics with dedup.window.ms remember",
            &i64::try_from(ids.remembered).unwrap_or(i64::MAX),
        )?;
        gauge(
            &mut encoder,
            "message_id_memory_bytes",
            "Memory that message ids take; fanlog.dedup.memory.bytes bounds it",
            &i64::try_from(ids.bytes).unwrap_or(i64::MAX),
        )?;
        encoder
            .encode_descriptor(
                "message_id_refusals",
                "Batches refused for want of that memory",
                None,
                MetricType::Counter,
            )?
            .encode_counter::<NoLabelSet, _, u64>(&ids.refused, None)?;
        let memory = broker.groups().memory();
        gauge(
            &mut encoder,
            "group_memory_bytes",
            "Memory that groups and committed offsets take, about; fanlog.groups.memory.bytes bounds it",
            &i64::try_from(memory.bytes()).unwrap_or(i64::MAX),
        )?;
        gauge(
            &mut encoder,
            "transaction_memory_bytes",
            "Memory that transactional ids take, about; fanlog.transactions.memory.bytes bounds it",
            &i64::try_from(broker.transactions().memory_bytes()).unwrap_or(i64::MAX),
        )?;
        encoder
            .encode_descriptor(
                "group_memory_refusals",
                "New groups, members and offsets refused for want of that memory",
                None,
                MetricType::Counter,
            )?
            .encode_counter::<NoLabelSet, _, u64>(&memory.refused(), None)?;
        if let Ok(free) = broker.environment().disk.available_bytes() {
            let free = i64::try_from(free).unwrap_or(i64::MAX);
            gauge(
                &mut encoder,
                "disk_free_bytes",
                "Bytes that can still be written",
                &free,
            )?;
        }
        Ok(())
    }
}

/// One number without labels.
pub(super) fn gauge(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    value: &impl EncodeGaugeValue,
) -> Result<(), fmt::Error> {
    encoder
        .encode_descriptor(name, help, None, MetricType::Gauge)?
        .encode_gauge(value)
}
