//! Answers: JSON, and how records look in it.
//!
//! A key, a value or a header's value that is text stands as text; other bytes stand as base64 beside or below the name
//! (`value_base64`, `{"base64": ...}`), so that nothing is lost.

use crate::base64;
use crate::problem::{Kind, Problem};
use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use bytes::Bytes;
use fanlog_broker::FetchMemory;
use fanlog_model::TimestampMs;
use fanlog_model::times::format_timestamp;
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};
use std::collections::HashMap;

/// How long a piece of an answer waits in memory for its client is bounded by the connection; how many bytes do, by the broker's memory
/// for fetches, which is given back with the last of them.
struct Held {
    text: Vec<u8>,
    _memory: Option<FetchMemory>,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.text
    }
}

/// 200.
pub(crate) fn ok(value: &impl Serialize) -> Result<Response, Problem> {
    answer(StatusCode::OK, value, None)
}

/// 201.
pub(crate) fn created(value: &impl Serialize) -> Result<Response, Problem> {
    answer(StatusCode::CREATED, value, None)
}

/// 200, and the share of memory that its bytes were counted in.
pub(crate) fn with_memory(
    value: &impl Serialize,
    memory: FetchMemory,
) -> Result<Response, Problem> {
    answer(StatusCode::OK, value, Some(memory))
}

/// 204.
pub(crate) fn nothing() -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    response
}

fn answer(
    status: StatusCode,
    value: &impl Serialize,
    memory: Option<FetchMemory>,
) -> Result<Response, Problem> {
    let mut text = serde_json::to_vec(value).map_err(|error| {
        Problem::new(
            Kind::Internal,
            format!("the answer can't be written: {error}"),
        )
    })?;
    // Whoever reads it in a terminal has the prompt on a line of its own.
    text.push(b'\n');
    let held = Held {
        text,
        _memory: memory,
    };
    let mut response = Response::new(Body::from(Bytes::from_owner(held)));
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    Ok(response)
}

/// A time as answers have it; none for a record without one.
pub(crate) fn time(timestamp: TimestampMs) -> Option<String> {
    (timestamp != TimestampMs::NONE).then(|| format_timestamp(timestamp))
}

/// Key, value and headers of a record, as members of an object.
pub(crate) struct Payload<'a> {
    pub(crate) key: Option<&'a Bytes>,
    pub(crate) value: Option<&'a Bytes>,
    pub(crate) headers: &'a [(String, Option<Bytes>)],
}

impl Payload<'_> {
    pub(crate) fn put<M: SerializeMap>(&self, members: &mut M) -> Result<(), M::Error> {
        put_bytes(members, ("key", "key_base64"), self.key)?;
        put_bytes(members, ("value", "value_base64"), self.value)?;
        members.serialize_entry("headers", &Headers(self.headers))
    }
}

/// A member of text or of base64, whichever the bytes are; null where there are none.
pub(crate) fn put_bytes<M: SerializeMap>(
    members: &mut M,
    (name, name_base64): (&'static str, &'static str),
    bytes: Option<&Bytes>,
) -> Result<(), M::Error> {
    match bytes.map(|bytes| str::from_utf8(bytes).map_err(|_| bytes)) {
        None => members.serialize_entry(name, &()),
        Some(Ok(text)) => members.serialize_entry(name, text),
        Some(Err(bytes)) => members.serialize_entry(name_base64, &base64::encode(bytes)),
    }
}

/// Headers by name, in the order of their first coming; a name that comes again has a list.
struct Headers<'a>(&'a [(String, Option<Bytes>)]);

impl Serialize for Headers<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut by_name: HashMap<&str, Vec<HeaderValues<'_>>> = HashMap::new();
        for (name, value) in self.0 {
            let values = by_name.entry(name).or_default();
            values.push(HeaderValues(value.as_ref()));
        }
        let mut members = serializer.serialize_map(Some(by_name.len()))?;
        for (name, _) in self.0 {
            match by_name.remove(&**name).as_deref() {
                None => {}
                Some([value]) => members.serialize_entry(name, value)?,
                Some(values) => members.serialize_entry(name, &List(values))?,
            }
        }
        members.end()
    }
}

struct HeaderValues<'a>(Option<&'a Bytes>);

impl Serialize for HeaderValues<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.map(|bytes| str::from_utf8(bytes).map_err(|_| bytes)) {
            None => serializer.serialize_unit(),
            Some(Ok(text)) => serializer.serialize_str(text),
            Some(Err(bytes)) => {
                let mut members = serializer.serialize_map(Some(1))?;
                members.serialize_entry("base64", &base64::encode(bytes))?;
                members.end()
            }
        }
    }
}

/// Items one after the other.
pub(crate) struct List<'a, T>(pub(crate) &'a [T]);

impl<T: Serialize> Serialize for List<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut items = serializer.serialize_seq(Some(self.0.len()))?;
        for item in self.0 {
            items.serialize_element(item)?;
        }
        items.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Shown<'a>(Payload<'a>);

    impl Serialize for Shown<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut members = serializer.serialize_map(None)?;
            self.0.put(&mut members)?;
            members.end()
        }
    }

    #[test]
    fn text_stands_as_text_and_other_bytes_as_base64() {
        let bytes = |bytes: &'static [u8]| Some(Bytes::from_static(bytes));
        let headers = [
            ("b".to_owned(), bytes(b"1")),
            ("a".to_owned(), bytes(&[0xff])),
            ("b".to_owned(), None),
        ];
        let (key, value) = (bytes("ä".as_bytes()), bytes(&[0xfe]));
        let payload = Payload {
            key: key.as_ref(),
            value: value.as_ref(),
            headers: &headers,
        };
        assert_eq!(
            serde_json::to_string(&Shown(payload)).unwrap(),
            r#"{"key":"ä","value_base64":"/g==","headers":{"b":["1",null],"a":{"base64":"/w=="}}}"#
        );
    }
}
