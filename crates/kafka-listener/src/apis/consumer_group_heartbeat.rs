//! ConsumerGroupHeartbeat, versions 0-1: a member of the new protocol (KIP-848) joins, lives, changes its mind or leaves.
//!
//! Behaviour: answers at once, with the member's partitions where they changed or where the member said all there is to say.
//! Versions: 1 the client chooses its member id, and may subscribe by a regular expression.

use crate::context::ConnectionContext;
use crate::errors;
use fanlog_broker::GroupRequestError;
use fanlog_coordinators::CallId;
use fanlog_coordinators::group::consumer::{ConsumerHeartbeat, MemberHeartbeat, SubscribedRegex};
use fanlog_coordinators::group::{InstanceId, MemberId, PartitionSets};
use fanlog_model::{GroupId, TopicId};
use fanlog_protocol::messages::consumer_group_heartbeat_request as wire;
use fanlog_protocol::messages::consumer_group_heartbeat_response::{Assignment, TopicPartitions};
use fanlog_protocol::messages::{
    ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse, RequestHeader,
};
use std::borrow::Cow;
use std::sync::Arc;
use uuid::Uuid;

const MEMBER_ID_REQUIRED_SINCE: i16 = 1;
/// The rebalance time-out of a member that doesn't repeat it.
const UNCHANGED: i32 = -1;

pub(crate) async fn handle(
    context: &ConnectionContext,
    header: &RequestHeader<'_>,
    request: ConsumerGroupHeartbeatRequest<'_>,
    version: i16,
) -> ConsumerGroupHeartbeatResponse<'static> {
    let heartbeat = heartbeat(context, header, request, version);
    match context
        .broker()
        .groups()
        .consumer_heartbeat(heartbeat)
        .await
    {
        Ok(answer) => accepted(answer),
        Err(failure) => refused(&failure),
    }
}

fn heartbeat(
    context: &ConnectionContext,
    header: &RequestHeader<'_>,
    request: ConsumerGroupHeartbeatRequest<'_>,
    version: i16,
) -> ConsumerHeartbeat {
    let text = |text: Option<Cow<'_, str>>| text.map(|text| Arc::from(&*text));
    let names = request.subscribed_topic_names;
    let regex = text(request.subscribed_topic_regex);
    ConsumerHeartbeat {
        call: CallId(0),
        group: GroupId::from(&*request.group_id),
        member_id: MemberId::from(&*request.member_id),
        member_epoch: request.member_epoch,
        instance_id: request.instance_id.as_deref().map(InstanceId::from),
        rack_id: text(request.rack_id),
        client_id: header.client_id.as_deref().unwrap_or_default().into(),
        client_host: context.peer_host().into(),
        rebalance_timeout_ms: Some(request.rebalance_timeout_ms).filter(|ms| *ms != UNCHANGED),
        topics: names.map(|names| names.iter().map(|name| Arc::from(&**name)).collect()),
        regex: regex.map(|pattern| SubscribedRegex {
            pattern,
            topics: Ok(Arc::from([])),
        }),
        server_assignor: text(request.server_assignor),
        owned: request.topic_partitions.map(owned),
        requires_member_id: version >= MEMBER_ID_REQUIRED_SINCE,
        fresh_id: Uuid::nil(),
    }
}

fn owned(topics: Vec<wire::TopicPartitions>) -> Vec<(TopicId, Vec<i32>)> {
    let topics = topics.into_iter();
    topics
        .map(|topic| (TopicId(topic.topic_id), topic.partitions))
        .collect()
}

fn accepted(answer: MemberHeartbeat) -> ConsumerGroupHeartbeatResponse<'static> {
    ConsumerGroupHeartbeatResponse {
        member_id: Some(Cow::Owned(answer.member_id.as_str().to_owned())),
        member_epoch: answer.epoch,
        heartbeat_interval_ms: answer.heartbeat_interval_ms,
        assignment: answer.assignment.map(assignment),
        ..Default::default()
    }
}

fn assignment(sets: PartitionSets) -> Assignment {
    let topics = sets.into_iter().map(|(topic, partitions)| TopicPartitions {
        topic_id: topic.0,
        partitions: partitions.into_iter().map(|index| index.0).collect(),
    });
    Assignment {
        topic_partitions: topics.collect(),
    }
}

fn refused(failure: &GroupRequestError) -> ConsumerGroupHeartbeatResponse<'static> {
    ConsumerGroupHeartbeatResponse {
        error_code: errors::of_group_failure(failure).code(),
        error_message: Some(Cow::Owned(failure.to_string())),
        ..Default::default()
    }
}
