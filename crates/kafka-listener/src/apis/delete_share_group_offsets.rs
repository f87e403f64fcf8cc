//! DeleteShareGroupOffsets, version 0: a share group without members forgets what it knows of topics (KIP-932).
//!
//! Behaviour: it begins to read them anew when it has members again. A topic of which it has no state is UNKNOWN_TOPIC_OR_PARTITION.

use crate::context::ConnectionContext;
use crate::errors;
use fanlog_model::{GroupId, TopicId};
use fanlog_protocol::ErrorCode;
use fanlog_protocol::messages::delete_share_group_offsets_response::DeleteShareGroupOffsetsResponseTopic;
use fanlog_protocol::messages::{
    DeleteShareGroupOffsetsRequest, DeleteShareGroupOffsetsResponse, RequestHeader,
};
use std::borrow::Cow;

pub(crate) async fn handle(
    context: &ConnectionContext,
    _header: &RequestHeader<'_>,
    request: DeleteShareGroupOffsetsRequest<'_>,
    _version: i16,
) -> DeleteShareGroupOffsetsResponse<'static> {
    let groups = context.broker().groups();
    let group = GroupId::from(request.group_id.as_ref());
    let known = match context.broker().shares().partitions_of(&group) {
        Ok(known) => known,
        Err(error) => {
            return refused(errors::of_coordinator(&error), error.to_string());
        }
    };
    let mut wanted = Vec::new();
    let mut responses = Vec::with_capacity(request.topics.len());
    for topic in &request.topics {
        let found = groups.share_topic(&topic.topic_name).map(|(id, _)| id);
        let with_state = found.filter(|id| known.iter().any(|of| of.topic == *id));
        wanted.extend(with_state);
        responses.push(DeleteShareGroupOffsetsResponseTopic {
            topic_name: Cow::Owned(topic.topic_name.to_string()),
            topic_id: with_state.unwrap_or(TopicId::ZERO).0,
            error_code: match with_state {
                Some(_) => 0,
                None => ErrorCode::UnknownTopicOrPartition.code(),
            },
            error_message: match (found, with_state) {
                (_, Some(_)) => None,
                (Some(_), None) => Some(Cow::Borrowed(
                    "the share group has no offsets of this topic",
                )),
                (None, None) => Some(Cow::Borrowed("this broker has no such topic")),
            },
        });
    }
    match groups.delete_share_offsets(&group, &wanted).await {
        Ok(()) => DeleteShareGroupOffsetsResponse {
            responses,
            ..Default::default()
        },
        Err(failure) => refused(errors::of_group_failure(&failure), failure.to_string()),
    }
}

fn refused(error: ErrorCode, message: String) -> DeleteShareGroupOffsetsResponse<'static> {
    DeleteShareGroupOffsetsResponse {
        error_code: error.code(),
        error_message: Some(Cow::Owned(message)),
        ..Default::default()
    }
}
