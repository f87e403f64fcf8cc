//! A transactional producer that speaks by hand, and what readers make of what it wrote.

use super::*;
use fanlog_model::{BaseSequence, ProducerEpoch, ProducerId};
use fanlog_protocol::ErrorCode;
use fanlog_protocol::messages::add_partitions_to_txn_request::AddPartitionsToTxnTopic;
use fanlog_protocol::messages::fetch_response::PartitionData;
use fanlog_protocol::messages::offset_fetch_request::{
    OffsetFetchRequestGroup, OffsetFetchRequestTopics,
};
use fanlog_protocol::messages::txn_offset_commit_request::{
    TxnOffsetCommitRequestPartition, TxnOffsetCommitRequestTopic,
};
use fanlog_protocol::messages::*;
use fanlog_protocol::records::{BatchBuilder, BatchView, Compression};
use fanlog_protocol::wire::RecordBytes;

pub const OLD: i16 = 1;
pub const NEW: i16 = 5;

/// A transactional producer that speaks by hand.
pub struct Producer {
    pub client: Client,
    pub id: &'static str,
    pub producer: i64,
    pub epoch: i16,
    pub sequences: [i32; 2],
}

impl Producer {
    pub async fn init(server: &Server, id: &'static str) -> Self {
        Self::with_timeout(server, id, 60_000).await
    }

    pub async fn with_timeout(server: &Server, id: &'static str, ms: i32) -> Self {
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

    pub async fn add(&mut self, topic: &'static str, partition: i32) -> ErrorCode {
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
    pub async fn send(&mut self, value: &str, version: i16) -> ErrorCode {
        let sequence = self.sequences[0];
        let code = self.send_as(value, sequence, version).await;
        if code == ErrorCode::None {
            self.sequences[0] += 1;
        }
        code
    }

    pub async fn send_as(&mut self, value: &str, sequence: i32, version: i16) -> ErrorCode {
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

    pub async fn end(&mut self, committed: bool, version: i16) -> ErrorCode {
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

    pub async fn commit_offset(&mut self, offset: i64, version: i16) -> ErrorCode {
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

    pub async fn add_offsets(&mut self) -> ErrorCode {
        let request = AddOffsetsToTxnRequest {
            transactional_id: self.id.into(),
            producer_id: self.producer,
            producer_epoch: self.epoch,
            group_id: "g".into(),
        };
        error(self.client.call(&request, 2).await.error_code)
    }

    pub async fn state(&mut self) -> String {
        let request = DescribeTransactionsRequest {
            transactional_ids: vec![self.id.into()],
        };
        let answer = self.client.call(&request, 0).await;
        answer.transaction_states[0].transaction_state.to_string()
    }

    pub async fn until(&mut self, state: &str) {
        while self.state().await != state {
            tokio::task::yield_now().await;
        }
    }
}

pub async fn fetched(client: &mut Client, offset: i64, isolation: i8) -> PartitionData<'static> {
    let mut request = fetch("t", 0, offset);
    (request.isolation_level, request.max_wait_ms) = (isolation, 0);
    only_partition(&mut client.call(&request, 12).await)
}

/// What a consumer of committed records makes of partition 0 of `t`.
pub async fn committed(client: &mut Client) -> Vec<String> {
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
pub fn deliver(partition: &PartitionData<'_>, values: &mut Vec<String>) -> i64 {
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
            values.extend(super::values(&part).into_iter().map(|(_, value)| value));
        }
    }
    next
}

pub async fn group_offset(client: &mut Client, require_stable: bool) -> (ErrorCode, i64) {
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
