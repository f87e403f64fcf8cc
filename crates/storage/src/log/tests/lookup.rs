use super::*;
use fanlog_environment::RealDisk;
use fanlog_protocol::records::TimestampType;
use uuid::Uuid;

fn found(found: Option<crate::types::TimestampOffset>) -> Option<(i64, i64)> {
    found.map(|f| (f.offset.get(), f.timestamp.get() - NOW.get()))
}

/// The times of 240 records, neither rising nor falling, some of them equal.
fn times() -> Vec<i64> {
    (0..240)
        .map(|i: i64| i * 10 + (i * 7919) % 601 - 300)
        .collect()
}

fn filled(fixture: &Fixture, compression: Compression) -> Log {
    let mut log = fixture.create(&small());
    for chunk in times().chunks(4) {
        let records: Vec<Record<'_>> = chunk.iter().map(|ms| (*ms, "some value")).collect();
        send(&mut log, builder(compression, &records).build().unwrap()).unwrap();
    }
    assert!(log.segment_count() > 1);
    log
}

fn check_all(log: &Log) {
    let start = log.log_start_offset().get();
    for below in [1, 57, 130, 240] {
        for timestamp in (-400..2800).step_by(7) {
            let expected = times()
                .into_iter()
                .enumerate()
                .map(|(i, ms)| (i as i64, ms))
                .find(|(i, ms)| *ms >= timestamp && *i >= start && *i < below);
            let wanted = TimestampMs(NOW.get() + timestamp);
            let result = log.offset_for_timestamp(wanted, Offset(below)).unwrap();
            assert_eq!(found(result), expected, "{timestamp} below {below}");
        }
    }
}

#[test]
fn a_time_finds_the_first_record_that_is_not_earlier() {
    for compression in [Compression::None, Compression::Lz4] {
        let fixture = Fixture::new();
        let mut log = filled(&fixture, compression);
        check_all(&log);
        sync(&mut log).unwrap();
        log.delete_records_before(Offset(42)).unwrap();
        check_all(&log);
        log.close().unwrap();
        let log = fixture.open_clean(&small(), 1);
        check_all(&log);
        drop(log);
        check_all(&fixture.open(&small(), 2));
    }
}

#[test]
fn the_latest_time_finds_its_first_record() {
    let fixture = Fixture::new();
    let log = filled(&fixture, Compression::None);
    for below in [4, 56, 120, 240] {
        let all = &times()[..below];
        let max = *all.iter().max().unwrap();
        let first = all.iter().position(|ms| *ms == max).unwrap();
        let result = log.max_timestamp_offset(Offset(below as i64)).unwrap();
        assert_eq!(found(result), Some((first as i64, max)), "below {below}");
    }
    assert_eq!(log.max_timestamp_offset(Offset(0)).unwrap(), None);
    let empty = Fixture::new().create(&small());
    assert_eq!(empty.max_timestamp_offset(Offset(0)).unwrap(), None);
    assert_eq!(empty.offset_for_timestamp(NOW, Offset(0)).unwrap(), None);
}

#[test]
fn with_log_append_time_all_records_of_a_batch_have_one_time() {
    let fixture = Fixture::new();
    let config = LogConfig {
        timestamp_type: TimestampType::LogAppendTime,
        ..small()
    };
    let mut log = fixture.create(&config);
    for i in 0..3 {
        let mut bytes = batch(&[(-50, "a"), (50, "b")]);
        let now = TimestampMs(NOW.get() + i);
        log.append(&mut bytes, AppendOrigin::Client, LeaderEpoch(0), now)
            .unwrap();
    }
    let at = |ms| {
        found(
            log.offset_for_timestamp(TimestampMs(NOW.get() + ms), Offset(6))
                .unwrap(),
        )
    };
    assert_eq!([at(-50), at(1), at(3)], [Some((0, 0)), Some((2, 1)), None]);
    assert_eq!(
        found(log.max_timestamp_offset(Offset(6)).unwrap()),
        Some((4, 2))
    );
}

#[test]
fn an_epoch_ends_where_the_next_begins_also_after_restarts() {
    let fixture = Fixture::new();
    let mut log = fixture.create(&small());
    assert_eq!(
        log.offset_for_leader_epoch(LeaderEpoch(0)),
        Some((LeaderEpoch(0), Offset(0)))
    );
    put(&mut log, "a");
    log.close().unwrap();
    let mut log = fixture.open_clean(&small(), 3);
    put(&mut log, "b");
    put(&mut log, "c");
    sync(&mut log).unwrap();
    drop(log);
    fixture.disk.crash(3);
    let log = fixture.open(&small(), 5);
    let end = |epoch| {
        log.offset_for_leader_epoch(LeaderEpoch(epoch))
            .map(|(e, o)| (e.get(), o.get()))
    };
    assert_eq!(end(0), Some((0, 1)));
    assert_eq!(end(2), Some((0, 1)));
    assert_eq!(end(3), Some((3, 3)));
    assert_eq!(end(4), Some((3, 3)));
    assert_eq!(end(5), Some((5, 3)));
    assert_eq!(end(6), None);
    assert_eq!(log.leader_epoch_at(Offset(2)), LeaderEpoch(3));
    assert_eq!(log.leader_epoch_at(Offset(3)), LeaderEpoch(5));
}

#[test]
fn a_search_goes_on_beside_appends_and_writes_nothing() {
    let fixture = Fixture::new();
    let mut log = filled(&fixture, Compression::None);
    sync(&mut log).unwrap();
    let all = log.log_end_offset();
    let search = log.time_search(all);
    // What comes later is not in it, whatever becomes of the segments.
    for _ in 0..200 {
        put(&mut log, "later");
    }
    assert_eq!(
        found(search.latest().unwrap()),
        found(log.max_timestamp_offset(all).unwrap())
    );
    sync(&mut log).unwrap();
    log.close().unwrap();
    let mut log = fixture.open_clean(&small(), 1);
    let search = log.time_search(all);
    log.delete_records_before(all).unwrap();
    let before = fixture.disk.live_files();
    let gone = search.first_at(TimestampMs(0)).unwrap_err();
    let is_missing = |error| match error {
        crate::error::ReadError::Io { source, .. } => source.kind() == std::io::ErrorKind::NotFound,
        _ => false,
    };
    assert!(is_missing(gone));
    assert_eq!(fixture.disk.live_files(), before);
}

#[test]
fn a_lookup_over_all_segments_leaves_few_files_open() {
    let folder = tempfile::tempdir().unwrap();
    let disk = RealDisk::open(folder.path()).unwrap().with_files_max(8);
    let environment = Environment {
        disk: Arc::new(disk),
        ..Fixture::new().environment
    };
    let config = LogConfig {
        segment_bytes: 200,
        ..small()
    };
    let id = TopicId(Uuid::from_u128(7));
    let dir = Path::new(DIR);
    let mut log = Log::create(&environment, dir, id, config.clone(), LeaderEpoch(0)).unwrap();
    for i in 0..40 {
        let value = "a segment each, with some more bytes, so that it is one";
        send(&mut log, batch(&[(5_000 + i, value)])).unwrap();
    }
    assert!(log.segment_count() > 20);
    sync(&mut log).unwrap();
    log.close().unwrap();
    let mode = RecoveryMode { clean: true };
    let mut log = Log::open(&environment, dir, config, mode, LeaderEpoch(1)).unwrap();
    let open = |log: &Log| log.segments.iter().filter(|s| s.has_open_file()).count();
    let latest = log.max_timestamp_offset(log.log_end_offset()).unwrap();
    assert_eq!(found(latest), Some((39, 5_039)));
    assert!((1..=8).contains(&open(&log)), "{}", open(&log));
    log.apply_retention(NOW).unwrap();
    for offset in 0..40 {
        let limit = ReadLimit {
            max_bytes: 1,
            min_one_batch: true,
            below: log.log_end_offset(),
        };
        assert!(log.read(Offset(offset), limit).unwrap().bytes() > 0);
        assert!((1..=8).contains(&open(&log)), "{}", open(&log));
    }
}
