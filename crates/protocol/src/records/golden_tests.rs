//! Batches written by Apache Kafka 4.4's own Java classes, one of every compression: we read them, and without compression we write
//! the same bytes.

use super::*;
use fanlog_model::{BaseSequence, ProducerEpoch, ProducerId, TimestampMs};

const BATCHES: [(Compression, &str); 5] = [
    (
        Compression::None,
        concat!(
            "00000000000000000000019affffffff02e82d86b70000000000020000018bcfe568000000018bcfe568050000000000",
            "00004d00030000000c000000034e0000000a6b65792d300e76616c75652d30060a7472616365066162630a7472616365",
            "0104c3a900e604000a0201d8047878787878787878787878787878787878787878787878787878787878787878787878",
            "787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878",
            "787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878",
            "787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878",
            "787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878",
            "787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878",
            "7878787878787878787878787878787878787878787878787800160001040a6b65792d320100",
        ),
    ),
    (
        Compression::Gzip,
        concat!(
            "000000000000000000000080ffffffff021547b1560001000000020000018bcfe568000000018bcfe568050000000000",
            "00004d00030000000c000000031f8b08000000000000fff3636060e0ca4eadd435e02b4bcc294dd53560e32a294a4c4e",
            "654b4c4a86b018590eaf6478c6c2c0c5c47883a56214100d18c4181859c0816bc4c80000918ad8af69010000",
        ),
    ),
    (
        Compression::Snappy,
        concat!(
            "000000000000000000000093ffffffff0232b9594b0002000000020000018bcfe568000000018bcfe568050000000000",
            "00004d00030000000c0000000382534e415050590000000001000000010000004ee902704e0000000a6b65792d300e76",
            "616c75652d30060a747261636506616263090a340104c3a900e604000a0201d80478fe0100fe0100fe0100fe0100aa01",
            "003000160001040a6b65792d320100",
        ),
    ),
    (
        Compression::Lz4,
        concat!(
            "000000000000000000000082ffffffff029c194e260003000000020000018bcfe568000000018bcfe568050000000000",
            "00004d00030000000c0000000304224d1860408242000000f20e4e0000000a6b65792d300e76616c75652d30060a7472",
            "616365066162630a00ef0104c3a900e604000a0201d804780100ff19d000160001040a6b65792d32010000000000",
        ),
    ),
    (
        Compression::Zstd,
        concat!(
            "00000000000000000000007fffffffff02b45cd7a00004000000020000018bcfe568000000018bcfe568050000000000",
            "00004d00030000000c0000000328b52ffd005814020084034e0000000a6b65792d300e76616c75652d30060a74726163",
            "65066162630104c3a900e604000a0201d8047800160001040a6b65792d32010002002838a52a569c010000",
        ),
    ),
];

/// (timestamp, key, value, headers)
type Expected<'a> = (
    i64,
    Option<&'a [u8]>,
    Option<&'a [u8]>,
    &'a [(&'a str, Option<&'a [u8]>)],
);

fn expected(long: &[u8]) -> [Expected<'_>; 3] {
    const HEADERS: &[(&str, Option<&[u8]>)] =
        &[("trace", Some(b"abc")), ("trace", None), ("é", Some(b""))];
    [
        (1_700_000_000_000, Some(b"key-0"), Some(b"value-0"), HEADERS),
        (1_700_000_000_005, None, Some(long), &[]),
        (1_699_999_999_999, Some(b"key-2"), None, &[]),
    ]
}

fn from_hex(text: &str) -> Vec<u8> {
    let byte = |at| u8::from_str_radix(&text[at..at + 2], 16).unwrap();
    (0..text.len()).step_by(2).map(byte).collect()
}

#[test]
fn kafkas_own_batches_are_read() {
    let long = [b'x'; 300];
    for (compression, hex) in BATCHES {
        let bytes = from_hex(hex);
        let batch = BatchView::parse(&bytes).unwrap();
        batch.check_crc().unwrap();
        assert_eq!(batch.total_len(), bytes.len());
        assert_eq!(batch.compression(), compression);
        assert_eq!(batch.producer_id(), ProducerId(77));
        assert_eq!(batch.producer_epoch(), ProducerEpoch(3));
        assert_eq!(batch.last_sequence(), BaseSequence(14));
        assert_eq!(batch.max_timestamp(), TimestampMs(1_700_000_000_005));
        let mut decompressor = Decompressor::new(1_000);
        let records = batch.records(&mut decompressor).unwrap();
        let read: Vec<_> = records.map(Result::unwrap).collect();
        assert_eq!(read.len(), 3);
        for (record, (timestamp, key, value, headers)) in read.iter().zip(expected(&long)) {
            assert_eq!(
                batch.timestamp_of(record.timestamp_delta),
                TimestampMs(timestamp)
            );
            assert_eq!((record.key, record.value), (key, value));
            let headers = headers.iter().map(|(key, value)| (key.as_bytes(), *value));
            assert!(record.headers().eq(headers));
        }
    }
}

#[test]
fn an_uncompressed_batch_has_kafkas_own_bytes() {
    let long = [b'x'; 300];
    let mut builder = BatchBuilder::new(Compression::None).producer(
        ProducerId(77),
        ProducerEpoch(3),
        BaseSequence(12),
    );
    for (timestamp, key, value, headers) in expected(&long) {
        let timestamp = TimestampMs(timestamp);
        let record = NewRecord {
            timestamp,
            key,
            value,
            headers,
        };
        builder.push(&record).unwrap();
    }
    assert_eq!(builder.build().unwrap(), from_hex(BATCHES[0].1));
}
