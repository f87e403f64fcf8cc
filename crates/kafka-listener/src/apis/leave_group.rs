//! LeaveGroup, versions 0-5: members leave at once instead of by time-out.
//!
//! Versions: up to 2 one member, its error on top; 3 several, static ones too, each with its own error; 4 flexible;
//! 5 reason, which is not kept.

use crate::context::ConnectionContext;
use crate::errors;
use fanlog_coordinators::CallId;
use fanlog_coordinators::group::{InstanceId, Leave, LeavingMember, LeftMember, MemberId};
use fanlog_model::GroupId;
use fanlog_protocol::messages::leave_group_response::MemberResponse;
use fanlog_protocol::messages::{LeaveGroupRequest, LeaveGroupResponse, RequestHeader};
use std::borrow::Cow;

const SEVERAL_MEMBERS_SINCE: i16 = 3;

pub(crate) async fn handle(
    context: &ConnectionContext,
    _header: &RequestHeader<'_>,
    request: LeaveGroupRequest<'_>,
    version: i16,
) -> LeaveGroupResponse<'static> {
    let members = match version >= SEVERAL_MEMBERS_SINCE {
        true => request.members.iter().map(leaving).collect(),
        false => vec![LeavingMember {
            member_id: MemberId::from(request.member_id.as_ref()),
            instance_id: None,
        }],
    };
    let group = GroupId::from(request.group_id.as_ref());
    let leave = Leave {
        call: CallId(0),
        group,
        members,
    };
    let left = match context.broker().groups().leave(leave).await {
        Ok(left) => left,
        Err(failure) => {
            let error_code = errors::of_group_failure(&failure).code();
            return LeaveGroupResponse {
                error_code,
                ..Default::default()
            };
        }
    };
    if version >= SEVERAL_MEMBERS_SINCE {
        return LeaveGroupResponse {
            members: left.iter().map(answered).collect(),
            ..Default::default()
        };
    }
    let error_code = left.first().map_or(0, code_of);
    LeaveGroupResponse {
        error_code,
        ..Default::default()
    }
}

fn leaving(
    member: &fanlog_protocol::messages::leave_group_request::MemberIdentity<'_>,
) -> LeavingMember {
    LeavingMember {
        member_id: MemberId::from(member.member_id.as_ref()),
        instance_id: member.group_instance_id.as_deref().map(InstanceId::from),
    }
}

fn answered(member: &LeftMember) -> MemberResponse<'static> {
    MemberResponse {
        member_id: Cow::Owned(member.member_id.as_str().to_owned()),
        group_instance_id: member
            .instance_id
            .as_ref()
            .map(|id| Cow::Owned(id.as_str().to_owned())),
        error_code: code_of(member),
    }
}

fn code_of(member: &LeftMember) -> i16 {
    member
        .result
        .as_ref()
        .err()
        .map_or(0, |error| errors::of_group(error).code())
}
