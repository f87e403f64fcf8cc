//! Compaction in the broker: which log is cleaned, what stops it, and that internal topics say the same after it.
#![allow(
    clippy::unwrap_used,
    reason = "the lint does not know that this is a test"
)]

mod common;

use common::*;
use fanlog_broker::{Broker, Isolation, OffsetSpec};
use fanlog_coordinators::CallId;
use fanlog_coordinators::catalog::NewTopic;
use fanlog_coordinators::group::{CommitOffsets, FetchOffsets, MemberId, OffsetToCommit};
use fanlog_environment::Clock;
use fanlog_model::{LeaderEpoch, Offset, PartitionIndex, TimestampMs, TopicId, TopicPartition};
use fanlog_protocol::records::{BatchBuilder, Compression, NewRecord};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

const DAY: Duration = Duration::from_secs(86_400);

fn compacted(topic: &str, settings: &[(&str, &str)]) -> NewTopic {
    let setting = |(name, value): &(&str, &str)| ((*name).to_owned(), Some((*value).to_owned()));
    let ours = [("cleanup.policy", "compact"), ("segment.ms", "1000")];
    let is_default = |(name, _): &&(&str, &str)| !settings.iter().any(|(given, _)| given == name);
    NewTopic {
        overrides: ours
            .iter()
            .filter(is_default)
            .chain(settings)
            .map(setting)
            .collect(),
        ..new_topic(topic, 1)
    }
}

async fn create_compacted(broker: &Arc<Broker>, topic: &str, settings: &[(&str, &str)]) {
    let created = broker.create_topics(vec![compacted(topic, settings)], false);
    drive(broker, created).await.unwrap().remove(0).unwrap();
}

/// Appends records of these keys, each in a batch and a segment of its own.
async fn put(machine: &Machine, broker: &Arc<Broker>, topic: &str, records: &[(&str, &str)]) {
    for (key, value) in records {
        machine.clock.advance(Duration::from_secs(2));
        let mut builder = BatchBuilder::new(Compression::None);
        let record = NewRecord {
            timestamp: machine.clock.wall_ms(),
            key: Some(key.as_bytes()),
            value: Some(value.as_bytes()),
            headers: &[],
        };
        builder.push(&record).unwrap();
        let partition = partition(broker, topic, 0);
        let receipt = partition.append(&mut builder.build().unwrap()).unwrap();
        drive(broker, receipt.durable()).await.unwrap();
    }
    sync_segments(broker);
}

/// What only the journal holds is not compacted.
fn sync_segments(broker: &Broker) {
    while broker.sync_next() {}
}

/// Everything that a reader from the start on sees, one fetch after the other.
async fn read(broker: &Broker, topic: &str) -> Vec<(i64, String)> {
    let mut all = Vec::new();
    let mut at = 0;
    loop {
        let result = broker.fetch(plan(topic, at)).await;
        let fetched = result.partitions[0].as_ref().unwrap();
        let records = records_in(&fetched.records);
        let Some((last, _)) = records.last() else {
            return all;
        };
        at = last + 1;
        all.extend(records);
    }
}

fn metric(broker: &Broker, name: &str) -> String {
    let text = broker.metrics().encode().unwrap();
    let line = text
        .lines()
        .find(|line| line.starts_with(&format!("fanlog_{name} ")));
    line.unwrap_or_else(|| panic!("no {name} in {text}"))
        .split(' ')
        .nth(1)
        .unwrap()
        .to_owned()
}

#[tokio::test]
async fn a_compacted_topic_keeps_the_newest_of_each_key_at_its_offset() {
    let machine = Machine::new(1);
    let broker = machine.start();
    create_compacted(&broker, "t", &[]).await;
    create(&broker, "other", 1).await;
    assert!(!broker.clean_dirtiest());
    put(
        &machine,
        &broker,
        "t",
        &[("a", "1"), ("b", "1"), ("a", "2"), ("a", "3"), ("c", "1")],
    )
    .await;
    assert!(broker.clean_dirtiest());
    assert!(!broker.clean_dirtiest(), "there is nothing more to do");
    let expected = [
        (1, "1".to_owned()),
        (3, "3".to_owned()),
        (4, "1".to_owned()),
    ];
    assert_eq!(read(&broker, "t").await, expected);
    assert_eq!(metric(&broker, "cleaner_runs_total"), "1");
    assert_eq!(metric(&broker, "cleaner_removed_records_total"), "2");
    assert_eq!(metric(&broker, "cleaner_uncleanable_partitions"), "0");
    drop(broker);
    machine.disk.crash(1);
    let broker = machine.start();
    assert_eq!(read(&broker, "t").await, expected);
    assert!(
        !broker.clean_dirtiest(),
        "the checkpoint says that it is clean"
    );
    let end = broker.list_offset(
        &by_name("t"),
        PartitionIndex(0),
        OffsetSpec::Latest,
        Isolation::ReadUncommitted,
        None,
    );
    assert_eq!(end.unwrap().offset, Some(Offset(5)));
}

#[tokio::test]
async fn the_dirtiest_log_comes_first() {
    let machine = Machine::new(2);
    let broker = machine.start();
    for topic in ["x", "y"] {
        create_compacted(&broker, topic, &[]).await;
        put(
            &machine,
            &broker,
            topic,
            &[("a", "1"), ("b", "2"), ("c", "3"), ("d", "4")],
        )
        .await;
        assert!(broker.clean_dirtiest());
    }
    put(
        &machine,
        &broker,
        "x",
        &[("a", "x"), ("b", "x"), ("c", "x"), ("d", "x"), ("e", "x")],
    )
    .await;
    put(
        &machine,
        &broker,
        "y",
        &[
            ("a", "y"),
            ("a", "y"),
            ("a", "y"),
            ("a", "y"),
            ("a", "y"),
            ("a", "y"),
            ("a", "y"),
            ("a", "y"),
        ],
    )
    .await;
    assert!(broker.clean_dirtiest());
    // b, c, d, the newest a in a sealed segment, and the one in the active segment.
    assert_eq!(read(&broker, "y").await.len(), 5);
    assert_eq!(read(&broker, "x").await.len(), 9);
    assert!(broker.clean_dirtiest());
    assert_eq!(read(&broker, "x").await.len(), 5);
}

#[tokio::test]
async fn compact_and_delete_both_apply() {
    let machine = Machine::new(3);
    let broker = machine.start();
    let settings = [
        ("cleanup.policy", "compact,delete"),
        ("retention.ms", "3600000"),
    ];
    create_compacted(&broker, "t", &settings).await;
    put(
        &machine,
        &broker,
        "t",
        &[("a", "1"), ("a", "2"), ("b", "1"), ("c", "1")],
    )
    .await;
    assert!(broker.clean_dirtiest());
    broker.maintain();
    assert_eq!(read(&broker, "t").await.len(), 3);
    machine.clock.advance(Duration::from_secs(7200));
    put(&machine, &broker, "t", &[("d", "1")]).await;
    broker.maintain();
    broker.sync_all();
    assert_eq!(values(&broker, "t", 4).await, ["1"]);
    let earliest = broker.list_offset(
        &by_name("t"),
        PartitionIndex(0),
        OffsetSpec::Earliest,
        Isolation::ReadUncommitted,
        None,
    );
    assert_eq!(earliest.unwrap().offset, Some(Offset(4)));
}

#[tokio::test]
async fn a_log_that_cannot_be_cleaned_is_given_up_and_others_go_on() {
    let machine = Machine::new(4);
    let broker = machine.start();
    let records = [("a", "1"), ("a", "2"), ("a", "3"), ("b", "1")];
    for topic in ["good", "broken"] {
        create_compacted(&broker, topic, &[]).await;
        put(&machine, &broker, topic, &records).await;
    }
    let segment = Path::new("broken-0/00000000000000000001.log");
    machine.disk.corrupt(segment, 65, &[1]).unwrap();
    let before = machine.disk.live_files();
    let mut cleanings = 0;
    while broker.clean_dirtiest() {
        cleanings += 1;
        assert!(cleanings <= 2);
    }
    assert_eq!(read(&broker, "good").await.len(), 2);
    let of_broken = |files: std::collections::BTreeMap<std::path::PathBuf, Vec<u8>>| {
        let is_broken = |(path, _): &(std::path::PathBuf, Vec<u8>)| path.starts_with("broken-0");
        files.into_iter().filter(is_broken).collect::<Vec<_>>()
    };
    assert_eq!(of_broken(machine.disk.live_files()), of_broken(before));
    assert_eq!(metric(&broker, "cleaner_uncleanable_partitions"), "1");
    assert_eq!(metric(&broker, "cleaner_failures_total"), "1");
    put(&machine, &broker, "broken", &[("b", "still written to")]).await;
}

#[tokio::test]
async fn the_catalog_says_the_same_after_compaction() {
    let machine = Machine::new(5);
    let broker = machine.start();
    for round in 0..5 {
        let gone = format!("gone-{round}");
        create(&broker, &gone, 2).await;
        create(&broker, &format!("stays-{round}"), 2).await;
        let named = fanlog_coordinators::catalog::TopicRef::Name(gone);
        drive(&broker, broker.delete_topics(vec![named]))
            .await
            .unwrap()
            .remove(0)
            .unwrap();
        machine.clock.advance(8 * DAY);
    }
    sync_segments(&broker);
    let size = broker.catalog_end_offset();
    let before = broker.catalog_view();
    assert!(broker.clean_dirtiest());
    assert_eq!(broker.catalog_end_offset(), size, "offsets stay");
    assert_ne!(metric(&broker, "cleaner_removed_records_total"), "0");
    drop(broker);
    machine.disk.crash(5);
    let broker = machine.start();
    let after = broker.catalog_view();
    let topics = |view: &fanlog_coordinators::catalog::CatalogView| {
        view.topics()
            .map(|topic| (topic.name.clone(), topic.id, topic.partitions, topic.made))
            .collect::<Vec<_>>()
    };
    assert_eq!(topics(&after), topics(&before));
    assert_eq!(topics(&after).len(), 5);
}

async fn commit(broker: &Arc<Broker>, group: &str, offset: i64) {
    let request = CommitOffsets {
        call: CallId(0),
        group: group.into(),
        member_id: MemberId::from(""),
        instance_id: None,
        generation: -1,
        names_missing_group: false,
        retention_ms: None,
        offsets: vec![OffsetToCommit {
            topic: name("t"),
            topic_id: TopicId::ZERO,
            partition: PartitionIndex(0),
            offset: Offset(offset),
            leader_epoch: LeaderEpoch::UNKNOWN,
            metadata: "".into(),
        }],
    };
    let outcomes = drive(broker, broker.groups().commit_offsets(request))
        .await
        .unwrap();
    assert!(outcomes.iter().all(|outcome| outcome.result.is_ok()));
}

async fn committed(broker: &Arc<Broker>, group: &str) -> Option<i64> {
    let request = || FetchOffsets {
        call: CallId(0),
        group: group.into(),
        member: None,
        partitions: Some(vec![TopicPartition {
            topic: name("t"),
            partition: PartitionIndex(0),
        }]),
        require_stable: false,
    };
    loop {
        match drive(broker, broker.groups().fetch_offsets(request())).await {
            Ok(mut fetched) => return Some(fetched.remove(0).committed?.offset.0),
            Err(_) => tokio::task::yield_now().await,
        }
    }
}

#[tokio::test]
async fn committed_offsets_are_the_same_after_compaction() {
    let machine = Machine::new(6);
    let broker = machine.start();
    create(&broker, "t", 1).await;
    let groups = ["g", "h", "i", "j", "k"];
    for round in 0..20 {
        for (i, group) in (0..).zip(groups) {
            commit(&broker, group, 100 * i + round).await;
        }
        if round % 5 == 0 {
            machine.clock.advance(DAY * 8);
            broker.maintain();
            broker.sync_all();
        }
    }
    sync_segments(&broker);
    let mut cleanings = 0;
    while broker.clean_dirtiest() {
        cleanings += 1;
    }
    assert!(cleanings >= 2, "the groups are in three partitions");
    let removed: u64 = metric(&broker, "cleaner_removed_records_total")
        .parse()
        .unwrap();
    assert!(removed > 50, "{removed}");
    for crash in [false, true] {
        for (i, group) in (0..).zip(groups) {
            let broker = match crash {
                false => broker.clone(),
                true => machine.start(),
            };
            assert_eq!(committed(&broker, group).await, Some(100 * i + 19));
            if crash {
                machine.disk.crash(u64::try_from(i).unwrap());
            }
        }
        if !crash {
            machine.disk.crash(7);
        }
    }
}

/// A broker on which a cleaning waits for ever: its clock stands still, and it may read a byte a second. It begins none by itself, which
/// could be late, and be the one that is under way.
fn start_slow(machine: &Machine) -> Arc<Broker> {
    let mut config = config();
    config.has_timers = true;
    let settings = [
        ("log.cleaner.io.max.bytes.per.second", "1"),
        ("log.cleaner.enable", "false"),
    ];
    let settings = settings.map(|(name, value)| (name.to_owned(), value.to_owned()));
    config.statics.extend(settings);
    Broker::start(config, machine.environment()).unwrap()
}

/// Has a cleaning under way that does not end by itself.
async fn cleaning(machine: &Machine, broker: &Arc<Broker>) -> std::thread::JoinHandle<bool> {
    create_compacted(broker, "t", &[]).await;
    put(machine, broker, "t", &[("a", "1"), ("a", "2"), ("b", "1")]).await;
    let cleaner = broker.clone();
    let cleaning = std::thread::spawn(move || cleaner.clean_dirtiest());
    let runs = || metric(broker, "cleaner_dirty_ratio_max");
    while runs() == "0.0" {
        tokio::task::yield_now().await;
    }
    cleaning
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_topic_can_be_deleted_and_made_anew_while_it_is_compacted() {
    let machine = Machine::new(8);
    let broker = start_slow(&machine);
    let cleaning = cleaning(&machine, &broker).await;
    let topic = fanlog_coordinators::catalog::TopicRef::Name("t".to_owned());
    drive(&broker, broker.delete_topics(vec![topic]))
        .await
        .unwrap()
        .remove(0)
        .unwrap();
    create_compacted(&broker, "t", &[]).await;
    assert!(cleaning.join().unwrap());
    put(&machine, &broker, "t", &[("a", "new")]).await;
    assert_eq!(read(&broker, "t").await, [(0, "new".to_owned())]);
    broker.shutdown().await;
    let is_left = |path: &&std::path::PathBuf| path.to_string_lossy().contains("cleaned");
    assert_eq!(machine.disk.live_files().keys().find(is_left), None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shutdown_ends_a_cleaning() {
    let machine = Machine::new(9);
    let broker = start_slow(&machine);
    let cleaning = cleaning(&machine, &broker).await;
    broker.shutdown().await;
    assert!(cleaning.join().unwrap());
    assert!(!broker.clean_dirtiest());
    drop(broker);
    machine.disk.restart();
    let broker = machine.start();
    assert_eq!(read(&broker, "t").await.len(), 3);
    assert!(broker.clean_dirtiest());
    assert_eq!(read(&broker, "t").await.len(), 2);
    assert!(machine.clock.wall_ms() > TimestampMs(0));
}
