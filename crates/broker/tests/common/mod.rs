//! A broker over a simulated disk, in which nothing happens that the test does not ask for: no sync threads, no timers.
#![allow(dead_code, reason = "each test file uses its own part of this")]
#![allow(
    clippy::unwrap_used,
    reason = "the lint does not know that this is a test"
)]

pub(crate) mod dedup;
pub(crate) mod queues;
pub(crate) mod shares;

use bytes::Bytes;
use fanlog_broker::{
    AppendReceipt, Broker, BrokerConfig, FetchPartition, FetchRequestPlan, FetchResult, Isolation,
    Partition, TopicRef,
};
use fanlog_coordinators::catalog::NewTopic;
use fanlog_environment::{Environment, ManualClock, SeededEntropy, SimulatedDisk};
use fanlog_model::{
    BaseSequence, BrokerId, Offset, PartitionIndex, ProducerEpoch, ProducerId, TimestampMs,
    TopicId, TopicName,
};
use fanlog_protocol::records::{BatchBuilder, BatchView, Compression, Decompressor, NewRecord};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A machine on which brokers are started one after the other.
pub(crate) struct Machine {
    pub(crate) disk: Arc<SimulatedDisk>,
    pub(crate) clock: Arc<ManualClock>,
    starts: AtomicU64,
    seed: u64,
}

impl Machine {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            disk: Arc::new(SimulatedDisk::new(seed)),
            clock: Arc::new(ManualClock::new(TimestampMs(1_700_000_000_000))),
            starts: AtomicU64::new(0),
            seed,
        }
    }

    /// A second machine in the same state.
    pub(crate) fn fork(&self) -> Self {
        Self {
            disk: Arc::new(self.disk.fork()),
            clock: self.clock.clone(),
            starts: AtomicU64::new(self.starts.load(Ordering::Relaxed)),
            seed: self.seed,
        }
    }

    pub(crate) fn environment(&self) -> Environment {
        let start = self.starts.fetch_add(1, Ordering::Relaxed);
        Environment {
            clock: self.clock.clone(),
            // A process draws other ids than the one before it.
            entropy: Arc::new(SeededEntropy::new(self.seed.wrapping_mul(1_000) + start)),
            disk: self.disk.clone(),
        }
    }

    pub(crate) fn try_start(&self) -> Result<Arc<Broker>, fanlog_broker::StartError> {
        Broker::start(config(), self.environment())
    }

    pub(crate) fn start(&self) -> Arc<Broker> {
        self.try_start().expect("the broker starts")
    }
}

pub(crate) fn config() -> BrokerConfig {
    let mut config = BrokerConfig::new(BrokerId(1), "/data");
    config.sync_threads = 0;
    // Small, so that its files are used again and again.
    config.journal = Some(fanlog_broker::JournalConfig {
        file_bytes: 64 * 1024,
        files_max: 3,
        past_bytes: 8 * 1024,
    });
    config.has_timers = false;
    config.statics = [
        ("offsets.topic.num.partitions", "3"),
        ("group.initial.rebalance.delay.ms", "0"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into();
    config
}

/// Runs a future to its end, syncing whenever it waits.
pub(crate) async fn drive<F: Future>(broker: &Broker, future: F) -> F::Output {
    let mut future = pin!(future);
    loop {
        tokio::select! {
            biased;
            output = &mut future => return output,
            () = tokio::task::yield_now() => broker.sync_all(),
        }
    }
}

/// Waits until no task has anything left to do. For a runtime whose clock is paused: it moves on only then, and no time passes.
pub(crate) async fn until_nothing_is_left_to_do() {
    tokio::time::sleep(Duration::from_millis(1)).await;
}

pub(crate) fn name(topic: &str) -> TopicName {
    TopicName::new(topic).expect("a legal name")
}

pub(crate) fn by_name(topic: &str) -> TopicRef {
    TopicRef::Name(name(topic))
}

pub(crate) fn new_topic(topic: &str, partitions: i32) -> NewTopic {
    NewTopic {
        id: TopicId::ZERO,
        name: topic.to_owned(),
        partitions,
        replication_factor: 1,
        assignments: Vec::new(),
        overrides: Vec::new(),
    }
}

pub(crate) async fn create(broker: &Arc<Broker>, topic: &str, partitions: i32) {
    let created = drive(
        broker,
        broker.create_topics(vec![new_topic(topic, partitions)], false),
    );
    created.await.unwrap().remove(0).unwrap();
}

pub(crate) fn partition(broker: &Broker, topic: &str, index: i32) -> Arc<Partition> {
    broker
        .partition(&by_name(topic), PartitionIndex(index))
        .unwrap()
}

/// A batch with these values.
pub(crate) fn batch(values: &[&str]) -> Vec<u8> {
    build(BatchBuilder::new(Compression::None), values)
}

/// A batch of an idempotent producer.
pub(crate) fn idempotent(producer: i64, sequence: i32, values: &[&str]) -> Vec<u8> {
    let builder = BatchBuilder::new(Compression::None).producer(
        ProducerId(producer),
        ProducerEpoch(0),
        BaseSequence(sequence),
    );
    build(builder, values)
}

fn build(mut builder: BatchBuilder, values: &[&str]) -> Vec<u8> {
    for value in values {
        let record = NewRecord {
            timestamp: TimestampMs(1_700_000_000_000),
            value: Some(value.as_bytes()),
            ..NewRecord::default()
        };
        builder.push(&record).unwrap();
    }
    builder.build().unwrap()
}

pub(crate) fn append(broker: &Broker, topic: &str, values: &[&str]) -> AppendReceipt {
    let partition = partition(broker, topic, 0);
    partition.append(&mut batch(values)).unwrap()
}

/// Appends and waits until it is durable.
pub(crate) async fn produce(broker: &Broker, topic: &str, values: &[&str]) -> Offset {
    let receipt = append(broker, topic, values);
    let first = receipt.first_offset();
    drive(broker, receipt.durable()).await.unwrap();
    first
}

/// A fetch of one partition that does not wait.
pub(crate) fn plan(topic: &str, offset: i64) -> FetchRequestPlan {
    FetchRequestPlan {
        partitions: vec![wanted(topic, 0, offset)],
        bytes_min: 1,
        bytes_max: 1 << 20,
        wait_max: Duration::ZERO,
        isolation: Isolation::ReadUncommitted,
        first: 0,
        sent_from_file_min: usize::MAX,
    }
}

/// A fetch that waits as long as it takes: tests end it by an event, not by time.
pub(crate) fn waiting_plan(topic: &str, offset: i64) -> FetchRequestPlan {
    FetchRequestPlan {
        wait_max: Duration::from_secs(3600),
        ..plan(topic, offset)
    }
}

pub(crate) fn wanted(topic: &str, index: i32, offset: i64) -> FetchPartition {
    FetchPartition {
        topic: by_name(topic),
        partition: PartitionIndex(index),
        offset: Offset(offset),
        bytes_max: 1 << 20,
        leader_epoch: None,
        last_fetched_epoch: None,
    }
}

/// The values that a fetch of one partition from `offset` on sees.
pub(crate) async fn values(broker: &Broker, topic: &str, offset: i64) -> Vec<String> {
    let result = broker.fetch(plan(topic, offset)).await;
    let all = values_in(&result, 0);
    let below = |(at, value): (i64, String)| (at >= offset).then_some(value);
    all.into_iter().filter_map(below).collect()
}

/// Offsets and values in one partition of a fetch.
pub(crate) fn values_in(result: &FetchResult, position: usize) -> Vec<(i64, String)> {
    let fetched = result.partitions[position].as_ref().unwrap();
    records_in(&fetched.records)
}

pub(crate) fn records_in(pieces: &[Bytes]) -> Vec<(i64, String)> {
    let mut decompressor = Decompressor::default();
    let mut all = Vec::new();
    for piece in pieces {
        for batch in BatchView::parse_all(piece) {
            let batch = batch.unwrap();
            batch.check_crc().unwrap();
            for record in batch.records(&mut decompressor).unwrap() {
                let record = record.unwrap();
                let value = String::from_utf8(record.value.unwrap().to_vec()).unwrap();
                all.push((batch.offset_of(record.offset_delta).0, value));
            }
        }
    }
    all
}
