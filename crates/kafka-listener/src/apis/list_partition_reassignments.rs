//! ListPartitionReassignments, version 0: none is under way, as there is one broker to be on.

use crate::context::ConnectionContext;
use fanlog_protocol::messages::{
    ListPartitionReassignmentsRequest, ListPartitionReassignmentsResponse, RequestHeader,
};

pub(crate) async fn handle(
    _context: &ConnectionContext,
    _header: &RequestHeader<'_>,
    _request: ListPartitionReassignmentsRequest<'_>,
    _version: i16,
) -> ListPartitionReassignmentsResponse<'static> {
    ListPartitionReassignmentsResponse {
        error_message: None,
        ..Default::default()
    }
}
