//! Writes the outcome of a transaction to every partition that it touched.
//!
//! Why it exists: the outcome is decided and durable; partitions learn of it one by one, and a crash in between must not leave any out.
//! In -> out: an outcome -> a marker in each partition, durable -> the machine is told.
//! Invariants: TXN-1. A marker is written while the outcome stands and before it is complete, under the machine's lock: so none comes
//! late, into the transaction after. Written twice it does no harm. Each outcome has one task, which ends with the machine that it
//! comes from. A partition in which the transaction is still open keeps the outcome from being complete.

use super::shard::Shard;
use crate::append_types::{AppendError, Appender, RefusedBatch};
use crate::broker::Broker;
use crate::groups::OFFSETS_TOPIC;
use crate::lookup::{PartitionUnavailable, TopicRef};
use crate::partition::Partition;
use crate::transactions::MarkerError;
use fanlog_coordinators::group::OffsetsProducer;
use fanlog_coordinators::transaction::{Input, MarkersToWrite, Producer};
use fanlog_model::{LeaderEpoch, Offset, PartitionIndex, TimestampMs, TopicPartition};
use fanlog_protocol::records::EndMarker;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;

/// How many markers are appended before others have their turn with the machine.
const AT_ONCE: usize = 64;

/// How long a marker that could not be written waits for the next try: at first, and at most.
const RETRY_PAUSE: Duration = Duration::from_millis(100);
const RETRY_PAUSE_MAX: Duration = Duration::from_secs(5);

/// A marker that is in a log; it counts once it is durable.
enum Pending {
    /// Below this offset.
    InPartition(Arc<Partition>, Offset),
    InGroups(oneshot::Receiver<fanlog_coordinators::group::Answer>),
}

/// Writes the markers and tells the machine; goes on until all are durable, the outcome is complete, or the machine is loaded anew.
pub(super) async fn write_markers(shard: Arc<Shard>, markers: MarkersToWrite) {
    let load = markers.outcome.load;
    tokio::select! {
        biased;
        // What is loaded in its place has another task write them.
        () = shard.load_is_over(load) => {}
        () = write_all(&shard, markers) => {}
    }
}

async fn write_all(shard: &Arc<Shard>, mut markers: MarkersToWrite) {
    let (mut pause, mut is_told) = (RETRY_PAUSE, false);
    while let Some(left) = write_once(shard, &markers).await {
        if left.is_empty() {
            let (id, outcome) = (markers.id, markers.outcome);
            if let Err(error) = shard.tell(Input::MarkersWritten { id, outcome }) {
                tracing::debug!(%error, "a transaction is completed once its log is loaded again");
            }
            return;
        }
        tell_of_failure(&markers, &left, is_told);
        is_told = true;
        markers.partitions = left.into_iter().map(|left| left.partition).collect();
        if !shard.shared.has_timers {
            shard.parked.lock().push(markers);
            return;
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(RETRY_PAUSE_MAX);
    }
}

/// A partition without its marker.
struct Left {
    partition: TopicPartition,
    reason: String,
}

fn tell_of_failure(markers: &MarkersToWrite, left: &[Left], is_told: bool) {
    let Some(Left { partition, reason }) = left.first() else {
        return;
    };
    let (id, partitions) = (&markers.id, left.len());
    if is_told {
        tracing::debug!(%id, partitions, %partition, reason, "markers cannot be written yet");
    } else {
        tracing::error!(
            %id, partitions, %partition, reason,
            "markers cannot be written yet; they are tried again until they are, and the transaction is not complete before"
        );
    }
}

/// Appends a marker to every partition and waits until these are durable; where they are not. Nothing where the outcome does not stand
/// any more.
async fn write_once(shard: &Arc<Shard>, markers: &MarkersToWrite) -> Option<Vec<Left>> {
    let (mut pending, mut left) = (Vec::new(), Vec::new());
    for some in markers.partitions.chunks(AT_ONCE) {
        let broker = shard.shared.broker()?;
        shard.while_ending(markers, || {
            for partition in some {
                match append(&broker, markers, partition) {
                    Ok(Some(written)) => pending.push((partition.clone(), written)),
                    Ok(None) => {}
                    Err(reason) => left.push(Left {
                        partition: partition.clone(),
                        reason,
                    }),
                }
            }
        })?;
        drop(broker);
        tokio::task::yield_now().await;
    }
    for (partition, pending) in pending {
        if let Err(reason) = durable(pending).await {
            left.push(Left { partition, reason });
        }
    }
    Some(left)
}

/// Appends one marker; nothing where the partition is gone. Where it refuses and has nothing open, the transaction has been ended by
/// another hand.
fn append(
    broker: &Arc<Broker>,
    markers: &MarkersToWrite,
    to: &TopicPartition,
) -> Result<Option<Pending>, String> {
    let topic = TopicRef::Name(to.topic.clone());
    let Ok(partition) = broker.partition(&topic, to.partition) else {
        return Ok(None);
    };
    match append_to(broker, markers, &partition) {
        Ok(pending) => Ok(Some(pending)),
        Err(MarkerError::Append(AppendError::Unavailable(PartitionUnavailable::Deleted {
            ..
        }))) => Ok(None),
        Err(MarkerError::Append(AppendError::Refused(
            refused @ (RefusedBatch::InvalidProducerEpoch { .. }
            | RefusedBatch::CoordinatorFenced { .. }),
        ))) => match idle_end(&partition, markers.producer) {
            Ok(Some(end)) => Ok(Some(Pending::InPartition(partition, end))),
            _ => Err(refused.to_string()),
        },
        Err(error) => Err(error.to_string()),
    }
}

fn append_to(
    broker: &Arc<Broker>,
    markers: &MarkersToWrite,
    partition: &Arc<Partition>,
) -> Result<Pending, MarkerError> {
    let producer = markers.producer;
    let known = partition
        .with_log(|log| log.active_producer(producer.id))
        .map_err(AppendError::from)?;
    // There is no other coordinator: an epoch above ours was made up by whoever had a marker written.
    let seen = known.map_or(-1, |known| known.coordinator_epoch);
    let marker = EndMarker {
        is_commit: markers.is_commit,
        coordinator_epoch: coordinator_epoch(broker.leader_epoch()).max(seen),
    };
    if partition.topic().as_str() == OFFSETS_TOPIC {
        let producer = OffsetsProducer {
            id: producer.id,
            epoch: producer.epoch,
        };
        let receiver = broker
            .groups()
            .write_end(partition.index(), producer, marker, false)?;
        return Ok(Pending::InGroups(receiver));
    }
    let now = broker.environment().clock.wall_ms();
    // The lock of the machine keeps a late marker from the next transaction, of either generation.
    let last = append_marker(partition, producer, marker, Appender::Coordinator, now)?;
    Ok(Pending::InPartition(partition.clone(), last.plus(1)))
}

/// Where the log ends, if the producer has nothing open there.
fn idle_end(
    partition: &Partition,
    producer: Producer,
) -> Result<Option<Offset>, PartitionUnavailable> {
    partition.with_log(|log| {
        let known = log.active_producer(producer.id);
        let is_open = known.is_some_and(|known| known.current_txn_start_offset >= Offset::ZERO);
        (!is_open).then(|| log.log_end_offset())
    })
}

/// Appends a marker to a partition; the offset where it lies.
pub(super) fn append_marker(
    partition: &Arc<Partition>,
    producer: Producer,
    marker: EndMarker,
    appender: Appender,
    now: TimestampMs,
) -> Result<Offset, AppendError> {
    let mut batch = marker.batch(producer.id, producer.epoch, now);
    let receipt = partition.append_as(&mut batch, appender, None)?;
    Ok(receipt.last_offset())
}

async fn durable(pending: Pending) -> Result<(), String> {
    match pending {
        Pending::InPartition(partition, end) => match partition.durable(end).await {
            Ok(()) | Err(PartitionUnavailable::Deleted { .. }) => Ok(()),
            Err(error @ PartitionUnavailable::Offline { .. }) => Err(error.to_string()),
        },
        Pending::InGroups(receiver) => match receiver.await {
            Ok(_) => Ok(()),
            Err(_) => Err("the log of the group's offsets refused a write".to_owned()),
        },
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
