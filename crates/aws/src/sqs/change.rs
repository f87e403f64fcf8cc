//! SetQueueAttributes, and what a change of a document leads to.

use super::attributes::{self, Attributes};
use super::queue::QueueDocument;
use super::{Queue, Sqs, refused};
use crate::config::Caller;
use crate::shared::to_the_end;
use fanlog_aws_protocol::AwsError;
use fanlog_aws_protocol::sqs::{Response, SetQueueAttributes};
use std::sync::Arc;

impl Sqs {
    pub(super) async fn set_attributes(
        self: &Arc<Self>,
        caller: &Caller,
        asked: &SetQueueAttributes,
    ) -> Result<Response, AwsError> {
        let queue = self.queue(caller, &asked.queue_url)?;
        let is_fifo = queue.value.is_fifo();
        let names_fifo = asked
            .attributes
            .keys()
            .any(|name| name.trim() == attributes::FIFO_QUEUE);
        if names_fifo && attributes::wants_fifo(&asked.attributes) != is_fifo {
            return Err(AwsError::invalid_attribute_value(attributes::FIFO_QUEUE));
        }
        let changes = attributes::checked(&asked.attributes, is_fifo)?;
        let sqs = self.clone();
        to_the_end(async move { sqs.set_now(queue.name(), changes).await }).await?;
        Ok(Response::SetQueueAttributes)
    }

    async fn set_now(self: &Arc<Self>, name: &str, changes: Attributes) -> Result<(), AwsError> {
        let _changing = self.shared.changing.lock().await;
        let before = self.living(name)?;
        let mut queue = before.value.clone();
        attributes::put(&mut queue.attributes, changes);
        attributes::check_together(&queue.in_force())?;
        self.check_redrive(&queue)?;
        queue.modified_ms = self.shared.now().0;
        let queue = self.shared.queues.replace(&before, &queue).await?;
        self.set_topic(&queue.value).await?;
        self.apply_settings(&queue.value).await
    }

    /// Changes a document of a queue that stays as it is otherwise.
    pub(super) async fn change_document(
        self: &Arc<Self>,
        queue: &Queue,
        change: impl FnOnce(&mut QueueDocument) -> Result<(), AwsError> + Send + 'static,
    ) -> Result<(), AwsError> {
        let (sqs, name) = (self.clone(), queue.name().to_owned());
        to_the_end(async move {
            let _changing = sqs.shared.changing.lock().await;
            let before = sqs.living(&name)?;
            let mut queue = before.value.clone();
            change(&mut queue)?;
            sqs.shared.queues.replace(&before, &queue).await.map(|_| ())
        })
        .await
    }

    fn living(&self, name: &str) -> Result<Queue, AwsError> {
        let queue = self.shared.queues.get(name)?;
        let queue = queue.filter(|queue| !queue.value.is_deleted());
        queue.ok_or_else(AwsError::queue_does_not_exist)
    }

    /// Gives the topic and the broker's queues their settings, where a stop came between those and the document.
    pub(super) async fn finish_change(&self, queue: &Queue) -> Result<(), AwsError> {
        let queue = &queue.value;
        let wanted = self.shared.settings_of(queue)?;
        let queues = self.shared.broker.queues();
        let found = queues.describe(&queue.group()).map_err(refused)?.settings;
        let is_as_wanted = |(name, value)| found.get(name) == Some(value);
        if wanted.iter().all(is_as_wanted) {
            return Ok(());
        }
        self.set_topic(queue).await?;
        self.apply_settings(queue).await
    }

    /// Gives the broker's queues the settings that follow from the document.
    pub(super) async fn apply_settings(&self, queue: &QueueDocument) -> Result<(), AwsError> {
        let settings = self.shared.settings_of(queue)?;
        let given = |(name, value)| (name, Some(value));
        let changes = settings.into_iter().map(given).collect();
        let queues = self.shared.broker.queues();
        queues
            .alter(&queue.group(), changes)
            .await
            .map_err(refused)?;
        self.sns.settings_changed(queue).await
    }
}
