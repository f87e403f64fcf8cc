//! ListConfigResources, versions 0-1: the names of everything that has settings.
//!
//! Behaviour: topics, this broker and its loggers; groups that have settings of their own; client metrics have none here, so none is listed.
//! No type at all means every type; a type that nothing has is UNSUPPORTED_VERSION, and then nothing is listed.
//! Versions: 0 is about client metrics only (it was ListClientMetricsResources); 1 types.

use crate::config_entries;
use crate::context::ConnectionContext;
use fanlog_broker::TopicsView;
use fanlog_coordinators::catalog::ResourceKind;
use fanlog_protocol::ErrorCode;
use fanlog_protocol::messages::list_config_resources_response::ConfigResource;
use fanlog_protocol::messages::{
    ListConfigResourcesRequest, ListConfigResourcesResponse, RequestHeader,
};
use std::collections::BTreeSet;

pub(crate) async fn handle(
    context: &ConnectionContext,
    _header: &RequestHeader<'_>,
    request: ListConfigResourcesRequest,
    version: i16,
) -> ListConfigResourcesResponse<'static> {
    let types: BTreeSet<i8> = match version {
        0 => BTreeSet::from([config_entries::CLIENT_METRICS]),
        _ if request.resource_types.is_empty() => config_entries::TYPES.into(),
        _ => request.resource_types.into_iter().collect(),
    };
    let topics = context.broker().topics();
    let node_id = context.broker().node_id().0;
    let mut listed = Vec::new();
    for resource_type in types {
        let Some(names) = names(context, resource_type, &topics, node_id) else {
            return ListConfigResourcesResponse {
                error_code: ErrorCode::UnsupportedVersion.code(),
                ..Default::default()
            };
        };
        listed.extend(names.into_iter().map(|name| ConfigResource {
            resource_name: name.into(),
            resource_type,
        }));
    }
    ListConfigResourcesResponse {
        config_resources: listed,
        ..Default::default()
    }
}

/// What there is of a type; nothing if there is no such type.
fn names(
    context: &ConnectionContext,
    resource_type: i8,
    topics: &TopicsView,
    node_id: i32,
) -> Option<Vec<String>> {
    match config_entries::kind_of(resource_type) {
        ResourceKind::Topic => Some(topics.iter().map(|topic| topic.name.to_string()).collect()),
        ResourceKind::Broker | ResourceKind::BrokerLogger => Some(vec![node_id.to_string()]),
        ResourceKind::Group => {
            let catalog = context.broker().catalog_view();
            let groups = catalog.groups_with_settings();
            Some(groups.map(ToString::to_string).collect())
        }
        ResourceKind::ClientMetrics => Some(Vec::new()),
        ResourceKind::Unknown(_) => None,
    }
}
