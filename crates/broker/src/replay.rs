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
    let mut next = partition.with_log(|log| log.log_start_offset())?;
    loop {
        let readable = partition.readable(Wanted {
            from: next,
            bytes_max: CHUNK_BYTES,
            whole_batch: true,
            isolation: Isolation::ReadUncommitted,
        })?;
        let chunk = partition.read(&readable)?;
        let before = next;
        for piece in &chunk.records {
            let mut rest: &[u8] = piece;
            while !rest.is_empty() {
                let (end, length) = replay_batch(partition, rest, &mut decompressor, &mut each)?;
                next = end;
                rest = &rest[length..];
            }
        }
        if next == before {
            return Ok(next);
        }
    }
}

/// Replays the first batch in `bytes`; the offset after it and its length.
fn replay_batch(
    partition: &Partition,
    bytes: &[u8],
    decompressor: &mut Decompressor,
    each: &mut impl FnMut(Replayed<'_>) -> Result<(), String>,
) -> Result<(Offset, usize), ReplayError> {
    let corrupt = |offset: Offset, reason: String| ReplayError::Batch {
        partition: partition.folder().to_string(),
        offset,
        reason,
    };
    let batch =
        BatchView::parse(bytes).map_err(|error| corrupt(Offset::ZERO, error.to_string()))?;
    let base = batch.base_offset();
    let failed = |offset: Offset, reason: String| ReplayError::Record {
        partition: partition.folder().to_string(),
        offset,
        reason,
    };
    if batch.is_control() {
        if let Some(marker) = EndMarker::of_batch(&batch) {
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
            .map_err(|error| corrupt(base, error.to_string()))?;
        for record in records {
            let record = record.map_err(|error| corrupt(base, error.to_string()))?;
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
    Ok((batch.next_offset(), batch.total_len()))
}
