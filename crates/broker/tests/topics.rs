//! Topics over restarts and crashes.

#![allow(
    clippy::unwrap_used,
    reason = "the lint does not know that this is a test"
)]

mod common;

use common::*;
use fanlog_broker::{Broker, IdentityError, StartError};
use fanlog_coordinators::catalog::{
    ChangeKind, ConfigChange, ConfigResource, IncrementalAlteration, PartitionGrowth, ResourceKind,
    TopicRef,
};
use fanlog_environment::{Disk, OpenMode};
use fanlog_model::Offset;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Topics with their partitions that serve, and a setting.
fn catalog(broker: &Broker) -> BTreeMap<String, (usize, u32)> {
    let topics = broker.topics();
    let described = topics.iter().map(|topic| {
        for partition in &topic.partitions {
            partition.check_serving().unwrap();
        }
        let shape = (topic.partitions.len(), topic.settings.max_message_bytes);
        (topic.name.to_string(), shape)
    });
    described.collect()
}

async fn delete(broker: &Arc<Broker>, topic: &str) -> Result<(), String> {
    let topics = vec![TopicRef::Name(topic.to_owned())];
    let deleted = drive(broker, broker.delete_topics(topics)).await;
    let deleted = deleted.map_err(|error| error.to_string())?;
    deleted[0]
        .as_ref()
        .map(|_| ())
        .map_err(|error| error.to_string())
}

async fn grow(broker: &Arc<Broker>, topic: &str, count: i32) -> Result<(), String> {
    let growth = PartitionGrowth {
        topic: topic.to_owned(),
        count,
        assignments: None,
    };
    let grown = drive(broker, broker.create_partitions(vec![growth], false)).await;
    let grown = grown.map_err(|error| error.to_string())?;
    grown[0]
        .as_ref()
        .map(|_| ())
        .map_err(|error| error.to_string())
}

async fn alter(
    broker: &Arc<Broker>,
    topic: &str,
    setting: &str,
    value: &str,
) -> Result<(), String> {
    let alteration = IncrementalAlteration {
        resource: ConfigResource {
            kind: ResourceKind::Topic,
            name: topic.to_owned(),
        },
        changes: vec![ConfigChange {
            name: setting.to_owned(),
            kind: ChangeKind::Set,
            value: Some(value.to_owned()),
        }],
    };
    let altered = drive(
        broker,
        broker.incremental_alter_configs(vec![alteration], false),
    )
    .await;
    let altered = altered.map_err(|error| error.to_string())?;
    altered[0]
        .as_ref()
        .map(|_| ())
        .map_err(|error| error.to_string())
}

async fn try_create(broker: &Arc<Broker>, topic: &str, partitions: i32) -> Result<(), String> {
    let topics = vec![new_topic(topic, partitions)];
    let created = drive(broker, broker.create_topics(topics, false)).await;
    let created = created.map_err(|error| error.to_string())?;
    created[0]
        .as_ref()
        .map(|_| ())
        .map_err(|error| error.to_string())
}

#[tokio::test]
async fn topics_are_there_after_a_restart() {
    let machine = Machine::new(1);
    let broker = machine.start();
    create(&broker, "kept", 3).await;
    create(&broker, "gone", 2).await;
    produce(&broker, "gone", &["x"]).await;
    grow(&broker, "kept", 5).await.unwrap();
    alter(&broker, "kept", "max.message.bytes", "5000")
        .await
        .unwrap();
    delete(&broker, "gone").await.unwrap();
    assert!(!machine.disk.exists(Path::new("gone-0")).unwrap());
    let before = catalog(&broker);
    assert_eq!(before, BTreeMap::from([("kept".to_owned(), (5, 5000))]));
    drop(broker);
    machine.disk.crash(7);
    assert_eq!(catalog(&machine.start()), before);
}

#[tokio::test]
async fn a_topic_created_again_is_empty_and_has_another_id() {
    let machine = Machine::new(2);
    let broker = machine.start();
    create(&broker, "t", 1).await;
    produce(&broker, "t", &["old"]).await;
    let old = broker.topics().by_name(&name("t")).unwrap().id;
    let old_log = partition(&broker, "t", 0);
    delete(&broker, "t").await.unwrap();
    create(&broker, "t", 1).await;
    let topics = broker.topics();
    assert_ne!(topics.by_name(&name("t")).unwrap().id, old);
    assert!(topics.by_id(old).is_none());
    assert!(values(&broker, "t", 0).await.is_empty());
    assert!(old_log.append(&mut batch(&["late"])).is_err());
    assert_eq!(produce(&broker, "t", &["new"]).await, Offset(0));
}

#[tokio::test]
async fn settings_reach_open_logs() {
    let machine = Machine::new(3);
    let broker = machine.start();
    create(&broker, "t", 1).await;
    let large = "x".repeat(2_000);
    produce(&broker, "t", &[&large]).await;
    alter(&broker, "t", "max.message.bytes", "1000")
        .await
        .unwrap();
    let refused = partition(&broker, "t", 0).append(&mut batch(&[&large]));
    assert!(refused.is_err());
}

#[tokio::test]
async fn a_change_goes_on_when_its_caller_goes_away() {
    let machine = Machine::new(4);
    let broker = machine.start();
    {
        let create = broker.create_topics(vec![new_topic("t", 2)], false);
        let mut create = Box::pin(create);
        // Polled once, then dropped, as when a connection closes.
        let polled = tokio::time::timeout(std::time::Duration::ZERO, &mut create).await;
        assert!(polled.is_err());
    }
    // A later change comes after it.
    create(&broker, "u", 1).await;
    assert_eq!(catalog(&broker).len(), 2);
}

/// Runs changes until the disk dies; gives how many were answered.
async fn change_until_the_end(broker: &Arc<Broker>) -> usize {
    let steps = async |step: usize| match step {
        0 => try_create(broker, "a", 2).await,
        1 => try_create(broker, "b", 1).await,
        2 => grow(broker, "a", 3).await,
        3 => alter(broker, "a", "max.message.bytes", "9000").await,
        4 => delete(broker, "b").await,
        _ => try_create(broker, "b", 2).await,
    };
    for step in 0..6 {
        if steps(step).await.is_err() {
            return step;
        }
    }
    6
}

/// The catalog after so many of the changes.
fn state_after(changes: usize) -> BTreeMap<String, (usize, u32)> {
    let default = 1_048_588;
    let a = |partitions, bytes| ("a".to_owned(), (partitions, bytes));
    let b = |partitions| ("b".to_owned(), (partitions, default));
    let all = [
        vec![],
        vec![a(2, default)],
        vec![a(2, default), b(1)],
        vec![a(3, default), b(1)],
        vec![a(3, 9000), b(1)],
        vec![a(3, 9000)],
        vec![a(3, 9000), b(2)],
    ];
    all[changes].clone().into_iter().collect()
}

#[tokio::test]
async fn a_crash_at_any_step_leaves_the_old_or_the_new_state() {
    let machine = Machine::new(5);
    let broker = machine.start();
    let before = machine.disk.operations();
    assert_eq!(change_until_the_end(&broker).await, 6);
    assert_eq!(catalog(&broker), state_after(6));
    let operations = machine.disk.operations() - before;
    drop(broker);
    // Every operation once, each with a power cut of its own, and with a kill that spares the page cache.
    for crash_at in 0..2 * operations {
        let (is_power_cut, crash_at) = (crash_at < operations, crash_at % operations);
        let machine = Machine::new(5);
        let broker = machine.start();
        machine.disk.crash_at(crash_at);
        let answered = change_until_the_end(&broker).await;
        drop(broker);
        match is_power_cut {
            true => machine.disk.crash(crash_at),
            false => machine.disk.restart(),
        }
        let broker = machine.start();
        let found = catalog(&broker);
        let legal = [state_after(answered), state_after((answered + 1).min(6))];
        assert!(
            legal.contains(&found),
            "crash at {crash_at}, {answered} answered: {found:?}"
        );
        // And it goes on from there.
        create(&broker, "after", 1).await;
        produce(&broker, "after", &["x"]).await;
    }
}

#[tokio::test]
async fn an_interrupted_deletion_is_finished_at_the_next_start() {
    let machine = Machine::new(6);
    let broker = machine.start();
    create(&broker, "t", 2).await;
    let id = broker.topics().by_name(&name("t")).unwrap().id;
    let _ = id;
    let before = machine.disk.operations();
    delete(&broker, "t").await.unwrap();
    let operations = machine.disk.operations() - before;
    drop(broker);
    for crash_at in 0..operations {
        let machine = Machine::new(6);
        let broker = machine.start();
        create(&broker, "t", 2).await;
        machine.disk.crash_at(crash_at);
        let answered = delete(&broker, "t").await.is_ok();
        drop(broker);
        machine.disk.restart();
        let broker = machine.start();
        let is_there = broker.topics().by_name(&name("t")).is_some();
        assert!(!(answered && is_there), "crash at {crash_at}");
        let folders = machine.disk.read_dir(Path::new("")).unwrap();
        let left = folders
            .iter()
            .filter(|entry| entry.name.to_string_lossy().starts_with("t-"))
            .count();
        assert_eq!(
            left,
            if is_there { 2 } else { 0 },
            "crash at {crash_at}: {folders:?}"
        );
    }
}

#[tokio::test]
async fn what_the_catalog_does_not_know_is_never_deleted() {
    let machine = Machine::new(7);
    let broker = machine.start();
    create(&broker, "t", 1).await;
    broker.shutdown().await;
    drop(broker);
    for stranger in ["stranger-0", "notes", "t-1", "x-0.00-delete"] {
        let dir = Path::new(stranger);
        machine.disk.create_dir_all(dir).unwrap();
        let file = machine
            .disk
            .open(&dir.join("file"), OpenMode::CreateNew)
            .unwrap();
        file.write_all_at(b"dear", 0).unwrap();
    }
    machine.disk.restart();
    let broker = machine.start();
    assert_eq!(broker.topics().len(), 1);
    for stranger in ["stranger-0", "notes", "t-1", "x-0.00-delete"] {
        let file = Path::new(stranger).join("file");
        assert!(machine.disk.exists(&file).unwrap(), "{stranger}");
    }
}

#[tokio::test]
async fn partitions_without_a_catalog_are_no_new_directory() {
    let machine = Machine::new(22);
    let broker = machine.start();
    create(&broker, "t", 1).await;
    broker.shutdown().await;
    drop(broker);
    let catalog = Path::new("__fanlog_catalog-0");
    machine.disk.remove_dir_all(catalog).unwrap();
    machine.disk.restart();
    let error = machine.try_start().unwrap_err().to_string();
    assert!(error.contains("__fanlog_catalog-0 is missing"), "{error}");
    assert!(!machine.disk.exists(catalog).unwrap());
}

#[tokio::test]
async fn a_catalog_without_its_files_is_no_new_directory() {
    let machine = Machine::new(26);
    let broker = machine.start();
    create(&broker, "t", 1).await;
    drop(broker);
    let catalog = Path::new("__fanlog_catalog-0");
    machine.disk.remove_dir_all(catalog).unwrap();
    machine.disk.create_dir_all(catalog).unwrap();
    machine.disk.restart();
    let error = machine.try_start().unwrap_err().to_string();
    assert!(error.contains("__fanlog_catalog-0 is missing"), "{error}");
}

/// A machine with three records in the second of two partitions, whose folder is then gone. The other two were found at
/// a start, or, if `is_found` is false, made by this one.
async fn machine_with_a_lost_folder(seed: u64, is_found: bool) -> Machine {
    let machine = Machine::new(seed);
    let broker = machine.start();
    create(&broker, "t", 1).await;
    grow(&broker, "t", 2).await.unwrap();
    let lost = partition(&broker, "t", 1);
    let receipt = lost.append(&mut batch(&["a", "b", "c"])).unwrap();
    drive(&broker, receipt.durable()).await.unwrap();
    if is_found {
        drop(broker);
        machine.disk.crash(seed);
        machine.start().shutdown().await;
    } else {
        broker.shutdown().await;
    }
    machine.disk.remove_dir_all(Path::new("t-1")).unwrap();
    machine.disk.restart();
    machine
}

fn unavailable(broker: &Broker, index: i32) -> String {
    let serving = partition(broker, "t", index).check_serving();
    serving.map_or_else(|error| error.to_string(), |()| String::new())
}

#[tokio::test]
async fn a_folder_that_was_lost_is_not_made_anew() {
    for (seed, is_found, has_folder) in [
        (27, false, false),
        (28, true, false),
        (29, false, true),
        (30, true, true),
    ] {
        let machine = machine_with_a_lost_folder(seed, is_found).await;
        let folder = Path::new("t-1");
        if has_folder {
            machine.disk.create_dir_all(folder).unwrap();
        }
        let broker = machine.start();
        let error = unavailable(&broker, 1);
        assert!(error.contains("t-1 is missing or has no"), "{error}");
        let log = folder.join("00000000000000000000.log");
        assert!(!machine.disk.exists(&log).unwrap());
        // Nor by a change or by maintenance, and new partitions still are.
        grow(&broker, "t", 3).await.unwrap();
        broker.maintain();
        assert!(!unavailable(&broker, 1).is_empty());
        assert_eq!(unavailable(&broker, 2), "");
        produce(&broker, "t", &["x"]).await;
        // The topic can be deleted, and another can have its name.
        delete(&broker, "t").await.unwrap();
        create(&broker, "t", 2).await;
        assert_eq!(unavailable(&broker, 1), "");
        drop(broker);
        machine.disk.crash(seed);
        assert_eq!(unavailable(&machine.start(), 1), "");
    }
}

#[tokio::test]
async fn an_operator_can_give_up_the_records_of_a_lost_folder() {
    let machine = machine_with_a_lost_folder(31, true).await;
    assert!(!unavailable(&machine.start(), 1).is_empty());
    let folder = Path::new("t-1");
    let consent = folder.join("begin-empty");
    machine.disk.create_dir_all(folder).unwrap();
    machine.disk.open(&consent, OpenMode::CreateNew).unwrap();
    machine.disk.restart();
    let broker = machine.start();
    assert_eq!(unavailable(&broker, 1), "");
    assert!(!machine.disk.exists(&consent).unwrap());
    drop(broker);
    machine.disk.remove_dir_all(folder).unwrap();
    machine.disk.restart();
    assert!(!unavailable(&machine.start(), 1).is_empty());
}

#[tokio::test]
async fn deleting_a_topic_leaves_the_folder_of_another_in_its_place() {
    let machine = Machine::new(32);
    let broker = machine.start();
    create(&broker, "t", 1).await;
    create(&broker, "other", 1).await;
    broker.shutdown().await;
    drop(broker);
    machine.disk.remove_dir_all(Path::new("t-0")).unwrap();
    let (from, to) = (Path::new("other-0"), Path::new("t-0"));
    machine.disk.rename(from, to).unwrap();
    machine.disk.restart();
    let broker = machine.start();
    let error = unavailable(&broker, 0);
    assert!(
        error.contains("partition.metadata") && error.contains("belongs to topic id"),
        "{error}"
    );
    delete(&broker, "t").await.unwrap();
    assert!(machine.disk.exists(&to.join("partition.metadata")).unwrap());
}

#[tokio::test]
async fn a_corrupt_partition_is_offline_and_the_others_serve() {
    let machine = Machine::new(8);
    let broker = machine.start();
    create(&broker, "bad", 1).await;
    create(&broker, "good", 1).await;
    for value in ["a", "b", "c"] {
        produce(&broker, "bad", &[value]).await;
    }
    while broker.sync_next() {}
    drop(broker);
    machine.disk.restart();
    // In the first batch, behind its header: records that were durable.
    let log = Path::new("bad-0/00000000000000000000.log");
    machine.disk.corrupt(log, 64, &[0xff]).unwrap();
    let broker = machine.start();
    let unavailable = partition(&broker, "bad", 0).check_serving().unwrap_err();
    assert!(unavailable.to_string().contains("corrupt"), "{unavailable}");
    produce(&broker, "good", &["x"]).await;
    assert!(machine.disk.exists(log).unwrap());
}

#[tokio::test]
async fn a_full_disk_is_survived() {
    let machine = Machine::new(9);
    let broker = machine.start();
    create(&broker, "t", 1).await;
    produce(&broker, "t", &["a"]).await;
    machine.disk.set_free_bytes(Some(0));
    assert!(
        partition(&broker, "t", 0)
            .append(&mut batch(&["b"]))
            .is_err()
    );
    assert!(try_create(&broker, "u", 1).await.is_err());
    assert_eq!(values(&broker, "t", 0).await, ["a"]);
    machine.disk.set_free_bytes(None);
    produce(&broker, "t", &["c"]).await;
    create(&broker, "u", 1).await;
    assert_eq!(values(&broker, "t", 0).await, ["a", "c"]);
}

#[tokio::test]
async fn a_broker_starts_on_a_full_disk() {
    for (seed, is_clean) in [(33, true), (34, false)] {
        let machine = Machine::new(seed);
        let broker = machine.start();
        create(&broker, "t", 1).await;
        produce(&broker, "t", &["a", "b"]).await;
        if is_clean {
            broker.shutdown().await;
        }
        drop(broker);
        machine.disk.crash(seed);
        // What only the journal has needs room in the segments.
        machine
            .disk
            .set_free_bytes(Some(if is_clean { 0 } else { 4096 }));
        let broker = machine.start();
        assert_eq!(values(&broker, "t", 0).await, ["a", "b"]);
        // The record of a deletion takes some bytes in the catalog's log; hardly any disk is so full.
        machine.disk.set_free_bytes(Some(200));
        delete(&broker, "t").await.unwrap();
    }
}

#[tokio::test]
async fn a_topic_whose_folders_did_not_fit_gets_them_later() {
    let mut seen = 0;
    for room in (0..2_000).step_by(25) {
        let machine = Machine::new(10);
        let broker = machine.start();
        machine.disk.set_free_bytes(Some(room));
        let created = try_create(&broker, "t", 3).await.is_ok();
        machine.disk.set_free_bytes(None);
        if !created {
            try_create(&broker, "t", 3).await.unwrap();
        }
        let unavailable = |broker: &Broker| {
            let topics = broker.topics();
            let partitions = &topics.by_name(&name("t")).unwrap().partitions;
            assert_eq!(partitions.len(), 3);
            let serving = partitions.iter().map(|partition| partition.check_serving());
            serving.filter(Result::is_err).count()
        };
        if unavailable(&broker) > 0 {
            seen += 1;
            broker.maintain();
            assert_eq!(unavailable(&broker), 0, "room for {room} bytes");
        }
        produce(&broker, "t", &["x"]).await;
    }
    assert!(
        seen > 0,
        "no size left the catalog room and the folders none"
    );
}

#[tokio::test]
async fn a_directory_of_somebody_else_is_refused_and_untouched() {
    let check = |file: &str, content: &[u8], expected: fn(&IdentityError) -> bool| {
        let machine = Machine::new(11);
        let foreign = machine
            .disk
            .open(Path::new(file), OpenMode::CreateNew)
            .unwrap();
        foreign.write_all_at(content, 0).unwrap();
        let before = machine.disk.live_files();
        match machine.try_start() {
            Err(StartError::Identity(error)) => assert!(expected(&error), "{error}"),
            other => panic!("{file}: {other:?}"),
        }
        assert_eq!(machine.disk.live_files(), before);
    };
    check("photo.jpg", b"x", |error| {
        matches!(error, IdentityError::Foreign { .. })
    });
    check("meta.properties", b"x", |error| {
        matches!(error, IdentityError::Kafka)
    });
    let newer = b"version=9\ncluster.id=x\nnode.id=1\n";
    check("fanlog.properties", newer, |error| {
        matches!(error, IdentityError::Newer { found: 9 })
    });
    let other = b"version=1\ncluster.id=x\nnode.id=2\n";
    check("fanlog.properties", other, |error| {
        matches!(error, IdentityError::OtherNode { .. })
    });
    check("fanlog.properties", b"?", |error| {
        matches!(error, IdentityError::Unreadable { .. })
    });
}

#[tokio::test]
async fn a_crash_in_the_first_start_is_no_obstacle() {
    let machine = Machine::new(12);
    drop(machine.start());
    let operations = machine.disk.operations();
    // The last of them note the time for the next start, and nobody waits for that.
    let noting = 5;
    for crash_at in 0..operations {
        let machine = Machine::new(12);
        machine.disk.crash_at(crash_at);
        let is_started = machine.try_start().is_ok();
        assert_eq!(
            is_started,
            crash_at >= operations - noting,
            "crash at {crash_at}"
        );
        machine.disk.crash(crash_at);
        let broker = machine.start();
        create(&broker, "t", 1).await;
        produce(&broker, "t", &["x"]).await;
    }
}

#[tokio::test]
async fn producer_ids_are_never_given_twice() {
    let machine = Machine::new(13);
    let mut given = std::collections::BTreeSet::new();
    for start in 0..4 {
        let broker = machine.start();
        for _ in 0..1_100 {
            let id = drive(&broker, broker.init_producer_id()).await.unwrap();
            assert!(given.insert(id), "{id} was given before");
        }
        drop(broker);
        machine.disk.crash(start);
    }
}
