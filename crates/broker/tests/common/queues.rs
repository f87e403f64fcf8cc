//! A queue in a test.

use super::*;
use fanlog_broker::{
    Message, NewQueue, QueueDescription, QueueError, QueueStatus, Receipt, Receive, SettleFailure,
    SettleOutcome, Settled, Start,
};
use fanlog_model::GroupId;

pub(crate) fn queue(name: &str) -> GroupId {
    GroupId::from(name)
}

/// A topic "t" and a queue "q" on it that begins with the first record.
pub(crate) async fn started(
    machine: &Machine,
    partitions: i32,
    settings: &[(&str, &str)],
) -> Arc<Broker> {
    let broker = machine.start();
    create(&broker, "t", partitions).await;
    make(&broker, "q", Start::Earliest, settings).await.unwrap();
    broker
}

pub(crate) async fn make(
    broker: &Arc<Broker>,
    name: &str,
    start: Start,
    settings: &[(&str, &str)],
) -> Result<QueueDescription, QueueError> {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    let new = NewQueue {
        name: queue(name),
        topic: super::name("t"),
        settings: settings.iter().map(owned).collect(),
        start,
    };
    drive(broker, broker.queues().create(new)).await
}

pub(crate) async fn alter(broker: &Arc<Broker>, setting: &str, value: &str) {
    let changes = [(setting.to_owned(), Some(value.to_owned()))].into();
    let q = queue("q");
    drive(broker, broker.queues().alter(&q, changes))
        .await
        .unwrap();
}

/// A record that is produced: its key, its value and its headers.
pub(crate) type Produced<'a> = (Option<&'a str>, &'a str, &'a [(&'a str, &'a str)]);

/// Appends records as one batch, durably.
pub(crate) async fn put(broker: &Arc<Broker>, index: i32, records: &[Produced<'_>]) {
    put_to(broker, ("t", index), records).await;
}

/// Appends records without key or headers to a topic of that name.
pub(crate) async fn put_on(broker: &Arc<Broker>, topic: &str, values: &[&str]) {
    let records: Vec<Produced<'_>> = values.iter().map(|value| (None, *value, &[][..])).collect();
    put_to(broker, (topic, 0), &records).await;
}

async fn put_to(broker: &Arc<Broker>, (topic, index): (&str, i32), records: &[Produced<'_>]) {
    let mut builder = BatchBuilder::new(Compression::None);
    for (key, value, headers) in records {
        let headers: Vec<_> = headers
            .iter()
            .map(|(name, value)| (*name, Some(value.as_bytes())))
            .collect();
        let record = NewRecord {
            timestamp: broker.environment().clock.wall_ms(),
            key: key.map(str::as_bytes),
            value: Some(value.as_bytes()),
            headers: &headers,
        };
        builder.push(&record).unwrap();
    }
    let partition = partition(broker, topic, index);
    let receipt = partition.append(&mut builder.build().unwrap()).unwrap();
    drive(broker, receipt.durable()).await.unwrap();
}

/// Appends records without key or headers.
pub(crate) async fn put_values(broker: &Arc<Broker>, values: &[&str]) {
    let records: Vec<Produced<'_>> = values.iter().map(|value| (None, *value, &[][..])).collect();
    put(broker, 0, &records).await;
}

pub(crate) fn asks(consumer: &str, records_max: usize) -> Receive {
    Receive {
        consumer: consumer.into(),
        records_max,
        bytes_max: 1 << 20,
        wait_max: Duration::ZERO,
        lock: None,
    }
}

pub(crate) async fn receive(broker: &Arc<Broker>, consumer: &str, max: usize) -> Vec<Message> {
    receive_of(broker, "q", consumer, max).await
}

pub(crate) async fn receive_of(
    broker: &Arc<Broker>,
    name: &str,
    consumer: &str,
    max: usize,
) -> Vec<Message> {
    let name = queue(name);
    let received = broker.queues().receive(&name, asks(consumer, max));
    drive(broker, received).await.unwrap().messages
}

/// Values and attempts.
pub(crate) fn shown(messages: &[Message]) -> String {
    let one = |message: &Message| {
        let value = message.value.as_deref().unwrap_or_default();
        format!("{} x{}", String::from_utf8_lossy(value), message.attempt)
    };
    messages.iter().map(one).collect::<Vec<_>>().join(" ")
}

/// As `receive`, shown.
pub(crate) async fn take(broker: &Arc<Broker>, consumer: &str, max: usize) -> String {
    shown(&receive(broker, consumer, max).await)
}

pub(crate) async fn settle(
    broker: &Arc<Broker>,
    message: &Message,
    outcome: SettleOutcome,
) -> Result<Settled, SettleFailure> {
    settle_of(broker, "q", message.receipt.clone(), outcome).await
}

pub(crate) async fn settle_of(
    broker: &Arc<Broker>,
    name: &str,
    receipt: Receipt,
    outcome: SettleOutcome,
) -> Result<Settled, SettleFailure> {
    let name = queue(name);
    let settled = broker.queues().settle(&name, vec![(receipt, outcome)]);
    drive(broker, settled).await.unwrap().remove(0)
}

pub(crate) async fn ack(broker: &Arc<Broker>, message: &Message) {
    let settled = settle(broker, message, SettleOutcome::Ack).await;
    assert_eq!(settled, Ok(Settled::Done));
}

pub(crate) fn nack(reason: &str) -> SettleOutcome {
    SettleOutcome::Nack {
        delay: None,
        reason: reason.to_owned(),
    }
}

pub(crate) fn reject(reason: &str) -> SettleOutcome {
    SettleOutcome::Reject {
        reason: reason.to_owned(),
    }
}

pub(crate) fn status(broker: &Broker) -> QueueStatus {
    status_of(broker, "q")
}

pub(crate) fn status_of(broker: &Broker, name: &str) -> QueueStatus {
    broker.queues().status(&queue(name)).unwrap()
}

/// Time passes, and what was due by then takes effect.
pub(crate) async fn pass(machine: &Machine, broker: &Arc<Broker>, time: Duration) {
    machine.clock.advance(time);
    broker.queues().tick();
    settled(broker).await;
}

/// Lets the tasks in the background go as far as they can.
pub(crate) async fn settled(broker: &Arc<Broker>) {
    for _ in 0..200 {
        tokio::task::yield_now().await;
        broker.sync_all();
    }
}

/// Waits until the machines have replayed their logs, and what goes on by itself then has ended.
pub(crate) async fn loaded(broker: &Arc<Broker>) {
    settled(broker).await;
}

/// The dead letters: their values and reasons.
pub(crate) async fn dead(broker: &Arc<Broker>) -> String {
    let q = queue("q");
    let list = drive(broker, broker.queues().dead_list(&q, None, 1_000))
        .await
        .unwrap();
    let mut all = Vec::new();
    for letter in list.letters {
        let shown = broker.queues().dead_show(&q, letter.id);
        let shown = drive(broker, shown).await.unwrap();
        let value = shown.value.unwrap_or_default();
        let reason = shown.letter.reason.unwrap_or_default();
        all.push(format!("{}: {reason}", String::from_utf8_lossy(&value)));
    }
    all.join(", ")
}
