//! The form in which both sides sign a request.
//!
//! Method, path, query, covered headers, their names and the body's hash, a line each. The path is encoded once more than
//! it came, as both services want; the query is sorted, encoded strictly, and without the signature itself.

use super::{Authentication, Place};
use crate::error::AwsError;
use crate::head::RequestHead;
use crate::percent;

/// The canonical form of a request.
pub(super) fn request(
    head: &RequestHead<'_>,
    found: &Authentication,
    payload_hash: &str,
) -> Result<String, AwsError> {
    let mut text = String::new();
    for line in [head.method, &path(head.path), &query(head.query, found)?] {
        text.push_str(line);
        text.push('\n');
    }
    headers(&mut text, head, found)?;
    text.push('\n');
    text.push_str(&found.signed_headers.join(";"));
    text.push('\n');
    text.push_str(payload_hash);
    Ok(text)
}

/// The path without `.`, `..` and doubled slashes, encoded.
fn path(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let ends_in_slash = path.ends_with('/') && !parts.is_empty();
    let joined = parts.join("/");
    let end = if ends_in_slash { "/" } else { "" };
    percent::encode(format!("/{joined}{end}").as_bytes(), true)
}

fn query(query: &str, found: &Authentication) -> Result<String, AwsError> {
    let is_presigned = matches!(found.place, Place::Query { .. });
    let mut pairs = Vec::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        if is_presigned && name == "X-Amz-Signature" {
            continue;
        }
        pairs.push((strict(name)?, strict(value)?));
    }
    pairs.sort();
    let pairs: Vec<String> = pairs
        .into_iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    Ok(pairs.join("&"))
}

/// Text of an address, encoded as strictly as it is signed, however it came.
fn strict(encoded: &str) -> Result<String, AwsError> {
    let text = percent::decode(encoded.as_bytes(), false);
    let text = text.ok_or_else(|| {
        AwsError::incomplete_signature("The query of the address is not percent-encoded UTF-8.")
    })?;
    Ok(percent::encode(text.as_bytes(), false))
}

/// Every covered header with its values, without spaces around and with single ones within.
fn headers(
    text: &mut String,
    head: &RequestHead<'_>,
    found: &Authentication,
) -> Result<(), AwsError> {
    for name in &found.signed_headers {
        let mut values = Vec::new();
        for (given, value) in head.headers {
            if given.eq_ignore_ascii_case(name) {
                let value = String::from_utf8_lossy(value);
                let words: Vec<&str> = value.split_whitespace().collect();
                values.push(words.join(" "));
            }
        }
        if values.is_empty() {
            return Err(AwsError::signature_does_not_match(format!(
                "The signature covers the header \"{}\", which the request does not have.",
                name.chars().take(100).collect::<String>()
            )));
        }
        text.push_str(name);
        text.push(':');
        text.push_str(&values.join(","));
        text.push('\n');
    }
    Ok(())
}
