//! Transactions in a log: what is stable, and what was aborted, after any crash.

use super::replay::{Bed, id as log_id};
use super::*;
use crate::formats::transaction_index::AbortedTransaction;
use crate::journal::Pending;
use fanlog_model::ProducerId;
use fanlog_protocol::records::EndMarker;
use proptest::prelude::*;
use std::collections::BTreeMap;

const COORDINATOR: i32 = 1;

fn transactional(id: i64, sequence: i32, value: &str) -> Vec<u8> {
    builder(Compression::None, &[(0, value)])
        .producer(ProducerId(id), ProducerEpoch(0), BaseSequence(sequence))
        .transactional()
        .build()
        .unwrap()
}

pub(super) fn append_in(log: &mut Log, batch: Vec<u8>) -> Offset {
    append_for(log, batch, AppendOrigin::Client, &mut Pending::default())
}

/// What is appended is to be committed by the journal too.
pub(super) fn append_for(
    log: &mut Log,
    mut batch: Vec<u8>,
    origin: AppendOrigin,
    pending: &mut Pending,
) -> Offset {
    let at = log.log_end_offset();
    let config = log.config().clone();
    let checked = CheckedBatches::check(&config, &mut batch, origin, NOW).unwrap();
    let epoch = log.leader_epoch();
    let appended = log.append_and(checked.allowed_at(Some(at)), epoch, |appended, bytes| {
        let offsets = appended.first_offset..appended.last_offset.plus(1);
        pending.push(log_id(), epoch, offsets, bytes);
    });
    appended.unwrap().first_offset
}

fn marker(id: i64, is_commit: bool) -> Vec<u8> {
    let marker = EndMarker {
        is_commit,
        coordinator_epoch: COORDINATOR,
    };
    marker.batch(ProducerId(id), ProducerEpoch(0), NOW)
}

pub(super) fn end(log: &mut Log, id: i64, is_commit: bool) -> Offset {
    let pending = &mut Pending::default();
    append_for(
        log,
        marker(id, is_commit),
        AppendOrigin::Coordinator,
        pending,
    )
}

/// As a fetch finds them.
pub(super) fn aborted(log: &Log, from: Offset, below: Offset) -> Vec<AbortedTransaction> {
    let mut found = Vec::new();
    if let Some(mut search) = log.aborted_search(from, below) {
        while let Some(segment) = log.next_of_search(&search) {
            if search.look_into(&segment).unwrap() {
                break;
            }
        }
        found = search.finish();
    }
    if let Some(recent) = log.aborted_recent(from, below) {
        assert_eq!(recent, found);
    }
    found
}

#[test]
fn a_transaction_is_unstable_until_its_marker_is_durable() {
    let fixture = Fixture::new();
    let mut log = fixture.create(&small());
    put(&mut log, "before");
    append_in(&mut log, transactional(1, 0, "a"));
    append_in(&mut log, transactional(2, 0, "b"));
    sync(&mut log).unwrap();
    assert_eq!(log.last_stable_offset(), Offset(1));
    end(&mut log, 1, true);
    assert_eq!(
        log.last_stable_offset(),
        Offset(1),
        "the marker may be lost"
    );
    sync(&mut log).unwrap();
    assert_eq!(log.last_stable_offset(), Offset(2));
    end(&mut log, 2, false);
    put(&mut log, "behind");
    sync(&mut log).unwrap();
    assert_eq!(log.last_stable_offset(), Offset(6));
    let found = aborted(&log, Offset(0), Offset(6));
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].producer_id, ProducerId(2));
    assert_eq!(
        (found[0].first_offset, found[0].last_offset),
        (Offset(2), Offset(4))
    );
    assert_eq!(aborted(&log, Offset(5), Offset(6)), []);
    assert_eq!(aborted(&log, Offset(0), Offset(2)), []);
}

#[test]
fn what_was_deleted_of_an_open_transaction_holds_nobody_up() {
    let fixture = Fixture::new();
    let mut log = fixture.create(&small());
    append_in(&mut log, transactional(1, 0, "a"));
    put(&mut log, "b");
    sync(&mut log).unwrap();
    assert_eq!(log.last_stable_offset(), Offset(0));
    log.delete_records_before(Offset(1)).unwrap();
    assert_eq!(log.last_stable_offset(), Offset(1));
}

#[test]
fn a_damaged_index_of_aborted_transactions_is_told_and_not_taken_for_empty() {
    let fixture = Fixture::new();
    let mut log = fixture.create(&small());
    append_in(&mut log, transactional(1, 0, "a"));
    end(&mut log, 1, false);
    sync(&mut log).unwrap();
    log.close().unwrap();
    let path = Path::new(DIR).join("00000000000000000000.txnindex");
    let file = fixture
        .disk
        .open(&path, fanlog_environment::OpenMode::ReadWrite);
    let file = file.unwrap();
    assert_eq!(file.len().unwrap(), 34);
    file.set_len(33).unwrap();
    match fixture.try_open(&small(), true, 1) {
        Err(OpenLogError::Corrupt { path: found, .. }) => assert_eq!(found, path),
        other => panic!("{other:?}"),
    }
}

/// A start that has a marker from the journal alone must not wait for the next append to count it.
#[test]
fn a_marker_that_comes_from_the_journal_ends_its_transaction() {
    for seed in 0..40 {
        let mut world = World::new();
        for step in [
            Step::Plain,
            Step::Sync,
            Step::In(1),
            Step::In(2),
            Step::End(1, true),
            Step::End(2, false),
            Step::Commit,
            Step::Crash(seed),
        ] {
            world.step(&step);
        }
        assert_eq!(world.log.last_stable_offset(), Offset(5));
    }
}

#[derive(Clone, Debug)]
enum Step {
    Plain,
    In(i64),
    End(i64, bool),
    Sync,
    /// What was appended becomes durable in the journal alone.
    Commit,
    Roll,
    Crash(u64),
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => Just(Step::Plain),
        6 => (0i64..4).prop_map(Step::In),
        5 => (0i64..4, any::<bool>()).prop_map(|(id, commit)| Step::End(id, commit)),
        2 => Just(Step::Sync),
        3 => Just(Step::Commit),
        1 => Just(Step::Roll),
        1 => any::<u64>().prop_map(Step::Crash),
        1 => Just(Step::Reopen),
    ]
}

/// What was appended, by offset.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Event {
    Plain,
    In(i64),
    End(i64, bool),
}

/// Producer, first offset, marker.
type Aborted = (i64, i64, i64);

#[derive(Default)]
struct Model(Vec<Event>);

impl Model {
    /// Where the open transactions began, and the aborted ones: producer, first offset, marker.
    fn ends(&self) -> (BTreeMap<i64, i64>, Vec<Aborted>) {
        let mut open = BTreeMap::new();
        let mut aborted = Vec::new();
        for (at, event) in self.0.iter().enumerate() {
            match event {
                Event::Plain => {}
                Event::In(id) => {
                    open.entry(*id).or_insert(at as i64);
                }
                Event::End(id, commit) => {
                    if let Some(first) = open.remove(id)
                        && !commit
                    {
                        aborted.push((*id, first, at as i64));
                    }
                }
            }
        }
        (open, aborted)
    }

    fn check(&self, log: &Log) {
        let end = log.log_end_offset().get();
        assert_eq!(end, self.0.len() as i64);
        let (open, all) = self.ends();
        if log.durable_offset().get() == end {
            let stable = open.values().min().copied().unwrap_or(end);
            assert_eq!(log.last_stable_offset(), Offset(stable));
        }
        for (from, below) in [
            (0, end),
            (end / 3, end),
            (end / 2, end / 2 + 3),
            (0, end / 2),
        ] {
            let below = below.min(end);
            let mut expected: Vec<_> = all
                .iter()
                .filter(|(_, first, marker)| *marker >= from && *first < below && from < below)
                .copied()
                .collect();
            expected.sort_by_key(|(id, first, _)| (*first, *id));
            let found: Vec<_> = aborted(log, Offset(from), Offset(below))
                .iter()
                .map(|t| {
                    (
                        t.producer_id.get(),
                        t.first_offset.get(),
                        t.last_offset.get(),
                    )
                })
                .collect();
            assert_eq!(found, expected, "{from}..{below} of {:?}", self.0);
        }
    }
}

/// A log with a journal.
struct World {
    bed: Bed,
    log: Log,
    config: LogConfig,
    pending: Pending,
    model: Model,
    epoch: i32,
}

impl World {
    fn new() -> Self {
        let config = LogConfig {
            segment_bytes: 700,
            index_interval_bytes: 1,
            ..LogConfig::default()
        };
        let bed = Bed::on(Fixture::new(), 1);
        Self {
            log: bed.fixture.create(&config),
            bed,
            config,
            pending: Pending::default(),
            model: Model::default(),
            epoch: 1,
        }
    }

    fn append(&mut self, batch: Vec<u8>, origin: AppendOrigin, event: Event) {
        append_for(&mut self.log, batch, origin, &mut self.pending);
        self.model.0.push(event);
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Plain => {
                let plain = batch(&[(0, "plain")]);
                self.append(plain, AppendOrigin::Client, Event::Plain);
            }
            Step::In(id) => {
                let count = self.model.0.iter().filter(|e| **e == Event::In(id)).count();
                let batch = transactional(id, i32::try_from(count).unwrap(), "in");
                self.append(batch, AppendOrigin::Client, Event::In(id));
            }
            Step::End(id, commit) => {
                let marker = marker(id, commit);
                self.append(marker, AppendOrigin::Coordinator, Event::End(id, commit));
            }
            Step::Sync => {
                sync(&mut self.log).unwrap();
            }
            Step::Commit => {
                if !self.pending.is_empty() {
                    self.bed.journal.commit(&self.pending, 0).unwrap();
                    self.pending.clear();
                }
                let end = self.log.log_end_offset();
                self.log.note_durable(end).unwrap();
            }
            Step::Roll => {
                let later = TimestampMs(NOW.get() + 30 * 24 * 60 * 60 * 1000);
                self.log.roll_if_due(later).unwrap();
            }
            Step::Crash(seed) => self.restart(|log, disk| {
                drop(log);
                disk.crash(seed);
                false
            }),
            Step::Reopen => self.restart(|log, _| {
                log.close().unwrap();
                true
            }),
        }
        self.model.check(&self.log);
    }

    fn restart(&mut self, ends: impl FnOnce(Log, &SimulatedDisk) -> bool) {
        let durable = self.log.durable_offset();
        let World {
            bed,
            log,
            config,
            mut model,
            epoch,
            ..
        } = std::mem::replace(self, Self::new());
        let clean = ends(log, &bed.fixture.disk);
        let epoch = epoch + 1;
        let bed = Bed::on(bed.fixture, epoch);
        let log = Log::open_with(
            &bed.fixture.environment,
            Path::new(DIR),
            config.clone(),
            RecoveryMode { clean },
            LeaderEpoch(epoch),
            &bed.recovered.replay(log_id()),
        );
        let log = log.unwrap();
        let end = log.log_end_offset();
        assert!(end >= durable);
        assert_eq!(log.durable_offset(), end);
        bed.journal.note_recovered(log_id(), end);
        bed.recovered.forget(log_id());
        bed.journal.checkpoint().unwrap();
        model.0.truncate(usize::try_from(end.get()).unwrap());
        *self = Self {
            bed,
            log,
            config,
            pending: Pending::default(),
            model,
            epoch,
        };
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn open_and_aborted_transactions_are_known_after_any_crash(steps in prop::collection::vec(step(), 1..60)) {
        let mut world = World::new();
        for step in &steps {
            world.step(step);
        }
    }
}
