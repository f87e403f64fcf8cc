//! Logs whose records are in the journal and not, or not whole, in their segments.

use super::*;
use crate::config::Durability;
use crate::formats::file_names::{self, LOG};
use crate::journal::{Journal, JournalConfig, LogId, Pending, Recovered};
use fanlog_model::PartitionIndex;
use std::path::PathBuf;

const CONFIG: JournalConfig = JournalConfig {
    file_bytes: 256 * 1024,
    files_max: 3,
    past_bytes: usize::MAX,
};

/// A disk with a journal and one log.
pub(super) struct Bed {
    pub(super) fixture: Fixture,
    pub(super) journal: Journal,
    pub(super) recovered: Recovered,
}

pub(super) fn id() -> LogId {
    LogId {
        topic_id: TopicId(Uuid::from_u128(7)),
        partition: PartitionIndex(0),
    }
}

impl Bed {
    pub(super) fn on(fixture: Fixture, run: i32) -> Self {
        let opened = Journal::open(&fixture.environment, CONFIG, LeaderEpoch(run), false);
        let (journal, recovered) = opened.unwrap();
        Self {
            fixture,
            journal,
            recovered,
        }
    }

    /// Appends one record, durably in the journal and not in its segment.
    pub(super) fn put(&self, log: &mut Log, value: &str) {
        self.put_batch(log, batch(&[(0, value)]));
    }

    pub(super) fn put_batch(&self, log: &mut Log, mut batch: Vec<u8>) {
        let config = log.config().clone();
        let checked = CheckedBatches::check(&config, &mut batch, AppendOrigin::Client, NOW);
        let mut pending = Pending::default();
        let epoch = log.leader_epoch();
        log.append_and(checked.unwrap(), epoch, |appended, bytes| {
            let offsets = appended.first_offset..appended.last_offset.plus(1);
            pending.push(id(), epoch, offsets, bytes);
        })
        .unwrap();
        self.journal.commit(&pending, 0).unwrap();
        log.note_durable(log.log_end_offset()).unwrap();
    }

    pub(super) fn try_open(&self, config: &LogConfig, epoch: i32) -> Result<Log, OpenLogError> {
        Log::open_with(
            &self.fixture.environment,
            Path::new(DIR),
            config.clone(),
            RecoveryMode { clean: false },
            LeaderEpoch(epoch),
            &self.recovered.replay(id()),
        )
    }

    /// The next start after a power cut.
    fn after_power_cut(self, seed: u64) -> Self {
        self.fixture.disk.crash(seed);
        Self::on(self.fixture, 2)
    }

    /// Flips a bit of the first segment, once the kernel has written what no sync covered.
    fn damage_segment(&self, at: u64) {
        let path = Path::new(DIR).join(file_names::with_offset(Offset(0), LOG));
        self.fixture.disk.drop_page_cache(&path).unwrap();
        self.fixture.disk.corrupt(&path, at, &[0x10]).unwrap();
    }

    /// The next start after the process was killed.
    fn after_kill(self) -> Self {
        self.fixture.disk.restart();
        Self::on(self.fixture, 2)
    }
}

/// A log of eight records in several segments, none of them synced but the first.
fn unsynced() -> Bed {
    let bed = Bed::on(Fixture::new(), 1);
    let mut log = bed.fixture.create(&small());
    bed.put(&mut log, "synced");
    sync(&mut log).unwrap();
    for number in 0..8 {
        bed.put(&mut log, &format!("{number}:{}", "x".repeat(1300)));
    }
    assert!(log.segment_count() > 2, "{}", log.segment_count());
    bed
}

fn check_whole(log: &Log) {
    let records = read_all(log, Offset(0), log.durable_offset());
    assert_eq!(records.len(), 9);
    for (number, (offset, value)) in records.iter().skip(1).enumerate() {
        assert_eq!(*offset, number as i64 + 1);
        assert!(value.starts_with(&format!("{number}:")), "{value}");
    }
}

#[test]
fn what_a_power_cut_takes_from_unsynced_segments_comes_back_from_the_journal() {
    for seed in 0..200 {
        let bed = unsynced().after_power_cut(seed);
        let log = bed.try_open(&small(), 2).unwrap();
        check_whole(&log);
        assert_eq!(log.synced_offset(), log.log_end_offset());
        // It is durable in the segments now: the journal is not needed any more.
        drop(log);
        bed.fixture.disk.crash(seed + 1);
        check_whole(&bed.fixture.open(&small(), 3));
    }
}

#[test]
fn a_recovery_from_the_journal_may_be_cut_off_at_any_operation() {
    for operations in 0..120 {
        let bed = unsynced().after_power_cut(3);
        bed.fixture.disk.crash_at(operations);
        let is_over = bed.try_open(&small(), 2).is_ok();
        bed.fixture.disk.crash(operations);
        let bed = Bed::on(bed.fixture, 3);
        check_whole(&bed.try_open(&small(), 3).unwrap());
        if is_over {
            return;
        }
    }
    panic!("the recovery did not end");
}

/// Cuts a file at a byte.
fn cut(disk: &SimulatedDisk, path: &Path, at: u64) {
    let file = disk.open(path, fanlog_environment::OpenMode::ReadWrite);
    file.unwrap().set_len(at).unwrap();
}

/// A killed broker's disk with three records in the journal and in one segment, and where the last begins and ends in both.
struct Torn {
    disk: SimulatedDisk,
    segment: PathBuf,
    batch: std::ops::Range<u64>,
    commit: std::ops::Range<u64>,
}

impl Torn {
    fn new() -> Self {
        let bed = Bed::on(Fixture::new(), 1);
        let mut log = bed.fixture.create(&small());
        bed.put(&mut log, "a");
        bed.put(&mut log, "b");
        let start = log.size_bytes();
        bed.put(&mut log, "last");
        let batch = start..log.size_bytes();
        assert_eq!(log.segment_count(), 1);
        let disk = bed.fixture.disk.fork();
        disk.restart();
        let journal = disk.live_files()[Path::new(JOURNAL_FILE)].clone();
        let used = journal.iter().rposition(|byte| *byte != 0).unwrap() as u64 + 1;
        let commit = used.next_multiple_of(BLOCK) - BLOCK..used;
        let segment = Path::new(DIR).join(file_names::with_offset(Offset(0), LOG));
        Self {
            disk,
            segment,
            batch,
            commit,
        }
    }

    /// What the next start finds of the three records.
    fn found(&self, segment_at: u64, journal_at: u64) -> Vec<String> {
        let disk = self.disk.fork();
        cut(&disk, &self.segment, segment_at);
        cut(&disk, Path::new(JOURNAL_FILE), journal_at);
        disk.restart();
        let bed = Bed::on(Fixture::on(disk), 2);
        let log = bed.try_open(&small(), 2).unwrap();
        let records = read_all(&log, Offset(0), log.durable_offset());
        records.into_iter().map(|(_, value)| value).collect()
    }
}

const JOURNAL_FILE: &str = "journal/0.journal";
const BLOCK: u64 = 4096;

#[test]
fn a_record_torn_at_any_byte_in_one_of_segment_and_journal_comes_from_the_other() {
    let torn = Torn::new();
    for at in torn.batch.clone() {
        assert_eq!(torn.found(at, torn.commit.end), ["a", "b", "last"]);
    }
    for at in torn.commit.clone() {
        assert_eq!(torn.found(torn.batch.end, at), ["a", "b", "last"]);
    }
}

#[test]
fn a_record_torn_at_any_byte_in_both_costs_nothing_before_it() {
    let torn = Torn::new();
    for at in torn.commit.clone() {
        let of_batch = torn.batch.start + at % (torn.batch.end - torn.batch.start);
        let found = torn.found(of_batch, at);
        assert!(
            found == ["a", "b"] || found == ["a", "b", "last"],
            "cut at {at} and {of_batch}: {found:?}"
        );
    }
}

#[test]
fn damage_behind_what_was_synced_is_made_good_from_the_journal() {
    for at in [0_u64, 3, 12, 30, 200] {
        let bed = unsynced();
        // In the second batch; the byte at 12 is of its epoch, which no checksum covers.
        bed.damage_segment(75 + at);
        let bed = bed.after_kill();
        let log = bed.try_open(&small(), 2).unwrap();
        check_whole(&log);
        let limit = ReadLimit {
            max_bytes: 1 << 20,
            min_one_batch: true,
            below: log.durable_offset(),
        };
        for bytes in log.read(Offset(1), limit).unwrap().read().unwrap() {
            for batch in BatchView::parse_all(&bytes) {
                assert_eq!(batch.unwrap().partition_leader_epoch(), LeaderEpoch(0));
            }
        }
    }
}

#[test]
fn what_neither_has_stops_the_log_and_nothing_is_changed() {
    let bed = unsynced();
    let journal = Path::new("journal/0.journal");
    // The payload of the third commit.
    bed.fixture
        .disk
        .corrupt(journal, 3 * 4096 + 300, &[1])
        .unwrap();
    let bed = bed.after_kill();
    // The segments have it.
    check_whole(&bed.try_open(&small(), 2).unwrap());

    let bed = unsynced();
    bed.fixture
        .disk
        .corrupt(journal, 3 * 4096 + 300, &[1])
        .unwrap();
    bed.damage_segment(500);
    let bed = bed.after_kill();
    let before = bed.fixture.disk.live_files();
    let error = bed.try_open(&small(), 2).unwrap_err().to_string();
    assert!(error.contains("journal/0.journal is corrupt"), "{error}");
    assert!(error.contains("offset 2 is expected"), "{error}");
    let after = bed.fixture.disk.live_files();
    for (path, bytes) in before {
        let is_log = path.extension().is_some_and(|extension| extension == "log");
        assert!(
            !is_log || after[&path] == bytes,
            "{} changed",
            path.display()
        );
    }
}

#[test]
fn producers_are_known_after_a_replay() {
    for seed in 0..40 {
        let bed = Bed::on(Fixture::new(), 1);
        let mut log = bed.fixture.create(&small());
        for sequence in 0..4 {
            bed.put_batch(&mut log, produced(0, sequence, 1));
        }
        let bed = bed.after_power_cut(seed);
        let mut log = bed.try_open(&small(), 2).unwrap();
        let again = send(&mut log, produced(0, 3, 1)).unwrap();
        assert!(again.is_duplicate);
        assert_eq!(again.first_offset, Offset(3));
        assert!(!send(&mut log, produced(0, 4, 1)).unwrap().is_duplicate);
    }
}

#[test]
fn deleted_records_do_not_come_back() {
    for seed in 0..60 {
        let bed = unsynced();
        let mut log = bed.fixture.open(&small(), 1);
        log.delete_records_before(Offset(6)).unwrap();
        drop(log);
        let bed = bed.after_power_cut(seed);
        let log = bed.try_open(&small(), 2).unwrap();
        assert_eq!(log.log_start_offset(), Offset(6));
        assert_eq!(read_all(&log, Offset(6), log.durable_offset()).len(), 3);
    }
}

#[test]
fn a_log_that_does_not_wait_for_the_disk_keeps_a_prefix() {
    let config = LogConfig {
        durability: Durability::Os,
        ..small()
    };
    for seed in 0..200 {
        let bed = Bed::on(Fixture::new(), 1);
        let mut log = bed.fixture.create(&config);
        put(&mut log, "synced");
        sync(&mut log).unwrap();
        for number in 0..8 {
            put(&mut log, &format!("{number}:{}", "x".repeat(900)));
            log.note_durable(log.log_end_offset()).unwrap();
        }
        let bed = bed.after_power_cut(seed);
        let mut log = bed.try_open(&config, 2).unwrap();
        let end = log.log_end_offset();
        assert!(end >= Offset(1));
        assert_eq!(read_all(&log, Offset(0), end).len() as i64, end.get());
        assert_eq!(put(&mut log, "next"), end);
    }
}

#[test]
fn a_log_that_lost_even_what_was_deleted_goes_on_where_it_starts() {
    let config = LogConfig {
        durability: Durability::Os,
        ..small()
    };
    let mut was_lost = false;
    for seed in 0..60 {
        let bed = Bed::on(Fixture::new(), 1);
        let mut log = bed.fixture.create(&config);
        for _ in 0..3 {
            put(&mut log, &"x".repeat(700));
        }
        log.note_durable(Offset(3)).unwrap();
        log.delete_records_before(Offset(3)).unwrap();
        let bed = bed.after_power_cut(seed);
        let mut log = bed.try_open(&config, 2).unwrap();
        assert_eq!(log.log_start_offset(), Offset(3));
        assert_eq!(put(&mut log, "next"), Offset(3));
        was_lost |= bed
            .fixture
            .disk
            .live_files()
            .keys()
            .any(|path| path.to_string_lossy().ends_with("00000000000000000003.log"));
    }
    assert!(was_lost, "no crash took the records");
}

#[test]
fn a_segment_that_was_begun_before_a_kill_is_there_after_a_power_cut_too() {
    for seed in 0..50 {
        let bed = Bed::on(Fixture::new(), 1);
        let mut log = bed.fixture.create(&small());
        bed.put(&mut log, "first");
        sync(&mut log).unwrap();
        // No sync covers the name of the segment that is begun here.
        log.roll_or_change_error(NOW).unwrap();
        drop(log);
        let bed = bed.after_kill();
        let mut log = bed.try_open(&small(), 2).unwrap();
        bed.put(&mut log, "second");
        // A file that is replaced would have the folder synced too; there is no room for one.
        bed.fixture.disk.set_free_bytes(Some(0));
        sync(&mut log).unwrap();
        bed.fixture.disk.set_free_bytes(None);
        drop(log);
        bed.fixture.disk.crash(seed);
        let log = bed.fixture.open(&small(), 3);
        let values = read_all(&log, Offset(0), log.durable_offset());
        assert_eq!(values.len(), 2, "{values:?}");
    }
}

/// A log with a record that the journal does not have was opened after a kill, and read from; then comes a power cut.
fn recovered_and_cut(seed: u64, is_proven: bool) -> (Bed, Offset) {
    let bed = Bed::on(Fixture::new(), 1);
    let mut log = bed.fixture.create(&small());
    bed.put(&mut log, "first");
    put(&mut log, "only in the page cache");
    drop(log);
    let bed = bed.after_kill();
    let log = bed.try_open(&small(), 2).unwrap();
    let end = log.durable_offset();
    bed.journal.note_recovered(id(), log.synced_offset());
    if is_proven {
        bed.journal.checkpoint().unwrap();
    }
    drop(log);
    let bed = bed.after_power_cut(seed);
    bed.damage_segment(75 + 30);
    (bed, end)
}

#[test]
fn what_recovery_made_durable_is_proven_by_the_checkpoint_behind_it() {
    for seed in 0..20 {
        let (bed, end) = recovered_and_cut(seed, true);
        assert_eq!(end, Offset(2));
        let error = bed.try_open(&small(), 3).unwrap_err();
        assert!(matches!(error, OpenLogError::Corrupt { .. }), "{error}");
    }
    let is_cut = |seed| {
        let bed = recovered_and_cut(seed, false).0;
        bed.try_open(&small(), 3).is_ok()
    };
    assert!(
        (0..20).any(is_cut),
        "the mark alone survives every power cut"
    );
}
