//! ListGroups, versions 0-5: the groups of this broker.
//!
//! Versions: 3 flexible; 4 states and a filter by them; 5 types and a filter by them. A queue is listed as a share group.

use crate::context::ConnectionContext;
use crate::errors;
use fanlog_protocol::messages::list_groups_response::ListedGroup;
use fanlog_protocol::messages::{ListGroupsRequest, ListGroupsResponse, RequestHeader};
use std::borrow::Cow;
use std::sync::Arc;

pub(crate) async fn handle(
    context: &ConnectionContext,
    _header: &RequestHeader<'_>,
    request: ListGroupsRequest<'_>,
    _version: i16,
) -> ListGroupsResponse<'static> {
    let words =
        |filter: &[Cow<'_, str>]| filter.iter().map(|word| Arc::from(word.as_ref())).collect();
    let (states, types) = (words(&request.states_filter), words(&request.types_filter));
    let entry = |group: fanlog_coordinators::group::ListedGroup| ListedGroup {
        group_id: Cow::Owned(group.group.as_str().to_owned()),
        protocol_type: Cow::Owned(group.protocol_type.to_string()),
        group_state: Cow::Borrowed(group.state.name()),
        group_type: Cow::Borrowed(group.group_type),
    };
    match context.broker().groups().list(states, types).await {
        Ok(groups) => ListGroupsResponse {
            groups: groups.into_iter().map(entry).collect(),
            ..Default::default()
        },
        Err(error) => ListGroupsResponse {
            error_code: errors::of_coordinator(&error).code(),
            ..Default::default()
        },
    }
}
