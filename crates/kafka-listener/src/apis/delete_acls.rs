//! DeleteAcls, versions 1-3: SECURITY_DISABLED for each filter, since there are no ACLs.
//!
//! Versions: 1 kinds of patterns; 2 flexible; 3 users among the resources.

use crate::access;
use crate::context::ConnectionContext;
use fanlog_protocol::messages::delete_acls_response::DeleteAclsFilterResult;
use fanlog_protocol::messages::{DeleteAclsRequest, DeleteAclsResponse, RequestHeader};

pub(crate) async fn handle(
    _context: &ConnectionContext,
    _header: &RequestHeader<'_>,
    request: DeleteAclsRequest<'_>,
    _version: i16,
) -> DeleteAclsResponse<'static> {
    let (error_code, error_message) = access::no_authorizer();
    let result = DeleteAclsFilterResult {
        error_code,
        error_message,
        ..Default::default()
    };
    DeleteAclsResponse {
        filter_results: vec![result; request.filters.len()],
        ..Default::default()
    }
}
