//! Cleaning: what stays, where, and that nothing else changes.

use super::*;
use crate::compaction::{CleanError, Cleaned, CleanedSegment, CleanerMemory};
use crate::error::ChangeError;
use crate::formats::file_names::{LOG, PRODUCER_SNAPSHOT};

const HOUR_MS: i64 = 60 * 60 * 1000;

/// Offset, key, value.
pub(super) type Seen = (i64, String, Option<String>);

pub(super) fn compacted() -> LogConfig {
    LogConfig {
        segment_bytes: 400,
        is_compacted: true,
        is_deleted_by_retention: false,
        min_cleanable_dirty_ratio: 0.0,
        delete_retention_ms: HOUR_MS,
        ..small()
    }
}

pub(super) fn memory() -> CleanerMemory {
    CleanerMemory {
        buffer_bytes: 100,
        ..CleanerMemory::default()
    }
}

pub(super) fn clean_with(
    log: &mut Log,
    now: TimestampMs,
    memory: CleanerMemory,
) -> Result<Option<Cleaned>, CleanError> {
    let begun = log.begin_cleaning(now, memory);
    let Some(mut cleaning) = begun.map_err(|source| CleanError::Io {
        path: DIR.into(),
        source,
    })?
    else {
        return Ok(None);
    };
    let result = cleaning.run(&mut |_| true, &mut |cleaned| swap(log, cleaned));
    log.finish_cleaning(&cleaning);
    result.map(Some)
}

/// What the broker does with the log's lock, without it, and with it.
pub(super) fn swap(log: &mut Log, cleaned: &CleanedSegment) -> Result<(), CleanError> {
    let begun = log.begin_swap(cleaned)?;
    let decided = begun.decide();
    log.install_cleaned(cleaned, &begun, decided)
}

fn clean_at(log: &mut Log, now: TimestampMs) -> Cleaned {
    clean_with(log, now, memory()).unwrap().unwrap()
}

fn clean(log: &mut Log) -> Cleaned {
    clean_at(log, NOW)
}

pub(super) fn keyed(compression: Compression, records: &[(&str, Option<&str>)]) -> BatchBuilder {
    let mut builder = BatchBuilder::new(compression);
    for (key, value) in records {
        let record = NewRecord {
            timestamp: NOW,
            key: Some(key.as_bytes()),
            value: value.map(str::as_bytes),
            headers: &[],
        };
        builder.push(&record).unwrap();
    }
    builder
}

fn put_keyed(log: &mut Log, records: &[(&str, Option<&str>)]) -> Offset {
    let bytes = keyed(Compression::None, records).build().unwrap();
    send(log, bytes).unwrap().first_offset
}

/// Seals what was appended, durably.
pub(super) fn seal(log: &mut Log) {
    log.roll_if_due(TimestampMs(i64::MAX)).unwrap();
    sync(log).unwrap();
}

/// All records, and that batches follow each other.
pub(super) fn all(log: &Log) -> Vec<Seen> {
    let mut records = Vec::new();
    let (mut at, end) = (log.log_start_offset(), log.log_end_offset());
    while at < end {
        let limit = ReadLimit {
            max_bytes: 1 << 20,
            min_one_batch: true,
            below: end,
        };
        let plan = log.read(at, limit).unwrap();
        if plan.slices.is_empty() {
            break;
        }
        for bytes in plan.read().unwrap() {
            seen(&bytes, &mut records);
        }
        assert!(plan.next_offset > at);
        at = plan.next_offset;
    }
    assert_eq!(at, end, "a reader comes to the log's end");
    records.retain(|(offset, ..)| *offset >= log.log_start_offset().get());
    records
}

fn seen(bytes: &[u8], out: &mut Vec<Seen>) {
    let mut decompressor = Decompressor::default();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    for batch in BatchView::parse_all(bytes) {
        let batch = batch.unwrap();
        if batch.is_control() {
            continue;
        }
        for record in batch.records(&mut decompressor).unwrap() {
            let record = record.unwrap();
            let offset = batch.offset_of(record.offset_delta).get();
            let key = record.key.map_or_else(String::new, text);
            out.push((offset, key, record.value.map(text)));
        }
    }
}

fn some(offset: i64, key: &str, value: &str) -> Seen {
    (offset, key.into(), Some(value.into()))
}

#[test]
fn the_newest_record_of_each_key_stays_at_its_offset() {
    let fixture = Fixture::new();
    let mut log = fixture.create(&compacted());
    put_keyed(
        &mut log,
        &[("a", Some("1")), ("b", Some("1")), ("c", Some("1"))],
    );
    put_keyed(&mut log, &[("a", Some("2")), ("b", Some("2"))]);
    put_keyed(&mut log, &[("a", Some("3"))]);
    seal(&mut log);
    put_keyed(&mut log, &[("c", Some("in the active segment"))]);
    sync(&mut log).unwrap();
    let cleaned = clean(&mut log);
    assert_eq!(
        (cleaned.from, cleaned.to, cleaned.keys),
        (Offset(0), Offset(6), 3)
    );
    assert_eq!(cleaned.records_removed, 3);
    let expected = [
        some(2, "c", "1"),
        some(4, "b", "2"),
        some(5, "a", "3"),
        some(6, "c", "in the active segment"),
    ];
    assert_eq!(all(&log), expected);
    assert!(
        clean_with(&mut log, NOW, memory()).unwrap().is_none(),
        "all is clean"
    );
    for clean in [true, false] {
        drop(log);
        log = fixture.try_open(&compacted(), clean, 1).unwrap();
        assert_eq!(all(&log), expected);
        assert!(clean_with(&mut log, NOW, memory()).unwrap().is_none());
        assert_eq!(log.leader_epoch_at(Offset(0)), LeaderEpoch(0));
    }
    // A reader in a hole gets what follows.
    let limit = ReadLimit {
        max_bytes: 1,
        min_one_batch: true,
        below: Offset(7),
    };
    assert_eq!(log.read(Offset(3), limit).unwrap().next_offset, Offset(5));
}

#[test]
fn segments_become_one_as_far_as_they_fit_and_nothing_is_left_beside_them() {
    let fixture = Fixture::new();
    let mut log = fixture.create(&compacted());
    for i in 0..60 {
        put_keyed(
            &mut log,
            &[(
                ["a", "b", "c"][i % 3],
                Some(&format!("{i} {}", "x".repeat(40))),
            )],
        );
    }
    seal(&mut log);
    let before = log.segment_count();
    let mut bases = Vec::new();
    // Each cleaning joins what the one before has made smaller.
    for round in 0..4 {
        put_keyed(&mut log, &[("z", Some(&format!("{round}")))]);
        seal(&mut log);
        clean(&mut log);
        bases.push(log.segment_count());
    }
    assert!(before > 15 && bases[3] <= 4, "{before} {bases:?}");
    assert_eq!(all(&log).len(), 4);
    log.close().unwrap();
    let names = fixture.disk.read_dir(Path::new(DIR)).unwrap();
    let names: Vec<_> = names.iter().map(|e| e.name.to_string_lossy()).collect();
    assert!(
        names
            .iter()
            .all(|name| !name.contains(".cleaned") && !name.contains(".tmp")),
        "{names:?}"
    );
    let count = |suffix| names.iter().filter(|name| name.ends_with(suffix)).count();
    assert_eq!(count(".log"), bases[3]);
    assert!(count(".index") <= bases[3] && count(".timeindex") <= bases[3]);
    assert!(count(".snapshot") <= bases[3] + 1, "{names:?}");
}

#[test]
fn a_tombstone_stays_until_its_delete_horizon() {
    let fixture = Fixture::new();
    let mut log = fixture.create(&compacted());
    put_keyed(&mut log, &[("a", Some("1")), ("b", Some("1"))]);
    put_keyed(&mut log, &[("a", None)]);
    seal(&mut log);
    let later = |ms: i64| TimestampMs(NOW.get() + ms);
    clean_at(&mut log, NOW);
    let with_tombstone = [some(1, "b", "1"), (2, "a".into(), None)];
    assert_eq!(all(&log), with_tombstone);
    for (round, ms) in [HOUR_MS - 1, HOUR_MS].into_iter().enumerate() {
        put_keyed(&mut log, &[("z", Some("more"))]);
        seal(&mut log);
        clean_at(&mut log, later(ms));
        let is_there = all(&log).iter().any(|(_, key, _)| key == "a");
        assert_eq!(
            is_there,
            round == 0,
            "the horizon was set once, by the first cleaning"
        );
    }
}

#[test]
fn tombstones_that_stay_for_ever_do() {
    let fixture = Fixture::new();
    let mut log = fixture.create(&LogConfig {
        delete_retention_ms: i64::MAX,
        ..compacted()
    });
    put_keyed(&mut log, &[("a", None)]);
    for _ in 0..3 {
        put_keyed(&mut log, &[("z", Some("more"))]);
        seal(&mut log);
        clean_at(&mut log, TimestampMs(i64::MAX - 1));
    }
    assert_eq!(all(&log)[0], (0, "a".into(), None));
}

#[test]
fn a_batch_of_which_all_stays_is_copied_byte_for_byte() {
    for compression in Compression::ALL {
        let fixture = Fixture::new();
        let mut log = fixture.create(&compacted());
        send(
            &mut log,
            keyed(compression, &[("a", Some("1")), ("b", Some("2"))])
                .build()
                .unwrap(),
        )
        .unwrap();
        seal(&mut log);
        let path = Path::new(DIR).join(file_names::with_offset(Offset(0), LOG));
        let before = fixture.disk.live_files()[&path].clone();
        clean(&mut log);
        assert_eq!(fixture.disk.live_files()[&path], before);
    }
}

#[test]
fn a_map_that_is_full_leaves_the_rest_to_the_next_cleaning() {
    let fixture = Fixture::new();
    let mut log = fixture.create(&compacted());
    for round in 0..3 {
        for key in ["a", "b", "c", "d", "e", "f", "g", "h"] {
            put_keyed(&mut log, &[(key, Some(&format!("{round}")))]);
        }
    }
    seal(&mut log);
    let little = CleanerMemory {
        map_bytes: 5 * 24,
        ..memory()
    };
    let mut ends = Vec::new();
    while let Some(cleaned) = clean_with(&mut log, NOW, little).unwrap() {
        assert!(cleaned.to > cleaned.from && cleaned.keys <= 4);
        ends.push(cleaned.to.get());
    }
    assert_eq!(ends, [4, 8, 12, 16, 20, 24]);
    let expected: Vec<_> = ["a", "b", "c", "d", "e", "f", "g", "h"]
        .iter()
        .zip(16..)
        .map(|(key, offset)| some(offset, key, "2"))
        .collect();
    assert_eq!(all(&log), expected);
}

#[test]
fn the_last_batch_of_a_producer_stays_without_its_records() {
    let fixture = Fixture::new();
    let mut log = fixture.create(&compacted());
    let last = |value| {
        let builder = keyed(Compression::Lz4, &[("a", Some(value)), ("b", Some(value))]);
        builder
            .producer(ProducerId(7), ProducerEpoch(0), BaseSequence(0))
            .build()
            .unwrap()
    };
    send(&mut log, last("retried")).unwrap();
    put_keyed(&mut log, &[("a", Some("2")), ("b", Some("2"))]);
    put_keyed(&mut log, &[("a", Some("3"))]);
    seal(&mut log);
    clean(&mut log);
    assert_eq!(all(&log), [some(3, "b", "2"), some(4, "a", "3")]);
    drop(log);
    // Without any snapshot the batches alone say what the producer wrote.
    for entry in fixture.disk.read_dir(Path::new(DIR)).unwrap() {
        if entry.name.to_string_lossy().ends_with(PRODUCER_SNAPSHOT) {
            fixture
                .disk
                .remove_file(&Path::new(DIR).join(entry.name))
                .unwrap();
        }
    }
    let mut log = fixture.open(&compacted(), 1);
    let appended = send(&mut log, last("retried")).unwrap();
    assert!(appended.is_duplicate);
    assert_eq!(appended.first_offset, Offset(0));
}

#[test]
fn transactions_and_their_markers_stay_and_hide_nothing() {
    let fixture = Fixture::new();
    let mut log = fixture.create(&compacted());
    put_keyed(&mut log, &[("a", Some("committed"))]);
    let of = |builder: BatchBuilder, sequence| {
        let (id, epoch) = (ProducerId(9), ProducerEpoch(0));
        builder
            .producer(id, epoch, BaseSequence(sequence))
            .transactional()
    };
    let coordinate = |log: &mut Log, builder: BatchBuilder| {
        let mut bytes = builder.build().unwrap();
        log.append(&mut bytes, AppendOrigin::Coordinator, LeaderEpoch(0), NOW)
            .unwrap();
    };
    coordinate(
        &mut log,
        of(keyed(Compression::None, &[("a", Some("aborted"))]), 0),
    );
    seal(&mut log);
    assert!(
        clean_with(&mut log, NOW, memory()).unwrap().is_none(),
        "a transaction is open"
    );
    coordinate(
        &mut log,
        of(
            keyed(Compression::None, &[("\0\0\0\0", Some("marker"))]),
            -1,
        )
        .control(),
    );
    put_keyed(&mut log, &[("b", Some("1"))]);
    seal(&mut log);
    clean(&mut log);
    let expected = [
        some(0, "a", "committed"),
        some(1, "a", "aborted"),
        some(3, "b", "1"),
    ];
    assert_eq!(all(&log), expected);
}

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

#[test]
fn a_damaged_segment_stops_the_cleaning_and_nothing_goes() {
    let fixture = Fixture::new();
    let mut log = fixture.create(&compacted());
    for i in 0..20 {
        put_keyed(&mut log, &[("a", Some(&format!("{i}")))]);
    }
    seal(&mut log);
    let path = log.segments[1].log_path();
    fixture.disk.corrupt(&path, 70, &[1]).unwrap();
    let before = fixture.disk.live_files();
    let error = clean_with(&mut log, NOW, memory()).unwrap_err();
    assert!(
        matches!(&error, CleanError::Corrupt { path: at, .. } if *at == path),
        "{error}"
    );
    assert!(!error.may_pass());
    assert_eq!(fixture.disk.live_files(), before);
    assert!(log.failure().is_none());
    fixture.disk.corrupt(&path, 70, &[1]).unwrap();
    clean(&mut log);
    assert_eq!(all(&log), [some(19, "a", "19")]);
}

#[test]
fn what_retention_takes_meanwhile_is_not_brought_back() {
    let fixture = Fixture::new();
    let mut log = fixture.create(&compacted());
    for i in 0..20 {
        put_keyed(&mut log, &[("a", Some(&format!("{i}")))]);
    }
    seal(&mut log);
    let mut cleaning = log.begin_cleaning(NOW, memory()).unwrap().unwrap();
    let second = log.segments[1].base_offset;
    let mut installs = 0;
    let result = cleaning.run(&mut |_| true, &mut |cleaned| {
        installs += 1;
        log.delete_records_before(second).unwrap();
        swap(&mut log, cleaned)
    });
    assert!(matches!(result, Err(CleanError::Overtaken)));
    assert_eq!(installs, 1);
    log.finish_cleaning(&cleaning);
    assert_eq!(all(&log).len() as i64, 20 - second.get());
    assert!(clean(&mut log).records_removed > 0);
    drop(log);
    assert_eq!(all(&fixture.open(&compacted(), 1)), [some(19, "a", "19")]);
}

#[test]
fn what_is_deleted_while_a_swap_is_decided_goes_behind_it() {
    for crashes in [false, true] {
        let fixture = Fixture::new();
        let mut log = fixture.create(&compacted());
        for i in 0..20 {
            put_keyed(&mut log, &[("a", Some(&format!("{i}")))]);
        }
        seal(&mut log);
        let mut cleaning = log.begin_cleaning(NOW, memory()).unwrap().unwrap();
        let mut is_first = true;
        let result = cleaning.run(&mut |_| true, &mut |cleaned| {
            let begun = log.begin_swap(cleaned)?;
            let decided = begun.decide();
            if std::mem::take(&mut is_first) {
                let segments = log.segments.len();
                log.delete_records_before(Offset(19)).unwrap();
                assert_eq!(log.segments.len(), segments, "they are being replaced");
                if crashes {
                    return Err(CleanError::Interrupted);
                }
            }
            log.install_cleaned(cleaned, &begun, decided)
        });
        assert_eq!(result.is_err(), crashes);
        if !crashes {
            log.finish_cleaning(&cleaning);
            log.apply_retention(NOW).unwrap();
            assert_eq!(all(&log), [some(19, "a", "19")]);
        }
        drop(log);
        let log = fixture.open(&compacted(), 1);
        assert_eq!(log.log_start_offset(), Offset(19));
        assert_eq!(all(&log), [some(19, "a", "19")]);
    }
}

#[test]
fn a_cleaning_that_is_stopped_leaves_the_log_as_it_is_so_far() {
    let fixture = Fixture::new();
    let mut log = fixture.create(&compacted());
    for i in 0..20 {
        put_keyed(&mut log, &[("a", Some(&format!("{i}")))]);
    }
    seal(&mut log);
    for allowed in 0.. {
        let Some(mut cleaning) = log.begin_cleaning(NOW, memory()).unwrap() else {
            break;
        };
        assert!(
            log.begin_cleaning(NOW, memory()).unwrap().is_none(),
            "one at a time"
        );
        let busy = log.truncate_to(Offset(1)).unwrap_err();
        assert!(matches!(busy, ChangeError::Io { .. }), "{busy}");
        let mut steps = 0;
        let mut pace = |_| {
            steps += 1;
            steps <= allowed
        };
        let result = cleaning.run(&mut pace, &mut |cleaned| swap(&mut log, cleaned));
        log.finish_cleaning(&cleaning);
        assert!(result.is_ok() || matches!(result, Err(CleanError::Interrupted)));
        assert_eq!(all(&log).last(), Some(&some(19, "a", "19")));
    }
    assert_eq!(all(&log), [some(19, "a", "19")]);
}

#[test]
fn what_is_appended_behind_a_cut_is_dirty() {
    let fixture = Fixture::new();
    let mut log = fixture.create(&compacted());
    put_keyed(&mut log, &[("a", Some("1"))]);
    put_keyed(&mut log, &[("b", Some("1"))]);
    seal(&mut log);
    clean(&mut log);
    log.truncate_to(Offset(1)).unwrap();
    for _ in 0..2 {
        put_keyed(&mut log, &[("a", Some("2"))]);
    }
    seal(&mut log);
    clean(&mut log);
    assert_eq!(all(&log), [some(2, "a", "2")]);
}

#[test]
fn a_full_disk_stops_a_cleaning_and_nothing_else() {
    for free in (0..3000).step_by(50) {
        let fixture = Fixture::new();
        let mut log = fixture.create(&compacted());
        for i in 0..20 {
            put_keyed(
                &mut log,
                &[("a", Some(&format!("{i}"))), (&format!("{i}"), Some("x"))],
            );
        }
        seal(&mut log);
        let before = all(&log);
        fixture.disk.set_free_bytes(Some(free));
        let result = clean_with(&mut log, NOW, memory());
        if let Err(error) = &result {
            assert!(error.may_pass(), "{error}");
            assert!(all(&log).len() <= before.len());
        }
        assert!(log.failure().is_none());
        fixture.disk.set_free_bytes(None);
        if result.is_err() {
            clean(&mut log);
        }
        assert_eq!(all(&log).len(), 21);
        drop(log);
        assert_eq!(all(&fixture.open(&compacted(), 1)).len(), 21);
    }
}

#[test]
fn a_missing_segment_shows_in_a_compacted_log_too() {
    let fixture = Fixture::new();
    let mut log = fixture.create(&compacted());
    for i in 0..40 {
        put_keyed(&mut log, &[("a", Some(&format!("{i}")))]);
        if i % 8 == 0 {
            put_keyed(&mut log, &[(&format!("key {i}"), Some(&"x".repeat(300)))]);
        }
    }
    seal(&mut log);
    clean(&mut log);
    assert!(log.segment_count() > 3);
    let path = log.segments[1].log_path();
    log.close().unwrap();
    fixture.disk.remove_file(&path).unwrap();
    let error = fixture.try_open(&compacted(), false, 1).unwrap_err();
    assert!(matches!(error, OpenLogError::Corrupt { .. }), "{error}");
}

#[test]
fn a_damaged_state_of_compaction_is_an_error_and_deletes_nothing() {
    let fixture = Fixture::new();
    let mut log = fixture.create(&compacted());
    for i in 0..20 {
        put_keyed(&mut log, &[("a", Some(&format!("{i}")))]);
    }
    seal(&mut log);
    clean(&mut log);
    log.close().unwrap();
    let path = Path::new(DIR).join(file_names::COMPACTION_STATE);
    fixture.disk.corrupt(&path, 9, &[1]).unwrap();
    let before = fixture.disk.live_files();
    let error = fixture.try_open(&compacted(), true, 1).unwrap_err();
    assert!(error.to_string().contains("compaction-state"), "{error}");
    assert_eq!(fixture.disk.live_files(), before);
    // The other checkpoint only costs work.
    fixture.disk.corrupt(&path, 9, &[1]).unwrap();
    let path = Path::new(DIR).join(file_names::CLEANER_OFFSET_CHECKPOINT);
    fixture.disk.corrupt(&path, 2, &[0x40]).unwrap();
    let mut log = fixture.open(&compacted(), 1);
    assert_eq!(clean(&mut log).from, Offset(0));
    assert_eq!(all(&log), [some(19, "a", "19")]);
}
