//! What was done with dead letters is noted in a topic, as JSON, for people and their programs.
//!
//! What it tells is done first: a note tells of nothing that was not done, and a crash in between leaves it out.

use super::Queues;
use super::begin::not_available;
use super::types::QueueError;
use crate::append_types::Appender;
use crate::broker::Broker;
use crate::partition::Partition;
use fanlog_coordinators::catalog::{CreateTopicError, NewTopic};
use fanlog_model::{PartitionIndex, TimestampMs, TopicId, TopicName};
use fanlog_protocol::records::{BatchBuilder, Compression, NewRecord};
use serde_json::Value;
use std::sync::Arc;

/// The topic of the notes.
pub const AUDIT_TOPIC: &str = "fanlog.queue-audit";

impl Queues {
    /// Notes something, durably. The key of each note is the queue's name.
    pub(super) async fn note(
        &self,
        broker: &Arc<Broker>,
        queue: &str,
        notes: &[Value],
    ) -> Result<(), QueueError> {
        if notes.is_empty() {
            return Ok(());
        }
        let partition = self.audit_partition(broker).await?;
        let mut builder = BatchBuilder::new(Compression::None);
        for note in notes {
            let value = note.to_string();
            let record = NewRecord {
                timestamp: self.now_ms(),
                key: Some(queue.as_bytes()),
                value: Some(value.as_bytes()),
                headers: &[],
            };
            builder
                .push(&record)
                .map_err(|error| not_available(&error))?;
        }
        let mut batch = builder.build().map_err(|error| not_available(&error))?;
        let appended = partition.append_as(&mut batch, Appender::Coordinator, None);
        let receipt = appended.map_err(|error| not_available(&error))?;
        receipt
            .durable()
            .await
            .map_err(|error| not_available(&error))
    }

    async fn audit_partition(&self, broker: &Arc<Broker>) -> Result<Arc<Partition>, QueueError> {
        let name = TopicName::new(AUDIT_TOPIC).expect("the name is legal");
        let there = |broker: &Broker| {
            let topics = broker.topics();
            let topic = topics.by_name(&name)?;
            topic.partition(PartitionIndex(0)).cloned()
        };
        if let Some(partition) = there(broker) {
            return Ok(partition);
        }
        let wanted = NewTopic {
            id: TopicId::ZERO,
            name: name.to_string(),
            partitions: 1,
            replication_factor: 1,
            assignments: Vec::new(),
            overrides: Vec::new(),
        };
        let failed = |reason: String| QueueError::TopicNotMade {
            topic: name.clone(),
            reason: reason.into(),
        };
        let made = broker.create_topics(vec![wanted], false).await;
        match made.map_err(|error| failed(error.to_string()))?.pop() {
            Some(Err(error)) if !matches!(error, CreateTopicError::AlreadyExists { .. }) => {
                Err(failed(error.to_string()))
            }
            _ => there(broker).ok_or_else(|| failed("it was deleted at once".to_owned())),
        }
    }

    pub(super) fn now_ms(&self) -> TimestampMs {
        self.clock.wall_ms()
    }
}
