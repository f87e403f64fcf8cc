//! What an append gives back: a receipt now, durability later.

use crate::lookup::PartitionUnavailable;
use crate::partition::Partition;
use fanlog_model::{Offset, TimestampMs, TopicName};
use fanlog_storage::Appended;
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;

pub use fanlog_storage::AppendError as RefusedBatch;

/// Who appends: clients' batches are checked by more rules than the broker's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Appender {
    Client,
    Coordinator,
    /// Of a transaction of the second generation.
    LaterMarker,
}

/// Why an append was not done.
#[derive(Debug, Error)]
pub enum AppendError {
    /// The partition cannot serve.
    #[error(transparent)]
    Unavailable(#[from] PartitionUnavailable),
    /// The topic is the broker's own: only its coordinators write to it.
    #[error("topic '{topic}' is internal; clients cannot produce to it")]
    Internal {
        /// The topic.
        topic: TopicName,
    },
    /// The batches are refused, or could not be written; the log serves on.
    #[error(transparent)]
    Refused(RefusedBatch),
}

/// Records that are ordered and in the page cache; `durable` says when they cannot be lost any more.
#[derive(Debug)]
#[must_use = "records are not durable until `durable` says so"]
pub struct AppendReceipt {
    partition: Arc<Partition>,
    appended: Appended,
    appended_at: Duration,
}

impl AppendReceipt {
    pub(crate) fn new(
        partition: Arc<Partition>,
        appended: Appended,
        appended_at: Duration,
    ) -> Self {
        Self {
            partition,
            appended,
            appended_at,
        }
    }

    /// The offset of the first record; of the original's, if this is a duplicate (PRD-1).
    pub fn first_offset(&self) -> Offset {
        self.appended.first_offset
    }

    /// The offset of the last record.
    pub fn last_offset(&self) -> Offset {
        self.appended.last_offset
    }

    /// The time that the broker stamped the records with, where the topic asks for that.
    pub fn log_append_time(&self) -> Option<TimestampMs> {
        Some(self.appended.log_append_time).filter(|time| *time != TimestampMs::NONE)
    }

    /// The first offset that the log keeps.
    pub fn log_start_offset(&self) -> Offset {
        self.appended.log_start_offset
    }

    /// Whether the batch was there already, so that nothing was appended.
    pub fn is_duplicate(&self) -> bool {
        self.appended.is_duplicate
    }

    /// Completes when the records are durable and visible; a duplicate's, when its original is.
    /// Dropping the future forgets nothing but the caller.
    ///
    /// # Errors
    /// The log failed or the topic was deleted first: the records may or may not be there after a restart.
    pub async fn durable(self) -> Result<(), PartitionUnavailable> {
        let needed = self.appended.last_offset.plus(1);
        let result = self.partition.durable(needed).await;
        if result.is_ok() {
            self.partition.observe_ack(self.appended_at);
        }
        result
    }
}
