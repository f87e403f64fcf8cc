//! DescribeCluster, versions 0-2: the brokers of the cluster. Here: this one, which is its own controller.
//!
//! Versions: 1 kind of endpoint, of which brokers are the only one here; 2 fenced brokers, of which there are none.

use crate::authorized_operations as operations;
use crate::context::ConnectionContext;
use fanlog_protocol::ErrorCode;
use fanlog_protocol::messages::describe_cluster_response::DescribeClusterBroker;
use fanlog_protocol::messages::{DescribeClusterRequest, DescribeClusterResponse, RequestHeader};
use std::borrow::Cow;

const ENDPOINT_BROKERS: i8 = 1;
const ENDPOINT_CONTROLLERS: i8 = 2;

pub(crate) async fn handle(
    context: &ConnectionContext,
    _header: &RequestHeader<'_>,
    request: DescribeClusterRequest,
    _version: i16,
) -> DescribeClusterResponse<'static> {
    match request.endpoint_type {
        ENDPOINT_BROKERS => {}
        ENDPOINT_CONTROLLERS => {
            return refused(
                ErrorCode::MismatchedEndpointType,
                "this endpoint is a broker's, not a controller's".into(),
            );
        }
        other => {
            return refused(
                ErrorCode::UnsupportedEndpointType,
                format!("there are no endpoints of type {other}"),
            );
        }
    }
    let (host, port) = context.advertised();
    let node_id = context.broker().node_id().0;
    DescribeClusterResponse {
        cluster_id: Cow::Owned(context.broker().cluster_id().to_owned()),
        controller_id: node_id,
        brokers: vec![DescribeClusterBroker {
            broker_id: node_id,
            host: Cow::Owned(host),
            port: i32::from(port),
            ..Default::default()
        }],
        cluster_authorized_operations: operations::if_asked(
            request.include_cluster_authorized_operations,
            operations::CLUSTER,
        ),
        ..Default::default()
    }
}

fn refused(code: ErrorCode, message: String) -> DescribeClusterResponse<'static> {
    DescribeClusterResponse {
        error_code: code.code(),
        error_message: Some(Cow::Owned(message)),
        ..Default::default()
    }
}
