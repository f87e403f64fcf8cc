//! Answers, field by field, in JSON and in XML.
//!
//! Why it exists: an action's file says once what it answers; the two protocols name lists and maps differently.
//! In -> out: names and values -> bytes.   Read next: `xml.rs`.

mod json;
mod xml;

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::attribute::{AttributeValue, MessageAttribute};

pub(crate) use json::JsonWriter;
pub(crate) use xml::XmlWriter;

/// How a list of an answer is called.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ListNames {
    /// The field of the JSON object.
    pub(crate) json: &'static str,
    /// The element around the list, if XML has one.
    pub(crate) around: Option<&'static str>,
    /// The element of each entry.
    pub(crate) element: &'static str,
}

/// How a map of an answer is called: in XML a list of structures with two fields.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MapNames {
    pub(crate) list: ListNames,
    pub(crate) key: &'static str,
    pub(crate) value: &'static str,
}

/// Takes the fields of a structure.
pub(crate) trait Writer {
    /// A text.
    fn text(&mut self, name: &str, value: &str);
    /// An integer.
    fn integer(&mut self, name: &str, value: i64);
    /// A truth value.
    fn boolean(&mut self, name: &str, value: bool);
    /// A list of texts.
    fn texts(&mut self, names: ListNames, values: &[String]);
    /// A map of texts.
    fn text_map(&mut self, names: MapNames, values: &BTreeMap<String, String>);
    /// A structure.
    fn structure(&mut self, name: &str, write: &mut dyn FnMut(&mut dyn Writer));
    /// A list of structures.
    fn structures(
        &mut self,
        names: ListNames,
        count: usize,
        write: &mut dyn FnMut(usize, &mut dyn Writer),
    );
    /// A map of structures: the key of each, and its fields.
    fn structure_map(
        &mut self,
        names: MapNames,
        keys: &[&str],
        write: &mut dyn FnMut(usize, &mut dyn Writer),
    );
}

/// A text that may be absent.
pub(crate) fn optional_text(out: &mut dyn Writer, name: &str, value: Option<&str>) {
    if let Some(value) = value {
        out.text(name, value);
    }
}

/// An integer that may be absent.
pub(crate) fn optional_integer(out: &mut dyn Writer, name: &str, value: Option<i64>) {
    if let Some(value) = value {
        out.integer(name, value);
    }
}

/// The fields of one message attribute.
pub(crate) fn attribute(out: &mut dyn Writer, attribute: &MessageAttribute) {
    match &attribute.value {
        AttributeValue::Missing => {}
        AttributeValue::String(text) => out.text("StringValue", text),
        AttributeValue::Binary(bytes) => out.text("BinaryValue", &STANDARD.encode(bytes)),
    }
    out.text("DataType", &attribute.data_type);
}
