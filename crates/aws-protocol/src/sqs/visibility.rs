//! ChangeMessageVisibility and ChangeMessageVisibilityBatch.

use super::batch;
use crate::action::Action;
use crate::checks;
use crate::error::AwsError;
use crate::fields::{FieldError, Fields};
use crate::limits::VISIBILITY_SECONDS_MAX;

const ENTRY: &str = "ChangeMessageVisibilityBatchRequestEntry";

/// Sets for how long a message stays invisible from now on; zero gives it back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeMessageVisibility {
    /// Of which queue.
    pub queue_url: String,
    /// From the receive.
    pub receipt_handle: String,
    /// Between 0 and 43,200.
    pub visibility_timeout_seconds: i64,
}

impl Action for ChangeMessageVisibility {
    fn decode(fields: &mut Fields) -> Result<ChangeMessageVisibility, FieldError> {
        let timeout = fields.integer("VisibilityTimeout")?;
        Ok(ChangeMessageVisibility {
            queue_url: fields.required_text("QueueUrl")?,
            receipt_handle: fields.required_text("ReceiptHandle")?,
            visibility_timeout_seconds: timeout.ok_or(FieldError::Missing("VisibilityTimeout"))?,
        })
    }

    fn check(&self) -> Result<(), AwsError> {
        let timeout = Some(self.visibility_timeout_seconds);
        checks::in_range("VisibilityTimeout", timeout, 0, VISIBILITY_SECONDS_MAX)
    }
}

/// Does so for up to ten messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeMessageVisibilityBatch {
    /// Of which queue.
    pub queue_url: String,
    /// Which messages.
    pub entries: Vec<ChangeMessageVisibilityBatchEntry>,
}

/// One message of the batch. Its time-out is checked by whoever answers, as it fails alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeMessageVisibilityBatchEntry {
    /// Its id within the batch.
    pub id: String,
    /// From the receive.
    pub receipt_handle: String,
    /// Between 0 and 43,200.
    pub visibility_timeout_seconds: Option<i64>,
}

impl ChangeMessageVisibilityBatchEntry {
    /// The time-out, if it is there and within its bounds.
    pub fn checked_timeout(&self) -> Result<i64, AwsError> {
        const NAME: &str = "VisibilityTimeout";
        let given = self.visibility_timeout_seconds;
        checks::in_range(NAME, given, 0, VISIBILITY_SECONDS_MAX)?;
        given.ok_or_else(|| AwsError::missing_parameter(NAME))
    }
}

impl Action for ChangeMessageVisibilityBatch {
    fn decode(fields: &mut Fields) -> Result<ChangeMessageVisibilityBatch, FieldError> {
        let queue_url = fields.required_text("QueueUrl")?;
        let entries = batch::entries(fields, &[ENTRY], |entry| {
            Ok(ChangeMessageVisibilityBatchEntry {
                id: entry.required_text("Id")?,
                receipt_handle: entry.required_text("ReceiptHandle")?,
                visibility_timeout_seconds: entry.integer("VisibilityTimeout")?,
            })
        })?;
        Ok(ChangeMessageVisibilityBatch { queue_url, entries })
    }

    fn check(&self) -> Result<(), AwsError> {
        batch::check(ENTRY, self.entries.iter().map(|entry| entry.id.as_str()))
    }
}
