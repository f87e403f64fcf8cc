//! SQS and SNS: POST and GET at `/`, and at the path of a queue's address.
//!
//! Their requests are read within the same bounds as those below /v1, come from the same places, and are answered in their own words. A
//! receive that waits ends when its client goes away or the broker stops: what it would have got is given back.

use crate::body::{self, SMALL_BYTES_MAX};
use crate::context::Context;
use crate::problem::Problem;
use axum::body::{Body, HttpBody};
use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use bytes::Bytes;
use fanlog_aws::Answer;
use fanlog_aws_protocol::limits::REQUEST_BYTES_MAX;
use fanlog_aws_protocol::{AwsError, RequestHead};
use fanlog_broker::FetchMemory;

/// Up to this length a request is served beside batches.
const SMALL_REQUEST_BYTES: u64 = 64 * 1024;

/// Whether a request is one for SQS or SNS: at `/`, unless it is somebody with a browser who looks what is there, or at a queue's address.
pub(crate) fn is_for_aws(request: &Request) -> bool {
    let (method, uri) = (request.method(), request.uri());
    let says_action =
        uri.query().is_some() || request.headers().contains_key(header::AUTHORIZATION);
    let is_asked = method == Method::POST || (method == Method::GET && says_action);
    is_asked && (uri.path() == "/" || is_queue_path(uri.path()))
}

/// `/{account of twelve digits}/{queue}`
fn is_queue_path(path: &str) -> bool {
    let parts = path.strip_prefix('/').and_then(|path| path.split_once('/'));
    parts.is_some_and(|(account, queue)| {
        let has_digits = account.len() == 12 && account.bytes().all(|byte| byte.is_ascii_digit());
        has_digits && !queue.is_empty() && !queue.contains('/')
    })
}

/// POST or GET of an action.
pub(crate) async fn answer(context: &Context, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let given = headers_of(&parts);
    let head = head_of(&parts, &given);
    if let Err(problem) = context.hosts.check(&parts) {
        return refused(context, &head, &problem);
    }
    // A batch holds memory until it is durable; what is small is served while batches wait.
    let length = body.size_hint().exact();
    let bytes_max = match length {
        Some(length) if length <= SMALL_REQUEST_BYTES => SMALL_BYTES_MAX,
        _ => REQUEST_BYTES_MAX,
    };
    let whole = match body::read(context, &parts.headers, body, bytes_max).await {
        Ok(whole) => whole,
        Err(problem) => return refused(context, &head, &problem),
    };
    let answering = context.aws.answer(&head, &whole.bytes);
    match context.until_stop(answering).await {
        Some(answer) => written(answer),
        None => {
            let error = AwsError::service_unavailable("The broker is stopping; try again.");
            written(context.aws.refuse(&head, &error))
        }
    }
}

/// The name of the file that may be the certificate by which endpoints of SNS check who sends to them.
pub(crate) fn certificate_file(request: &Request) -> Option<String> {
    let file = request.uri().path().strip_prefix('/')?;
    (request.method() == Method::GET && file.ends_with(".pem")).then(|| file.to_owned())
}

/// That certificate, if that is its name.
pub(crate) async fn certificate(context: &Context, file: &str) -> Option<Response> {
    let certificate = context.aws.certificate(file).await?;
    let mut response = Response::new(Body::from(certificate));
    let kind = HeaderValue::from_static("application/x-pem-file");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    Some(response)
}

fn headers_of(parts: &Parts) -> Vec<(&str, &[u8])> {
    let headers = parts.headers.iter();
    headers
        .map(|(name, value)| (name.as_str(), value.as_bytes()))
        .collect()
}

fn head_of<'a>(parts: &'a Parts, headers: &'a [(&'a str, &'a [u8])]) -> RequestHead<'a> {
    RequestHead {
        method: parts.method.as_str(),
        path: parts.uri.path(),
        query: parts.uri.query().unwrap_or_default(),
        headers,
    }
}

/// What was refused before it was read, in the words of SQS and SNS.
fn refused(context: &Context, head: &RequestHead<'_>, problem: &Problem) -> Response {
    let status = problem.kind.status();
    let detail = problem.detail();
    let error = match status {
        StatusCode::PAYLOAD_TOO_LARGE => AwsError::request_entity_too_large(REQUEST_BYTES_MAX),
        StatusCode::FORBIDDEN | StatusCode::MISDIRECTED_REQUEST => AwsError::access_denied(detail),
        StatusCode::SERVICE_UNAVAILABLE => AwsError::service_unavailable(detail),
        _ => AwsError::malformed_query_string(detail),
    };
    written(context.aws.refuse(head, &error))
}

/// An answer's bytes, and the broker's memory that they were counted in, which is given back with the last of them.
struct Held {
    text: Vec<u8>,
    _memory: Option<FetchMemory>,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.text
    }
}

fn written(answer: Answer) -> Response {
    let held = Held {
        text: answer.body,
        _memory: answer.memory,
    };
    let mut response = Response::new(Body::from(Bytes::from_owner(held)));
    let status = StatusCode::from_u16(answer.status);
    *response.status_mut() = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    for (name, value) in answer.headers {
        // What is no header's value has come from no one: ids and codes are all there is.
        if let Ok(value) = HeaderValue::from_str(&value) {
            response
                .headers_mut()
                .insert(HeaderName::from_static(name), value);
        }
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(method: &str, uri: &str, expected: bool) {
        let request = Request::builder().method(method).uri(uri);
        let request = request.body(Body::empty()).expect("a request");
        assert_eq!(is_for_aws(&request), expected, "{method} {uri}");
    }

    #[test]
    fn actions_come_to_the_root_and_to_addresses_of_queues() {
        check("POST", "/", true);
        check("GET", "/?Action=ListQueues", true);
        check("GET", "/", false);
        check("POST", "/000000000000/mail.fifo", true);
        check("GET", "/000000000000/mail?Action=ReceiveMessage", true);
        check("DELETE", "/000000000000/mail", false);
        check("POST", "/00000000000/mail", false);
        check("POST", "/v1/mail", false);
        check("POST", "/000000000000/a/b", false);
        check("POST", "/000000000000/", false);
    }
}
