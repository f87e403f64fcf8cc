//! DeleteGroups, versions 0-3: forgets groups without members, their offsets included.
//!
//! Versions: 2 flexible; 3 a message for each group.

use crate::context::ConnectionContext;
use crate::errors;
use fanlog_model::GroupId;
use fanlog_protocol::messages::delete_groups_response::DeletableGroupResult;
use fanlog_protocol::messages::{DeleteGroupsRequest, DeleteGroupsResponse, RequestHeader};
use std::borrow::Cow;

pub(crate) async fn handle(
    context: &ConnectionContext,
    _header: &RequestHeader<'_>,
    request: DeleteGroupsRequest<'_>,
    _version: i16,
) -> DeleteGroupsResponse<'static> {
    let mut results = Vec::with_capacity(request.groups_names.len());
    for id in &request.groups_names {
        let failure = context
            .broker()
            .groups()
            .delete_group(GroupId::from(id.as_ref()))
            .await
            .err();
        results.push(DeletableGroupResult {
            group_id: Cow::Owned(id.to_string()),
            error_code: failure
                .as_ref()
                .map_or(0, |f| errors::of_group_failure(f).code()),
            error_message: failure.map(|f| Cow::Owned(f.to_string())),
        });
    }
    DeleteGroupsResponse {
        results,
        ..Default::default()
    }
}
