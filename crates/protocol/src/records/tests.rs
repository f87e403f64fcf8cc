//! Round trips, damage at every byte, produced-batch rules, and an independent implementation as the judge.

use super::*;
use fanlog_model::{BaseSequence, LeaderEpoch, Offset, ProducerEpoch, ProducerId, TimestampMs};
use proptest::prelude::*;

/// A record that owns its bytes, for comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Owned {
    timestamp: i64,
    key: Option<Vec<u8>>,
    value: Option<Vec<u8>>,
    headers: Vec<(String, Option<Vec<u8>>)>,
}

impl Owned {
    fn push_to(&self, builder: &mut BatchBuilder) {
        let headers: Vec<_> = self
            .headers
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_deref()))
            .collect();
        let record = NewRecord {
            timestamp: TimestampMs(self.timestamp),
            key: self.key.as_deref(),
            value: self.value.as_deref(),
            headers: &headers,
        };
        let before = builder.uncompressed_bytes();
        builder.push(&record).unwrap();
        assert!(builder.uncompressed_bytes() - before <= record.bytes_max());
    }

    fn from_view(batch: &BatchView<'_>, record: &RecordView<'_>) -> Self {
        Self {
            timestamp: batch.timestamp_of(record.timestamp_delta).get(),
            key: record.key.map(<[u8]>::to_vec),
            value: record.value.map(<[u8]>::to_vec),
            headers: record
                .headers()
                .map(|(key, value)| {
                    (
                        String::from_utf8(key.to_vec()).unwrap(),
                        value.map(<[u8]>::to_vec),
                    )
                })
                .collect(),
        }
    }
}

fn bytes() -> impl Strategy<Value = Option<Vec<u8>>> {
    prop::option::of(prop::collection::vec(any::<u8>(), 0..200))
}

fn record() -> impl Strategy<Value = Owned> {
    let headers = prop::collection::vec(("[a-zé]{0,9}", bytes()), 0..4);
    (0..i64::MAX / 2, bytes(), bytes(), headers).prop_map(|(timestamp, key, value, headers)| {
        Owned {
            timestamp,
            key,
            value,
            headers,
        }
    })
}

fn records() -> impl Strategy<Value = Vec<Owned>> {
    prop::collection::vec(record(), 1..30)
}

fn built(compression: Compression, records: &[Owned]) -> Vec<u8> {
    let mut builder = BatchBuilder::new(compression);
    records.iter().for_each(|one| one.push_to(&mut builder));
    builder.build().unwrap()
}

fn read(bytes: &[u8]) -> Vec<Owned> {
    let batch = BatchView::parse(bytes).unwrap();
    batch.check_crc().unwrap();
    let mut decompressor = Decompressor::default();
    batch
        .records(&mut decompressor)
        .unwrap()
        .map(|one| Owned::from_view(&batch, &one.unwrap()))
        .collect()
}

const NOW: TimestampMs = TimestampMs(1_700_000_000_000);

fn rules() -> ProduceRules {
    ProduceRules {
        is_from_client: true,
        now: NOW,
        timestamp_type: TimestampType::CreateTime,
        timestamp_before_max_ms: i64::MAX,
        timestamp_after_max_ms: 3_600_000,
        is_compacted: false,
    }
}

fn plain(key: Option<&str>, timestamp: TimestampMs) -> Owned {
    Owned {
        timestamp: timestamp.get(),
        key: key.map(|key| key.as_bytes().to_vec()),
        value: Some(b"value".to_vec()),
        headers: vec![("h".to_owned(), None), ("h".to_owned(), Some(vec![1]))],
    }
}

fn sample(compression: Compression) -> Vec<u8> {
    let records = [
        plain(Some("a"), NOW),
        plain(None, TimestampMs(NOW.get() - 5)),
    ];
    built(compression, &records)
}

fn validate(bytes: &[u8], rules: &ProduceRules) -> Result<Validated, InvalidBatch> {
    let batch = BatchView::parse(bytes)?;
    validate_produced(&batch, rules, &mut Decompressor::new(1 << 20))
}

proptest! {
    #[test]
    fn a_batch_gives_back_its_records(records in records(), which in 0_u8..5) {
        let compression = Compression::from_id(which).unwrap();
        prop_assert_eq!(read(&built(compression, &records)), records);
    }

    #[test]
    fn recompression_changes_nothing_else(records in records(), from in 0_u8..5, to in 0_u8..5) {
        let [from, to] = [from, to].map(|id| Compression::from_id(id).unwrap());
        let before = built(from, &records);
        let view = BatchView::parse(&before).unwrap();
        let after = recompress(&view, to, &mut Decompressor::default()).unwrap();
        prop_assert_eq!(&after, &built(to, &records));
    }

    #[test]
    fn bytes_from_nowhere_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = validate(&bytes, &rules());
    }

    #[test]
    fn records_from_nowhere_under_a_right_checksum_never_panic(
        tail in prop::collection::vec(any::<u8>(), 0..100),
        count in -1_i32..6,
        which in 0_u8..5,
    ) {
        let mut bytes = sample(Compression::from_id(which).unwrap());
        bytes.truncate(HEADER_BYTES);
        bytes.extend_from_slice(&tail);
        bytes[57..61].copy_from_slice(&count.to_be_bytes());
        bytes[23..27].copy_from_slice(&(count - 1).to_be_bytes());
        repair(&mut bytes);
        let _ = validate(&bytes, &rules());
    }
}

/// Makes length and checksum right again after a change.
fn repair(bytes: &mut [u8]) {
    let length = (bytes.len() - 12) as i32;
    bytes[8..12].copy_from_slice(&length.to_be_bytes());
    edit::put_crc(bytes);
}

#[test]
fn header_fields_are_read_where_they_stand() {
    let mut builder = BatchBuilder::new(Compression::Zstd)
        .base_offset(Offset(100))
        .partition_leader_epoch(LeaderEpoch(7))
        .producer(ProducerId(42), ProducerEpoch(3), BaseSequence(i32::MAX))
        .transactional()
        .control();
    plain(None, TimestampMs(20)).push_to(&mut builder);
    let record = NewRecord {
        timestamp: TimestampMs(10),
        ..NewRecord::default()
    };
    builder.push_at(4, &record).unwrap();
    let bytes = builder.build().unwrap();
    let batch = BatchView::parse(&bytes).unwrap();
    assert_eq!(batch.base_offset(), Offset(100));
    assert_eq!(batch.last_offset(), Offset(104));
    assert_eq!(batch.next_offset(), Offset(105));
    assert_eq!(batch.total_len(), bytes.len());
    assert_eq!(batch.partition_leader_epoch(), LeaderEpoch(7));
    assert_eq!(batch.compression(), Compression::Zstd);
    assert_eq!(batch.timestamp_type(), TimestampType::CreateTime);
    assert!(batch.is_transactional() && batch.is_control() && !batch.has_delete_horizon());
    assert_eq!(batch.base_timestamp(), TimestampMs(20));
    assert_eq!(batch.max_timestamp(), TimestampMs(20));
    assert_eq!(batch.producer_id(), ProducerId(42));
    assert_eq!(batch.producer_epoch(), ProducerEpoch(3));
    assert_eq!(batch.base_sequence(), BaseSequence(i32::MAX));
    assert_eq!(batch.last_sequence(), BaseSequence(3));
    assert_eq!(batch.record_count(), 2);
    assert_eq!(batch.crc(), batch.computed_crc());
}

#[test]
fn offsets_in_a_batch_only_rise() {
    let mut builder = BatchBuilder::new(Compression::None);
    assert_eq!(builder.build(), Err(BuildError::Empty));
    builder.push_at(3, &NewRecord::default()).unwrap();
    let refused = builder.push_at(3, &NewRecord::default());
    assert_eq!(
        refused,
        Err(BuildError::OffsetNotRising { delta: 3, last: 3 })
    );
}

#[test]
fn batches_are_walked_one_after_the_other_until_the_first_error() {
    let mut log = sample(Compression::None);
    log.extend(sample(Compression::Lz4));
    log.extend_from_slice(&[0; 20]);
    let walked: Vec<_> = BatchView::parse_all(&log).collect();
    assert!(walked[0].is_ok() && walked[1].is_ok());
    assert!(matches!(
        walked[2],
        Err(BatchError::UnsupportedMagic { magic: 0 })
    ));
    assert_eq!(walked.len(), 3);
}

#[test]
fn every_truncation_is_a_typed_error() {
    let bytes = sample(Compression::Gzip);
    for length in 0..bytes.len() {
        let result = BatchView::parse(&bytes[..length]);
        let truncated =
            matches!(result, Err(BatchError::Truncated { present, .. }) if present == length);
        assert!(truncated, "cut to {length}: {result:?}");
    }
}

#[test]
fn every_flipped_bit_under_the_checksum_is_noticed() {
    for compression in Compression::ALL {
        let bytes = sample(compression);
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let outside = (0..8).contains(&(bit / 8)) || (12..16).contains(&(bit / 8));
            let result = BatchView::parse(&damaged).and_then(|batch| batch.check_crc());
            assert_eq!(
                result.is_ok(),
                outside,
                "bit {bit} of {compression:?}: {result:?}"
            );
        }
    }
}

#[test]
fn every_changed_byte_under_a_right_checksum_is_judged_without_panic() {
    for compression in Compression::ALL {
        let bytes = sample(compression);
        for at in 21..bytes.len() {
            for value in [
                0,
                1,
                2,
                0x3f,
                0x7e,
                0x7f,
                0x80,
                0xfe,
                0xff,
                bytes[at] ^ 1,
                bytes[at] ^ 8,
            ] {
                let mut changed = bytes.clone();
                changed[at] = value;
                repair(&mut changed);
                let _ = validate(&changed, &rules());
            }
        }
    }
}

#[test]
fn lengths_inside_a_batch_are_exact() {
    let bytes = sample(Compression::None);
    let check = |change: &dyn Fn(&mut Vec<u8>), expected: &str| {
        let mut changed = bytes.clone();
        change(&mut changed);
        repair(&mut changed);
        let error = validate(&changed, &rules()).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    check(&|b| b.push(0), "1 bytes after its 2 records");
    check(
        &|b| {
            b.pop();
        },
        "no valid length",
    );
    // The first record: length, attributes, timestamp delta, offset delta, key length, key, value length, value, header count.
    check(&|b| b[61] = 1, "record 0 of the batch has no valid length");
    check(
        &|b| b[61] += 2,
        "record 0 of the batch has 1 bytes after its headers",
    );
    check(&|b| b[64] = 2, "record 0 of the batch has offset delta 1");
    check(&|b| b[65] = 3, "invalid key length");
    check(&|b| b[67] = 0x7e, "invalid value length");
    check(&|b| b[73] = 0x7e, "invalid header count");
    check(&|b| b[73] = 1, "invalid header count");
    check(&|b| b[74] = 1, "invalid header key");
    check(&|b| b[73] = 2, "bytes after its headers");
    // A header's key may be any bytes, as in Kafka.
    let mut bytes = bytes;
    bytes[75] = 0xff;
    repair(&mut bytes);
    validate(&bytes, &rules()).unwrap();
}

#[test]
fn headers_that_do_not_fit_the_records_are_refused() {
    let check = |at: usize, value: &[u8], expected: &str| {
        let mut changed = sample(Compression::Snappy);
        changed[at..at + value.len()].copy_from_slice(value);
        repair(&mut changed);
        let error = validate(&changed, &rules()).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    check(16, &[1], "magic 1");
    check(0, &5_i64.to_be_bytes(), "starts at offset 5");
    check(57, &0_i32.to_be_bytes(), "states 0 records");
    check(57, &(-1_i32).to_be_bytes(), "states -1 records");
    check(
        57,
        &3_i32.to_be_bytes(),
        "3 records and the last offset delta 1",
    );
    check(23, &i32::MAX.to_be_bytes(), "last offset delta 2147483647");
    check(22, &[0x22], "control batch");
    check(22, &[0x05], "compression number 5");
    check(43, &9_i64.to_be_bytes(), "base sequence -1");
    // Count and delta agree, and the records do not.
    let mut fewer = sample(Compression::None);
    fewer[57..61].copy_from_slice(&1_i32.to_be_bytes());
    fewer[23..27].copy_from_slice(&0_i32.to_be_bytes());
    repair(&mut fewer);
    let error = validate(&fewer, &rules()).unwrap_err();
    assert!(matches!(
        error,
        InvalidBatch::Record(RecordError::TrailingInBatch { count: 1, .. })
    ));
}

#[test]
fn a_bomb_is_refused_as_too_large() {
    let mut builder = BatchBuilder::new(Compression::Zstd);
    let value = vec![0; 4 << 20];
    let record = NewRecord {
        value: Some(&value),
        ..NewRecord::default()
    };
    builder.push(&record).unwrap();
    let error = validate(&builder.build().unwrap(), &rules()).unwrap_err();
    let too_large = CompressionError::TooLarge {
        compression: Compression::Zstd,
        limit: 1 << 20,
    };
    assert_eq!(
        error,
        InvalidBatch::Batch(BatchError::Compression(too_large))
    );
}

#[test]
fn records_against_the_topics_rules_are_listed_by_number() {
    let compacted = ProduceRules {
        is_compacted: true,
        ..rules()
    };
    let error = validate(&sample(Compression::Lz4), &compacted).unwrap_err();
    let no_key = RefusedRecord {
        batch_index: 1,
        fault: RecordFault::NoKey,
    };
    assert_eq!(error, InvalidBatch::Records(vec![no_key]));

    let strict = ProduceRules {
        timestamp_before_max_ms: 4,
        ..rules()
    };
    let error = validate(&sample(Compression::None), &strict).unwrap_err();
    let fault = RecordFault::Timestamp {
        timestamp: TimestampMs(NOW.get() - 5),
        earliest: TimestampMs(NOW.get() - 4),
        latest: TimestampMs(NOW.get() + 3_600_000),
    };
    assert_eq!(
        error,
        InvalidBatch::Records(vec![RefusedRecord {
            batch_index: 1,
            fault
        }])
    );
    let by_broker = ProduceRules {
        timestamp_type: TimestampType::LogAppendTime,
        ..strict
    };
    assert!(validate(&sample(Compression::None), &by_broker).is_ok());

    let late = built(
        Compression::None,
        &[plain(None, TimestampMs(NOW.get() + 3_600_001))],
    );
    assert!(matches!(
        validate(&late, &rules()),
        Err(InvalidBatch::Records(_))
    ));
    let untimed = built(Compression::None, &[plain(None, TimestampMs::NONE)]);
    assert!(validate(&untimed, &strict).is_ok());

    let mut claims = sample(Compression::None);
    set_log_append_time(&mut claims, NOW);
    assert!(matches!(
        validate(&claims, &rules()),
        Err(InvalidBatch::Records(_))
    ));
}

#[test]
fn the_list_of_refused_records_is_bounded() {
    let records = vec![plain(None, NOW); 5_000];
    let compacted = ProduceRules {
        is_compacted: true,
        ..rules()
    };
    let error = validate(&built(Compression::None, &records), &compacted).unwrap_err();
    assert!(matches!(error, InvalidBatch::Records(refused) if refused.len() == 1_000));
}

#[test]
fn a_wrong_max_timestamp_is_found_and_written_right() {
    let right = sample(Compression::Gzip);
    let mut wrong = right.clone();
    set_max_timestamp(&mut wrong, TimestampType::CreateTime, TimestampMs(1));
    assert_ne!(wrong, right);
    let found = validate(&wrong, &rules()).unwrap();
    let (max_timestamp, max_timestamp_delta) = (NOW, 0);
    let expected = Validated {
        record_count: 2,
        max_timestamp,
        max_timestamp_delta,
    };
    assert_eq!(found, expected);
    set_max_timestamp(&mut wrong, TimestampType::CreateTime, found.max_timestamp);
    assert_eq!(wrong, right);
}

#[test]
fn edits_in_place_touch_only_their_fields() {
    let before = sample(Compression::None);
    let mut after = before.clone();
    // What follows the batch is not part of it.
    after.extend_from_slice(b"next");
    set_base_offset(&mut after, Offset(1 << 40));
    set_partition_leader_epoch(&mut after, LeaderEpoch(9));
    let view = BatchView::parse(&after).unwrap();
    view.check_crc().unwrap();
    assert_eq!(
        (view.base_offset(), view.partition_leader_epoch()),
        (Offset(1 << 40), LeaderEpoch(9))
    );
    assert_eq!(view.bytes()[16..], before[16..]);
    set_log_append_time(&mut after, TimestampMs(77));
    let view = BatchView::parse(&after).unwrap();
    view.check_crc().unwrap();
    assert_eq!(view.timestamp_type(), TimestampType::LogAppendTime);
    assert_eq!(view.timestamp_of(5), TimestampMs(77));
    assert_eq!(view.bytes()[43..], before[43..]);
    assert!(after.ends_with(b"next"));
}

mod oracle {
    //! The crate `kafka-protocol` reads what we build, and we read what it builds.

    use super::*;
    use ::bytes::{Bytes, BytesMut};
    use kafka_protocol::protocol::StrBytes;
    use kafka_protocol::records as theirs;

    /// Theirs cannot hold a key twice; so the headers are made unique.
    fn unique(mut records: Vec<Owned>) -> Vec<Owned> {
        for record in &mut records {
            for (number, header) in record.headers.iter_mut().enumerate() {
                header.0 = format!("{number}{}", header.0);
            }
        }
        records
    }

    fn to_theirs(at: usize, record: &Owned) -> theirs::Record {
        theirs::Record {
            transactional: false,
            control: false,
            delete_horizon: false,
            partition_leader_epoch: 4,
            producer_id: 8,
            producer_epoch: 2,
            timestamp_type: theirs::TimestampType::Creation,
            offset: at as i64,
            sequence: 10 + at as i32,
            timestamp: record.timestamp,
            key: record.key.clone().map(Bytes::from),
            value: record.value.clone().map(Bytes::from),
            headers: record
                .headers
                .iter()
                .map(|(key, value)| {
                    (
                        StrBytes::from_string(key.clone()),
                        value.clone().map(Bytes::from),
                    )
                })
                .collect(),
        }
    }

    proptest! {
        #[test]
        fn they_read_what_we_build(records in records().prop_map(unique)) {
            let mut builder = BatchBuilder::new(Compression::None)
                .partition_leader_epoch(LeaderEpoch(4))
                .producer(ProducerId(8), ProducerEpoch(2), BaseSequence(10));
            records.iter().for_each(|one| one.push_to(&mut builder));
            let mut bytes = Bytes::from(builder.build().unwrap());
            let set = theirs::RecordBatchDecoder::decode(&mut bytes).unwrap();
            let expected: Vec<_> = records.iter().enumerate().map(|(at, one)| to_theirs(at, one)).collect();
            prop_assert_eq!(set.records, expected);
        }

        #[test]
        fn we_read_what_they_build(records in records().prop_map(unique)) {
            let set: Vec<_> = records.iter().enumerate().map(|(at, one)| to_theirs(at, one)).collect();
            let options = theirs::RecordEncodeOptions { version: 2, compression: theirs::Compression::None };
            let mut bytes = BytesMut::new();
            theirs::RecordBatchEncoder::encode(&mut bytes, &set, &options).unwrap();
            let batch = BatchView::parse(&bytes).unwrap();
            prop_assert_eq!(batch.total_len(), bytes.len());
            prop_assert_eq!(batch.base_sequence(), BaseSequence(10));
            prop_assert_eq!(read(&bytes), records);
        }
    }
}
