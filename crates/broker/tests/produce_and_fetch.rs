//! Appending, becoming durable, and being fetched.

#![allow(
    clippy::unwrap_used,
    reason = "the lint does not know that this is a test"
)]

mod common;

use common::*;
use fanlog_broker::{
    Broker, EpochError, FetchError, FetchRequestPlan, Isolation, LookupError, OffsetSpec,
    PartitionUnavailable, TopicRef,
};
use fanlog_environment::simulated::FailedSync;
use fanlog_environment::{Disk, ManualClock};
use fanlog_model::{LeaderEpoch, Offset, PartitionIndex, TopicId};
use std::path::Path;
use std::time::Duration;

#[tokio::test]
async fn a_record_is_seen_once_it_is_durable_and_not_before() {
    let machine = Machine::new(1);
    let broker = machine.start();
    create(&broker, "t", 1).await;
    let receipt = append(&broker, "t", &["a", "b"]);
    assert_eq!(
        (receipt.first_offset(), receipt.last_offset()),
        (Offset(0), Offset(1))
    );
    assert!(values(&broker, "t", 0).await.is_empty());
    assert_eq!(partition(&broker, "t", 0).high_watermark(), Offset(0));
    broker.sync_all();
    receipt.durable().await.unwrap();
    assert_eq!(values(&broker, "t", 0).await, ["a", "b"]);
    assert_eq!(partition(&broker, "t", 0).high_watermark(), Offset(2));
}

#[tokio::test]
async fn one_sync_acknowledges_all_appends_before_it() {
    let machine = Machine::new(2);
    let broker = machine.start();
    create(&broker, "t", 1).await;
    let receipts: Vec<_> = (0..10).map(|_| append(&broker, "t", &["x"])).collect();
    let before = machine.disk.syncs();
    broker.sync_all();
    let syncs = machine.disk.syncs() - before;
    for receipt in receipts {
        receipt.durable().await.unwrap();
    }
    assert!(syncs <= 4, "{syncs} syncs for one group of appends");
}

#[tokio::test]
async fn a_duplicate_is_acknowledged_with_its_original() {
    let machine = Machine::new(3);
    let broker = machine.start();
    create(&broker, "t", 1).await;
    let log = partition(&broker, "t", 0);
    let original = log.append(&mut idempotent(7, 0, &["a", "b"])).unwrap();
    let duplicate = log.append(&mut idempotent(7, 0, &["a", "b"])).unwrap();
    assert!(duplicate.is_duplicate() && !original.is_duplicate());
    assert_eq!(duplicate.first_offset(), original.first_offset());
    let waiting = tokio::spawn(duplicate.durable());
    tokio::task::yield_now().await;
    assert!(
        !waiting.is_finished(),
        "PRD-1: the original is not durable yet"
    );
    broker.sync_all();
    waiting.await.unwrap().unwrap();
    original.durable().await.unwrap();
    assert_eq!(values(&broker, "t", 0).await, ["a", "b"]);
}

#[tokio::test]
async fn after_a_failed_sync_nothing_is_acknowledged_and_the_neighbours_serve() {
    let machine = Machine::new(4);
    let broker = machine.start();
    create(&broker, "bad", 1).await;
    create(&broker, "good", 1).await;
    produce(&broker, "bad", &["kept"]).await;
    let receipt = append(&broker, "bad", &["lost"]);
    machine.disk.fail_sync(0, FailedSync::PagesDropped);
    broker.sync_all();
    let error = receipt.durable().await.unwrap_err();
    assert!(
        matches!(error, PartitionUnavailable::Offline { .. }),
        "{error}"
    );
    let again = partition(&broker, "bad", 0).append(&mut batch(&["more"]));
    assert!(again.is_err());
    produce(&broker, "good", &["x"]).await;

    drop(broker);
    machine.disk.restart();
    let broker = machine.start();
    let seen = values(&broker, "bad", 0).await;
    assert_eq!(seen[0], "kept");
    // The next record takes the offset after what the disk really has.
    let next = produce(&broker, "bad", &["new"]).await;
    assert_eq!(next, Offset(seen.len() as i64));
    assert_eq!(values(&broker, "good", 0).await, ["x"]);
}

#[tokio::test]
async fn a_waiting_fetch_wakes_when_records_become_durable() {
    let machine = Machine::new(5);
    let broker = machine.start();
    create(&broker, "t", 2).await;
    let mut plan = waiting_plan("t", 0);
    plan.partitions.push(wanted("t", 1, 0));
    let waiting = tokio::spawn({
        let broker = broker.clone();
        async move { broker.fetch(plan).await }
    });
    tokio::task::yield_now().await;
    let log = partition(&broker, "t", 1);
    let receipt = log.append(&mut batch(&["a"])).unwrap();
    for _ in 0..3 {
        tokio::task::yield_now().await;
    }
    assert!(
        !waiting.is_finished(),
        "LOG-2: the record is not durable yet"
    );
    broker.sync_all();
    receipt.durable().await.unwrap();
    let result = waiting.await.unwrap();
    assert!(values_in(&result, 0).is_empty());
    assert_eq!(values_in(&result, 1), [(0, "a".to_owned())]);
}

#[tokio::test]
async fn a_waiting_fetch_waits_for_enough() {
    let machine = Machine::new(6);
    let broker = machine.start();
    create(&broker, "t", 1).await;
    let one = batch(&["a"]).len();
    let plan = FetchRequestPlan {
        bytes_min: one + 1,
        ..waiting_plan("t", 0)
    };
    let waiting = tokio::spawn({
        let broker = broker.clone();
        async move { broker.fetch(plan).await }
    });
    produce(&broker, "t", &["a"]).await;
    for _ in 0..3 {
        tokio::task::yield_now().await;
    }
    assert!(!waiting.is_finished());
    produce(&broker, "t", &["b"]).await;
    assert_eq!(values_in(&waiting.await.unwrap(), 0).len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_fetch_gives_up_waiting_when_its_time_is_over() {
    let machine = Machine::new(7);
    let broker = machine.start();
    create(&broker, "t", 1).await;
    let plan = FetchRequestPlan {
        wait_max: Duration::from_millis(500),
        ..plan("t", 0)
    };
    let started = tokio::time::Instant::now();
    let result = broker.fetch(plan).await;
    assert_eq!(started.elapsed(), Duration::from_millis(500));
    assert!(values_in(&result, 0).is_empty());
}

#[tokio::test]
async fn a_waiting_fetch_ends_when_the_topic_is_deleted() {
    let machine = Machine::new(8);
    let broker = machine.start();
    create(&broker, "t", 1).await;
    let id = broker.topics().by_name(&name("t")).unwrap().id;
    let mut by_id = waiting_plan("t", 0);
    by_id.partitions[0].topic = TopicRef::Id(id);
    let fetch = |plan| {
        let broker = broker.clone();
        tokio::spawn(async move { broker.fetch(plan).await.partitions.remove(0) })
    };
    let (by_name, by_id) = (fetch(waiting_plan("t", 0)), fetch(by_id));
    tokio::task::yield_now().await;
    let gone = vec![fanlog_coordinators::catalog::TopicRef::Name("t".to_owned())];
    let deleted = drive(&broker, broker.delete_topics(gone)).await.unwrap();
    deleted[0].as_ref().unwrap();
    let error = by_name.await.unwrap().unwrap_err();
    assert_eq!(
        error,
        FetchError::Lookup(LookupError::UnknownTopic(name("t")))
    );
    let error = by_id.await.unwrap().unwrap_err();
    assert_eq!(error, FetchError::Lookup(LookupError::UnknownTopicId(id)));
}

#[tokio::test]
async fn the_first_batch_comes_whole_whatever_the_limits() {
    let machine = Machine::new(9);
    let broker = machine.start();
    create(&broker, "t", 2).await;
    let large = "x".repeat(10_000);
    produce(&broker, "t", &[&large]).await;
    let receipt = partition(&broker, "t", 1)
        .append(&mut batch(&[&large]))
        .unwrap();
    drive(&broker, receipt.durable()).await.unwrap();
    let mut plan = FetchRequestPlan {
        bytes_max: 100,
        ..plan("t", 0)
    };
    plan.partitions[0].bytes_max = 10;
    plan.partitions.push(wanted("t", 1, 0));
    let result = broker.fetch(plan).await;
    assert_eq!(values_in(&result, 0).len(), 1);
    assert!(
        values_in(&result, 1).is_empty(),
        "only the first non-empty partition may exceed"
    );
}

#[tokio::test]
async fn a_fetch_inside_a_batch_gets_the_whole_batch() {
    let machine = Machine::new(10);
    let broker = machine.start();
    create(&broker, "t", 1).await;
    produce(&broker, "t", &["a", "b", "c"]).await;
    let result = broker.fetch(plan("t", 1)).await;
    assert_eq!(values_in(&result, 0)[0], (0, "a".to_owned()));
    assert_eq!(values(&broker, "t", 1).await, ["b", "c"]);
}

#[tokio::test]
async fn what_cannot_be_fetched_is_answered_at_once_and_alone() {
    let machine = Machine::new(11);
    let broker = machine.start();
    create(&broker, "t", 1).await;
    produce(&broker, "t", &["a"]).await;
    let mut plan = waiting_plan("t", 0);
    plan.partitions.push(wanted("t", 0, 2));
    plan.partitions.push(wanted("t", 5, 0));
    plan.partitions.push(wanted("none", 0, 0));
    plan.partitions.push(wanted("t", 0, 0));
    plan.partitions[4].leader_epoch = Some(LeaderEpoch(9));
    plan.partitions.push(wanted("t", 0, 0));
    plan.partitions[5].leader_epoch = Some(LeaderEpoch(0));
    plan.partitions.push(wanted("t", 0, 0));
    plan.partitions[6].topic = TopicRef::Id(TopicId::ZERO);
    let result = broker.fetch(plan).await;
    assert_eq!(values_in(&result, 0).len(), 1);
    let errors: Vec<_> = result.partitions[1..]
        .iter()
        .map(|outcome| outcome.clone().unwrap_err())
        .collect();
    let out_of_range = FetchError::OffsetOutOfRange {
        requested: Offset(2),
        log_start_offset: Offset(0),
        high_watermark: Offset(1),
    };
    assert_eq!(errors[0], out_of_range);
    assert!(matches!(
        errors[1],
        FetchError::Lookup(LookupError::UnknownPartition { .. })
    ));
    assert!(matches!(
        errors[2],
        FetchError::Lookup(LookupError::UnknownTopic(_))
    ));
    assert!(matches!(
        errors[3],
        FetchError::Epoch(EpochError::Unknown { .. })
    ));
    assert!(matches!(
        errors[4],
        FetchError::Epoch(EpochError::Fenced { .. })
    ));
    assert!(matches!(
        errors[5],
        FetchError::Lookup(LookupError::UnknownTopicId(_))
    ));
}

#[tokio::test]
async fn the_leader_epoch_rises_at_every_start_and_old_epochs_keep_their_ends() {
    let machine = Machine::new(12);
    let broker = machine.start();
    create(&broker, "t", 1).await;
    produce(&broker, "t", &["a", "b"]).await;
    let first = broker.leader_epoch();
    broker.shutdown().await;
    drop(broker);
    machine.disk.restart();
    let broker = machine.start();
    let second = broker.leader_epoch();
    assert!(second > first);
    let end_of = |epoch| {
        broker
            .offset_for_leader_epoch(&by_name("t"), PartitionIndex(0), epoch, None)
            .unwrap()
    };
    assert_eq!(end_of(first).end_offset, Some(Offset(2)));
    // P57: an epoch that has no record yet ends at the high watermark, and is not "lost records".
    assert_eq!(end_of(second).end_offset, Some(Offset(2)));
    assert_eq!(end_of(second).leader_epoch, Some(second));
    produce(&broker, "t", &["c"]).await;
    assert_eq!(end_of(first).end_offset, Some(Offset(2)));
    assert_eq!(end_of(second).end_offset, Some(Offset(3)));
    assert_eq!(values(&broker, "t", 0).await, ["a", "b", "c"]);
}

#[tokio::test]
async fn offsets_are_listed_by_place_and_time() {
    let machine = Machine::new(13);
    let broker = machine.start();
    create(&broker, "t", 1).await;
    produce(&broker, "t", &["a", "b"]).await;
    let _not_durable = append(&broker, "t", &["c"]);
    let list = |spec| {
        let listed = broker.list_offset(
            &by_name("t"),
            PartitionIndex(0),
            spec,
            Isolation::ReadUncommitted,
            None,
        );
        listed.unwrap().offset
    };
    assert_eq!(list(OffsetSpec::Earliest), Some(Offset(0)));
    assert_eq!(list(OffsetSpec::Latest), Some(Offset(2)));
    assert_eq!(list(OffsetSpec::LatestTiered), None);
    let time = fanlog_model::TimestampMs(1_700_000_000_000);
    assert_eq!(list(OffsetSpec::Timestamp(time)), Some(Offset(0)));
    assert_eq!(list(OffsetSpec::Timestamp((time.0 + 1).into())), None);
    let _: &ManualClock = &machine.clock;
}

#[tokio::test]
async fn deleted_records_stay_deleted() {
    let machine = Machine::new(14);
    let broker = machine.start();
    create(&broker, "t", 1).await;
    for value in ["a", "b", "c"] {
        produce(&broker, "t", &[value]).await;
    }
    let delete = |before| {
        let broker = broker.clone();
        async move {
            broker
                .delete_records(&by_name("t"), PartitionIndex(0), before)
                .await
        }
    };
    assert_eq!(delete(Some(Offset(2))).await.unwrap(), Offset(2));
    delete(Some(Offset(4))).await.unwrap_err();
    drop(broker);
    machine.disk.crash(1);
    let broker = machine.start();
    let result = broker.fetch(plan("t", 1)).await;
    assert!(matches!(
        result.partitions[0],
        Err(FetchError::OffsetOutOfRange {
            log_start_offset: Offset(2),
            ..
        })
    ));
    assert_eq!(values(&broker, "t", 2).await, ["c"]);
}

#[tokio::test]
async fn fetches_together_hold_no_more_than_their_budget() {
    let machine = Machine::new(15);
    let mut small = config();
    small.fetch_memory_bytes = 16 * 1024;
    let broker = Broker::start(small, machine.environment()).unwrap();
    create(&broker, "t", 1).await;
    // Larger than the whole budget, and yet it can be read.
    produce(&broker, "t", &[&"x".repeat(20_000)]).await;
    let first = broker.fetch(plan("t", 0)).await;
    assert_eq!(values_in(&first, 0).len(), 1);
    let second = tokio::spawn({
        let broker = broker.clone();
        async move { broker.fetch(plan("t", 0)).await }
    });
    for _ in 0..5 {
        tokio::task::yield_now().await;
    }
    assert!(
        !second.is_finished(),
        "OPS-1: the first fetch still holds its bytes"
    );
    drop(first);
    assert_eq!(values_in(&second.await.unwrap(), 0).len(), 1);
}

#[tokio::test]
async fn a_reader_is_told_of_damage_and_in_which_file_it_is() {
    let machine = Machine::new(17);
    let broker = machine.start();
    create(&broker, "t", 1).await;
    for value in ["a", "b", "c"] {
        produce(&broker, "t", &[value]).await;
    }
    broker.shutdown().await;
    drop(broker);
    let broker = machine.start();
    let file = Path::new("t-0/00000000000000000000.log");
    machine.disk.corrupt(file, 65, &[1]).unwrap();
    let FetchError::Damaged { partition, reason } = broker
        .fetch(plan("t", 0))
        .await
        .partitions
        .remove(0)
        .unwrap_err()
    else {
        panic!("not damage");
    };
    assert_eq!(partition, "t-0");
    assert!(reason.contains("00000000000000000000.log"), "{reason}");
    assert_eq!(values(&broker, "t", 2).await, ["c"]);
    // The operator too, until the file is gone.
    assert_eq!(broker.damaged_files(), [file]);
    let metrics = broker.metrics().encode().unwrap();
    assert!(metrics.contains("fanlog_segments_damaged 1"), "{metrics}");
    machine.disk.remove_file(file).unwrap();
    assert!(broker.damaged_files().is_empty());
}

#[tokio::test]
async fn a_waiting_fetch_ends_when_the_broker_stops() {
    let machine = Machine::new(16);
    let broker = machine.start();
    create(&broker, "t", 1).await;
    let waiting = tokio::spawn({
        let broker = broker.clone();
        async move { broker.fetch(waiting_plan("t", 0)).await }
    });
    tokio::task::yield_now().await;
    let receipt = append(&broker, "t", &["a"]);
    broker.shutdown().await;
    // What was appended before is flushed and acknowledged.
    receipt.durable().await.unwrap();
    let _ended = waiting.await.unwrap();
    let refused = broker.fetch(plan("t", 0)).await.partitions.remove(0);
    assert!(matches!(refused, Err(FetchError::Unavailable(_))));
    drop(broker);
    machine.disk.crash(1);
    assert_eq!(values(&machine.start(), "t", 0).await, ["a"]);
}
