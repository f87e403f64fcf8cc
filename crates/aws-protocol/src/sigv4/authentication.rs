//! What a request says about its signature: in the `Authorization` header, or in the address of a presigned request.

use std::fmt;

use super::{ALGORITHM, TERMINATION, check_expires};
use crate::error::AwsError;
use crate::head::RequestHead;
use crate::limits::{AUTHORIZATION_BYTES_MAX, QUERY_BYTES_MAX, SIGNED_HEADERS_MAX};
use crate::percent;

/// How many bytes a signature has.
const SIGNATURE_BYTES: usize = 32;

/// The signature of a request, and what it covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authentication {
    /// Who says to have signed.
    pub access_key_id: String,
    /// What the key is good for.
    pub scope: Scope,
    /// When it was signed, as `20260131T235959Z`.
    pub date: String,
    /// Which headers it covers, in small letters.
    pub signed_headers: Vec<String>,
    /// The signature.
    pub signature: Vec<u8>,
    /// Where all this stood.
    pub place: Place,
}

/// What a signing key is good for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope {
    /// A day, as `20260131`.
    pub date: String,
    /// As `us-east-1`.
    pub region: String,
    /// `sqs` or `sns`.
    pub service: String,
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}/{}/{}/{TERMINATION}",
            self.date, self.region, self.service
        )
    }
}

/// Where a signature stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In the `Authorization` header.
    Header,
    /// In the address.
    Query {
        /// How long the address is valid.
        expires_seconds: i64,
    },
}

/// Reads what a request says about its signature; nothing if it is not signed.
pub fn authentication(head: &RequestHead<'_>) -> Result<Option<Authentication>, AwsError> {
    if let Some(header) = head.header("authorization") {
        return of_header(head, header).map(Some);
    }
    // A signature in the body's form is not read: no SDK writes one.
    if head.query.contains("X-Amz-Algorithm=") {
        return of_query(head).map(Some);
    }
    Ok(None)
}

fn incomplete(what: &str) -> AwsError {
    AwsError::incomplete_signature(format!(
        "The signature lacks {what}, or has it in a wrong form."
    ))
}

fn of_header(head: &RequestHead<'_>, header: &str) -> Result<Authentication, AwsError> {
    if header.len() > AUTHORIZATION_BYTES_MAX {
        return Err(incomplete("a header of a sensible length"));
    }
    let rest = header.strip_prefix(ALGORITHM);
    let rest = rest.ok_or_else(|| incomplete(&format!("the algorithm {ALGORITHM}")))?;
    let part = |name: &str| {
        let parts = rest
            .split(',')
            .filter_map(|part| part.trim().split_once('='));
        let mut named = parts.filter(|(given, _)| *given == name);
        named.next().map(|(_, value)| value)
    };
    let date = head.header("x-amz-date");
    let date = date.ok_or_else(|| incomplete("the header X-Amz-Date"))?;
    assembled(
        part("Credential"),
        part("SignedHeaders"),
        part("Signature"),
        date.to_owned(),
        Place::Header,
    )
}

fn of_query(head: &RequestHead<'_>) -> Result<Authentication, AwsError> {
    if head.query.len() > QUERY_BYTES_MAX {
        return Err(incomplete("an address of a sensible length"));
    }
    let part = |name: &str| {
        let parts = head
            .query
            .split('&')
            .filter_map(|part| part.split_once('='));
        let mut named = parts.filter(|(given, _)| *given == name);
        named
            .next()
            .and_then(|(_, value)| percent::decode(value.as_bytes(), false))
    };
    if part("X-Amz-Algorithm").as_deref() != Some(ALGORITHM) {
        return Err(incomplete(&format!("the algorithm {ALGORITHM}")));
    }
    let expires = part("X-Amz-Expires").and_then(|seconds| seconds.parse().ok());
    let expires = expires.ok_or_else(|| incomplete("X-Amz-Expires"))?;
    assembled(
        part("X-Amz-Credential").as_deref(),
        part("X-Amz-SignedHeaders").as_deref(),
        part("X-Amz-Signature").as_deref(),
        part("X-Amz-Date").ok_or_else(|| incomplete("X-Amz-Date"))?,
        Place::Query {
            expires_seconds: check_expires(expires)?,
        },
    )
}

fn assembled(
    credential: Option<&str>,
    signed_headers: Option<&str>,
    signature: Option<&str>,
    date: String,
    place: Place,
) -> Result<Authentication, AwsError> {
    let (access_key_id, scope) = credential
        .and_then(credential_of)
        .ok_or_else(|| incomplete("Credential"))?;
    let signed_headers: Vec<String> = signed_headers
        .ok_or_else(|| incomplete("SignedHeaders"))?
        .split(';')
        .map(str::to_owned)
        .collect();
    if signed_headers.len() > SIGNED_HEADERS_MAX {
        return Err(incomplete("a sensible number of SignedHeaders"));
    }
    let signature = signature.and_then(bytes_of);
    Ok(Authentication {
        access_key_id,
        scope,
        date,
        signed_headers,
        signature: signature.ok_or_else(|| incomplete("Signature"))?,
        place,
    })
}

/// Reads `key/20260131/us-east-1/sqs/aws4_request`; the key may have slashes.
fn credential_of(text: &str) -> Option<(String, Scope)> {
    let mut parts = text.rsplitn(5, '/');
    let mut next = || parts.next().filter(|part| !part.is_empty());
    let (termination, service, region) = (next()?, next()?, next()?);
    let (date, access_key_id) = (next()?, next()?);
    let is_day = date.len() == 8 && date.bytes().all(|byte| byte.is_ascii_digit());
    (termination == TERMINATION && is_day).then(|| {
        let scope = Scope {
            date: date.to_owned(),
            region: region.to_owned(),
            service: service.to_owned(),
        };
        (access_key_id.to_owned(), scope)
    })
}

/// The bytes of a signature in hexadecimal digits.
fn bytes_of(digits: &str) -> Option<Vec<u8>> {
    if digits.len() != 2 * SIGNATURE_BYTES || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let pairs = (0..SIGNATURE_BYTES).map(|at| digits.get(2 * at..2 * at + 2));
    pairs
        .map(|pair| u8::from_str_radix(pair?, 16).ok())
        .collect()
}
