//! OffsetForLeaderEpoch, versions 2-4: where the records of a leader epoch end (KIP-320).
//!
//! Behaviour: the answer is for the largest epoch at or below the one asked for; the present epoch ends at the high
//! watermark, so that no consumer takes what it has read for lost. An epoch from before the log's first ends where that
//! begins; one that is yet to come is -1.
//! Versions: 3 replica id; 4 flexible.
//! Not implemented: asking as a replica (refused).

use crate::context::ConnectionContext;
use crate::errors;
use fanlog_broker::{EpochEnd, TopicRef};
use fanlog_model::{LeaderEpoch, PartitionIndex, TopicName};
use fanlog_protocol::ErrorCode;
use fanlog_protocol::messages::offset_for_leader_epoch_request::OffsetForLeaderPartition;
use fanlog_protocol::messages::offset_for_leader_epoch_response::{
    EpochEndOffset, OffsetForLeaderTopicResult,
};
use fanlog_protocol::messages::{
    OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse, RequestHeader,
};
use std::borrow::Cow;

const NO_OFFSET: i64 = -1;

pub(crate) async fn handle(
    context: &ConnectionContext,
    _header: &RequestHeader<'_>,
    request: OffsetForLeaderEpochRequest<'_>,
    _version: i16,
) -> OffsetForLeaderEpochResponse<'static> {
    let is_replica = request.replica_id >= 0;
    let topics = request.topics.iter().map(|topic| {
        let answer = |asked: &OffsetForLeaderPartition| {
            let end = match is_replica {
                true => Err(ErrorCode::ClusterAuthorizationFailed),
                false => find_end(context, &topic.topic, asked),
            };
            epoch_end(asked.partition, end)
        };
        OffsetForLeaderTopicResult {
            topic: Cow::Owned(topic.topic.to_string()),
            partitions: topic.partitions.iter().map(answer).collect(),
        }
    });
    OffsetForLeaderEpochResponse {
        topics: topics.collect(),
        ..Default::default()
    }
}

fn find_end(
    context: &ConnectionContext,
    topic: &str,
    asked: &OffsetForLeaderPartition,
) -> Result<EpochEnd, ErrorCode> {
    let name = TopicName::new(topic).map_err(|_| ErrorCode::UnknownTopicOrPartition)?;
    let current = asked.current_leader_epoch;
    context
        .broker()
        .offset_for_leader_epoch(
            &TopicRef::Name(name),
            PartitionIndex(asked.partition),
            LeaderEpoch(asked.leader_epoch),
            (current >= 0).then_some(LeaderEpoch(current)),
        )
        .map_err(|error| errors::of_offsets(&error))
}

fn epoch_end(partition: i32, end: Result<EpochEnd, ErrorCode>) -> EpochEndOffset {
    match end {
        Err(error) => EpochEndOffset {
            error_code: error.code(),
            partition,
            ..Default::default()
        },
        Ok(end) => EpochEndOffset {
            error_code: ErrorCode::None.code(),
            partition,
            leader_epoch: end.leader_epoch.unwrap_or(LeaderEpoch::UNKNOWN).0,
            end_offset: end.end_offset.map_or(NO_OFFSET, |offset| offset.0),
        },
    }
}
