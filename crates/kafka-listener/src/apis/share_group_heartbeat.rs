//! ShareGroupHeartbeat, version 1: a member of a share group comes, lives or goes, and learns which partitions it reads
//! (KIP-932).
//!
//! Behaviour: the member chose its id itself. Epoch 0 comes, -1 goes. The assignment is there when it is new to the member.

use crate::context::ConnectionContext;
use crate::errors;
use fanlog_broker::GroupRequestError;
use fanlog_coordinators::CallId;
use fanlog_coordinators::group::MemberId;
use fanlog_coordinators::group::share::{ShareHeartbeat, ShareRules};
use fanlog_model::GroupId;
use fanlog_protocol::messages::share_group_heartbeat_response::{Assignment, TopicPartitions};
use fanlog_protocol::messages::{
    RequestHeader, ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse,
};
use std::borrow::Cow;
use std::sync::Arc;

pub(crate) async fn handle(
    context: &ConnectionContext,
    header: &RequestHeader<'_>,
    request: ShareGroupHeartbeatRequest<'_>,
    _version: i16,
) -> ShareGroupHeartbeatResponse<'static> {
    let topics = request.subscribed_topic_names.as_ref();
    let heartbeat = ShareHeartbeat {
        call: CallId(0),
        group: GroupId::from(request.group_id.as_ref()),
        member_id: MemberId::from(request.member_id.as_ref()),
        member_epoch: request.member_epoch,
        rack_id: request.rack_id.as_deref().map(Arc::from),
        topics: topics.map(|names| names.iter().map(|name| Arc::from(name.as_ref())).collect()),
        client_id: header.client_id.as_deref().unwrap_or("").into(),
        client_host: context.peer_host().into(),
        rules: ShareRules::default(),
    };
    match context.broker().groups().share_heartbeat(heartbeat).await {
        Ok(answer) => ShareGroupHeartbeatResponse {
            member_id: Some(Cow::Owned(answer.member_id.to_string())),
            member_epoch: answer.member_epoch,
            heartbeat_interval_ms: answer.heartbeat_interval_ms,
            assignment: answer.assignment.map(|sets| Assignment {
                topic_partitions: sets
                    .into_iter()
                    .map(|(topic, partitions)| TopicPartitions {
                        topic_id: topic.0,
                        partitions: partitions.into_iter().map(|index| index.0).collect(),
                    })
                    .collect(),
            }),
            ..Default::default()
        },
        Err(failure) => refused(&failure),
    }
}

fn refused(failure: &GroupRequestError) -> ShareGroupHeartbeatResponse<'static> {
    ShareGroupHeartbeatResponse {
        error_code: errors::of_group_failure(failure).code(),
        error_message: Some(Cow::Owned(failure.to_string())),
        ..Default::default()
    }
}
