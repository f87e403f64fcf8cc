//! A message attribute: a name in a map, and a typed value.

/// A value with its data type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageAttribute {
    /// `String`, `Number` or `Binary`, with a label of the sender's after a full stop.
    pub data_type: String,
    /// The value.
    pub value: AttributeValue,
}

/// A value of a message attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttributeValue {
    /// Neither `StringValue` nor `BinaryValue` was given: refused by `checks`, with the attribute's name.
    Missing,
    /// `StringValue`: of `String` and `Number`.
    String(String),
    /// `BinaryValue`: of `Binary`, out of its base64.
    Binary(Vec<u8>),
}

impl MessageAttribute {
    /// An attribute of type `String`.
    pub fn string(value: impl Into<String>) -> MessageAttribute {
        MessageAttribute {
            data_type: "String".to_owned(),
            value: AttributeValue::String(value.into()),
        }
    }

    /// The bytes that count towards the message's size, without those of the name.
    pub fn size_bytes(&self) -> usize {
        self.data_type.len() + self.value.bytes().len()
    }

    /// The data type without its label.
    pub fn base_type(&self) -> &str {
        let (base, _) = self
            .data_type
            .split_once('.')
            .unwrap_or((&self.data_type, ""));
        base
    }
}

impl AttributeValue {
    /// The value's bytes; of text its UTF-8.
    pub fn bytes(&self) -> &[u8] {
        match self {
            AttributeValue::Missing => &[],
            AttributeValue::String(text) => text.as_bytes(),
            AttributeValue::Binary(bytes) => bytes,
        }
    }
}
