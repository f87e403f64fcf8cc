//! Transactions in a log: what is stable, and what was aborted, after any crash.

use super::*;
use crate::formats::transaction_index::AbortedTransaction;
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

fn append_in(log: &mut Log, mut batch: Vec<u8>) -> Offset {
    let at = log.log_end_offset();
    let config = log.config().clone();
    let checked = CheckedBatches::check(&config, &mut batch, AppendOrigin::Client, NOW).unwrap();
    let epoch = log.leader_epoch();
    let appended = log.append_checked(checked.allowed_at(Some(at)), epoch);
    appended.unwrap().first_offset
}

fn end(log: &mut Log, id: i64, is_commit: bool) -> Offset {
    let marker = EndMarker {
        is_commit,
        coordinator_epoch: COORDINATOR,
    };
    let mut batch = marker.batch(ProducerId(id), ProducerEpoch(0), NOW);
    let epoch = log.leader_epoch();
    let appended = log.append(&mut batch, AppendOrigin::Coordinator, epoch, NOW);
    appended.unwrap().first_offset
}

/// As a fetch finds them.
fn aborted(log: &Log, from: Offset, below: Offset) -> Vec<AbortedTransaction> {
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

#[derive(Clone, Debug)]
enum Step {
    Plain,
    In(i64),
    End(i64, bool),
    Sync,
    Roll,
    Crash(u64),
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => Just(Step::Plain),
        6 => (0i64..4).prop_map(Step::In),
        5 => (0i64..4, any::<bool>()).prop_map(|(id, commit)| Step::End(id, commit)),
        3 => Just(Step::Sync),
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

fn run(steps: Vec<Step>) {
    let fixture = Fixture::new();
    let config = LogConfig {
        segment_bytes: 700,
        index_interval_bytes: 1,
        ..LogConfig::default()
    };
    let mut log = fixture.create(&config);
    let (mut model, mut sequences, mut epoch) = (Model::default(), [0i32; 4], 0);
    for step in steps {
        match step {
            Step::Plain => {
                put(&mut log, "plain");
                model.0.push(Event::Plain);
            }
            Step::In(id) => {
                append_in(&mut log, transactional(id, sequences[id as usize], "in"));
                sequences[id as usize] += 1;
                model.0.push(Event::In(id));
            }
            Step::End(id, commit) => {
                end(&mut log, id, commit);
                model.0.push(Event::End(id, commit));
            }
            Step::Sync => {
                sync(&mut log).unwrap();
            }
            Step::Roll => {
                let later = TimestampMs(NOW.get() + 30 * 24 * 60 * 60 * 1000);
                log.roll_if_due(later).unwrap();
            }
            Step::Crash(seed) => {
                let durable = log.durable_offset().get();
                drop(log);
                fixture.disk.crash(seed);
                epoch += 1;
                log = fixture.open(&config, epoch);
                let end = log.log_end_offset().get();
                assert!(end >= durable);
                model.0.truncate(end as usize);
            }
            Step::Reopen => {
                log.close().unwrap();
                epoch += 1;
                log = fixture.open_clean(&config, epoch);
            }
        }
        for (id, sequence) in sequences.iter_mut().enumerate() {
            let count = model
                .0
                .iter()
                .filter(|e| **e == Event::In(id as i64))
                .count();
            *sequence = count as i32;
        }
        model.check(&log);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn open_and_aborted_transactions_are_known_after_any_crash(steps in prop::collection::vec(step(), 1..60)) {
        run(steps);
    }
}
