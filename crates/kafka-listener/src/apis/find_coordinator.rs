//! FindCoordinator, versions 0-6: which broker coordinates a group or a transactional id. Here: this one.
//!
//! Versions: 1 kinds of keys, error messages; 3 flexible; 4 several keys; 6 share groups.
//! Not implemented: share groups: INVALID_REQUEST.

use crate::context::ConnectionContext;
use fanlog_protocol::ErrorCode;
use fanlog_protocol::messages::find_coordinator_response::Coordinator;
use fanlog_protocol::messages::{FindCoordinatorRequest, FindCoordinatorResponse, RequestHeader};
use std::borrow::Cow;

const SEVERAL_KEYS_SINCE: i16 = 4;
const KEY_GROUP: i8 = 0;
const KEY_TRANSACTION: i8 = 1;

pub(crate) async fn handle(
    context: &ConnectionContext,
    _header: &RequestHeader<'_>,
    request: FindCoordinatorRequest<'_>,
    version: i16,
) -> FindCoordinatorResponse<'static> {
    let answer = |key: &str| coordinator(context, request.key_type, key);
    if version >= SEVERAL_KEYS_SINCE {
        let coordinators = request
            .coordinator_keys
            .iter()
            .map(|key| answer(key))
            .collect();
        return FindCoordinatorResponse {
            coordinators,
            ..Default::default()
        };
    }
    let only = answer(&request.key);
    FindCoordinatorResponse {
        error_code: only.error_code,
        error_message: only.error_message,
        node_id: only.node_id,
        host: only.host,
        port: only.port,
        ..Default::default()
    }
}

fn coordinator(context: &ConnectionContext, key_type: i8, key: &str) -> Coordinator<'static> {
    let key = Cow::Owned(key.to_owned());
    let (error, refusal) = match key_type {
        KEY_GROUP | KEY_TRANSACTION => {
            let (host, port) = context.advertised();
            return Coordinator {
                key,
                node_id: context.broker().node_id().0,
                host: Cow::Owned(host),
                port: i32::from(port),
                ..Default::default()
            };
        }
        other => (
            ErrorCode::InvalidRequest,
            format!(
                "coordinators of key type {other} are not served; only groups (0) and transactions (1) are"
            ),
        ),
    };
    Coordinator {
        key,
        node_id: -1,
        port: -1,
        error_code: error.code(),
        error_message: Some(Cow::Owned(refusal)),
        ..Default::default()
    }
}
