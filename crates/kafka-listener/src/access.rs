//! What every API about access says while nothing here is secured: ACLs, credentials, delegation tokens, quotas.
//!
//! Why it exists: whoever sets up access must never be told that it worked, and must be told why it didn't
//! (`docs/decisions/refused-administration.md`).

use fanlog_protocol::ErrorCode;
use std::borrow::Cow;

/// ACLs, as Kafka says it.
pub(crate) const NO_AUTHORIZER: &str = "No Authorizer is configured.";

/// Everything about ACLs.
pub(crate) fn no_authorizer() -> (i16, Option<Cow<'static, str>>) {
    let code = ErrorCode::SecurityDisabled.code();
    (code, Some(Cow::Borrowed(NO_AUTHORIZER)))
}

/// Whom a connection belongs to that nobody has authenticated.
pub(crate) const PRINCIPAL_TYPE: &str = "User";
/// As above.
pub(crate) const PRINCIPAL_NAME: &str = "ANONYMOUS";
/// What stands for a time that there is none of.
pub(crate) const NO_TIME: i64 = -1;

/// Delegation tokens are given to those who were authenticated, and nobody is: so says Kafka of a listener without authentication.
pub(crate) const NO_TOKENS: ErrorCode = ErrorCode::DelegationTokenRequestNotAllowed;
