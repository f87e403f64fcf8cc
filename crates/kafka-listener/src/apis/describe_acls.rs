//! DescribeAcls, versions 1-3: SECURITY_DISABLED, since nothing here asks an ACL.
//!
//! Versions: 1 kinds of patterns; 2 flexible; 3 users among the resources.

use crate::access;
use crate::context::ConnectionContext;
use fanlog_protocol::messages::{DescribeAclsRequest, DescribeAclsResponse, RequestHeader};

pub(crate) async fn handle(
    _context: &ConnectionContext,
    _header: &RequestHeader<'_>,
    _request: DescribeAclsRequest<'_>,
    _version: i16,
) -> DescribeAclsResponse<'static> {
    let (error_code, error_message) = access::no_authorizer();
    DescribeAclsResponse {
        error_code,
        error_message,
        ..Default::default()
    }
}
