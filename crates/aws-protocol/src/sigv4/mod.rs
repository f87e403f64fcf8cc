//! Signature Version 4: who sent a request, and whether it is true.
//!
//! Why it exists: SDKs always sign. Without credentials configured a signature is read (its scope tells the service) and not
//! judged; with them nothing passes unsigned.
//! In -> out: head, body, secrets and the time -> the access key, or the error that the service has.
//! Never: the clock; the time is an argument. Chunked uploads (`STREAMING-...`) are refused: no action has one.
//! Read next: `canonical.rs`.

mod authentication;
mod canonical;
mod date;

pub use authentication::{Authentication, Place, Scope, authentication};
pub use date::seconds_of;

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

use crate::digest::hexadecimal;
use crate::error::AwsError;
use crate::head::RequestHead;
use crate::limits::{CLOCK_SKEW_SECONDS_MAX, PRESIGNED_SECONDS_MAX};

/// The name of the algorithm, as it stands in headers and in what is signed.
const ALGORITHM: &str = "AWS4-HMAC-SHA256";

/// What stands at the end of a scope.
const TERMINATION: &str = "aws4_request";

/// Checks a request's signature and gives the access key that made it.
///
/// `secret_of` knows the secret of an access key; `now_seconds` counts from 1970.
pub fn verify(
    head: &RequestHead<'_>,
    body: &[u8],
    secret_of: &dyn Fn(&str) -> Option<String>,
    now_seconds: i64,
) -> Result<String, AwsError> {
    let found = authentication(head)?.ok_or_else(AwsError::missing_authentication_token)?;
    let secret = secret_of(&found.access_key_id);
    let secret = secret.ok_or_else(AwsError::invalid_client_token_id)?;
    check_time(&found, now_seconds)?;
    check_covered(head, &found)?;
    let payload = payload_hash(head, body, &found)?;
    let request = canonical::request(head, &found, &payload)?;
    let to_sign = format!(
        "{ALGORITHM}\n{}\n{}\n{}",
        found.date,
        found.scope,
        hexadecimal(&Sha256::digest(request.as_bytes()))
    );
    let mut mac = mac(&signing_key(&secret, &found.scope));
    mac.update(to_sign.as_bytes());
    // Compared in a time that does not tell how much of it is right.
    mac.verify_slice(&found.signature).map_err(|_| {
        AwsError::signature_does_not_match(
            "The signature is not the one that this request and the secret key of its access key id make.",
        )
    })?;
    Ok(found.access_key_id)
}

fn mac(key: &[u8]) -> Hmac<Sha256> {
    Hmac::<Sha256>::new_from_slice(key).expect("a key of any length will do")
}

fn keyed(key: &[u8], text: &str) -> Vec<u8> {
    let mut mac = mac(key);
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

fn signing_key(secret: &str, scope: &Scope) -> Vec<u8> {
    let of_date = keyed(format!("AWS4{secret}").as_bytes(), &scope.date);
    let of_region = keyed(&of_date, &scope.region);
    let of_service = keyed(&of_region, &scope.service);
    keyed(&of_service, TERMINATION)
}

fn check_time(found: &Authentication, now_seconds: i64) -> Result<(), AwsError> {
    let signed_at = seconds_of(&found.date).ok_or_else(|| {
        AwsError::incomplete_signature("The date must have the form 20260131T235959Z.")
    })?;
    if !found.date.starts_with(&found.scope.date) {
        return Err(AwsError::signature_does_not_match(
            "The date of the credential's scope is another than that of the request.",
        ));
    }
    let age = now_seconds.saturating_sub(signed_at);
    let age_max = match found.place {
        Place::Header => CLOCK_SKEW_SECONDS_MAX,
        Place::Query { expires_seconds } => expires_seconds,
    };
    if age > age_max || age < -CLOCK_SKEW_SECONDS_MAX {
        return Err(AwsError::request_expired(format!(
            "The request was signed at {} and is valid for {age_max} seconds; that is {age} seconds ago by this broker's clock.",
            found.date
        )));
    }
    Ok(())
}

/// The signature covers whom the request is for and which action it asks for: else it could be sent again as another request.
fn check_covered(head: &RequestHead<'_>, found: &Authentication) -> Result<(), AwsError> {
    for name in ["host", "x-amz-target"] {
        let must_be_covered = name == "host" || head.header(name).is_some();
        if must_be_covered && !found.signed_headers.iter().any(|given| given == name) {
            return Err(AwsError::signature_does_not_match(format!(
                "The signature must cover the header \"{name}\"."
            )));
        }
    }
    Ok(())
}

/// The hash that stands for the body in what is signed.
fn payload_hash(
    head: &RequestHead<'_>,
    body: &[u8],
    found: &Authentication,
) -> Result<String, AwsError> {
    const UNSIGNED: &str = "UNSIGNED-PAYLOAD";
    let actual = hexadecimal(&Sha256::digest(body));
    match head.header("x-amz-content-sha256") {
        None => Ok(actual),
        Some(UNSIGNED) => Ok(UNSIGNED.to_owned()),
        Some(given) if given.starts_with("STREAMING-") => Err(AwsError::signature_does_not_match(
            "A body in signed chunks is not accepted; sign it whole, or leave it unsigned.",
        )),
        Some(given) if given == actual => Ok(actual),
        Some(_) if matches!(found.place, Place::Query { .. }) => Ok(actual),
        Some(_) => Err(AwsError::signature_does_not_match(
            "The body is not the one that X-Amz-Content-Sha256 is the hash of.",
        )),
    }
}

/// How long a presigned address may be valid.
fn check_expires(seconds: i64) -> Result<i64, AwsError> {
    if (1..=PRESIGNED_SECONDS_MAX).contains(&seconds) {
        return Ok(seconds);
    }
    Err(AwsError::incomplete_signature(format!(
        "X-Amz-Expires must be between 1 and {PRESIGNED_SECONDS_MAX}."
    )))
}

#[cfg(test)]
mod tests;
