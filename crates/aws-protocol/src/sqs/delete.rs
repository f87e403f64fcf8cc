//! DeleteMessage and DeleteMessageBatch.

use super::batch;
use crate::action::Action;
use crate::error::AwsError;
use crate::fields::{FieldError, Fields};

const ENTRY: &str = "DeleteMessageBatchRequestEntry";

/// Deletes a message for good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeleteMessage {
    /// Of which queue.
    pub queue_url: String,
    /// From the receive.
    pub receipt_handle: String,
}

impl Action for DeleteMessage {
    fn decode(fields: &mut Fields) -> Result<DeleteMessage, FieldError> {
        Ok(DeleteMessage {
            queue_url: fields.required_text("QueueUrl")?,
            receipt_handle: fields.required_text("ReceiptHandle")?,
        })
    }
}

/// Deletes up to ten messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeleteMessageBatch {
    /// Of which queue.
    pub queue_url: String,
    /// Which messages.
    pub entries: Vec<DeleteMessageBatchEntry>,
}

/// One message to be deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeleteMessageBatchEntry {
    /// Its id within the batch.
    pub id: String,
    /// From the receive.
    pub receipt_handle: String,
}

impl Action for DeleteMessageBatch {
    fn decode(fields: &mut Fields) -> Result<DeleteMessageBatch, FieldError> {
        let queue_url = fields.required_text("QueueUrl")?;
        let entries = batch::entries(fields, &[ENTRY], |entry| {
            Ok(DeleteMessageBatchEntry {
                id: entry.required_text("Id")?,
                receipt_handle: entry.required_text("ReceiptHandle")?,
            })
        })?;
        Ok(DeleteMessageBatch { queue_url, entries })
    }

    fn check(&self) -> Result<(), AwsError> {
        batch::check(ENTRY, self.entries.iter().map(|entry| entry.id.as_str()))
    }
}
