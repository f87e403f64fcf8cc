//! SyncGroup, versions 0-5: the leader hands in the assignment, every member gets its own.
//!
//! Behaviour: waits for the leader's, then until the assignment is durable.
//! Versions: 3 static members; 4 flexible; 5 protocol type and name, which must be the group's.

use crate::context::ConnectionContext;
use crate::errors;
use bytes::Bytes;
use fanlog_coordinators::CallId;
use fanlog_coordinators::group::{InstanceId, MemberId, Sync};
use fanlog_model::GroupId;
use fanlog_protocol::ErrorCode;
use fanlog_protocol::messages::{RequestHeader, SyncGroupRequest, SyncGroupResponse};
use std::borrow::Cow;
use std::sync::Arc;

/// The member says in what protocol it takes part from this version on.
const PROTOCOL_IS_NAMED_SINCE: i16 = 5;

pub(crate) async fn handle(
    context: &ConnectionContext,
    _header: &RequestHeader<'_>,
    request: SyncGroupRequest<'_>,
    version: i16,
) -> SyncGroupResponse<'static> {
    let names_protocol = request.protocol_type.is_some() && request.protocol_name.is_some();
    if version >= PROTOCOL_IS_NAMED_SINCE && !names_protocol {
        return SyncGroupResponse {
            error_code: ErrorCode::InconsistentGroupProtocol.code(),
            ..Default::default()
        };
    }
    let assignments = request.assignments.iter();
    let sync = Sync {
        call: CallId(0),
        group: GroupId::from(request.group_id.as_ref()),
        member_id: MemberId::from(request.member_id.as_ref()),
        instance_id: request.group_instance_id.as_deref().map(InstanceId::from),
        generation: request.generation_id,
        protocol_type: request.protocol_type.as_deref().map(Arc::from),
        protocol: request.protocol_name.as_deref().map(Arc::from),
        assignments: assignments
            .map(|a| {
                (
                    MemberId::from(a.member_id.as_ref()),
                    Bytes::copy_from_slice(&a.assignment),
                )
            })
            .collect(),
    };
    match context.broker().groups().sync(sync).await {
        Ok(synced) => SyncGroupResponse {
            protocol_type: synced
                .protocol_type
                .map(|name| Cow::Owned(name.to_string())),
            protocol_name: synced.protocol.map(|name| Cow::Owned(name.to_string())),
            assignment: Cow::Owned(synced.assignment.into()),
            ..Default::default()
        },
        Err(failure) => SyncGroupResponse {
            error_code: errors::of_group_failure(&failure).code(),
            ..Default::default()
        },
    }
}
