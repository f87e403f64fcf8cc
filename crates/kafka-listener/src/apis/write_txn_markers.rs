//! WriteTxnMarkers, versions 1-2: ends a producer's transaction in some partitions, whatever its coordinator says.
//!
//! Behaviour: the way out where a transaction hangs that no coordinator knows (Admin.abortTransaction, `fanlog txn abort`). Answers when
//! the markers are durable. A marker of an older epoch than the producer's, or the last coordinator's, is refused.
//! Versions: 2 the generation of the transaction; a marker of the second generation ends no transaction of its own epoch.

use super::add_partitions_to_txn::producer;
use crate::context::ConnectionContext;
use crate::errors;
use fanlog_broker::WrittenMarker;
use fanlog_model::{PartitionIndex, TopicName, TopicPartition};
use fanlog_protocol::ErrorCode;
use fanlog_protocol::messages::write_txn_markers_request::WritableTxnMarker;
use fanlog_protocol::messages::write_txn_markers_response::{
    WritableTxnMarkerPartitionResult, WritableTxnMarkerResult, WritableTxnMarkerTopicResult,
};
use fanlog_protocol::messages::{RequestHeader, WriteTxnMarkersRequest, WriteTxnMarkersResponse};
use std::borrow::Cow;

/// `transaction.version` from which a producer's epoch rises with every transaction.
const SECOND_GENERATION: i8 = 2;

pub(crate) async fn handle(
    context: &ConnectionContext,
    _header: &RequestHeader<'_>,
    request: WriteTxnMarkersRequest<'_>,
    _version: i16,
) -> WriteTxnMarkersResponse<'static> {
    let mut markers = Vec::with_capacity(request.markers.len());
    for marker in &request.markers {
        let mut topics = Vec::with_capacity(marker.topics.len());
        for topic in &marker.topics {
            let mut partitions = Vec::with_capacity(topic.partition_indexes.len());
            for index in &topic.partition_indexes {
                let code = write(context, marker, &topic.name, *index).await;
                partitions.push(WritableTxnMarkerPartitionResult {
                    partition_index: *index,
                    error_code: code.code(),
                });
            }
            topics.push(WritableTxnMarkerTopicResult {
                name: Cow::Owned(topic.name.to_string()),
                partitions,
            });
        }
        markers.push(WritableTxnMarkerResult {
            producer_id: marker.producer_id,
            topics,
        });
    }
    WriteTxnMarkersResponse { markers }
}

async fn write(
    context: &ConnectionContext,
    marker: &WritableTxnMarker<'_>,
    topic: &str,
    index: i32,
) -> ErrorCode {
    let Ok(name) = TopicName::new(topic) else {
        return ErrorCode::UnknownTopicOrPartition;
    };
    let written = context.broker().transactions().write_marker(WrittenMarker {
        producer: producer(marker.producer_id, marker.producer_epoch),
        is_commit: marker.transaction_result,
        coordinator_epoch: marker.coordinator_epoch,
        is_later: marker.transaction_version >= SECOND_GENERATION,
        partition: TopicPartition {
            topic: name,
            partition: PartitionIndex(index),
        },
    });
    match written.await {
        Ok(()) => ErrorCode::None,
        Err(error) => errors::of_marker(&error),
    }
}
