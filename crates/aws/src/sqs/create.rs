//! CreateQueue: a topic, the broker's queue on it, and the document last, which makes them a queue.
//!
//! A crash before the last leaves a topic, which the next try takes: a queue begins with the oldest record, so that what a Kafka producer
//! put there before is not lost.

use super::attributes::{self, Attributes};
use super::queue::{FORMAT, QueueDocument};
use super::{Queue, Sqs, refused};
use crate::config::Caller;
use crate::shared::to_the_end;
use fanlog_aws_protocol::AwsError;
use fanlog_aws_protocol::arn::Arn;
use fanlog_aws_protocol::limits::MESSAGE_BYTES_MAX;
use fanlog_aws_protocol::names::check_queue_name;
use fanlog_aws_protocol::sqs::{CreateQueue, CreateQueueResponse, Response};
use fanlog_broker::{NewQueue, QueueError, Start};
use fanlog_coordinators::catalog::{
    ChangeKind, ConfigChange, ConfigResource, IncrementalAlteration, ResourceKind,
};
use std::sync::Arc;

/// How much longer a record may be than a message: names of headers, and what is noted beside.
const RECORD_BYTES_BESIDE: usize = 128 * 1024;
/// For how long a FIFO queue remembers messages.
const DEDUPLICATION_MS: u32 = 300_000;

impl Sqs {
    pub(super) async fn create_queue(
        self: &Arc<Self>,
        caller: &Caller,
        asked: CreateQueue,
    ) -> Result<Response, AwsError> {
        let is_fifo = attributes::wants_fifo(&asked.attributes);
        check_queue_name(&asked.queue_name, is_fifo, self.shared.config.names)?;
        let given = attributes::checked(&asked.attributes, is_fifo)?;
        super::tags::check_tags(&asked.queue_name, &asked.tags)?;
        let (sqs, region) = (self.clone(), caller.region.clone());
        let created = to_the_end(async move { sqs.create_now(&region, asked, given).await });
        let queue_url = self.url(caller, &created.await?.value);
        Ok(Response::CreateQueue(CreateQueueResponse { queue_url }))
    }

    async fn create_now(
        self: &Arc<Self>,
        region: &str,
        asked: CreateQueue,
        given: Attributes,
    ) -> Result<Queue, AwsError> {
        let shared = &self.shared;
        let _changing = shared.changing.lock().await;
        let name = asked.queue_name;
        let document = shared.names.document(region, &name);
        match shared.queues.get(&document)? {
            Some(queue) if !queue.value.is_deleted() => return same_or_refused(queue, &given),
            Some(gone) => self.finish_deletion(&gone).await?,
            None => {}
        }
        let mut attributes = Attributes::new();
        attributes::put(&mut attributes, given);
        attributes::check_together(&attributes)?;
        let now = shared.now().0;
        let queue = QueueDocument {
            format: FORMAT,
            topic: shared.names.queue_topic(region, &name).to_string(),
            group: shared.names.queue(region, &name).to_string(),
            region: region.to_owned(),
            name,
            life: u64::from_be_bytes(shared.draw()[..8].try_into().expect("eight bytes")),
            attributes,
            tags: asked.tags,
            created_ms: now,
            modified_ms: now,
            is_deleted: false,
        };
        self.check_redrive(&queue)?;
        self.make_topic(&queue).await?;
        self.make_queue(&queue).await?;
        let queue = shared.queues.create(&document, &queue).await?;
        self.sns.queue_created(&queue.value).await?;
        self.target_came_or_went(&queue.value).await?;
        Ok(queue)
    }

    /// The topic with the queue's settings: one that was there before gets them too.
    async fn make_topic(&self, queue: &QueueDocument) -> Result<(), AwsError> {
        let topic = queue.topic();
        let settings = topic_settings(queue);
        let is_there = self.shared.broker.topics().by_name(&topic).is_some();
        match is_there {
            true => self.set_topic(queue).await,
            false => self.shared.make_topic(&topic, settings).await,
        }
    }

    /// Gives the queue's topic the settings that follow from its attributes.
    pub(super) async fn set_topic(&self, queue: &QueueDocument) -> Result<(), AwsError> {
        let change = |(name, value)| ConfigChange {
            name,
            kind: ChangeKind::Set,
            value,
        };
        let alteration = IncrementalAlteration {
            resource: ConfigResource {
                kind: ResourceKind::Topic,
                name: queue.topic().to_string(),
            },
            changes: topic_settings(queue).into_iter().map(change).collect(),
        };
        let broker = &self.shared.broker;
        let altered = broker.incremental_alter_configs(vec![alteration], false);
        let altered = altered
            .await
            .map_err(|error| AwsError::service_unavailable(error.to_string()))?;
        match altered.into_iter().next() {
            Some(Err(error)) => Err(AwsError::internal_failure(error.to_string())),
            Some(Ok(())) | None => Ok(()),
        }
    }

    /// The broker's queue. One that a crash has left on this very topic is not a queue of somebody else, and is made anew.
    async fn make_queue(&self, queue: &QueueDocument) -> Result<(), AwsError> {
        let queues = self.shared.broker.queues();
        let new = NewQueue {
            name: queue.group(),
            topic: queue.topic(),
            settings: self.shared.settings_of(queue)?,
            start: Start::Earliest,
        };
        let made = match queues.create(new.clone()).await {
            Err(QueueError::Exists { name }) => {
                let found = queues.describe(&name).map_err(refused)?;
                if found.topic != new.topic {
                    let message = format!(
                        "The name {name} is taken by a queue on topic {}, which is no queue of SQS.",
                        found.topic
                    );
                    return Err(AwsError::queue_name_exists(message));
                }
                queues.delete(&name).await.map_err(refused)?;
                queues.create(new).await
            }
            made => made,
        };
        made.map(|_| ()).map_err(|error| match error {
            QueueError::NameIsGroup { .. } => AwsError::queue_name_exists(error.to_string()),
            error => refused(error),
        })
    }

    /// Whether the queue may send its dead letters where it wants to.
    pub(super) fn check_redrive(&self, queue: &QueueDocument) -> Result<(), AwsError> {
        let Some(policy) = queue.redrive_policy() else {
            return Ok(());
        };
        let text = queue.attributes.get(attributes::REDRIVE_POLICY);
        let text = text.map_or("", String::as_str);
        let wrong =
            |reason: &str| AwsError::invalid_value_for(attributes::REDRIVE_POLICY, text, reason);
        let source = queue.arn(&self.shared.config.account);
        if policy.target == source {
            return Err(wrong("Dead letter target must be another queue."));
        }
        if policy.target.region != queue.region {
            return Err(wrong(
                "Dead-letter target owner should be in the same region as the source.",
            ));
        }
        let target = self.shared.queue_of(&policy.target)?;
        let target = target.ok_or_else(|| wrong("Dead letter target does not exist."))?;
        if target.value.is_fifo() != queue.is_fifo() {
            return Err(wrong(
                "Dead-letter queue must be same type of queue as the source.",
            ));
        }
        match target.value.allows(&source) {
            true => Ok(()),
            false => Err(wrong(
                "The RedriveAllowPolicy of the dead-letter queue does not allow this queue.",
            )),
        }
    }

    /// A queue is there, or gone: those that send their dead letters to it do, or stop.
    pub(super) async fn target_came_or_went(&self, target: &QueueDocument) -> Result<(), AwsError> {
        let arn: Arn = target.arn(&self.shared.config.account);
        for source in self.shared.all_queues()? {
            if source.value.redrive_target().as_ref() == Some(&arn) {
                self.apply_settings(&source.value).await?;
            }
        }
        Ok(())
    }
}

fn same_or_refused(queue: Queue, given: &Attributes) -> Result<Queue, AwsError> {
    match attributes::first_difference(&queue.value.in_force(), given) {
        None => Ok(queue),
        Some(name) => Err(AwsError::queue_name_exists(format!(
            "A queue already exists with the same name and a different value for attribute {name}"
        ))),
    }
}

/// The settings of the topic that a queue owns.
fn topic_settings(queue: &QueueDocument) -> Vec<(String, Option<String>)> {
    let retention = queue.retention().as_millis().to_string();
    let bytes_max = (MESSAGE_BYTES_MAX + RECORD_BYTES_BESIDE).to_string();
    let window = if queue.is_fifo() { DEDUPLICATION_MS } else { 0 };
    [
        ("cleanup.policy", "delete".to_owned()),
        ("dedup.window.ms", window.to_string()),
        ("max.message.bytes", bytes_max),
        ("retention.bytes", "-1".to_owned()),
        ("retention.ms", retention),
    ]
    .map(|(name, value)| (name.to_owned(), Some(value)))
    .into()
}
