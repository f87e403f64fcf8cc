//! What a power cut may leave of the last commit and of the last segment, byte by byte; and flipped bits in all of the journal.

use super::replay::{Bed, id};
use super::*;
use crate::formats::file_names::{self, LOG};
use fanlog_environment::OpenMode;
use fanlog_model::PartitionIndex;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// What commits begin and end at.
const BLOCK: usize = 4096;
const JOURNAL: &str = "journal/0.journal";
const ACKNOWLEDGED: i64 = 5;

/// What stands behind the byte at which something is torn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rest {
    Nothing,
    Zeros,
    Garbage,
    /// What an earlier use has left there.
    Stale,
}

const RESTS: [Rest; 4] = [Rest::Nothing, Rest::Zeros, Rest::Garbage, Rest::Stale];

/// How much of the segment the disk has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SegmentLeft {
    /// What was synced.
    Synced,
    /// What was acknowledged, without the last record.
    Acknowledged,
    All,
}

const LEFT: [SegmentLeft; 3] = [
    SegmentLeft::Synced,
    SegmentLeft::Acknowledged,
    SegmentLeft::All,
];

/// A disk with a log of six records: the first in a synced segment, the next four in the journal and acknowledged, the last in a commit
/// that the power cut hits.
struct Scene {
    disk: SimulatedDisk,
    journal: Vec<u8>,
    /// What the journal's file held in its earlier use.
    stale: Vec<u8>,
    /// Where the last commit begins and ends.
    commit: std::ops::Range<usize>,
    segment: Vec<u8>,
    synced: usize,
    acknowledged: usize,
}

fn segment_path() -> PathBuf {
    Path::new(DIR).join(file_names::with_offset(Offset(0), LOG))
}

fn value(offset: i64) -> String {
    format!("{offset}:{}", "v".repeat(40 + 17 * offset as usize))
}

impl Scene {
    fn new() -> Self {
        let bed = Bed::on(Fixture::new(), 1);
        let config = LogConfig::default();
        let mut log = bed.fixture.create(&config);
        bed.put(&mut log, &value(0));
        // What an earlier start wrote to the file that is used again: as many commits, and more.
        let used = Bed::on(Fixture::new(), 0);
        let mut used_log = used.fixture.create(&config);
        for _ in 0..=ACKNOWLEDGED + 2 {
            used.put(&mut used_log, &"stale".repeat(15));
        }
        let stale = used.fixture.disk.live_files()[Path::new(JOURNAL)].clone();
        sync(&mut log).unwrap();
        let size = |bed: &Bed| bed.fixture.disk.live_files()[&segment_path()].len();
        let synced = size(&bed);
        for offset in 1..ACKNOWLEDGED {
            bed.put(&mut log, &value(offset));
        }
        let acknowledged = size(&bed);
        bed.put(&mut log, &value(ACKNOWLEDGED));
        let files = bed.fixture.disk.live_files();
        let journal = files[Path::new(JOURNAL)].clone();
        // A commit of one small record fills one block.
        let start = BLOCK * (1 + ACKNOWLEDGED as usize);
        let commit = start..start + BLOCK;
        let is_empty = |bytes: &[u8]| bytes.iter().all(|byte| *byte == 0);
        assert!(!is_empty(&journal[commit.clone()]));
        assert!(is_empty(&journal[commit.end..]));
        assert!(!is_empty(&stale[commit.clone()]));
        drop(log);
        Self {
            disk: bed.fixture.disk.fork(),
            journal,
            stale,
            commit,
            segment: files[&segment_path()].clone(),
            synced,
            acknowledged,
        }
    }

    fn left(&self, left: SegmentLeft) -> &[u8] {
        match left {
            SegmentLeft::Synced => &self.segment[..self.synced],
            SegmentLeft::Acknowledged => &self.segment[..self.acknowledged],
            SegmentLeft::All => &self.segment,
        }
    }

    /// The next start over these bytes.
    fn started(&self, journal: &[u8], segment: &[u8]) -> Bed {
        let disk = self.disk.fork();
        replace(&disk, Path::new(JOURNAL), journal);
        replace(&disk, &segment_path(), segment);
        disk.restart();
        Bed::on(Fixture::on(disk), 2)
    }

    fn journal_torn_at(&self, at: usize, rest: Rest) -> Vec<u8> {
        torn(&self.journal, at, self.commit.end, rest, &self.stale)
    }

    /// Checks what a start finds: how many records, all of them as they were sent.
    fn count(&self, bed: &Bed, what: &dyn std::fmt::Debug) -> i64 {
        let opened = bed.try_open(&LogConfig::default(), 2);
        let mut log = opened.unwrap_or_else(|error| panic!("{what:?}: {error}"));
        let end = log.log_end_offset();
        let records = read_all(&log, Offset(0), end);
        for (at, (offset, found)) in records.iter().enumerate() {
            assert_eq!(
                (at as i64, value(*offset)),
                (*offset, found.clone()),
                "{what:?}"
            );
        }
        assert_eq!(records.len() as i64, end.get(), "{what:?}");
        assert_eq!(log.durable_offset(), end);
        // What follows takes the place of what was lost.
        assert_eq!(put(&mut log, "next"), end);
        end.get()
    }
}

fn replace(disk: &SimulatedDisk, path: &Path, bytes: &[u8]) {
    use fanlog_environment::Disk;
    let file = disk.open(path, OpenMode::ReadWrite).unwrap();
    file.set_len(0).unwrap();
    file.write_all_at(bytes, 0).unwrap();
}

/// `whole` as it is before `at`, and something else from there to `end`.
fn torn(whole: &[u8], at: usize, end: usize, rest: Rest, stale: &[u8]) -> Vec<u8> {
    let mut bytes = whole[..at].to_vec();
    match rest {
        Rest::Nothing => {}
        Rest::Zeros => bytes.resize(whole.len(), 0),
        Rest::Garbage => {
            bytes.extend((at..end).map(|i| (i * 7 + i / 256) as u8 | 1));
            bytes.extend_from_slice(&whole[end..]);
        }
        Rest::Stale => bytes.extend(stale.iter().skip(at).take(whole.len() - at)),
    }
    bytes
}

#[test]
fn a_last_commit_torn_at_any_byte_loses_nothing_acknowledged_whatever_the_segment_has() {
    let scene = Scene::new();
    let mut counts = BTreeSet::new();
    for at in scene.commit.clone() {
        for (number, rest) in RESTS.into_iter().enumerate() {
            let journal = scene.journal_torn_at(at, rest);
            // Each byte meets each state of the segment with one of the four rests or another.
            let left = LEFT[(at + number) % LEFT.len()];
            let bed = scene.started(&journal, scene.left(left));
            let count = scene.count(&bed, &(at, rest, left));
            assert!(
                count >= ACKNOWLEDGED,
                "torn at {at} {rest:?} {left:?}: {count}"
            );
            if left == SegmentLeft::All {
                assert_eq!(count, ACKNOWLEDGED + 1, "{at} {rest:?}");
            }
            counts.insert(count);
        }
    }
    assert_eq!(
        counts.len(),
        2,
        "the last record is kept by some and lost by others"
    );
}

#[test]
fn a_segment_torn_at_any_byte_behind_what_was_synced_comes_back_from_the_journal() {
    let scene = Scene::new();
    // A power cut between two writes of the journal's last block: nothing of it is there.
    let without_last = scene.journal_torn_at(scene.commit.start, Rest::Zeros);
    for at in scene.synced..scene.segment.len() {
        for rest in RESTS {
            // What stood there is another batch of this log, whole.
            let stale = scene.segment.iter().copied().cycle();
            let stale: Vec<u8> = stale
                .skip(scene.synced)
                .take(scene.segment.len() * 2)
                .collect();
            let segment = torn(&scene.segment, at, scene.segment.len(), rest, &stale);
            let bed = scene.started(&scene.journal, &segment);
            let count = scene.count(&bed, &(at, rest));
            assert_eq!(count, ACKNOWLEDGED + 1, "torn at {at} {rest:?}");
            let bed = scene.started(&without_last, &segment);
            let count = scene.count(&bed, &(at, rest, "without the last commit"));
            assert!(count >= ACKNOWLEDGED, "torn at {at} {rest:?}: {count}");
        }
    }
}

#[test]
fn a_journal_and_a_segment_torn_together_lose_nothing_acknowledged() {
    let scene = Scene::new();
    for journal_at in scene.commit.clone().step_by(61) {
        for segment_at in (scene.synced..scene.segment.len()).step_by(23) {
            for rest in RESTS {
                let journal = scene.journal_torn_at(journal_at, rest);
                let segment = torn(
                    &scene.segment,
                    segment_at,
                    scene.segment.len(),
                    rest,
                    &[1; 2000],
                );
                let bed = scene.started(&journal, &segment);
                let what = (journal_at, segment_at, rest);
                assert!(scene.count(&bed, &what) >= ACKNOWLEDGED, "{what:?}");
            }
        }
    }
}

/// One bit in every byte of the journal, with and without the segment's help.
#[test]
fn a_flipped_bit_anywhere_in_the_journal_is_made_good_or_told_and_never_a_silent_loss() {
    let scene = Scene::new();
    let mut told = 0;
    // Of the zeros that fill up a block some will do.
    let is_hit = |at: &usize| scene.journal[*at] != 0 || at.is_multiple_of(16);
    for at in (0..scene.commit.end).filter(is_hit) {
        let mut journal = scene.journal.clone();
        journal[at] ^= 1 << (at % 8);
        // After kill -9 the segment has everything: nothing is lost, and nobody stops.
        let bed = scene.started(&journal, &scene.segment);
        assert_eq!(scene.count(&bed, &at), ACKNOWLEDGED + 1, "byte {at}");
        // After a power cut only the journal has what was acknowledged.
        let bed = scene.started(&journal, scene.left(SegmentLeft::Synced));
        let other = bed.recovered.replay(crate::journal::LogId {
            partition: PartitionIndex(1),
            ..id()
        });
        assert!(
            other.behind(Offset(0)).is_ok(),
            "byte {at}: another log stops"
        );
        match bed.try_open(&LogConfig::default(), 2) {
            Ok(_) => assert!(scene.count(&bed, &at) >= ACKNOWLEDGED, "byte {at}"),
            Err(error) => {
                let error = error.to_string();
                assert!(error.contains("0.journal is corrupt"), "byte {at}: {error}");
                told += 1;
            }
        }
    }
    assert!(told > 100, "only {told} bits hit a record");
}
