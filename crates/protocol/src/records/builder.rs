//! Makes batches: for internal topics, the client and tests.

use super::batch::{
    BatchView, CONTROL_BIT, HEADER_BYTES, LENGTH_AT, LOG_APPEND_TIME_BIT, MAGIC, TRANSACTIONAL_BIT,
    TimestampType, UNCOUNTED_BYTES,
};
use super::compression::{Compression, CompressionError, compress};
use super::edit::put_crc;
use super::varint::{put_varint, put_varlong, varlong_bytes};
use fanlog_model::{BaseSequence, LeaderEpoch, Offset, ProducerEpoch, ProducerId, TimestampMs};
use thiserror::Error;

/// A record to be put in a batch.
#[derive(Clone, Copy, Debug, Default)]
pub struct NewRecord<'a> {
    /// Its time.
    pub timestamp: TimestampMs,
    /// Its key, if any.
    pub key: Option<&'a [u8]>,
    /// Its value; none is a tombstone where the topic is compacted.
    pub value: Option<&'a [u8]>,
    /// Its headers, in order.
    pub headers: &'a [(&'a str, Option<&'a [u8]>)],
}

impl NewRecord<'_> {
    /// How many bytes the record can take at most before compression.
    pub fn bytes_max(&self) -> usize {
        let field = |bytes: Option<&[u8]>| bytes.map_or(1, |bytes| 5 + bytes.len());
        let header = |(key, value): &(&str, Option<&[u8]>)| 5 + key.len() + field(*value);
        // Length, attributes, timestamp delta, offset delta and header count: 5 + 1 + 10 + 5 + 5.
        26 + field(self.key) + field(self.value) + self.headers.iter().map(header).sum::<usize>()
    }
}

/// Why a batch cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BuildError {
    /// A batch holds a record at least.
    #[error("record batch is empty; put a record in it")]
    Empty,
    /// Offsets inside a batch rise.
    #[error("record at offset delta {delta} follows one at {last}; deltas of a batch rise from 0")]
    OffsetNotRising {
        /// The refused delta.
        delta: i32,
        /// The last one in the batch; -1 for none.
        last: i32,
    },
    /// A length does not fit in the format.
    #[error("record or batch of {bytes} bytes is too large for the format; the most is 2147483647")]
    TooLarge {
        /// How many bytes it has.
        bytes: usize,
    },
    /// The compressor failed.
    #[error(transparent)]
    Compression(#[from] CompressionError),
}

/// Collects records, then yields the batch's bytes.
#[derive(Clone, Debug)]
pub struct BatchBuilder {
    compression: Compression,
    base_offset: Offset,
    leader_epoch: LeaderEpoch,
    attributes: u16,
    producer_id: ProducerId,
    producer_epoch: ProducerEpoch,
    base_sequence: BaseSequence,
    append_time: TimestampMs,
    base_timestamp: TimestampMs,
    max_timestamp: TimestampMs,
    last_offset_delta: i32,
    count: i32,
    plain: Vec<u8>,
}

impl BatchBuilder {
    /// An empty batch as a producer sends it: base offset 0, no producer id.
    pub const fn new(compression: Compression) -> Self {
        Self {
            compression,
            base_offset: Offset::ZERO,
            leader_epoch: LeaderEpoch::UNKNOWN,
            attributes: compression.id() as u16,
            producer_id: ProducerId::NONE,
            producer_epoch: ProducerEpoch::NONE,
            base_sequence: BaseSequence::NONE,
            append_time: TimestampMs::NONE,
            base_timestamp: TimestampMs::NONE,
            max_timestamp: TimestampMs::NONE,
            last_offset_delta: -1,
            count: 0,
            plain: Vec::new(),
        }
    }

    /// Sets the offset of the first record.
    #[must_use]
    pub const fn base_offset(mut self, offset: Offset) -> Self {
        self.base_offset = offset;
        self
    }

    /// Sets the epoch of the leader that appends the batch.
    #[must_use]
    pub const fn partition_leader_epoch(mut self, epoch: LeaderEpoch) -> Self {
        self.leader_epoch = epoch;
        self
    }

    /// Makes the batch idempotent.
    #[must_use]
    pub const fn producer(
        mut self,
        id: ProducerId,
        epoch: ProducerEpoch,
        sequence: BaseSequence,
    ) -> Self {
        self.producer_id = id;
        self.producer_epoch = epoch;
        self.base_sequence = sequence;
        self
    }

    /// Makes the batch a part of a transaction.
    #[must_use]
    pub const fn transactional(mut self) -> Self {
        self.attributes |= TRANSACTIONAL_BIT;
        self
    }

    /// Makes the batch a control batch.
    #[must_use]
    pub const fn control(mut self) -> Self {
        self.attributes |= CONTROL_BIT;
        self
    }

    /// Gives all records one time, the broker's.
    #[must_use]
    pub const fn log_append_time(mut self, now: TimestampMs) -> Self {
        self.attributes |= LOG_APPEND_TIME_BIT;
        self.append_time = now;
        self
    }

    /// How many records the batch has.
    pub const fn record_count(&self) -> i32 {
        self.count
    }

    /// Whether the batch has no record yet.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The batch's bytes so far, before compression.
    pub const fn uncompressed_bytes(&self) -> usize {
        HEADER_BYTES + self.plain.len()
    }

    /// Puts a record at the next offset.
    ///
    /// # Errors
    /// When a length does not fit in the format.
    pub fn push(&mut self, record: &NewRecord<'_>) -> Result<(), BuildError> {
        let delta = self.last_offset_delta.checked_add(1);
        let bytes = self.plain.len();
        self.push_at(delta.ok_or(BuildError::TooLarge { bytes })?, record)
    }

    /// Puts a record at an offset counted from the base, leaving a hole as compaction does.
    ///
    /// # Errors
    /// When offsets would not rise, or a length does not fit in the format.
    pub fn push_at(&mut self, delta: i32, record: &NewRecord<'_>) -> Result<(), BuildError> {
        let last = self.last_offset_delta;
        if delta <= last {
            return Err(BuildError::OffsetNotRising { delta, last });
        }
        let bytes = self.uncompressed_bytes().saturating_add(record.bytes_max());
        if i32::try_from(bytes).is_err() {
            return Err(BuildError::TooLarge { bytes });
        }
        if self.count == 0 {
            self.base_timestamp = record.timestamp;
        }
        let since_base = record
            .timestamp
            .get()
            .wrapping_sub(self.base_timestamp.get());
        put_record(&mut self.plain, since_base, delta, record);
        self.max_timestamp = self.max_timestamp.max(record.timestamp);
        self.last_offset_delta = delta;
        self.count += 1;
        Ok(())
    }

    /// The batch's bytes.
    ///
    /// # Errors
    /// When the batch is empty or cannot be compressed.
    pub fn build(&self) -> Result<Vec<u8>, BuildError> {
        if self.count == 0 {
            return Err(BuildError::Empty);
        }
        let room = match self.compression {
            Compression::None => self.plain.len(),
            _ => self.plain.len() / 2,
        };
        let mut out = Vec::with_capacity(HEADER_BYTES + room);
        self.put_header(&mut out);
        compress(self.compression, &self.plain, &mut out)?;
        let bytes = out.len();
        let length = i32::try_from(bytes - UNCOUNTED_BYTES);
        let length = length.map_err(|_| BuildError::TooLarge { bytes })?;
        out[LENGTH_AT..LENGTH_AT + 4].copy_from_slice(&length.to_be_bytes());
        put_crc(&mut out);
        debug_assert!(BatchView::parse(&out).is_ok_and(|batch| batch.check_crc().is_ok()));
        Ok(out)
    }

    fn put_header(&self, out: &mut Vec<u8>) {
        let max_timestamp = match timestamp_type(self.attributes) {
            TimestampType::CreateTime => self.max_timestamp,
            TimestampType::LogAppendTime => self.append_time,
        };
        out.extend_from_slice(&self.base_offset.get().to_be_bytes());
        // The length and the checksum are written when the records are.
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(&self.leader_epoch.get().to_be_bytes());
        out.push(MAGIC as u8);
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(&self.attributes.to_be_bytes());
        out.extend_from_slice(&self.last_offset_delta.to_be_bytes());
        out.extend_from_slice(&self.base_timestamp.get().to_be_bytes());
        out.extend_from_slice(&max_timestamp.get().to_be_bytes());
        out.extend_from_slice(&self.producer_id.get().to_be_bytes());
        out.extend_from_slice(&self.producer_epoch.get().to_be_bytes());
        out.extend_from_slice(&self.base_sequence.get().to_be_bytes());
        out.extend_from_slice(&self.count.to_be_bytes());
    }
}

const fn timestamp_type(attributes: u16) -> TimestampType {
    if attributes & LOG_APPEND_TIME_BIT == 0 {
        TimestampType::CreateTime
    } else {
        TimestampType::LogAppendTime
    }
}

fn put_record(out: &mut Vec<u8>, timestamp_delta: i64, delta: i32, record: &NewRecord<'_>) {
    let NewRecord {
        key,
        value,
        headers,
        ..
    } = record;
    let header_count = headers.len() as i64;
    let header_bytes = |(key, value): &(&str, Option<&[u8]>)| {
        nullable_bytes(Some(key.as_bytes())) + nullable_bytes(*value)
    };
    let length = 1
        + varlong_bytes(timestamp_delta)
        + varlong_bytes(delta.into())
        + nullable_bytes(*key)
        + nullable_bytes(*value)
        + varlong_bytes(header_count)
        + headers.iter().map(header_bytes).sum::<usize>();
    // `push_at` has checked that the record, and so each of its parts, fits in 31 bits.
    put_varlong(out, length as i64);
    out.push(0);
    put_varlong(out, timestamp_delta);
    put_varint(out, delta);
    put_nullable(out, *key);
    put_nullable(out, *value);
    put_varlong(out, header_count);
    for (key, value) in *headers {
        put_nullable(out, Some(key.as_bytes()));
        put_nullable(out, *value);
    }
}

const fn nullable_bytes(bytes: Option<&[u8]>) -> usize {
    match bytes {
        None => 1,
        Some(bytes) => varlong_bytes(bytes.len() as i64) + bytes.len(),
    }
}

fn put_nullable(out: &mut Vec<u8>, bytes: Option<&[u8]>) {
    match bytes {
        None => put_varint(out, -1),
        Some(bytes) => {
            put_varlong(out, bytes.len() as i64);
            out.extend_from_slice(bytes);
        }
    }
}
