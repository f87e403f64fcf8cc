//! DescribeGroups, versions 0-6: state and members of classic groups.
//!
//! Versions: 3 authorised operations; 4 static members; 5 flexible; 6 a missing group is GROUP_ID_NOT_FOUND, where
//! older versions show a group in state Dead.

use crate::authorized_operations;
use crate::context::ConnectionContext;
use crate::errors;
use fanlog_broker::GroupRequestError;
use fanlog_coordinators::group::{self, DescribedMember, GroupError, GroupState};
use fanlog_model::GroupId;
use fanlog_protocol::messages::describe_groups_response::{DescribedGroup, DescribedGroupMember};
use fanlog_protocol::messages::{DescribeGroupsRequest, DescribeGroupsResponse, RequestHeader};
use std::borrow::Cow;

const MISSING_IS_AN_ERROR_SINCE: i16 = 6;

pub(crate) async fn handle(
    context: &ConnectionContext,
    _header: &RequestHeader<'_>,
    request: DescribeGroupsRequest<'_>,
    version: i16,
) -> DescribeGroupsResponse<'static> {
    let mut groups = Vec::with_capacity(request.groups.len());
    for id in &request.groups {
        let described = context
            .broker()
            .groups()
            .describe(GroupId::from(id.as_ref()))
            .await;
        let mut group = match described {
            Ok(group) => found(group),
            Err(failure) => missing(id, &failure, version),
        };
        let is_asked = request.include_authorized_operations && group.error_code == 0;
        group.authorized_operations =
            authorized_operations::if_asked(is_asked, authorized_operations::GROUP);
        groups.push(group);
    }
    DescribeGroupsResponse {
        groups,
        ..Default::default()
    }
}

fn found(group: group::DescribedGroup) -> DescribedGroup<'static> {
    DescribedGroup {
        group_id: owned(group.group.as_str()),
        group_state: Cow::Borrowed(group.state.name()),
        protocol_type: owned(&group.protocol_type),
        protocol_data: owned(&group.protocol),
        members: group.members.into_iter().map(member).collect(),
        ..Default::default()
    }
}

fn member(member: DescribedMember) -> DescribedGroupMember<'static> {
    DescribedGroupMember {
        member_id: owned(member.member_id.as_str()),
        group_instance_id: member.instance_id.map(|id| owned(id.as_str())),
        client_id: owned(&member.client_id),
        client_host: owned(&member.client_host),
        member_metadata: Cow::Owned(member.metadata.into()),
        member_assignment: Cow::Owned(member.assignment.into()),
    }
}

fn missing(id: &str, failure: &GroupRequestError, version: i16) -> DescribedGroup<'static> {
    let is_missing = matches!(
        failure,
        GroupRequestError::Refused(GroupError::GroupNotFound { .. })
    );
    if is_missing && version < MISSING_IS_AN_ERROR_SINCE {
        let group_state = Cow::Borrowed(GroupState::Dead.name());
        return DescribedGroup {
            group_id: owned(id),
            group_state,
            ..Default::default()
        };
    }
    DescribedGroup {
        error_code: errors::of_group_failure(failure).code(),
        error_message: (version >= MISSING_IS_AN_ERROR_SINCE)
            .then(|| Cow::Owned(failure.to_string())),
        group_id: owned(id),
        group_state: Cow::Borrowed(if is_missing {
            GroupState::Dead.name()
        } else {
            ""
        }),
        ..Default::default()
    }
}

fn owned(text: &str) -> Cow<'static, str> {
    Cow::Owned(text.to_owned())
}
