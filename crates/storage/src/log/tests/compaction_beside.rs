//! Cleaning beside the rest: settings, retention, readers, lookups, and when it is due.

use super::compaction::{
    HOUR_MS, all, clean, clean_at, clean_with, compacted, memory, put_keyed, seal, seen, some,
};
use super::*;

#[test]
fn records_without_a_key_go_where_a_topic_became_compacted() {
    let fixture = Fixture::new();
    let mut log = fixture.create(&small());
    let mut builder = BatchBuilder::new(Compression::None);
    let record = NewRecord {
        timestamp: NOW,
        value: Some(b"v"),
        ..NewRecord::default()
    };
    builder.push(&record).unwrap();
    send(&mut log, builder.build().unwrap()).unwrap();
    log.update_config(compacted());
    put_keyed(&mut log, &[("a", Some("1"))]);
    seal(&mut log);
    let cleaned = clean(&mut log);
    assert_eq!(
        (cleaned.records_without_key, cleaned.records_removed),
        (1, 1)
    );
    assert_eq!(all(&log), [some(1, "a", "1")]);
}

#[test]
fn a_log_that_was_compacted_once_may_have_holes_whatever_its_setting_says_later() {
    let fixture = Fixture::new();
    let mut log = fixture.create(&compacted());
    for i in 0..20 {
        put_keyed(&mut log, &[("a", Some(&format!("{i}"))), ("b", Some("x"))]);
    }
    seal(&mut log);
    clean(&mut log);
    let expected = all(&log);
    log.update_config(small());
    assert_eq!(all(&log), expected);
    drop(log);
    for clean in [false, true] {
        let mut log = fixture.try_open(&small(), clean, 1).unwrap();
        assert_eq!(all(&log), expected);
        // What was never cleaned is held to the strict rule.
        assert!(!log.segments[0].is_dense() && log.active().is_dense());
        sync(&mut log).unwrap();
        log.close().unwrap();
    }
}

#[test]
fn a_segment_without_records_does_not_stop_retention() {
    let fixture = Fixture::new();
    let both = LogConfig {
        is_deleted_by_retention: true,
        retention_ms: HOUR_MS,
        ..compacted()
    };
    let mut log = fixture.create(&both);
    for i in 0..12 {
        put_keyed(
            &mut log,
            &[("a", Some(&format!("{i} {}", "x".repeat(120))))],
        );
    }
    seal(&mut log);
    clean(&mut log);
    assert!(log.segments[0].has_no_record(&*fixture.disk).unwrap());
    assert!(log.segment_count() > 2);
    assert_eq!(log.segments[0].max_timestamp(&*fixture.disk).unwrap(), None);
    log.apply_retention(TimestampMs(NOW.get() + HOUR_MS))
        .unwrap();
    let first = log.log_start_offset();
    assert!(
        first > Offset(0) && all(&log).len() == 1,
        "what holds nothing may go at once"
    );
    log.apply_retention(TimestampMs(NOW.get() + HOUR_MS + 1))
        .unwrap();
    assert_eq!(log.log_start_offset(), Offset(12));
}

#[test]
fn retention_by_size_applies_to_what_compaction_left() {
    let fixture = Fixture::new();
    let both = LogConfig {
        is_deleted_by_retention: true,
        retention_bytes: 600,
        ..compacted()
    };
    let mut log = fixture.create(&both);
    for i in 0..12 {
        put_keyed(&mut log, &[(&format!("{}", i % 6), Some(&"x".repeat(120)))]);
    }
    seal(&mut log);
    clean(&mut log);
    let before = log.size_bytes();
    log.apply_retention(NOW).unwrap();
    assert!(before > 600 && log.size_bytes() <= before - 200 && log.size_bytes() >= 600);
}

#[test]
fn a_reader_goes_on_reading_the_old_file() {
    let fixture = Fixture::new();
    let mut log = fixture.create(&compacted());
    for i in 0..8 {
        put_keyed(&mut log, &[("a", Some(&format!("{i}")))]);
    }
    seal(&mut log);
    let limit = ReadLimit {
        max_bytes: 1 << 20,
        min_one_batch: true,
        below: log.log_end_offset(),
    };
    let plan = log.read(Offset(0), limit).unwrap();
    let search = log.time_search(log.log_end_offset());
    clean(&mut log);
    let mut records = Vec::new();
    for bytes in plan.read().unwrap() {
        seen(&bytes, &mut records);
    }
    assert!(records.len() > 3, "the plan was of the old segment");
    let error = search.first_at(NOW).unwrap_err();
    assert!(error.to_string().contains("meanwhile"), "{error}");
    assert!(log.offset_for_timestamp(NOW, Offset(8)).unwrap().is_some());
}

#[test]
fn lookups_by_time_pass_over_batches_without_records() {
    let fixture = Fixture::new();
    let mut log = fixture.create(&compacted());
    let at = |ms: i64, key: &str, producer: i64| {
        let mut builder = BatchBuilder::new(Compression::None);
        let record = NewRecord {
            timestamp: TimestampMs(NOW.get() + ms),
            key: Some(key.as_bytes()),
            value: Some(b"v"),
            headers: &[],
        };
        builder.push(&record).unwrap();
        let (id, epoch) = (ProducerId(producer), ProducerEpoch(0));
        builder
            .producer(id, epoch, BaseSequence(0))
            .build()
            .unwrap()
    };
    send(&mut log, at(10, "b", 1)).unwrap();
    send(&mut log, at(500, "a", 2)).unwrap();
    send(&mut log, at(20, "a", 3)).unwrap();
    seal(&mut log);
    clean(&mut log);
    let end = log.log_end_offset();
    let time = |ms: i64| TimestampMs(NOW.get() + ms);
    let latest = log.max_timestamp_offset(end).unwrap().unwrap();
    assert_eq!((latest.offset, latest.timestamp), (Offset(2), time(20)));
    let first = log.offset_for_timestamp(time(15), end).unwrap().unwrap();
    assert_eq!(first.offset, Offset(2));
    assert_eq!(log.offset_for_timestamp(time(21), end).unwrap(), None);
}

#[test]
fn lags_and_the_ratio_say_when_a_cleaning_is_due() {
    let fixture = Fixture::new();
    let lags = |min, max, ratio| LogConfig {
        min_compaction_lag_ms: min,
        max_compaction_lag_ms: max,
        min_cleanable_dirty_ratio: ratio,
        ..compacted()
    };
    let mut log = fixture.create(&lags(0, i64::MAX, 0.5));
    let later = |ms: i64| TimestampMs(NOW.get() + ms);
    let due = |log: &Log, ms| log.dirtiness(later(ms)).unwrap().unwrap();
    put_keyed(&mut log, &[("a", Some("1"))]);
    assert!(!due(&log, 0).is_due, "the active segment is not cleaned");
    seal(&mut log);
    assert!(due(&log, 0).is_due && due(&log, 0).ratio() == 1.0);
    log.update_config(lags(1000, i64::MAX, 0.5));
    assert!(due(&log, 1000).is_due && !due(&log, 999).is_due);
    assert_eq!(due(&log, 999).dirty_bytes, 0);
    assert!(
        clean_with(&mut log, later(999), memory())
            .unwrap()
            .is_none()
    );
    assert!(due(&log, 1001).is_due);
    clean_at(&mut log, later(1001));
    assert!(!due(&log, 1001).is_due);
    // A little dirt is not worth while, unless it is old.
    log.update_config(lags(0, 2000, 0.9));
    put_keyed(&mut log, &[("a", Some("2"))]);
    seal(&mut log);
    assert!(!due(&log, 1999).is_due && due(&log, 2001).is_due);
    log.update_config(LogConfig {
        is_compacted: false,
        ..compacted()
    });
    assert_eq!(log.dirtiness(NOW).unwrap(), None);
}

#[test]
fn a_segment_is_rolled_in_time_for_its_compaction() {
    let fixture = Fixture::new();
    let mut log = fixture.create(&LogConfig {
        max_compaction_lag_ms: 1000,
        ..compacted()
    });
    put_keyed(&mut log, &[("a", Some("1"))]);
    assert!(!log.roll_if_due(TimestampMs(NOW.get() + 1000)).unwrap());
    assert!(log.roll_if_due(TimestampMs(NOW.get() + 1001)).unwrap());
}
