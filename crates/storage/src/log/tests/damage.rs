//! Bytes on the disk are changed behind the log's back.

use super::*;
use crate::error::ReadError;
use crate::formats::file_names::{self, LOG, OFFSET_INDEX, PRODUCER_SNAPSHOT, TIME_INDEX};
use std::path::PathBuf;

fn path(base_offset: i64, suffix: &str) -> PathBuf {
    Path::new(DIR).join(file_names::with_offset(Offset(base_offset), suffix))
}

fn bytes_of(disk: &SimulatedDisk, path: &Path) -> Vec<u8> {
    disk.live_files()[path].clone()
}

/// Twelve batches, the first six of them synced; answers where each ends.
fn half_synced(fixture: &Fixture) -> Vec<u64> {
    let mut log = fixture.create(&LogConfig::default());
    let mut ends = Vec::new();
    for i in 0..12 {
        put(&mut log, &format!("record {i} {}", "y".repeat(i * 7)));
        ends.push(log.size_bytes());
        if i == 5 {
            sync(&mut log).unwrap();
        }
    }
    ends
}

#[test]
fn a_tail_torn_at_any_byte_is_cut_to_the_longest_prefix_of_whole_batches() {
    let fixture = Fixture::new();
    let ends = half_synced(&fixture);
    let size = *ends.last().unwrap();
    let whole = bytes_of(&fixture.disk, &path(0, LOG));
    for cut in ends[5]..size {
        for is_zeroed in [false, true] {
            let disk = fixture.disk.fork();
            let file = disk
                .open(&path(0, LOG), fanlog_environment::OpenMode::ReadWrite)
                .unwrap();
            file.set_len(cut).unwrap();
            if is_zeroed {
                file.set_len(size).unwrap();
            }
            disk.restart();
            // A record ends with a zero: zeroing it changes nothing.
            let left = bytes_of(&disk, &path(0, LOG));
            let same = whole.iter().zip(&left).take_while(|(a, b)| a == b).count() as u64;
            let expected = ends.iter().filter(|end| **end <= same).count() as i64;
            let fixture = Fixture::on(disk);
            let mut log = fixture.open(&LogConfig::default(), 1);
            assert_eq!(log.log_end_offset(), Offset(expected), "cut at {cut}");
            assert_eq!(put(&mut log, "next"), Offset(expected));
            sync(&mut log).unwrap();
            fixture.disk.crash(1);
            let log = fixture.open(&LogConfig::default(), 2);
            assert_eq!(log.log_end_offset(), Offset(expected + 1));
        }
    }
}

#[test]
fn durable_bytes_that_are_missing_or_damaged_stop_the_log_and_nothing_is_cut() {
    let fixture = Fixture::new();
    let ends = half_synced(&fixture);
    let check = |disk: SimulatedDisk, what: &str| {
        disk.restart();
        let before = disk.live_files();
        let fixture = Fixture::on(disk);
        let error = fixture
            .try_open(&LogConfig::default(), false, 1)
            .unwrap_err();
        assert!(
            matches!(error, OpenLogError::Corrupt { .. }),
            "{what}: {error}"
        );
        assert_eq!(fixture.disk.live_files(), before, "{what}");
    };
    for cut in 0..ends[5] {
        let disk = fixture.disk.fork();
        let file = disk
            .open(&path(0, LOG), fanlog_environment::OpenMode::ReadWrite)
            .unwrap();
        file.set_len(cut).unwrap();
        check(disk, &format!("cut at {cut}"));
    }
    for byte in 0..ends[5] {
        // The leader epoch lies outside the checksum, and any value is one.
        let start = ends
            .iter()
            .rev()
            .find(|end| **end <= byte)
            .copied()
            .unwrap_or(0);
        if (12..16).contains(&(byte - start)) {
            continue;
        }
        let disk = fixture.disk.fork();
        disk.corrupt(&path(0, LOG), byte, &[0x10]).unwrap();
        check(disk, &format!("flipped bit in byte {byte}"));
    }
    let disk = fixture.disk.fork();
    disk.remove_file(&path(0, LOG)).unwrap();
    check(disk, "removed");
}

#[test]
fn a_flipped_bit_before_a_whole_batch_is_damage_and_not_a_torn_tail() {
    let fixture = Fixture::new();
    let ends = half_synced(&fixture);
    // Nothing says any more how far the log was durable; the bytes do.
    fixture
        .disk
        .corrupt(&Path::new(DIR).join(file_names::RECOVERY_MARK), 5, &[1])
        .unwrap();
    fixture.disk.restart();
    let check = |byte: u64, is_damage: bool| {
        let disk = fixture.disk.fork();
        // Not behind the log's back: these bytes are not on the disk yet.
        let flipped = bytes_of(&disk, &path(0, LOG))[usize::try_from(byte).unwrap()] ^ 0x10;
        let file = disk
            .open(&path(0, LOG), fanlog_environment::OpenMode::ReadWrite)
            .unwrap();
        file.write_all_at(&[flipped], byte).unwrap();
        let opened = Fixture::on(disk).try_open(&LogConfig::default(), false, 1);
        assert_eq!(opened.is_err(), is_damage, "byte {byte}");
    };
    check(ends[7] + 80, true);
    check(ends[7] + 10, true);
    check(ends[10] + 80, false);
}

/// Several sealed segments, closed in order.
fn sealed(fixture: &Fixture) -> Vec<Offset> {
    let mut log = fixture.create(&small());
    for i in 0..120 {
        let value = format!("record {i}");
        let builder = builder(Compression::None, &[(i, &value)]);
        let sequence = BaseSequence(i32::try_from(i).unwrap());
        let bytes = builder
            .producer(ProducerId(7), ProducerEpoch(0), sequence)
            .build()
            .unwrap();
        send(&mut log, bytes).unwrap();
    }
    let bases = log.segments.iter().map(|s| s.base_offset).collect();
    log.close().unwrap();
    bases
}

fn check_whole(log: &mut Log) {
    let all = read_all(log, Offset(0), Offset(120));
    assert_eq!(all.len(), 120);
    for i in 0..120 {
        assert_eq!(all[usize::try_from(i).unwrap()], (i, format!("record {i}")));
        let time = TimestampMs(NOW.get() + i);
        let found = log
            .offset_for_timestamp(time, Offset(120))
            .unwrap()
            .unwrap();
        assert_eq!(found.offset, Offset(i));
    }
    let latest = log.max_timestamp_offset(Offset(120)).unwrap().unwrap();
    assert_eq!(latest.offset, Offset(119));
    for i in 115..120 {
        let value = format!("record {i}");
        let builder = builder(Compression::None, &[(i, &value)]);
        let sequence = BaseSequence(i32::try_from(i).unwrap());
        let bytes = builder
            .producer(ProducerId(7), ProducerEpoch(0), sequence)
            .build()
            .unwrap();
        assert!(send(log, bytes).unwrap().is_duplicate);
    }
}

#[test]
fn a_damaged_or_missing_index_snapshot_or_checkpoint_is_built_anew() {
    let fixture = Fixture::new();
    let bases = sealed(&fixture);
    let last = bases[bases.len() - 1].get();
    let checkpoint = Path::new(DIR).join(file_names::LEADER_EPOCH_CHECKPOINT);
    let mark = Path::new(DIR).join(file_names::RECOVERY_MARK);
    let mut files = vec![checkpoint, mark, path(120, PRODUCER_SNAPSHOT)];
    for base in [bases[0].get(), bases[1].get(), last] {
        files.extend([path(base, OFFSET_INDEX), path(base, TIME_INDEX)]);
    }
    files.push(path(last, PRODUCER_SNAPSHOT));
    for file in &files {
        let length = bytes_of(&fixture.disk, file).len() as u64;
        let step = (length / 40).max(1);
        for clean in [true, false] {
            for byte in (0..length).step_by(usize::try_from(step).unwrap()) {
                for mask in [0x01, 0x80] {
                    let disk = fixture.disk.fork();
                    disk.corrupt(file, byte, &[mask]).unwrap();
                    check_whole(&mut Fixture::on(disk).try_open(&small(), clean, 1).unwrap());
                }
            }
            let disk = fixture.disk.fork();
            disk.remove_file(file).unwrap();
            check_whole(&mut Fixture::on(disk).try_open(&small(), clean, 1).unwrap());
            let disk = fixture.disk.fork();
            let open = disk
                .open(file, fanlog_environment::OpenMode::ReadWrite)
                .unwrap();
            open.set_len(length / 2 + 1).unwrap();
            check_whole(&mut Fixture::on(disk).try_open(&small(), clean, 1).unwrap());
        }
    }
}

#[test]
fn a_damaged_sealed_segment_gives_errors_there_and_records_elsewhere() {
    let fixture = Fixture::new();
    let bases = sealed(&fixture);
    assert!(bases.len() > 2);
    let damaged = path(bases[1].get(), LOG);
    let whole = bytes_of(&fixture.disk, &damaged);
    let length = whole.len() as u64;
    let lengths = BatchView::parse_all(&whole).map(|batch| batch.unwrap().total_len() as u64);
    let starts: Vec<u64> = lengths
        .scan(0, |at, length| Some(std::mem::replace(at, *at + length)))
        .collect();
    let limit = |below: Offset| ReadLimit {
        max_bytes: 1,
        min_one_batch: true,
        below,
    };
    for byte in (0..length).step_by(37) {
        let disk = fixture.disk.fork();
        disk.corrupt(&damaged, byte, &[0x20]).unwrap();
        let before = disk.live_files();
        let fixture = Fixture::on(disk);
        let Ok(log) = fixture.try_open(&small(), true, 1) else {
            panic!("a clean start looks at the last segment only");
        };
        let mut errors = 0;
        for offset in 0..120 {
            let offset = Offset(offset);
            let read = log.read(offset, limit(Offset(120)));
            let is_elsewhere = offset < bases[1] || offset >= bases[2];
            let bytes = match read {
                Ok(plan) => plan.read().map(|bytes| bytes.concat()),
                Err(ReadError::Corrupt { .. }) => {
                    assert!(!is_elsewhere);
                    errors += 1;
                    continue;
                }
                Err(error) => panic!("{error}"),
            };
            let bytes = match bytes {
                Ok(bytes) => bytes,
                Err(error) => {
                    assert!(!is_elsewhere);
                    let name = damaged.file_name().unwrap().to_str().unwrap();
                    assert!(error.to_string().contains(name), "{error}");
                    errors += 1;
                    continue;
                }
            };
            let mut records = Vec::new();
            values(&bytes, &mut records);
            assert!(records.contains(&(offset.get(), format!("record {offset}"))));
        }
        // The leader epoch is the one field that no checksum covers.
        let is_epoch = starts
            .iter()
            .any(|start| (start + 12..start + 16).contains(&byte));
        assert!(errors > 0 || is_epoch, "byte {byte}");
        let after = fixture.disk.live_files();
        assert_eq!(
            after[&damaged], before[&damaged],
            "nothing is cut or deleted"
        );
    }
}

#[test]
fn a_missing_segment_stops_the_log() {
    let fixture = Fixture::new();
    let bases = sealed(&fixture);
    for base in [bases[0], bases[1]] {
        let disk = fixture.disk.fork();
        disk.remove_file(&path(base.get(), LOG)).unwrap();
        let error = Fixture::on(disk).try_open(&small(), false, 1).unwrap_err();
        assert!(matches!(error, OpenLogError::Corrupt { .. }), "{error}");
    }
}

#[test]
fn an_unreadable_log_start_stops_the_log() {
    let fixture = Fixture::new();
    let mut log = fixture.create(&small());
    put(&mut log, "a");
    sync(&mut log).unwrap();
    log.delete_records_before(Offset(1)).unwrap();
    let file = Path::new(DIR).join(file_names::LOG_START_OFFSET_CHECKPOINT);
    fixture.disk.corrupt(&file, 0, &[0xff]).unwrap();
    let error = fixture.try_open(&small(), false, 1).unwrap_err();
    assert!(
        error.to_string().contains("log-start-offset-checkpoint"),
        "{error}"
    );
}

#[test]
fn a_damaged_offset_where_holes_are_allowed_is_an_error_and_no_panic() {
    let config = LogConfig {
        is_compacted: true,
        ..small()
    };
    let fixture = Fixture::new();
    let mut log = fixture.create(&config);
    let mut ends = vec![0];
    while log.segment_count() == 1 {
        put(&mut log, "some value");
        ends.push(log.size_bytes());
    }
    let next_segment = log.log_end_offset().get() - 1;
    log.close().unwrap();
    // The last batch of the first segment begins where the one before ended.
    let position = ends[ends.len() - 3];
    fixture
        .disk
        .corrupt(&path(0, LOG), position, &[0x40])
        .unwrap();
    for suffix in [OFFSET_INDEX, TIME_INDEX] {
        fixture.disk.remove_file(&path(0, suffix)).unwrap();
    }
    let log = fixture.open_clean(&config, 1);
    let limit = ReadLimit {
        max_bytes: 1000,
        min_one_batch: true,
        below: log.log_end_offset(),
    };
    let error = log.read(Offset(0), limit).unwrap_err();
    assert!(matches!(error, ReadError::Corrupt { .. }), "{error}");
    assert!(log.read(Offset(next_segment), limit).is_ok());
}
