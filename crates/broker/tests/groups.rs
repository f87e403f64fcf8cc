//! Groups over the runtime: their log, restarts, failures, and callers that go away.

#![allow(
    clippy::unwrap_used,
    reason = "the lint does not know that this is a test"
)]

mod common;

use bytes::Bytes;
use common::*;
use fanlog_broker::{AppendError, Broker, CoordinatorError, GroupRequestError};
use fanlog_coordinators::CallId;
use fanlog_coordinators::catalog::TopicRef;
use fanlog_coordinators::group::{
    CommitOffsets, FetchOffsets, GroupError, Join, Joined, MemberId, OffsetError, OffsetToCommit,
    Protocol, Sync, Synced,
};
use fanlog_environment::simulated::FailedSync;
use fanlog_model::{GroupId, LeaderEpoch, Offset, PartitionIndex, TopicId, TopicPartition};
use std::sync::Arc;
use std::time::Duration;

fn join_request(group: &str) -> Join {
    Join {
        call: CallId(0),
        group: group.into(),
        member_id: MemberId::from(""),
        fresh_id: uuid::Uuid::nil(),
        instance_id: None,
        client_id: "test".into(),
        client_host: "/127.0.0.1".into(),
        session_timeout_ms: 10_000,
        rebalance_timeout_ms: 10_000,
        protocol_type: "consumer".into(),
        protocols: vec![Protocol {
            name: "range".into(),
            metadata: Bytes::new(),
        }],
        requires_member_id: false,
        supports_skip_assignment: true,
    }
}

/// Joins an empty group: the first generation stands once the rebalance delay is over.
async fn join(machine: &Machine, broker: &Arc<Broker>, group: &str) -> Joined {
    let joining = tokio::spawn({
        let (groups, request) = (broker.groups().clone(), join_request(group));
        async move { groups.join(request).await }
    });
    // The request is handed in, and its topic made, before time passes.
    drive(broker, broker.groups().find(&group.into()))
        .await
        .unwrap();
    for _ in 0..10 {
        tokio::task::yield_now().await;
        machine.clock.advance(Duration::from_millis(1));
        broker.groups().tick();
    }
    drive(broker, joining).await.unwrap().unwrap()
}

async fn sync(broker: &Arc<Broker>, group: &str, joined: &Joined) -> Synced {
    let request = Sync {
        call: CallId(0),
        group: group.into(),
        member_id: joined.member_id.clone(),
        instance_id: None,
        generation: joined.generation,
        protocol_type: None,
        protocol: None,
        assignments: vec![(joined.member_id.clone(), Bytes::from_static(b"all"))],
    };
    drive(broker, broker.groups().sync(request)).await.unwrap()
}

fn commit_request(group: &str, member: Option<&Joined>, topic: &str, offset: i64) -> CommitOffsets {
    CommitOffsets {
        call: CallId(0),
        group: group.into(),
        member_id: member.map_or(MemberId::from(""), |joined| joined.member_id.clone()),
        instance_id: None,
        generation: member.map_or(-1, |joined| joined.generation),
        names_missing_group: false,
        retention_ms: None,
        offsets: vec![OffsetToCommit {
            topic: name(topic),
            topic_id: TopicId::ZERO,
            partition: PartitionIndex(0),
            offset: Offset(offset),
            leader_epoch: LeaderEpoch::UNKNOWN,
            metadata: "".into(),
        }],
    }
}

async fn commit(broker: &Arc<Broker>, request: CommitOffsets) -> Result<(), GroupRequestError> {
    let outcomes = drive(broker, broker.groups().commit_offsets(request)).await?;
    assert!(outcomes.iter().all(|outcome| outcome.result.is_ok()));
    Ok(())
}

async fn committed(broker: &Arc<Broker>, group: &str, topic: &str) -> Option<i64> {
    let request = FetchOffsets {
        call: CallId(0),
        group: group.into(),
        member: None,
        partitions: Some(vec![TopicPartition {
            topic: name(topic),
            partition: PartitionIndex(0),
        }]),
        require_stable: false,
    };
    let fetched = drive(broker, broker.groups().fetch_offsets(request)).await;
    let committed = fetched.unwrap().remove(0).committed?;
    Some(committed.offset.0)
}

/// Waits until the machines have replayed their logs.
async fn loaded(broker: &Arc<Broker>) {
    let list = || broker.groups().list(vec![], vec![]);
    while drive(broker, list()).await == Err(CoordinatorError::Loading) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_committed_offset_is_read_back_after_a_power_cut() {
    let machine = Machine::new(1);
    let broker = machine.start();
    create(&broker, "t", 1).await;
    let joined = join(&machine, &broker, "g").await;
    assert_eq!(
        sync(&broker, "g", &joined).await.assignment,
        Bytes::from_static(b"all")
    );
    commit(&broker, commit_request("g", Some(&joined), "t", 42))
        .await
        .unwrap();
    drop(broker);
    machine.disk.crash(3);
    let broker = machine.start();
    loaded(&broker).await;
    assert_eq!(committed(&broker, "g", "t").await, Some(42));
    let listed = broker.groups().list(vec![], vec![]).await.unwrap();
    assert_eq!(listed[0].group, GroupId::from("g"));
    // The member is remembered, and so is its generation (GRP-2).
    commit(&broker, commit_request("g", Some(&joined), "t", 43))
        .await
        .unwrap();
    let mut late = commit_request("g", Some(&joined), "t", 1);
    late.generation -= 1;
    let refused = commit(&broker, late).await.unwrap_err();
    assert!(matches!(
        refused,
        GroupRequestError::Refused(GroupError::IllegalGeneration { .. })
    ));
    assert_eq!(committed(&broker, "g", "t").await, Some(43));
}

#[tokio::test]
async fn an_offset_is_not_told_before_it_is_durable() {
    let machine = Machine::new(2);
    let broker = machine.start();
    create(&broker, "t", 1).await;
    drive(&broker, broker.groups().find(&"g".into()))
        .await
        .unwrap();
    let spawn_commit = |offset| {
        let (groups, request) = (
            broker.groups().clone(),
            commit_request("g", None, "t", offset),
        );
        tokio::spawn(async move { groups.commit_offsets(request).await })
    };
    let spawn_fetch = || {
        let groups = broker.groups().clone();
        let request = FetchOffsets {
            call: CallId(0),
            group: "g".into(),
            member: None,
            partitions: None,
            require_stable: false,
        };
        tokio::spawn(async move { groups.fetch_offsets(request).await })
    };
    let committing = spawn_commit(5);
    let fetching = spawn_fetch();
    for _ in 0..5 {
        tokio::task::yield_now().await;
    }
    assert!(
        !committing.is_finished() && !fetching.is_finished(),
        "GRP-3"
    );
    broker.sync_all();
    committing.await.unwrap().unwrap();
    let fetched = fetching.await.unwrap().unwrap();
    assert_eq!(fetched[0].committed.as_ref().unwrap().offset, Offset(5));
}

#[tokio::test]
async fn a_failed_sync_answers_nobody_with_success() {
    let machine = Machine::new(3);
    let broker = machine.start();
    create(&broker, "t", 1).await;
    commit(&broker, commit_request("g", None, "t", 1))
        .await
        .unwrap();
    machine.disk.fail_sync(0, FailedSync::PagesDropped);
    let failed = commit(&broker, commit_request("g", None, "t", 2))
        .await
        .unwrap_err();
    assert!(matches!(
        failed,
        GroupRequestError::Coordinator(CoordinatorError::NotAvailable { .. })
    ));
    drop(broker);
    machine.disk.restart();
    let broker = machine.start();
    loaded(&broker).await;
    let found = committed(&broker, "g", "t").await;
    assert!(matches!(found, Some(1 | 2)), "{found:?}");
}

#[tokio::test]
async fn a_refused_write_reloads_the_machine() {
    let machine = Machine::new(4);
    let broker = machine.start();
    create(&broker, "t", 1).await;
    commit(&broker, commit_request("g", None, "t", 1))
        .await
        .unwrap();
    machine.disk.set_free_bytes(Some(0));
    let refused = commit(&broker, commit_request("g", None, "t", 2))
        .await
        .unwrap_err();
    assert!(
        matches!(refused, GroupRequestError::Coordinator(_)),
        "{refused}"
    );
    machine.disk.set_free_bytes(None);
    loaded(&broker).await;
    assert_eq!(committed(&broker, "g", "t").await, Some(1));
    commit(&broker, commit_request("g", None, "t", 3))
        .await
        .unwrap();
    assert_eq!(committed(&broker, "g", "t").await, Some(3));
}

#[tokio::test]
async fn groups_whose_folders_did_not_fit_get_them_later() {
    let mut refused = 0;
    for room in (0..2_000).step_by(50) {
        let machine = Machine::new(23);
        let broker = machine.start();
        create(&broker, "t", 1).await;
        machine.disk.set_free_bytes(Some(room));
        let first = commit(&broker, commit_request("g", None, "t", 1)).await;
        refused += usize::from(first.is_err());
        machine.disk.set_free_bytes(None);
        broker.maintain();
        loaded(&broker).await;
        commit(&broker, commit_request("g", None, "t", 2))
            .await
            .unwrap();
        assert_eq!(committed(&broker, "g", "t").await, Some(2), "room {room}");
    }
    assert!(refused > 0);
}

#[tokio::test]
async fn groups_survive_the_deletion_of_a_topic_on_a_disk_that_is_almost_full() {
    let mut deleted = 0;
    for room in (0..1_000).step_by(20) {
        let machine = Machine::new(24);
        let broker = machine.start();
        create(&broker, "t", 1).await;
        create(&broker, "u", 1).await;
        let mut request = commit_request("g", None, "t", 1);
        request.offsets[0].topic_id = partition(&broker, "t", 0).topic_id();
        commit(&broker, request).await.unwrap();
        machine.disk.set_free_bytes(Some(room));
        let topics = vec![TopicRef::Name("t".to_owned())];
        let deletion = drive(&broker, broker.delete_topics(topics)).await;
        deleted += usize::from(deletion.is_ok());
        loaded(&broker).await;
        machine.disk.set_free_bytes(None);
        commit(&broker, commit_request("g", None, "u", 2))
            .await
            .unwrap();
        assert_eq!(committed(&broker, "g", "u").await, Some(2), "room {room}");
        if deletion.is_ok() {
            create(&broker, "t", 1).await;
        }
        let expected = deletion.is_err().then_some(1);
        assert_eq!(committed(&broker, "g", "t").await, expected, "room {room}");
    }
    assert!((1..50).contains(&deleted), "{deleted}");
}

#[tokio::test]
async fn a_caller_that_goes_away_breaks_nothing() {
    let machine = Machine::new(5);
    let broker = machine.start();
    create(&broker, "t", 1).await;
    drive(&broker, broker.groups().find(&"g".into()))
        .await
        .unwrap();
    let leaving = tokio::spawn({
        let (groups, request) = (broker.groups().clone(), join_request("g"));
        async move { groups.join(request).await }
    });
    tokio::task::yield_now().await;
    leaving.abort();
    let _ = leaving.await;
    // Its member never comes back: its session ends, and another takes over.
    for _ in 0..3 {
        machine.clock.advance(Duration::from_secs(400));
        broker.groups().tick();
    }
    let joined = join(&machine, &broker, "g").await;
    assert_eq!(joined.members.len(), 1);
    sync(&broker, "g", &joined).await;
}

#[tokio::test]
async fn offsets_go_with_their_topic() {
    let machine = Machine::new(6);
    let broker = machine.start();
    create(&broker, "t", 1).await;
    create(&broker, "other", 1).await;
    commit(&broker, commit_request("g", None, "t", 9))
        .await
        .unwrap();
    commit(&broker, commit_request("g", None, "other", 4))
        .await
        .unwrap();
    let gone = vec![TopicRef::Name("t".to_owned())];
    drive(&broker, broker.delete_topics(gone)).await.unwrap();
    create(&broker, "t", 1).await;
    assert_eq!(committed(&broker, "g", "t").await, None);
    assert_eq!(committed(&broker, "g", "other").await, Some(4));
    drop(broker);
    machine.disk.crash(9);
    let broker = machine.start();
    loaded(&broker).await;
    assert_eq!(committed(&broker, "g", "t").await, None);
    assert_eq!(committed(&broker, "g", "other").await, Some(4));
}

#[tokio::test]
async fn offsets_of_a_topic_deleted_before_a_crash_are_forgotten_at_the_start() {
    let machine = Machine::new(7);
    let broker = machine.start();
    create(&broker, "t", 1).await;
    commit(&broker, commit_request("g", None, "t", 9))
        .await
        .unwrap();
    let gone = vec![TopicRef::Name("t".to_owned())];
    drive(&broker, broker.delete_topics(gone)).await.unwrap();
    // The tombstones of the offsets were not synced.
    drop(broker);
    machine.disk.crash(1);
    let broker = machine.start();
    loaded(&broker).await;
    assert_eq!(committed(&broker, "g", "t").await, None);
    let deadline = broker.groups().positions();
    assert!(deadline.is_empty(), "{deadline:?}");
}

#[tokio::test]
async fn lag_and_loss_are_told() {
    let machine = Machine::new(8);
    let broker = machine.start();
    create(&broker, "t", 1).await;
    for value in ["a", "b", "c", "d"] {
        produce(&broker, "t", &[value]).await;
    }
    commit(&broker, commit_request("g", None, "t", 1))
        .await
        .unwrap();
    machine.clock.advance(Duration::from_secs(90));
    let told = |line: &str| {
        let text = broker.metrics().encode().unwrap();
        assert!(
            text.lines().any(|found| found == line),
            "{line} is not in\n{text}"
        );
    };
    let labels = r#"group="g",topic="t",partition="0""#;
    told(&format!("fanlog_group_lag_records{{{labels}}} 3"));
    told(&format!("fanlog_group_lag_age_seconds{{{labels}}} 90.0"));
    told(r#"fanlog_topic_appended_records_total{topic="t"} 4"#);
    let trimmed = broker
        .delete_records(&by_name("t"), PartitionIndex(0), Some(Offset(3)))
        .await;
    assert_eq!(trimmed.unwrap(), Offset(3));
    told(&format!(
        "fanlog_group_records_lost_to_retention_total{{{labels}}} 2"
    ));
}

#[tokio::test]
async fn clients_may_read_the_offsets_topic_and_not_write_to_it() {
    let machine = Machine::new(9);
    let broker = machine.start();
    create(&broker, "t", 1).await;
    commit(&broker, commit_request("g", None, "t", 1))
        .await
        .unwrap();
    let topics = broker.topics();
    let internal = topics.by_name(&name("__consumer_offsets")).unwrap();
    assert!(internal.is_internal);
    for partition in &internal.partitions {
        let refused = partition.append(&mut batch(&["x"])).unwrap_err();
        assert!(matches!(refused, AppendError::Internal { .. }), "{refused}");
    }
    assert!(topics.by_name(&name("__fanlog_catalog")).is_none());
    let stored: i64 = internal
        .partitions
        .iter()
        .map(|log| log.high_watermark().0)
        .sum();
    assert!(stored > 0);
}

/// A commit that was answered is read back, whatever happens to the machine in between.
#[tokio::test]
async fn answered_commits_survive_crashes_at_every_operation() {
    for crash_at in 0..120 {
        let machine = Machine::new(10);
        let broker = machine.start();
        create(&broker, "t", 1).await;
        machine.disk.crash_at(crash_at);
        let mut answered = 0;
        for offset in 1..30 {
            let request = commit_request("g", None, "t", offset);
            if commit(&broker, request).await.is_err() {
                break;
            }
            answered = offset;
        }
        drop(broker);
        machine.disk.crash(crash_at);
        let broker = machine.start();
        loaded(&broker).await;
        let found = committed(&broker, "g", "t").await.unwrap_or(0);
        let legal = answered..=answered + 1;
        assert!(
            legal.contains(&found),
            "crash at {crash_at}: {answered} answered, {found} found"
        );
    }
}

#[tokio::test]
async fn what_all_groups_take_together_is_bounded_and_told() {
    let machine = Machine::new(21);
    let mut config = config();
    let limit = ("fanlog.groups.memory.bytes".into(), "1048576".into());
    config.statics.extend([limit]);
    let broker = Broker::start(config, machine.environment()).unwrap();
    create(&broker, "t", 1).await;
    // Groups in all partitions of their topic, with long names.
    let group = |n: usize| format!("{n}{}", "g".repeat(30_000));
    let mut made = 0;
    let refused = loop {
        let request = commit_request(&group(made), None, "t", 1);
        let outcomes = drive(&broker, broker.groups().commit_offsets(request)).await;
        match &outcomes.unwrap()[0].result {
            Ok(()) => made += 1,
            Err(error) => break error.clone(),
        }
    };
    assert_eq!(refused, OffsetError::MemoryFull { max: 1_048_576 });
    assert!((20..40).contains(&made), "{made}");
    let joining = drive(&broker, broker.groups().join(join_request(&group(made)))).await;
    assert!(matches!(
        joining,
        Err(GroupRequestError::Refused(GroupError::MemoryFull { .. }))
    ));
    // Those that are there go on.
    commit(&broker, commit_request(&group(0), None, "t", 2))
        .await
        .unwrap();
    let metrics = broker.metrics().encode().unwrap();
    assert!(
        metrics.contains("fanlog_group_memory_refusals_total 2"),
        "{metrics}"
    );
    drive(
        &broker,
        broker.groups().delete_group(group(0).as_str().into()),
    )
    .await
    .unwrap();
    commit(&broker, commit_request(&group(made), None, "t", 1))
        .await
        .unwrap();
    // A restart counts the same.
    let bytes = |broker: &Broker| {
        let metrics = broker.metrics().encode().unwrap();
        let line = metrics
            .lines()
            .find(|line| line.starts_with("fanlog_group_memory_bytes"));
        line.unwrap().to_owned()
    };
    let before = bytes(&broker);
    broker.shutdown().await;
    drop(broker);
    let broker = machine.start();
    loaded(&broker).await;
    assert_eq!(committed(&broker, &group(made), "t").await, Some(1));
    assert_eq!(bytes(&broker), before);
}
