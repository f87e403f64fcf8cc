//! Logs on a simulated disk.

mod append;
mod change;
mod compaction;
mod compaction_beside;
mod compaction_crash;
mod compaction_model;
mod compaction_stops;
mod compaction_transactions;
mod crash;
mod damage;
mod hold;
mod lookup;
mod model;
mod races;
mod read;
mod replay;
mod torn;
mod transactions;
mod transactions_compaction;

use super::*;
use crate::error::AppendError;
use crate::types::{AppendOrigin, Appended, ReadLimit, RecoveryMode};
use fanlog_environment::{ManualClock, SeededEntropy, SimulatedDisk};
use fanlog_model::{BaseSequence, ProducerEpoch, ProducerId};
use fanlog_protocol::records::{BatchBuilder, BatchView, Compression, Decompressor, NewRecord};
use uuid::Uuid;

const NOW: TimestampMs = TimestampMs(1_800_000_000_000);
const DIR: &str = "orders-0";

/// A disk with a log on it.
struct Fixture {
    disk: Arc<SimulatedDisk>,
    environment: Environment,
}

impl Fixture {
    fn new() -> Self {
        Self::on(SimulatedDisk::new(1))
    }

    fn on(disk: SimulatedDisk) -> Self {
        let disk = Arc::new(disk);
        Self {
            environment: Environment {
                clock: Arc::new(ManualClock::new(NOW)),
                entropy: Arc::new(SeededEntropy::new(1)),
                disk: disk.clone(),
            },
            disk,
        }
    }

    fn create(&self, config: &LogConfig) -> Log {
        self.try_create(config).unwrap()
    }

    fn try_create(&self, config: &LogConfig) -> Result<Log, OpenLogError> {
        let id = TopicId(Uuid::from_u128(7));
        Log::create(
            &self.environment,
            Path::new(DIR),
            id,
            config.clone(),
            LeaderEpoch(0),
        )
    }

    fn try_open(&self, config: &LogConfig, clean: bool, epoch: i32) -> Result<Log, OpenLogError> {
        let mode = RecoveryMode { clean };
        Log::open(
            &self.environment,
            Path::new(DIR),
            config.clone(),
            mode,
            LeaderEpoch(epoch),
        )
    }

    fn open(&self, config: &LogConfig, epoch: i32) -> Log {
        self.try_open(config, false, epoch).unwrap()
    }

    fn open_clean(&self, config: &LogConfig, epoch: i32) -> Log {
        self.try_open(config, true, epoch).unwrap()
    }
}

/// Segments of a few batches, an index entry for each.
fn small() -> LogConfig {
    LogConfig {
        segment_bytes: 4096,
        index_interval_bytes: 1,
        ..LogConfig::default()
    }
}

/// One record of a batch: its time is `NOW` plus this.
type Record<'a> = (i64, &'a str);

fn builder(compression: Compression, records: &[Record<'_>]) -> BatchBuilder {
    let mut builder = BatchBuilder::new(compression);
    for (ms, value) in records {
        let record = NewRecord {
            timestamp: TimestampMs(NOW.get() + ms),
            key: Some(b"k"),
            value: Some(value.as_bytes()),
            headers: &[],
        };
        builder.push(&record).unwrap();
    }
    builder
}

fn batch(records: &[Record<'_>]) -> Vec<u8> {
    builder(Compression::None, records).build().unwrap()
}

/// A batch of `count` records from producer 7.
fn produced(epoch: i16, sequence: i32, count: usize) -> Vec<u8> {
    let records = vec![(0, "v"); count];
    let (id, epoch) = (ProducerId(7), ProducerEpoch(epoch));
    let builder = builder(Compression::None, &records);
    builder
        .producer(id, epoch, BaseSequence(sequence))
        .build()
        .unwrap()
}

fn send(log: &mut Log, mut batch: Vec<u8>) -> Result<Appended, AppendError> {
    let epoch = log.leader_epoch();
    log.append(&mut batch, AppendOrigin::Client, epoch, NOW)
}

/// Appends one record with `value`.
fn put(log: &mut Log, value: &str) -> Offset {
    send(log, batch(&[(0, value)])).unwrap().first_offset
}

fn sync(log: &mut Log) -> Result<Offset, LogFailed> {
    match log.begin_sync() {
        Some(ticket) => {
            let result = ticket.run();
            log.finish_sync(ticket, result)
        }
        None => match log.failure() {
            Some(failed) => Err(failed.clone()),
            None => Ok(log.durable_offset()),
        },
    }
}

/// Every record from `from` on that a plan without limits reaches: offset and value.
fn read_all(log: &Log, from: Offset, below: Offset) -> Vec<(i64, String)> {
    let mut records = Vec::new();
    let mut at = from;
    while at < below {
        let limit = ReadLimit {
            max_bytes: 1 << 20,
            min_one_batch: true,
            below,
        };
        let plan = log.read(at, limit).unwrap();
        if plan.slices.is_empty() {
            break;
        }
        for bytes in plan.read().unwrap() {
            values(&bytes, &mut records);
        }
        assert!(plan.next_offset > at);
        at = plan.next_offset;
    }
    records
}

fn values(bytes: &[u8], out: &mut Vec<(i64, String)>) {
    let mut decompressor = Decompressor::default();
    for batch in BatchView::parse_all(bytes) {
        let batch = batch.unwrap();
        for record in batch.records(&mut decompressor).unwrap() {
            let record = record.unwrap();
            let value = String::from_utf8(record.value.unwrap().to_vec()).unwrap();
            out.push((batch.offset_of(record.offset_delta).get(), value));
        }
    }
}
