//! JoinGroup, versions 0-9: a member enters the next generation of its group.
//!
//! Behaviour: waits until all members have joined or the rebalance time-out is over.
//! Versions: 1 rebalance time-out; 4 a new member is sent back for its member id (KIP-394); 5 static members; 6
//! flexible; 7 protocol type; 8 reason, which is not kept; 9 a static leader may keep the assignment (KIP-814).

use crate::context::ConnectionContext;
use crate::errors;
use bytes::Bytes;
use fanlog_broker::GroupRequestError;
use fanlog_coordinators::CallId;
use fanlog_coordinators::group::{
    GroupError, InstanceId, Join, Joined, JoinedMember, MemberId, Protocol,
};
use fanlog_model::GroupId;
use fanlog_protocol::messages::join_group_response::JoinGroupResponseMember;
use fanlog_protocol::messages::{JoinGroupRequest, JoinGroupResponse, RequestHeader};
use std::borrow::Cow;

const MEMBER_ID_REQUIRED_SINCE: i16 = 4;
const PROTOCOL_NAME_NULLABLE_SINCE: i16 = 7;
const SKIP_ASSIGNMENT_SINCE: i16 = 9;

pub(crate) async fn handle(
    context: &ConnectionContext,
    header: &RequestHeader<'_>,
    request: JoinGroupRequest<'_>,
    version: i16,
) -> JoinGroupResponse<'static> {
    let member_id = request.member_id.to_string();
    let join = join(context, header, request, version);
    match context.broker().groups().join(join).await {
        Ok(joined) => accepted(joined),
        Err(failure) => refused(&failure, member_id, version),
    }
}

fn join(
    context: &ConnectionContext,
    header: &RequestHeader<'_>,
    request: JoinGroupRequest<'_>,
    version: i16,
) -> Join {
    let protocol =
        |p: fanlog_protocol::messages::join_group_request::JoinGroupRequestProtocol<'_>| Protocol {
            name: p.name.as_ref().into(),
            metadata: Bytes::copy_from_slice(&p.metadata),
        };
    Join {
        call: CallId(0),
        group: GroupId::from(request.group_id.as_ref()),
        member_id: MemberId::from(request.member_id.as_ref()),
        fresh_id: context.broker().environment().entropy.uuid(),
        instance_id: request.group_instance_id.as_deref().map(InstanceId::from),
        client_id: header.client_id.as_deref().unwrap_or_default().into(),
        client_host: context.peer_host().into(),
        session_timeout_ms: request.session_timeout_ms,
        rebalance_timeout_ms: match request.rebalance_timeout_ms {
            -1 => request.session_timeout_ms,
            given => given,
        },
        protocol_type: request.protocol_type.as_ref().into(),
        protocols: request.protocols.into_iter().map(protocol).collect(),
        requires_member_id: version >= MEMBER_ID_REQUIRED_SINCE,
        supports_skip_assignment: version >= SKIP_ASSIGNMENT_SINCE,
    }
}

fn accepted(joined: Joined) -> JoinGroupResponse<'static> {
    let member = |member: JoinedMember| JoinGroupResponseMember {
        member_id: owned(member.member_id.as_str()),
        group_instance_id: member.instance_id.map(|id| owned(id.as_str())),
        metadata: Cow::Owned(member.metadata.into()),
    };
    JoinGroupResponse {
        generation_id: joined.generation,
        protocol_type: joined.protocol_type.map(|name| owned(&name)),
        protocol_name: Some(owned(joined.protocol.as_deref().unwrap_or_default())),
        leader: owned(joined.leader.as_str()),
        skip_assignment: joined.skip_assignment,
        member_id: owned(joined.member_id.as_str()),
        members: joined.members.into_iter().map(member).collect(),
        ..Default::default()
    }
}

fn refused(
    failure: &GroupRequestError,
    asked_as: String,
    version: i16,
) -> JoinGroupResponse<'static> {
    let member_id = match failure {
        GroupRequestError::Refused(GroupError::MemberIdRequired { member }) => {
            member.as_str().to_owned()
        }
        _ => asked_as,
    };
    JoinGroupResponse {
        error_code: errors::of_group_failure(failure).code(),
        protocol_name: (version < PROTOCOL_NAME_NULLABLE_SINCE).then_some(Cow::Borrowed("")),
        member_id: Cow::Owned(member_id),
        ..Default::default()
    }
}

fn owned(text: &str) -> Cow<'static, str> {
    Cow::Owned(text.to_owned())
}
