//! Message ids: whatever comes again is appended once, as long as the window lasts.

#![allow(
    clippy::unwrap_used,
    reason = "the lint does not know that this is a test"
)]

mod common;

use common::dedup::*;
use common::*;
use fanlog_broker::{Broker, IdsError, NewMessage};
use fanlog_coordinators::catalog::ResourceKind;
use fanlog_model::{BaseSequence, Offset};
use fanlog_protocol::records::{BatchBuilder, Compression};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

async fn started(machine: &Machine, partitions: i32) -> Arc<Broker> {
    let broker = machine.start();
    create_remembering(&broker, partitions).await;
    broker
}

fn pairs(expected: &[(i64, &str)]) -> Vec<(i64, String)> {
    let owned = |(offset, value): &(i64, &str)| (*offset, (*value).to_owned());
    expected.iter().map(owned).collect()
}

#[tokio::test]
async fn a_second_record_with_an_id_is_not_appended_whoever_sends_it_and_wherever() {
    let machine = Machine::new(1);
    let broker = started(&machine, 2).await;
    assert_eq!(send_id(&broker, 0, "other").await, 0);
    assert_eq!(send_id(&broker, 0, "a").await, 1);
    assert_eq!(send_id(&broker, 0, "a").await, 1, "the first offset");
    assert_eq!(send_id(&broker, 1, "a").await, -1, "it has no offset here");
    let place = send(&broker, 1, with_ids(plain(), &["a"])).await.unwrap();
    let place = place.place_of(0);
    assert_eq!((place.partition.0, place.offset.0), (0, 1));
    assert!(place.first_appended.is_some());
    // What bears no id comes as often as it is sent.
    assert_eq!(send_id(&broker, 0, "").await, 2);
    assert_eq!(send_id(&broker, 0, "").await, 3);
    assert_eq!(stored(&broker, 0).await.len(), 4);
    assert_eq!(stored(&broker, 1).await, []);
}

#[tokio::test]
async fn a_topic_without_a_window_remembers_nothing() {
    let machine = Machine::new(1);
    let broker = machine.start();
    create(&broker, "t", 1).await;
    assert!(!broker.remembers_ids());
    assert!(!partition(&broker, "t", 0).remembers_ids());
    assert_eq!(send_id(&broker, 0, "a").await, 0);
    assert_eq!(send_id(&broker, 0, "a").await, 1);
    // Once it has one, what is in the log counts: of two the later.
    set_dedup(&broker, ResourceKind::Topic, "dedup.window.ms", "60000").await;
    assert_eq!(send_id(&broker, 0, "a").await, 1);
    set_dedup(&broker, ResourceKind::Topic, "dedup.window.ms", "0").await;
    assert!(!broker.remembers_ids());
    assert_eq!(send_id(&broker, 0, "a").await, 2);
}

#[tokio::test]
async fn a_duplicate_waits_until_the_first_is_durable() {
    let machine = Machine::new(1);
    let broker = started(&machine, 2).await;
    send_id(&broker, 0, "loaded").await;
    let (one, two) = (partition(&broker, "t", 0), partition(&broker, "t", 1));
    let first = append_ids(&one, with_ids(plain(), &["a"]), None).await;
    let mut second = pin!(append_ids(&two, with_ids(plain(), &["a"]), None));
    for _ in 0..100 {
        tokio::select! {
            biased;
            _ = &mut second => panic!("the first may still be lost"),
            () = tokio::task::yield_now() => {}
        }
    }
    broker.sync_all();
    assert!(second.await.unwrap().is_duplicate());
    first.unwrap().durable().await.unwrap();
    assert_eq!(stored(&broker, 1).await, []);
}

#[tokio::test]
async fn what_was_refused_leaves_its_id_to_the_next() {
    let machine = Machine::new(1);
    let broker = started(&machine, 1).await;
    send_id(&broker, 0, "loaded").await;
    let log = partition(&broker, "t", 0);
    send_durable(&broker, 0, with_ids(of_producer(7, 0), &["x"])).await;
    let mut refused = with_ids(of_producer(7, 5), &["a"]);
    let identified = log.identify(&mut refused, None).unwrap();
    let claimed = identified.claim(Duration::ZERO).await.unwrap();
    let mut waiting = pin!(append_ids(&log, with_ids(plain(), &["a"]), None));
    tokio::select! {
        biased;
        _ = &mut waiting => panic!("another has the id"),
        () = tokio::task::yield_now() => {}
    }
    assert!(claimed.append().is_err(), "a gap in the sequences");
    let receipt = drive(&broker, waiting).await.unwrap();
    assert!(!receipt.is_duplicate());
    drive(&broker, receipt.durable()).await.unwrap();
    assert_eq!(send_id(&broker, 0, "a").await, 2);
}

#[tokio::test]
async fn duplicates_go_out_of_a_batch_and_offsets_and_sequences_stay() {
    for compression in Compression::ALL {
        let machine = Machine::new(1);
        let broker = started(&machine, 1).await;
        let builder = |sequence| {
            BatchBuilder::new(compression).producer(
                fanlog_model::ProducerId(7),
                fanlog_model::ProducerEpoch(0),
                BaseSequence(sequence),
            )
        };
        let first = with_ids(builder(0), &["a", "b", "a", "c"]);
        assert_eq!(send_durable(&broker, 0, first.clone()).await, 0);
        assert_eq!(
            stored(&broker, 0).await,
            pairs(&[(0, "a"), (1, "b"), (3, "c")])
        );
        let second = with_ids(builder(4), &["c", "d"]);
        assert_eq!(send_durable(&broker, 0, second.clone()).await, 4);
        // All of it was there: an empty batch stands for its sequences.
        let third = with_ids(builder(6), &["d", "a"]);
        assert_eq!(send_durable(&broker, 0, third.clone()).await, 6);
        let fourth = with_ids(builder(8), &["e"]);
        assert_eq!(send_durable(&broker, 0, fourth).await, 8);
        let expected = pairs(&[(0, "a"), (1, "b"), (3, "c"), (5, "d"), (8, "e")]);
        assert_eq!(stored(&broker, 0).await, expected);
        // Sent again, each is known by its sequences.
        for (batch, offset) in [(first, 0), (second, 4), (third, 6)] {
            assert_eq!(send_durable(&broker, 0, batch).await, offset);
        }
        assert_eq!(partition(&broker, "t", 0).high_watermark(), Offset(9));
        assert_eq!(stored(&broker, 0).await, expected);
    }
}

#[tokio::test]
async fn a_batch_that_was_there_as_a_whole_is_answered_with_where_it_was() {
    let machine = Machine::new(1);
    let broker = started(&machine, 1).await;
    send_id(&broker, 0, "x").await;
    assert_eq!(
        send_durable(&broker, 0, with_ids(plain(), &["a", "b", "c"])).await,
        1
    );
    assert_eq!(
        send_durable(&broker, 0, with_ids(plain(), &["b", "c"])).await,
        2
    );
    assert_eq!(
        send_durable(&broker, 0, with_ids(plain(), &["c", "b"])).await,
        -1
    );
    assert_eq!(partition(&broker, "t", 0).high_watermark(), Offset(4));
}

#[tokio::test]
async fn an_id_is_free_when_its_window_is_over() {
    let machine = Machine::new(1);
    let broker = started(&machine, 1).await;
    assert_eq!(send_id(&broker, 0, "a").await, 0);
    machine.clock.advance(Duration::from_millis(WINDOW_MS - 1));
    assert_eq!(send_id(&broker, 0, "a").await, 0);
    machine.clock.advance(Duration::from_millis(1));
    assert_eq!(send_id(&broker, 0, "a").await, 1);
    assert_eq!(send_id(&broker, 0, "a").await, 1);
}

#[tokio::test]
async fn ids_survive_a_restart_and_no_longer_than_their_window() {
    for is_clean in [true, false] {
        let machine = Machine::new(1);
        let broker = started(&machine, 2).await;
        send_id(&broker, 0, "old").await;
        // What was appended by now was appended now or before: more is not known after a restart.
        broker.maintain();
        machine.clock.advance(Duration::from_millis(WINDOW_MS / 2));
        send_durable(&broker, 1, with_ids(plain(), &["a", "b"])).await;
        if is_clean {
            drive(&broker, broker.shutdown()).await;
        }
        drop(broker);
        if !is_clean {
            machine.disk.crash(3);
        }
        machine.disk.restart();
        let broker = machine.start();
        assert_eq!(send_id(&broker, 1, "b").await, 1);
        assert_eq!(send_id(&broker, 0, "old").await, 0);
        machine.clock.advance(Duration::from_millis(WINDOW_MS / 2));
        assert_eq!(send_id(&broker, 0, "old").await, 1, "its window is over");
        assert_eq!(send_id(&broker, 1, "a").await, 0);
    }
}

#[tokio::test]
async fn what_was_not_durable_in_a_crash_is_free() {
    let machine = Machine::new(1);
    let broker = started(&machine, 1).await;
    send_id(&broker, 0, "kept").await;
    let log = partition(&broker, "t", 0);
    let lost = append_ids(&log, with_ids(plain(), &["lost"]), None).await;
    drop((lost, log, broker));
    machine.disk.crash(0);
    machine.disk.restart();
    let broker = machine.start();
    let survived = stored(&broker, 0).await.len() as i64;
    let again = send_id(&broker, 0, "lost").await;
    assert_eq!(again, 1);
    let expected = pairs(&[(0, "kept"), (1, "lost")]);
    assert_eq!(stored(&broker, 0).await, expected, "{survived}");
    assert_eq!(send_id(&broker, 0, "kept").await, 0);
}

#[tokio::test(start_paused = true)]
async fn an_id_of_an_open_transaction_is_nobody_elses_and_of_an_aborted_one_it_is_free() {
    for is_commit in [true, false] {
        let machine = Machine::new(1);
        let broker = started(&machine, 1).await;
        let mut transaction = Transaction::begin(&broker, "one").await;
        assert_eq!(transaction.send(&["a"]).await, Ok(Offset(0)));
        // Its own second one stands and falls with the first.
        assert_eq!(transaction.send(&["a", "b"]).await, Ok(Offset(1)));
        let undecided = undecided(&broker, "a").await;
        assert!(
            matches!(undecided, IdsError::Undecided { .. }),
            "{undecided}"
        );
        let mut other = Transaction::begin(&broker, "two").await;
        transaction.end(is_commit).await;
        let expected = if is_commit { 0 } else { 4 };
        assert_eq!(send_id(&broker, 0, "a").await, expected);
        let b = if is_commit { 2 } else { 5 };
        assert_eq!(other.send(&["b"]).await.unwrap().0, b);
        other.end(true).await;
    }
}

#[tokio::test(start_paused = true)]
async fn transactions_are_what_they_were_after_a_restart() {
    let machine = Machine::new(1);
    let broker = started(&machine, 1).await;
    for (id, text, is_commit) in [("one", "committed", true), ("two", "aborted", false)] {
        let mut transaction = Transaction::begin(&broker, id).await;
        transaction.send(&[text]).await.unwrap();
        transaction.end(is_commit).await;
    }
    let mut open = Transaction::begin(&broker, "three").await;
    let at = open.send(&["open"]).await.unwrap().0;
    let (producer, sequence) = (open.producer, open.sequence);
    broker.sync_all();
    drop(broker);
    machine.disk.crash(1);
    machine.disk.restart();
    let broker = machine.start();
    assert_eq!(send_id(&broker, 0, "committed").await, 0);
    let again = send_id(&broker, 0, "aborted").await;
    assert!(again > at, "{again}");
    let undecided = undecided(&broker, "open").await;
    assert!(
        matches!(undecided, IdsError::Undecided { .. }),
        "{undecided}"
    );
    let open = Transaction {
        broker: &broker,
        id: "three",
        producer,
        sequence,
    };
    open.end(true).await;
    assert_eq!(send_id(&broker, 0, "open").await, at);
}

#[tokio::test]
async fn where_memory_is_full_new_ids_are_refused_and_none_is_forgotten() {
    let machine = Machine::new(1);
    let broker = started(&machine, 1).await;
    let limit = "1048576";
    set_dedup(
        &broker,
        ResourceKind::Broker,
        "fanlog.dedup.memory.bytes",
        limit,
    )
    .await;
    let mut sent = Vec::new();
    let refused = loop {
        let ids: Vec<_> = (0..100).map(|n| format!("{}", sent.len() + n)).collect();
        let texts: Vec<&str> = ids.iter().map(String::as_str).collect();
        match send(&broker, 0, with_ids(plain(), &texts)).await {
            Ok(receipt) => drive(&broker, receipt.durable()).await.unwrap(),
            Err(error) => break ids_error(error),
        }
        sent.extend(ids);
    };
    assert!(matches!(refused, IdsError::Full { .. }), "{refused}");
    assert!(sent.len() >= 1_048_576 / 94 - 100, "{} ids", sent.len());
    let end = partition(&broker, "t", 0).high_watermark();
    assert_eq!(end, Offset(sent.len() as i64));
    for (offset, id) in sent.iter().enumerate().step_by(997) {
        assert_eq!(send_id(&broker, 0, id).await, offset as i64);
    }
    // What has no id goes on, and so does all when the window is over.
    assert_eq!(send_id(&broker, 0, "").await, end.0);
    machine.clock.advance(Duration::from_millis(WINDOW_MS));
    assert_eq!(send_id(&broker, 0, "new").await, end.0 + 1);
}

#[tokio::test]
async fn a_published_message_says_where_it_was_first() {
    let machine = Machine::new(1);
    let broker = started(&machine, 3).await;
    let message = |id: &str| NewMessage {
        value: Some("v".into()),
        message_id: Some(id.to_owned()),
        ..NewMessage::default()
    };
    let topic = name("t");
    let publish = |ids: &[&str]| {
        let messages = ids.iter().map(|id| message(id)).collect();
        broker.publish(&topic, messages)
    };
    let first = drive(&broker, publish(&["a"])).await.unwrap();
    let first = first[0].clone().unwrap();
    assert!(!first.is_duplicate);
    let again = drive(&broker, publish(&["b", "a", "b"])).await.unwrap();
    let again: Vec<_> = again.into_iter().map(Result::unwrap).collect();
    assert!(!again[0].is_duplicate);
    assert!(again[1].is_duplicate && again[2].is_duplicate);
    assert_eq!(
        (again[1].partition, again[1].offset),
        (first.partition, first.offset)
    );
    assert_eq!(
        (again[2].partition, again[2].offset),
        (again[0].partition, again[0].offset)
    );
}
