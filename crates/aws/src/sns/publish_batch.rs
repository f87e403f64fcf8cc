//! PublishBatch: up to ten messages, each of which stands or falls alone.

use super::publish::{check, to_publish};
use super::{Response, Sns};
use crate::config::Caller;
use fanlog_aws_protocol::sns::{PublishBatch, PublishBatchResponse, PublishBatchResultEntry};
use fanlog_aws_protocol::{AwsError, limits};

impl Sns {
    pub(super) async fn publish_batch(
        &self,
        caller: &Caller,
        asked: PublishBatch,
    ) -> Result<Response, AwsError> {
        let topic = self.topic(caller, &asked.topic_arn)?;
        let bytes = asked.entries.iter();
        let bytes: usize = bytes.map(|entry| entry.notification.size_bytes()).sum();
        if bytes > limits::NOTIFICATION_BYTES_MAX {
            return Err(AwsError::sns_batch_request_too_long());
        }
        let has_group = |entry: &_| {
            let entry: &fanlog_aws_protocol::sns::PublishBatchEntry = entry;
            entry.notification.group_id.is_some()
        };
        if topic.value.is_fifo() && !asked.entries.iter().all(has_group) {
            return Err(AwsError::invalid_parameter(
                "Invalid parameter: The MessageGroupId parameter is required for FIFO topics",
            ));
        }
        let mut answer = PublishBatchResponse::default();
        let (mut ids, mut messages) = (Vec::new(), Vec::new());
        for entry in asked.entries {
            let checked = check(&topic.value, &entry.notification, true);
            match checked.and_then(|()| to_publish(&topic.value, entry.notification)) {
                Ok(message) => {
                    ids.push(entry.id);
                    messages.push(message);
                }
                Err(error) => answer.failed.push(error.of_entry(&entry.id)),
            }
        }
        let name = self.kafka_topic(&topic.value);
        let published = self.publish_all(&topic, messages).await?;
        for (id, published) in ids.into_iter().zip(published) {
            match published {
                Ok(published) => {
                    let published = self.published(&topic.value, &name, published);
                    let entry = PublishBatchResultEntry { id, published };
                    answer.successful.push(entry);
                }
                Err(error) => answer.failed.push(error.of_entry(&id)),
            }
        }
        Ok(Response::PublishBatch(answer))
    }
}
