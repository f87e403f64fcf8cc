//! Publish: one message into the topic, durable when this answers; who is subscribed reads it there.
//!
//! The message is the record's value, attributes are headers; on FIFO topics the group is the key, and the deduplication id the header
//! `message-id`, by which the topic tells messages apart. A message with a text per protocol has the default as its value, and the others
//! in headers.

use super::topic::TopicDocument;
use super::topics::Topic;
use super::{Response, Sns};
use crate::config::Caller;
use crate::headers::{self, DEDUPLICATION, GROUP, MESSAGE_PREFIX, SUBJECT};
use bytes::Bytes;
use fanlog_aws_protocol::sns::{Notification, Publish, PublishResponse};
use fanlog_aws_protocol::{AwsError, checks, digest, ids};
use fanlog_broker::{NewMessage, PublishError, Published};
use fanlog_model::TopicName;
use serde_json::{Map, Value};

impl Sns {
    pub(super) async fn publish(
        &self,
        caller: &Caller,
        asked: Publish,
    ) -> Result<Response, AwsError> {
        if let Some(number) = &asked.phone_number {
            return Err(refused_phone(number, &asked.notification));
        }
        let arn = asked.topic_arn.or(asked.target_arn).unwrap_or_default();
        let topic = self.topic(caller, &arn)?;
        check(&topic.value, &asked.notification, false)?;
        let message = to_publish(&topic.value, asked.notification)?;
        let name = self.kafka_topic(&topic.value);
        let published = self.publish_all(&topic, vec![message]).await?;
        let published = published.into_iter().next();
        let published =
            published.ok_or_else(|| AwsError::internal_error("nothing was published"))??;
        let answer = self.published(&topic.value, &name, published);
        Ok(Response::Publish(answer))
    }

    /// Publishes what was checked; each stands or falls alone.
    pub(super) async fn publish_all(
        &self,
        topic: &Topic,
        messages: Vec<NewMessage>,
    ) -> Result<Vec<Result<Published, AwsError>>, AwsError> {
        let name = self.kafka_topic(&topic.value);
        let published = self.shared.broker.publish(&name, messages).await;
        let published = published.map_err(refused)?;
        Ok(published
            .into_iter()
            .map(|one| one.map_err(refused))
            .collect())
    }

    /// By what a message is known that was published.
    pub(super) fn published(
        &self,
        topic: &TopicDocument,
        name: &TopicName,
        published: Published,
    ) -> PublishResponse {
        let number = ids::sequence_number(published.offset.0);
        PublishResponse {
            message_id: self.message_id(name, published.partition, published.offset),
            sequence_number: topic.is_fifo().then_some(number),
        }
    }
}

/// Whether a topic takes a message.
pub(super) fn check(
    topic: &TopicDocument,
    notification: &Notification,
    is_in_batch: bool,
) -> Result<(), AwsError> {
    checks::notification(notification)?;
    match topic.is_fifo() {
        true => checks::fifo_notification(notification, topic.is_content_based(), is_in_batch),
        false if notification.deduplication_id.is_some() => Err(AwsError::invalid_parameter(
            "Invalid parameter: MessageDeduplicationId Reason: The request includes MessageDeduplicationId parameter that is not valid for this topic type",
        )),
        false => Ok(()),
    }
}

/// What is published for a message.
pub(super) fn to_publish(
    topic: &TopicDocument,
    notification: Notification,
) -> Result<NewMessage, AwsError> {
    let mut all = headers::to_headers(&notification.attributes);
    let mut put = |name: String, value: String| all.push((name, Some(Bytes::from(value))));
    let mut value = notification.message;
    match notification.message_structure.as_deref() {
        None | Some("") => {}
        Some("json") => {
            let mut texts = texts_by_protocol(&value)?;
            value = texts
                .remove("default")
                .and_then(into_text)
                .ok_or_else(no_default)?;
            for (protocol, text) in texts {
                if let Some(text) = into_text(text)
                    && is_protocol(&protocol)
                {
                    put(format!("{MESSAGE_PREFIX}{protocol}"), text);
                }
            }
        }
        Some(_) => {
            return Err(AwsError::invalid_parameter(
                "MessageStructure must be 'json' if provided",
            ));
        }
    }
    if let Some(subject) = notification.subject {
        put(SUBJECT.to_owned(), subject);
    }
    let (mut key, mut message_id) = (None, None);
    if topic.is_fifo() {
        let group = notification.group_id.unwrap_or_default();
        let id = notification.deduplication_id;
        let id = id.unwrap_or_else(|| digest::content_deduplication_id(&value));
        message_id = Some(match topic.has_ids_per_group() {
            true => {
                put(DEDUPLICATION.to_owned(), id.clone());
                // The length keeps apart what would be the same text otherwise.
                format!("{}:{group}:{id}", group.len())
            }
            false => id,
        });
        key = Some(Bytes::from(group));
    } else if let Some(group) = notification.group_id {
        put(GROUP.to_owned(), group);
    }
    Ok(NewMessage {
        partition: None,
        key,
        value: Some(Bytes::from(value)),
        headers: all,
        due: None,
        message_id,
    })
}

fn texts_by_protocol(message: &str) -> Result<Map<String, Value>, AwsError> {
    match serde_json::from_str::<Value>(message) {
        Ok(Value::Object(texts)) => Ok(texts),
        Ok(_) | Err(_) => Err(AwsError::invalid_parameter("Message is not valid JSON.")),
    }
}

fn into_text(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        _ => None,
    }
}

fn no_default() -> AwsError {
    AwsError::invalid_parameter("Message does not contain sqs or default keys.")
}

/// Only for those that are delivered to is a text kept.
fn is_protocol(name: &str) -> bool {
    matches!(name, "sqs" | "http" | "https")
}

fn refused_phone(number: &str, notification: &Notification) -> AwsError {
    const TEXT_BYTES_MAX: usize = 1_600;
    if !super::subscribe::is_phone(number) {
        return AwsError::invalid_parameter("Phone number does not meet the E164 format");
    }
    if notification.message.len() > TEXT_BYTES_MAX {
        return AwsError::invalid_parameter("SMS message must be less than 1600 bytes");
    }
    AwsError::invalid_parameter(
        "Invalid parameter: PhoneNumber Reason: Fanlog sends no text messages: publish to a topic",
    )
}

fn refused(error: PublishError) -> AwsError {
    match error {
        // A Kafka client has deleted it.
        PublishError::Lookup(_) => AwsError::topic_does_not_exist(),
        PublishError::NoDedup { .. }
        | PublishError::NoKey { .. }
        | PublishError::Build(_)
        | PublishError::TooLate(_)
        | PublishError::Internal { .. } => {
            AwsError::invalid_parameter(format!("Invalid parameter: TopicArn Reason: {error}"))
        }
        PublishError::Append(_) | PublishError::Unsure(_) => {
            AwsError::internal_error(error.to_string())
        }
    }
}

#[cfg(test)]
#[path = "publish_tests.rs"]
mod tests;
