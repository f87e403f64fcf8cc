//! The journal by itself: what is committed comes back, whatever a crash or the medium does to the rest.

use super::files::path;
use super::*;
use fanlog_environment::{Disk, Environment, OpenMode, SimulatedDisk, SimulatedEnvironment};
use std::path::Path;
use std::sync::Arc;
use uuid::Uuid;

const CONFIG: JournalConfig = JournalConfig {
    file_bytes: 32 * 1024,
    files_max: 3,
    past_bytes: usize::MAX,
};

struct Bed {
    environment: Environment,
    disk: Arc<SimulatedDisk>,
    journal: Journal,
    recovered: Recovered,
    run: i32,
}

fn log(id: u128) -> LogId {
    LogId {
        topic_id: TopicId(Uuid::from_u128(id)),
        partition: PartitionIndex(0),
    }
}

/// Payload of the record at an offset: what it says is its own.
fn payload(id: u128, offset: i64, length: usize) -> Vec<u8> {
    (0..length)
        .map(|i| (id as u8) ^ (offset as u8) ^ (i as u8))
        .collect()
}

impl Bed {
    fn new() -> Self {
        let simulated = SimulatedEnvironment::new(1);
        Self::on(simulated.environment(), simulated.disk, 1)
    }

    fn on(environment: Environment, disk: Arc<SimulatedDisk>, run: i32) -> Self {
        let opened = Journal::open(&environment, CONFIG, LeaderEpoch(run), false);
        let (journal, recovered) = opened.unwrap();
        Self {
            environment,
            disk,
            journal,
            recovered,
            run,
        }
    }

    /// A start after the process was killed.
    fn restarted(self) -> Self {
        self.disk.restart();
        Self::on(self.environment, self.disk, self.run + 1)
    }

    /// One commit with one record for each of the logs.
    fn commit(&self, records: &[(u128, i64)]) -> Result<(), CommitError> {
        let mut pending = Pending::default();
        for (id, offset) in records {
            let range = Offset(*offset)..Offset(offset + 1);
            pending.push(
                log(*id),
                LeaderEpoch(self.run),
                range,
                &payload(*id, *offset, 100),
            );
        }
        let mut done = 0;
        while done < pending.len() {
            done += self.journal.commit(&pending, done)?.count;
        }
        Ok(())
    }

    /// The offsets that a log gets back from 0 on, each with its own payload.
    fn back(&self, id: u128) -> Result<Vec<i64>, Damage> {
        self.back_from(id, 0)
    }

    fn back_from(&self, id: u128, end: i64) -> Result<Vec<i64>, Damage> {
        let replay = self.recovered.replay(log(id));
        let kept = replay.behind(Offset(end))?;
        let offset = |kept: &&recovered::Kept| {
            let offset = kept.entry.base.get();
            assert_eq!(kept.read().unwrap(), payload(id, offset, 100));
            offset
        };
        Ok(kept.iter().map(offset).collect())
    }

    fn bytes(&self, number: u64) -> Vec<u8> {
        self.disk.live_files()[&path(number)].clone()
    }
}

use recovered::Damage;

/// A disk that holds one journal file with these bytes, opened.
fn opened(bytes: &[u8]) -> Bed {
    let simulated = SimulatedEnvironment::new(1);
    let disk = simulated.disk.clone();
    disk.create_dir_all(Path::new(FOLDER)).unwrap();
    let file = disk.open(&path(0), OpenMode::CreateNew).unwrap();
    file.write_all_at(bytes, 0).unwrap();
    Bed::on(simulated.environment(), simulated.disk, 2)
}

fn three_commits() -> Vec<u8> {
    let bed = Bed::new();
    bed.commit(&[(1, 0), (2, 0)]).unwrap();
    bed.commit(&[(1, 1)]).unwrap();
    bed.commit(&[(2, 1), (1, 2)]).unwrap();
    bed.bytes(0)
}

#[test]
fn what_was_committed_comes_back_in_order_and_other_logs_get_nothing() {
    let bed = opened(&three_commits());
    assert_eq!(bed.back(1).unwrap(), [0, 1, 2]);
    assert_eq!(bed.back(2).unwrap(), [0, 1]);
    assert_eq!(bed.back(3).unwrap(), [0_i64; 0]);
    assert_eq!(bed.back_from(1, 2).unwrap(), [2]);
}

#[test]
fn a_tail_torn_at_any_byte_leaves_whole_commits_and_never_half_a_record() {
    let bytes = three_commits();
    for cut in 0..bytes.len() {
        for is_zeroed in [false, true] {
            let mut torn = bytes[..cut].to_vec();
            if is_zeroed {
                torn.resize(bytes.len(), 0);
            }
            let bed = opened(&torn);
            let (first, second) = (bed.back(1), bed.back(2));
            let (Ok(first), Ok(second)) = (first, second) else {
                panic!("cut at {cut}: a torn tail was taken for damage");
            };
            let whole = (cut / BLOCK).saturating_sub(1).min(3);
            assert!(first.len() >= whole, "cut at {cut}: {first:?}");
            assert!(first.is_sorted() && second.is_sorted());
            assert!(first.iter().copied().eq(0..first.len() as i64));
        }
    }
}

use super::format::BLOCK;

#[test]
fn a_flipped_bit_costs_nothing_or_is_told_to_the_log_that_it_hit() {
    let bytes = three_commits();
    // Blocks 1 and 2 hold the first two commits, which the third proves.
    for bit in 0..3 * BLOCK * 8 {
        let mut damaged = bytes.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        let bed = opened(&damaged);
        for (id, all) in [(1, 3), (2, 2)] {
            match bed.back(id) {
                Ok(back) => assert_eq!(back.len(), all, "bit {bit}: silent loss in log {id}"),
                Err(damage) => {
                    assert!(damage.position > 0, "bit {bit}: {damage:?}");
                    let other = bed.back(3 - id);
                    assert!(other.is_ok(), "bit {bit}: one bit stops both logs");
                }
            }
        }
        assert_eq!(bed.back(3), Ok(vec![]), "bit {bit}: a log without records");
    }
}

#[test]
fn damage_that_segments_make_up_for_stops_nobody() {
    let mut bytes = three_commits();
    let payload_of_first = BLOCK + 64 + 2 * 48;
    bytes[payload_of_first] ^= 1;
    let bed = opened(&bytes);
    assert_eq!(bed.back(1).unwrap_err().offset, Offset(0));
    assert_eq!(bed.back_from(1, 1).unwrap(), [1, 2]);
}

#[test]
fn a_commit_lost_at_both_ends_stops_logs_that_cannot_show_that_they_lost_nothing() {
    let mut bytes = three_commits();
    bytes[2 * BLOCK..3 * BLOCK].fill(0xee);
    let bed = opened(&bytes);
    // Log 1 lost its second record. Log 2 has a later one, and no gap before it.
    assert_eq!(bed.back(1).unwrap_err().offset, Offset(1));
    assert_eq!(bed.back(2).unwrap(), [0, 1]);
    // Nothing is known of log 3.
    assert!(
        bed.back(3)
            .unwrap_err()
            .reason
            .contains("move the folder journal away")
    );
}

#[test]
fn files_are_used_again_only_when_segments_are_synced_and_what_they_held_is_not_seen_again() {
    let bed = Bed::new();
    let mut next = 0;
    let full = loop {
        match bed.commit(&[(1, next)]) {
            Ok(()) => next += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(full, CommitError::Full), "{full}");
    assert!(!bed.journal.recycle().unwrap());
    bed.journal.note_synced(log(1), Offset(next - 1));
    assert!(bed.journal.recycle().unwrap());
    bed.commit(&[(1, next), (2, 0)]).unwrap();
    let bed = bed.restarted();
    assert_eq!(bed.recovered.replay(log(1)).point(), Offset(next - 1));
    assert_eq!(bed.back_from(1, next - 1).unwrap(), [next - 1, next]);
    assert_eq!(bed.back(2).unwrap(), [0]);
}

#[test]
fn a_file_of_another_use_put_in_the_place_of_one_is_not_believed() {
    let bed = Bed::new();
    bed.commit(&[(1, 0)]).unwrap();
    let old = bed.bytes(0);
    bed.journal.note_synced(log(1), Offset(1));
    let bed = bed.restarted();
    bed.journal.note_recovered(log(1), Offset(1));
    bed.journal.settle(|_| true);
    bed.commit(&[(1, 1)]).unwrap();
    bed.journal.recycle().unwrap();
    let number = (0..3).find(|n| bed.bytes(*n) == old).unwrap();
    assert_eq!(number, 0, "the first file holds its stale bytes");
    let bed = bed.restarted();
    assert_eq!(bed.back_from(1, 1).unwrap(), [1]);
    assert_eq!(
        bed.recovered
            .replay(log(1))
            .behind(Offset(2))
            .unwrap()
            .len(),
        0
    );
}

#[test]
fn stale_commits_behind_the_end_of_a_file_used_again_do_not_count() {
    let bed = Bed::new();
    for offset in 0..6 {
        bed.commit(&[(1, offset)]).unwrap();
    }
    bed.journal.note_synced(log(1), Offset(6));
    let bed = bed.restarted();
    bed.journal.note_recovered(log(1), Offset(6));
    bed.journal.settle(|_| true);
    assert!(bed.journal.recycle().unwrap());
    bed.commit(&[(2, 0)]).unwrap();
    let bed = bed.restarted();
    assert_eq!(bed.back_from(1, 6).unwrap(), [0_i64; 0]);
    assert_eq!(bed.back(2).unwrap(), [0]);
}

#[test]
fn a_missing_file_is_noticed() {
    let bed = Bed::new();
    for offset in 0..14 {
        bed.commit(&[(1, offset)]).unwrap();
    }
    bed.commit(&[(2, 0)]).unwrap();
    bed.disk.remove_file(&path(1)).unwrap();
    let bed = bed.restarted();
    assert!(bed.back(1).is_err());
    assert_eq!(bed.back(2).unwrap(), [0]);
}

#[test]
fn after_a_failed_sync_nothing_is_committed_any_more() {
    let bed = Bed::new();
    bed.commit(&[(1, 0)]).unwrap();
    bed.disk
        .fail_sync(0, fanlog_environment::simulated::FailedSync::PagesDropped);
    let failed = bed.commit(&[(1, 1)]).unwrap_err();
    assert!(matches!(failed, CommitError::Failed(_)), "{failed}");
    assert!(bed.commit(&[(1, 1)]).is_err());
    assert!(bed.journal.failure().is_some());
    let bed = bed.restarted();
    assert_eq!(bed.back(1).unwrap(), [0]);
}

#[test]
fn a_stopped_logs_records_stay_and_do_not_count_against_the_limit() {
    let bed = Bed::new();
    bed.commit(&[(9, 0)]).unwrap();
    bed.journal.keep(log(9));
    for offset in 0..100 {
        if bed.commit(&[(1, offset)]).is_err() {
            bed.journal.note_synced(log(1), Offset(offset));
            assert!(bed.journal.recycle().unwrap());
            bed.commit(&[(1, offset)]).unwrap();
        }
    }
    let bed = bed.restarted();
    assert_eq!(bed.back(9).unwrap(), [0]);
    let point = bed.recovered.replay(log(1)).point().get();
    assert_eq!(bed.back_from(1, point).unwrap().last(), Some(&99));
}

#[test]
fn after_a_close_in_order_nothing_is_read() {
    let bed = Bed::new();
    bed.commit(&[(1, 0)]).unwrap();
    bed.journal.close().unwrap();
    let bed = bed.restarted();
    assert_eq!(bed.back_from(1, 1).unwrap(), [0_i64; 0]);
    assert!(
        bed.recovered
            .replay(log(1))
            .behind(Offset(0))
            .unwrap()
            .is_empty()
    );
}

#[test]
fn a_power_cut_at_any_moment_keeps_what_was_committed() {
    for crash_at in 0..60 {
        for seed in 0..8 {
            let simulated = SimulatedEnvironment::new(seed);
            let bed = Bed::on(simulated.environment(), simulated.disk.clone(), 1);
            bed.disk.crash_at(crash_at);
            let (mut committed, mut synced) = (0, 0);
            while committed < 40 {
                match bed.commit(&[(1, committed)]) {
                    Ok(()) => committed += 1,
                    Err(CommitError::Full) => {
                        synced = committed - 3;
                        bed.journal.note_synced(log(1), Offset(synced));
                        if bed.journal.recycle().is_err() {
                            break;
                        }
                    }
                    Err(_) => break,
                }
            }
            bed.disk.crash(seed * 100 + crash_at);
            let bed = Bed::on(bed.environment, bed.disk, 2);
            let back = bed.back_from(1, synced).unwrap();
            let expected: Vec<i64> = (synced..committed).collect();
            assert!(back.starts_with(&expected), "crash at {crash_at}: {back:?}");
            assert!(back.len() <= expected.len() + 1);
        }
    }
}

#[test]
fn a_file_that_was_never_filled_gives_way_to_one_that_was_and_is_filled_for_its_next_use() {
    let bed = Bed::new();
    let is_filled = |number| bed.bytes(number).len() as u64 >= CONFIG.file_bytes;
    bed.commit(&[(1, 0)]).unwrap();
    assert!(!is_filled(0));
    assert!(bed.journal.prepare_spare().unwrap());
    assert!(is_filled(1));
    assert!(!bed.journal.prepare_spare().unwrap(), "one is enough");
    let before = bed.bytes(0);
    bed.commit(&[(1, 1)]).unwrap();
    assert_eq!(bed.bytes(0), before);
    bed.journal.note_synced(log(1), Offset(1));
    assert!(bed.journal.recycle().unwrap());
    assert!(bed.journal.prepare_spare().unwrap());
    assert!(is_filled(0));
    assert_eq!(bed.bytes(0)[..before.len()], before);
    let bed = bed.restarted();
    assert_eq!(bed.back_from(1, 1).unwrap(), [1]);
    assert!(!bed.disk.live_files().contains_key(&path(2)));
}
