//! Whatever bytes come: an answer, never a panic, and memory within bounds.

use fanlog_aws_protocol::limits::{FORM_FIELDS_MAX, JSON_VALUES_MAX, REQUEST_BYTES_MAX};
use fanlog_aws_protocol::{Parsed, Refused, RequestHead, parse, sigv4, wire_of};
use proptest::prelude::*;

const REQUESTS: &str = include_str!("data/botocore-requests.txt");

fn any_request(
    path: &str,
    query: &str,
    headers: &[(&str, Vec<u8>)],
    body: &[u8],
) -> Result<Parsed, Refused> {
    let headers: Vec<(&str, &[u8])> = headers
        .iter()
        .map(|(name, value)| (*name, value.as_slice()))
        .collect();
    let head = RequestHead {
        method: "POST",
        path,
        query,
        headers: &headers,
    };
    let parsed = parse(&head, body);
    let wire = wire_of(&head);
    let _ = sigv4::verify(&head, body, &|_| Some("secret".to_owned()), 0);
    if let Err(refused) = &parsed {
        let answer = refused.wire.failure(&refused.error, "id");
        assert!(answer.status >= 400 && std::str::from_utf8(&answer.body).is_ok());
        assert!(
            answer
                .headers
                .iter()
                .all(|(_, value)| !value.contains(['\r', '\n']))
        );
        let _ = wire.failure(&refused.error, "id");
    }
    parsed
}

/// A request of botocore's: its target header, if it is JSON, and its body.
fn good() -> impl Strategy<Value = (Vec<(&'static str, Vec<u8>)>, Vec<u8>)> {
    let lines: Vec<&'static str> = REQUESTS.lines().collect();
    prop::sample::select(lines).prop_map(|line| {
        let mut parts = line.splitn(3, '\t');
        let mut next = || parts.next().expect("three parts");
        let (protocol, action, body) = (next(), next(), next());
        let target = format!("AmazonSQS.{action}").into_bytes();
        let headers = if protocol == "sqs-json" {
            vec![("x-amz-target", target)]
        } else {
            vec![]
        };
        (headers, body.as_bytes().to_vec())
    })
}

proptest! {
    #[test]
    fn random_bytes_never_panic(
        path in "/.{0,40}",
        query in ".{0,200}",
        target in prop::option::of("AmazonSQS\\.[A-Z][a-zA-Z]{0,20}|.{0,20}"),
        authorization in prop::option::of("AWS4-HMAC-SHA256 Credential=.{0,60}, SignedHeaders=.{0,20}, Signature=[0-9a-f]{60,68}|.{0,80}"),
        body in prop::collection::vec(any::<u8>(), 0..600),
    ) {
        let mut headers = vec![("x-amz-date", b"20261130T212508Z".to_vec())];
        headers.extend(target.map(|value| ("x-amz-target", value.into_bytes())));
        headers.extend(authorization.map(|value| ("authorization", value.into_bytes())));
        let _ = any_request(&path, &query, &headers, &body);
    }

    #[test]
    fn good_requests_with_changed_bytes_never_panic(
        (headers, mut body) in good(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        for (at, byte) in changes {
            let at = at.index(body.len());
            body[at] = byte;
        }
        if let Some(cut) = cut {
            body.truncate(cut.index(body.len()));
        }
        let _ = any_request("/", "", &headers, &body);
    }

    #[test]
    fn good_requests_are_good((headers, body) in good()) {
        prop_assert!(any_request("/", "", &headers, &body).is_ok());
    }
}

fn refused(body: &[u8], headers: &[(&str, Vec<u8>)]) -> &'static str {
    any_request("/", "", headers, body)
        .expect_err("refused")
        .error
        .query_code
}

#[test]
fn what_is_too_much_is_refused() {
    let target = [("x-amz-target", b"AmazonSQS.SendMessage".to_vec())];
    assert_eq!(
        refused(&vec![b' '; REQUEST_BYTES_MAX + 1], &target),
        "RequestEntityTooLarge"
    );
    assert_eq!(
        refused(&vec![b'a'; REQUEST_BYTES_MAX + 1], &[]),
        "RequestEntityTooLarge"
    );
    let deep = format!("{{\"QueueUrl\":{}", "[".repeat(1_000_000));
    assert_eq!(refused(deep.as_bytes(), &target), "MalformedInput");
    let wide = format!("{{\"a\":[{}1]}}", "1,".repeat(JSON_VALUES_MAX));
    assert_eq!(refused(wide.as_bytes(), &target), "MalformedInput");
    let fields: String = (0..=FORM_FIELDS_MAX).map(|n| format!("a{n}=&")).collect();
    assert_eq!(refused(fields.as_bytes(), &[]), "MalformedQueryString");
    let list: String = (0..2000).map(|n| format!("&TagKey.{n}=k")).collect();
    let list = format!("Action=UntagQueue&QueueUrl=q{list}");
    assert_eq!(refused(list.as_bytes(), &[]), "InvalidParameterValue");
}
