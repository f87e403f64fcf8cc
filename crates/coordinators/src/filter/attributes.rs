//! Message attributes of SQS and SNS, as the headers of a record hold them.
//!
//! Why it exists: a header is a name and bytes; an attribute has a type as well, by which it is compared: the text "123" is no number.
//! Owns: which header says the types, and under which name an attribute stands.
//! In -> out: headers -> the attributes among them, each with its type.
//!
//! ```text
//! <name>                 an attribute's bytes
//! aws.attribute.<name>   the same, of an attribute whose name means something in a header
//! aws.types              JSON: {"<name>": "<DataType>", ..}; an attribute that is not there is text where it is UTF-8, else bytes
//! ```

use super::Attribute;
use std::collections::BTreeMap;

/// The header that says of which types the attributes are.
pub const TYPES_HEADER: &str = "aws.types";
/// What stands before an attribute's name where it would mean something as a header.
pub const ATTRIBUTE_PREFIX: &str = "aws.attribute.";

/// Whether a header of this name says something to the broker, and is no attribute.
pub fn is_own_header(name: &str) -> bool {
    const NAMES: [&str; 3] = ["deliver-at", "deliver-after", "message-id"];
    NAMES.contains(&name) || name.starts_with("aws.") || name.starts_with("fanlog.")
}

/// The attribute that a header is, if it is one.
pub fn attribute_name(header: &str) -> Option<&str> {
    match header.strip_prefix(ATTRIBUTE_PREFIX) {
        Some(name) => Some(name).filter(|name| !name.is_empty()),
        None => Some(header).filter(|name| !is_own_header(name)),
    }
}

/// The types that the header says; none where it says nothing that can be read.
pub fn read_types(header: &[u8]) -> BTreeMap<String, String> {
    serde_json::from_slice(header).unwrap_or_default()
}

/// The header that says these types.
pub fn write_types<'a>(types: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let types: BTreeMap<&str, &str> = types.collect();
    serde_json::to_string(&types).expect("texts can be written")
}

/// An attribute by its type and its bytes: types beyond SNS's own (`Number.float`) count as what they begin with.
pub(super) fn typed<'a>(data_type: Option<&str>, value: &'a [u8]) -> Attribute<'a> {
    let text = std::str::from_utf8(value);
    let family = data_type.map(|data_type| data_type.split('.').next().unwrap_or_default());
    match (family, data_type, text) {
        (Some("Number"), _, Ok(text)) => Attribute::Number(text),
        (Some("Binary"), ..) | (_, _, Err(_)) => Attribute::Binary,
        (_, Some("String.Array"), Ok(text)) => Attribute::StringArray(text),
        (_, _, Ok(text)) => Attribute::String(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_an_attribute_unless_it_means_something() {
        let check = |header: &str, expected: Option<&str>| {
            assert_eq!(attribute_name(header), expected, "{header}");
        };
        check("store", Some("store"));
        check("deliver-after", None);
        check("message-id", None);
        check("aws.types", None);
        check("fanlog.dead.queue", None);
        check("aws.attribute.message-id", Some("message-id"));
        check("aws.attribute.", None);
    }

    #[test]
    fn types_are_read_as_they_are_written() {
        let written = write_types([("b", "Number.long"), ("a", "String")].into_iter());
        assert_eq!(written, r#"{"a":"String","b":"Number.long"}"#);
        let read = read_types(written.as_bytes());
        assert_eq!(read.get("b").map(String::as_str), Some("Number.long"));
        for unreadable in ["", "[]", "{\"a\": 1}", "\u{0}"] {
            assert!(read_types(unreadable.as_bytes()).is_empty());
        }
    }

    #[test]
    fn a_type_is_what_it_begins_with() {
        assert_eq!(typed(Some("Number.long"), b"1"), Attribute::Number("1"));
        assert_eq!(typed(Some("String.custom"), b"1"), Attribute::String("1"));
        assert_eq!(
            typed(Some("String.Array"), b"[]"),
            Attribute::StringArray("[]")
        );
        assert_eq!(typed(Some("Binary.png"), b"1"), Attribute::Binary);
        assert_eq!(typed(Some("String"), b"\xff"), Attribute::Binary);
        assert_eq!(typed(None, b"1"), Attribute::String("1"));
        assert_eq!(typed(None, b"\xff"), Attribute::Binary);
    }
}
