//! The broker as it really runs: a real directory, sync threads, timers.

#![allow(
    clippy::unwrap_used,
    reason = "the lint does not know that this is a test"
)]

mod common;

use common::{batch, by_name, new_topic, plan, values, values_in, waiting_plan};
use fanlog_broker::{Broker, BrokerConfig};
use fanlog_environment::{Environment, RealDisk};
use fanlog_model::{BrokerId, PartitionIndex};
use std::path::Path;
use std::sync::Arc;

fn start(dir: &Path) -> Arc<Broker> {
    start_on(RealDisk::open(dir).unwrap(), dir)
}

fn start_on(disk: RealDisk, dir: &Path) -> Arc<Broker> {
    let config = BrokerConfig::new(BrokerId(1), dir.display().to_string());
    Broker::start(config, Environment::real(disk)).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_producers_are_acknowledged_and_their_records_are_there_after_a_restart() {
    const PRODUCERS: usize = 8;
    const EACH: usize = 50;
    let dir = tempfile::tempdir().unwrap();
    let broker = start(dir.path());
    let created = broker.create_topics(vec![new_topic("t", 1)], false).await;
    created.unwrap().remove(0).unwrap();
    let log = broker.partition(&by_name("t"), PartitionIndex(0)).unwrap();
    let produce = |producer: usize| {
        let log = log.clone();
        tokio::spawn(async move {
            for number in 0..EACH {
                let value = format!("{producer}-{number}");
                let receipt = log.append(&mut batch(&[&value])).unwrap();
                receipt.durable().await.unwrap();
            }
        })
    };
    let producers: Vec<_> = (0..PRODUCERS).map(produce).collect();
    let consumer = tokio::spawn({
        let broker = broker.clone();
        async move {
            let mut seen = Vec::new();
            while seen.len() < PRODUCERS * EACH {
                let result = broker.fetch(waiting_plan("t", seen.len() as i64)).await;
                seen.extend(common::values_in(&result, 0));
            }
            seen
        }
    });
    for producer in producers {
        producer.await.unwrap();
    }
    let seen = consumer.await.unwrap();
    broker.shutdown().await;
    assert!(dir.path().join(".kafka_cleanshutdown").exists());
    assert!(broker.fetch(plan("t", 0)).await.partitions[0].is_err());
    drop(log);
    drop(broker);

    let broker = start(dir.path());
    assert!(!dir.path().join(".kafka_cleanshutdown").exists());
    let stored = values(&broker, "t", 0).await;
    let expected: Vec<_> = seen.into_iter().map(|(_, value)| value).collect();
    assert_eq!(stored, expected);
}

/// A hundred partitions of several segments each share few files: those used last stay open.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_partitions_than_files_all_serve() {
    let dir = tempfile::tempdir().unwrap();
    for round in 0..3 {
        let disk = RealDisk::open(dir.path()).unwrap().with_files_max(64);
        let broker = start_on(disk, dir.path());
        if round == 0 {
            let mut topic = new_topic("t", 100);
            topic.overrides = vec![("segment.bytes".to_owned(), Some("1048576".to_owned()))];
            let created = broker.create_topics(vec![topic], false).await;
            created.unwrap().remove(0).unwrap();
        }
        let large = "x".repeat(400_000);
        for index in 0..100 {
            let log = broker.partition(&by_name("t"), PartitionIndex(index));
            for value in ["x", &large, &large, &large] {
                let receipt = log.as_ref().unwrap().append(&mut batch(&[value])).unwrap();
                receipt.durable().await.unwrap();
            }
        }
        for index in (0..100).rev() {
            for offset in [0, 3, 4 * round + 3] {
                let mut plan = plan("t", offset);
                plan.partitions[0].partition = PartitionIndex(index);
                let result = broker.fetch(plan).await;
                assert_eq!(values_in(&result, 0)[0].0, offset);
            }
        }
        broker.shutdown().await;
    }
}
