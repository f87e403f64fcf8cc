//! Record batches that Kafka 4.4's own classes wrote, in every compression: read alike, and written again as they were.

use super::golden;
use fanlog_protocol::records::{
    BatchBuilder, BatchView, Compression, Decompressor, NewRecord, RecordView, TimestampType,
    recompress,
};
use std::collections::BTreeMap;

const DECOMPRESSED_MAX: usize = 1 << 20;

/// The batches by their case, each with the compression that the line names.
fn batches() -> BTreeMap<String, Vec<(String, Vec<u8>)>> {
    let mut batches: BTreeMap<String, Vec<(String, Vec<u8>)>> = BTreeMap::new();
    for line in golden::lines(Some("batches.hex")) {
        let words: Vec<&str> = line.split(' ').collect();
        let each = (words[1].to_owned(), golden::bytes(words[3]));
        batches.entry(words[2].to_owned()).or_default().push(each);
    }
    batches
}

/// The same batch, made anew from what was read out of it.
fn built_again(batch: &BatchView<'_>, compression: Compression) -> Vec<u8> {
    let mut decompressor = Decompressor::new(DECOMPRESSED_MAX);
    let mut builder = BatchBuilder::new(compression)
        .base_offset(batch.base_offset())
        .partition_leader_epoch(batch.partition_leader_epoch())
        .producer(
            batch.producer_id(),
            batch.producer_epoch(),
            batch.base_sequence(),
        );
    let is_broker_time = batch.timestamp_type() == TimestampType::LogAppendTime;
    if is_broker_time {
        builder = builder.log_append_time(batch.max_timestamp());
    }
    if batch.is_transactional() {
        builder = builder.transactional();
    }
    if batch.is_control() {
        builder = builder.control();
    }
    for record in batch.records(&mut decompressor).unwrap() {
        let record: RecordView<'_> = record.unwrap();
        let headers: Vec<_> = record
            .headers()
            .map(|(key, value)| (std::str::from_utf8(key).unwrap(), value))
            .collect();
        let time = batch
            .base_timestamp()
            .get()
            .wrapping_add(record.timestamp_delta);
        let new = NewRecord {
            timestamp: fanlog_model::TimestampMs(time),
            key: record.key,
            value: record.value,
            headers: &headers,
        };
        builder.push_at(record.offset_delta, &new).unwrap();
    }
    builder.build().unwrap()
}

#[test]
fn kafkas_own_batches_are_read_and_built_again_byte_for_byte() {
    let mut cases = 0;
    for (case, batches) in batches() {
        let plain = &batches[0];
        assert_eq!(plain.0, "none", "{case}");
        for (name, bytes) in &batches {
            let batch = BatchView::parse(bytes).unwrap();
            batch.check_crc().unwrap();
            assert_eq!(batch.total_len(), bytes.len(), "{case} {name}");
            assert_eq!(batch.compression().name(), name, "{case}");
            if case == "empty" {
                assert_eq!(batch.record_count(), 0);
                continue;
            }
            // Whatever the compression, what was read makes the bytes of Kafka's uncompressed batch.
            assert_eq!(
                built_again(&batch, Compression::None),
                plain.1,
                "{case} {name}"
            );
        }
        cases += 1;
    }
    assert_eq!(cases, 14);
}

#[test]
fn kafkas_own_batches_survive_every_change_of_compression() {
    for (case, batches) in batches() {
        let plain = BatchView::parse(&batches[0].1).unwrap();
        if case == "empty" {
            continue;
        }
        for compression in Compression::ALL {
            let mut decompressor = Decompressor::new(DECOMPRESSED_MAX);
            let packed = recompress(&plain, compression, &mut decompressor).unwrap();
            let packed = BatchView::parse(&packed).unwrap();
            let unpacked = recompress(&packed, Compression::None, &mut decompressor).unwrap();
            assert_eq!(unpacked, batches[0].1, "{case} {}", compression.name());
        }
    }
}

#[test]
fn an_empty_batch_of_kafkas_keeps_its_place_in_the_log() {
    let batches = batches();
    let batch = BatchView::parse(&batches["empty"][0].1).unwrap();
    assert_eq!(
        (batch.base_offset().get(), batch.next_offset().get()),
        (100, 110)
    );
    let mut decompressor = Decompressor::new(DECOMPRESSED_MAX);
    assert_eq!(batch.records(&mut decompressor).unwrap().count(), 0);
}
