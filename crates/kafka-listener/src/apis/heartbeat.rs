//! Heartbeat, versions 0-4: a member is alive, and learns whether its group is rebalancing.
//!
//! Versions: 3 static members; 4 flexible.

use crate::context::ConnectionContext;
use crate::errors;
use fanlog_coordinators::CallId;
use fanlog_coordinators::group::{Heartbeat, InstanceId, MemberId};
use fanlog_model::GroupId;
use fanlog_protocol::messages::{HeartbeatRequest, HeartbeatResponse, RequestHeader};

pub(crate) async fn handle(
    context: &ConnectionContext,
    _header: &RequestHeader<'_>,
    request: HeartbeatRequest<'_>,
    _version: i16,
) -> HeartbeatResponse {
    let heartbeat = Heartbeat {
        call: CallId(0),
        group: GroupId::from(request.group_id.as_ref()),
        member_id: MemberId::from(request.member_id.as_ref()),
        instance_id: request.group_instance_id.as_deref().map(InstanceId::from),
        generation: request.generation_id,
    };
    let outcome = context.broker().groups().heartbeat(heartbeat).await;
    HeartbeatResponse {
        error_code: outcome
            .err()
            .map_or(0, |failure| errors::of_group_failure(&failure).code()),
        ..Default::default()
    }
}
