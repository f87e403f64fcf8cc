//! Transactions over the wire, in both generations of the protocol.

#![allow(
    clippy::unwrap_used,
    reason = "the lint does not know that this is a test"
)]

mod common;

use common::transactions::*;
use common::*;
use fanlog_protocol::ErrorCode;
use fanlog_protocol::messages::*;

#[tokio::test]
async fn committed_records_are_seen_once_committed_and_aborted_ones_by_those_who_ask_for_all() {
    let server = Server::start().await;
    server.topic("t", 1).await;
    let mut reader = server.client().await;
    let mut a = Producer::init(&server, "a").await;
    let mut b = Producer::init(&server, "b").await;
    assert_eq!(a.add("t", 0).await, ErrorCode::None);
    assert_eq!(b.add("t", 0).await, ErrorCode::None);
    assert_eq!(a.send("a1", 9).await, ErrorCode::None);
    assert_eq!(b.send("b1", 9).await, ErrorCode::None);
    assert_eq!(a.send("a2", 9).await, ErrorCode::None);
    // LSO at the first open transaction.
    let open = fetched(&mut reader, 0, 1).await;
    assert_eq!((open.last_stable_offset, open.high_watermark), (0, 3));
    assert!(open.records.unwrap().to_vec().is_empty());
    assert_eq!(a.end(false, OLD).await, ErrorCode::None);
    assert_eq!(b.end(true, OLD).await, ErrorCode::None);
    assert_eq!(committed(&mut reader).await, ["b1"]);
    // P29, P30: who reads everything is told of no aborted transaction, and sees its records.
    let all = fetched(&mut reader, 0, 0).await;
    assert_eq!(all.aborted_transactions, None);
    let seen: Vec<_> = common::values(&all).into_iter().map(|(_, v)| v).collect();
    assert_eq!(seen, ["a1", "b1", "a2"]);
    // Three transactions of one producer: aborted, committed, aborted.
    for (value, commit) in [("x", false), ("y", true), ("z", false)] {
        assert_eq!(a.add("t", 0).await, ErrorCode::None);
        assert_eq!(a.send(value, 9).await, ErrorCode::None);
        assert_eq!(a.end(commit, OLD).await, ErrorCode::None);
    }
    assert_eq!(committed(&mut reader).await, ["b1", "y"]);
    // A fetch that begins behind the records of an aborted transaction, at its marker, is told of it still.
    let marker = fetched(&mut reader, 3, 1).await;
    assert_eq!(marker.aborted_transactions.unwrap()[0].first_offset, 0);
}

#[tokio::test]
async fn a_reader_of_committed_records_is_woken_by_the_end_of_a_transaction() {
    let server = Server::start().await;
    server.topic("t", 1).await;
    let mut a = Producer::init(&server, "a").await;
    a.send("a", 12).await;
    let mut reader = server.client().await;
    let mut request = fetch("t", 0, 0);
    request.isolation_level = 1;
    let correlation = reader.send(&request, 12).await;
    assert_eq!(a.end(true, NEW).await, ErrorCode::None);
    let mut answer = reader.receive::<FetchRequest<'_>>(correlation, 12).await;
    assert_eq!(only_partition(&mut answer).last_stable_offset, 2);
}

/// P34, KIP-890: what arrives late would hang for ever.
#[tokio::test]
async fn a_batch_that_belongs_to_no_transaction_under_way_is_refused() {
    let server = Server::start().await;
    server.topic("t", 1).await;
    let mut a = Producer::init(&server, "a").await;
    for (version, code) in [
        (9, ErrorCode::InvalidTxnState),
        (10, ErrorCode::InvalidTxnState),
        (11, ErrorCode::TransactionAbortable),
    ] {
        assert_eq!(a.send("early", version).await, code, "version {version}");
    }
    a.add("t", 0).await;
    assert_eq!(a.send("in time", 9).await, ErrorCode::None);
    a.end(true, OLD).await;
    assert_eq!(a.send("late", 9).await, ErrorCode::InvalidTxnState);
    a.id = "nobody";
    assert_eq!(
        a.send("stranger", 9).await,
        ErrorCode::InvalidProducerIdMapping
    );
    let mut reader = server.client().await;
    assert_eq!(committed(&mut reader).await, ["in time"]);
    assert_eq!(fetched(&mut reader, 2, 1).await.last_stable_offset, 2);
}

#[tokio::test]
async fn a_partition_becomes_part_of_a_transaction_of_the_second_generation_by_being_written_to() {
    let server = Server::start().await;
    server.topic("t", 1).await;
    let mut a = Producer::init(&server, "a").await;
    assert_eq!(a.send("1", 12).await, ErrorCode::None);
    assert_eq!(a.end(true, NEW).await, ErrorCode::None);
    assert_eq!(a.epoch, 1);
    assert_eq!(a.send("2", 12).await, ErrorCode::None);
    assert_eq!(a.end(false, NEW).await, ErrorCode::None);
    assert_eq!(a.epoch, 2);
    // An abort of nothing bumps the epoch too; a commit of nothing is refused.
    assert_eq!(a.end(false, NEW).await, ErrorCode::None);
    assert_eq!(a.epoch, 3);
    assert_eq!(a.end(true, NEW).await, ErrorCode::InvalidTxnState);
    // A batch of the transaction before is a zombie's now.
    a.epoch = 1;
    assert_eq!(a.send("zombie", 12).await, ErrorCode::InvalidProducerEpoch);
    assert_eq!(committed(&mut server.client().await).await, ["1"]);
}

/// P23: producers that were restored by hand end what has ended.
#[tokio::test]
async fn an_end_that_is_asked_for_twice_is_answered_as_kafka_does() {
    let server = Server::start().await;
    server.topic("t", 1).await;
    let mut a = Producer::init(&server, "a").await;
    assert_eq!(a.end(true, OLD).await, ErrorCode::InvalidTxnState);
    assert_eq!(a.end(false, OLD).await, ErrorCode::InvalidTxnState);
    for commit in [true, false] {
        a.add("t", 0).await;
        assert_eq!(a.end(commit, OLD).await, ErrorCode::None);
        assert_eq!(a.end(commit, OLD).await, ErrorCode::None);
        assert_eq!(a.end(!commit, OLD).await, ErrorCode::InvalidTxnState);
    }
}

#[tokio::test]
async fn a_second_producer_of_the_same_name_fences_the_first() {
    let server = Server::start().await;
    server.topic("t", 1).await;
    let mut first = Producer::init(&server, "a").await;
    first.add("t", 0).await;
    first.send("first", 9).await;
    let mut second = Producer::init(&server, "a").await;
    assert_eq!(second.epoch, 2, "one to fence, one to have");
    assert_eq!(
        first.send("zombie", 9).await,
        ErrorCode::InvalidProducerEpoch
    );
    assert_eq!(first.add("t", 0).await, ErrorCode::ProducerFenced);
    assert_eq!(first.end(true, 2).await, ErrorCode::ProducerFenced);
    assert_eq!(first.end(true, 1).await, ErrorCode::InvalidProducerEpoch);
    second.add("t", 0).await;
    assert_eq!(second.send("second", 9).await, ErrorCode::None);
    assert_eq!(second.end(true, OLD).await, ErrorCode::None);
    assert_eq!(committed(&mut server.client().await).await, ["second"]);
}

/// P26, P27: offsets wait for the transaction, and go with it.
#[tokio::test]
async fn offsets_of_a_transaction_are_in_force_once_it_is_committed() {
    let server = Server::start().await;
    server.topic("t", 1).await;
    let mut reader = server.client().await;
    let mut a = Producer::init(&server, "a").await;
    assert_eq!(a.commit_offset(5, 2).await, ErrorCode::InvalidTxnState);
    assert_eq!(a.add_offsets().await, ErrorCode::None);
    assert_eq!(a.commit_offset(5, 2).await, ErrorCode::None);
    assert_eq!(
        group_offset(&mut reader, true).await,
        (ErrorCode::UnstableOffsetCommit, -1)
    );
    assert_eq!(
        group_offset(&mut reader, false).await,
        (ErrorCode::None, -1)
    );
    assert_eq!(a.end(true, OLD).await, ErrorCode::None);
    assert_eq!(group_offset(&mut reader, true).await, (ErrorCode::None, 5));
    // The second generation needs no AddOffsetsToTxn.
    assert_eq!(a.commit_offset(7, 5).await, ErrorCode::None);
    assert_eq!(a.end(false, NEW).await, ErrorCode::None);
    assert_eq!(group_offset(&mut reader, true).await, (ErrorCode::None, 5));
    assert_eq!(a.commit_offset(9, 5).await, ErrorCode::None);
    let server = server.restart().await;
    let mut reader = server.client().await;
    a.client = server.client().await;
    while group_offset(&mut reader, true).await.0 != ErrorCode::UnstableOffsetCommit {
        tokio::task::yield_now().await;
    }
    assert_eq!(group_offset(&mut reader, false).await, (ErrorCode::None, 5));
    assert_eq!(a.end(true, NEW).await, ErrorCode::None);
    assert_eq!(group_offset(&mut reader, true).await, (ErrorCode::None, 9));
}

#[tokio::test]
async fn a_transaction_whose_producer_is_gone_is_aborted_in_time_with_its_offsets() {
    let server = Server::start().await;
    server.topic("t", 1).await;
    let mut a = Producer::with_timeout(&server, "a", 2000).await;
    a.send("never", 12).await;
    assert_eq!(a.commit_offset(5, 5).await, ErrorCode::None);
    a.until("CompleteAbort").await;
    let mut reader = server.client().await;
    assert_eq!(group_offset(&mut reader, true).await, (ErrorCode::None, -1));
    assert_eq!(committed(&mut reader).await, [""; 0]);
    assert_eq!(fetched(&mut reader, 0, 1).await.last_stable_offset, 2);
    assert_eq!(a.end(true, NEW).await, ErrorCode::InvalidTxnState);
    assert_eq!(a.send("zombie", 12).await, ErrorCode::InvalidProducerEpoch);
}

/// P22, P35.
#[tokio::test]
async fn a_restart_forgets_neither_the_name_nor_the_transaction() {
    let server = Server::start().await;
    server.topic("t", 1).await;
    let mut a = Producer::init(&server, "a").await;
    a.add("t", 0).await;
    a.send("before", 9).await;
    let server = server.restart().await;
    a.client = server.client().await;
    while a.state().await != "Ongoing" {
        tokio::task::yield_now().await;
    }
    assert_eq!(
        fetched(&mut server.client().await, 0, 1)
            .await
            .last_stable_offset,
        0
    );
    assert_eq!(a.send("after", 9).await, ErrorCode::None);
    assert_eq!(a.end(true, OLD).await, ErrorCode::None);
    assert_eq!(
        committed(&mut server.client().await).await,
        ["before", "after"]
    );
}

/// P71.
#[tokio::test]
async fn a_time_out_is_bounded_by_the_brokers() {
    let server = Server::start_with(&[("transaction.max.timeout.ms", "1000")]).await;
    let mut client = server.client().await;
    for (timeout, code) in [
        (1_000, ErrorCode::None),
        (1_001, ErrorCode::InvalidTransactionTimeout),
        (0, ErrorCode::InvalidTransactionTimeout),
    ] {
        let request = InitProducerIdRequest {
            transactional_id: Some("a".into()),
            transaction_timeout_ms: timeout,
            ..Default::default()
        };
        assert_eq!(error(client.call(&request, 0).await.error_code), code);
    }
}

/// A network that holds one request back: everything else goes on, on other connections.
struct Delayed {
    client: Client,
    frame: Vec<u8>,
}

impl Delayed {
    /// The producer believes that its request is lost, and asks again on a new connection.
    async fn end(server: &Server, producer: &Producer, committed: bool, version: i16) -> Self {
        let request = EndTxnRequest {
            transactional_id: producer.id.into(),
            producer_id: producer.producer,
            producer_epoch: producer.epoch,
            committed,
        };
        Self {
            client: server.client().await,
            frame: frame(&request, version, 1),
        }
    }

    /// It arrives after all.
    async fn arrives(mut self, version: i16) -> ErrorCode {
        self.client.send_bytes(&self.frame).await;
        let answer = self.client.receive::<EndTxnRequest<'_>>(1, version).await;
        error(answer.error_code)
    }
}

/// What KIP-890 mends: in the first generation a request to end that was held up on its way ends the next transaction, of which it
/// commits a half (TXN-1 is broken by the protocol, not by the broker). Kafka does the same.
#[tokio::test]
async fn a_delayed_end_commits_half_of_the_next_transaction_in_the_first_generation() {
    let server = Server::start().await;
    server.topic("t", 1).await;
    let mut a = Producer::init(&server, "a").await;
    a.add("t", 0).await;
    a.send("one", 9).await;
    let delayed = Delayed::end(&server, &a, true, OLD).await;
    assert_eq!(a.end(true, OLD).await, ErrorCode::None);
    a.add("t", 0).await;
    a.send("half of two", 9).await;
    assert_eq!(delayed.arrives(OLD).await, ErrorCode::None);
    assert_eq!(
        committed(&mut server.client().await).await,
        ["one", "half of two"],
        "the anomaly"
    );
    assert_eq!(a.send("other half", 9).await, ErrorCode::InvalidTxnState);
}

/// The same in the second generation: the request names the epoch of the transaction that it was meant for.
#[tokio::test]
async fn a_delayed_end_does_nothing_in_the_second_generation() {
    let server = Server::start().await;
    server.topic("t", 1).await;
    for (id, outcome) in [("a", true), ("b", false)] {
        let mut a = Producer::init(&server, id).await;
        a.send("one", 12).await;
        let delayed = Delayed::end(&server, &a, true, NEW).await;
        assert_eq!(a.end(true, NEW).await, ErrorCode::None);
        a.send("half of two", 12).await;
        assert_eq!(delayed.arrives(NEW).await, ErrorCode::ProducerFenced);
        assert_eq!(a.send("other half", 12).await, ErrorCode::None);
        assert_eq!(a.end(outcome, NEW).await, ErrorCode::None);
    }
    let expected = ["one", "half of two", "other half", "one"];
    assert_eq!(committed(&mut server.client().await).await, expected);
}

/// A topic that goes takes its part of the transaction with it; the rest ends as it should.
#[tokio::test]
async fn a_topic_may_be_deleted_in_the_middle_of_a_transaction() {
    let server = Server::start().await;
    server.topic("t", 1).await;
    server.topic("gone", 1).await;
    let mut a = Producer::init(&server, "a").await;
    a.add("t", 0).await;
    a.add("gone", 0).await;
    a.send("stays", 9).await;
    let delete = DeleteTopicsRequest {
        topic_names: vec!["gone".into()],
        timeout_ms: 10_000,
        ..Default::default()
    };
    let answer = a.client.call(&delete, 5).await;
    assert_eq!(answer.responses[0].error_code, 0);
    assert_eq!(a.end(true, OLD).await, ErrorCode::None);
    assert_eq!(a.state().await, "CompleteCommit");
    assert_eq!(committed(&mut server.client().await).await, ["stays"]);
}
