//! What a subscriber gets for a record: the notification around it, or its value alone.
//!
//! Why it exists: nothing is copied when a message is published; the envelope is made when it is received. It says the same each time: its
//! ids, its time and its signature follow from the record.
//! In -> out: a record that the broker's queue of a subscription has handed out -> body and attributes.

use super::Sns;
use super::envelope::{Notification, Signature};
use super::index::Subscription;
use super::signing::SigningError;
use crate::headers::{self, Attributes, MESSAGE_PREFIX, SUBJECT};
use fanlog_aws_protocol::ids;
use fanlog_broker::{Headers, Message};
use fanlog_model::times::format_timestamp;
use fanlog_model::{GroupId, Offset, PartitionIndex, TimestampMs, TopicName};

/// The headers by which a dead letter says where it comes from.
const DEAD_QUEUE: &str = "fanlog.dead.queue";
const DEAD_TOPIC: &str = "fanlog.dead.topic";
const DEAD_PARTITION: &str = "fanlog.dead.partition";
const DEAD_OFFSET: &str = "fanlog.dead.offset";
const DEAD_TIMESTAMP: &str = "fanlog.dead.timestamp";

/// A message as a subscriber gets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Delivery {
    /// Its body.
    pub(crate) body: String,
    /// Its attributes, where there is no envelope that has them.
    pub(crate) attributes: Attributes,
    /// By which it is known.
    pub(crate) message_id: String,
}

/// Where a record was published, and when.
struct Origin {
    topic: TopicName,
    partition: PartitionIndex,
    offset: Offset,
    timestamp: TimestampMs,
}

impl Sns {
    /// A message that a queue of SQS has received: from one of its subscriptions, or as a dead letter of one. Nothing for any other.
    pub(crate) async fn delivered(&self, base_url: &str, message: &Message) -> Option<Delivery> {
        let index = self.subscriptions.index(&self.shared).ok()?;
        let subscription = index.of_group(&message.queue).or_else(|| {
            let dead = headers::text(&message.headers, DEAD_QUEUE)?;
            index.of_group(&GroupId::from(dead))
        })?;
        let delivery = self.delivery(base_url, subscription, message).await;
        delivery
            .inspect_err(|error| tracing::error!(%error, "a message of SNS is received without its envelope"))
            .ok()
    }

    /// A record as this subscription gets it.
    pub(super) async fn delivery(
        &self,
        base_url: &str,
        subscription: &Subscription,
        message: &Message,
    ) -> Result<Delivery, SigningError> {
        let origin = Origin::of(message);
        let message_id = self.message_id(&origin.topic, origin.partition, origin.offset);
        let document = &subscription.value;
        let own = format!("{MESSAGE_PREFIX}{}", document.protocol.as_str());
        let (text, is_base64) = match headers::text(&message.headers, &own) {
            Some(text) => (text.to_owned(), false),
            None => headers::body(message.value.as_deref()),
        };
        let mut attributes = headers::of_headers(&message.headers);
        if is_base64 {
            headers::mark_base64(&mut attributes);
        }
        if document.is_raw() {
            return Ok(Delivery {
                body: text,
                attributes,
                message_id,
            });
        }
        let account = &self.shared.config.account;
        let topic_arn = document.topic_arn(account).to_string();
        let names = &self.shared.names;
        let topic = names.document(&document.region, &document.topic);
        let topic = self.topics.get(&topic).ok().flatten();
        let is_fifo = topic.as_ref().is_some_and(|topic| topic.value.is_fifo());
        let number = is_fifo.then(|| ids::sequence_number(origin.offset.0));
        let timestamp = format_timestamp(origin.timestamp);
        let notification = Notification {
            message_id: &message_id,
            sequence_number: number.as_deref(),
            topic_arn: &topic_arn,
            subject: headers::text(&message.headers, SUBJECT),
            message: &text,
            timestamp: &timestamp,
            attributes: &attributes,
        };
        let version = topic.map(|topic| topic.value.signature_version());
        let version = version.unwrap_or_default();
        let signed = notification.signed().text();
        let signature = self.signatures.sign(version, signed).await?;
        let certificate_url = self.certificate_url(base_url).await?;
        let arn = document.arn(account, subscription.name()).to_string();
        let body = notification.write(
            Signature {
                version: version.as_str(),
                text: &signature,
                certificate_url: &certificate_url,
            },
            &format!("{base_url}/?Action=Unsubscribe&SubscriptionArn={arn}"),
        );
        Ok(Delivery {
            body,
            attributes: Attributes::new(),
            message_id,
        })
    }

    /// Where the certificate of the signatures is.
    pub(super) async fn certificate_url(&self, base_url: &str) -> Result<String, SigningError> {
        Ok(format!(
            "{base_url}/{}",
            self.signatures.signer().await?.file()
        ))
    }

    /// By what the message is known that lies there.
    pub(super) fn message_id(
        &self,
        topic: &TopicName,
        partition: PartitionIndex,
        offset: Offset,
    ) -> String {
        let topics = self.shared.broker.topics();
        // A topic that goes in this moment takes the message with it.
        let id = topics.by_name(topic).map(|topic| *topic.id.0.as_bytes());
        ids::message_id(id.unwrap_or_default(), partition.0, offset.0)
    }
}

impl Origin {
    fn of(message: &Message) -> Self {
        Self::of_dead(&message.headers).unwrap_or_else(|| Self {
            topic: message.id.topic.clone(),
            partition: message.id.partition,
            offset: message.id.offset,
            timestamp: message.timestamp,
        })
    }

    /// A dead letter says itself where it was published.
    fn of_dead(headers: &Headers) -> Option<Self> {
        let number = |name: &str| headers::text(headers, name)?.parse::<i64>().ok();
        Some(Self {
            topic: TopicName::new(headers::text(headers, DEAD_TOPIC)?).ok()?,
            partition: PartitionIndex(number(DEAD_PARTITION)?.try_into().ok()?),
            offset: Offset(number(DEAD_OFFSET)?),
            timestamp: TimestampMs(number(DEAD_TIMESTAMP)?),
        })
    }
}
