//! Message attributes: a map of structures in JSON, numbered names in a form.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::{FieldError, Fields, MapName, json};
use crate::attribute::{AttributeValue, MessageAttribute};

impl Fields {
    /// A map of message attributes; an absent one is empty.
    pub(crate) fn message_attributes(
        &mut self,
        name: MapName,
    ) -> Result<BTreeMap<String, MessageAttribute>, FieldError> {
        let mut attributes = BTreeMap::new();
        match self {
            Fields::Json(object) => {
                let entries = json::map(name.list.json, object.remove(name.list.json))?;
                for (key, value) in entries.unwrap_or_default() {
                    let fields = Fields::Json(json::object(&key, value)?);
                    attributes.insert(key, one(fields)?);
                }
            }
            Fields::Form(form) => {
                for mut element in form.structures(name.list)?.unwrap_or_default() {
                    let key = element.take(name.key);
                    let key = key.ok_or(FieldError::Missing(name.key))?;
                    attributes.insert(key, one(Fields::Form(element))?);
                }
            }
        }
        Ok(attributes)
    }
}

/// One attribute. A type that is not given is an empty one, which `checks` refuses with the attribute's name.
fn one(mut fields: Fields) -> Result<MessageAttribute, FieldError> {
    let names = match &fields {
        Fields::Json(_) => ["DataType", "StringValue", "BinaryValue"],
        Fields::Form(_) => ["Value.DataType", "Value.StringValue", "Value.BinaryValue"],
    };
    let data_type = fields.text(names[0])?.unwrap_or_default();
    let string = fields.text(names[1])?;
    let binary = fields.text(names[2])?;
    let value = match (string, binary) {
        // Of a type of bytes the bytes count, should both be there.
        (Some(string), None) => AttributeValue::String(string),
        (_, Some(encoded)) => {
            let bytes = STANDARD.decode(encoded.trim());
            let wrong = |_| json::wrong_kind(names[2], "base64");
            AttributeValue::Binary(bytes.map_err(wrong)?)
        }
        (None, None) => AttributeValue::Missing,
    };
    Ok(MessageAttribute { data_type, value })
}
