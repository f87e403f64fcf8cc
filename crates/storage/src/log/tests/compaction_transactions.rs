//! Cleaning of a log with transactions.

use super::compaction::{
    HOUR_MS, Seen, all, clean, clean_at, clean_with, compacted, keyed, memory, put_keyed, seal,
    seen, some,
};
use super::transactions::{aborted, append_for, append_in, end};
use super::*;
use crate::compaction::CleanError;
use crate::formats::file_names::{PRODUCER_SNAPSHOT, TRANSACTION_INDEX};
use crate::journal::Pending;
use fanlog_protocol::records::EndMarker;
use std::collections::BTreeSet;

/// The batches from the log's start on.
pub(super) fn batches(log: &Log) -> Vec<Vec<u8>> {
    let (mut at, end) = (log.log_start_offset(), log.log_end_offset());
    let mut batches = Vec::new();
    while at < end {
        let limit = ReadLimit {
            max_bytes: 1,
            min_one_batch: true,
            below: end,
        };
        let plan = log.read(at, limit).unwrap();
        batches.extend(plan.read().unwrap().iter().map(|bytes| bytes.to_vec()));
        assert!(plan.next_offset > at);
        at = plan.next_offset;
    }
    batches
}

/// Where the markers are that say how a transaction ended.
pub(super) fn markers(log: &Log) -> Vec<(i64, i64, bool)> {
    let mut markers = Vec::new();
    for bytes in batches(log) {
        let batch = BatchView::parse(&bytes).unwrap();
        if let Some(marker) = EndMarker::of_batch(&batch) {
            let (id, at) = (batch.producer_id().get(), batch.last_offset().get());
            markers.push((at, id, marker.is_commit));
        }
    }
    markers
}

/// What a consumer of committed records gets below `below`, by what it is told of aborted transactions, as Kafka's clients do.
pub(super) fn committed(log: &Log, below: Offset) -> Vec<Seen> {
    let start = log.log_start_offset();
    let told = aborted(log, start, below);
    let mut told = told.iter().peekable();
    let (mut skipped, mut records) = (BTreeSet::new(), Vec::new());
    for bytes in batches(log) {
        let batch = BatchView::parse(&bytes).unwrap();
        if batch.base_offset() >= below {
            break;
        }
        while let Some(next) = told.next_if(|next| next.first_offset <= batch.last_offset()) {
            skipped.insert(next.producer_id);
        }
        let marker = EndMarker::of_batch(&batch);
        if marker.is_some_and(|marker| !marker.is_commit) {
            skipped.remove(&batch.producer_id());
        } else if !(batch.is_transactional() && skipped.contains(&batch.producer_id())) {
            seen(&bytes, &mut records);
        }
    }
    records.retain(|(offset, ..)| *offset >= start.get() && *offset < below.get());
    records
}

pub(super) fn transactional(id: i64, sequence: i32, records: &[(&str, Option<&str>)]) -> Vec<u8> {
    keyed(Compression::None, records)
        .producer(ProducerId(id), ProducerEpoch(0), BaseSequence(sequence))
        .transactional()
        .build()
        .unwrap()
}

/// Nothing else says which transactions were aborted: the batches of a segment do not say where they began.
#[test]
fn an_index_of_aborted_transactions_that_cannot_take_its_place_stops_the_log_and_is_kept() {
    let fixture = Fixture::new();
    let mut log = fixture.create(&compacted());
    append_in(&mut log, transactional(1, 0, &[("a", Some("1"))]));
    end(&mut log, 1, false);
    put_keyed(&mut log, &[("b", Some("1"))]);
    seal(&mut log);
    let expected = aborted(&log, Offset(0), Offset(3));
    assert_eq!(expected.len(), 1);
    let name = file_names::with_offset(Offset(0), TRANSACTION_INDEX);
    let path = Path::new(DIR).join(name);
    let mut cleaning = log.begin_cleaning(NOW, memory()).unwrap().unwrap();
    let result = cleaning.run(&mut |_| true, &mut |cleaned| {
        let begun = log.begin_swap(cleaned)?;
        let decided = begun.decide();
        // A folder in its place refuses the name.
        fixture.disk.remove_file(&path).unwrap();
        fixture.disk.create_dir_all(&path).unwrap();
        log.install_cleaned(cleaned, &begun, decided)
    });
    log.finish_cleaning(&cleaning);
    assert!(matches!(result, Err(CleanError::Failed(_))), "{result:?}");
    assert!(log.failure().is_some());
    drop(log);
    fixture.disk.remove_dir_all(&path).unwrap();
    fixture.disk.restart();
    let mut log = fixture.open(&compacted(), 1);
    assert_eq!(aborted(&log, Offset(0), Offset(3)), expected);
    put_keyed(&mut log, &[("b", Some("2"))]);
    seal(&mut log);
    clean_with(&mut log, NOW, memory()).unwrap();
    assert_eq!(aborted(&log, Offset(0), Offset(3)), expected);
}

/// A transaction of one record.
fn transact(log: &mut Log, id: i64, sequence: i32, key: &str, value: Option<&str>, commit: bool) {
    let batch = transactional(id, sequence, &[(key, value)]);
    match sequence {
        -1 => append_for(
            log,
            batch,
            AppendOrigin::Coordinator,
            &mut Pending::default(),
        ),
        _ => append_in(log, batch),
    };
    end(log, id, commit);
}

#[test]
fn aborted_records_go_and_hide_nothing_and_committed_ones_are_like_others() {
    let fixture = Fixture::new();
    let mut log = fixture.create(&compacted());
    put_keyed(&mut log, &[("a", Some("plain")), ("b", Some("plain"))]);
    transact(&mut log, 9, 0, "a", Some("aborted"), false);
    transact(&mut log, 9, 1, "b", Some("committed"), true);
    transact(&mut log, 9, 2, "c", Some("old"), true);
    transact(&mut log, 9, 3, "c", Some("new"), true);
    // One that begins among what is cleaned and ends behind it.
    append_in(&mut log, transactional(8, 0, &[("a", Some("open"))]));
    seal(&mut log);
    put_keyed(&mut log, &[("d", Some("1"))]);
    end(&mut log, 8, false);
    sync(&mut log).unwrap();
    clean(&mut log);
    let expected = [
        some(0, "a", "plain"),
        some(4, "b", "committed"),
        some(8, "c", "new"),
        some(11, "d", "1"),
    ];
    assert_eq!(all(&log), expected);
    assert_eq!(committed(&log, log.last_stable_offset()), expected);
    // The next cleaning goes over all that.
    put_keyed(&mut log, &[("c", Some("newest"))]);
    seal(&mut log);
    clean(&mut log);
    let expected = [
        some(0, "a", "plain"),
        some(4, "b", "committed"),
        some(11, "d", "1"),
        some(13, "c", "newest"),
    ];
    assert_eq!(all(&log), expected);
    assert_eq!(committed(&log, log.last_stable_offset()), expected);
    assert_eq!(log.log_end_offset(), Offset(14));
}

#[test]
fn nothing_of_an_open_transaction_is_touched() {
    let fixture = Fixture::new();
    let mut log = fixture.create(&compacted());
    append_in(&mut log, transactional(9, 0, &[("a", Some("1"))]));
    seal(&mut log);
    let cleaned = clean_with(&mut log, NOW, memory()).unwrap();
    assert!(cleaned.is_none());
}

#[test]
fn a_marker_stays_while_there_are_batches_and_then_until_its_delete_horizon() {
    let fixture = Fixture::new();
    let mut log = fixture.create(&compacted());
    transact(&mut log, 1, 0, "a", Some("aborted"), false);
    transact(&mut log, 2, 0, "a", Some("committed"), true);
    // Neither producer's last batch is among these.
    transact(&mut log, 1, 1, "one", Some("1"), true);
    transact(&mut log, 2, 1, "two", Some("2"), true);
    let mut round = 0;
    let mut clean_after = |log: &mut Log, ms: i64| {
        put_keyed(log, &[("a", Some(&format!("round {round}")))]);
        round += 1;
        seal(log);
        clean_at(log, TimestampMs(NOW.get() + ms));
        let markers: Vec<i64> = markers(log).iter().map(|(at, ..)| *at).collect();
        let told = aborted(log, Offset(0), log.log_end_offset()).len();
        (markers, told)
    };
    // The records go, the markers and the entry stay: a crash may bring the records back.
    assert_eq!(clean_after(&mut log, 0), (vec![1, 3, 5, 7], 1));
    // There are no records now: the horizon is set, and the entry goes.
    assert_eq!(clean_after(&mut log, 10), (vec![1, 3, 5, 7], 0));
    assert_eq!(clean_after(&mut log, HOUR_MS), (vec![1, 3, 5, 7], 0));
    assert_eq!(clean_after(&mut log, HOUR_MS + 10), (vec![5, 7], 0));
    assert_eq!(log.log_end_offset(), Offset(12));
    for (epoch, clean) in [(1, false), (2, true)] {
        match clean {
            true => log.close().unwrap(),
            false => drop(log),
        }
        log = fixture.try_open(&compacted(), clean, epoch).unwrap();
        assert_eq!(aborted(&log, Offset(0), Offset(12)), []);
        let keys: Vec<_> = committed(&log, Offset(12))
            .into_iter()
            .map(|(_, key, _)| key)
            .collect();
        assert_eq!(keys, ["one", "two", "a"]);
    }
}

#[test]
fn what_says_where_a_producer_is_stays_without_its_records() {
    let fixture = Fixture::new();
    let mut log = fixture.create(&compacted());
    transact(&mut log, 1, 0, "a", Some("aborted"), false);
    // One whose records have no sequence, as those of committed offsets: its marker has its epoch.
    transact(&mut log, 2, -1, "a", Some("offset"), true);
    for (round, ms) in [0, 0, HOUR_MS, 3 * HOUR_MS].into_iter().enumerate() {
        put_keyed(&mut log, &[("a", Some(&format!("{round}")))]);
        seal(&mut log);
        clean_at(&mut log, TimestampMs(NOW.get() + ms));
    }
    // Not the second producer's.
    assert_eq!(markers(&log), [(1, 1, false)]);
    drop(log);
    for entry in fixture.disk.read_dir(Path::new(DIR)).unwrap() {
        if entry.name.to_string_lossy().ends_with(PRODUCER_SNAPSHOT) {
            let path = Path::new(DIR).join(entry.name);
            fixture.disk.remove_file(&path).unwrap();
        }
    }
    let log = fixture.open(&compacted(), 1);
    assert_eq!(log.last_stable_offset(), log.log_end_offset());
    let producers = log.active_producers();
    let found: Vec<_> = producers
        .iter()
        .map(|p| {
            (
                p.producer_id.get(),
                p.producer_epoch.get(),
                p.last_sequence,
                p.current_txn_start_offset.get(),
            )
        })
        .collect();
    assert_eq!(found, [(1, 0, 0, -1), (2, 0, -1, -1)]);
    assert_eq!(committed(&log, log.log_end_offset()).len(), 1);
}

/// Aborted records would be taken for committed ones, and hide those, for good.
#[test]
fn an_abort_marker_that_no_index_knows_stops_the_cleaning() {
    let fixture = Fixture::new();
    let mut log = fixture.create(&compacted());
    put_keyed(&mut log, &[("a", Some("1"))]);
    transact(&mut log, 1, 0, "a", Some("aborted"), false);
    seal(&mut log);
    log.close().unwrap();
    let path = file_names::with_offset(Offset(0), TRANSACTION_INDEX);
    let path = Path::new(DIR).join(path);
    fixture.disk.remove_file(&path).unwrap();
    let mut log = fixture.open_clean(&compacted(), 1);
    let before = all(&log);
    let error = clean_with(&mut log, NOW, memory()).unwrap_err();
    assert!(error.to_string().contains("txnindex"), "{error}");
    assert!(!error.may_pass());
    assert_eq!(all(&log), before);
}
