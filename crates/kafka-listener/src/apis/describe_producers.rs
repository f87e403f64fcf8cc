//! DescribeProducers, version 0: the producers that partitions remember, with their last sequences (KIP-664).
//!
//! A transaction's start is -1 where none is open, a coordinator's epoch where none has ended.

use crate::context::ConnectionContext;
use crate::errors;
use fanlog_broker::{ActiveProducer, TopicRef};
use fanlog_model::{PartitionIndex, TopicName};
use fanlog_protocol::ErrorCode;
use fanlog_protocol::messages::describe_producers_response::{
    PartitionResponse, ProducerState, TopicResponse,
};
use fanlog_protocol::messages::{
    DescribeProducersRequest, DescribeProducersResponse, RequestHeader,
};
use std::borrow::Cow;

pub(crate) async fn handle(
    context: &ConnectionContext,
    _header: &RequestHeader<'_>,
    request: DescribeProducersRequest<'_>,
    _version: i16,
) -> DescribeProducersResponse<'static> {
    let topics = request.topics.iter().map(|topic| TopicResponse {
        name: Cow::Owned(topic.name.to_string()),
        partitions: topic
            .partition_indexes
            .iter()
            .map(|index| partition(context, &topic.name, *index))
            .collect(),
    });
    DescribeProducersResponse {
        topics: topics.collect(),
        ..Default::default()
    }
}

fn partition(
    context: &ConnectionContext,
    topic: &str,
    partition_index: i32,
) -> PartitionResponse<'static> {
    match describe(context, topic, partition_index) {
        Ok(producers) => PartitionResponse {
            partition_index,
            active_producers: producers.iter().map(state).collect(),
            ..Default::default()
        },
        Err((error, message)) => PartitionResponse {
            partition_index,
            error_code: error.code(),
            error_message: Some(Cow::Owned(message)),
            ..Default::default()
        },
    }
}

fn describe(
    context: &ConnectionContext,
    topic: &str,
    index: i32,
) -> Result<Vec<ActiveProducer>, (ErrorCode, String)> {
    let name = TopicName::new(topic)
        .map_err(|error| (ErrorCode::InvalidTopicException, error.to_string()))?;
    context
        .broker()
        .describe_producers(&TopicRef::Name(name), PartitionIndex(index))
        .map_err(|error| (errors::of_describe_producers(&error), error.to_string()))
}

fn state(producer: &ActiveProducer) -> ProducerState {
    ProducerState {
        producer_id: producer.producer_id.0,
        producer_epoch: i32::from(producer.producer_epoch.0),
        last_sequence: producer.last_sequence,
        last_timestamp: producer.last_timestamp.0,
        coordinator_epoch: producer.coordinator_epoch,
        current_txn_start_offset: producer.current_txn_start_offset.0,
    }
}
