//! Apache Kafka's own DumpLogSegments reads what we write.
//!
//! Needs Java, and Kafka's jars in `FANLOG_KAFKA_CLASSPATH`; `cargo xtask test` sees to both.

#![expect(clippy::unwrap_used, reason = "a test, helpers included")]

use fanlog_environment::{Environment, RealDisk};
use fanlog_model::{
    BaseSequence, LeaderEpoch, Offset, ProducerEpoch, ProducerId, TimestampMs, TopicId,
};
use fanlog_protocol::records::{BatchBuilder, Compression, NewRecord};
use fanlog_storage::formats::transaction_index::AbortedTransaction;
use fanlog_storage::formats::{offset_index, time_index};
use fanlog_storage::{AppendOrigin, Log, LogConfig, RecoveryMode};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

const NOW: TimestampMs = TimestampMs(1_800_000_000_000);
const DIR: &str = "orders-0";
const BATCHES: i64 = 400;

/// What Kafka's tool prints about files.
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
    // It prints what it reads on one stream and what it finds wrong on the other.
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "DumpLogSegments failed:\n{text}");
    text
}

/// The value behind `name: ` in a line.
fn field<'a>(line: &'a str, name: &str) -> &'a str {
    let label = format!("{name}: ");
    let at = line
        .find(&label)
        .unwrap_or_else(|| panic!("no {name} in {line:?}"));
    let rest = &line[at + label.len()..];
    rest.split(' ')
        .next()
        .expect("split yields at least one part")
}

fn number(line: &str, name: &str) -> i64 {
    let value = field(line, name);
    value
        .parse()
        .unwrap_or_else(|_| panic!("{name} is {value:?} in {line:?}"))
}

struct Written {
    root: TempDir,
    /// The value at each offset.
    values: BTreeMap<i64, String>,
}

impl Written {
    fn files(&self, suffix: &str) -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> = std::fs::read_dir(self.root.path().join(DIR))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|e| e == suffix))
            .collect();
        files.sort();
        assert!(!files.is_empty(), "no .{suffix} file");
        files
    }
}

/// A log of several segments: every compression, headers, two producers, times that go to and fro, two leader epochs, one start that
/// was not clean.
fn write_log() -> Written {
    let root = tempfile::tempdir().unwrap();
    let environment = Environment::real(RealDisk::open(root.path()).unwrap());
    let config = LogConfig {
        segment_bytes: 32 * 1024,
        index_interval_bytes: 700,
        ..LogConfig::default()
    };
    let dir = Path::new(DIR);
    let id = TopicId(environment.entropy.uuid());
    let mut log = Log::create(&environment, dir, id, config.clone(), LeaderEpoch(3)).unwrap();
    let mut values = BTreeMap::new();
    for i in 0..BATCHES {
        if i == BATCHES / 2 {
            let ticket = log.begin_sync().unwrap();
            let result = ticket.run();
            log.finish_sync(ticket, result).unwrap();
            drop(log);
            let mode = RecoveryMode { clean: false };
            log = Log::open(&environment, dir, config.clone(), mode, LeaderEpoch(5)).unwrap();
        }
        append(&mut log, i, &mut values);
    }
    log.close().unwrap();
    Written { root, values }
}

fn append(log: &mut Log, i: i64, values: &mut BTreeMap<i64, String>) {
    let first = log.log_end_offset().get();
    let compression = Compression::ALL[usize::try_from(i).unwrap() % 5];
    let mut builder = BatchBuilder::new(compression);
    if i % 3 > 0 {
        // Two records in each batch.
        let sequence = BaseSequence(i32::try_from(i / 3 * 2).unwrap());
        builder = builder.producer(ProducerId(1000 + i % 3), ProducerEpoch(2), sequence);
    }
    for j in 0..2 {
        let value = format!(
            "value-{}-{}",
            first + j,
            "z".repeat(usize::try_from(i * 7 % 500).unwrap())
        );
        let record = NewRecord {
            timestamp: TimestampMs(NOW.get() + i * 10 + (i * 7919) % 601),
            key: Some(b"key"),
            value: Some(value.as_bytes()),
            headers: &[("trace", Some(b"1"))],
        };
        builder.push(&record).unwrap();
        values.insert(first + j, value);
    }
    let mut bytes = builder.build().unwrap();
    let epoch = log.leader_epoch();
    log.append(&mut bytes, AppendOrigin::Client, epoch, NOW)
        .unwrap();
}

#[test]
fn kafka_reads_every_record_of_every_segment() {
    let written = write_log();
    let files = written.files("log");
    assert!(files.len() > 2, "{files:?}");
    let text = dump(&["--deep-iteration", "--print-data-log"], &files);
    let mut records = BTreeMap::new();
    let mut batches = 0;
    let mut next = 0;
    for line in text.lines() {
        if line.starts_with("baseOffset: ") {
            assert_eq!(number(line, "baseOffset"), next, "{line}");
            next = number(line, "lastOffset") + 1;
            assert_eq!(field(line, "isvalid"), "true", "{line}");
            let epoch = if batches < BATCHES / 2 { 3 } else { 5 };
            assert_eq!(number(line, "partitionLeaderEpoch"), epoch, "{line}");
            batches += 1;
        } else if line.starts_with("| offset: ") {
            assert_eq!(field(line, "key"), "key", "{line}");
            assert!(line.contains("headerKeys: [trace]"), "{line}");
            records.insert(number(line, "offset"), field(line, "payload").to_owned());
        }
    }
    // The tool takes the first offset of every segment but that at 0 for a hole behind -1.
    let holes = text
        .lines()
        .filter(|line| line.contains(" is followed by "));
    assert!(
        holes.clone().all(|line| line.trim().starts_with("-1 ")),
        "{holes:?}"
    );
    assert_eq!(batches, BATCHES);
    assert_eq!(records, written.values);
    for compression in ["none", "gzip", "snappy", "lz4", "zstd"] {
        assert!(
            text.contains(&format!("compresscodec: {compression}")),
            "{compression}"
        );
    }
}

#[test]
fn kafka_finds_both_indexes_in_order_and_in_agreement_with_the_log() {
    let written = write_log();
    let (offsets, times) = (written.files("index"), written.files("timeindex"));
    let segments = offsets.len();
    let both = [offsets.clone(), times.clone()].concat();
    let sane = dump(&["--index-sanity-check"], &both);
    assert_eq!(
        sane.matches("passed sanity check").count(),
        2 * segments,
        "{sane}"
    );
    assert_agrees(&dump(&["--verify-index-only"], &both));
    let printed = dump(&[], &both);
    assert_agrees(&printed);
    let mut entries = 0;
    for file in &offsets {
        entries += offset_index::decode_all(&std::fs::read(file).unwrap())
            .unwrap()
            .len();
    }
    for file in &times {
        entries += time_index::decode_all(&std::fs::read(file).unwrap())
            .unwrap()
            .len();
    }
    let lines = printed
        .lines()
        .filter(|line| line.starts_with("offset: ") || line.starts_with("timestamp: "));
    assert_eq!(lines.count(), entries, "{printed}");
    assert!(entries > 100);
}

/// What the tool says of an index that does not agree with its log.
const COMPLAINTS: [&str; 4] = [
    "Mismatches in",
    "Found timestamp mismatch in",
    "Found out of order timestamp in",
    "indexed offsets are not found in",
];

fn assert_agrees(text: &str) {
    for complaint in COMPLAINTS {
        assert!(!text.contains(complaint), "{text}");
    }
}

#[test]
fn kafka_would_notice_an_index_that_does_not_agree() {
    let written = write_log();
    let (offsets, times) = (written.files("index"), written.files("timeindex"));
    let spoil = |file: &Path, byte: usize| {
        let mut bytes = std::fs::read(file).unwrap();
        bytes[byte] ^= 1;
        std::fs::write(file, bytes).unwrap();
    };
    spoil(&offsets[0], 3);
    let text = dump(&["--verify-index-only"], &offsets[..1]);
    assert!(text.contains("Mismatches in"), "{text}");
    spoil(&offsets[0], 3);
    spoil(&times[0], 7);
    let text = dump(&["--verify-index-only"], &times[..1]);
    assert!(text.contains("Found timestamp mismatch in"), "{text}");
}

#[test]
fn kafka_reads_the_producer_snapshot() {
    let written = write_log();
    let snapshots = written.files("snapshot");
    let text = dump(&[], &snapshots[snapshots.len() - 1..]);
    let of = |id: i64| {
        let mut lines = text
            .lines()
            .filter(move |line| line.starts_with(&format!("producerId: {id} ")));
        lines
            .next_back()
            .unwrap_or_else(|| panic!("no producer {id} in:\n{text}"))
            .to_owned()
    };
    for id in [1001, 1002] {
        let last = (0..BATCHES).rfind(|i| 1000 + i % 3 == id).unwrap();
        let line = of(id);
        assert_eq!(number(&line, "producerEpoch"), 2, "{line}");
        assert_eq!(number(&line, "lastSequence"), last / 3 * 2 + 1, "{line}");
        assert_eq!(number(&line, "lastOffset"), last * 2 + 1, "{line}");
        assert_eq!(number(&line, "offsetDelta"), 1, "{line}");
    }
}

#[test]
fn kafka_reads_the_transaction_index() {
    let root = tempfile::tempdir().unwrap();
    let entry = |i: i64| AbortedTransaction {
        producer_id: ProducerId(1000 + i),
        first_offset: Offset(i * 10),
        last_offset: Offset(i * 10 + 5),
        last_stable_offset: Offset(i * 10 + 6),
    };
    let bytes: Vec<u8> = (1..4).flat_map(|i| entry(i).encode()).collect();
    let file = root.path().join("00000000000000000000.txnindex");
    std::fs::write(&file, bytes).unwrap();
    let text = dump(&[], &[file]);
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| line.contains("producerId: "))
        .collect();
    assert_eq!(lines.len(), 3, "{text}");
    for (line, i) in lines.iter().zip(1..) {
        assert_eq!(number(line, "producerId"), 1000 + i);
        assert_eq!(number(line, "firstOffset"), i * 10);
        assert_eq!(number(line, "lastOffset"), i * 10 + 5);
        assert_eq!(number(line, "lastStableOffset"), i * 10 + 6);
    }
}
