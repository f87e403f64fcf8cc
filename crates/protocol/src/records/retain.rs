//! A batch with fewer records, as compaction leaves it: what stays has its offset, its time and its bytes.
//!
//! Why it exists: offsets are never renumbered, so the base offset and the last offset delta survive even where their records do not.
//! In -> out: a batch and which records stay -> the batch as it is, a smaller one, or none.
//! Invariants: LOG-4's exception; the checksum is computed anew.
//!
//! The delete horizon (KIP-534): when a tombstone may go is written into the batch that holds it, once, by the first cleaning that
//! keeps it: attribute bit 6 is set, the base timestamp is that time, and the records' timestamp deltas count from it. A marker of a
//! transaction that has no records left gets one likewise.

use super::batch::{
    ATTRIBUTES_AT, BASE_TIMESTAMP_AT, BatchError, BatchView, COMPRESSION_BITS, DELETE_HORIZON_BIT,
    HEADER_BYTES, LENGTH_AT, MAX_TIMESTAMP_AT, RECORD_COUNT_AT, TimestampType, UNCOUNTED_BYTES,
};
use super::compression::{CompressionError, Decompressor, compress};
use super::edit::{get_attributes, put, put_crc};
use super::record::{RecordError, RecordIter, RecordView};
use super::varint::{Cursor, put_varlong, varlong_bytes};
use fanlog_model::TimestampMs;
use thiserror::Error;

/// Why a batch cannot be made smaller. It stays as it is then.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RetainError {
    /// The batch is corrupt or cannot be decompressed.
    #[error(transparent)]
    Batch(#[from] BatchError),
    /// A record cannot be read.
    #[error(transparent)]
    Record(#[from] RecordError),
}

/// What is left of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retained {
    /// All of it: it is copied byte for byte.
    Whole,
    /// The batch that was appended to the output; it has so many records.
    Some(i32),
    /// No record.
    Nothing,
}

/// Appends `batch` to `out` with the records that `stays` wants. Nothing is appended where all stay and no delete horizon is due, or where
/// none stays. `delete_horizon` is written into a batch that has none and keeps a tombstone.
///
/// # Errors
/// The batch is corrupt, or holds more than the decompressor's limit; nothing was appended.
pub fn retain_records(
    batch: &BatchView<'_>,
    decompressor: &mut Decompressor,
    delete_horizon: Option<TimestampMs>,
    stays: impl FnMut(&RecordView<'_>) -> bool,
    out: &mut Vec<u8>,
) -> Result<Retained, RetainError> {
    let expires = |record: &RecordView<'_>| record.value.is_none();
    retain(batch, decompressor, delete_horizon, expires, stays, out)
}

/// Appends `batch` to `out`, all of it, with a delete horizon where it has none: a marker of a transaction is to go by then.
///
/// # Errors
/// As [`retain_records`].
pub fn set_delete_horizon(
    batch: &BatchView<'_>,
    decompressor: &mut Decompressor,
    delete_horizon: Option<TimestampMs>,
    out: &mut Vec<u8>,
) -> Result<Retained, RetainError> {
    retain(batch, decompressor, delete_horizon, |_| true, |_| true, out)
}

/// `expires` says of which records the delete horizon is.
fn retain(
    batch: &BatchView<'_>,
    decompressor: &mut Decompressor,
    delete_horizon: Option<TimestampMs>,
    expires: impl Fn(&RecordView<'_>) -> bool,
    mut stays: impl FnMut(&RecordView<'_>) -> bool,
    out: &mut Vec<u8>,
) -> Result<Retained, RetainError> {
    let mut kept = Vec::new();
    let (mut count, mut max_timestamp, mut is_due) = (0, TimestampMs::NONE, false);
    for record in batch.records(decompressor)? {
        let record = record?;
        if !stays(&record) {
            continue;
        }
        kept.extend_from_slice(record.bytes);
        count += 1;
        max_timestamp = max_timestamp.max(batch.timestamp_of(record.timestamp_delta));
        is_due |= expires(&record);
    }
    if count == 0 {
        return Ok(Retained::Nothing);
    }
    let new_horizon = delete_horizon.filter(|_| is_due && !batch.has_delete_horizon());
    if count == batch.record_count() && new_horizon.is_none() {
        return Ok(Retained::Whole);
    }
    let mut header = header_of(batch);
    put(&mut header, RECORD_COUNT_AT, count.to_be_bytes());
    if batch.timestamp_type() == TimestampType::CreateTime {
        put(
            &mut header,
            MAX_TIMESTAMP_AT,
            max_timestamp.get().to_be_bytes(),
        );
    }
    if let Some(horizon) = new_horizon {
        let attributes = get_attributes(&header) | DELETE_HORIZON_BIT;
        put(&mut header, ATTRIBUTES_AT, attributes.to_be_bytes());
        put(&mut header, BASE_TIMESTAMP_AT, horizon.get().to_be_bytes());
        let shift = batch.base_timestamp().get().wrapping_sub(horizon.get());
        kept = shift_timestamps(&kept, count, shift)?;
    }
    put_batch(&header, batch, &kept, out)?;
    Ok(Retained::Some(count))
}

/// Appends `batch` to `out` without any record: what says that its offsets and its producer's sequences were there.
pub fn empty_batch(batch: &BatchView<'_>, out: &mut Vec<u8>) {
    let mut header = header_of(batch);
    let attributes = get_attributes(&header) & !(COMPRESSION_BITS | DELETE_HORIZON_BIT);
    put(&mut header, ATTRIBUTES_AT, attributes.to_be_bytes());
    put(
        &mut header,
        BASE_TIMESTAMP_AT,
        TimestampMs::NONE.get().to_be_bytes(),
    );
    put(&mut header, RECORD_COUNT_AT, 0_i32.to_be_bytes());
    let length = (HEADER_BYTES - UNCOUNTED_BYTES) as i32;
    put(&mut header, LENGTH_AT, length.to_be_bytes());
    put_crc(&mut header);
    out.extend_from_slice(&header);
}

fn header_of(batch: &BatchView<'_>) -> [u8; HEADER_BYTES] {
    *batch
        .bytes()
        .first_chunk()
        .expect("parse checked that the header is whole")
}

fn put_batch(
    header: &[u8],
    batch: &BatchView<'_>,
    records: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), RetainError> {
    let compression = batch.compression();
    let start = out.len();
    out.extend_from_slice(header);
    let framed = compress(compression, records, out).and_then(|()| {
        let too_large = |_| CompressionError::TooLarge {
            compression,
            limit: i32::MAX as usize,
        };
        i32::try_from(out.len() - start - UNCOUNTED_BYTES).map_err(too_large)
    });
    match framed {
        Ok(length) => {
            let batch = &mut out[start..];
            put(batch, LENGTH_AT, length.to_be_bytes());
            put_crc(batch);
            Ok(())
        }
        Err(error) => {
            out.truncate(start);
            Err(BatchError::from(error).into())
        }
    }
}

/// The records with `shift` added to each timestamp delta; all else of them stays.
fn shift_timestamps(records: &[u8], count: i32, shift: i64) -> Result<Vec<u8>, RecordError> {
    let mut out = Vec::with_capacity(records.len() + 8 * count as usize);
    for record in RecordIter::new(records, count) {
        let record = record?;
        let bad = RecordError::BadField {
            index: record.index,
            field: "timestamp delta",
        };
        let mut cursor = Cursor::new(record.bytes);
        let (attributes, rest) = cursor
            .varint()
            .and_then(|_| cursor.byte())
            .and_then(|attributes| cursor.varlong().map(|_| attributes))
            .and_then(|attributes| Some((attributes, cursor.take(cursor.remaining())?)))
            .ok_or(bad)?;
        let delta = record.timestamp_delta.wrapping_add(shift);
        put_varlong(&mut out, (1 + varlong_bytes(delta) + rest.len()) as i64);
        out.push(attributes);
        put_varlong(&mut out, delta);
        out.extend_from_slice(rest);
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::{BatchBuilder, Compression, EndMarker, NewRecord};
    use fanlog_model::{BaseSequence, LeaderEpoch, Offset, ProducerEpoch, ProducerId};

    const HORIZON: TimestampMs = TimestampMs(1_800_000_000_000);

    /// Offset, time, key, value.
    type Seen = (i64, i64, String, Option<String>);

    fn seen(bytes: &[u8]) -> Vec<Seen> {
        let batch = BatchView::parse(bytes).unwrap();
        assert_eq!(batch.total_len(), bytes.len());
        batch.check_crc().unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let mut decompressor = Decompressor::default();
        let records = batch.records(&mut decompressor).unwrap();
        records
            .map(|record| {
                let record = record.unwrap();
                let offset = batch.offset_of(record.offset_delta).get();
                let time = batch.timestamp_of(record.timestamp_delta).get();
                (
                    offset,
                    time,
                    text(record.key.unwrap()),
                    record.value.map(text),
                )
            })
            .collect()
    }

    fn batch(compression: Compression) -> BatchBuilder {
        let mut builder = BatchBuilder::new(compression)
            .base_offset(Offset(100))
            .partition_leader_epoch(LeaderEpoch(3))
            .producer(ProducerId(7), ProducerEpoch(2), BaseSequence(40));
        for (i, value) in [Some("one"), None, Some("three"), Some("four")]
            .into_iter()
            .enumerate()
        {
            let record = NewRecord {
                timestamp: TimestampMs(1_000 * (4 - i as i64)),
                key: Some(&[b'a' + i as u8]),
                value: value.map(str::as_bytes),
                headers: &[("h", Some(b"x"))],
            };
            builder.push(&record).unwrap();
        }
        builder
    }

    #[test]
    fn what_stays_has_its_offset_its_time_and_its_producer() {
        for compression in Compression::ALL {
            let bytes = batch(compression).build().unwrap();
            let before = BatchView::parse(&bytes).unwrap();
            let mut out = b"before".to_vec();
            let stays = |record: &RecordView<'_>| record.offset_delta == 2;
            let mut decompressor = Decompressor::default();
            let retained =
                retain_records(&before, &mut decompressor, Some(HORIZON), stays, &mut out);
            assert_eq!(retained, Ok(Retained::Some(1)));
            let out = &out[6..];
            assert_eq!(seen(out), [(102, 2_000, "c".into(), Some("three".into()))]);
            let after = BatchView::parse(out).unwrap();
            assert_eq!(after.base_offset(), before.base_offset());
            assert_eq!(after.next_offset(), before.next_offset());
            assert_eq!(
                after.partition_leader_epoch(),
                before.partition_leader_epoch()
            );
            assert_eq!(after.last_sequence(), before.last_sequence());
            assert_eq!(after.producer_id(), before.producer_id());
            assert_eq!(after.compression(), compression);
            assert_eq!(after.max_timestamp(), TimestampMs(2_000));
            assert!(!after.has_delete_horizon(), "no tombstone stays");
        }
    }

    #[test]
    fn a_tombstone_that_stays_gets_a_delete_horizon_once() {
        for compression in Compression::ALL {
            let bytes = batch(compression).build().unwrap();
            let before = BatchView::parse(&bytes).unwrap();
            let mut decompressor = Decompressor::default();
            let mut out = Vec::new();
            let retained = retain_records(
                &before,
                &mut decompressor,
                Some(HORIZON),
                |_| true,
                &mut out,
            );
            assert_eq!(retained, Ok(Retained::Some(4)));
            assert_eq!(seen(&out), seen(&bytes));
            let after = BatchView::parse(&out).unwrap();
            assert!(after.has_delete_horizon());
            assert_eq!(after.base_timestamp(), HORIZON);
            assert_eq!(after.max_timestamp(), before.max_timestamp());
            let mut again = Vec::new();
            let later = Some(TimestampMs(HORIZON.get() + 1));
            let retained = retain_records(&after, &mut decompressor, later, |_| true, &mut again);
            assert_eq!(retained, Ok(Retained::Whole));
            assert!(again.is_empty());
        }
    }

    #[test]
    fn a_marker_with_a_delete_horizon_is_the_same_marker_and_gets_it_once() {
        let marker = EndMarker {
            is_commit: true,
            coordinator_epoch: 7,
        };
        let bytes = marker.batch(ProducerId(3), ProducerEpoch(2), TimestampMs(5));
        let before = BatchView::parse(&bytes).unwrap();
        let mut decompressor = Decompressor::default();
        let mut out = Vec::new();
        let set = set_delete_horizon(&before, &mut decompressor, Some(HORIZON), &mut out);
        assert_eq!(set, Ok(Retained::Some(1)));
        let after = BatchView::parse(&out).unwrap();
        after.check_crc().unwrap();
        assert!(after.has_delete_horizon() && after.is_control() && after.is_transactional());
        assert_eq!(after.base_timestamp(), HORIZON);
        assert_eq!(after.max_timestamp(), TimestampMs(5));
        assert_eq!(EndMarker::of_batch(&after), Some(marker));
        let mut again = Vec::new();
        let set = set_delete_horizon(&after, &mut decompressor, Some(TimestampMs(9)), &mut again);
        assert_eq!(set, Ok(Retained::Whole));
        empty_batch(&after, &mut again);
        let empty = BatchView::parse(&again).unwrap();
        assert!(empty.is_control() && !empty.has_delete_horizon());
        assert_eq!(EndMarker::of_batch(&empty), None);
    }

    #[test]
    fn nothing_that_stays_and_all_that_stays_write_nothing() {
        let bytes = batch(Compression::Lz4).build().unwrap();
        let view = BatchView::parse(&bytes).unwrap();
        let mut decompressor = Decompressor::default();
        let mut out = Vec::new();
        let nothing = retain_records(&view, &mut decompressor, Some(HORIZON), |_| false, &mut out);
        assert_eq!(nothing, Ok(Retained::Nothing));
        let whole = retain_records(&view, &mut decompressor, None, |_| true, &mut out);
        assert_eq!(whole, Ok(Retained::Whole));
        assert!(out.is_empty());
    }

    #[test]
    fn an_empty_batch_says_that_its_offsets_and_sequences_were_there() {
        for compression in Compression::ALL {
            let bytes = batch(compression).build().unwrap();
            let before = BatchView::parse(&bytes).unwrap();
            let mut out = Vec::new();
            empty_batch(&before, &mut out);
            assert_eq!(seen(&out), []);
            assert_eq!(out.len(), HEADER_BYTES);
            let after = BatchView::parse(&out).unwrap();
            assert_eq!(after.next_offset(), before.next_offset());
            assert_eq!(after.last_sequence(), before.last_sequence());
            assert_eq!(after.max_timestamp(), before.max_timestamp());
            let mut decompressor = Decompressor::default();
            let again = retain_records(&after, &mut decompressor, None, |_| true, &mut Vec::new());
            assert_eq!(again, Ok(Retained::Nothing));
        }
    }

    #[test]
    fn the_append_time_of_a_batch_stays_its_time() {
        let bytes = batch(Compression::None)
            .log_append_time(TimestampMs(9_000))
            .build()
            .unwrap();
        let before = BatchView::parse(&bytes).unwrap();
        let mut out = Vec::new();
        let stays = |record: &RecordView<'_>| record.offset_delta == 1;
        let mut decompressor = Decompressor::default();
        retain_records(&before, &mut decompressor, Some(HORIZON), stays, &mut out).unwrap();
        assert_eq!(seen(&out), [(101, 9_000, "b".into(), None)]);
        assert_eq!(
            BatchView::parse(&out).unwrap().timestamp_type(),
            TimestampType::LogAppendTime
        );
    }
}
