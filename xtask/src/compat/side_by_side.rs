//! Fanlog and Apache Kafka, both with empty data directories and the same settings.

use std::path::Path;

use super::broker::{Broker, End, Kind};

/// What the settings file of Kafka says beside what every broker under test is given.
const AS_KAFKA: &[&str] = &[
    "offsets.topic.num.partitions=4",
    "offsets.topic.replication.factor=1",
    "transaction.state.log.replication.factor=1",
    "transaction.state.log.min.isr=1",
    "transaction.state.log.num.partitions=4",
    "share.coordinator.state.topic.replication.factor=1",
    "share.coordinator.state.topic.min.isr=1",
    "share.coordinator.state.topic.num.partitions=4",
];

/// Two brokers that serve.
#[derive(Debug)]
pub(crate) struct SideBySide {
    fanlog: Broker,
    kafka: Broker,
}

impl SideBySide {
    /// Starts both below `dir`.
    pub(crate) fn start(fanlog: &Kind, kafka: &Kind, dir: &Path) -> anyhow::Result<Self> {
        Ok(Self {
            fanlog: Broker::start_with(fanlog, &dir.join("fanlog"), AS_KAFKA)?,
            kafka: Broker::start(kafka, &dir.join("kafka"))?,
        })
    }

    /// Where Fanlog is.
    pub(crate) fn fanlog(&self) -> &str {
        self.fanlog.bootstrap()
    }

    /// Where Kafka is.
    pub(crate) fn kafka(&self) -> &str {
        self.kafka.bootstrap()
    }

    /// Ends both.
    pub(crate) fn stop(&mut self, end: End) -> anyhow::Result<()> {
        self.fanlog.stop(end)?;
        self.kafka.stop(end)
    }
}
