//! CreateAcls, versions 1-3: SECURITY_DISABLED for each, since nothing here would ask it.
//!
//! Versions: 1 kinds of patterns; 2 flexible; 3 users among the resources.

use crate::access;
use crate::context::ConnectionContext;
use fanlog_protocol::messages::create_acls_response::AclCreationResult;
use fanlog_protocol::messages::{CreateAclsRequest, CreateAclsResponse, RequestHeader};

pub(crate) async fn handle(
    _context: &ConnectionContext,
    _header: &RequestHeader<'_>,
    request: CreateAclsRequest<'_>,
    _version: i16,
) -> CreateAclsResponse<'static> {
    let (error_code, error_message) = access::no_authorizer();
    let result = AclCreationResult {
        error_code,
        error_message,
    };
    CreateAclsResponse {
        results: vec![result; request.creations.len()],
        ..Default::default()
    }
}
