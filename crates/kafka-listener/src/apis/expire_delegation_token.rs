//! ExpireDelegationToken, versions 1-2: DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, as Kafka answers where nobody is authenticated.
//!
//! Versions: 2 flexible.

use crate::access;
use crate::context::ConnectionContext;
use fanlog_protocol::messages::{
    ExpireDelegationTokenRequest, ExpireDelegationTokenResponse, RequestHeader,
};

pub(crate) async fn handle(
    _context: &ConnectionContext,
    _header: &RequestHeader<'_>,
    _request: ExpireDelegationTokenRequest<'_>,
    _version: i16,
) -> ExpireDelegationTokenResponse {
    ExpireDelegationTokenResponse {
        error_code: access::NO_TOKENS.code(),
        expiry_timestamp_ms: access::NO_TIME,
        ..Default::default()
    }
}
