//! The internal client against a broker, over TCP. With `FANLOG_TEST_BOOTSTRAP=host:port` the broker is the one there: Apache Kafka proves
//! the tests that way.

#![expect(
    clippy::unwrap_used,
    reason = "a test may panic, and helpers of tests are tests"
)]

mod support;

use fanlog_client::{
    Acks, Admin, ClientError, Cluster, ConfigChange, ConfigSource, ConsumedRecord, FetchConfig,
    Fetcher, GroupConfig, GroupConsumer, GroupEvent, NewTopic, OffsetReset, OffsetSpec, Producer,
    ProducerConfig, ProducerRecord, StartAt,
};
use fanlog_model::{Offset, PartitionIndex, TimestampMs, TopicName, TopicPartition};
use fanlog_protocol::ErrorCode;
use fanlog_protocol::records::Compression;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use support::{Broker, unique};

/// How long anything may take before a test calls it lost.
const PATIENCE: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(200);

/// A broker, an administrator, and a topic of this test alone.
struct Setting {
    cluster: Cluster,
    admin: Admin,
    topic: TopicName,
    _broker: Broker,
}

impl Setting {
    async fn new(partitions: i32) -> Self {
        Self::with_configs(partitions, &[]).await
    }

    async fn with_configs(partitions: i32, configs: &[(&str, &str)]) -> Self {
        let broker = Broker::start();
        let cluster = broker.cluster().await;
        let admin = Admin::new(cluster.clone());
        let name = unique("client");
        let mut new = NewTopic::new(&name, partitions);
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        new.configs = configs.iter().map(owned).collect();
        admin
            .create_topic(&new, false)
            .await
            .expect("a topic can be created");
        let topic = TopicName::new(&name).expect("the name is legal");
        Self {
            cluster,
            admin,
            topic,
            _broker: broker,
        }
    }

    fn partition(&self, index: i32) -> TopicPartition {
        let partition = PartitionIndex(index);
        TopicPartition {
            topic: self.topic.clone(),
            partition,
        }
    }

    fn record(&self, key: Option<&str>, value: &str, timestamp: i64) -> ProducerRecord {
        ProducerRecord {
            topic: self.topic.clone(),
            partition: None,
            timestamp: TimestampMs(timestamp),
            key: key.map(|key| key.to_owned().into()),
            value: Some(value.to_owned().into()),
            headers: vec![("h".to_owned(), Some("1".into())), ("h".to_owned(), None)],
        }
    }

    /// Sends records 0, 1, ... to partition 0, a second apart.
    async fn fill(&self, count: i64) {
        let producer = Producer::new(&self.cluster, ProducerConfig::default()).unwrap();
        let mut deliveries = Vec::new();
        for number in 0..count {
            let mut record = self.record(Some("k"), &number.to_string(), START + number * 1_000);
            record.partition = Some(PartitionIndex(0));
            deliveries.push(producer.send(record).await.unwrap());
        }
        for (delivery, number) in deliveries.into_iter().zip(0..) {
            assert_eq!(delivery.await.unwrap().offset, Some(Offset(number)));
        }
    }

    /// Reads `count` records of partition 0.
    async fn read(&self, start: StartAt, count: usize) -> Vec<ConsumedRecord> {
        let mut fetcher = Fetcher::new(&self.cluster, FetchConfig::default());
        fetcher.assign(self.partition(0), start).await.unwrap();
        let reading = async {
            let mut records = Vec::new();
            while records.len() < count {
                records.extend(fetcher.poll(POLL).await.unwrap());
            }
            records
        };
        tokio::time::timeout(PATIENCE, reading)
            .await
            .expect("records come")
    }
}

/// When the first record of `fill` was made.
const START: i64 = 1_790_000_000_000;

fn values(records: &[ConsumedRecord]) -> Vec<String> {
    let text = |record: &ConsumedRecord| String::from_utf8(record.value.clone().unwrap().to_vec());
    records.iter().map(|record| text(record).unwrap()).collect()
}

fn code<T: std::fmt::Debug>(result: Result<T, ClientError>) -> ErrorCode {
    let error = result.unwrap_err();
    error
        .code()
        .unwrap_or_else(|| panic!("no broker's refusal: {error}"))
}

#[tokio::test]
async fn topics_are_created_described_altered_grown_and_deleted() {
    let setting = Setting::with_configs(2, &[("retention.ms", "7200000")]).await;
    let (admin, name) = (&setting.admin, setting.topic.as_str());
    let view = setting.cluster.topic(name).await.unwrap();
    assert_eq!(view.partitions.len(), 2);
    assert!(!view.id.is_nil() && !view.is_internal);
    assert_eq!(
        code(admin.create_topic(&NewTopic::new(name, 1), false).await),
        ErrorCode::TopicAlreadyExists
    );

    let retention = async || {
        let configs = admin.topic_configs(name).await.unwrap();
        let found = configs
            .into_iter()
            .find(|one| one.name == "retention.ms")
            .unwrap();
        (found.value.unwrap(), found.source)
    };
    assert_eq!(
        retention().await,
        ("7200000".to_owned(), ConfigSource::Topic)
    );
    let set = |value: &str| {
        [ConfigChange::Set(
            "retention.ms".to_owned(),
            value.to_owned(),
        )]
    };
    admin
        .alter_topic_configs(name, &set("3600000"), true)
        .await
        .unwrap();
    assert_eq!(retention().await.0, "7200000", "validated only");
    admin
        .alter_topic_configs(name, &set("3600000"), false)
        .await
        .unwrap();
    assert_eq!(retention().await.0, "3600000");
    assert_eq!(
        code(admin.alter_topic_configs(name, &set("soon"), false).await),
        ErrorCode::InvalidConfig
    );
    let unset = [ConfigChange::Delete("retention.ms".to_owned())];
    admin
        .alter_topic_configs(name, &unset, false)
        .await
        .unwrap();
    assert_ne!(retention().await.1, ConfigSource::Topic);

    admin.create_partitions(name, 5).await.unwrap();
    assert_eq!(
        setting
            .cluster
            .partitions(&setting.topic)
            .await
            .unwrap()
            .len(),
        5
    );
    assert_eq!(
        code(admin.create_partitions(name, 5).await),
        ErrorCode::InvalidPartitions
    );

    assert!(
        setting
            .cluster
            .all_topics()
            .await
            .unwrap()
            .topics
            .contains_key(name)
    );
    admin.delete_topic(name).await.unwrap();
    assert_eq!(
        code(admin.delete_topic(name).await),
        ErrorCode::UnknownTopicOrPartition
    );
    assert!(
        !setting
            .cluster
            .all_topics()
            .await
            .unwrap()
            .topics
            .contains_key(name)
    );
}

#[tokio::test]
async fn every_compression_and_every_acks_brings_the_records_back() {
    let setting = Setting::new(1).await;
    let mut expected = Vec::new();
    for compression in Compression::ALL {
        for acks in [Acks::All, Acks::Leader, Acks::None] {
            let is_idempotent = acks == Acks::All;
            let config = ProducerConfig {
                acks,
                is_idempotent,
                compression,
                ..ProducerConfig::default()
            };
            let producer = Producer::new(&setting.cluster, config).unwrap();
            for number in 0..50 {
                let value = format!("{} {acks:?} {number}", compression.name());
                let delivery = producer
                    .send(setting.record(None, &value, START))
                    .await
                    .unwrap();
                expected.push(value);
                if number == 49 {
                    let delivered = delivery.await.unwrap();
                    assert_eq!(delivered.offset.is_some(), acks != Acks::None);
                }
            }
        }
    }
    let records = setting.read(StartAt::Earliest, expected.len()).await;
    assert_eq!(values(&records), expected);
    assert_eq!(
        records[0].headers,
        [("h".to_owned(), Some("1".into())), ("h".to_owned(), None)]
    );
    assert_eq!(records[0].timestamp, TimestampMs(START));
    assert_eq!(records[0].key, None);
}

#[tokio::test]
async fn a_fetcher_begins_where_it_is_told() {
    let setting = Setting::new(1).await;
    setting.fill(10).await;
    assert_eq!(values(&setting.read(StartAt::Earliest, 10).await)[0], "0");
    assert_eq!(
        values(&setting.read(StartAt::Offset(Offset(7)), 3).await),
        ["7", "8", "9"]
    );
    let at = StartAt::Timestamp(TimestampMs(START + 4_500));
    assert_eq!(values(&setting.read(at, 5).await)[0], "5");

    let mut fetcher = Fetcher::new(&setting.cluster, FetchConfig::default());
    fetcher
        .assign(setting.partition(0), StartAt::Latest)
        .await
        .unwrap();
    assert_eq!(fetcher.positions()[&setting.partition(0)], Offset(10));
    let later = StartAt::Timestamp(TimestampMs(START + 1_000_000));
    fetcher.assign(setting.partition(0), later).await.unwrap();
    assert_eq!(
        fetcher.positions()[&setting.partition(0)],
        Offset(10),
        "no record is so young"
    );

    fetcher.seek(setting.partition(0), Offset(99));
    assert_eq!(code(fetcher.poll(POLL).await), ErrorCode::OffsetOutOfRange);
    let missing = fetcher
        .assign(setting.partition(9), StartAt::Earliest)
        .await;
    assert!(matches!(
        missing,
        Err(ClientError::NoSuchPartition {
            partition: 9,
            count: 1,
            ..
        })
    ));
    let config = FetchConfig {
        reset: OffsetReset::Earliest,
        ..FetchConfig::default()
    };
    let mut fetcher = Fetcher::new(&setting.cluster, config);
    fetcher
        .assign(setting.partition(0), StartAt::Offset(Offset(99)))
        .await
        .unwrap();
    let records = tokio::time::timeout(PATIENCE, async {
        loop {
            let records = fetcher.poll(POLL).await.unwrap();
            if !records.is_empty() {
                return records;
            }
        }
    });
    assert_eq!(values(&records.await.unwrap())[0], "0");
}

#[tokio::test]
async fn offsets_are_listed_by_place_and_by_time() {
    let setting = Setting::new(2).await;
    setting.fill(10).await;
    let partitions = [setting.partition(0), setting.partition(1)];
    let check = async |spec, full: Option<i64>, empty: Option<i64>| {
        let listed = setting
            .cluster
            .list_offsets(&partitions, spec)
            .await
            .unwrap();
        let offset = |index: usize| listed[&partitions[index]].offset.map(Offset::get);
        assert_eq!((offset(0), offset(1)), (full, empty), "{spec:?}");
    };
    check(OffsetSpec::Earliest, Some(0), Some(0)).await;
    check(OffsetSpec::Latest, Some(10), Some(0)).await;
    check(OffsetSpec::MaxTimestamp, Some(9), None).await;
    check(OffsetSpec::Timestamp(TimestampMs(START + 1)), Some(1), None).await;
    check(
        OffsetSpec::Timestamp(TimestampMs(START + 10_000)),
        None,
        None,
    )
    .await;
    let timestamp = setting
        .cluster
        .timestamp_at(&partitions[0], Offset(3))
        .await
        .unwrap();
    assert_eq!(timestamp, Some(TimestampMs(START + 3_000)));
    assert_eq!(
        setting
            .cluster
            .timestamp_at(&partitions[0], Offset(10))
            .await
            .unwrap(),
        None
    );
}

#[tokio::test]
async fn records_are_deleted_from_the_front() {
    let setting = Setting::new(1).await;
    setting.fill(10).await;
    let (admin, partition) = (&setting.admin, setting.partition(0));
    assert_eq!(
        admin.delete_records(&partition, Offset(4)).await.unwrap(),
        Offset(4)
    );
    assert_eq!(values(&setting.read(StartAt::Earliest, 6).await)[0], "4");
    assert_eq!(
        code(admin.delete_records(&partition, Offset(11)).await),
        ErrorCode::OffsetOutOfRange
    );
    assert_eq!(
        admin.delete_records(&partition, Offset(-1)).await.unwrap(),
        Offset(10)
    );
}

#[tokio::test]
async fn what_a_topic_does_not_take_is_refused_with_the_record_named() {
    let configs = [
        ("cleanup.policy", "compact"),
        ("max.message.bytes", "20000"),
    ];
    let setting = Setting::with_configs(1, &configs).await;
    let config = ProducerConfig {
        linger: Duration::from_millis(200),
        ..ProducerConfig::default()
    };
    let producer = Producer::new(&setting.cluster, config).unwrap();
    let keyless = producer
        .send_and_wait(setting.record(None, "v", START))
        .await
        .unwrap_err();
    assert_eq!(keyless.code(), Some(ErrorCode::InvalidRecord));
    assert!(
        keyless.to_string().contains("record 0 of the batch"),
        "{keyless}"
    );

    // Ten of these are too large for one batch, one is not: the batch is sent in parts.
    let mut deliveries = Vec::new();
    for _ in 0..10 {
        let record = setting.record(Some("k"), &"x".repeat(7_000), START);
        deliveries.push(producer.send(record).await.unwrap());
    }
    for (delivery, offset) in deliveries.into_iter().zip(0..) {
        assert_eq!(delivery.await.unwrap().offset, Some(Offset(offset)));
    }
    let large = setting.record(Some("k"), &"x".repeat(30_000), START);
    assert_eq!(
        code(producer.send_and_wait(large).await),
        ErrorCode::MessageTooLarge
    );
    // The sequence goes on where it was.
    let after = producer
        .send_and_wait(setting.record(Some("k"), "v", START))
        .await
        .unwrap();
    assert_eq!(after.offset, Some(Offset(10)));

    let larger = setting.record(Some("k"), &"x".repeat(2_000_000), START);
    assert!(matches!(
        producer.send(larger).await,
        Err(ClientError::RecordTooLarge { .. })
    ));
    let mut elsewhere = setting.record(None, "v", START);
    elsewhere.partition = Some(PartitionIndex(1));
    assert!(matches!(
        producer.send(elsewhere).await,
        Err(ClientError::NoSuchPartition { .. })
    ));
}

#[tokio::test]
async fn keys_stay_in_one_partition_and_in_order() {
    let setting = Setting::new(3).await;
    let config = ProducerConfig {
        linger: Duration::ZERO,
        batch_bytes: 1_000,
        ..ProducerConfig::default()
    };
    let producer = Producer::new(&setting.cluster, config).unwrap();
    for number in 0..600 {
        let key = format!("k{}", number % 10);
        producer
            .send(setting.record(Some(&key), &number.to_string(), START))
            .await
            .unwrap();
    }
    producer.flush().await;
    let mut fetcher = Fetcher::new(&setting.cluster, FetchConfig::default());
    for index in 0..3 {
        fetcher
            .assign(setting.partition(index), StartAt::Earliest)
            .await
            .unwrap();
    }
    let reading = async {
        let mut records = Vec::new();
        while records.len() < 600 {
            records.extend(fetcher.poll(POLL).await.unwrap());
        }
        records
    };
    let records = tokio::time::timeout(PATIENCE, reading)
        .await
        .expect("records come");
    let mut by_key = BTreeMap::<_, (BTreeSet<_>, Vec<i32>)>::new();
    for record in &records {
        let (partitions, numbers) = by_key.entry(record.key.clone()).or_default();
        partitions.insert(record.partition.partition);
        let value = std::str::from_utf8(record.value.as_ref().unwrap()).unwrap();
        numbers.push(value.parse().unwrap());
    }
    assert_eq!(by_key.len(), 10);
    for (partitions, numbers) in by_key.values() {
        assert_eq!(partitions.len(), 1);
        assert!(numbers.is_sorted() && numbers.len() == 60, "{numbers:?}");
    }
}

/// Polls until an event fits.
async fn await_event<T>(
    consumer: &mut GroupConsumer,
    mut wanted: impl FnMut(GroupEvent) -> Option<T>,
) -> T {
    let waiting = async {
        loop {
            if let Some(event) = consumer.poll(POLL).await.unwrap()
                && let Some(found) = wanted(event)
            {
                return found;
            }
        }
    };
    tokio::time::timeout(PATIENCE, waiting)
        .await
        .expect("the event comes")
}

fn assigned(event: GroupEvent) -> Option<Vec<TopicPartition>> {
    match event {
        GroupEvent::Assigned(partitions) => Some(partitions),
        _ => None,
    }
}

fn group_config(group: &str, setting: &Setting) -> GroupConfig {
    let mut config = GroupConfig::new(group, vec![setting.topic.to_string()]);
    config.heartbeat_interval = Duration::from_millis(100);
    config.session_timeout = Duration::from_secs(6);
    config.fetch.reset = OffsetReset::Earliest;
    config
}

#[tokio::test]
async fn members_share_partitions_commit_and_resume() {
    let setting = Setting::new(2).await;
    setting.fill(10).await;
    let group = unique("group");
    let mut first = GroupConsumer::new(&setting.cluster, group_config(&group, &setting));
    let partitions = await_event(&mut first, assigned).await;
    assert_eq!(partitions.len(), 2);
    let records = await_event(&mut first, |event| match event {
        GroupEvent::Records(records) => Some(records),
        _ => None,
    });
    assert_eq!(values(&records.await)[0], "0");
    let next = BTreeMap::from([(setting.partition(0), Offset(6))]);
    first.commit_offsets(&next).await.unwrap();

    // A second member: the first is told to let go, and commits under its old generation.
    let mut second = GroupConsumer::new(&setting.cluster, group_config(&group, &setting));
    let joining = tokio::spawn(async move {
        let partitions = await_event(&mut second, assigned).await;
        (second, partitions)
    });
    let revoked = await_event(&mut first, |event| match event {
        GroupEvent::Revoked(partitions) => Some(partitions),
        _ => None,
    });
    assert_eq!(revoked.await.len(), 2);
    let next = BTreeMap::from([(setting.partition(0), Offset(7))]);
    first.commit_offsets(&next).await.unwrap();
    let of_first = await_event(&mut first, assigned).await;
    let (second, of_second) = joining.await.unwrap();
    assert_eq!((of_first.len(), of_second.len()), (1, 1));
    assert_ne!(of_first, of_second);
    let view = setting.admin.describe_group(&group).await.unwrap();
    assert_eq!((view.state.as_str(), view.members.len()), ("Stable", 2));
    assert_eq!(view.protocol, "range");
    assert!(
        setting
            .admin
            .list_groups()
            .await
            .unwrap()
            .iter()
            .any(|one| one.id == group)
    );
    assert_eq!(
        code(setting.admin.commit_offsets(&group, &next).await),
        ErrorCode::UnknownMemberId
    );
    assert_eq!(
        code(setting.admin.delete_group(&group).await),
        ErrorCode::NonEmptyGroup
    );

    // Whoever is left gets everything, at the committed offset.
    let (mut stays, leaves) = if of_first[0] == setting.partition(0) {
        (second, first)
    } else {
        (first, second)
    };
    leaves.close().await.unwrap();
    assert_eq!(await_event(&mut stays, assigned).await.len(), 2);
    assert_eq!(stays.positions()[&setting.partition(0)], Offset(7));
    stays.close().await.unwrap();
    group_from_outside(&setting, &group).await;
}

/// What administrators do to a group without members.
async fn group_from_outside(setting: &Setting, group: &str) {
    let admin = &setting.admin;
    let view = admin.describe_group(group).await.unwrap();
    assert_eq!((view.state.as_str(), view.members.len()), ("Empty", 0));
    let lags = admin.group_lag(&view).await.unwrap();
    let lag = lags
        .iter()
        .find(|lag| lag.partition == setting.partition(0))
        .unwrap();
    assert_eq!((lag.committed, lag.records()), (Some(Offset(7)), Some(3)));
    assert_eq!(lag.oldest_unread, Some(TimestampMs(START + 7_000)));

    let reset = BTreeMap::from([
        (setting.partition(0), Offset(2)),
        (setting.partition(1), Offset(0)),
    ]);
    admin.commit_offsets(group, &reset).await.unwrap();
    let committed = admin.committed_offsets(group).await.unwrap();
    assert_eq!(committed[&setting.partition(0)].offset, Offset(2));
    assert_eq!(committed.len(), 2);
    admin
        .delete_offsets(group, &[setting.partition(1)])
        .await
        .unwrap();
    assert_eq!(admin.committed_offsets(group).await.unwrap().len(), 1);
    admin.delete_group(group).await.unwrap();
    assert_eq!(
        code(admin.describe_group(group).await),
        ErrorCode::GroupIdNotFound
    );
    assert_eq!(
        code(admin.delete_group(group).await),
        ErrorCode::GroupIdNotFound
    );
}

#[tokio::test]
async fn a_member_that_does_not_ask_for_records_loses_its_partitions() {
    let setting = Setting::new(1).await;
    setting.fill(1).await;
    let group = unique("group");
    let mut config = group_config(&group, &setting);
    config.max_poll_interval = Duration::from_millis(300);
    let mut slow = GroupConsumer::new(&setting.cluster, config);
    assert_eq!(await_event(&mut slow, assigned).await.len(), 1);
    // Another waits for the partition and gets it, although the first one's heartbeats went on.
    let mut next = GroupConsumer::new(&setting.cluster, group_config(&group, &setting));
    let taken = async {
        loop {
            if !await_event(&mut next, assigned).await.is_empty() {
                return;
            }
        }
    };
    tokio::time::timeout(PATIENCE, taken)
        .await
        .expect("the partition moves");
    let late = BTreeMap::from([(setting.partition(0), Offset(1))]);
    let refused = slow.commit_offsets(&late).await.unwrap_err();
    assert!(refused.is_rebalance(), "{refused}");
    let lost = await_event(&mut slow, |event| match event {
        GroupEvent::Lost(partitions, _) => Some(partitions),
        _ => None,
    });
    assert_eq!(lost.await, [setting.partition(0)]);
}

#[tokio::test]
async fn a_static_member_is_fenced_by_its_successor_and_does_not_fight_it() {
    let setting = Setting::new(1).await;
    let group = unique("group");
    let mut config = group_config(&group, &setting);
    config.instance_id = Some("one".to_owned());
    let mut old = GroupConsumer::new(&setting.cluster, config.clone());
    assert_eq!(await_event(&mut old, assigned).await.len(), 1);
    let mut new = GroupConsumer::new(&setting.cluster, config);
    assert_eq!(await_event(&mut new, assigned).await.len(), 1);
    await_event(&mut old, |event| {
        matches!(event, GroupEvent::Lost(..)).then_some(())
    })
    .await;
    assert_eq!(code(old.poll(POLL).await), ErrorCode::FencedInstanceId);
    assert_eq!(new.assignment(), [setting.partition(0)]);
}
