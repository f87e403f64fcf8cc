//! What goes into and comes out of a log's operations.

use bytes::Bytes;
use fanlog_environment::DiskFile;
use fanlog_model::{LeaderEpoch, Offset, ProducerEpoch, ProducerId, TimestampMs};
use fanlog_protocol::records::BatchView;
use std::io;
use std::sync::Arc;

/// How a log is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecoveryMode {
    /// Whether the broker that had the log open last closed it: nothing is searched for damage then.
    pub clean: bool,
}

/// Who appends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AppendOrigin {
    /// A client, whose batches are checked in full.
    Client,
    /// One of our coordinators, which may write several batches and control records.
    Coordinator,
}

/// What an append did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// The offset of the first record, or of the original where this was a duplicate.
    pub first_offset: Offset,
    /// The offset of the last record. The append is durable once the durable offset lies above it; for a duplicate as well.
    pub last_offset: Offset,
    /// The time given to the records where the topic has LogAppendTime, else none (-1).
    pub log_append_time: TimestampMs,
    /// Where the log starts.
    pub log_start_offset: Offset,
    /// Whether nothing was appended, because an earlier append had the same sequences (PRD-1).
    pub is_duplicate: bool,
    /// How many records were appended.
    pub record_count: i64,
    /// How many bytes were appended.
    pub bytes: usize,
}

/// How much to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadLimit {
    /// At most so many bytes of batches.
    pub max_bytes: usize,
    /// One batch is read even where it exceeds `max_bytes`.
    pub min_one_batch: bool,
    /// Nothing at or above this offset is read: the high watermark for consumers.
    pub below: Offset,
}

/// A run of bytes in a segment.
#[derive(Clone, Debug)]
pub struct FileSlice {
    /// The segment's file, open: it can be read even where retention removes its name meanwhile.
    pub file: Arc<dyn DiskFile>,
    /// Where the run begins.
    pub position: u64,
    /// How long it is.
    pub length: usize,
    /// Where the first batch begins, and whether the others follow without holes.
    pub(crate) first_offset: Offset,
    pub(crate) is_dense: bool,
}

/// What a read found: where whole batches lie. Reading the bytes needs no lock on the log.
#[derive(Clone, Debug)]
pub struct ReadPlan {
    /// The batches, in order; nothing at the end of the log.
    pub slices: Vec<FileSlice>,
    /// The offset after the last batch; the wanted offset where there is none.
    pub next_offset: Offset,
    /// Where the log starts.
    pub log_start_offset: Offset,
}

impl ReadPlan {
    /// How many bytes will be read.
    pub fn bytes(&self) -> usize {
        self.slices.iter().map(|slice| slice.length).sum()
    }

    /// Reads the batches and checks that each is as it was written.
    ///
    /// # Errors
    /// The disk refuses; `InvalidData` where a batch is damaged, so that no consumer is handed it; `UnexpectedEof` where the log was
    /// truncated meanwhile.
    pub fn read(&self) -> io::Result<Vec<Bytes>> {
        self.slices.iter().map(read_slice).collect()
    }
}

fn read_slice(slice: &FileSlice) -> io::Result<Bytes> {
    let mut bytes = vec![0; slice.length];
    slice.file.read_exact_at(&mut bytes, slice.position)?;
    let mut expected = slice.first_offset;
    for batch in BatchView::parse_all(&bytes) {
        let damaged = |error| io::Error::new(io::ErrorKind::InvalidData, error);
        let batch = batch.map_err(damaged)?;
        batch.check_crc().map_err(damaged)?;
        // The offset lies outside the checksum.
        let base_offset = batch.base_offset();
        if base_offset < expected || (slice.is_dense && base_offset > expected) {
            let message =
                format!("a record batch has offset {base_offset} where {expected} is due");
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        expected = batch.next_offset();
    }
    Ok(bytes.into())
}

/// A record found by time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimestampOffset {
    /// Its time.
    pub timestamp: TimestampMs,
    /// Its offset.
    pub offset: Offset,
    /// The epoch of its batch.
    pub leader_epoch: LeaderEpoch,
}

/// What retention removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retained {
    /// How many segments.
    pub deleted_segments: usize,
    /// How many bytes of batches.
    pub deleted_bytes: u64,
    /// How many offsets the log start moved.
    pub deleted_offsets: i64,
    /// Where the log starts now.
    pub log_start_offset: Offset,
}

/// A producer that the log remembers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActiveProducer {
    /// The producer.
    pub producer_id: ProducerId,
    /// Its epoch.
    pub producer_epoch: ProducerEpoch,
    /// The last sequence it wrote, -1 for none.
    pub last_sequence: i32,
    /// The largest timestamp of its last batch.
    pub last_timestamp: TimestampMs,
    /// The epoch of the coordinator that wrote its last marker, -1 for none.
    pub coordinator_epoch: i32,
    /// Where its open transaction began, -1 for none.
    pub current_txn_start_offset: Offset,
}
