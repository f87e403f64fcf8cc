//! Markers that an administrator has written (WriteTxnMarkers): the way out where a transaction hangs that no coordinator knows.

use super::Transactions;
use super::markers::append_marker;
use crate::append_types::{AppendError, Appender};
use crate::groups::{CoordinatorError, OFFSETS_TOPIC};
use crate::lookup::{LookupError, PartitionUnavailable, TopicRef};
use fanlog_coordinators::group::OffsetsProducer;
use fanlog_coordinators::transaction::Producer;
use fanlog_model::TopicPartition;
use fanlog_protocol::records::EndMarker;
use thiserror::Error;

/// A marker to be written to one partition.
#[derive(Clone, Debug)]
pub struct WrittenMarker {
    /// Whose transaction ends.
    pub producer: Producer,
    /// Whether its records count.
    pub is_commit: bool,
    /// The epoch of the coordinator that says so.
    pub coordinator_epoch: i32,
    /// Whether the transaction is of the second generation: then the marker has a later epoch than the transaction.
    pub is_later: bool,
    /// Where.
    pub partition: TopicPartition,
}

/// Why a marker was not written.
#[derive(Debug, Error)]
pub enum MarkerError {
    /// There is no such partition.
    #[error(transparent)]
    Lookup(#[from] LookupError),
    /// The log refuses it.
    #[error(transparent)]
    Append(#[from] AppendError),
    /// It may be written and is not known to be durable.
    #[error(transparent)]
    Unavailable(#[from] PartitionUnavailable),
    /// The coordinator of the groups there cannot answer.
    #[error(transparent)]
    Coordinator(#[from] CoordinatorError),
}

impl Transactions {
    /// Writes a marker; answers once it is durable.
    ///
    /// # Errors
    /// There is no such partition, or it refuses.
    pub async fn write_marker(&self, marker: WrittenMarker) -> Result<(), MarkerError> {
        let broker = self.broker()?;
        let end = EndMarker {
            is_commit: marker.is_commit,
            coordinator_epoch: marker.coordinator_epoch,
        };
        let index = marker.partition.partition;
        let topic = TopicRef::Name(marker.partition.topic.clone());
        let partition = broker.partition(&topic, index)?;
        if marker.partition.topic.as_str() == OFFSETS_TOPIC {
            let producer = OffsetsProducer {
                id: marker.producer.id,
                epoch: marker.producer.epoch,
            };
            let receiver = broker
                .groups()
                .write_end(index, producer, end, marker.is_later)?;
            let reason = "its log refused a write; retry".into();
            let failed = |_| CoordinatorError::NotAvailable { reason };
            receiver.await.map_err(failed)?;
            return Ok(());
        }
        let now = broker.environment().clock.wall_ms();
        let appender = match marker.is_later {
            true => Appender::LaterMarker,
            false => Appender::Coordinator,
        };
        let last = append_marker(&partition, marker.producer, end, appender, now)?;
        partition.durable(last.plus(1)).await?;
        Ok(())
    }
}
