//! AlterConfigs, versions 0-2: gives a resource exactly the settings named; the others go back to their defaults.
//!
//! Behaviour: each resource changes as a whole or not at all, and is answered once that is durable. Kafka deprecates
//! this API for IncrementalAlterConfigs; older clients still use it.
//! Versions: 2 flexible.
//! Not implemented: loggers and client metrics (INVALID_REQUEST).

use crate::config_entries;
use crate::context::ConnectionContext;
use crate::errors;
use fanlog_coordinators::catalog::Replacement;
use fanlog_protocol::messages::alter_configs_request::AlterConfigsResource;
use fanlog_protocol::messages::alter_configs_response::AlterConfigsResourceResponse;
use fanlog_protocol::messages::{AlterConfigsRequest, AlterConfigsResponse, RequestHeader};
use std::borrow::Cow;

pub(crate) async fn handle(
    context: &ConnectionContext,
    _header: &RequestHeader<'_>,
    request: AlterConfigsRequest<'_>,
    _version: i16,
) -> AlterConfigsResponse<'static> {
    let replacements = request.resources.iter().map(replacement).collect();
    let altered = context
        .broker()
        .alter_configs(replacements, request.validate_only)
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
    AlterConfigsResponse {
        responses: request
            .resources
            .iter()
            .zip(outcomes)
            .map(response)
            .collect(),
        ..Default::default()
    }
}

fn replacement(resource: &AlterConfigsResource<'_>) -> Replacement {
    let entries = resource.configs.iter().map(|config| {
        let value = config.value.as_deref().map(str::to_owned);
        (config.name.to_string(), value)
    });
    Replacement {
        resource: config_entries::resource(resource.resource_type, &resource.resource_name),
        entries: entries.collect(),
    }
}
