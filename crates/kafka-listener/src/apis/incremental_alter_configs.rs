//! IncrementalAlterConfigs, versions 0-1: sets, deletes, appends to and subtracts from single settings (KIP-339).
//!
//! Behaviour: each resource changes as a whole or not at all, and is answered once that is durable; `validate_only`
//! decides and changes nothing. Append and subtract are for lists.
//! Versions: 1 flexible.
//! Not implemented: loggers and client metrics (INVALID_REQUEST).

use crate::config_entries;
use crate::context::ConnectionContext;
use crate::errors;
use fanlog_coordinators::catalog::{ChangeKind, ConfigChange, IncrementalAlteration};
use fanlog_protocol::messages::incremental_alter_configs_request::AlterConfigsResource;
use fanlog_protocol::messages::incremental_alter_configs_response::AlterConfigsResourceResponse;
use fanlog_protocol::messages::{
    IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse, RequestHeader,
};
use std::borrow::Cow;

pub(crate) async fn handle(
    context: &ConnectionContext,
    _header: &RequestHeader<'_>,
    request: IncrementalAlterConfigsRequest<'_>,
    _version: i16,
) -> IncrementalAlterConfigsResponse<'static> {
    let alterations = request.resources.iter().map(alteration).collect();
    let altered = context
        .broker()
        .incremental_alter_configs(alterations, request.validate_only)
        .await;
    let outcomes = errors::of_altered(altered, request.resources.len());
    let response =
        |(resource, (error_code, message)): (&AlterConfigsResource<'_>, (i16, Option<String>))| {
            AlterConfigsResourceResponse {
                error_code,
                error_message: message.map(Cow::Owned),
                resource_type: resource.resource_type,
                resource_name: Cow::Owned(resource.resource_name.to_string()),
            }
        };
    IncrementalAlterConfigsResponse {
        responses: request
            .resources
            .iter()
            .zip(outcomes)
            .map(response)
            .collect(),
        ..Default::default()
    }
}

fn alteration(resource: &AlterConfigsResource<'_>) -> IncrementalAlteration {
    let changes = resource.configs.iter().map(|config| ConfigChange {
        name: config.name.to_string(),
        kind: match config.config_operation {
            0 => ChangeKind::Set,
            1 => ChangeKind::Delete,
            2 => ChangeKind::Append,
            3 => ChangeKind::Subtract,
            other => ChangeKind::Unknown(other),
        },
        value: config.value.as_deref().map(str::to_owned),
    });
    IncrementalAlteration {
        resource: config_entries::resource(resource.resource_type, &resource.resource_name),
        changes: changes.collect(),
    }
}
