//! DescribeUserScramCredentials, version 0: nobody has a password here.
//!
//! Behaviour: none where all users are meant (null or no names); RESOURCE_NOT_FOUND for each user named, DUPLICATE_RESOURCE where a user is
//! named twice, one result for each user.

use crate::context::ConnectionContext;
use fanlog_protocol::ErrorCode;
use fanlog_protocol::messages::describe_user_scram_credentials_response::DescribeUserScramCredentialsResult;
use fanlog_protocol::messages::{
    DescribeUserScramCredentialsRequest, DescribeUserScramCredentialsResponse, RequestHeader,
};
use std::borrow::Cow;
use std::collections::HashMap;

pub(crate) async fn handle(
    _context: &ConnectionContext,
    _header: &RequestHeader<'_>,
    request: DescribeUserScramCredentialsRequest<'_>,
    _version: i16,
) -> DescribeUserScramCredentialsResponse<'static> {
    let named = request.users.unwrap_or_default();
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut results = Vec::new();
    for user in &named {
        let place = *places.entry(&user.name).or_insert(results.len());
        if place == results.len() {
            let message = format!("user '{}' has no SCRAM credential", user.name);
            results.push(result(&user.name, ErrorCode::ResourceNotFound, message));
        } else {
            let message = format!("user '{}' is named twice", user.name);
            results[place] = result(&user.name, ErrorCode::DuplicateResource, message);
        }
    }
    DescribeUserScramCredentialsResponse {
        error_message: None,
        results,
        ..Default::default()
    }
}

fn result(
    user: &str,
    error: ErrorCode,
    message: String,
) -> DescribeUserScramCredentialsResult<'static> {
    DescribeUserScramCredentialsResult {
        user: Cow::Owned(user.to_owned()),
        error_code: error.code(),
        error_message: Some(Cow::Owned(message)),
        ..Default::default()
    }
}
