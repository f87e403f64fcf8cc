//! Apache Kafka's own DumpLogSegments reads segments that compaction has written.
//!
//! Needs Java, and Kafka's jars in `FANLOG_KAFKA_CLASSPATH`; `cargo xtask test` sees to both.

#![expect(clippy::unwrap_used, reason = "a test, helpers included")]

use fanlog_environment::{Environment, RealDisk};
use fanlog_model::{BaseSequence, LeaderEpoch, ProducerEpoch, ProducerId, TimestampMs, TopicId};
use fanlog_protocol::records::{BatchBuilder, Compression, EndMarker, NewRecord};
use fanlog_storage::{AppendOrigin, CheckedBatches, CleanerMemory, Log, LogConfig};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

const NOW: TimestampMs = TimestampMs(1_800_000_000_000);
const DIR: &str = "orders-0";
const BATCHES: i64 = 400;

/// By key: where it was written last, and its value.
type Newest = BTreeMap<String, (i64, Option<String>)>;

fn dump(arguments: &[&str], files: &[PathBuf]) -> String {
    let class_path = std::env::var("FANLOG_KAFKA_CLASSPATH").expect(
        "FANLOG_KAFKA_CLASSPATH must list the jars of org.apache.kafka:kafka-tools:4.4.0; run `cargo xtask test`, which fetches them",
    );
    let files: Vec<String> = files
        .iter()
        .map(|file| file.display().to_string())
        .collect();
    let output = Command::new("java")
        .args(["-cp", &class_path, "org.apache.kafka.tools.DumpLogSegments"])
        .args(arguments)
        .args(["--files", &files.join(",")])
        .output()
        .expect("java must be installed: Kafka's tools need it");
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "DumpLogSegments failed:\n{text}");
    text
}

/// What stands behind `name: ` in a line.
fn field<'a>(line: &'a str, name: &str) -> &'a str {
    let label = format!("{name}: ");
    let at = line
        .find(&label)
        .unwrap_or_else(|| panic!("no {name} in {line:?}"));
    line[at + label.len()..].split(' ').next().unwrap()
}

/// Two records: a key that comes again and again, and one of ten; some are tombstones. Of two producers, and of none.
fn append(log: &mut Log, i: i64, newest: &mut Newest) {
    let first = log.log_end_offset().get();
    let mut builder = BatchBuilder::new(Compression::ALL[usize::try_from(i).unwrap() % 5]);
    if i % 3 > 0 {
        let sequence = BaseSequence(i32::try_from(i / 3 * 2).unwrap());
        builder = builder.producer(ProducerId(1000 + i % 3), ProducerEpoch(2), sequence);
    }
    for (j, key) in (0..).zip([format!("key-{}", i % 37), format!("other-{}", i % 10)]) {
        let value = format!(
            "value-{}-{}",
            first + j,
            "z".repeat(usize::try_from(i * 7 % 500).unwrap())
        );
        let value = (i % 11 != 4).then_some(value);
        let record = NewRecord {
            timestamp: TimestampMs(NOW.get() + i * 10 + (i * 7919) % 601),
            key: Some(key.as_bytes()),
            value: value.as_deref().map(str::as_bytes),
            headers: &[("trace", Some(b"1"))],
        };
        builder.push(&record).unwrap();
        newest.insert(key, (first + j, value));
    }
    let epoch = log.leader_epoch();
    let mut bytes = builder.build().unwrap();
    log.append(&mut bytes, AppendOrigin::Client, epoch, NOW)
        .unwrap();
}

/// A transaction of one record, of a producer of its own. What was aborted is nowhere.
fn transact(log: &mut Log, i: i64, is_commit: bool, newest: &mut Newest) {
    let (id, producer_epoch) = (ProducerId(2000 + i), ProducerEpoch(1));
    let first = log.log_end_offset();
    let (key, value) = (format!("key-{}", i % 37), format!("value-{first}"));
    let mut builder = BatchBuilder::new(Compression::Lz4)
        .producer(id, producer_epoch, BaseSequence(0))
        .transactional();
    let record = NewRecord {
        timestamp: NOW,
        key: Some(key.as_bytes()),
        value: Some(value.as_bytes()),
        headers: &[("trace", Some(b"1"))],
    };
    builder.push(&record).unwrap();
    let marker = EndMarker {
        is_commit,
        coordinator_epoch: 4,
    };
    let marker = marker.batch(id, producer_epoch, NOW);
    for mut bytes in [builder.build().unwrap(), marker] {
        let (config, epoch) = (log.config().clone(), log.leader_epoch());
        let origin = AppendOrigin::Coordinator;
        let checked = CheckedBatches::check(&config, &mut bytes, origin, NOW).unwrap();
        let end = log.log_end_offset();
        log.append_checked(checked.allowed_at(Some(end)), epoch)
            .unwrap();
    }
    if is_commit {
        newest.insert(key, (first.get(), Some(value)));
    }
}

fn clean(log: &mut Log, now: TimestampMs) {
    let memory = CleanerMemory::default();
    let mut cleaning = log.begin_cleaning(now, memory).unwrap().unwrap();
    cleaning
        .run(&mut |_| true, &mut |cleaned| {
            let begun = log.begin_swap(cleaned)?;
            let decided = begun.decide();
            log.install_cleaned(cleaned, &begun, decided)
        })
        .unwrap();
    log.finish_cleaning(&cleaning);
}

#[test]
fn kafka_reads_what_compaction_left_and_finds_its_indexes_in_agreement() {
    let root = tempfile::tempdir().unwrap();
    let environment = Environment::real(RealDisk::open(root.path()).unwrap());
    let config = LogConfig {
        segment_bytes: 32 * 1024,
        index_interval_bytes: 700,
        is_compacted: true,
        ..LogConfig::default()
    };
    let id = TopicId(environment.entropy.uuid());
    let mut log = Log::create(&environment, Path::new(DIR), id, config, LeaderEpoch(3)).unwrap();
    let mut newest = BTreeMap::new();
    for i in 0..BATCHES {
        append(&mut log, i, &mut newest);
        if i % 8 == 5 {
            transact(&mut log, i, i % 16 == 5, &mut newest);
        }
        if i == BATCHES / 2 || i == BATCHES - 1 {
            log.roll_if_due(TimestampMs(i64::MAX)).unwrap();
            if let Some(ticket) = log.begin_sync() {
                let result = ticket.run();
                log.finish_sync(ticket, result).unwrap();
            }
            clean(&mut log, NOW);
        }
    }
    let end = log.log_end_offset().get();
    log.close().unwrap();
    let files = |suffix: &str| {
        let entries = std::fs::read_dir(root.path().join(DIR)).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        let mut files: Vec<_> = paths
            .filter(|p| p.extension().is_some_and(|e| e == suffix))
            .collect();
        files.sort();
        files
    };
    let text = dump(&["--deep-iteration", "--print-data-log"], &files("log"));
    let (mut records, mut next, mut empty, mut horizons) = (BTreeMap::new(), 0, 0, 0);
    let mut ends = BTreeSet::new();
    for line in text.lines() {
        if line.starts_with("baseOffset: ") {
            let number = |name| field(line, name).parse::<i64>().unwrap();
            assert!(number("baseOffset") >= next, "{line}");
            next = number("lastOffset") + 1;
            assert_eq!(field(line, "isvalid"), "true", "{line}");
            empty += i64::from(number("count") == 0);
            horizons += i64::from(!line.contains("deleteHorizonMs: OptionalLong.empty"));
        } else if line.contains(" endTxnMarker: ") {
            assert_eq!(field(line, "coordinatorEpoch"), "4", "{line}");
            ends.insert(field(line, "endTxnMarker").to_owned());
        } else if line.starts_with("| offset: ") {
            let offset: i64 = field(line, "offset").parse().unwrap();
            let value = line
                .contains(" payload: ")
                .then(|| field(line, "payload").to_owned());
            records.insert(field(line, "key").to_owned(), (offset, value));
            assert!(line.contains("headerKeys: [trace]"), "{line}");
        }
    }
    assert_eq!(next, end);
    assert_eq!(records, newest);
    assert_eq!(ends.len(), 2, "commits and aborts: {ends:?}");
    assert!(
        empty > 0 && horizons > 0,
        "empty {empty}, horizons {horizons}"
    );
    let both = [files("index"), files("timeindex")].concat();
    for arguments in [&["--verify-index-only"][..], &[]] {
        let text = dump(arguments, &both);
        for complaint in [
            "Mismatches in",
            "Found timestamp mismatch in",
            "out of order timestamp",
            "offsets are not found",
        ] {
            assert!(!text.contains(complaint), "{text}");
        }
    }
}
