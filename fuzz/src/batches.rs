//! Record batches and what is inside them.

use fanlog_model::TimestampMs;
use fanlog_protocol::records::{
    BatchView, Compression, Decompressor, HEADER_BYTES, ProduceRules, TimestampType, recompress,
    validate_produced,
};
use std::cell::RefCell;

const DECOMPRESSED_MAX: usize = 1 << 20;
const CRC_AT: usize = 17;

thread_local! {
    static BUFFER: RefCell<Decompressor> = const { RefCell::new(Decompressor::new(DECOMPRESSED_MAX)) };
}

/// Bytes as a producer sends them or a log holds them. Checksums are put right first, or nothing would be reached.
pub(crate) fn batches(bytes: &[u8]) {
    let mut fixed = bytes.to_vec();
    put_checksums_right(&mut fixed);
    for batch in BatchView::parse_all(&fixed) {
        let Ok(batch) = batch else { break };
        BUFFER.with_borrow_mut(|buffer| check(&batch, buffer));
    }
}

/// Gives every batch that can be framed the checksum of its bytes.
pub(crate) fn put_checksums_right(bytes: &mut [u8]) {
    let mut at = 0;
    while let Ok(batch) = BatchView::parse(&bytes[at..]) {
        let (length, crc) = (batch.total_len(), batch.computed_crc());
        bytes[at + CRC_AT..at + CRC_AT + 4].copy_from_slice(&crc.to_be_bytes());
        at += length;
    }
}

fn check(batch: &BatchView<'_>, buffer: &mut Decompressor) {
    batch.check_crc().expect("the checksum was put right");
    if let Ok(records) = batch.records(buffer) {
        for record in records {
            let Ok(record) = record else { break };
            record.headers().for_each(drop);
            batch.offset_of(record.offset_delta);
            batch.timestamp_of(record.timestamp_delta);
        }
    }
    let rules = ProduceRules {
        is_from_client: batch.bytes().last().is_some_and(|last| last % 2 == 0),
        now: TimestampMs(1_700_000_000_000),
        timestamp_type: TimestampType::CreateTime,
        timestamp_before_max_ms: i64::MAX,
        timestamp_after_max_ms: 3_600_000,
        is_compacted: false,
    };
    let Ok(valid) = validate_produced(batch, &rules, buffer) else {
        return;
    };
    assert!(valid.record_count > 0 && valid.max_timestamp_delta < valid.record_count);
    // What may be stored can be read by every consumer, and stored under another compression.
    let mut count = 0;
    for record in batch.records(buffer).expect("valid") {
        record.expect("valid");
        count += 1;
    }
    assert_eq!(count, valid.record_count);
    let plain = recompress(batch, Compression::None, buffer).expect("valid");
    let plain = BatchView::parse(&plain).expect("valid");
    plain.check_crc().expect("valid");
    assert_eq!(plain.record_count(), batch.record_count());
    let packed = recompress(&plain, Compression::Lz4, buffer).expect("valid");
    let packed = BatchView::parse(&packed).expect("valid");
    let unpacked = recompress(&packed, Compression::None, buffer).expect("valid");
    assert_eq!(unpacked, plain.bytes());
}

pub(crate) fn gzip(bytes: &[u8]) {
    decompress(Compression::Gzip, bytes);
}

pub(crate) fn snappy(bytes: &[u8]) {
    decompress(Compression::Snappy, bytes);
}

pub(crate) fn lz4(bytes: &[u8]) {
    decompress(Compression::Lz4, bytes);
}

pub(crate) fn zstd(bytes: &[u8]) {
    decompress(Compression::Zstd, bytes);
}

/// Compressed bytes: whatever they claim, no more comes out than is allowed, and the same every time.
fn decompress(compression: Compression, bytes: &[u8]) {
    BUFFER.with_borrow_mut(|buffer| {
        let Ok(first) = buffer.decompress(compression, bytes) else {
            return;
        };
        let first = first.to_vec();
        assert!(first.len() <= DECOMPRESSED_MAX);
        let again = buffer
            .decompress(compression, bytes)
            .expect("it was possible before");
        assert_eq!(again, first);
    });
}

const _: () = assert!(CRC_AT + 4 < HEADER_BYTES);
