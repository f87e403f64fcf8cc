//! CreateDelegationToken, versions 1-3: DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, as Kafka answers where nobody is authenticated.
//!
//! Versions: 2 flexible; 3 a token for somebody else.

use crate::access;
use crate::context::ConnectionContext;
use fanlog_protocol::messages::{
    CreateDelegationTokenRequest, CreateDelegationTokenResponse, RequestHeader,
};
use std::borrow::Cow;

const REQUESTER_SINCE: i16 = 3;

pub(crate) async fn handle(
    _context: &ConnectionContext,
    _header: &RequestHeader<'_>,
    request: CreateDelegationTokenRequest<'_>,
    version: i16,
) -> CreateDelegationTokenResponse<'static> {
    // Without an owner it would be the asker's own.
    let owner = |named: Option<&str>, own: &'static str| match named {
        None | Some("") => Cow::Borrowed(own),
        Some(named) => Cow::Owned(named.to_owned()),
    };
    let of_type = request.owner_principal_type.as_deref();
    let of_name = request.owner_principal_name.as_deref();
    let requester = |own: &'static str| match version >= REQUESTER_SINCE {
        true => Cow::Borrowed(own),
        false => Cow::Borrowed(""),
    };
    CreateDelegationTokenResponse {
        error_code: access::NO_TOKENS.code(),
        principal_type: owner(of_type, access::PRINCIPAL_TYPE),
        principal_name: owner(of_name, access::PRINCIPAL_NAME),
        token_requester_principal_type: requester(access::PRINCIPAL_TYPE),
        token_requester_principal_name: requester(access::PRINCIPAL_NAME),
        issue_timestamp_ms: access::NO_TIME,
        expiry_timestamp_ms: access::NO_TIME,
        max_timestamp_ms: access::NO_TIME,
        ..Default::default()
    }
}
