//! A script on a log is cut off after each of its disk operations, by a power cut or by `kill -9`; what was promised must hold.

use super::*;
use fanlog_environment::OpenMode;
use fanlog_environment::simulated::FailedSync;

/// What the outside was told, and what it tried.
#[derive(Default)]
struct Promises {
    /// Every value appended, by offset; a later one replaces an earlier one at the same offset, which nobody saw.
    tried: Vec<String>,
    /// All below was acknowledged, and seen by consumers.
    durable: i64,
    /// All below was deleted, and answered as such.
    start: i64,
    run: u32,
}

impl Promises {
    fn append(&mut self, log: &mut Log) -> Result<(), ()> {
        let at = log.log_end_offset().get();
        let length = [3, 40, 700][usize::try_from(at % 3).unwrap()];
        let value = format!("run {} offset {at} {}", self.run, "x".repeat(length));
        self.tried.truncate(usize::try_from(at).unwrap());
        self.tried.push(value.clone());
        let sequence = i32::try_from(at).unwrap();
        let (id, epoch) = (ProducerId(7), ProducerEpoch(0));
        let builder = builder(Compression::None, &[(at, &value)]);
        let bytes = builder
            .producer(id, epoch, BaseSequence(sequence))
            .build()
            .unwrap();
        send(log, bytes).map(|_| ()).map_err(|_| ())
    }

    fn sync(&mut self, log: &mut Log) -> Result<(), ()> {
        let durable = sync(log).map_err(|_| ())?;
        assert!(durable.get() >= self.durable, "the high watermark falls");
        self.durable = durable.get();
        Ok(())
    }

    fn check(&self, log: &Log) {
        let (start, end) = (log.log_start_offset(), log.log_end_offset());
        assert!(
            end.get() >= self.durable,
            "{} was acknowledged, the log ends at {end}",
            self.durable
        );
        assert!(start.get() >= self.start && start <= end);
        assert_eq!(log.durable_offset(), end, "what a restart finds is durable");
        let records = read_all(log, start, end);
        assert_eq!(records.len() as i64, end.get() - start.get());
        for (offset, value) in records {
            assert_eq!(value, self.tried[usize::try_from(offset).unwrap()]);
        }
        if end > Offset(0) && end > start {
            let last = NOW.get() + end.get() - 1;
            let found = log
                .offset_for_timestamp(TimestampMs(last), end)
                .unwrap()
                .unwrap();
            assert_eq!(found.offset.get(), end.get() - 1);
            let producer = log.active_producers()[0];
            assert_eq!(i64::from(producer.last_sequence), end.get() - 1);
        }
    }

    /// Everything that a log does, in a small space. Ends at the first error.
    fn script(&mut self, fixture: &Fixture) -> Result<(), ()> {
        let mut log = fixture.try_create(&tiny()).map_err(|_| ())?;
        for round in 0..4 {
            for _ in 0..3 {
                self.append(&mut log)?;
            }
            self.sync(&mut log)?;
            self.append(&mut log)?;
            if round == 1 {
                let start = log
                    .delete_records_before(Offset(self.durable))
                    .map_err(|_| ())?;
                self.start = start.get();
            }
        }
        log.close().map_err(|_| ())?;
        self.durable = self.tried.len() as i64;
        let mut log = fixture.try_open(&tiny(), true, 1).map_err(|_| ())?;
        self.append(&mut log)?;
        self.sync(&mut log)?;
        let retained = log.apply_retention(NOW).map_err(|_| ())?;
        self.start = self.start.max(retained.log_start_offset.get());
        self.append(&mut log)
    }

    /// A start after the crash, some life, another power cut, another start.
    fn check_restart(&mut self, fixture: &Fixture, seed: u64) {
        let dir = Path::new(DIR);
        if !Log::exists(&fixture.environment, dir).unwrap() {
            assert_eq!(self.durable, 0);
            fixture.create(&tiny());
        }
        for epoch in 2..4 {
            let mut log = fixture.open(&tiny(), epoch);
            self.check(&log);
            self.durable = log.log_end_offset().get();
            self.start = log.log_start_offset().get();
            // What was found can be read from now on: it must not depend on the page cache.
            let cut = fixture.disk.fork();
            cut.crash(seed);
            self.check(&Fixture::on(cut).open(&tiny(), epoch));
            self.run += 1;
            for _ in 0..2 {
                self.append(&mut log).unwrap();
            }
            self.sync(&mut log).unwrap();
            self.append(&mut log).unwrap();
            drop(log);
            fixture.disk.crash(seed + 1000);
        }
    }
}

/// Segments of three batches or so; snapshots in between.
fn tiny() -> LogConfig {
    LogConfig {
        segment_bytes: 1500,
        retention_bytes: 2000,
        index_interval_bytes: 1,
        ..LogConfig::default()
    }
}

fn for_each_operation(mut ends: impl FnMut(&Fixture, u64) -> Vec<SimulatedDisk>) -> u64 {
    for operation in 0.. {
        let fixture = Fixture::on(SimulatedDisk::new(operation));
        let mut promises = Promises::default();
        fixture.disk.crash_at(operation);
        let finished = promises.script(&fixture).is_ok();
        assert_eq!(finished, !fixture.disk.is_crashed());
        if finished {
            return operation;
        }
        for (seed, disk) in ends(&fixture, operation).into_iter().enumerate() {
            let mut promises = Promises {
                tried: promises.tried.clone(),
                ..promises
            };
            promises.check_restart(&Fixture::on(disk), seed as u64);
        }
    }
    unreachable!("the script ends")
}

#[test]
fn a_power_cut_after_any_operation_loses_nothing_promised() {
    let count = for_each_operation(|fixture, operation| {
        let crashed = |seed| {
            let disk = fixture.disk.fork();
            disk.crash(operation * 100 + seed);
            disk
        };
        (0..6).map(crashed).collect()
    });
    assert!(count > 100, "the script has {count} operations");
}

#[test]
fn a_kill_after_any_operation_loses_nothing_promised() {
    for_each_operation(|fixture, _| {
        let disk = fixture.disk.fork();
        disk.restart();
        vec![disk]
    });
}

#[test]
fn after_any_failed_sync_nothing_is_acknowledged_and_a_restart_reads_past_the_page_cache() {
    for failing in 0.. {
        let fixture = Fixture::on(SimulatedDisk::new(failing));
        let mut promises = Promises::default();
        fixture.disk.fail_sync(failing, FailedSync::PagesDropped);
        if promises.script(&fixture).is_ok() {
            assert!(failing > 20, "the script has {failing} syncs");
            return;
        }
        for disk in [fixture.disk.fork(), fixture.disk.fork()] {
            // The process ends, and the page cache shows what the disk never got.
            disk.restart();
            let mut promises = Promises {
                tried: promises.tried.clone(),
                ..promises
            };
            promises.check_restart(&Fixture::on(disk), failing);
        }
    }
}

#[test]
fn a_log_that_failed_to_sync_stays_stopped() {
    let fixture = Fixture::new();
    let mut log = fixture.create(&small());
    put(&mut log, "a");
    sync(&mut log).unwrap();
    put(&mut log, "b");
    fixture.disk.fail_sync(0, FailedSync::PagesDropped);
    sync(&mut log).unwrap_err();
    assert!(log.begin_sync().is_none());
    assert!(matches!(
        send(&mut log, batch(&[(0, "c")])),
        Err(AppendError::Failed(_))
    ));
    assert!(log.delete_records_before(Offset(1)).is_err());
    assert_eq!(log.durable_offset(), Offset(1));
    assert_eq!(read_all(&log, Offset(0), Offset(1)).len(), 1, "reads go on");
    assert!(log.failure().is_some());
    assert!(log.close().is_err());
    fixture.disk.restart();
    let log = fixture.open_clean(&small(), 1);
    assert_eq!(
        log.log_end_offset(),
        Offset(1),
        "b is in the page cache only"
    );
}

/// Where all open files have unsynced bytes, the disk syncs one before it closes it. If that fails, the log must not take a later sync of
/// the file, opened anew, for the truth.
#[test]
fn a_sync_that_fails_before_a_file_is_closed_for_want_of_handles_stops_the_log() {
    for is_sealed in [false, true] {
        let fixture = Fixture::new();
        let mut log = fixture.create(&small());
        put(&mut log, "a");
        sync(&mut log).unwrap();
        put(&mut log, "b");
        let kept = log.active().kept_log();
        if is_sealed {
            log.roll(NOW).unwrap();
            put(&mut log, "c");
        }
        fixture.disk.fail_sync(0, FailedSync::PagesDropped);
        assert!(!kept.sync_and_close());
        // Everything that the disk is asked for succeeds from now on.
        sync(&mut log).unwrap_err();
        assert!(log.failure().is_some());
        assert_eq!(log.synced_offset(), Offset(1));
        assert!(send(&mut log, batch(&[(0, "d")])).is_err());
        drop(log);
        fixture.disk.restart();
        let log = fixture.open(&small(), 1);
        assert_eq!(log.log_end_offset(), Offset(1), "sealed: {is_sealed}");
    }
}

/// As above, where the disk does as it says: what was synced and closed is opened again, and the log goes on.
#[test]
fn a_file_that_was_synced_and_closed_for_want_of_handles_is_opened_again() {
    let fixture = Fixture::new();
    let mut log = fixture.create(&small());
    for value in ["a", "b", "c"] {
        put(&mut log, value);
        assert!(log.active().kept_log().sync_and_close());
    }
    assert_eq!(sync(&mut log).unwrap(), Offset(3));
    fixture.disk.crash(1);
    assert_eq!(fixture.open(&small(), 1).log_end_offset(), Offset(3));
}

#[test]
fn whatever_a_power_cut_leaves_of_an_unsynced_tail_is_cut_to_whole_batches() {
    let fixture = Fixture::new();
    let mut log = fixture.create(&LogConfig::default());
    let mut promises = Promises::default();
    for _ in 0..5 {
        promises.append(&mut log).unwrap();
    }
    promises.sync(&mut log).unwrap();
    for _ in 0..30 {
        promises.append(&mut log).unwrap();
    }
    let mut ends = std::collections::BTreeSet::new();
    for seed in 0..500 {
        let disk = fixture.disk.fork();
        disk.crash(seed);
        let fixture = Fixture::on(disk);
        let log = fixture.open(&LogConfig::default(), 1);
        promises.check(&log);
        ends.insert(log.log_end_offset());
    }
    assert!(ends.len() > 5, "{ends:?}");
}

#[test]
fn a_recovery_may_be_cut_off_at_any_operation() {
    let fixture = Fixture::new();
    let mut promises = Promises::default();
    let mut log = fixture.create(&tiny());
    while log.segment_count() < 3 {
        promises.append(&mut log).unwrap();
        if log.segment_count() == 1 {
            promises.sync(&mut log).unwrap();
        }
    }
    promises.append(&mut log).unwrap();
    drop(log);
    for operation in 0.. {
        // The name of the last segment and what is in it are in the page cache only.
        let restarted = Fixture::on(fixture.disk.fork());
        restarted.disk.restart();
        restarted.disk.crash_at(operation);
        let opened = restarted.try_open(&tiny(), false, 1);
        if !restarted.disk.is_crashed() {
            promises.check(&opened.unwrap());
            assert!(operation > 4);
            break;
        }
        for seed in 0..20 {
            let disk = restarted.disk.fork();
            disk.crash(seed);
            promises.check(&Fixture::on(disk).open(&tiny(), 2));
        }
    }
}

#[test]
fn a_power_cut_after_a_full_disk_is_a_power_cut_like_any_other() {
    for seed in 0..200 {
        let fixture = Fixture::on(SimulatedDisk::new(seed));
        let mut promises = Promises::default();
        let mut log = fixture.create(&LogConfig::default());
        for _ in 0..3 {
            promises.append(&mut log).unwrap();
        }
        promises.sync(&mut log).unwrap();
        fixture.disk.set_free_bytes(Some(1200));
        let full = send(&mut log, batch(&[(0, &"full ".repeat(600))]));
        assert!(matches!(full, Err(AppendError::Io { .. })));
        fixture.disk.set_free_bytes(None);
        for _ in 0..8 {
            promises.append(&mut log).unwrap();
        }
        drop(log);
        fixture.disk.crash(seed);
        promises.check(&fixture.open(&LogConfig::default(), 1));
    }
}

#[test]
fn a_sync_covers_what_was_appended_before_it_began() {
    let fixture = Fixture::new();
    let mut log = fixture.create(&small());
    put(&mut log, "a");
    let ticket = log.begin_sync().unwrap();
    assert_eq!(ticket.end_offset(), Offset(1));
    // The log rolls while the sync runs.
    for i in 0..60 {
        put(&mut log, &format!("more {i}"));
    }
    assert!(log.segment_count() > 1);
    let result = ticket.run();
    assert_eq!(log.finish_sync(ticket, result).unwrap(), Offset(1));
    assert_eq!(sync(&mut log).unwrap(), Offset(61));
    fixture.disk.crash(9);
    assert_eq!(fixture.open(&small(), 1).log_end_offset(), Offset(61));
}

#[test]
fn snapshots_that_a_crash_cut_off_do_not_pile_up() {
    let fixture = Fixture::new();
    drop(fixture.create(&small()));
    let dir = Path::new(DIR);
    let create = |name: &str| {
        let mode = fanlog_environment::OpenMode::CreateNew;
        fixture.disk.open(&dir.join(name), mode).unwrap();
    };
    let ours = [
        "00000000000000000077.snapshot.tmp",
        "00000000000000000078.snapshot.sync.tmp",
    ];
    ours.iter().for_each(|name| create(name));
    create("notes.tmp");
    drop(fixture.open(&small(), 1));
    let exists = |name: &str| fixture.disk.exists(&dir.join(name)).unwrap();
    assert!(!ours.iter().any(|name| exists(name)));
    assert!(exists("notes.tmp"), "not ours");
}

/// The page cache survives the process, and looks as if the creation had ended. Once the log is open its folder must not hang on
/// names that were never synced: the broker takes a folder that is gone for lost. (Found by the simulator, seed 40 of 2026-11-30.)
#[test]
fn a_creation_that_ended_early_is_made_durable_by_the_next_start() {
    let check = |fixture: &Fixture| {
        fixture.disk.restart();
        if !Log::exists(&fixture.environment, Path::new(DIR)).unwrap() {
            fixture.create(&tiny());
        }
        let mut log = fixture.open(&tiny(), 2);
        for seed in 0..40 {
            let cut = Fixture::on(fixture.disk.fork());
            cut.disk.crash(seed);
            assert!(Log::exists(&cut.environment, Path::new(DIR)).unwrap());
        }
        put(&mut log, "acknowledged");
        sync(&mut log).unwrap();
        for seed in 0..40 {
            let cut = fixture.disk.fork();
            cut.crash(seed);
            let log = Fixture::on(cut).open(&tiny(), 3);
            assert_eq!(read_all(&log, Offset(0), Offset(1)).len(), 1);
        }
    };
    for operations in 0.. {
        let fixture = Fixture::new();
        fixture.disk.crash_at(operations);
        let created = fixture.try_create(&tiny());
        assert_eq!(created.is_err(), fixture.disk.is_crashed());
        let is_last = created.is_ok();
        check(&fixture);
        if is_last {
            break;
        }
    }
    for syncs in 0.. {
        let fixture = Fixture::new();
        fixture.disk.fail_sync(syncs, FailedSync::Either);
        let is_last = fixture.try_create(&tiny()).is_ok();
        check(&fixture);
        if is_last {
            break;
        }
    }
}

/// A power cut loses a sector in which one batch ends and the next has begun, by no more than zeros of its base offset: the next one
/// looks whole. (Found by the simulator, seeds 285 and 2156 of 2026-11-30.)
#[test]
fn a_lost_sector_that_reaches_into_a_whole_batch_is_a_torn_tail() {
    const SECTOR: u64 = fanlog_environment::simulated::SECTOR_BYTES as u64;
    for reach in 0..10 {
        let fixture = Fixture::new();
        let mut log = fixture.create(&LogConfig::default());
        put(&mut log, "durable");
        sync(&mut log).unwrap();
        let start = log.size_bytes();
        put(&mut log, &"x".repeat(200));
        let overhead = log.size_bytes() - start - 200;
        let begins = log.size_bytes();
        let end = (begins / SECTOR + 2) * SECTOR;
        let length = usize::try_from(end - reach - begins - overhead).unwrap();
        put(&mut log, &"y".repeat(length));
        assert_eq!(log.size_bytes(), end - reach);
        put(&mut log, "behind the lost sectors");
        drop(log);
        let path = Path::new(DIR).join("00000000000000000000.log");
        let file = fixture.disk.open(&path, OpenMode::ReadWrite).unwrap();
        let lost = [0; fanlog_environment::simulated::SECTOR_BYTES];
        file.write_all_at(&lost, end - SECTOR).unwrap();
        fixture.disk.restart();
        let log = fixture.open(&LogConfig::default(), 2);
        assert_eq!(log.log_end_offset(), Offset(2), "reach {reach}");
    }
}
