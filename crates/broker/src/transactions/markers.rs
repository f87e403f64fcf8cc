//! Writes the outcome of a transaction to every partition that it touched.
//!
//! Why it exists: the outcome is decided and durable; partitions learn of it one by one, and a crash in between must not leave any out.
//! In -> out: an outcome -> a marker in each partition, durable -> the machine is told.
//! Invariants: TXN-1. A marker is written while the outcome stands and before it is complete, under the machine's lock: so none comes
//! late, into the transaction after. Written twice it does no harm.

use super::shard::Shard;
use crate::append_types::{AppendError, Appender, RefusedBatch};
use crate::broker::Broker;
use crate::groups::OFFSETS_TOPIC;
use crate::lookup::{PartitionUnavailable, TopicRef};
use crate::partition::Partition;
use fanlog_coordinators::group::OffsetsProducer;
use fanlog_coordinators::transaction::{Input, MarkersToWrite, Producer};
use fanlog_model::{LeaderEpoch, Offset, PartitionIndex, TimestampMs, TopicPartition};
use fanlog_protocol::records::EndMarker;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;

/// How long a marker that could not be written waits for the next try.
const RETRY_PAUSE: Duration = Duration::from_millis(100);

/// A marker that is in a log; it counts once it is durable.
enum Pending {
    InPartition(Arc<Partition>, Offset),
    InGroups(oneshot::Receiver<fanlog_coordinators::group::Answer>),
}

/// Writes the markers and tells the machine; goes on until all are durable, or the outcome is complete.
pub(super) async fn write_markers(shard: Arc<Shard>, mut markers: MarkersToWrite) {
    let all = markers.clone();
    loop {
        let Some(broker) = shard.shared.broker() else {
            return;
        };
        let written = shard.while_ending(&all, || append_all(&broker, &markers));
        let Some((pending, mut left)) = written else {
            return;
        };
        drop(broker);
        for (partition, pending) in pending {
            if !is_durable(pending).await {
                left.push(partition);
            }
        }
        if left.is_empty() {
            let told = shard.tell(Input::MarkersWritten {
                id: all.id,
                producer: all.producer,
            });
            if let Err(error) = told {
                tracing::debug!(%error, "a transaction is completed once its log is loaded again");
            }
            return;
        }
        tracing::warn!(id = %all.id, partitions = left.len(), "markers cannot be written yet; they are tried again");
        markers.partitions = left;
        if !shard.shared.has_timers {
            shard.parked.lock().push(markers);
            return;
        }
        tokio::time::sleep(RETRY_PAUSE).await;
    }
}

type Written = (Vec<(TopicPartition, Pending)>, Vec<TopicPartition>);

/// Appends a marker to every partition; those that could not be, too.
fn append_all(broker: &Arc<Broker>, markers: &MarkersToWrite) -> Written {
    let (mut pending, mut left) = (Vec::new(), Vec::new());
    for partition in &markers.partitions {
        match append(broker, markers, partition) {
            Ok(Some(written)) => pending.push((partition.clone(), written)),
            Ok(None) => {}
            Err(reason) => {
                tracing::debug!(id = %markers.id, %partition, reason, "a marker is not written");
                left.push(partition.clone());
            }
        }
    }
    (pending, left)
}

/// Appends one marker; nothing where the partition is gone, or has seen a later epoch.
fn append(
    broker: &Arc<Broker>,
    markers: &MarkersToWrite,
    to: &TopicPartition,
) -> Result<Option<Pending>, String> {
    let marker = EndMarker {
        is_commit: markers.is_commit,
        coordinator_epoch: coordinator_epoch(broker.leader_epoch()),
    };
    if to.topic.as_str() == OFFSETS_TOPIC {
        let producer = OffsetsProducer {
            id: markers.producer.id,
            epoch: markers.producer.epoch,
        };
        let receiver = broker.groups().end_offsets(to.partition, producer, marker);
        return receiver
            .map(|receiver| receiver.map(Pending::InGroups))
            .map_err(|error| error.to_string());
    }
    let topic = TopicRef::Name(to.topic.clone());
    let Ok(partition) = broker.partition(&topic, to.partition) else {
        return Ok(None);
    };
    let now = broker.environment().clock.wall_ms();
    match append_marker(&partition, markers.producer, marker, now) {
        Ok(last) => Ok(Some(Pending::InPartition(partition, last))),
        Err(AppendError::Unavailable(PartitionUnavailable::Deleted { .. })) => Ok(None),
        Err(AppendError::Refused(
            RefusedBatch::InvalidProducerEpoch { .. } | RefusedBatch::CoordinatorFenced { .. },
        )) => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

/// Appends a marker to a partition; the offset where it lies.
pub(super) fn append_marker(
    partition: &Arc<Partition>,
    producer: Producer,
    marker: EndMarker,
    now: TimestampMs,
) -> Result<Offset, AppendError> {
    let mut batch = marker.batch(producer.id, producer.epoch, now);
    let receipt = partition.append_as(&mut batch, Appender::Coordinator, None)?;
    Ok(receipt.last_offset())
}

async fn is_durable(pending: Pending) -> bool {
    match pending {
        Pending::InPartition(partition, last) => match partition.durable(last.plus(1)).await {
            Ok(()) | Err(PartitionUnavailable::Deleted { .. }) => true,
            Err(PartitionUnavailable::Offline { .. }) => false,
        },
        Pending::InGroups(receiver) => receiver.await.is_ok(),
    }
}

/// The epoch that markers carry: it rises with every start, as the leader of the machine's partition does.
pub(super) fn coordinator_epoch(epoch: LeaderEpoch) -> i32 {
    epoch.get()
}

/// The partition of an internal topic by its number.
pub(super) fn offsets_partition(index: PartitionIndex) -> TopicPartition {
    TopicPartition {
        topic: fanlog_model::TopicName::new(OFFSETS_TOPIC).expect("the name is legal"),
        partition: index,
    }
}
