//! DescribeConfigs, versions 1-4: every setting of a topic or a broker, with its value and where that comes from.
//!
//! Behaviour: all settings where no names are given (null or empty). A broker is this one by its number, or, with the
//! empty name, what was set for all brokers while running. Secrets have no value. Loggers and client metrics
//! have no settings here, which an empty list says. A group need not exist.
//! Versions: 1 sources and synonyms; 3 types and documentation; 4 flexible.

use crate::config_entries;
use crate::context::ConnectionContext;
use crate::errors;
use fanlog_coordinators::catalog::ResourceKind;
use fanlog_model::settings::{Described, Synonym};
use fanlog_model::{GroupId, TopicName};
use fanlog_protocol::ErrorCode;
use fanlog_protocol::messages::describe_configs_request::DescribeConfigsResource;
use fanlog_protocol::messages::describe_configs_response::{
    DescribeConfigsResourceResult, DescribeConfigsResult, DescribeConfigsSynonym,
};
use fanlog_protocol::messages::{DescribeConfigsRequest, DescribeConfigsResponse, RequestHeader};
use std::borrow::Cow;

type Refused = (ErrorCode, String);

pub(crate) async fn handle(
    context: &ConnectionContext,
    _header: &RequestHeader<'_>,
    request: DescribeConfigsRequest<'_>,
    _version: i16,
) -> DescribeConfigsResponse<'static> {
    let entry = |described: Described| entry(described, &request);
    let result = |resource: &DescribeConfigsResource<'_>| {
        let (refused, settings) = match describe(context, resource) {
            Ok(settings) => (None, settings),
            Err(refused) => (Some(refused), Vec::new()),
        };
        DescribeConfigsResult {
            error_code: refused.as_ref().map_or(0, |(code, _)| code.code()),
            error_message: refused.map(|(_, message)| Cow::Owned(message)),
            resource_type: resource.resource_type,
            resource_name: Cow::Owned(resource.resource_name.to_string()),
            configs: settings.into_iter().map(entry).collect(),
        }
    };
    DescribeConfigsResponse {
        results: request.resources.iter().map(result).collect(),
        ..Default::default()
    }
}

fn describe(
    context: &ConnectionContext,
    resource: &DescribeConfigsResource<'_>,
) -> Result<Vec<Described>, Refused> {
    let names: Option<Vec<&str>> = resource
        .configuration_keys
        .as_ref()
        .filter(|keys| !keys.is_empty())
        .map(|keys| keys.iter().map(AsRef::as_ref).collect());
    let wanted = names.as_deref();
    let (broker, name) = (context.broker(), resource.resource_name.as_ref());
    match config_entries::kind_of(resource.resource_type) {
        ResourceKind::Topic => {
            let topic = TopicName::new(name)
                .map_err(|error| (ErrorCode::InvalidTopicException, error.to_string()))?;
            broker
                .describe_topic_configs(&topic, wanted)
                .map_err(|error| (errors::of_lookup(&error), error.to_string()))
        }
        ResourceKind::Broker if name.is_empty() => {
            Ok(broker.describe_broker_default_configs(wanted))
        }
        ResourceKind::Broker => {
            check_is_this_broker(context, name)?;
            Ok(broker.describe_broker_configs(wanted))
        }
        ResourceKind::BrokerLogger => {
            check_is_this_broker(context, name)?;
            Ok(Vec::new())
        }
        ResourceKind::ClientMetrics | ResourceKind::Group if name.is_empty() => {
            let message = "the resource's name is empty; give one";
            Err((ErrorCode::InvalidRequest, message.to_owned()))
        }
        ResourceKind::Group => Ok(broker.describe_group_configs(&GroupId::from(name), wanted)),
        ResourceKind::ClientMetrics => Ok(Vec::new()),
        ResourceKind::Unknown(number) => {
            let message = format!("there are no resources of type {number}");
            Err((ErrorCode::InvalidRequest, message))
        }
    }
}

fn check_is_this_broker(context: &ConnectionContext, name: &str) -> Result<(), Refused> {
    let node_id = context.broker().node_id().0;
    if name.parse() == Ok(node_id) {
        return Ok(());
    }
    Err((
        ErrorCode::InvalidRequest,
        format!("there is no broker '{name}'; this is broker {node_id}"),
    ))
}

/// The codec leaves out what a version lacks.
fn entry(
    described: Described,
    request: &DescribeConfigsRequest<'_>,
) -> DescribeConfigsResourceResult<'static> {
    let setting = described.setting;
    let synonyms = if request.include_synonyms {
        described.synonyms.as_slice()
    } else {
        &[]
    };
    DescribeConfigsResourceResult {
        name: Cow::Borrowed(setting.name),
        read_only: config_entries::is_read_only(&described),
        config_source: described.source.code(),
        is_sensitive: setting.is_sensitive(),
        synonyms: synonyms.iter().map(synonym).collect(),
        config_type: setting.kind.code(),
        documentation: request
            .include_documentation
            .then_some(Cow::Borrowed(setting.doc)),
        value: described.value.map(Cow::Owned),
    }
}

fn synonym(synonym: &Synonym) -> DescribeConfigsSynonym<'static> {
    DescribeConfigsSynonym {
        name: Cow::Borrowed(synonym.name),
        value: synonym.value.clone().map(Cow::Owned),
        source: synonym.source.code(),
    }
}
