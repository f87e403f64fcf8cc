//! A queue as it really runs: a real directory, sync threads, timers, and consumers side by side.

#![allow(
    clippy::unwrap_used,
    reason = "the lint does not know that this is a test"
)]

mod common;

use common::queues::{asks, queue};
use common::{by_name, name, new_topic};
use fanlog_broker::{
    Broker, BrokerConfig, Message, NewQueue, Receive, SettleOutcome, Settled, Start,
};
use fanlog_environment::{Environment, RealDisk};
use fanlog_model::{BrokerId, PartitionIndex};
use fanlog_protocol::records::{BatchBuilder, Compression, NewRecord};
use parking_lot::Mutex;
use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const PARTITIONS: i32 = 2;
const KEYS: usize = 20;
const EACH: usize = 15;
const CONSUMERS: usize = 8;

fn start(dir: &Path) -> Arc<Broker> {
    let config = BrokerConfig::new(BrokerId(1), dir.display().to_string());
    let disk = RealDisk::open(dir).unwrap();
    Broker::start(config, Environment::real(disk)).unwrap()
}

async fn made(broker: &Arc<Broker>, settings: &[(&str, &str)]) {
    let topic = new_topic("t", PARTITIONS);
    let created = broker.create_topics(vec![topic], false).await;
    created.unwrap().remove(0).unwrap();
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    let new = NewQueue {
        name: queue("q"),
        topic: name("t"),
        settings: settings.iter().map(owned).collect(),
        start: Start::Earliest,
    };
    broker.queues().create(new).await.unwrap();
}

async fn put(broker: &Arc<Broker>, partition: i32, key: &str, value: &str, after: Option<&str>) {
    let headers: Vec<_> = after
        .map(|after| ("deliver-after", Some(after.as_bytes())))
        .into_iter()
        .collect();
    let mut builder = BatchBuilder::new(Compression::None);
    let record = NewRecord {
        timestamp: broker.environment().clock.wall_ms(),
        key: Some(key.as_bytes()),
        value: Some(value.as_bytes()),
        headers: &headers,
    };
    builder.push(&record).unwrap();
    let log = broker.partition(&by_name("t"), PartitionIndex(partition));
    let receipt = log.unwrap().append(&mut builder.build().unwrap()).unwrap();
    receipt.durable().await.unwrap();
}

fn text(bytes: Option<&bytes::Bytes>) -> String {
    String::from_utf8(bytes.unwrap().to_vec()).unwrap()
}

/// What the consumers saw.
#[derive(Default)]
struct Seen {
    done: AtomicUsize,
    /// The number of each key that was acknowledged last.
    last: Mutex<HashMap<String, usize>>,
    /// Who holds messages of a key now, and how many.
    holders: Mutex<HashMap<String, (usize, usize)>>,
}

impl Seen {
    /// One is at work on a message: nobody else is on its key (QUE-3).
    fn begin(&self, consumer: usize, message: &Message) {
        let key = text(message.key.as_ref());
        let mut holders = self.holders.lock();
        let holder = holders.entry(key).or_insert((consumer, 0));
        assert!(holder.1 == 0 || holder.0 == consumer, "two at one key");
        *holder = (consumer, holder.1 + 1);
    }

    fn end(&self, message: &Message) {
        let mut holders = self.holders.lock();
        holders.get_mut(&text(message.key.as_ref())).unwrap().1 -= 1;
    }

    fn acknowledged(&self, message: &Message) {
        let number: usize = text(message.value.as_ref()).parse().unwrap();
        let mut last = self.last.lock();
        let before = last.insert(text(message.key.as_ref()), number);
        assert_eq!(
            before.map_or(0, |before| before + 1),
            number,
            "out of order"
        );
        self.done.fetch_add(1, Ordering::Relaxed);
    }
}

/// Works until all is done. Every fifth of some keys fails twice.
async fn work(broker: Arc<Broker>, consumer: usize, seen: Arc<Seen>) {
    let q = queue("q");
    while seen.done.load(Ordering::Relaxed) < KEYS * EACH {
        let wanted = Receive {
            wait_max: Duration::from_millis(200),
            ..asks(&format!("c{consumer}"), 4)
        };
        let received = broker.queues().receive(&q, wanted).await.unwrap();
        received
            .messages
            .iter()
            .for_each(|message| seen.begin(consumer, message));
        let mut failed = Vec::new();
        for message in &received.messages {
            let key = text(message.key.as_ref());
            // What comes behind a failure of its key goes back with it.
            if failed.contains(&key) {
                seen.end(message);
                continue;
            }
            let number: usize = text(message.value.as_ref()).parse().unwrap();
            let fails = number % 5 == 4 && key.ends_with('0') && message.attempt < 3;
            let outcome = match fails {
                true => SettleOutcome::Nack {
                    delay: None,
                    reason: "not yet".to_owned(),
                },
                false => SettleOutcome::Ack,
            };
            if fails {
                failed.push(key);
            } else {
                seen.acknowledged(message);
            }
            seen.end(message);
            let item = (message.receipt.clone(), outcome);
            let settled = broker.queues().settle(&q, vec![item]).await.unwrap();
            match settled[0].as_ref().unwrap() {
                Settled::Done => assert!(!fails),
                Settled::Again(_) => assert!(fails),
                other => panic!("{other:?}"),
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn consumers_side_by_side_work_off_keys_in_order_and_each_message_once() {
    let dir = tempfile::tempdir().unwrap();
    let broker = start(dir.path());
    made(&broker, &[("order", "key"), ("backoff", "fixed:20ms")]).await;
    let seen = Arc::new(Seen::default());
    let consumers: Vec<_> = (0..CONSUMERS)
        .map(|consumer| tokio::spawn(work(broker.clone(), consumer, seen.clone())))
        .collect();
    let producers = (0..KEYS).map(|key| {
        let broker = broker.clone();
        tokio::spawn(async move {
            let partition = key as i32 % PARTITIONS;
            for number in 0..EACH {
                put(
                    &broker,
                    partition,
                    &format!("k{key}"),
                    &number.to_string(),
                    None,
                )
                .await;
            }
        })
    });
    for task in producers.collect::<Vec<_>>().into_iter().chain(consumers) {
        task.await.unwrap();
    }
    let status = broker.queues().status(&queue("q")).unwrap();
    assert_eq!((status.depth, status.in_flight_records), (0, 0));
    assert_eq!(status.acknowledged, (KEYS * EACH) as u64);
    broker.shutdown().await;
    drop(broker);
    let broker = start(dir.path());
    let received = broker.queues().receive(&queue("q"), asks("last", 10)).await;
    // It may still be loading: then it says so.
    assert!(received.is_err() || received.unwrap().messages.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_delayed_message_wakes_who_waits_when_it_is_due_and_not_before() {
    let dir = tempfile::tempdir().unwrap();
    let broker = start(dir.path());
    made(&broker, &[]).await;
    for number in 0..5 {
        let after = format!("{}ms", 200 + 100 * number);
        put(
            &broker,
            number % PARTITIONS,
            "k",
            &number.to_string(),
            Some(&after),
        )
        .await;
    }
    let mut came = BTreeSet::new();
    while came.len() < 5 {
        let wanted = Receive {
            wait_max: Duration::from_secs(20),
            ..asks("c", 10)
        };
        let received = broker.queues().receive(&queue("q"), wanted).await.unwrap();
        let now = broker.environment().clock.wall_ms();
        for message in received.messages {
            let number: i64 = text(message.value.as_ref()).parse().unwrap();
            let due = message.timestamp.0 + 200 + 100 * number;
            assert!(now.0 >= due, "{number} came early: QUE-4");
            came.insert(number);
        }
    }
}
