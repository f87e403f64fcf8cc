//! DescribeDelegationToken, versions 1-3: DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, as Kafka answers where nobody is authenticated.
//!
//! Versions: 2 flexible; 3 who asked for the token.

use crate::access;
use crate::context::ConnectionContext;
use fanlog_protocol::messages::{
    DescribeDelegationTokenRequest, DescribeDelegationTokenResponse, RequestHeader,
};

pub(crate) async fn handle(
    _context: &ConnectionContext,
    _header: &RequestHeader<'_>,
    _request: DescribeDelegationTokenRequest<'_>,
    _version: i16,
) -> DescribeDelegationTokenResponse<'static> {
    DescribeDelegationTokenResponse {
        error_code: access::NO_TOKENS.code(),
        ..Default::default()
    }
}
