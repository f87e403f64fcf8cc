use super::*;
use crate::error::AppendError;
use fanlog_protocol::records::{InvalidBatch, RecordFault, TimestampType};

#[test]
fn records_are_read_back_at_their_offsets() {
    let fixture = Fixture::new();
    let mut log = fixture.create(&small());
    assert_eq!(put(&mut log, "a"), Offset(0));
    let appended = send(&mut log, batch(&[(0, "b"), (0, "c")])).unwrap();
    assert_eq!(
        (appended.first_offset, appended.last_offset),
        (Offset(1), Offset(2))
    );
    assert_eq!(put(&mut log, "d"), Offset(3));
    let all = read_all(&log, Offset(0), Offset(4));
    let expected = [(0, "a"), (1, "b"), (2, "c"), (3, "d")].map(|(o, v)| (o, v.to_owned()));
    assert_eq!(all, expected);
    assert_eq!(log.durable_offset(), Offset(0));
    assert_eq!(sync(&mut log).unwrap(), Offset(4));
    assert!(log.begin_sync().is_none());
}

#[test]
fn a_batch_is_stored_byte_for_byte_but_for_offset_and_epoch() {
    let fixture = Fixture::new();
    let mut log = fixture.create(&small());
    for compression in Compression::ALL {
        let sent = builder(compression, &[(0, "one"), (5, "two")])
            .build()
            .unwrap();
        let at = log.log_end_offset();
        send(&mut log, sent.clone()).unwrap();
        let limit = ReadLimit {
            max_bytes: 0,
            min_one_batch: true,
            below: log.log_end_offset(),
        };
        let stored = log.read(at, limit).unwrap().read().unwrap().concat();
        let view = BatchView::parse(&stored).unwrap();
        assert_eq!(view.base_offset(), at);
        assert_eq!(view.partition_leader_epoch(), LeaderEpoch(0));
        assert_eq!(stored[16..], sent[16..], "{compression:?}");
    }
}

#[test]
fn a_topic_may_have_its_own_compression_and_time() {
    let fixture = Fixture::new();
    let config = LogConfig {
        compression_type: Some(Compression::Zstd),
        timestamp_type: TimestampType::LogAppendTime,
        ..small()
    };
    let mut log = fixture.create(&config);
    let sent = builder(Compression::Gzip, &[(-9, "one"), (5, "two")])
        .build()
        .unwrap();
    let appended = send(&mut log, sent).unwrap();
    assert_eq!(appended.log_append_time, NOW);
    let limit = ReadLimit {
        max_bytes: 1000,
        min_one_batch: true,
        below: Offset(2),
    };
    let stored = log.read(Offset(0), limit).unwrap().read().unwrap().concat();
    let view = BatchView::parse(&stored).unwrap();
    view.check_crc().unwrap();
    assert_eq!(view.compression(), Compression::Zstd);
    assert_eq!(view.timestamp_type(), TimestampType::LogAppendTime);
    assert_eq!(view.max_timestamp(), NOW);
    assert_eq!(read_all(&log, Offset(0), Offset(2)).len(), 2);
}

#[test]
fn what_breaks_the_rules_leaves_no_trace() {
    let fixture = Fixture::new();
    let config = LogConfig {
        max_message_bytes: 200,
        segment_bytes: 300,
        is_compacted: true,
        ..small()
    };
    let mut log = fixture.create(&config);
    put(&mut log, "first");
    let mut flipped = batch(&[(0, "x")]);
    *flipped.last_mut().unwrap() ^= 1;
    let keyless = {
        let mut builder = BatchBuilder::new(Compression::None);
        let record = NewRecord {
            timestamp: NOW,
            key: None,
            value: Some(b"v"),
            headers: &[],
        };
        builder.push(&record).unwrap();
        builder.build().unwrap()
    };
    let transactional = builder(Compression::None, &[(0, "t")])
        .producer(ProducerId(1), ProducerEpoch(0), BaseSequence(0))
        .transactional()
        .build()
        .unwrap();
    let long = "x".repeat(200);
    let name = |error: AppendError| match error {
        AppendError::Invalid(InvalidBatch::Batch(_)) => "corrupt",
        AppendError::Invalid(InvalidBatch::Records(records)) => match records[0].fault {
            RecordFault::NoKey => "no key",
            RecordFault::Timestamp { .. } => "timestamp",
            RecordFault::LogAppendTimeFromClient => "log append time",
        },
        AppendError::BatchCount { .. } => "count",
        AppendError::TooLarge { .. } => "too large",
        AppendError::NotInTransaction { .. } => "transactional",
        _ => "something else",
    };
    let cases = [
        (flipped, "corrupt"),
        (vec![0; 10], "corrupt"),
        (Vec::new(), "count"),
        ([batch(&[(0, "a")]), batch(&[(0, "b")])].concat(), "count"),
        (keyless, "no key"),
        (batch(&[(0, "ok"), (3_600_001, "future")]), "timestamp"),
        (batch(&[(0, &long)]), "too large"),
        (transactional, "transactional"),
    ];
    for (bytes, expected) in cases {
        assert_eq!(name(send(&mut log, bytes).unwrap_err()), expected);
    }
    assert_eq!(log.log_end_offset(), Offset(1));
    let limit = ReadLimit {
        max_bytes: 1000,
        min_one_batch: true,
        below: Offset(1),
    };
    assert_eq!(
        log.read(Offset(0), limit).unwrap().bytes() as u64,
        log.size_bytes()
    );
}

#[test]
fn a_lower_leader_epoch_is_refused() {
    let fixture = Fixture::new();
    let mut log = fixture.create(&small());
    let mut bytes = batch(&[(0, "a")]);
    log.append(&mut bytes, AppendOrigin::Client, LeaderEpoch(3), NOW)
        .unwrap();
    let error = log
        .append(&mut bytes, AppendOrigin::Client, LeaderEpoch(2), NOW)
        .unwrap_err();
    assert!(matches!(
        error,
        AppendError::StaleLeaderEpoch {
            current: LeaderEpoch(3),
            ..
        }
    ));
}

#[test]
fn a_retry_is_answered_with_the_original_before_and_after_restarts() {
    let fixture = Fixture::new();
    let mut log = fixture.create(&small());
    for i in 0..6 {
        send(&mut log, produced(0, i * 2, 2)).unwrap();
    }
    let check = |log: &mut Log| {
        for i in 1..6 {
            let again = send(log, produced(0, i * 2, 2)).unwrap();
            let offset = i64::from(i) * 2;
            assert!(again.is_duplicate);
            assert_eq!(
                (again.first_offset, again.last_offset),
                (Offset(offset), Offset(offset + 1))
            );
        }
        let error = send(log, produced(0, 14, 2)).unwrap_err();
        assert!(matches!(
            error,
            AppendError::OutOfOrderSequence {
                expected: 12,
                found: 14,
                ..
            }
        ));
        assert_eq!(log.log_end_offset(), Offset(12));
    };
    check(&mut log);
    sync(&mut log).unwrap();
    drop(log);
    fixture.disk.crash(5);
    let mut log = fixture.open(&small(), 1);
    check(&mut log);
    log.close().unwrap();
    let mut log = fixture.open_clean(&small(), 2);
    check(&mut log);
    assert_eq!(log.active_producers()[0].last_sequence, 11);
    assert!(!send(&mut log, produced(0, 12, 2)).unwrap().is_duplicate);
    assert_eq!(log.expire_producers(TimestampMs(NOW.get() + 86_400_000)), 1);
    assert!(!send(&mut log, produced(0, 99, 1)).unwrap().is_duplicate);
}

#[test]
fn what_a_coordinator_writes_may_exceed_a_segment() {
    let fixture = Fixture::new();
    let mut log = fixture.create(&small());
    put(&mut log, "small");
    let large = batch(&[(0, &"x".repeat(10_000))]);
    let error = send(&mut log, large.clone()).unwrap_err();
    assert!(
        matches!(error, AppendError::ExceedsSegment { .. }),
        "{error}"
    );
    let epoch = log.leader_epoch();
    let appended = log.append(&mut large.clone(), AppendOrigin::Coordinator, epoch, NOW);
    assert_eq!(appended.unwrap().first_offset, Offset(1));
    assert_eq!(put(&mut log, "small"), Offset(2));
    assert_eq!(log.segment_count(), 3, "it has a segment to itself");
    sync(&mut log).unwrap();
    fixture.disk.crash(1);
    let log = fixture.open(&small(), 1);
    assert_eq!(read_all(&log, Offset(0), log.log_end_offset()).len(), 3);
}

#[test]
fn a_producer_of_old_records_is_remembered_from_when_it_wrote_them() {
    const DAY_MS: i64 = 86_400_000;
    let fixture = Fixture::new();
    let mut log = fixture.create(&small());
    let old = builder(Compression::None, &[(-30 * DAY_MS, "last month's")]);
    let old = old.producer(ProducerId(7), ProducerEpoch(0), BaseSequence(0));
    let old = old.build().unwrap();
    send(&mut log, old.clone()).unwrap();
    let check = |log: &mut Log| {
        assert_eq!(log.expire_producers(TimestampMs(NOW.get() + DAY_MS - 1)), 0);
        assert!(send(log, old.clone()).unwrap().is_duplicate);
    };
    check(&mut log);
    sync(&mut log).unwrap();
    drop(log);
    fixture.disk.crash(1);
    let mut log = fixture.open(&small(), 1);
    check(&mut log);
    log.close().unwrap();
    let mut log = fixture.open_clean(&small(), 2);
    check(&mut log);
    assert_eq!(log.expire_producers(TimestampMs(NOW.get() + DAY_MS)), 1);
}

#[test]
fn a_full_disk_refuses_and_then_goes_on() {
    let fixture = Fixture::new();
    let mut log = fixture.create(&small());
    for i in 0..100 {
        put(&mut log, &format!("before {i}"));
    }
    let end = log.log_end_offset();
    fixture.disk.set_free_bytes(Some(30));
    let error = send(&mut log, batch(&[(0, &"x".repeat(500))])).unwrap_err();
    assert!(matches!(error, AppendError::Io { .. }), "{error}");
    assert_eq!(read_all(&log, Offset(0), end).len(), 100, "reads go on");
    sync(&mut log).unwrap();
    fixture.disk.set_free_bytes(None);
    assert_eq!(put(&mut log, "after"), end);
    for i in 0..100 {
        put(&mut log, &format!("more {i}"));
    }
    sync(&mut log).unwrap();
    fixture.disk.crash(1);
    let log = fixture.open(&small(), 1);
    assert_eq!(read_all(&log, Offset(0), log.log_end_offset()).len(), 201);
}
