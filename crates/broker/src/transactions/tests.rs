//! Markers, where a partition refuses them and where the machine's log fails meanwhile.

use super::*;
use crate::{BrokerConfig, FetchPartition, FetchRequestPlan, Isolation, Partition, TopicRef};
use fanlog_coordinators::catalog::NewTopic;
use fanlog_environment::{Environment, ManualClock, SeededEntropy, SimulatedDisk};
use fanlog_model::{
    BaseSequence, BrokerId, Offset, ProducerEpoch, TimestampMs, TopicId, TopicName,
};
use fanlog_protocol::records::{BatchBuilder, Compression, NewRecord};
use std::collections::BTreeSet;
use std::future::Future;
use std::pin::pin;
use std::time::Duration;

const TOPIC: &str = "t";

struct World {
    disk: Arc<SimulatedDisk>,
    broker: Arc<Broker>,
}

impl World {
    async fn new(partitions: i32) -> Self {
        let mut config = BrokerConfig::new(BrokerId(1), "/data");
        config.sync_threads = 0;
        config.has_timers = false;
        let statics = [("transaction.state.log.num.partitions", "1")];
        let own = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        config.statics = statics.map(own).into();
        let disk = Arc::new(SimulatedDisk::new(1));
        let environment = Environment {
            clock: Arc::new(ManualClock::new(TimestampMs(1_700_000_000_000))),
            entropy: Arc::new(SeededEntropy::new(1)),
            disk: disk.clone(),
        };
        let broker = Broker::start(config, environment).unwrap();
        let world = Self { disk, broker };
        let topic = NewTopic {
            id: TopicId::ZERO,
            name: TOPIC.to_owned(),
            partitions,
            replication_factor: 1,
            assignments: Vec::new(),
            overrides: Vec::new(),
        };
        let created = world.drive(world.broker.create_topics(vec![topic], false));
        created.await.unwrap().remove(0).unwrap();
        world
    }

    /// Runs a future to its end, syncing whenever it waits.
    async fn drive<F: Future>(&self, future: F) -> F::Output {
        let mut future = pin!(future);
        loop {
            tokio::select! {
                biased;
                output = &mut future => return output,
                () = tokio::task::yield_now() => self.broker.sync_all(),
            }
        }
    }

    fn transactions(&self) -> &Transactions {
        self.broker.transactions()
    }

    fn partition(&self, index: i32) -> Arc<Partition> {
        let topic = TopicRef::Name(TopicName::new(TOPIC).unwrap());
        self.broker
            .partition(&topic, PartitionIndex(index))
            .unwrap()
    }

    async fn init(&self, id: &str) -> Producer {
        let init = self
            .transactions()
            .init_producer_id(id.into(), 60_000, None);
        self.drive(init).await.unwrap()
    }

    async fn add(&self, id: &str, producer: Producer, partitions: i32) {
        let all = (0..partitions).map(|index| self.partition(index).topic_partition());
        let version = ClientVersion::First;
        let transactions = self.transactions();
        let add = transactions.add_partitions(id.into(), producer, all.collect(), false, version);
        self.drive(add).await.unwrap();
    }

    /// Appends a record in a transaction, as its coordinator has allowed.
    fn write(&self, producer: Producer, index: i32) {
        let mut builder = BatchBuilder::new(Compression::None)
            .producer(producer.id, producer.epoch, BaseSequence(0))
            .transactional();
        let record = NewRecord {
            value: Some(b"value"),
            ..NewRecord::default()
        };
        builder.push(&record).unwrap();
        let partition = self.partition(index);
        let end = partition.with_log(|log| log.log_end_offset()).unwrap();
        let appended = partition.append_allowed(&mut builder.build().unwrap(), end);
        assert!(!appended.unwrap().is_duplicate());
    }

    async fn mark(&self, producer: Producer, coordinator_epoch: i32) {
        let marker = WrittenMarker {
            producer,
            is_commit: false,
            coordinator_epoch,
            is_later: false,
            partition: self.partition(0).topic_partition(),
        };
        let written = self.drive(self.transactions().write_marker(marker)).await;
        written.unwrap();
    }

    async fn state(&self, id: &str) -> &'static str {
        loop {
            match self.drive(self.transactions().describe(id.into())).await {
                Ok(described) => return described.transaction.state.name(),
                Err(TransactionRequestError::Coordinator(CoordinatorError::Loading)) => {
                    self.settle().await;
                }
                Err(error) => panic!("{error}"),
            }
        }
    }

    /// Lets everything that goes on by itself do so.
    async fn settle(&self) {
        for _ in 0..50 {
            tokio::task::yield_now().await;
            self.broker.sync_all();
        }
    }

    async fn committed(&self, index: i32) -> (Offset, Offset) {
        let wanted = FetchPartition {
            topic: TopicRef::Name(TopicName::new(TOPIC).unwrap()),
            partition: PartitionIndex(index),
            offset: Offset::ZERO,
            bytes_max: 1 << 20,
            leader_epoch: None,
            last_fetched_epoch: None,
        };
        let plan = FetchRequestPlan {
            partitions: vec![wanted],
            bytes_min: 1,
            bytes_max: 1 << 20,
            wait_max: Duration::ZERO,
            isolation: Isolation::ReadCommitted,
            first: 0,
            sent_from_file_min: usize::MAX,
        };
        let fetched = self.broker.fetch(plan).await;
        let fetched = fetched.partitions[0].as_ref().unwrap();
        (fetched.last_stable_offset, fetched.high_watermark)
    }

    fn end(
        &self,
        id: &str,
        producer: Producer,
    ) -> tokio::task::JoinHandle<Result<Producer, TransactionRequestError>> {
        let (broker, id) = (self.broker.clone(), TransactionalId::from(id));
        let version = ClientVersion::First;
        tokio::spawn(async move { broker.transactions().end(id, producer, true, version).await })
    }
}

/// An administrator's marker, by a coordinator's epoch that there never was, must not fence the coordinator.
#[tokio::test]
async fn a_marker_of_a_later_coordinator_keeps_no_transaction_from_its_end() {
    let world = World::new(1).await;
    let producer = world.init("a").await;
    world.mark(producer, 1_000_000).await;
    world.add("a", producer, 1).await;
    world.write(producer, 0);
    let ended = world.end("a", producer);
    world.drive(ended).await.unwrap().unwrap();
    assert_eq!(world.state("a").await, "CompleteCommit");
    let (stable, end) = world.committed(0).await;
    assert_eq!((stable, end), (Offset(3), Offset(3)));
}

/// TXN-1: else what it has open there would become part of the next transaction, and share its fate.
#[tokio::test]
async fn a_partition_that_refuses_the_marker_of_what_is_open_keeps_the_outcome_from_being_complete()
{
    let world = World::new(2).await;
    let producer = world.init("a").await;
    world.add("a", producer, 2).await;
    world.write(producer, 1);
    let other = Producer {
        epoch: ProducerEpoch(5),
        ..producer
    };
    world.write(other, 0);
    let ended = world.end("a", producer);
    world.settle().await;
    assert_eq!(world.state("a").await, "PrepareCommit");
    // The other partition is not kept waiting.
    assert_eq!(world.committed(1).await, (Offset(2), Offset(2)));
    world.transactions().tick();
    world.settle().await;
    assert_eq!(world.state("a").await, "PrepareCommit");
    assert_eq!(world.committed(1).await, (Offset(2), Offset(2)));
    // The way out.
    world.mark(other, 0).await;
    world.transactions().tick();
    world.settle().await;
    assert_eq!(world.state("a").await, "CompleteCommit");
    world.drive(ended).await.unwrap().unwrap();
}

/// A task from before could act on the transaction after.
#[tokio::test]
async fn however_often_the_machine_is_loaded_anew_one_task_writes_the_markers() {
    let world = World::new(1).await;
    let producer = world.init("a").await;
    world.add("a", producer, 1).await;
    let other = Producer {
        epoch: ProducerEpoch(5),
        ..producer
    };
    world.write(other, 0);
    let ended = world.end("a", producer);
    world.settle().await;
    let shard = world.transactions().shards()[0].clone();
    let first = shard.parked.lock()[0].clone();
    assert!(shard.while_ending(&first, || ()).is_some());
    for _ in 0..5 {
        world.disk.set_free_bytes(Some(0));
        let transactions = world.transactions();
        let refused = transactions.init_producer_id("b".into(), 60_000, None);
        assert!(world.drive(refused).await.is_err());
        world.disk.set_free_bytes(None);
        assert_eq!(world.state("a").await, "PrepareCommit");
        world.settle().await;
    }
    assert!(ended.await.unwrap().is_err(), "its machine is gone");
    assert_eq!(shard.parked.lock().len(), 1);
    assert!(shard.while_ending(&first, || ()).is_none(), "it is stale");
    world.mark(other, 0).await;
    world.transactions().tick();
    world.settle().await;
    assert_eq!(world.state("a").await, "CompleteCommit");
}

#[tokio::test]
async fn the_markers_of_many_partitions_are_written_a_few_at_a_time() {
    const PARTITIONS: i32 = 300;
    let world = World::new(PARTITIONS).await;
    let producer = world.init("a").await;
    world.add("a", producer, PARTITIONS).await;
    (0..PARTITIONS).for_each(|index| world.write(producer, index));
    let ended = world.end("a", producer);
    let has_marker = |index: &i32| {
        let end = world
            .partition(*index)
            .with_log(|log| log.log_end_offset())
            .unwrap();
        end == Offset(2)
    };
    let mut seen = BTreeSet::new();
    while !ended.is_finished() {
        tokio::task::yield_now().await;
        world.broker.sync_all();
        seen.insert((0..PARTITIONS).filter(has_marker).count());
    }
    ended.await.unwrap().unwrap();
    assert_eq!(seen.last(), Some(&300));
    assert!(seen.len() > 3, "others had their turn in between: {seen:?}");
}
