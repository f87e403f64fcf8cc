//! Message ids against a model that says of every record whether it is new: random batches, transactions, clocks, restarts and crashes.

#![allow(
    clippy::unwrap_used,
    reason = "the lint does not know that this is a test"
)]

mod common;

use common::dedup::*;
use common::*;
use fanlog_broker::{AppendReceipt, Broker, CoordinatorError, IdsError, TransactionRequestError};
use fanlog_coordinators::transaction::Producer;
use fanlog_protocol::records::{BatchBuilder, Compression};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

#[derive(Clone, Debug)]
enum Step {
    Send {
        partition: i32,
        ids: Vec<u8>,
        compression: usize,
    },
    SendInTransaction(Vec<u8>),
    End {
        is_commit: bool,
    },
    Pass(u64),
    Restart {
        is_clean: bool,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let ids = || prop::collection::vec(0..8_u8, 1..5);
    prop_oneof![
        6 => (0..2, ids(), 0..Compression::ALL.len())
            .prop_map(|(partition, ids, compression)| Step::Send { partition, ids, compression }),
        2 => ids().prop_map(Step::SendInTransaction),
        1 => any::<bool>().prop_map(|is_commit| Step::End { is_commit }),
        2 => (0..WINDOW_MS).prop_map(Step::Pass),
        1 => any::<bool>().prop_map(|is_clean| Step::Restart { is_clean }),
    ]
}

/// Where an id was first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Known {
    partition: i32,
    offset: i64,
    /// When it was appended, and when at the latest as far as a broker that has started since may know.
    time_ms: u64,
    latest_ms: u64,
    /// Whether the broker has started since.
    is_vague: bool,
}

/// What becomes of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    New,
    Repeated(Known),
    /// Its window may be over or not.
    Either(Known),
}

struct World {
    machine: Machine,
    broker: Arc<Broker>,
    now_ms: u64,
    known: BTreeMap<u8, Known>,
    open: Option<(Producer, i32)>,
    open_ids: BTreeMap<u8, Known>,
    /// What lies in the partitions: offset and id.
    logs: [Vec<(i64, u8)>; 2],
    /// Of the open transaction.
    uncommitted: Vec<(i64, u8)>,
}

fn texts(ids: &[u8]) -> Vec<String> {
    ids.iter().map(|id| format!("id-{id}")).collect()
}

impl World {
    async fn new() -> Self {
        let machine = Machine::new(5);
        let broker = machine.start();
        create_remembering(&broker, 2).await;
        Self {
            machine,
            broker,
            now_ms: 0,
            known: BTreeMap::new(),
            open: None,
            open_ids: BTreeMap::new(),
            logs: Default::default(),
            uncommitted: Vec::new(),
        }
    }

    async fn take(&mut self, step: &Step) {
        match step {
            Step::Send {
                partition,
                ids,
                compression,
            } => {
                self.send(*partition, ids, Compression::ALL[*compression])
                    .await
            }
            Step::SendInTransaction(ids) => self.send_in_transaction(ids).await,
            Step::End { is_commit } => self.end(*is_commit).await,
            Step::Pass(ms) => {
                self.now_ms += ms;
                self.machine.clock.advance(Duration::from_millis(*ms));
                if ms % 2 == 0 {
                    self.broker.maintain();
                }
            }
            Step::Restart { is_clean } => self.restart(*is_clean).await,
        }
    }

    fn expected(&self, ids: &[u8]) -> Vec<Expected> {
        let of = |id: &u8| match self.known.get(id) {
            Some(known) if self.now_ms < known.time_ms + WINDOW_MS => Expected::Repeated(*known),
            Some(known) if self.now_ms < known.latest_ms + WINDOW_MS => Expected::Either(*known),
            _ => Expected::New,
        };
        ids.iter().map(of).collect()
    }

    async fn send(&mut self, partition: i32, ids: &[u8], compression: Compression) {
        let texts = texts(ids);
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let batch = with_ids(BatchBuilder::new(compression), &texts);
        let log = common::partition(&self.broker, "t", partition);
        let mut expected = self.expected(ids);
        let end = log.high_watermark().0;
        let is_open = |id: &u8| self.open_ids.contains_key(id);
        let appended = match ids.iter().any(is_open) {
            // Time-outs pass at once where nothing else is done.
            true => append_ids(&log, batch, None).await,
            false => send(&self.broker, partition, batch).await,
        };
        let receipt = match appended {
            Ok(receipt) => receipt,
            Err(error) => {
                let error = ids_error(error);
                assert!(matches!(error, IdsError::Undecided { .. }), "{error}");
                assert!(ids.iter().any(is_open), "{error}");
                return;
            }
        };
        for (id, expected) in ids.iter().zip(&mut expected).filter(|(id, _)| is_open(id)) {
            // An older record with its id may be remembered for longer than it must.
            *expected = match expected {
                Expected::Either(known) => Expected::Repeated(*known),
                _ => panic!("{id} belongs to the open transaction"),
            };
        }
        let kept = self.check(&receipt, partition, ids, &expected);
        drive(&self.broker, receipt.durable()).await.unwrap();
        let appended = if kept.is_empty() { 0 } else { ids.len() as i64 };
        assert_eq!(log.high_watermark().0, end + appended);
        for (offset, id) in kept {
            let known = self.at(partition, offset);
            self.known.insert(id, known);
            self.logs[partition as usize].push((offset, id));
        }
    }

    fn was_there(&self, (partition, offset): (i32, i64), id: u8) -> bool {
        let is_it = |at: &(i64, u8)| partition == 0 && *at == (offset, id);
        self.uncommitted.iter().any(is_it) || self.logs[partition as usize].contains(&(offset, id))
    }

    fn at(&self, partition: i32, offset: i64) -> Known {
        Known {
            partition,
            offset,
            time_ms: self.now_ms,
            latest_ms: self.now_ms,
            is_vague: false,
        }
    }

    /// Compares each record's place with what is expected; those that were appended.
    fn check(
        &self,
        receipt: &AppendReceipt,
        partition: i32,
        ids: &[u8],
        expected: &[Expected],
    ) -> Vec<(i64, u8)> {
        let mut kept: Vec<(i64, u8)> = Vec::new();
        for (number, (id, expected)) in (0..).zip(ids.iter().zip(expected)) {
            let place = receipt.place_of(number);
            let found = (place.partition.0, place.offset.0);
            if let Some((offset, _)) = kept.iter().find(|(_, other)| other == id) {
                assert!(place.first_appended.is_some(), "{id} came twice");
                assert_eq!(found, (partition, *offset));
                continue;
            }
            match (place.first_appended, expected) {
                (None, Expected::New | Expected::Either(_)) => {
                    assert_eq!(found.0, partition);
                    kept.push((place.offset.0, *id));
                }
                (Some(_), Expected::Repeated(known) | Expected::Either(known)) => {
                    let is_it = found == (known.partition, known.offset);
                    // Since a restart an older one may be remembered in its place.
                    let is_older = known.is_vague && self.was_there(found, *id);
                    assert!(is_it || is_older, "{id} is {place:?} instead of {known:?}");
                }
                _ => panic!("{id} is {place:?} instead of {expected:?}"),
            }
        }
        kept
    }

    async fn send_in_transaction(&mut self, ids: &[u8]) {
        let texts = texts(ids);
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let mut transaction = match self.open {
            Some((producer, sequence)) => Transaction {
                broker: &self.broker,
                id: "one",
                producer,
                sequence,
            },
            None => Transaction::begin(&self.broker, "one").await,
        };
        let expected: Vec<_> = ids.iter().zip(self.expected(ids)).collect();
        let expected: Vec<_> = expected
            .into_iter()
            .map(|(id, expected)| match self.open_ids.get(id) {
                Some(known) => Expected::Repeated(*known),
                None => expected,
            })
            .collect();
        let receipt = transaction.receipt(&texts).await.unwrap();
        let open = (transaction.producer, transaction.sequence);
        let kept = self.check(&receipt, 0, ids, &expected);
        drive(&self.broker, receipt.durable()).await.unwrap();
        self.open = Some(open);
        for (offset, id) in kept {
            let known = self.at(0, offset);
            self.open_ids.insert(id, known);
            self.uncommitted.push((offset, id));
        }
    }

    async fn end(&mut self, is_commit: bool) {
        let Some((producer, sequence)) = self.open.take() else {
            return;
        };
        let transaction = Transaction {
            broker: &self.broker,
            id: "one",
            producer,
            sequence,
        };
        transaction.end(is_commit).await;
        let ids = std::mem::take(&mut self.open_ids);
        // Aborted records stay in the log, and count for nothing.
        self.logs[0].append(&mut self.uncommitted);
        if is_commit {
            self.known.extend(ids);
        }
    }

    async fn restart(&mut self, is_clean: bool) {
        if is_clean {
            drive(&self.broker, self.broker.shutdown()).await;
        } else {
            self.machine.disk.crash(self.now_ms);
        }
        self.machine.disk.restart();
        self.broker = self.machine.start();
        for known in self.known.values_mut().chain(self.open_ids.values_mut()) {
            known.latest_ms = self.now_ms;
            known.is_vague = true;
        }
        // The transaction goes on, once its coordinator has read its log.
        let transactions = self.broker.transactions();
        while let Err(TransactionRequestError::Coordinator(CoordinatorError::Loading)) =
            drive(&self.broker, transactions.describe("one".into())).await
        {
            tokio::task::yield_now().await;
        }
    }

    async fn finish(mut self) {
        self.end(true).await;
        for (partition, log) in (0..).zip(&self.logs) {
            let own = |(offset, id): &(i64, u8)| (*offset, format!("id-{id}"));
            let mut expected: Vec<_> = log.iter().map(own).collect();
            expected.sort();
            let mut found = stored(&self.broker, partition).await;
            // Markers lie between them.
            found.retain(|(_, value)| value.starts_with("id-"));
            assert_eq!(found, expected);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]
    #[test]
    fn every_record_is_new_or_repeated_as_the_model_says(steps in prop::collection::vec(step(), 1..40)) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(async {
            let mut world = World::new().await;
            for step in &steps {
                world.take(step).await;
            }
            world.finish().await;
        });
    }
}
