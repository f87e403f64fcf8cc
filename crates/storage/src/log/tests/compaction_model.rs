//! A compacted log does what a list of batches does from which records are taken, whatever the order of operations. Some producers write in
//! transactions: what was aborted is in neither, and who reads what is committed sees nothing else.

use super::compaction::{Seen, all, clean_with, compacted, keyed, memory, seal};
use super::compaction_transactions::{batches, committed, markers};
use super::transactions::{aborted, append_in, end};
use super::*;
use crate::compaction::CleanerMemory;
use crate::formats::transaction_index::AbortedTransaction;
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
    End {
        producer: u8,
        is_commit: bool,
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
    let append = (records, 0usize..5, prop::option::of(0u8..PRODUCERS));
    prop_oneof![
        10 => append.prop_map(|(records, compression, producer)| Operation::Append { records, compression, producer }),
        5 => (0..PRODUCERS, any::<bool>()).prop_map(|(producer, is_commit)| Operation::End { producer, is_commit }),
        4 => Just(Operation::Seal),
        4 => prop_oneof![Just(1000usize), 3usize..12].prop_map(|places| Operation::Clean { places }),
        2 => (1i64..90).prop_map(|minutes| Operation::Wait { minutes }),
        1 => any::<u8>().prop_map(|before| Operation::DeleteRecords { before }),
        1 => Just(Operation::Kill),
        1 => any::<u64>().prop_map(|seed| Operation::PowerCut { seed }),
        1 => Just(Operation::CloseAndOpen),
    ]
}

/// Producers from `TRANSACTIONAL` on write in transactions.
const PRODUCERS: u8 = 6;
const TRANSACTIONAL: u8 = 3;

#[derive(Debug)]
struct Batch {
    base: i64,
    records: Vec<Seen>,
    delete_horizon: Option<i64>,
    /// A number, and whose it is.
    transaction: Option<(usize, u8)>,
}

impl Batch {
    /// Whether its records count; nothing where that is not decided.
    fn is_committed(&self, ends: &BTreeMap<usize, (bool, i64)>) -> Option<bool> {
        let Some((transaction, _)) = self.transaction else {
            return Some(true);
        };
        ends.get(&transaction).map(|(is_commit, _)| *is_commit)
    }
}

struct Model {
    fixture: Fixture,
    log: Option<Log>,
    batches: Vec<Batch>,
    /// All that was ever appended, as it was.
    history: Vec<Batch>,
    next: i64,
    /// The transactions that are open, by producer.
    open: BTreeMap<u8, usize>,
    /// Whether the others were committed, and where their markers are.
    ends: BTreeMap<usize, (bool, i64)>,
    transactions: usize,
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
            next: 0,
            open: BTreeMap::new(),
            ends: BTreeMap::new(),
            transactions: 0,
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
            Operation::End {
                producer,
                is_commit,
            } => self.end(*producer, *is_commit),
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
        let first = self.next;
        let seen: Vec<Seen> = records
            .iter()
            .zip(first..)
            .map(|((key, is_tombstone), offset)| {
                let value = (!is_tombstone).then(|| format!("{offset}"));
                (offset, format!("key {key}"), value)
            })
            .collect();
        let pairs: Vec<_> = seen
            .iter()
            .map(|(_, k, v)| (k.as_str(), v.as_deref()))
            .collect();
        let mut builder = keyed(Compression::ALL[compression], &pairs);
        let mut transaction = None;
        if let Some(producer) = producer {
            let sequence = self.sequences.entry(producer).or_default();
            let id = ProducerId(producer.into());
            builder = builder.producer(id, ProducerEpoch(0), BaseSequence(*sequence));
            *sequence += i32::try_from(records.len()).unwrap();
            if producer >= TRANSACTIONAL {
                builder = builder.transactional();
                let number = self.open.entry(producer).or_insert_with(|| {
                    self.transactions += 1;
                    self.transactions
                });
                transaction = Some((*number, producer));
            }
        }
        let appended = append_in(self.log(), builder.build().unwrap());
        assert_eq!(appended.get(), first);
        self.next += records.len() as i64;
        for batches in [&mut self.batches, &mut self.history] {
            batches.push(Batch {
                base: first,
                records: seen.clone(),
                delete_horizon: None,
                transaction,
            });
        }
    }

    fn end(&mut self, producer: u8, is_commit: bool) {
        let Some(transaction) = self.open.remove(&producer) else {
            return;
        };
        let marker = end(self.log(), producer.into(), is_commit);
        assert_eq!(marker.get(), self.next);
        self.next += 1;
        self.ends.insert(transaction, (is_commit, marker.get()));
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
        let ends = &self.ends;
        let counts = |batch: &&Batch| batch.is_committed(ends) == Some(true);
        let dirty = self.history.iter().filter(counts);
        let dirty = dirty.flat_map(|batch| &batch.records);
        let dirty = dirty.filter(|(o, ..)| *o >= from && *o < to);
        let newest: BTreeMap<_, _> = dirty
            .map(|(offset, key, _)| (key.clone(), *offset))
            .collect();
        for batch in self.batches.iter_mut() {
            if batch.base >= rewritten {
                continue;
            }
            if !batch.is_committed(ends).expect("no open transaction") {
                batch.records.clear();
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
        assert_eq!(log.log_end_offset().get(), self.next);
        self.log = Some(log);
    }

    fn check(&mut self) {
        let start = self.start;
        let records = self.batches.iter().flat_map(|batch| &batch.records);
        let expected: Vec<Seen> = records.filter(|(o, ..)| *o >= start).cloned().collect();
        sync(self.log()).unwrap();
        let log = self.log.as_ref().unwrap();
        assert_eq!(all(log), expected);
        assert_eq!(log.log_end_offset().get(), self.next);
        for producer in log.active_producers() {
            let id = u8::try_from(producer.producer_id.get()).unwrap();
            assert_eq!(producer.last_sequence + 1, self.sequences[&id]);
            let is_open = producer.current_txn_start_offset.get() >= 0;
            assert_eq!(is_open, self.open.contains_key(&id));
        }
        let began = |batch: &&Batch| batch.is_committed(&self.ends).is_none();
        let first_open = self.history.iter().find(began).map(|batch| batch.base);
        let stable = first_open.map_or(self.next, |first| first.max(start));
        assert_eq!(log.last_stable_offset().get(), stable);
        self.check_committed(log, stable);
        self.check_markers(log);
    }

    /// What a reader of committed records from the start on ends up with is what all that was ever written says.
    fn check_committed(&self, log: &Log, stable: i64) {
        let (start, found) = (self.start, committed(log, Offset(stable)));
        let state = |records: &mut dyn Iterator<Item = &Seen>| {
            let mut state = BTreeMap::new();
            for (offset, key, value) in records {
                match value {
                    Some(value) => state.insert(key.clone(), (*offset, value.clone())),
                    None => state.remove(key),
                };
            }
            state
        };
        let counts = |batch: &&Batch| batch.is_committed(&self.ends) == Some(true);
        let history = self.history.iter().filter(counts);
        let history = history.flat_map(|batch| &batch.records);
        let mut history = history.filter(|(o, ..)| *o >= start && *o < stable);
        assert_eq!(state(&mut found.iter()), state(&mut history));
        let counting = self.batches.iter().filter(counts);
        let counting = counting.flat_map(|batch| &batch.records);
        let expected: Vec<_> = counting
            .filter(|(o, ..)| *o >= start && *o < stable)
            .cloned()
            .collect();
        assert_eq!(found, expected);
    }

    /// Where a batch is left of a transaction that has ended, its marker is too, and the index has it if it was aborted; what the index has,
    /// a marker ends.
    fn check_markers(&self, log: &Log) {
        let markers = markers(log);
        let (start, end) = (log.log_start_offset(), log.log_end_offset());
        let told = aborted(log, start, end);
        for bytes in batches(log) {
            let batch = BatchView::parse(&bytes).unwrap();
            if !batch.is_transactional() || batch.is_control() {
                continue;
            }
            let (base, id) = (batch.base_offset().get(), batch.producer_id().get());
            let appended = self.history.iter().find(|batch| batch.base == base);
            let (transaction, _) = appended.unwrap().transaction.unwrap();
            if let Some((is_commit, at)) = self.ends.get(&transaction) {
                assert!(markers.contains(&(*at, id, *is_commit)), "{base}");
                let is_told = |t: &&_| is_of(t, id, *at) && t.first_offset.get() <= base;
                assert_eq!(told.iter().any(|t| is_told(&t)), !is_commit, "{base}");
            }
        }
        for entry in &told {
            let (at, id) = (entry.last_offset.get(), entry.producer_id.get());
            assert!(markers.contains(&(at, id, false)), "{entry:?}");
        }
    }
}

fn is_of(aborted: &AbortedTransaction, id: i64, marker: i64) -> bool {
    aborted.producer_id.get() == id && aborted.last_offset.get() == marker
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn a_compacted_log_is_a_list_without_what_went(operations in prop::collection::vec(operation(), 1..80)) {
        let mut model = Model::new();
        for operation in &operations {
            model.step(operation);
        }
    }
}
