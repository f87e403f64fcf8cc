//! DeleteQueue: the queue is gone at once, with its messages; what it consists of follows.
//!
//! The document says first that the queue is no more, durably. A crash before the rest is done leaves that mark, and the next start, or
//! the next CreateQueue of the name, finishes: no message of a deleted queue comes back in a new one.

use super::{Queue, Sqs, refused};
use crate::config::Caller;
use crate::shared::to_the_end;
use fanlog_aws_protocol::AwsError;
use fanlog_aws_protocol::sqs::{DeleteQueue, Response};
use fanlog_broker::QueueError;
use std::sync::Arc;

impl Sqs {
    pub(super) async fn delete_queue(
        self: &Arc<Self>,
        caller: &Caller,
        asked: &DeleteQueue,
    ) -> Result<Response, AwsError> {
        let queue = self.queue(caller, &asked.queue_url)?;
        let (sqs, name) = (self.clone(), queue.name().to_owned());
        to_the_end(async move {
            let _changing = sqs.shared.changing.lock().await;
            let queue = sqs.shared.queues.get(&name)?;
            let queue = queue.filter(|queue| !queue.value.is_deleted());
            let queue = queue.ok_or_else(AwsError::queue_does_not_exist)?;
            let mut gone = queue.value.clone();
            gone.is_deleted = true;
            let gone = sqs.shared.queues.replace(&queue, &gone).await?;
            sqs.finish_deletion(&gone).await
        })
        .await?;
        Ok(Response::DeleteQueue)
    }

    /// Takes away what a deleted queue consisted of. Whoever calls this holds `changing`.
    pub(super) async fn finish_deletion(&self, gone: &Queue) -> Result<(), AwsError> {
        let queue = &gone.value;
        self.target_came_or_went(queue).await?;
        self.sns.queue_deleted(queue).await?;
        match self.shared.broker.queues().delete(&queue.group()).await {
            Ok(()) | Err(QueueError::NoSuchQueue { .. }) => {}
            Err(error) => return Err(refused(error)),
        }
        self.shared.delete_topic(&queue.topic()).await?;
        self.shared.queues.delete(gone).await
    }

    /// Finishes what a stop has cut short.
    pub(crate) async fn recover(self: &Arc<Self>) {
        let _changing = self.shared.changing.lock().await;
        for queue in self.shared.queues.list().unwrap_or_default() {
            let finished = match queue.value.is_deleted() {
                true => self.finish_deletion(&queue).await,
                false => self.finish_change(&queue).await,
            };
            if let Err(error) = finished {
                tracing::warn!(queue = queue.name(), %error, "a change of a queue that a stop has cut short is finished at the next start");
            }
        }
        self.recover_moves();
    }
}
