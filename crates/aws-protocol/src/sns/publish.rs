//! Publish and PublishBatch.

use std::collections::BTreeMap;

use crate::action::{Action, Encode};
use crate::attribute::MessageAttribute;
use crate::checks;
use crate::error::{AwsError, BatchFailure};
use crate::fields::{FieldError, Fields, ListName, MapName};
use crate::limits::{BATCH_ENTRIES_MAX, BATCH_ID_LENGTH_MAX, NOTIFICATION_BYTES_MAX};
use crate::writer::{ListNames, Writer, optional_text};

const MESSAGE_ATTRIBUTES: MapName = MapName {
    list: ListName {
        json: "MessageAttributes",
        form: &["MessageAttributes.entry"],
    },
    key: "Name",
    value: "Value",
};

/// What is published. `checks::notification` has the rules that hold for every topic.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Notification {
    /// The message.
    pub message: String,
    /// Its subject.
    pub subject: Option<String>,
    /// `json` if the message is an object with a text per protocol.
    pub message_structure: Option<String>,
    /// Attributes of the sender's.
    pub attributes: BTreeMap<String, MessageAttribute>,
    /// Which message it is, for FIFO topics.
    pub deduplication_id: Option<String>,
    /// Its group: required on FIFO topics, for fairness on others.
    pub group_id: Option<String>,
}

impl Notification {
    fn decode(fields: &mut Fields) -> Result<Notification, FieldError> {
        Ok(Notification {
            message: fields.required_text("Message")?,
            subject: fields.text("Subject")?,
            message_structure: fields.text("MessageStructure")?,
            attributes: fields.message_attributes(MESSAGE_ATTRIBUTES)?,
            deduplication_id: fields.text("MessageDeduplicationId")?,
            group_id: fields.text("MessageGroupId")?,
        })
    }

    /// The bytes that count towards limits: the message, and the names, types and values of its attributes.
    pub fn size_bytes(&self) -> usize {
        let attributes = self.attributes.iter();
        let of_attributes = attributes.map(|(name, attribute)| name.len() + attribute.size_bytes());
        self.message.len() + of_attributes.sum::<usize>()
    }
}

/// True if it may be the id of an entry. Amazon takes letters, digits, hyphens and underscores; programs that are tested against
/// emulators have others too, and nothing depends on them.
fn is_batch_id(id: &str) -> bool {
    let length = id.chars().count();
    (1..=BATCH_ID_LENGTH_MAX).contains(&length) && !id.chars().any(char::is_control)
}

/// Publishes a message.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Publish {
    /// To which topic.
    pub topic_arn: Option<String>,
    /// To which topic, or to which endpoint of a platform, which is not spoken here.
    pub target_arn: Option<String>,
    /// To which phone, which is not spoken here.
    pub phone_number: Option<String>,
    /// What.
    pub notification: Notification,
}

/// By what the message is known.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PublishResponse {
    /// The message's id.
    pub message_id: String,
    /// On FIFO topics alone.
    pub sequence_number: Option<String>,
}

impl Action for Publish {
    fn decode(fields: &mut Fields) -> Result<Publish, FieldError> {
        Ok(Publish {
            topic_arn: fields.text("TopicArn")?,
            target_arn: fields.text("TargetArn")?,
            phone_number: fields.text("PhoneNumber")?,
            notification: Notification::decode(fields)?,
        })
    }

    fn check(&self) -> Result<(), AwsError> {
        let targets = [&self.topic_arn, &self.target_arn, &self.phone_number];
        match targets.into_iter().flatten().count() {
            1 => Ok(()),
            0 => Err(AwsError::invalid_parameter(
                "Invalid parameter: TopicArn or TargetArn Reason: no value for required parameter",
            )),
            _ => Err(AwsError::invalid_parameter(
                "Invalid parameter: TopicArn, TargetArn and PhoneNumber exclude each other",
            )),
        }
    }
}

impl Encode for PublishResponse {
    fn encode(&self, out: &mut dyn Writer) {
        out.text("MessageId", &self.message_id);
        optional_text(out, "SequenceNumber", self.sequence_number.as_deref());
    }
}

/// Publishes up to ten messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishBatch {
    /// To which topic.
    pub topic_arn: String,
    /// What.
    pub entries: Vec<PublishBatchEntry>,
}

/// One message of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishBatchEntry {
    /// Its id within the batch.
    pub id: String,
    /// What is published.
    pub notification: Notification,
}

/// What became of each entry.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PublishBatchResponse {
    /// Those that were published.
    pub successful: Vec<PublishBatchResultEntry>,
    /// Those that were not.
    pub failed: Vec<BatchFailure>,
}

/// An entry that was published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishBatchResultEntry {
    /// Its id within the batch.
    pub id: String,
    /// The same as for a message alone.
    pub published: PublishResponse,
}

impl Action for PublishBatch {
    fn decode(fields: &mut Fields) -> Result<PublishBatch, FieldError> {
        let name = ListName {
            json: "PublishBatchRequestEntries",
            form: &["PublishBatchRequestEntries.member"],
        };
        let topic_arn = fields.required_text("TopicArn")?;
        let entries = fields.structures(name)?.unwrap_or_default();
        let entries = entries.into_iter().map(|mut entry| {
            Ok(PublishBatchEntry {
                id: entry.required_text("Id")?,
                notification: Notification::decode(&mut entry)?,
            })
        });
        Ok(PublishBatch {
            topic_arn,
            entries: entries.collect::<Result<_, _>>()?,
        })
    }

    fn check(&self) -> Result<(), AwsError> {
        let ids = self.entries.iter().map(|entry| entry.id.as_str());
        if self.entries.is_empty() {
            return Err(AwsError::sns_empty_batch_request());
        }
        if self.entries.len() > BATCH_ENTRIES_MAX {
            return Err(AwsError::sns_too_many_entries_in_batch_request());
        }
        if !ids.clone().all(is_batch_id) {
            return Err(AwsError::sns_invalid_batch_entry_id());
        }
        if checks::repeated_id(ids).is_some() {
            return Err(AwsError::sns_batch_entry_ids_not_distinct());
        }
        let sizes = self
            .entries
            .iter()
            .map(|entry| entry.notification.size_bytes());
        if sizes.sum::<usize>() > NOTIFICATION_BYTES_MAX {
            return Err(AwsError::sns_batch_request_too_long());
        }
        Ok(())
    }
}

impl Encode for PublishBatchResponse {
    fn encode(&self, out: &mut dyn Writer) {
        let names = |json| ListNames {
            json,
            around: Some(json),
            element: "member",
        };
        out.structures(
            names("Successful"),
            self.successful.len(),
            &mut |index, out| {
                out.text("Id", &self.successful[index].id);
                self.successful[index].published.encode(out);
            },
        );
        out.structures(names("Failed"), self.failed.len(), &mut |index, out| {
            let failure = &self.failed[index];
            out.text("Id", &failure.id);
            out.text("Code", &failure.code);
            optional_text(out, "Message", failure.message.as_deref());
            out.boolean("SenderFault", failure.is_sender_fault);
        });
    }
}
