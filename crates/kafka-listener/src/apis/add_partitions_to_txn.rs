//! AddPartitionsToTxn, versions 0-5: partitions become part of a producer's transaction before it writes to them.
//!
//! Behaviour: internal topics are refused before version 4, which only brokers send. Answers once the transaction durably knows of them. Where one of them does not exist none is added.
//! Versions: 2 PRODUCER_FENCED; 3 flexible; 4 several transactions, and the question whether partitions are part of one (brokers ask
//! it of each other); 5 the second generation of transactions.

use crate::context::ConnectionContext;
use crate::errors;
use fanlog_broker::{
    OFFSETS_TOPIC, QUEUES_TOPIC, SHARE_STATE_TOPIC, TRANSACTIONS_TOPIC, TopicsView,
};
use fanlog_coordinators::transaction::{ClientVersion, Producer, TransactionalId};
use fanlog_model::{PartitionIndex, ProducerEpoch, ProducerId, TopicName, TopicPartition};
use fanlog_protocol::ErrorCode;
use fanlog_protocol::messages::add_partitions_to_txn_request::AddPartitionsToTxnTopic;
use fanlog_protocol::messages::add_partitions_to_txn_response::{
    AddPartitionsToTxnPartitionResult, AddPartitionsToTxnResult, AddPartitionsToTxnTopicResult,
};
use fanlog_protocol::messages::{
    AddPartitionsToTxnRequest, AddPartitionsToTxnResponse, RequestHeader,
};
use std::borrow::Cow;

const FENCED_SINCE: i16 = 2;
const SEVERAL_SINCE: i16 = 4;
const SECOND_GENERATION_SINCE: i16 = 5;

/// One transaction of a request.
struct Asked<'a> {
    id: &'a str,
    producer: Producer,
    verify_only: bool,
    topics: &'a [AddPartitionsToTxnTopic<'a>],
}

pub(crate) async fn handle(
    context: &ConnectionContext,
    _header: &RequestHeader<'_>,
    request: AddPartitionsToTxnRequest<'_>,
    version: i16,
) -> AddPartitionsToTxnResponse<'static> {
    if version < SEVERAL_SINCE {
        let asked = Asked {
            id: &request.v3_and_below_transactional_id,
            producer: producer(
                request.v3_and_below_producer_id,
                request.v3_and_below_producer_epoch,
            ),
            verify_only: false,
            topics: &request.v3_and_below_topics,
        };
        return AddPartitionsToTxnResponse {
            results_by_topic_v3_and_below: add(context, &asked, version).await,
            ..Default::default()
        };
    }
    let mut results = Vec::with_capacity(request.transactions.len());
    for transaction in &request.transactions {
        let asked = Asked {
            id: &transaction.transactional_id,
            producer: producer(transaction.producer_id, transaction.producer_epoch),
            verify_only: transaction.verify_only,
            topics: &transaction.topics,
        };
        results.push(AddPartitionsToTxnResult {
            transactional_id: Cow::Owned(asked.id.to_owned()),
            topic_results: add(context, &asked, version).await,
        });
    }
    AddPartitionsToTxnResponse {
        results_by_transaction: results,
        ..Default::default()
    }
}

pub(crate) fn producer(id: i64, epoch: i16) -> Producer {
    Producer {
        id: ProducerId(id),
        epoch: ProducerEpoch(epoch),
    }
}

async fn add(
    context: &ConnectionContext,
    asked: &Asked<'_>,
    version: i16,
) -> Vec<AddPartitionsToTxnTopicResult<'static>> {
    let topics = context.broker().topics();
    let of_internal = |topic: &str| version < SEVERAL_SINCE && is_internal(topic);
    let mut found = Vec::new();
    let mut has_refused = false;
    for (topic, index) in each(asked.topics) {
        match find(&topics, topic, index) {
            Some(partition) if !of_internal(topic) => found.push(partition),
            _ => has_refused = true,
        }
    }
    if has_refused {
        return answer(asked.topics, |topic, index| {
            match find(&topics, topic, index) {
                _ if of_internal(topic) => ErrorCode::TopicAuthorizationFailed,
                Some(_) => ErrorCode::OperationNotAttempted,
                None => ErrorCode::UnknownTopicOrPartition,
            }
        });
    }
    if asked.id.is_empty() {
        return answer(asked.topics, |_, _| ErrorCode::InvalidRequest);
    }
    let generation = match version >= SECOND_GENERATION_SINCE {
        true => ClientVersion::Second,
        false => ClientVersion::First,
    };
    let id = TransactionalId::from(asked.id);
    let transactions = context.broker().transactions();
    let added = transactions
        .add_partitions(id, asked.producer, found, asked.verify_only, generation)
        .await;
    match added {
        Ok(missing) => answer(asked.topics, |topic, index| {
            let is_missing = find(&topics, topic, index).is_some_and(|p| missing.contains(&p));
            match is_missing {
                true => ErrorCode::TransactionAbortable,
                false => ErrorCode::None,
            }
        }),
        Err(error) => {
            let code = errors::of_transaction(&error, version >= FENCED_SINCE);
            answer(asked.topics, |_, _| code)
        }
    }
}

/// What producers may not write to; a group's offsets they add by AddOffsetsToTxn.
fn is_internal(topic: &str) -> bool {
    [
        OFFSETS_TOPIC,
        TRANSACTIONS_TOPIC,
        SHARE_STATE_TOPIC,
        QUEUES_TOPIC,
    ]
    .contains(&topic)
}

fn each<'a>(topics: &'a [AddPartitionsToTxnTopic<'a>]) -> impl Iterator<Item = (&'a str, i32)> {
    topics
        .iter()
        .flat_map(|topic| topic.partitions.iter().map(|index| (&*topic.name, *index)))
}

fn find(topics: &TopicsView, topic: &str, index: i32) -> Option<TopicPartition> {
    let name = TopicName::new(topic).ok()?;
    let partition = PartitionIndex(index);
    topics.by_name(&name)?.partition(partition)?;
    Some(TopicPartition {
        topic: name,
        partition,
    })
}

fn answer(
    topics: &[AddPartitionsToTxnTopic<'_>],
    code: impl Fn(&str, i32) -> ErrorCode,
) -> Vec<AddPartitionsToTxnTopicResult<'static>> {
    let result = |topic: &AddPartitionsToTxnTopic<'_>| AddPartitionsToTxnTopicResult {
        name: Cow::Owned(topic.name.to_string()),
        results_by_partition: topic
            .partitions
            .iter()
            .map(|index| AddPartitionsToTxnPartitionResult {
                partition_index: *index,
                partition_error_code: code(&topic.name, *index).code(),
            })
            .collect(),
    };
    topics.iter().map(result).collect()
}
