//! What an append gives back: a receipt now, durability later.

use crate::dedup::{Fate, First, IdsError};
use crate::lookup::PartitionUnavailable;
use crate::partition::Partition;
use fanlog_model::{Offset, PartitionIndex, TimestampMs, TopicName};
use fanlog_storage::Appended;
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;

pub use fanlog_storage::AppendError as RefusedBatch;

/// Who appends: clients' batches are checked by more rules than the broker's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Appender {
    Client,
    /// Copies what was accepted already: the size is not checked again.
    Mover,
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
    /// Message ids can't be dealt with now.
    #[error(transparent)]
    Ids(IdsError),
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
    /// What became of each record, where not all were new.
    fates: Vec<Fate>,
}

/// Where one record of a batch is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordPlace {
    /// The partition.
    pub partition: PartitionIndex,
    /// The offset there.
    pub offset: Offset,
    /// When it was appended, about, where it was there before; none where it is new.
    pub first_appended: Option<TimestampMs>,
}

const NOWHERE: Offset = Offset(-1);

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
            fates: Vec::new(),
        }
    }

    /// Nothing was appended: all of the batch was there before.
    pub(crate) fn of_nothing(partition: Arc<Partition>, appended_at: Duration) -> Self {
        let appended = Appended {
            first_offset: NOWHERE,
            last_offset: NOWHERE,
            log_append_time: TimestampMs::NONE,
            log_start_offset: partition.log_start().unwrap_or(NOWHERE),
            is_duplicate: true,
            record_count: 0,
            bytes: 0,
        };
        Self::new(partition, appended, appended_at)
    }

    pub(crate) fn with_fates(mut self, fates: Vec<Fate>) -> Self {
        self.fates = fates;
        self
    }

    /// The offset of the first record; of the original's, if this is a duplicate (PRD-1). Where all of the batch was in this partition
    /// before, record after record, it is where that begins; where nothing was appended otherwise, there is none (-1): each record is
    /// somewhere else.
    pub fn first_offset(&self) -> Offset {
        self.original().unwrap_or(self.appended.first_offset)
    }

    /// Where a run of records lies that this batch repeats, in this partition.
    fn original(&self) -> Option<Offset> {
        let here = self.partition.index();
        let Some(Fate::Repeated(first)) = self.fates.first() else {
            return None;
        };
        let follows = |(number, fate): (i64, &Fate)| {
            let expected = first.offset.plus(number);
            matches!(fate, Fate::Repeated(at) if at.partition == here && at.offset == expected)
        };
        (0..).zip(&self.fates).all(follows).then_some(first.offset)
    }

    /// Where the record with this number in the batch is.
    pub fn place_of(&self, number: u32) -> RecordPlace {
        let new = |number: i64| RecordPlace {
            partition: self.partition.index(),
            offset: self.appended.first_offset.plus(number),
            first_appended: None,
        };
        match self.fates.get(number as usize) {
            None | Some(Fate::New) => new(number.into()),
            Some(Fate::Repeated(First {
                partition,
                offset,
                time,
            })) => RecordPlace {
                partition: *partition,
                offset: *offset,
                first_appended: Some(*time),
            },
            Some(Fate::RepeatedHere(first)) => RecordPlace {
                first_appended: Some(self.partition.now()),
                ..new((*first).into())
            },
        }
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
