//! Requests of SQS and SNS.

use fanlog_aws_protocol::{RequestHead, parse, sigv4, wire_of};

use crate::parts;

/// The parts: path, query, target, authorization, content hash, body; an empty header is not there.
pub(crate) fn request(bytes: &[u8]) {
    let mut parts = parts(bytes);
    let mut next = || parts.next().unwrap_or_default();
    let (path, query) = (
        String::from_utf8_lossy(next()),
        String::from_utf8_lossy(next()),
    );
    let names = ["x-amz-target", "authorization", "x-amz-content-sha256"];
    let mut headers: Vec<(&str, &[u8])> = vec![("host", b"h"), ("x-amz-date", b"20261130T212508Z")];
    headers.extend(
        names
            .map(|name| (name, next()))
            .into_iter()
            .filter(|(_, value)| !value.is_empty()),
    );
    let head = RequestHead {
        method: "POST",
        path: &path,
        query: &query,
        headers: &headers,
    };
    let body = next();
    let secret_of = |key: &str| (key.len() < 20).then(|| "secret".to_owned());
    // The time of the header above.
    let verified = sigv4::verify(&head, body, &secret_of, 1_796_073_908);
    match parse(&head, body) {
        Ok(parsed) => assert!(!parsed.call.action().is_empty()),
        Err(refused) => {
            let answer = refused.wire.failure(&refused.error, "id");
            assert!(answer.status >= 400, "{refused:?}");
            let text = std::str::from_utf8(&answer.body).expect("an answer is text");
            let is_legal = |c: char| matches!(c, '\t' | '\n' | '\r' | ' '..);
            assert!(text.chars().all(is_legal), "{refused:?}");
        }
    }
    if let Err(error) = verified {
        assert!(wire_of(&head).failure(&error, "id").status >= 400);
    }
}
