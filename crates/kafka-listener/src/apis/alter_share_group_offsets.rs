//! AlterShareGroupOffsets, version 0: a share group without members begins anew at the offsets given (KIP-932).
//!
//! Behaviour: a group that does not exist is made. What the group knew of these partitions is forgotten.

use crate::context::ConnectionContext;
use crate::errors;
use fanlog_model::{GroupId, Offset, PartitionIndex, TopicId};
use fanlog_protocol::ErrorCode;
use fanlog_protocol::messages::alter_share_group_offsets_response::{
    AlterShareGroupOffsetsResponsePartition, AlterShareGroupOffsetsResponseTopic,
};
use fanlog_protocol::messages::{
    AlterShareGroupOffsetsRequest, AlterShareGroupOffsetsResponse, RequestHeader,
};
use std::borrow::Cow;
use std::collections::BTreeMap;

pub(crate) async fn handle(
    context: &ConnectionContext,
    _header: &RequestHeader<'_>,
    request: AlterShareGroupOffsetsRequest<'_>,
    _version: i16,
) -> AlterShareGroupOffsetsResponse<'static> {
    let groups = context.broker().groups();
    let group = GroupId::from(request.group_id.as_ref());
    let mut wanted = BTreeMap::new();
    let mut responses = Vec::with_capacity(request.topics.len());
    for topic in &request.topics {
        let known = groups.share_topic(&topic.topic_name);
        let partitions = topic.partitions.iter().map(|p| {
            let (index, start) = (p.partition_index, p.start_offset);
            let is_there = known.is_some_and(|(_, count)| (0..count).contains(&index));
            let error = match (known.filter(|_| is_there), start) {
                (None, _) => Some(ErrorCode::UnknownTopicOrPartition),
                (Some(_), ..0) => Some(ErrorCode::InvalidRequest),
                (Some((id, _)), _) => {
                    wanted.insert((id, PartitionIndex(index)), Offset(start));
                    None
                }
            };
            partition(index, error)
        });
        responses.push(AlterShareGroupOffsetsResponseTopic {
            topic_name: Cow::Owned(topic.topic_name.to_string()),
            topic_id: known.map_or(TopicId::ZERO, |(id, _)| id).0,
            partitions: partitions.collect(),
        });
    }
    match groups.alter_share_offsets(&group, &wanted).await {
        Ok(()) => AlterShareGroupOffsetsResponse {
            responses,
            ..Default::default()
        },
        Err(failure) => AlterShareGroupOffsetsResponse {
            error_code: errors::of_group_failure(&failure).code(),
            error_message: Some(Cow::Owned(failure.to_string())),
            ..Default::default()
        },
    }
}

fn partition(
    index: i32,
    error: Option<ErrorCode>,
) -> AlterShareGroupOffsetsResponsePartition<'static> {
    let message = error.map(|error| match error {
        ErrorCode::InvalidRequest => "a start offset is not negative",
        _ => "this broker has no such partition",
    });
    AlterShareGroupOffsetsResponsePartition {
        partition_index: index,
        error_code: error.map_or(0, ErrorCode::code),
        error_message: message.map(Cow::Borrowed),
    }
}
