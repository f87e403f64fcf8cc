//! Cleaning a log with transactions: what a reader of committed records makes of it is the newest value of each key, before and after.

use super::compaction::{HOUR_MS, clean_with, compacted, memory};
use super::*;
use fanlog_model::ProducerId;
use fanlog_protocol::records::EndMarker;
use proptest::prelude::*;
use std::collections::{BTreeMap, HashSet};

fn record(key: u8, value: Option<String>) -> BatchBuilder {
    let mut builder = BatchBuilder::new(Compression::None);
    let record = NewRecord {
        timestamp: NOW,
        key: Some(&[key]),
        value: value.as_deref().map(str::as_bytes),
        headers: &[],
    };
    builder.push(&record).unwrap();
    builder
}

fn append_in(log: &mut Log, mut batch: Vec<u8>) {
    let at = log.log_end_offset();
    let config = log.config().clone();
    let checked = CheckedBatches::check(&config, &mut batch, AppendOrigin::Client, NOW).unwrap();
    let epoch = log.leader_epoch();
    log.append_checked(checked.allowed_at(Some(at)), epoch)
        .unwrap();
}

fn end(log: &mut Log, id: i64, is_commit: bool) {
    let marker = EndMarker {
        is_commit,
        coordinator_epoch: 1,
    };
    let mut batch = marker.batch(ProducerId(id), ProducerEpoch(0), NOW);
    let epoch = log.leader_epoch();
    log.append(&mut batch, AppendOrigin::Coordinator, epoch, NOW)
        .unwrap();
}

/// The last value of each key, as a client reads it with the aborted transactions that a fetch from the start is told of; and how many batches
/// it met.
fn committed(log: &Log) -> (BTreeMap<u8, Option<String>>, usize) {
    let (mut values, mut batches) = (BTreeMap::new(), 0);
    let below = log.last_stable_offset();
    let mut at = log.log_start_offset();
    while at < below {
        let limit = ReadLimit {
            max_bytes: 1 << 20,
            min_one_batch: true,
            below,
        };
        let plan = log.read(at, limit).unwrap();
        let mut aborted = Vec::new();
        if let Some(mut search) = log.aborted_search(at, plan.next_offset) {
            while let Some(segment) = log.next_of_search(&search) {
                if search.look_into(&segment).unwrap() {
                    break;
                }
            }
            aborted = search.finish();
        }
        let mut skipped = HashSet::new();
        for bytes in plan.read().unwrap() {
            for batch in BatchView::parse_all(&bytes) {
                let batch = batch.unwrap();
                batches += 1;
                while aborted
                    .first()
                    .is_some_and(|t| t.first_offset <= batch.last_offset())
                {
                    skipped.insert(aborted.remove(0).producer_id);
                }
                if batch.is_control() {
                    if EndMarker::of_batch(&batch).is_some_and(|marker| !marker.is_commit) {
                        skipped.remove(&batch.producer_id());
                    }
                } else if !(batch.is_transactional() && skipped.contains(&batch.producer_id())) {
                    let mut decompressor = Decompressor::default();
                    for record in batch.records(&mut decompressor).unwrap() {
                        let record = record.unwrap();
                        let text = |v: &[u8]| String::from_utf8(v.to_vec()).unwrap();
                        values.insert(record.key.unwrap()[0], record.value.map(text));
                    }
                }
            }
        }
        assert!(plan.next_offset > at, "a reader comes on");
        at = plan.next_offset;
    }
    values.retain(|_, value| value.is_some());
    (values, batches)
}

#[derive(Clone, Debug)]
enum Step {
    Plain(u8, bool),
    In(i64, u8, bool),
    End(i64, bool),
    Seal,
    Clean(i64),
    Crash(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => (0u8..4, any::<bool>()).prop_map(|(key, is_value)| Step::Plain(key, is_value)),
        6 => (0i64..3, 0u8..4, any::<bool>()).prop_map(|(id, key, is)| Step::In(id, key, is)),
        5 => (0i64..3, any::<bool>()).prop_map(|(id, commit)| Step::End(id, commit)),
        3 => Just(Step::Seal),
        3 => (0i64..4).prop_map(Step::Clean),
        1 => any::<u64>().prop_map(Step::Crash),
    ]
}

fn run(steps: Vec<Step>) {
    let fixture = Fixture::new();
    let config = compacted();
    let mut log = fixture.create(&config);
    let (mut sequences, mut epoch, mut number) = ([0i32; 3], 0, 0);
    let mut hours = 0;
    for step in steps {
        number += 1;
        let value = |is_value: bool| is_value.then(|| number.to_string());
        match step {
            Step::Plain(key, is_value) => {
                send(&mut log, record(key, value(is_value)).build().unwrap()).unwrap();
            }
            Step::In(id, key, is_value) => {
                let sequence = &mut sequences[id as usize];
                let batch = record(key, value(is_value))
                    .producer(ProducerId(id), ProducerEpoch(0), BaseSequence(*sequence))
                    .transactional()
                    .build();
                *sequence += 1;
                append_in(&mut log, batch.unwrap());
            }
            Step::End(id, commit) => end(&mut log, id, commit),
            Step::Seal => {
                let later = TimestampMs(NOW.get() + 30 * 24 * HOUR_MS);
                log.roll_if_due(later).unwrap();
                sync(&mut log).unwrap();
            }
            Step::Clean(more) => {
                hours += more;
                let before = committed(&log);
                let now = TimestampMs(NOW.get() + hours * HOUR_MS);
                clean_with(&mut log, now, memory()).unwrap();
                assert_eq!(committed(&log).0, before.0);
            }
            Step::Crash(seed) => {
                sync(&mut log).unwrap();
                let before = committed(&log);
                drop(log);
                fixture.disk.crash(seed);
                epoch += 1;
                log = fixture.open(&config, epoch);
                assert_eq!(committed(&log).0, before.0);
            }
        }
    }
    // In the end nothing is left of what was aborted, nor of markers that end nothing.
    for id in 0..3 {
        end(&mut log, id, false);
    }
    for round in 0..4 {
        send(
            &mut log,
            record(9, Some("last".to_owned())).build().unwrap(),
        )
        .unwrap();
        let later = TimestampMs(NOW.get() + 30 * 24 * HOUR_MS);
        log.roll_if_due(later).unwrap();
        sync(&mut log).unwrap();
        let before = committed(&log);
        let now = TimestampMs(NOW.get() + (hours + 10 * (round + 1)) * HOUR_MS);
        clean_with(&mut log, now, memory()).unwrap();
        assert_eq!(committed(&log).0, before.0);
    }
    let (values, batches) = committed(&log);
    // Beside the newest value of each key: one batch of each producer, the last of each segment, markers of what is there.
    let bound = 2 * (values.len() + 3) + 3 + log.segment_count();
    assert!(
        batches <= bound,
        "{batches} batches of {} keys",
        values.len()
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]
    #[test]
    fn cleaning_changes_nothing_for_readers_of_committed_records(steps in prop::collection::vec(step(), 1..80)) {
        run(steps);
    }
}
