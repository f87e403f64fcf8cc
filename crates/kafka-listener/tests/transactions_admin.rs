//! Transactions as administrators and brokers ask about them, and what those can do who shouldn't.

#![allow(
    clippy::unwrap_used,
    reason = "the lint does not know that this is a test"
)]

mod common;

use common::transactions::*;
use common::*;
use fanlog_protocol::ErrorCode;
use fanlog_protocol::messages::add_partitions_to_txn_request::{
    AddPartitionsToTxnTopic, AddPartitionsToTxnTransaction,
};
use fanlog_protocol::messages::write_txn_markers_request::{
    WritableTxnMarker, WritableTxnMarkerTopic,
};
use fanlog_protocol::messages::*;

/// Admin.abortTransaction: the way out where no coordinator knows of a transaction.
#[tokio::test]
async fn an_administrator_ends_what_hangs() {
    let server = Server::start().await;
    server.topic("t", 1).await;
    let mut a = Producer::init(&server, "a").await;
    a.send("hangs", 12).await;
    let marker = |epoch: i16, coordinator_epoch: i32| WriteTxnMarkersRequest {
        markers: vec![WritableTxnMarker {
            producer_id: a.producer,
            producer_epoch: epoch,
            transaction_result: false,
            topics: ["t", "none"]
                .into_iter()
                .map(|name| WritableTxnMarkerTopic {
                    name: name.into(),
                    partition_indexes: vec![0],
                })
                .collect(),
            coordinator_epoch,
            ..Default::default()
        }],
    };
    let mut client = server.client().await;
    let answer = client.call(&marker(0, 0), 1).await;
    let codes: Vec<_> = answer.markers[0]
        .topics
        .iter()
        .map(|topic| error(topic.partitions[0].error_code))
        .collect();
    assert_eq!(codes, [ErrorCode::None, ErrorCode::UnknownTopicOrPartition]);
    assert_eq!(fetched(&mut client, 0, 1).await.last_stable_offset, 2);
    let answer = client.call(&marker(-1, 0), 1).await;
    let code = answer.markers[0].topics[0].partitions[0].error_code;
    assert_eq!(error(code), ErrorCode::InvalidProducerEpoch);
}

#[tokio::test]
async fn a_marker_of_the_second_generation_ends_no_transaction_of_its_own_epoch() {
    let server = Server::start().await;
    server.topic("t", 1).await;
    let mut a = Producer::init(&server, "a").await;
    a.send("hangs", 12).await;
    let mut client = server.client().await;
    // Generation, how far its epoch lies above, and whether it is taken.
    let steps = [
        (2, 0, false),
        (2, 1, true),
        // Once more, as after an answer that was lost.
        (2, 1, true),
        (2, 0, false),
    ];
    for (generation, above, is_taken) in steps {
        let request = WriteTxnMarkersRequest {
            markers: vec![WritableTxnMarker {
                producer_id: a.producer,
                producer_epoch: a.epoch + above,
                topics: vec![WritableTxnMarkerTopic {
                    name: "t".into(),
                    partition_indexes: vec![0],
                }],
                transaction_version: generation,
                ..Default::default()
            }],
        };
        let answer = client.call(&request, 2).await;
        let code = error(answer.markers[0].topics[0].partitions[0].error_code);
        let wanted = match is_taken {
            true => ErrorCode::None,
            false => ErrorCode::InvalidProducerEpoch,
        };
        assert_eq!(code, wanted, "{generation}, {above}");
    }
    assert_eq!(fetched(&mut client, 0, 1).await.last_stable_offset, 3);
}

#[tokio::test]
async fn transactions_are_listed_and_described() {
    let server = Server::start().await;
    server.topic("t", 2).await;
    let mut a = Producer::init(&server, "a").await;
    let mut b = Producer::init(&server, "b1").await;
    a.add("t", 1).await;
    let listed =
        async |client: &mut Client, states: &[&'static str], pattern: Option<&'static str>| {
            let request = ListTransactionsRequest {
                state_filters: states.iter().map(|s| (*s).into()).collect(),
                duration_filter: -1,
                transactional_id_pattern: pattern.map(Into::into),
                ..Default::default()
            };
            let answer = client.call(&request, 2).await;
            let ids: Vec<_> = answer
                .transaction_states
                .iter()
                .map(|t| t.transactional_id.to_string())
                .collect();
            (
                error(answer.error_code),
                ids,
                answer.unknown_state_filters.len(),
            )
        };
    let client = &mut b.client;
    assert_eq!(listed(client, &[], None).await.1, ["a", "b1"]);
    assert_eq!(
        listed(client, &["Ongoing", "Odd"], None).await,
        (ErrorCode::None, vec!["a".to_owned()], 1)
    );
    assert_eq!(listed(client, &["Odd"], None).await.1, [""; 0]);
    assert_eq!(listed(client, &[], Some("b.*")).await.1, ["b1"]);
    assert_eq!(listed(client, &[], Some("b")).await.1, [""; 0]);
    assert_eq!(
        listed(client, &[], Some("b)|(a")).await.0,
        ErrorCode::InvalidRegularExpression
    );
    let request = DescribeTransactionsRequest {
        transactional_ids: vec!["a".into(), "nobody".into()],
    };
    let answer = client.call(&request, 0).await;
    let first = &answer.transaction_states[0];
    assert_eq!(
        (
            first.transaction_state.as_ref(),
            first.topics[0].partitions.as_slice()
        ),
        ("Ongoing", &[1][..])
    );
    assert_eq!(
        error(answer.transaction_states[1].error_code),
        ErrorCode::TransactionalIdNotFound
    );
}

#[tokio::test]
async fn brokers_may_ask_whether_partitions_are_part_of_a_transaction() {
    let server = Server::start().await;
    server.topic("t", 2).await;
    let mut a = Producer::init(&server, "a").await;
    a.add("t", 0).await;
    let request = AddPartitionsToTxnRequest {
        transactions: vec![AddPartitionsToTxnTransaction {
            transactional_id: "a".into(),
            producer_id: a.producer,
            producer_epoch: a.epoch,
            verify_only: true,
            topics: vec![AddPartitionsToTxnTopic {
                name: "t".into(),
                partitions: vec![0, 1],
            }],
        }],
        ..Default::default()
    };
    let answer = a.client.call(&request, 4).await;
    let partitions = &answer.results_by_transaction[0].topic_results[0].results_by_partition;
    let codes: Vec<_> = partitions
        .iter()
        .map(|p| error(p.partition_error_code))
        .collect();
    assert_eq!(codes, [ErrorCode::None, ErrorCode::TransactionAbortable]);
    assert_eq!(a.add("none", 0).await, ErrorCode::UnknownTopicOrPartition);
}

/// Thousands of names, each with a transaction that nobody ends: memory has its limit, and they end by themselves.
#[tokio::test]
async fn names_beyond_the_memory_are_refused_and_the_others_go_on() {
    let server = Server::start_with(&[("fanlog.transactions.memory.bytes", "1048576")]).await;
    server.topic("t", 1).await;
    let mut a = Producer::init(&server, "a").await;
    let mut client = server.client().await;
    let mut refused = 0;
    for i in 0..2_000 {
        let request = InitProducerIdRequest {
            transactional_id: Some(format!("name-{i}").into()),
            transaction_timeout_ms: 60_000,
            ..Default::default()
        };
        let answer = client.call(&request, 4).await;
        match error(answer.error_code) {
            ErrorCode::None => assert_eq!(refused, 0),
            ErrorCode::TransactionalIdAuthorizationFailed => refused += 1,
            other => panic!("{other:?}"),
        }
    }
    assert!(refused > 100, "{refused}");
    assert_eq!(a.send("on", 12).await, ErrorCode::None);
    assert_eq!(a.end(true, NEW).await, ErrorCode::None);
}

/// Forged ids and epochs change nothing.
#[tokio::test]
async fn whoever_does_not_know_the_epoch_can_do_nothing() {
    let server = Server::start().await;
    server.topic("t", 1).await;
    let mut a = Producer::init(&server, "a").await;
    a.send("mine", 12).await;
    let (producer, epoch) = (a.producer, a.epoch);
    for (forged_producer, forged_epoch) in [
        (producer, epoch + 1),
        (producer, -1),
        (producer, i16::MAX),
        (producer + 1, epoch),
        (-1, -1),
        (i64::MAX, 0),
    ] {
        (a.producer, a.epoch) = (forged_producer, forged_epoch);
        assert_ne!(a.end(false, NEW).await, ErrorCode::None);
        assert_ne!(a.end(false, 2).await, ErrorCode::None);
        assert_ne!(a.add("t", 0).await, ErrorCode::None);
        assert_ne!(a.commit_offset(1, 5).await, ErrorCode::None);
        assert_ne!(a.send_as("forged", 0, 12).await, ErrorCode::None);
    }
    (a.producer, a.epoch) = (producer, epoch);
    assert_eq!(a.end(true, NEW).await, ErrorCode::None);
    assert_eq!(committed(&mut server.client().await).await, ["mine"]);
}
