//! Transactions over the wire, in both generations of the protocol.

#![allow(
    clippy::unwrap_used,
    reason = "the lint does not know that this is a test"
)]

mod common;

use common::*;
use fanlog_model::{BaseSequence, ProducerEpoch, ProducerId};
use fanlog_protocol::ErrorCode;
use fanlog_protocol::messages::add_partitions_to_txn_request::{
    AddPartitionsToTxnTopic, AddPartitionsToTxnTransaction,
};
use fanlog_protocol::messages::fetch_response::PartitionData;
use fanlog_protocol::messages::offset_fetch_request::{
    OffsetFetchRequestGroup, OffsetFetchRequestTopics,
};
use fanlog_protocol::messages::txn_offset_commit_request::{
    TxnOffsetCommitRequestPartition, TxnOffsetCommitRequestTopic,
};
use fanlog_protocol::messages::write_txn_markers_request::{
    WritableTxnMarker, WritableTxnMarkerTopic,
};
use fanlog_protocol::messages::*;
use fanlog_protocol::records::{BatchBuilder, BatchView, Compression};
use fanlog_protocol::wire::RecordBytes;

const OLD: i16 = 1;
const NEW: i16 = 5;

/// A transactional producer that speaks by hand.
struct Producer {
    client: Client,
    id: &'static str,
    producer: i64,
    epoch: i16,
    sequences: [i32; 2],
}

impl Producer {
    async fn init(server: &Server, id: &'static str) -> Self {
        Self::with_timeout(server, id, 60_000).await
    }

    async fn with_timeout(server: &Server, id: &'static str, ms: i32) -> Self {
        let mut client = server.client().await;
        let request = InitProducerIdRequest {
            transactional_id: Some(id.into()),
            transaction_timeout_ms: ms,
            ..Default::default()
        };
        loop {
            let answer = client.call(&request, 4).await;
            match error(answer.error_code) {
                ErrorCode::None => {
                    return Self {
                        client,
                        id,
                        producer: answer.producer_id,
                        epoch: answer.producer_epoch,
                        sequences: [0; 2],
                    };
                }
                ErrorCode::ConcurrentTransactions => tokio::task::yield_now().await,
                other => panic!("{other:?}"),
            }
        }
    }

    async fn add(&mut self, topic: &'static str, partition: i32) -> ErrorCode {
        let request = AddPartitionsToTxnRequest {
            v3_and_below_transactional_id: self.id.into(),
            v3_and_below_producer_id: self.producer,
            v3_and_below_producer_epoch: self.epoch,
            v3_and_below_topics: vec![AddPartitionsToTxnTopic {
                name: topic.into(),
                partitions: vec![partition],
            }],
            ..Default::default()
        };
        let answer = self.client.call(&request, 2).await;
        let topic = &answer.results_by_topic_v3_and_below[0];
        error(topic.results_by_partition[0].partition_error_code)
    }

    /// Appends a record to partition 0 of `t` in a Produce of a version.
    async fn send(&mut self, value: &str, version: i16) -> ErrorCode {
        let sequence = self.sequences[0];
        let code = self.send_as(value, sequence, version).await;
        if code == ErrorCode::None {
            self.sequences[0] += 1;
        }
        code
    }

    async fn send_as(&mut self, value: &str, sequence: i32, version: i16) -> ErrorCode {
        let builder = BatchBuilder::new(Compression::None)
            .producer(
                ProducerId(self.producer),
                ProducerEpoch(self.epoch),
                BaseSequence(sequence),
            )
            .transactional();
        let mut request = produce("t", 0, -1, fill(builder, &[value], 1_000));
        request.transactional_id = Some(self.id.into());
        let answer = self.client.call(&request, version).await;
        error(answer.responses[0].partition_responses[0].error_code)
    }

    async fn end(&mut self, committed: bool, version: i16) -> ErrorCode {
        let request = EndTxnRequest {
            transactional_id: self.id.into(),
            producer_id: self.producer,
            producer_epoch: self.epoch,
            committed,
        };
        let answer = self.client.call(&request, version).await;
        let code = error(answer.error_code);
        if version >= NEW && code == ErrorCode::None {
            if answer.producer_epoch != self.epoch || answer.producer_id != self.producer {
                self.sequences = [0; 2];
            }
            (self.producer, self.epoch) = (answer.producer_id, answer.producer_epoch);
        }
        code
    }

    async fn commit_offset(&mut self, offset: i64, version: i16) -> ErrorCode {
        let request = TxnOffsetCommitRequest {
            transactional_id: self.id.into(),
            group_id: "g".into(),
            producer_id: self.producer,
            producer_epoch: self.epoch,
            topics: vec![TxnOffsetCommitRequestTopic {
                name: "t".into(),
                partitions: vec![TxnOffsetCommitRequestPartition {
                    committed_offset: offset,
                    ..Default::default()
                }],
                ..Default::default()
            }],
            ..Default::default()
        };
        let answer = self.client.call(&request, version).await;
        error(answer.topics[0].partitions[0].error_code)
    }

    async fn add_offsets(&mut self) -> ErrorCode {
        let request = AddOffsetsToTxnRequest {
            transactional_id: self.id.into(),
            producer_id: self.producer,
            producer_epoch: self.epoch,
            group_id: "g".into(),
        };
        error(self.client.call(&request, 2).await.error_code)
    }

    async fn state(&mut self) -> String {
        let request = DescribeTransactionsRequest {
            transactional_ids: vec![self.id.into()],
        };
        let answer = self.client.call(&request, 0).await;
        answer.transaction_states[0].transaction_state.to_string()
    }

    async fn until(&mut self, state: &str) {
        while self.state().await != state {
            tokio::task::yield_now().await;
        }
    }
}

async fn fetched(client: &mut Client, offset: i64, isolation: i8) -> PartitionData<'static> {
    let mut request = fetch("t", 0, offset);
    (request.isolation_level, request.max_wait_ms) = (isolation, 0);
    only_partition(&mut client.call(&request, 12).await)
}

/// What a consumer of committed records makes of partition 0 of `t`.
async fn committed(client: &mut Client) -> Vec<String> {
    let (mut values, mut next) = (Vec::new(), 0);
    loop {
        let partition = fetched(client, next, 1).await;
        if next == partition.last_stable_offset {
            return values;
        }
        next = deliver(&partition, &mut values);
    }
}

/// As clients do it: the offset behind the last batch.
fn deliver(partition: &PartitionData<'_>, values: &mut Vec<String>) -> i64 {
    let mut aborted: Vec<_> = partition.aborted_transactions.clone().unwrap();
    assert!(
        aborted.is_sorted_by_key(|t| t.first_offset),
        "P31: {aborted:?}"
    );
    let bytes = partition.records.as_ref().unwrap().to_vec();
    let (mut skipped, mut next) = (Vec::new(), -1);
    for batch in BatchView::parse_all(&bytes) {
        let batch = batch.unwrap();
        next = batch.next_offset().0;
        let begun = aborted
            .iter()
            .take_while(|t| t.first_offset <= batch.base_offset().0);
        let begun = begun.count();
        skipped.extend(aborted.drain(..begun).map(|t| t.producer_id));
        let producer = batch.producer_id().0;
        if batch.is_control() {
            assert_eq!(batch.record_count(), 1, "P32");
            skipped.retain(|id| *id != producer);
        } else if !(batch.is_transactional() && skipped.contains(&producer)) {
            let part = PartitionData {
                records: Some(RecordBytes::Borrowed(batch.bytes())),
                ..Default::default()
            };
            values.extend(common::values(&part).into_iter().map(|(_, value)| value));
        }
    }
    next
}

async fn group_offset(client: &mut Client, require_stable: bool) -> (ErrorCode, i64) {
    let request = OffsetFetchRequest {
        groups: vec![OffsetFetchRequestGroup {
            group_id: "g".into(),
            topics: Some(vec![OffsetFetchRequestTopics {
                name: "t".into(),
                partition_indexes: vec![0],
                ..Default::default()
            }]),
            ..Default::default()
        }],
        require_stable,
        ..Default::default()
    };
    let answer = client.call(&request, 8).await;
    let partition = &answer.groups[0].topics[0].partitions[0];
    (error(partition.error_code), partition.committed_offset)
}

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
