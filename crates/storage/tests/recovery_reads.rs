//! What a start reads after `kill -9` is bounded by what was not synced, and a constant for each segment and log; not by the log's size.
//! Bytes are counted, not time.

#![expect(clippy::unwrap_used, reason = "a test, helpers included")]

use fanlog_environment::{
    DirEntry, Disk, DiskFile, Environment, KeptFile, OpenMode, SimulatedEnvironment,
};
use fanlog_model::{LeaderEpoch, Offset, PartitionIndex, TimestampMs, TopicId};
use fanlog_protocol::records::{BatchBuilder, Compression, NewRecord};
use fanlog_storage::journal::{Journal, JournalConfig, LogId, Pending};
use fanlog_storage::{AppendOrigin, Log, LogConfig, RecoveryMode};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use uuid::Uuid;

const NOW: TimestampMs = TimestampMs(1_767_225_600_000);
/// What a start may read of a segment that is whole: the ends of its indexes, and a search in them.
const SEGMENT_BYTES_READ_MAX: u64 = 24 * 1024;
/// What it may read of a log beside: names, marks, the index of the last segment, a walk from the last note on.
const LOG_BYTES_READ_MAX: u64 = 600 * 1024;
/// Headers are read by the block, and the bytes of a batch a second time for its checksum.
const READS_OF_UNSYNCED: u64 = 3;

/// A disk that counts what is read.
#[derive(Debug)]
struct CountingDisk {
    disk: Arc<dyn Disk>,
    read: Arc<AtomicU64>,
}

#[derive(Debug)]
struct CountingFile {
    file: Arc<dyn DiskFile>,
    read: Arc<AtomicU64>,
}

impl DiskFile for CountingFile {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }
    fn read_at(&self, buf: &mut [u8], at: u64) -> io::Result<usize> {
        let count = self.file.read_at(buf, at)?;
        self.read.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
    fn write_all_at(&self, buf: &[u8], at: u64) -> io::Result<()> {
        self.file.write_all_at(buf, at)
    }
    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }
    fn allocate(&self, len: u64) -> io::Result<()> {
        self.file.allocate(len)
    }
    fn sync_data(&self) -> io::Result<()> {
        self.file.sync_data()
    }
    fn sync_all(&self) -> io::Result<()> {
        self.file.sync_all()
    }
}

impl Disk for CountingDisk {
    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        self.disk.create_dir_all(path)
    }
    fn read_dir(&self, path: &Path) -> io::Result<Vec<DirEntry>> {
        self.disk.read_dir(path)
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.disk.rename(from, to)
    }
    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.disk.remove_file(path)
    }
    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        self.disk.remove_dir_all(path)
    }
    fn exists(&self, path: &Path) -> io::Result<bool> {
        self.disk.exists(path)
    }
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn DiskFile>> {
        Ok(Arc::new(CountingFile {
            file: self.disk.open(path, mode)?,
            read: self.read.clone(),
        }))
    }
    fn keep(&self, file: &Arc<KeptFile>) {
        self.disk.keep(file);
    }
    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.disk.sync_dir(path)
    }
    fn available_bytes(&self) -> io::Result<u64> {
        self.disk.available_bytes()
    }
    fn total_bytes(&self) -> io::Result<u64> {
        self.disk.total_bytes()
    }
    fn drop_page_cache(&self, path: &Path) -> io::Result<()> {
        self.disk.drop_page_cache(path)
    }
}

struct Bed {
    machine: SimulatedEnvironment,
    environment: Environment,
    read: Arc<AtomicU64>,
}

impl Bed {
    fn new() -> Self {
        let machine = SimulatedEnvironment::new(1);
        let read = Arc::new(AtomicU64::new(0));
        let environment = Environment {
            disk: Arc::new(CountingDisk {
                disk: machine.disk.clone(),
                read: read.clone(),
            }),
            ..machine.environment()
        };
        Self {
            machine,
            environment,
            read,
        }
    }

    fn create(&self, number: u128, config: &LogConfig) -> Log {
        let (dir, id) = (dir(number), TopicId(Uuid::from_u128(number)));
        Log::create(&self.environment, &dir, id, config.clone(), LeaderEpoch(1)).unwrap()
    }

    /// What opening a log reads after the process was killed, and the log.
    fn opened(&self, number: u128, config: &LogConfig) -> (Log, u64) {
        self.read.store(0, Ordering::Relaxed);
        let (mode, epoch) = (RecoveryMode { clean: false }, LeaderEpoch(2));
        let log = Log::open(&self.environment, &dir(number), config.clone(), mode, epoch);
        (log.unwrap(), self.read.load(Ordering::Relaxed))
    }
}

fn dir(number: u128) -> PathBuf {
    format!("t-{number}").into()
}

fn append(log: &mut Log, bytes: usize) -> Vec<u8> {
    let mut builder = BatchBuilder::new(Compression::None);
    let record = NewRecord {
        timestamp: NOW,
        value: Some(&vec![b'x'; bytes]),
        ..NewRecord::default()
    };
    builder.push(&record).unwrap();
    let mut batch = builder.build().unwrap();
    let epoch = log.leader_epoch();
    log.append(&mut batch, AppendOrigin::Client, epoch, NOW)
        .unwrap();
    batch
}

fn sync(log: &mut Log) {
    if let Some(ticket) = log.begin_sync() {
        let result = ticket.run();
        log.finish_sync(ticket, result).unwrap();
    }
}

/// Segments that are sealed by their size.
fn segments_of(bytes: u32) -> LogConfig {
    LogConfig {
        segment_bytes: bytes,
        ..LogConfig::default()
    }
}

/// Opens a log of so many segments of so many bytes, with some that are not synced; answers what is read, and of how much.
fn read_of(segments: usize, segment_bytes: u32, unsynced: usize) -> (u64, u64) {
    let bed = Bed::new();
    let config = segments_of(segment_bytes);
    let mut log = bed.create(1, &config);
    while log.segment_count() < segments {
        append(&mut log, 4_000);
        if log.log_end_offset().get() % 16 == 0 {
            sync(&mut log);
        }
    }
    sync(&mut log);
    for _ in 0..unsynced / 4_000 {
        append(&mut log, 4_000);
    }
    let (end, size) = (log.log_end_offset(), log.size_bytes());
    drop(log);
    bed.machine.disk.restart();
    let (log, read) = bed.opened(1, &config);
    assert_eq!(log.log_end_offset(), end);
    (read, size)
}

#[test]
fn a_start_reads_what_was_not_synced_and_little_of_each_segment() {
    for (segments, segment_bytes, unsynced) in [
        (1_000, 60_000, 400_000),
        (50, 1_000_000, 0),
        (50, 1_000_000, 400_000),
    ] {
        let (read, size) = read_of(segments, segment_bytes, unsynced);
        let bound = LOG_BYTES_READ_MAX
            + segments as u64 * SEGMENT_BYTES_READ_MAX
            + unsynced as u64 * READS_OF_UNSYNCED;
        println!("{segments} segments, {size} bytes, {unsynced} unsynced: {read} read");
        assert!(read <= bound, "{read} bytes are read of {size}");
        // The bound must mean something.
        assert!(bound < size / 2 || unsynced > 0, "{bound} of {size}");
    }
}

#[test]
fn what_is_synced_is_not_read_however_long_ago_the_last_snapshot_was() {
    let bed = Bed::new();
    let config = LogConfig::default();
    let mut log = bed.create(1, &config);
    for _ in 0..400 {
        append(&mut log, 100_000);
        sync(&mut log);
    }
    let size = log.size_bytes();
    drop(log);
    bed.machine.disk.restart();
    let (log, read) = bed.opened(1, &config);
    assert_eq!(log.log_end_offset(), Offset(400));
    assert!(
        read < 2 * LOG_BYTES_READ_MAX,
        "{read} bytes of {size} are read"
    );
    assert!(size > 20 * LOG_BYTES_READ_MAX);
}

#[test]
fn a_thousand_logs_with_records_in_the_journal_are_read_once() {
    const LOGS: u128 = 1_000;
    const RECORD_BYTES: usize = 2_000;
    let bed = Bed::new();
    let journal_config = JournalConfig {
        file_bytes: 1024 * 1024,
        files_max: 16,
        ..JournalConfig::default()
    };
    let open = |run| Journal::open(&bed.environment, journal_config, LeaderEpoch(run), false);
    let (journal, _) = open(1).unwrap();
    let config = LogConfig::default();
    let mut pending = Pending::default();
    for number in 0..LOGS {
        let mut log = bed.create(number, &config);
        for offset in 0..2 {
            let batch = append(&mut log, RECORD_BYTES);
            let id = LogId {
                topic_id: TopicId(Uuid::from_u128(number)),
                partition: PartitionIndex(0),
            };
            let offsets = Offset(offset)..Offset(offset + 1);
            pending.push(id, LeaderEpoch(1), offsets, &batch);
        }
    }
    let mut done = 0;
    while done < pending.len() {
        done += journal.commit(&pending, done).unwrap().count;
    }
    let appended = pending.bytes() as u64;
    // The power cut takes what only the segments' pages had.
    bed.machine.disk.crash(3);
    bed.read.store(0, Ordering::Relaxed);
    let (_journal, recovered) = open(2).unwrap();
    let of_journal = bed.read.load(Ordering::Relaxed);
    let slack = 4 * journal_config.file_bytes;
    assert!(
        of_journal <= 2 * appended + slack,
        "{of_journal} bytes are read of a journal of {appended}"
    );
    for number in 0..LOGS {
        let id = LogId {
            topic_id: TopicId(Uuid::from_u128(number)),
            partition: PartitionIndex(0),
        };
        let log = Log::open_with(
            &bed.environment,
            &dir(number),
            config.clone(),
            RecoveryMode { clean: false },
            LeaderEpoch(2),
            &recovered.replay(id),
        );
        assert_eq!(log.unwrap().log_end_offset(), Offset(2));
    }
    let of_logs = bed.read.load(Ordering::Relaxed) - of_journal;
    assert!(
        of_logs <= READS_OF_UNSYNCED * appended + LOGS as u64 * 4 * 1024,
        "{of_logs} bytes are read of logs that have {appended}"
    );
}
