//! DeleteRecords, versions 0-2: moves the start of partitions up to an offset, and answers once that is durable.
//!
//! Behaviour: -1 stands for the high watermark; any other negative offset, or one above the high watermark, is
//! OFFSET_OUT_OF_RANGE. The answer is the log's new start. Internal topics are refused, as are topics without
//! `cleanup.policy` delete.
//! Versions: 2 flexible.

use crate::context::ConnectionContext;
use crate::errors;
use fanlog_broker::TopicRef;
use fanlog_model::{Offset, PartitionIndex, TopicName};
use fanlog_protocol::ErrorCode;
use fanlog_protocol::messages::delete_records_response::{
    DeleteRecordsPartitionResult, DeleteRecordsTopicResult,
};
use fanlog_protocol::messages::{DeleteRecordsRequest, DeleteRecordsResponse, RequestHeader};
use std::borrow::Cow;

const HIGH_WATERMARK: i64 = -1;
/// The low watermark beside an error.
const UNKNOWN_WATERMARK: i64 = -1;

pub(crate) async fn handle(
    context: &ConnectionContext,
    _header: &RequestHeader<'_>,
    request: DeleteRecordsRequest<'_>,
    _version: i16,
) -> DeleteRecordsResponse<'static> {
    let mut topics = Vec::with_capacity(request.topics.len());
    for topic in &request.topics {
        let mut partitions = Vec::with_capacity(topic.partitions.len());
        for partition in &topic.partitions {
            let index = partition.partition_index;
            let outcome = delete(context, &topic.name, index, partition.offset).await;
            partitions.push(DeleteRecordsPartitionResult {
                partition_index: index,
                low_watermark: outcome.map_or(UNKNOWN_WATERMARK, |start| start.0),
                error_code: outcome.err().unwrap_or(ErrorCode::None).code(),
            });
        }
        topics.push(DeleteRecordsTopicResult {
            name: Cow::Owned(topic.name.to_string()),
            partitions,
        });
    }
    DeleteRecordsResponse {
        topics,
        ..Default::default()
    }
}

async fn delete(
    context: &ConnectionContext,
    topic: &str,
    index: i32,
    before: i64,
) -> Result<Offset, ErrorCode> {
    let name = TopicName::new(topic).map_err(|_| ErrorCode::UnknownTopicOrPartition)?;
    let is_internal = context
        .broker()
        .topics()
        .by_name(&name)
        .is_some_and(|topic| topic.is_internal);
    if is_internal {
        return Err(ErrorCode::InvalidTopicException);
    }
    let before = match before {
        HIGH_WATERMARK => None,
        offset => Some(Offset(offset)),
    };
    context
        .broker()
        .delete_records(&TopicRef::Name(name), PartitionIndex(index), before)
        .await
        .map_err(|error| errors::of_delete_records(&error))
}
