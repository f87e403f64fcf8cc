//! Reads an internal partition from its start, record by record, in bounded chunks.
//!
//! Why it exists: coordinators and the catalog are what their log says; both read it the same way.
//! In -> out: partition -> key and value of each record, and each end of a transaction, in order; the offset after the last.

use crate::fetch_types::{FetchError, Isolation};
use crate::lookup::PartitionUnavailable;
use crate::partition::{Partition, Wanted};
use fanlog_model::{Offset, ProducerId};
use fanlog_protocol::records::{BatchView, Decompressor, EndMarker};
use thiserror::Error;

/// How much of a log is held at a time; a larger batch is held whole.
const CHUNK_BYTES: usize = 1024 * 1024;

/// Why an internal partition could not be replayed. Nothing of it is skipped.
#[derive(Debug, Error)]
pub(crate) enum ReplayError {
    /// The partition cannot serve.
    #[error(transparent)]
    Unavailable(#[from] PartitionUnavailable),
    /// It could not be read.
    #[error(transparent)]
    Read(#[from] FetchError),
    /// A batch is not what was once written.
    #[error("partition {partition} has a corrupt batch at offset {offset}: {reason}")]
    Batch {
        /// The partition's folder name.
        partition: String,
        /// The batch's base offset.
        offset: Offset,
        /// What is wrong.
        reason: String,
    },
    /// A record cannot be understood.
    #[error("partition {partition} has a record that cannot be read at offset {offset}: {reason}")]
    Record {
        /// The partition's folder name.
        partition: String,
        /// The record's offset.
        offset: Offset,
        /// What is wrong.
        reason: String,
    },
}

/// What a log has, in order.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Replayed<'a> {
    /// A record; with its producer, where it was written in a transaction.
    Record {
        offset: Offset,
        key: Option<&'a [u8]>,
        value: Option<&'a [u8]>,
        in_transaction_of: Option<ProducerId>,
    },
    /// A producer's transaction has ended.
    End {
        producer: ProducerId,
        is_commit: bool,
    },
}

/// Calls `each` with every record's key and value, and gives the offset after the last. For logs without transactions.
pub(crate) fn replay(
    partition: &Partition,
    mut each: impl FnMut(Option<&[u8]>, Option<&[u8]>) -> Result<(), String>,
) -> Result<Offset, ReplayError> {
    replay_with_offsets(partition, |_, key, value| each(key, value))
}

/// As `replay`, with every record's offset.
pub(crate) fn replay_with_offsets(
    partition: &Partition,
    mut each: impl FnMut(Offset, Option<&[u8]>, Option<&[u8]>) -> Result<(), String>,
) -> Result<Offset, ReplayError> {
    replay_all(partition, |replayed| match replayed {
        Replayed::Record {
            offset, key, value, ..
        } => each(offset, key, value),
        Replayed::End { .. } => Ok(()),
    })
}

/// As `replay`, with transactions.
pub(crate) fn replay_all(
    partition: &Partition,
    mut each: impl FnMut(Replayed<'_>) -> Result<(), String>,
) -> Result<Offset, ReplayError> {
    let mut decompressor = Decompressor::default();
    let start = partition.with_log(|log| log.log_start_offset())?;
    each_batch(partition, start, |batch| {
        replay_batch(partition, batch, &mut decompressor, &mut each)
    })
}

/// Calls `each` with every batch from an offset on, and gives the offset after the last.
pub(crate) fn each_batch<E: From<ReplayError>>(
    partition: &Partition,
    from: Offset,
    mut each: impl FnMut(&BatchView<'_>) -> Result<(), E>,
) -> Result<Offset, E> {
    let mut next = from;
    loop {
        let wanted = Wanted {
            from: next,
            bytes_max: CHUNK_BYTES,
            whole_batch: true,
            isolation: Isolation::ReadUncommitted,
        };
        let readable = partition.readable(wanted).map_err(ReplayError::from)?;
        let chunk = partition.read(&readable).map_err(ReplayError::from)?;
        let before = next;
        for piece in &chunk.records {
            for batch in BatchView::parse_all(piece) {
                let batch = batch.map_err(|error| corrupt(partition, next, error.to_string()))?;
                each(&batch)?;
                next = batch.next_offset();
            }
        }
        if next == before {
            return Ok(next);
        }
    }
}

/// A batch is not what was once written.
pub(crate) fn corrupt(partition: &Partition, offset: Offset, reason: String) -> ReplayError {
    ReplayError::Batch {
        partition: partition.folder().to_string(),
        offset,
        reason,
    }
}

fn replay_batch(
    partition: &Partition,
    batch: &BatchView<'_>,
    decompressor: &mut Decompressor,
    each: &mut impl FnMut(Replayed<'_>) -> Result<(), String>,
) -> Result<(), ReplayError> {
    let base = batch.base_offset();
    let failed = |offset: Offset, reason: String| ReplayError::Record {
        partition: partition.folder().to_string(),
        offset,
        reason,
    };
    if batch.is_control() {
        if let Some(marker) = EndMarker::of_batch(batch) {
            let end = Replayed::End {
                producer: batch.producer_id(),
                is_commit: marker.is_commit,
            };
            each(end).map_err(|reason| failed(base, reason))?;
        }
    } else {
        let in_transaction_of = batch.is_transactional().then(|| batch.producer_id());
        let records = batch
            .records(decompressor)
            .map_err(|error| corrupt(partition, base, error.to_string()))?;
        for record in records {
            let record = record.map_err(|error| corrupt(partition, base, error.to_string()))?;
            let offset = batch.offset_of(record.offset_delta);
            let replayed = Replayed::Record {
                offset,
                key: record.key,
                value: record.value,
                in_transaction_of,
            };
            each(replayed).map_err(|reason| failed(offset, reason))?;
        }
    }
    Ok(())
}
