//! Due times that retention would overtake are refused where somebody can be told.
//!
//! Why it exists: what is due after retention has taken it is lost; who said when it is due learns it at once.
//! In -> out: a record that is to be appended, or a message that is to rest -> whether it would be there when it is due.
//! Invariants: QUE-2.   Read next: `coordinators/queue/due.rs`.

use super::delays::delay_of;
use crate::broker::Broker;
use crate::partition::Partition;
use crate::topics_view::Topic;
use fanlog_coordinators::queue::{DueTooLate, Retention, check_due};
use fanlog_model::settings::MessageTimestampType;
use fanlog_model::{Offset, TimestampMs};
use fanlog_protocol::records::{BatchView, Decompressor};
use std::time::Duration;
use thiserror::Error;

/// A record of a batch whose due time retention would overtake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{error}")]
pub struct RecordOvertaken {
    /// Its number in the batch.
    pub batch_index: i32,
    /// Why.
    pub error: DueTooLate,
}

/// What due times of a topic are held to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DueLimit {
    retention: Retention,
    /// The time that the broker stamps records with, where the topic asks for that.
    stamped: Option<TimestampMs>,
}

impl DueLimit {
    /// Checks a time at which a record that comes now is to be due.
    pub(crate) fn check_due(self, due: TimestampMs, now: TimestampMs) -> Result<(), DueTooLate> {
        check_due(due, self.stamped.unwrap_or(now), self.retention)
    }

    /// Checks a record that is to be appended.
    fn check<'a>(
        self,
        headers: impl Iterator<Item = (&'a [u8], Option<&'a [u8]>)>,
        timestamp: TimestampMs,
    ) -> Result<(), DueTooLate> {
        let time = self.stamped.unwrap_or(timestamp);
        let due = delay_of(headers, time, Duration::ZERO).due;
        due.map_or(Ok(()), |due| check_due(due, time, self.retention))
    }
}

impl Broker {
    /// What due times of a topic are held to; none where retention waits for all its queues, or takes nothing by age.
    pub(crate) fn due_limit(&self, topic: &Topic) -> Option<DueLimit> {
        let settings = &topic.settings;
        let retention_ms = settings.retention_ms;
        let retention_ms = retention_ms.filter(|_| settings.cleanup_policy.delete)?;
        let catalog = self.catalog_view();
        let mut queues = catalog.queues_of_topic(topic.id);
        if queues.all(|queue| queue.holds_retention()) {
            return None;
        }
        let is_stamped = settings.timestamp_type == MessageTimestampType::LogAppendTime;
        Some(DueLimit {
            retention: Retention {
                retention_ms: Some(retention_ms),
                is_held: false,
            },
            stamped: is_stamped.then(|| self.steady_clock.wall_ms()),
        })
    }

    /// Checks the due times of records that a client is about to append. What can't be read is for the append to refuse.
    ///
    /// # Errors
    /// Retention would take a record before a queue that does not hold it back could hand it out.
    pub fn check_due_times(&self, topic: &Topic, batches: &[u8]) -> Result<(), RecordOvertaken> {
        let Some(limit) = self.due_limit(topic) else {
            return Ok(());
        };
        let mut decompressor = Decompressor::default();
        for batch in BatchView::parse_all(batches).map_while(Result::ok) {
            let Ok(records) = batch.records(&mut decompressor) else {
                continue;
            };
            for (batch_index, record) in (0..).zip(records.map_while(Result::ok)) {
                let time = batch.timestamp_of(record.timestamp_delta);
                let checked = limit.check(record.headers(), time);
                checked.map_err(|error| RecordOvertaken { batch_index, error })?;
            }
        }
        Ok(())
    }

    /// Checks that a message which a consumer gives back is still there after so long.
    pub(super) fn check_rest(
        &self,
        topic: &Topic,
        partition: &Partition,
        offset: Offset,
        delay: Duration,
    ) -> Result<(), DueTooLate> {
        let Some(limit) = self.due_limit(topic) else {
            return Ok(());
        };
        // The newest record of its segment says when retention takes it. What can't be looked up is counted when it goes.
        let newest = partition.with_log(|log| log.newest_beside(offset));
        let Ok(Ok(Some(newest))) = newest else {
            return Ok(());
        };
        let ms = i64::try_from(delay.as_millis()).unwrap_or(i64::MAX);
        let now = self.steady_clock.wall_ms();
        let due = TimestampMs(now.0.saturating_add(ms));
        check_due(due, newest, limit.retention)
    }
}
