//! What a policy is compared with.

use serde_json::{Map, Value};
use std::borrow::Cow;

/// A message attribute, as SNS and SQS type it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attribute<'a> {
    /// Text.
    String(&'a str),
    /// A number, as text.
    Number(&'a str),
    /// A JSON array of texts, numbers, booleans and nulls.
    StringArray(&'a str),
    /// Bytes: nothing is compared with them, as if they weren't there.
    Binary,
}

/// One value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Datum<'a> {
    /// Text, and nothing else.
    Text(Cow<'a, str>),
    /// A number.
    Number(f64),
    /// Text without a type (a header's): it may be meant as a number or a boolean.
    Untyped(&'a str),
    Boolean(bool),
    Null,
    /// Bytes that are no text: they are there, and equal nothing.
    Opaque,
}

impl<'a> Datum<'a> {
    pub(super) fn of_header(value: Option<&'a [u8]>) -> Self {
        match value.map(std::str::from_utf8) {
            None => Self::Null,
            Some(Ok(text)) => Self::Untyped(text),
            Some(Err(_)) => Self::Opaque,
        }
    }

    pub(super) fn of_attribute(attribute: Attribute<'a>) -> Vec<Self> {
        match attribute {
            Attribute::String(text) => vec![Self::Text(text.into())],
            Attribute::Number(text) => vec![number(text).map_or(Self::Opaque, Self::Number)],
            Attribute::StringArray(text) => match serde_json::from_str(text) {
                Ok(Value::Array(items)) => items.iter().filter_map(Self::owned).collect(),
                // A value without brackets counts as an array of it.
                Ok(item) => Self::owned(&item).into_iter().collect(),
                Err(_) => Vec::new(),
            },
            Attribute::Binary => Vec::new(),
        }
    }

    /// A scalar of JSON.
    fn of_json(value: &'a Value) -> Option<Self> {
        Some(match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Boolean(*value),
            Value::Number(number) => number.as_f64().map_or(Self::Opaque, Self::Number),
            Value::String(text) => Self::Text(text.as_str().into()),
            Value::Array(_) | Value::Object(_) => return None,
        })
    }

    fn owned(value: &Value) -> Option<Self> {
        Some(match Datum::of_json(value)? {
            Datum::Text(text) => Self::Text(text.into_owned().into()),
            Datum::Number(number) => Self::Number(number),
            Datum::Boolean(value) => Self::Boolean(value),
            Datum::Null => Self::Null,
            Datum::Untyped(_) | Datum::Opaque => Self::Opaque,
        })
    }

    /// As text, if it is one.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Untyped(text) => Some(text),
            Self::Number(_) | Self::Boolean(_) | Self::Null | Self::Opaque => None,
        }
    }

    /// As a number, if it says one.
    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Untyped(text) => number(text),
            Self::Text(_) | Self::Boolean(_) | Self::Null | Self::Opaque => None,
        }
    }

    /// As a boolean, if it says one.
    pub(super) fn boolean(&self) -> Option<bool> {
        match self {
            Self::Boolean(value) => Some(*value),
            Self::Untyped("true") => Some(true),
            Self::Untyped("false") => Some(false),
            _ => None,
        }
    }
}

/// The number that a text says in decimal digits; what Rust reads beyond that (`inf`, `nan`, `+1`) is none.
fn number(text: &str) -> Option<f64> {
    let is_digit = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
    let begins = text.strip_prefix('-').unwrap_or(text);
    let is_number = begins.starts_with(|c: char| c.is_ascii_digit()) && text.bytes().all(is_digit);
    let number: f64 = is_number.then(|| text.parse().ok())??;
    number.is_finite().then_some(number)
}

/// What a policy is held against.
#[derive(Clone, Copy, Debug)]
pub(super) enum Data<'a> {
    /// Values by name; a name may stand several times.
    Named(&'a [(&'a str, Datum<'a>)]),
    /// An object of a body; none where there is no object.
    Object(Option<&'a Map<String, Value>>),
}

impl<'a> Data<'a> {
    /// The values under a name: those of arrays one by one.
    pub(super) fn values(self, key: &str) -> Vec<Datum<'a>> {
        match self {
            Self::Named(all) => {
                let of_key = all.iter().filter(|(name, _)| *name == key);
                of_key.map(|(_, datum)| datum.clone()).collect()
            }
            Self::Object(object) => {
                let mut values = Vec::new();
                if let Some(value) = object.and_then(|object| object.get(key)) {
                    flatten(value, &mut values);
                }
                values
            }
        }
    }

    /// The objects under a name: those of arrays one by one; none where there is no object at all.
    pub(super) fn objects(self, key: &str) -> Vec<Option<&'a Map<String, Value>>> {
        let mut objects = Vec::new();
        if let Self::Object(Some(object)) = self
            && let Some(value) = object.get(key)
        {
            flatten_objects(value, &mut objects);
        }
        if objects.is_empty() {
            objects.push(None);
        }
        objects
    }
}

/// As deep as the reader of JSON lets arrays be, which is bounded.
fn flatten<'a>(value: &'a Value, values: &mut Vec<Datum<'a>>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| flatten(item, values)),
        value => values.extend(Datum::of_json(value)),
    }
}

fn flatten_objects<'a>(value: &'a Value, objects: &mut Vec<Option<&'a Map<String, Value>>>) {
    match value {
        Value::Object(object) => objects.push(Some(object)),
        Value::Array(items) => items.iter().for_each(|item| flatten_objects(item, objects)),
        _ => {}
    }
}
