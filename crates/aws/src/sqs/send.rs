//! SendMessage and SendMessageBatch: answered when the messages can't be lost any more.

use super::message::{message_id, to_publish};
use super::{Queue, Sqs};
use crate::config::Caller;
use fanlog_aws_protocol::sqs::{
    OutgoingMessage, Response, SendMessage, SendMessageBatch, SendMessageBatchResponse,
    SendMessageBatchResultEntry, SendMessageResponse,
};
use fanlog_aws_protocol::{AwsError, checks, digest, ids};
use fanlog_broker::{PublishError, Published};

impl Sqs {
    pub(super) async fn send(
        &self,
        caller: &Caller,
        asked: SendMessage,
    ) -> Result<Response, AwsError> {
        let queue = self.queue(caller, &asked.queue_url)?;
        check(&queue, &asked.message)?;
        let sent = self.send_all(caller, &queue, vec![asked.message]).await?;
        let sent = sent.into_iter().next();
        let sent = sent.unwrap_or_else(|| Err(AwsError::internal_failure("nothing was sent")))?;
        Ok(Response::SendMessage(sent))
    }

    pub(super) async fn send_batch(
        &self,
        caller: &Caller,
        asked: SendMessageBatch,
    ) -> Result<Response, AwsError> {
        let queue = self.queue(caller, &asked.queue_url)?;
        let mut answer = SendMessageBatchResponse::default();
        let (mut ids, mut messages) = (Vec::new(), Vec::new());
        for entry in asked.entries {
            match check(&queue, &entry.message) {
                Ok(()) => {
                    ids.push(entry.id);
                    messages.push(entry.message);
                }
                // A batch without what makes it one of a FIFO queue is refused as a whole.
                Err(error) if is_of_all(&queue, &entry.message) => return Err(error),
                Err(error) => answer.failed.push(error.of_entry(&entry.id)),
            }
        }
        let sent = self.send_all(caller, &queue, messages).await?;
        for (id, sent) in ids.into_iter().zip(sent) {
            match sent {
                Ok(sent) => answer
                    .successful
                    .push(SendMessageBatchResultEntry { id, sent }),
                Err(error) => answer.failed.push(error.of_entry(&id)),
            }
        }
        Ok(Response::SendMessageBatch(answer))
    }

    async fn send_all(
        &self,
        caller: &Caller,
        queue: &Queue,
        messages: Vec<OutgoingMessage>,
    ) -> Result<Vec<Result<SendMessageResponse, AwsError>>, AwsError> {
        let sums: Vec<_> = messages.iter().map(sums_of).collect();
        let queue = &queue.value;
        let new = messages.into_iter();
        let new = new.map(|message| to_publish(queue, message, &caller.sender));
        let topic = queue.topic();
        let published = self.shared.broker.publish(&topic, new.collect());
        let published = published.await.map_err(|error| refused(&error))?;
        let answers = sums.into_iter().zip(published);
        let answers = answers.map(|(mut answer, published)| {
            let Published {
                partition, offset, ..
            } = published.map_err(|error| refused(&error))?;
            answer.message_id = message_id(&self.shared, &topic, partition, offset);
            answer.sequence_number = queue.is_fifo().then(|| ids::sequence_number(offset.0));
            Ok(answer)
        });
        Ok(answers.collect())
    }
}

fn check(queue: &Queue, message: &OutgoingMessage) -> Result<(), AwsError> {
    let queue = &queue.value;
    if queue.is_fifo() {
        checks::fifo_message(message, queue.deduplicates_content())?;
    }
    checks::message(message, queue.message_bytes_max())
}

fn is_of_all(queue: &Queue, message: &OutgoingMessage) -> bool {
    let queue = &queue.value;
    let has_id = message.deduplication_id.is_some() || queue.deduplicates_content();
    queue.is_fifo() && (message.group_id.is_none() || !has_id)
}

/// What a sender checks: it does not depend on where the message comes to lie.
fn sums_of(message: &OutgoingMessage) -> SendMessageResponse {
    SendMessageResponse {
        md5_of_body: digest::md5_of_body(&message.body),
        md5_of_attributes: digest::md5_of_attributes(&message.attributes),
        md5_of_system_attributes: digest::md5_of_attributes(&message.system_attributes),
        ..SendMessageResponse::default()
    }
}

fn refused(error: &PublishError) -> AwsError {
    match error {
        PublishError::Lookup(_) => AwsError::queue_does_not_exist(),
        PublishError::Append(_) | PublishError::Unsure(_) => {
            AwsError::service_unavailable(error.to_string())
        }
        _ => AwsError::invalid_parameter_value(error.to_string()),
    }
}
