//! GetQueueAttributes and SetQueueAttributes.

use std::collections::BTreeMap;

use crate::action::{Action, Encode};
use crate::error::AwsError;
use crate::fields::{FieldError, Fields, ListName, MapName};
use crate::writer::{ListNames, MapNames, Writer};

/// `Attributes` of a request.
pub(super) const ATTRIBUTES: MapName = MapName {
    list: ListName {
        json: "Attributes",
        form: &["Attribute"],
    },
    key: "Name",
    value: "Value",
};

/// `AttributeNames` of a request.
pub(super) const ATTRIBUTE_NAMES: ListName = ListName {
    json: "AttributeNames",
    form: &["AttributeName"],
};

/// `Attributes` of an answer.
pub(super) const ATTRIBUTES_OUT: MapNames = MapNames {
    list: ListNames {
        json: "Attributes",
        around: None,
        element: "Attribute",
    },
    key: "Name",
    value: "Value",
};

/// Asks for attributes of a queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GetQueueAttributes {
    /// Which queue.
    pub queue_url: String,
    /// Which attributes; `All` is all. Without any, nothing is answered.
    pub attribute_names: Vec<String>,
}

/// The attributes as text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GetQueueAttributesResponse {
    /// By name; if there are none, the field is left out.
    pub attributes: BTreeMap<String, String>,
}

impl Action for GetQueueAttributes {
    fn decode(fields: &mut Fields) -> Result<GetQueueAttributes, FieldError> {
        Ok(GetQueueAttributes {
            queue_url: fields.required_text("QueueUrl")?,
            attribute_names: fields.texts(ATTRIBUTE_NAMES)?.unwrap_or_default(),
        })
    }
}

impl Encode for GetQueueAttributesResponse {
    fn encode(&self, out: &mut dyn Writer) {
        if !self.attributes.is_empty() {
            out.text_map(ATTRIBUTES_OUT, &self.attributes);
        }
    }
}

/// Sets attributes of a queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetQueueAttributes {
    /// Which queue.
    pub queue_url: String,
    /// By name, as text.
    pub attributes: BTreeMap<String, String>,
}

impl Action for SetQueueAttributes {
    fn decode(fields: &mut Fields) -> Result<SetQueueAttributes, FieldError> {
        Ok(SetQueueAttributes {
            queue_url: fields.required_text("QueueUrl")?,
            attributes: fields.text_map(ATTRIBUTES)?.unwrap_or_default(),
        })
    }

    fn check(&self) -> Result<(), AwsError> {
        if self.attributes.is_empty() {
            return Err(AwsError::missing_parameter("Attribute.Name"));
        }
        Ok(())
    }
}
