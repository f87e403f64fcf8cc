use super::*;
use crate::error::ChangeError;

fn values_of(log: &Log) -> Vec<i64> {
    let all = read_all(log, log.log_start_offset(), log.log_end_offset());
    all.into_iter().map(|(offset, _)| offset).collect()
}

/// `count` records, one in each batch, each a second after the other.
fn filled(fixture: &Fixture, config: &LogConfig, count: i64) -> Log {
    let mut log = fixture.create(config);
    for i in 0..count {
        send(&mut log, batch(&[(i * 1000, "some value")])).unwrap();
    }
    sync(&mut log).unwrap();
    log
}

#[test]
fn a_log_is_created_once_and_a_half_made_one_is_completed() {
    let fixture = Fixture::new();
    let log = fixture.create(&small());
    assert_eq!(log.topic_id(), Some(TopicId(Uuid::from_u128(7))));
    drop(log);
    assert!(matches!(
        fixture.try_create(&small()),
        Err(OpenLogError::Exists { .. })
    ));
    fixture.disk.crash(1);
    assert!(Log::exists(&fixture.environment, Path::new(DIR)).unwrap());
    assert_eq!(
        fixture.open(&small(), 1).topic_id(),
        Some(TopicId(Uuid::from_u128(7)))
    );
}

#[test]
fn a_full_disk_does_not_keep_segments_from_going() {
    let fixture = Fixture::new();
    let mut log = filled(&fixture, &small(), 120);
    let segments = log.segment_count();
    fixture.disk.set_free_bytes(Some(0));
    assert_eq!(log.delete_records_before(Offset(100)).unwrap(), Offset(100));
    assert!(log.segment_count() < segments);
    drop(log);
    fixture.disk.crash(1);
    assert_eq!(fixture.open(&small(), 1).log_start_offset(), Offset(100));
}

#[test]
fn a_log_that_lost_its_metadata_is_not_taken_for_a_new_one() {
    let fixture = Fixture::new();
    let mut log = filled(&fixture, &small(), 120);
    log.delete_records_before(Offset(100)).unwrap();
    drop(log);
    let metadata = Path::new(DIR).join(file_names::PARTITION_METADATA);
    fixture.disk.remove_file(&metadata).unwrap();
    let before = fixture.disk.live_files();
    let error = fixture.try_create(&small()).unwrap_err();
    assert!(
        error.to_string().contains("partition.metadata is missing"),
        "{error}"
    );
    assert_eq!(fixture.disk.live_files(), before);
}

#[test]
fn truncation_keeps_whole_batches_below_the_offset() {
    let fixture = Fixture::new();
    for to in [0, 1, 17, 49, 50] {
        let fixture = Fixture::on(fixture.disk.fork());
        let mut log = filled(&fixture, &small(), 50);
        log.truncate_to(Offset(to)).unwrap();
        assert_eq!(values_of(&log), (0..to).collect::<Vec<_>>());
        assert_eq!(log.durable_offset(), Offset(to));
        let mut other = batch(&[(0, "other")]);
        log.append(&mut other, AppendOrigin::Client, LeaderEpoch(1), NOW)
            .unwrap();
        sync(&mut log).unwrap();
        drop(log);
        fixture.disk.crash(3);
        let log = fixture.open(&small(), 2);
        assert_eq!(log.log_end_offset(), Offset(to + 1));
        assert_eq!(read_all(&log, Offset(to), Offset(to + 1))[0].1, "other");
        if to > 0 {
            assert_eq!(
                log.offset_for_leader_epoch(LeaderEpoch(0)),
                Some((LeaderEpoch(0), Offset(to)))
            );
        }
    }
}

#[test]
fn truncation_is_whole_at_every_operation() {
    for operation in 0.. {
        let fixture = Fixture::new();
        let mut log = filled(&fixture, &small(), 120);
        fixture.disk.crash_at(operation);
        let _ = log.truncate_to(Offset(10));
        if !fixture.disk.is_crashed() {
            assert!(operation > 10);
            break;
        }
        for seed in 0..4 {
            let disk = fixture.disk.fork();
            disk.crash(seed);
            let log = Fixture::on(disk).open(&small(), 1);
            let end = log.log_end_offset().get();
            assert!((10..=120).contains(&end));
            assert_eq!(values_of(&log), (0..end).collect::<Vec<_>>());
        }
    }
}

#[test]
fn deleted_records_are_gone_for_good() {
    let fixture = Fixture::new();
    let mut log = filled(&fixture, &small(), 120);
    put(&mut log, "not durable");
    let error = log.delete_records_before(Offset(121)).unwrap_err();
    assert!(matches!(
        error,
        ChangeError::OffsetOutOfRange {
            high_watermark: Offset(120),
            ..
        }
    ));
    assert_eq!(log.delete_records_before(Offset(70)).unwrap(), Offset(70));
    assert_eq!(log.delete_records_before(Offset(5)).unwrap(), Offset(70));
    assert_eq!(values_of(&log), (70..121).collect::<Vec<_>>());
    let before = log.segment_count();
    drop(log);
    fixture.disk.crash(1);
    let mut log = fixture.open(&small(), 1);
    assert_eq!(log.log_start_offset(), Offset(70));
    assert_eq!(log.segment_count(), before);
    let end = log.log_end_offset();
    log.delete_records_before(end).unwrap();
    assert_eq!(values_of(&log), Vec::<i64>::new());
    assert_eq!(put(&mut log, "after"), end);
}

#[test]
fn retention_by_size_removes_whole_segments_beyond_the_limit() {
    let fixture = Fixture::new();
    let config = LogConfig {
        retention_bytes: 5000,
        retention_ms: -1,
        ..small()
    };
    let mut log = filled(&fixture, &config, 150);
    let size = log.size_bytes();
    let retained = log.apply_retention(NOW).unwrap();
    assert!(retained.deleted_segments > 0);
    assert_eq!(retained.deleted_bytes, size - log.size_bytes());
    assert_eq!(retained.log_start_offset, log.log_start_offset());
    assert_eq!(retained.deleted_offsets, log.log_start_offset().get());
    assert!(
        (5000..9100).contains(&log.size_bytes()),
        "{}",
        log.size_bytes()
    );
    assert_eq!(log.apply_retention(NOW).unwrap().deleted_segments, 0);
    let start = log.log_start_offset();
    drop(log);
    fixture.disk.crash(2);
    assert_eq!(fixture.open(&config, 1).log_start_offset(), start);
}

#[test]
fn retention_by_time_goes_by_the_largest_timestamp_and_rolls_the_last_segment() {
    let fixture = Fixture::new();
    let config = LogConfig {
        retention_ms: 10_000,
        ..small()
    };
    let mut log = filled(&fixture, &config, 150);
    let at = |seconds: i64| TimestampMs(NOW.get() + seconds * 1000);
    assert_eq!(log.apply_retention(at(10)).unwrap().deleted_segments, 0);
    log.apply_retention(at(100)).unwrap();
    let start = log.log_start_offset().get();
    assert!(start > 0 && start < 91, "{start}");
    put(&mut log, "not durable");
    log.apply_retention(at(10_000)).unwrap();
    assert_eq!(log.log_end_offset(), Offset(151));
    assert_eq!(
        values_of(&log).last(),
        Some(&150),
        "what is not durable stays"
    );
    sync(&mut log).unwrap();
    log.apply_retention(at(10_000)).unwrap();
    assert_eq!(log.log_start_offset(), Offset(151));
    assert_eq!(log.size_bytes(), 0);
    assert_eq!(log.apply_retention(at(20_000)).unwrap().deleted_segments, 0);
    assert_eq!(put(&mut log, "on"), Offset(151));
    sync(&mut log).unwrap();
    drop(log);
    fixture.disk.crash(4);
    assert_eq!(values_of(&fixture.open(&config, 1)), [151]);
    let mut kept = filled(
        &Fixture::new(),
        &LogConfig {
            is_deleted_by_retention: false,
            ..config
        },
        150,
    );
    assert_eq!(
        kept.apply_retention(at(10_000)).unwrap().deleted_segments,
        0
    );
}

#[test]
fn a_segment_is_rolled_by_time_and_by_its_index() {
    let fixture = Fixture::new();
    let config = LogConfig {
        segment_ms: 5000,
        ..LogConfig::default()
    };
    let mut log = filled(&fixture, &config, 13);
    assert_eq!(log.segment_count(), 3, "0 to 5 s, 6 to 11 s, 12 s");
    assert!(!log.roll_if_due(TimestampMs(NOW.get() + 17_000)).unwrap());
    assert!(log.roll_if_due(TimestampMs(NOW.get() + 17_001)).unwrap());
    assert!(
        !log.roll_if_due(TimestampMs(NOW.get() + 99_000)).unwrap(),
        "it is empty"
    );
    let fixture = Fixture::new();
    let config = LogConfig {
        segment_index_bytes: 80,
        ..small()
    };
    let log = filled(&fixture, &config, 30);
    assert!(log.segment_count() >= 3, "{}", log.segment_count());
}
