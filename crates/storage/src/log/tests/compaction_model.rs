//! A compacted log does what a list of batches does from which records are taken, whatever the order of operations.

use super::compaction::{Seen, all, clean_with, compacted, keyed, memory, seal};
use super::*;
use crate::compaction::CleanerMemory;
use proptest::prelude::*;
use std::collections::BTreeMap;

const RETENTION_MS: i64 = 3_600_000;

#[derive(Clone, Debug)]
enum Operation {
    Append {
        records: Vec<(u8, bool)>,
        compression: usize,
        producer: Option<u8>,
    },
    Seal,
    Clean {
        places: usize,
    },
    Wait {
        minutes: i64,
    },
    DeleteRecords {
        before: u8,
    },
    Kill,
    PowerCut {
        seed: u64,
    },
    CloseAndOpen,
}

fn operation() -> impl Strategy<Value = Operation> {
    let records = prop::collection::vec((0u8..12, prop::bool::weighted(0.2)), 1..5);
    let append = (records, 0usize..5, prop::option::of(0u8..3));
    prop_oneof![
        10 => append.prop_map(|(records, compression, producer)| Operation::Append { records, compression, producer }),
        4 => Just(Operation::Seal),
        4 => prop_oneof![Just(1000usize), 3usize..12].prop_map(|places| Operation::Clean { places }),
        2 => (1i64..90).prop_map(|minutes| Operation::Wait { minutes }),
        1 => any::<u8>().prop_map(|before| Operation::DeleteRecords { before }),
        1 => Just(Operation::Kill),
        1 => any::<u64>().prop_map(|seed| Operation::PowerCut { seed }),
        1 => Just(Operation::CloseAndOpen),
    ]
}

#[derive(Debug)]
struct Batch {
    records: Vec<Seen>,
    delete_horizon: Option<i64>,
}

struct Model {
    fixture: Fixture,
    log: Option<Log>,
    batches: Vec<Batch>,
    /// All that was ever appended.
    history: Vec<Seen>,
    sequences: BTreeMap<u8, i32>,
    now: i64,
    start: i64,
    clean_to: i64,
    epoch: i32,
}

impl Model {
    fn new() -> Self {
        let fixture = Fixture::new();
        let log = Some(fixture.create(&compacted()));
        Self {
            fixture,
            log,
            batches: Vec::new(),
            history: Vec::new(),
            sequences: BTreeMap::new(),
            now: NOW.get(),
            start: 0,
            clean_to: 0,
            epoch: 0,
        }
    }

    fn log(&mut self) -> &mut Log {
        self.log.as_mut().unwrap()
    }

    fn step(&mut self, operation: &Operation) {
        match operation {
            Operation::Append {
                records,
                compression,
                producer,
            } => self.append(records, *compression, *producer),
            Operation::Seal => seal(self.log()),
            Operation::Clean { places } => self.clean(*places),
            Operation::Wait { minutes } => self.now += minutes * 60_000,
            Operation::DeleteRecords { before } => {
                let durable = sync(self.log()).unwrap().get();
                let before = self.start + i64::from(*before) % (durable - self.start + 1);
                self.start = before;
                let start = self.log().delete_records_before(Offset(before));
                assert_eq!(start.unwrap().get(), before);
            }
            Operation::Kill => {
                self.log = None;
                self.fixture.disk.restart();
                self.reopen(false);
            }
            Operation::PowerCut { seed } => {
                sync(self.log()).unwrap();
                self.log = None;
                self.fixture.disk.crash(*seed);
                self.reopen(false);
            }
            Operation::CloseAndOpen => {
                self.log.take().unwrap().close().unwrap();
                self.reopen(true);
            }
        }
        self.check();
    }

    fn append(&mut self, records: &[(u8, bool)], compression: usize, producer: Option<u8>) {
        let first = self.history.len();
        let seen: Vec<Seen> = records
            .iter()
            .enumerate()
            .map(|(i, (key, is_tombstone))| {
                let offset = (first + i) as i64;
                let value = (!is_tombstone).then(|| format!("{offset}"));
                (offset, format!("key {key}"), value)
            })
            .collect();
        let pairs: Vec<_> = seen
            .iter()
            .map(|(_, k, v)| (k.as_str(), v.as_deref()))
            .collect();
        let mut builder = keyed(Compression::ALL[compression], &pairs);
        if let Some(producer) = producer {
            let sequence = self.sequences.entry(producer).or_default();
            let id = ProducerId(producer.into());
            builder = builder.producer(id, ProducerEpoch(0), BaseSequence(*sequence));
            *sequence += i32::try_from(records.len()).unwrap();
        }
        let appended = send(self.log(), builder.build().unwrap()).unwrap();
        assert_eq!(appended.first_offset.get(), first as i64);
        self.history.extend(seen.iter().cloned());
        self.batches.push(Batch {
            records: seen,
            delete_horizon: None,
        });
    }

    fn clean(&mut self, places: usize) {
        let now = self.now;
        let memory = CleanerMemory {
            map_bytes: places * 24,
            ..memory()
        };
        let Some(cleaned) = clean_with(self.log(), TimestampMs(now), memory).unwrap() else {
            return;
        };
        let (from, to) = (cleaned.from.get(), cleaned.to.get());
        assert_eq!(from, self.clean_to.max(self.start));
        assert!(to > from);
        self.clean_to = to;
        let rewritten = self.log().compaction.state.holes_below.get();
        let dirty = self.history.iter().filter(|(o, ..)| *o >= from && *o < to);
        let newest: BTreeMap<_, _> = dirty
            .map(|(offset, key, _)| (key.clone(), *offset))
            .collect();
        for batch in self.batches.iter_mut() {
            if batch
                .records
                .first()
                .is_none_or(|(offset, ..)| *offset >= rewritten)
            {
                continue;
            }
            let keeps_tombstones = batch.delete_horizon.is_none_or(|horizon| now < horizon);
            batch.records.retain(|(offset, key, value)| {
                let is_newest = newest.get(key).is_none_or(|newest| offset >= newest);
                *offset >= to || (is_newest && (value.is_some() || keeps_tombstones))
            });
            let has_tombstone = batch.records.iter().any(|(_, _, value)| value.is_none());
            if has_tombstone && batch.delete_horizon.is_none() {
                batch.delete_horizon = Some(now + RETENTION_MS);
            }
        }
    }

    fn reopen(&mut self, clean: bool) {
        self.epoch += 1;
        let log = self
            .fixture
            .try_open(&compacted(), clean, self.epoch)
            .unwrap();
        assert_eq!(log.log_end_offset().get(), self.history.len() as i64);
        self.log = Some(log);
    }

    fn check(&mut self) {
        let start = self.start;
        let records = self.batches.iter().flat_map(|batch| &batch.records);
        let expected: Vec<Seen> = records.filter(|(o, ..)| *o >= start).cloned().collect();
        let sequences = self.sequences.clone();
        let history = self.history.clone();
        let log = self.log();
        let found = all(log);
        assert_eq!(found, expected);
        assert_eq!(log.log_end_offset().get(), history.len() as i64);
        for producer in log.active_producers() {
            let id = u8::try_from(producer.producer_id.get()).unwrap();
            assert_eq!(producer.last_sequence + 1, sequences[&id]);
        }
        // What a reader from the start on ends up with is what all that was ever written says.
        let state = |records: &[Seen]| {
            let mut state = BTreeMap::new();
            for (offset, key, value) in records.iter().filter(|(o, ..)| *o >= start) {
                match value {
                    Some(value) => state.insert(key.clone(), (*offset, value.clone())),
                    None => state.remove(key),
                };
            }
            state
        };
        assert_eq!(state(&found), state(&history));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn a_compacted_log_is_a_list_without_what_went(operations in prop::collection::vec(operation(), 1..60)) {
        let mut model = Model::new();
        for operation in &operations {
            model.step(operation);
        }
    }
}
