//! AlterUserScramCredentials, version 0: refused. No password is kept, as nothing here would ever ask for it.
//!
//! Behaviour: what Kafka refuses is refused with its code. A credential that it would take is SECURITY_DISABLED. A deletion is of something
//! that isn't there: RESOURCE_NOT_FOUND. One result for each user, of the first thing that is wrong.
//! Not implemented: storing credentials, until connections are authenticated.

use crate::context::ConnectionContext;
use fanlog_protocol::ErrorCode;
use fanlog_protocol::messages::alter_user_scram_credentials_response::AlterUserScramCredentialsResult;
use fanlog_protocol::messages::{
    AlterUserScramCredentialsRequest, AlterUserScramCredentialsResponse, RequestHeader,
};
use std::borrow::Cow;
use std::collections::HashSet;

/// SCRAM-SHA-256 and SCRAM-SHA-512.
const MECHANISMS: std::ops::RangeInclusive<i8> = 1..=2;
/// How often a password may be hashed.
const ITERATIONS: std::ops::RangeInclusive<i32> = 4096..=16384;

type Refused = (ErrorCode, &'static str);

pub(crate) async fn handle(
    _context: &ConnectionContext,
    _header: &RequestHeader<'_>,
    request: AlterUserScramCredentialsRequest<'_>,
    _version: i16,
) -> AlterUserScramCredentialsResponse<'static> {
    let deletions = request.deletions.iter().map(|deletion| {
        let refused = check_name_and_mechanism(&deletion.name, deletion.mechanism);
        let not_there = (
            ErrorCode::ResourceNotFound,
            "the user has no such credential to delete",
        );
        (deletion.name.as_ref(), refused.err().unwrap_or(not_there))
    });
    let mut seen = HashSet::new();
    let upsertions = request.upsertions.iter().map(|upsertion| {
        let name = upsertion.name.as_ref();
        let is_first = seen.insert((name, upsertion.mechanism));
        let refused = check_upsertion(name, upsertion.mechanism, upsertion.iterations, is_first);
        (name, refused)
    });
    let mut answered = HashSet::new();
    let results = deletions
        .chain(upsertions)
        .filter(|(user, _)| answered.insert(*user))
        .map(|(user, (error, message))| AlterUserScramCredentialsResult {
            user: Cow::Owned(user.to_owned()),
            error_code: error.code(),
            error_message: Some(Cow::Borrowed(message)),
        });
    AlterUserScramCredentialsResponse {
        results: results.collect(),
        ..Default::default()
    }
}

fn check_name_and_mechanism(name: &str, mechanism: i8) -> Result<(), Refused> {
    if name.is_empty() {
        let message = "the user's name is empty; give one";
        return Err((ErrorCode::UnacceptableCredential, message));
    }
    if !MECHANISMS.contains(&mechanism) {
        let message = "there is no such mechanism; use SCRAM-SHA-256 (1) or SCRAM-SHA-512 (2)";
        return Err((ErrorCode::UnsupportedSaslMechanism, message));
    }
    Ok(())
}

/// Every one is refused; this is why.
fn check_upsertion(name: &str, mechanism: i8, iterations: i32, is_first: bool) -> Refused {
    if let Err(refused) = check_name_and_mechanism(name, mechanism) {
        return refused;
    }
    if !ITERATIONS.contains(&iterations) {
        let message = "the number of iterations must be 4096 to 16384";
        return (ErrorCode::UnacceptableCredential, message);
    }
    if !is_first {
        let message = "the credential is named twice in one request";
        return (ErrorCode::DuplicateResource, message);
    }
    (
        ErrorCode::SecurityDisabled,
        "this broker does not authenticate connections, and keeps no SCRAM credentials",
    )
}
