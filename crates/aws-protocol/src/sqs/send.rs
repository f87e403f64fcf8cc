//! SendMessage and SendMessageBatch.

use std::collections::BTreeMap;

use super::batch;
use crate::action::{Action, Encode};
use crate::attribute::MessageAttribute;
use crate::error::{AwsError, BatchFailure};
use crate::fields::{FieldError, Fields, ListName, MapName};
use crate::limits::MESSAGE_BYTES_MAX;
use crate::writer::{ListNames, Writer, optional_text};

const ENTRY: &str = "SendMessageBatchRequestEntry";

const MESSAGE_ATTRIBUTES: MapName = MapName {
    list: ListName {
        json: "MessageAttributes",
        form: &["MessageAttribute"],
    },
    key: "Name",
    value: "Value",
};

const SYSTEM_ATTRIBUTES: MapName = MapName {
    list: ListName {
        json: "MessageSystemAttributes",
        form: &["MessageSystemAttribute"],
    },
    key: "Name",
    value: "Value",
};

/// What is sent. `checks::message` has the rules that hold for every queue, once its limits are known.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OutgoingMessage {
    /// The body.
    pub body: String,
    /// For how long it is not to be seen, if not as long as the queue says.
    pub delay_seconds: Option<i64>,
    /// Attributes of the sender's.
    pub attributes: BTreeMap<String, MessageAttribute>,
    /// Attributes of the service's, as `AWSTraceHeader`.
    pub system_attributes: BTreeMap<String, MessageAttribute>,
    /// Which message it is, for FIFO queues.
    pub deduplication_id: Option<String>,
    /// Its group: required on FIFO queues, for fairness on others.
    pub group_id: Option<String>,
}

impl OutgoingMessage {
    fn decode(fields: &mut Fields) -> Result<OutgoingMessage, FieldError> {
        Ok(OutgoingMessage {
            body: fields.required_text("MessageBody")?,
            delay_seconds: fields.integer("DelaySeconds")?,
            attributes: fields.message_attributes(MESSAGE_ATTRIBUTES)?,
            system_attributes: fields.message_attributes(SYSTEM_ATTRIBUTES)?,
            deduplication_id: fields.text("MessageDeduplicationId")?,
            group_id: fields.text("MessageGroupId")?,
        })
    }

    /// The bytes that count towards limits: the body, and the names, types and values of the sender's attributes.
    pub fn size_bytes(&self) -> usize {
        let attributes = self.attributes.iter();
        let of_attributes = attributes.map(|(name, attribute)| name.len() + attribute.size_bytes());
        self.body.len() + of_attributes.sum::<usize>()
    }
}

/// Sends a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SendMessage {
    /// To which queue.
    pub queue_url: String,
    /// What.
    pub message: OutgoingMessage,
}

/// What was sent, with sums that the sender checks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SendMessageResponse {
    /// The message's id.
    pub message_id: String,
    /// `digest::md5_of_body`.
    pub md5_of_body: String,
    /// `digest::md5_of_attributes` of the sender's.
    pub md5_of_attributes: Option<String>,
    /// `digest::md5_of_attributes` of the service's.
    pub md5_of_system_attributes: Option<String>,
    /// On FIFO queues alone.
    pub sequence_number: Option<String>,
}

impl Action for SendMessage {
    fn decode(fields: &mut Fields) -> Result<SendMessage, FieldError> {
        Ok(SendMessage {
            queue_url: fields.required_text("QueueUrl")?,
            message: OutgoingMessage::decode(fields)?,
        })
    }
}

impl Encode for SendMessageResponse {
    fn encode(&self, out: &mut dyn Writer) {
        out.text("MessageId", &self.message_id);
        out.text("MD5OfMessageBody", &self.md5_of_body);
        optional_text(
            out,
            "MD5OfMessageAttributes",
            self.md5_of_attributes.as_deref(),
        );
        optional_text(
            out,
            "MD5OfMessageSystemAttributes",
            self.md5_of_system_attributes.as_deref(),
        );
        optional_text(out, "SequenceNumber", self.sequence_number.as_deref());
    }
}

/// Sends up to ten messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SendMessageBatch {
    /// To which queue.
    pub queue_url: String,
    /// What.
    pub entries: Vec<SendMessageBatchEntry>,
}

/// One message of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SendMessageBatchEntry {
    /// Its id within the batch.
    pub id: String,
    /// What is sent.
    pub message: OutgoingMessage,
}

/// What became of each entry.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SendMessageBatchResponse {
    /// Those that were sent.
    pub successful: Vec<SendMessageBatchResultEntry>,
    /// Those that were not.
    pub failed: Vec<BatchFailure>,
}

/// An entry that was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SendMessageBatchResultEntry {
    /// Its id within the batch.
    pub id: String,
    /// The same as for a message alone.
    pub sent: SendMessageResponse,
}

impl Action for SendMessageBatch {
    fn decode(fields: &mut Fields) -> Result<SendMessageBatch, FieldError> {
        let queue_url = fields.required_text("QueueUrl")?;
        let entries = batch::entries(fields, &[ENTRY], |entry| {
            Ok(SendMessageBatchEntry {
                id: entry.required_text("Id")?,
                message: OutgoingMessage::decode(entry)?,
            })
        })?;
        Ok(SendMessageBatch { queue_url, entries })
    }

    fn check(&self) -> Result<(), AwsError> {
        batch::check(ENTRY, self.entries.iter().map(|entry| entry.id.as_str()))?;
        let sizes = self.entries.iter().map(|entry| entry.message.size_bytes());
        let bytes: usize = sizes.sum();
        if bytes > MESSAGE_BYTES_MAX {
            return Err(AwsError::batch_request_too_long(bytes));
        }
        Ok(())
    }
}

impl Encode for SendMessageBatchResponse {
    fn encode(&self, out: &mut dyn Writer) {
        let names = ListNames {
            json: "Successful",
            around: None,
            element: "SendMessageBatchResultEntry",
        };
        out.structures(names, self.successful.len(), &mut |index, out| {
            out.text("Id", &self.successful[index].id);
            self.successful[index].sent.encode(out);
        });
        batch::failures(out, &self.failed);
    }
}
