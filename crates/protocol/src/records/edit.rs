//! What a broker writes into a batch that it has accepted, in place.
//!
//! The base offset and the leader epoch lie before the checksummed bytes, so a broker sets them without reading the records. The
//! timestamp type and the max timestamp lie within them: setting these computes the checksum anew.

use super::batch::{
    ATTRIBUTES_AT, BatchError, BatchView, COMPRESSION_BITS, CRC_AT, HEADER_BYTES, LEADER_EPOCH_AT,
    LENGTH_AT, LOG_APPEND_TIME_BIT, MAX_TIMESTAMP_AT, TimestampType, UNCOUNTED_BYTES,
};
use super::compression::{Compression, CompressionError, Decompressor, compress};
use fanlog_model::{LeaderEpoch, Offset, TimestampMs};

/// Writes the offset of the first record. `batch` begins with a parsed batch.
///
/// # Panics
/// When `batch` is shorter than a header.
pub fn set_base_offset(batch: &mut [u8], offset: Offset) {
    put(batch, 0, offset.get().to_be_bytes());
}

/// Writes the epoch of the leader that appends the batch. `batch` begins with a parsed batch.
///
/// # Panics
/// When `batch` is shorter than a header.
pub fn set_partition_leader_epoch(batch: &mut [u8], epoch: LeaderEpoch) {
    put(batch, LEADER_EPOCH_AT, epoch.get().to_be_bytes());
}

/// Gives all records the time `now`, and the batch its new checksum. `batch` begins with a parsed batch.
///
/// # Panics
/// When `batch` is shorter than the batch that its header states.
pub fn set_log_append_time(batch: &mut [u8], now: TimestampMs) {
    set_max_timestamp(batch, TimestampType::LogAppendTime, now);
}

/// Writes the timestamp type and the max timestamp; nothing changes where both stand there already (LOG-4), else the checksum does too.
/// `batch` begins with a parsed batch.
///
/// # Panics
/// When `batch` is shorter than the batch that its header states.
pub fn set_max_timestamp(batch: &mut [u8], timestamp_type: TimestampType, max: TimestampMs) {
    let attributes = get_attributes(batch);
    let changed = match timestamp_type {
        TimestampType::CreateTime => attributes & !LOG_APPEND_TIME_BIT,
        TimestampType::LogAppendTime => attributes | LOG_APPEND_TIME_BIT,
    };
    let max = max.get().to_be_bytes();
    if changed == attributes && batch[MAX_TIMESTAMP_AT..].first_chunk() == Some(&max) {
        return;
    }
    put(batch, ATTRIBUTES_AT, changed.to_be_bytes());
    put(batch, MAX_TIMESTAMP_AT, max);
    put_crc(batch);
}

/// The same batch under another compression: what a topic with `compression.type` of its own stores. All else stays as it is.
///
/// # Errors
/// When the records cannot be decompressed within the limit, or compressed.
pub fn recompress(
    batch: &BatchView<'_>,
    compression: Compression,
    decompressor: &mut Decompressor,
) -> Result<Vec<u8>, BatchError> {
    let (header, records) = batch.bytes().split_at(HEADER_BYTES);
    let plain = decompressor.decompress(batch.compression(), records)?;
    let mut out = Vec::with_capacity(HEADER_BYTES + plain.len() / 2);
    out.extend_from_slice(header);
    compress(compression, plain, &mut out)?;
    let attributes = get_attributes(&out) & !COMPRESSION_BITS | u16::from(compression.id());
    put(&mut out, ATTRIBUTES_AT, attributes.to_be_bytes());
    let length =
        i32::try_from(out.len() - UNCOUNTED_BYTES).map_err(|_| CompressionError::TooLarge {
            compression,
            limit: i32::MAX as usize,
        })?;
    put(&mut out, LENGTH_AT, length.to_be_bytes());
    put_crc(&mut out);
    Ok(out)
}

pub(super) fn get_attributes(batch: &[u8]) -> u16 {
    u16::from_be_bytes([batch[ATTRIBUTES_AT], batch[ATTRIBUTES_AT + 1]])
}

pub(super) fn put<const N: usize>(batch: &mut [u8], at: usize, value: [u8; N]) {
    batch[at..at + N].copy_from_slice(&value);
}

/// Computes the checksum over the batch that the length field frames.
pub(super) fn put_crc(batch: &mut [u8]) {
    let length = batch[LENGTH_AT..]
        .first_chunk()
        .expect("a batch holds its header");
    let end = i32::from_be_bytes(*length) as usize + UNCOUNTED_BYTES;
    let crc = crc32c::crc32c(&batch[ATTRIBUTES_AT..end]);
    put(batch, CRC_AT, crc.to_be_bytes());
}
