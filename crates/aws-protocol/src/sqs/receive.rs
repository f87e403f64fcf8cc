//! ReceiveMessage.

use std::collections::BTreeMap;

use super::attributes::{ATTRIBUTE_NAMES, ATTRIBUTES_OUT};
use crate::action::{Action, Encode};
use crate::attribute::MessageAttribute;
use crate::checks;
use crate::error::AwsError;
use crate::fields::{FieldError, Fields, ListName};
use crate::limits::{RECEIVE_MESSAGES_MAX, VISIBILITY_SECONDS_MAX, WAIT_SECONDS_MAX};
use crate::writer::{self, ListNames, MapNames, Writer, optional_text};

/// Takes messages.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReceiveMessage {
    /// From which queue.
    pub queue_url: String,
    /// Which system attributes to answer; `All` is all. `AttributeNames` and `MessageSystemAttributeNames` say the same, and
    /// are one list here.
    pub system_attribute_names: Vec<String>,
    /// Which of the sender's attributes to answer: a name, `prefix.*`, `All` or `.*`.
    pub message_attribute_names: Vec<String>,
    /// How many at most; between 1 and 10, 1 if it is not said.
    pub max_number_of_messages: Option<i64>,
    /// For how long they stay invisible, if not as long as the queue says.
    pub visibility_timeout_seconds: Option<i64>,
    /// For how long to wait, if not as long as the queue says; at most 20.
    pub wait_time_seconds: Option<i64>,
    /// With the same id a FIFO queue answers the same messages again.
    pub receive_request_attempt_id: Option<String>,
}

impl ReceiveMessage {
    /// True if this system attribute is wanted.
    pub fn wants_system_attribute(&self, name: &str) -> bool {
        let wanted = &self.system_attribute_names;
        wanted
            .iter()
            .any(|wanted| wanted == name || wanted == "All")
    }

    /// True if this attribute of the sender's is wanted.
    pub fn wants_attribute(&self, name: &str) -> bool {
        self.message_attribute_names.iter().any(|wanted| {
            let prefix = wanted.strip_suffix(".*");
            wanted == "All" || wanted == name || prefix.is_some_and(|start| name.starts_with(start))
        })
    }
}

/// The messages; if there are none, the field is left out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReceiveMessageResponse {
    /// What was taken.
    pub messages: Vec<Message>,
}

/// A message as it is received.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Message {
    /// Its id.
    pub message_id: String,
    /// With it this receive is answered for.
    pub receipt_handle: String,
    /// `digest::md5_of_body`.
    pub md5_of_body: String,
    /// The body.
    pub body: String,
    /// Those system attributes that were asked for.
    pub system_attributes: BTreeMap<String, String>,
    /// `digest::md5_of_attributes` of those below.
    pub md5_of_attributes: Option<String>,
    /// Those of the sender's attributes that were asked for.
    pub attributes: BTreeMap<String, MessageAttribute>,
}

const SYSTEM_ATTRIBUTE_NAMES: ListName = ListName {
    json: "MessageSystemAttributeNames",
    form: &["MessageSystemAttributeName"],
};

const MESSAGE_ATTRIBUTE_NAMES: ListName = ListName {
    json: "MessageAttributeNames",
    form: &["MessageAttributeName"],
};

const MESSAGE_ATTRIBUTES_OUT: MapNames = MapNames {
    list: ListNames {
        json: "MessageAttributes",
        around: None,
        element: "MessageAttribute",
    },
    key: "Name",
    value: "Value",
};

impl Action for ReceiveMessage {
    fn decode(fields: &mut Fields) -> Result<ReceiveMessage, FieldError> {
        let mut system_attribute_names = fields.texts(ATTRIBUTE_NAMES)?.unwrap_or_default();
        system_attribute_names.extend(fields.texts(SYSTEM_ATTRIBUTE_NAMES)?.unwrap_or_default());
        Ok(ReceiveMessage {
            queue_url: fields.required_text("QueueUrl")?,
            system_attribute_names,
            message_attribute_names: fields.texts(MESSAGE_ATTRIBUTE_NAMES)?.unwrap_or_default(),
            max_number_of_messages: fields.integer("MaxNumberOfMessages")?,
            visibility_timeout_seconds: fields.integer("VisibilityTimeout")?,
            wait_time_seconds: fields.integer("WaitTimeSeconds")?,
            receive_request_attempt_id: fields.text("ReceiveRequestAttemptId")?,
        })
    }

    fn check(&self) -> Result<(), AwsError> {
        let most = self.max_number_of_messages;
        checks::in_range("MaxNumberOfMessages", most, 1, RECEIVE_MESSAGES_MAX)?;
        let visibility = self.visibility_timeout_seconds;
        checks::in_range("VisibilityTimeout", visibility, 0, VISIBILITY_SECONDS_MAX)?;
        checks::in_range(
            "WaitTimeSeconds",
            self.wait_time_seconds,
            0,
            WAIT_SECONDS_MAX,
        )?;
        match &self.receive_request_attempt_id {
            Some(id) => checks::group_like_id("ReceiveRequestAttemptId", id),
            None => Ok(()),
        }
    }
}

impl Encode for ReceiveMessageResponse {
    fn encode(&self, out: &mut dyn Writer) {
        if self.messages.is_empty() {
            return;
        }
        let names = ListNames {
            json: "Messages",
            around: None,
            element: "Message",
        };
        out.structures(names, self.messages.len(), &mut |index, out| {
            self.messages[index].encode(out);
        });
    }
}

impl Encode for Message {
    fn encode(&self, out: &mut dyn Writer) {
        out.text("MessageId", &self.message_id);
        out.text("ReceiptHandle", &self.receipt_handle);
        out.text("MD5OfBody", &self.md5_of_body);
        out.text("Body", &self.body);
        if !self.system_attributes.is_empty() {
            out.text_map(ATTRIBUTES_OUT, &self.system_attributes);
        }
        optional_text(
            out,
            "MD5OfMessageAttributes",
            self.md5_of_attributes.as_deref(),
        );
        if self.attributes.is_empty() {
            return;
        }
        let (keys, values): (Vec<&str>, Vec<&MessageAttribute>) = self
            .attributes
            .iter()
            .map(|(name, attribute)| (name.as_str(), attribute))
            .unzip();
        out.structure_map(MESSAGE_ATTRIBUTES_OUT, &keys, &mut |index, out| {
            writer::attribute(out, values[index]);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::ReceiveMessage;

    #[test]
    fn attributes_are_wanted_by_name_by_prefix_or_all() {
        let wants = |wanted: &str, name: &str| {
            let request = ReceiveMessage {
                message_attribute_names: vec![wanted.to_owned()],
                ..ReceiveMessage::default()
            };
            request.wants_attribute(name)
        };
        assert!(wants("All", "a") && wants(".*", "a") && wants("a", "a"));
        assert!(wants("Custom.*", "Custom1") && !wants("Custom.*", "Other"));
        assert!(!wants("b", "a") && !wants("a", "ab"));
    }
}
