//! Cleaning: what stays, where, and that nothing else changes.

use super::*;
use crate::compaction::{CleanError, Cleaned, CleanedSegment, CleanerMemory};
use crate::formats::file_names::{LOG, PRODUCER_SNAPSHOT};

pub(super) const HOUR_MS: i64 = 60 * 60 * 1000;

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

pub(super) fn clean_at(log: &mut Log, now: TimestampMs) -> Cleaned {
    clean_with(log, now, memory()).unwrap().unwrap()
}

pub(super) fn clean(log: &mut Log) -> Cleaned {
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

pub(super) fn put_keyed(log: &mut Log, records: &[(&str, Option<&str>)]) -> Offset {
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

pub(super) fn seen(bytes: &[u8], out: &mut Vec<Seen>) {
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

pub(super) fn some(offset: i64, key: &str, value: &str) -> Seen {
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
