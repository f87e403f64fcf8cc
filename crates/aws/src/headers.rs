//! Messages of SQS and SNS as records: attributes are headers, with their types in one more.
//!
//! Why it exists: a Kafka client reads what an SDK has sent, with its attributes as headers; and the other way round a Kafka producer's
//! headers are seen as attributes.
//! In -> out: attributes -> headers; headers -> attributes. A value -> the text of a message.
//! Read next: `fanlog_coordinators::filter`, which has the names of the headers.
//!
//! Other headers: `aws.subject`, `aws.group` (of a standard queue or topic), `aws.trace`, `aws.message.<protocol>` (what one protocol gets
//! instead of the value).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use fanlog_aws_protocol::limits::{ATTRIBUTE_NAME_LENGTH_MAX, MESSAGE_ATTRIBUTES_MAX};
use fanlog_aws_protocol::{AttributeValue, MessageAttribute};
use fanlog_broker::Headers;
use fanlog_coordinators::filter::{
    ATTRIBUTE_PREFIX, TYPES_HEADER, attribute_name, is_own_header, read_types, write_types,
};
use std::collections::BTreeMap;

/// The subject of a notification.
pub(crate) const SUBJECT: &str = "aws.subject";
/// The group of a message on a standard queue or topic; on FIFO ones it is the record's key.
pub(crate) const GROUP: &str = "aws.group";
/// The deduplication id, where `message-id` says something else, or nothing.
pub(crate) const DEDUPLICATION: &str = "aws.deduplication-id";
/// The trace header of X-Ray.
pub(crate) const TRACE: &str = "aws.trace";
/// What stands before the protocol whose subscribers get this instead of the value.
pub(crate) const MESSAGE_PREFIX: &str = "aws.message.";
/// The attribute that says that the body is no text, and is written in base64.
pub(crate) const ENCODING: &str = "fanlog.encoding";

/// Attributes by name.
pub(crate) type Attributes = BTreeMap<String, MessageAttribute>;

/// The headers that attributes are.
pub(crate) fn to_headers(attributes: &Attributes) -> Headers {
    let mut headers = Headers::new();
    for (name, attribute) in attributes {
        let header = match is_own_header(name) {
            true => format!("{ATTRIBUTE_PREFIX}{name}"),
            false => name.clone(),
        };
        let value = Bytes::copy_from_slice(attribute.value.bytes());
        headers.push((header, Some(value)));
    }
    if !attributes.is_empty() {
        let types = attributes.iter();
        let types = types.map(|(name, attribute)| (name.as_str(), attribute.data_type.as_str()));
        headers.push((TYPES_HEADER.to_owned(), Some(write_types(types).into())));
    }
    headers
}

/// The attributes that headers are: all with a type, since somebody was told that they are there; of others as many as a message may have.
pub(crate) fn of_headers(headers: &Headers) -> Attributes {
    let types = text(headers, TYPES_HEADER).map(|types| read_types(types.as_bytes()));
    let types = types.unwrap_or_default();
    let mut attributes = Attributes::new();
    let named = headers.iter().filter_map(|(header, value)| {
        let name = attribute_name(header).filter(|name| is_legal_name(name))?;
        Some((name, value.as_ref().filter(|value| !value.is_empty())?))
    });
    let (typed, plain): (Vec<_>, Vec<_>) = named.partition(|(name, _)| types.contains_key(*name));
    for (name, value) in typed.into_iter().chain(plain) {
        let is_typed = types.contains_key(name);
        if attributes.len() >= MESSAGE_ATTRIBUTES_MAX && !is_typed {
            break;
        }
        if !attributes.contains_key(name) {
            let attribute = attribute(types.get(name).map(String::as_str), value);
            attributes.insert(name.to_owned(), attribute);
        }
    }
    attributes
}

fn attribute(data_type: Option<&str>, value: &Bytes) -> MessageAttribute {
    let is_bytes = data_type.is_some_and(|data_type| data_type.starts_with("Binary"));
    let text = std::str::from_utf8(value)
        .ok()
        .filter(|text| !is_bytes && is_legal_text(text));
    match text {
        Some(text) => MessageAttribute {
            data_type: data_type.unwrap_or("String").to_owned(),
            value: AttributeValue::String(text.to_owned()),
        },
        None => MessageAttribute {
            data_type: data_type
                .filter(|_| is_bytes)
                .unwrap_or("Binary")
                .to_owned(),
            value: AttributeValue::Binary(value.to_vec()),
        },
    }
}

/// The text of a header, if it is there and is one.
pub(crate) fn text<'a>(headers: &'a Headers, name: &str) -> Option<&'a str> {
    let found = headers.iter().find(|(header, _)| header == name);
    std::str::from_utf8(found?.1.as_ref()?).ok()
}

/// The text of a message, and whether it is base64 of a value that is no text.
pub(crate) fn body(value: Option<&[u8]>) -> (String, bool) {
    let value = value.unwrap_or_default();
    match std::str::from_utf8(value) {
        Ok(text) if is_legal_text(text) => (text.to_owned(), false),
        _ => (STANDARD.encode(value), true),
    }
}

/// Says in the attributes that the body is base64.
pub(crate) fn mark_base64(attributes: &mut Attributes) {
    attributes.insert(ENCODING.to_owned(), MessageAttribute::string("base64"));
}

/// Whether XML can carry it, in which older SDKs are answered.
fn is_legal_text(text: &str) -> bool {
    text.chars().all(|character| {
        matches!(character, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
    })
}

/// Whether SDKs take it for the name of an attribute.
fn is_legal_name(name: &str) -> bool {
    let is_legal = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    let lower = name.to_ascii_lowercase();
    (1..=ATTRIBUTE_NAME_LENGTH_MAX).contains(&name.len())
        && name.bytes().all(is_legal)
        && !name.starts_with('.')
        && !name.ends_with('.')
        && !name.contains("..")
        && !lower.starts_with("aws.")
        && !lower.starts_with("amazon.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(given: &[(&str, &[u8])]) -> Headers {
        let header = |(name, value): &(&str, &[u8])| {
            ((*name).to_owned(), Some(Bytes::copy_from_slice(value)))
        };
        given.iter().map(header).collect()
    }

    fn typed(data_type: &str, value: &str) -> MessageAttribute {
        MessageAttribute {
            data_type: data_type.to_owned(),
            value: AttributeValue::String(value.to_owned()),
        }
    }

    #[test]
    fn attributes_come_back_as_they_were() {
        let attributes = Attributes::from([
            ("store".to_owned(), MessageAttribute::string("x")),
            ("price".to_owned(), typed("Number.float", "12.5")),
            ("list".to_owned(), typed("String.Array", r#"["a",1]"#)),
            ("message-id".to_owned(), typed("String", "mine")),
            (
                "png".to_owned(),
                MessageAttribute {
                    data_type: "Binary.png".to_owned(),
                    value: AttributeValue::Binary(vec![0, 255]),
                },
            ),
        ]);
        let headers = to_headers(&attributes);
        assert_eq!(of_headers(&headers), attributes);
        let names: Vec<&str> = headers.iter().map(|(name, _)| name.as_str()).collect();
        assert!(names.contains(&"store") && names.contains(&"aws.attribute.message-id"));
        assert!(to_headers(&Attributes::new()).is_empty());
    }

    #[test]
    fn a_kafka_producers_headers_are_attributes() {
        let given = headers(&[
            ("traceparent", b"00-ab"),
            ("traceparent", b"second"),
            ("bytes", b"\xff\x00"),
            ("control", b"\x01"),
            ("empty", b""),
            ("not legal", b"x"),
            ("message-id", b"own"),
            ("aws.subject", b"own"),
        ]);
        let found = of_headers(&given);
        let names: Vec<&str> = found.keys().map(String::as_str).collect();
        assert_eq!(names, ["bytes", "control", "traceparent"]);
        assert_eq!(found["traceparent"], MessageAttribute::string("00-ab"));
        assert_eq!(found["bytes"].data_type, "Binary");
        assert_eq!(found["control"].value, AttributeValue::Binary(vec![1]));
    }

    #[test]
    fn a_message_has_no_more_attributes_than_it_may_and_typed_ones_go_first() {
        let mut given: Headers = (0..12)
            .map(|number| (format!("h{number:02}"), Some(Bytes::from_static(b"x"))))
            .collect();
        assert_eq!(of_headers(&given).len(), MESSAGE_ATTRIBUTES_MAX);
        given.extend(headers(&[
            ("zz", b"1"),
            (TYPES_HEADER, br#"{"zz":"Number"}"#),
        ]));
        let found = of_headers(&given);
        assert_eq!(found.len(), MESSAGE_ATTRIBUTES_MAX);
        assert_eq!(found["zz"], typed("Number", "1"));
        let many: Attributes = (0..12)
            .map(|number| (format!("t{number:02}"), typed("String", "x")))
            .collect();
        assert_eq!(of_headers(&to_headers(&many)), many);
    }

    #[test]
    fn a_value_that_is_no_text_is_written_in_base64() {
        assert_eq!(
            body(Some("grüß\n".as_bytes())),
            ("grüß\n".to_owned(), false)
        );
        assert_eq!(body(Some(b"\xff")), ("/w==".to_owned(), true));
        assert_eq!(body(Some(b"\x00")), ("AA==".to_owned(), true));
        assert_eq!(body(None), (String::new(), false));
        let mut attributes = Attributes::new();
        mark_base64(&mut attributes);
        assert_eq!(attributes[ENCODING], MessageAttribute::string("base64"));
    }
}
