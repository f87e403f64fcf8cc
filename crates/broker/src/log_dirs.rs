//! DescribeLogDirs and DescribeProducers: what lies on the disk, and who wrote it.

use crate::broker::Broker;
use crate::lookup::{LookupError, PartitionUnavailable, TopicRef};
use fanlog_model::{PartitionIndex, TopicPartition};
use fanlog_storage::ActiveProducer;
use std::io;
use thiserror::Error;

/// The data directory and what it holds.
#[derive(Debug)]
pub struct LogDir {
    /// Its path, as operators know it.
    pub path: String,
    /// How many bytes can still be written; the error if the disk does not say.
    pub usable_bytes: io::Result<u64>,
    /// How many bytes the disk holds in all.
    pub total_bytes: io::Result<u64>,
    /// The partitions that serve, and the bytes of their segments.
    pub partitions: Vec<(TopicPartition, u64)>,
}

/// Why producers are not described.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DescribeProducersError {
    /// There is no such partition.
    #[error(transparent)]
    Lookup(#[from] LookupError),
    /// It cannot serve.
    #[error(transparent)]
    Unavailable(#[from] PartitionUnavailable),
}

impl Broker {
    /// The data directory: there is one.
    pub fn describe_log_dir(&self) -> LogDir {
        let topics = self.topics();
        let all = topics.iter().flat_map(|topic| &topic.partitions);
        let serving = all.filter_map(|partition| {
            let bytes = partition.size_bytes().ok()?;
            Some((partition.topic_partition(), bytes))
        });
        LogDir {
            path: self.config().data_dir.clone(),
            usable_bytes: self.environment().disk.available_bytes(),
            total_bytes: self.environment().disk.total_bytes(),
            partitions: serving.collect(),
        }
    }

    /// The producers that a partition remembers.
    ///
    /// # Errors
    /// There is no such partition, or it cannot serve.
    pub fn describe_producers(
        &self,
        topic: &TopicRef,
        partition: PartitionIndex,
    ) -> Result<Vec<ActiveProducer>, DescribeProducersError> {
        let partition = self.partition(topic, partition)?;
        Ok(partition.with_log(|log| log.active_producers())?)
    }
}
