//! Signatures that botocore 1.44.8 made of these requests, with its clock at 2026-11-30 21:25:08 UTC.

use super::verify;
use crate::head::RequestHead;

const KEY: &str = "AKIDEXAMPLE";
const SECRET: &str = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
const NOW: i64 = 1_796_073_908;

/// A request as botocore sends it.
#[derive(Clone)]
struct Signed {
    method: &'static str,
    path: &'static str,
    query: String,
    headers: Vec<(&'static str, String)>,
    body: &'static [u8],
}

impl Signed {
    fn verify_at(&self, now: i64) -> Result<String, &'static str> {
        let headers: Vec<(&str, &[u8])> = self
            .headers
            .iter()
            .map(|(name, value)| (*name, value.as_bytes()))
            .collect();
        let head = RequestHead {
            method: self.method,
            path: self.path,
            query: &self.query,
            headers: &headers,
        };
        let secret_of = |key: &str| (key == KEY).then(|| SECRET.to_owned());
        verify(&head, self.body, &secret_of, now).map_err(|error| error.query_code)
    }

    fn verify(&self) -> Result<String, &'static str> {
        self.verify_at(NOW)
    }

    fn with_header(&self, name: &'static str, value: &str) -> Signed {
        let mut changed = self.clone();
        changed.headers.retain(|(given, _)| *given != name);
        changed.headers.push((name, value.to_owned()));
        changed
    }
}

fn authorization(scope: &str, headers: &str, signature: &str) -> (&'static str, String) {
    let value = format!(
        "AWS4-HMAC-SHA256 Credential={KEY}/20261130/{scope}/aws4_request, SignedHeaders={headers}, Signature={signature}"
    );
    ("Authorization", value)
}

fn host() -> (&'static str, String) {
    ("host", "127.0.0.1:22300".to_owned())
}

fn date() -> (&'static str, String) {
    ("X-Amz-Date", "20261130T212508Z".to_owned())
}

fn json() -> Signed {
    Signed {
        method: "POST",
        path: "/",
        query: String::new(),
        headers: vec![
            host(),
            ("X-Amz-Target", "AmazonSQS.SendMessage".to_owned()),
            ("Content-Type", "application/x-amz-json-1.0".to_owned()),
            ("User-Agent", "x".to_owned()),
            date(),
            authorization(
                "us-east-1/sqs",
                "content-type;host;x-amz-date;x-amz-target",
                "36d73c9e4c375bfca550685b66b24cbe4a924e0b5d0bf3e0c35a5c2357685c1c",
            ),
        ],
        body:
            b"{\"QueueUrl\":\"http://127.0.0.1:22300/123456789012/q\",\"MessageBody\":\"\xc3\xa4\"}",
    }
}

fn presigned() -> Signed {
    Signed {
        method: "GET",
        path: "/",
        query: "Action=ListTopics&Version=2010-03-31&X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIDEXAMPLE%2F20261130%2Fus-east-1%2Fsns%2Faws4_request&X-Amz-Date=20261130T212508Z&X-Amz-Expires=600&X-Amz-SignedHeaders=host&X-Amz-Signature=c8f67369de983ed859958936e116ede4ff1040372eb7924b6d9db60df3b91ec7".to_owned(),
        headers: vec![host()],
        body: b"",
    }
}

#[test]
fn a_signed_json_request_is_its_signers() {
    assert_eq!(json().verify().as_deref(), Ok(KEY));
}

#[test]
fn a_path_is_encoded_twice_and_spaces_of_headers_are_few() {
    let signed = Signed {
        method: "POST",
        path: "/123456789012/a%20queue/",
        query: String::new(),
        headers: vec![
            (
                "Content-Type",
                "application/x-www-form-urlencoded; charset=utf-8".to_owned(),
            ),
            ("X-Odd", "  a   b  ".to_owned()),
            host(),
            date(),
            ("X-Amz-Security-Token", "token/1==".to_owned()),
            authorization(
                "eu-west-1/sqs",
                "content-type;host;x-amz-date;x-amz-security-token;x-odd",
                "b4f0953f45fdbfddc7550b422924adae8c5e8473166453d44bf399c89acf212d",
            ),
        ],
        body: b"Action=PurgeQueue&Version=2012-11-05",
    };
    assert_eq!(signed.verify().as_deref(), Ok(KEY));
}

#[test]
fn a_query_is_sorted_and_encoded_strictly() {
    let mut signed = Signed {
        method: "GET",
        path: "/",
        query: "Action=Publish&Version=2010-03-31&TopicArn=arn%3Aaws%3Asns%3Aus-east-1%3A1%3At&Message=a%20b%2Bc%C3%A4~&Empty=".to_owned(),
        headers: vec![
            host(),
            date(),
            authorization("us-east-1/sns", "host;x-amz-date", "8f8270154fb34394a25944b0fcd2a3dc9aeb26347eebbdaec78e4ab7b8c0482d"),
        ],
        body: b"",
    };
    assert_eq!(signed.verify().as_deref(), Ok(KEY));
    signed.query = signed
        .query
        .replace("%C3", "%c3")
        .replace("~&Empty=", "%7E&Empty");
    assert_eq!(
        signed.verify().as_deref(),
        Ok(KEY),
        "the same in other letters"
    );
    signed.query = signed.query.replace("a%20b", "a%20c");
    assert_eq!(signed.verify(), Err("SignatureDoesNotMatch"));
}

#[test]
fn a_body_may_be_left_unsigned_but_not_signed_in_chunks() {
    let signed = Signed {
        method: "POST",
        path: "/",
        query: String::new(),
        headers: vec![
            host(),
            date(),
            ("X-Amz-Content-SHA256", "UNSIGNED-PAYLOAD".to_owned()),
            authorization(
                "us-east-1/sqs",
                "host;x-amz-content-sha256;x-amz-date",
                "c086d61cb2ef92c3c63df40a279356aab0ace985678affdf2aea6332cb7c7517",
            ),
        ],
        body: b"Action=ListQueues",
    };
    assert_eq!(signed.verify().as_deref(), Ok(KEY));
    let chunks = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD";
    let chunked = signed.with_header("X-Amz-Content-SHA256", chunks);
    assert_eq!(chunked.verify(), Err("SignatureDoesNotMatch"));
}

#[test]
fn a_presigned_address_is_good_for_as_long_as_it_says() {
    assert_eq!(presigned().verify().as_deref(), Ok(KEY));
    assert_eq!(presigned().verify_at(NOW + 600).as_deref(), Ok(KEY));
    assert_eq!(presigned().verify_at(NOW + 601), Err("RequestExpired"));
    let mut longer = presigned();
    longer.query = longer.query.replace("Expires=600", "Expires=6000");
    assert_eq!(longer.verify(), Err("SignatureDoesNotMatch"));
    longer.query = longer.query.replace("Expires=6000", "Expires=9999999");
    assert_eq!(longer.verify(), Err("IncompleteSignature"));
}

#[test]
fn the_clock_may_be_a_quarter_of_an_hour_off() {
    for (off, wanted) in [
        (900, None),
        (-900, None),
        (901, Some("RequestExpired")),
        (-901, Some("RequestExpired")),
    ] {
        assert_eq!(json().verify_at(NOW + off).err(), wanted, "{off}");
    }
}

#[test]
fn whatever_is_changed_the_signature_no_longer_holds() {
    let mut body = json();
    body.body = b"{}";
    assert_eq!(body.verify(), Err("SignatureDoesNotMatch"));
    let mut method = json();
    method.method = "PUT";
    assert_eq!(method.verify(), Err("SignatureDoesNotMatch"));
    let target = json().with_header("X-Amz-Target", "AmazonSQS.DeleteQueue");
    assert_eq!(target.verify(), Err("SignatureDoesNotMatch"));
    let mut missing = json();
    missing.headers.retain(|(name, _)| *name != "X-Amz-Target");
    assert_eq!(missing.verify(), Err("SignatureDoesNotMatch"));
    let other_day = json().with_header("X-Amz-Date", "20261201T000508Z");
    assert_eq!(
        other_day.verify_at(NOW + 9600),
        Err("SignatureDoesNotMatch")
    );
}

#[test]
fn the_signature_covers_host_and_action() {
    let target = ("X-Amz-Target", "AmazonSQS.PurgeQueue".to_owned());
    let mut added = presigned();
    added.headers.push(target);
    assert_eq!(added.verify(), Err("SignatureDoesNotMatch"));
    let mut no_host = presigned();
    no_host.query = no_host.query.replace("Headers=host", "Headers=date");
    assert_eq!(no_host.verify(), Err("SignatureDoesNotMatch"));
}

#[test]
fn who_does_not_sign_or_is_not_known_is_told_so() {
    let mut unsigned = json();
    unsigned
        .headers
        .retain(|(name, _)| *name != "Authorization");
    assert_eq!(unsigned.verify(), Err("MissingAuthenticationToken"));
    let stranger = "AWS4-HMAC-SHA256 Credential=OTHER/20261130/us-east-1/sqs/aws4_request, SignedHeaders=host, Signature=36d73c9e4c375bfca550685b66b24cbe4a924e0b5d0bf3e0c35a5c2357685c1c";
    assert_eq!(
        json().with_header("Authorization", stranger).verify(),
        Err("InvalidClientTokenId")
    );
}

#[test]
fn a_signature_that_lacks_a_part_is_incomplete() {
    for broken in [
        "",
        "Basic dXNlcjpwYXNz",
        "AWS4-HMAC-SHA256",
        "AWS4-HMAC-SHA256 Credential=A/1/r/s/aws4_request, SignedHeaders=host, Signature=00",
        "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261130/us-east-1/sqs/aws4_request, SignedHeaders=host",
        "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261130/us-east-1/sqs/other, SignedHeaders=host, Signature=36d73c9e4c375bfca550685b66b24cbe4a924e0b5d0bf3e0c35a5c2357685c1c",
        "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261130/us-east-1/sqs/aws4_request, SignedHeaders=host, Signature=ä6d73c9e4c375bfca550685b66b24cbe4a924e0b5d0bf3e0c35a5c2357685c1",
    ] {
        let broken = json().with_header("Authorization", broken);
        assert_eq!(broken.verify(), Err("IncompleteSignature"));
    }
    let no_date = json().with_header("X-Amz-Date", "yesterday");
    assert_eq!(no_date.verify(), Err("IncompleteSignature"));
}
