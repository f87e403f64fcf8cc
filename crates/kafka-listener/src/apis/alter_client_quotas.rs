//! AlterClientQuotas, versions 0-1: refused. No quota is kept, as nothing here would hold anybody to it.
//!
//! Behaviour: what Kafka refuses is INVALID_REQUEST. A quota that it would take is POLICY_VIOLATION, to validate as well as to set. To remove
//! one succeeds, as in Kafka: there is none.
//! Versions: 1 flexible.
//! Not implemented: quotas, until they are enforced (`docs/decisions/refused-administration.md`).

use crate::context::ConnectionContext;
use crate::quotas;
use fanlog_protocol::ErrorCode;
use fanlog_protocol::messages::alter_client_quotas_request::{EntryData, OpData};
use fanlog_protocol::messages::alter_client_quotas_response as response;
use fanlog_protocol::messages::{
    AlterClientQuotasRequest, AlterClientQuotasResponse, RequestHeader,
};
use std::borrow::Cow;

type Refused = (ErrorCode, String);

pub(crate) async fn handle(
    _context: &ConnectionContext,
    _header: &RequestHeader<'_>,
    request: AlterClientQuotasRequest<'_>,
    _version: i16,
) -> AlterClientQuotasResponse<'static> {
    AlterClientQuotasResponse {
        entries: request.entries.iter().map(answer).collect(),
        ..Default::default()
    }
}

fn answer(entry: &EntryData<'_>) -> response::EntryData<'static> {
    let (error, message) = match check(entry) {
        Ok(()) => (ErrorCode::None, None),
        Err((error, message)) => (error, Some(Cow::Owned(message))),
    };
    let part = |part: &fanlog_protocol::messages::alter_client_quotas_request::EntityData<'_>| {
        response::EntityData {
            entity_type: Cow::Owned(part.entity_type.to_string()),
            entity_name: part
                .entity_name
                .as_deref()
                .map(|name| name.to_owned().into()),
        }
    };
    response::EntryData {
        error_code: error.code(),
        error_message: message,
        entity: entry.entity.iter().map(part).collect(),
    }
}

fn check(entry: &EntryData<'_>) -> Result<(), Refused> {
    let kinds: Vec<&str> = entry
        .entity
        .iter()
        .map(|part| part.entity_type.as_ref())
        .collect();
    let keys =
        quotas::keys_of(&kinds).map_err(|error| (ErrorCode::InvalidRequest, error.to_string()))?;
    for op in &entry.ops {
        check_op(op, keys).map_err(|message| (ErrorCode::InvalidRequest, message))?;
    }
    match entry.ops.iter().all(|op| op.remove) {
        true => Ok(()),
        false => Err((
            ErrorCode::PolicyViolation,
            "this broker enforces no quotas, and therefore keeps none".to_owned(),
        )),
    }
}

fn check_op(op: &OpData<'_>, keys: &[&str]) -> Result<(), String> {
    if !keys.contains(&op.key.as_ref()) {
        return Err(format!(
            "the entity has no quota '{}'; it has {}",
            op.key,
            keys.join(", ")
        ));
    }
    if !op.remove && (op.value.is_nan() || op.value <= 0.0) {
        return Err(format!("{} must be above 0, not {}", op.key, op.value));
    }
    Ok(())
}
