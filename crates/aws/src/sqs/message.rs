//! A message of SQS as a record, and a record as a message of SQS.
//!
//! The body is the record's value, its attributes are headers of their names; on FIFO queues the group is the key and the deduplication id
//! stands in the header `message-id`, so that any Kafka client reads and writes the same. What has no place of its own stands in headers
//! that begin with `aws.`.
//!
//! In -> out: what is sent -> what is published; what is received -> what is answered.

use super::QueueDocument;
use crate::headers::{self, Attributes, DEDUPLICATION, ENCODING, GROUP, TRACE};
use crate::shared::Shared;
use bytes::Bytes;
use fanlog_aws_protocol::sqs::{self, OutgoingMessage, ReceiveMessage};
use fanlog_aws_protocol::{AttributeValue, digest, ids};
use fanlog_broker::{Due, Headers, Message, MessageId, NewMessage};
use fanlog_model::{Offset, PartitionIndex, TimestampMs, TopicName};
use std::collections::BTreeMap;
use std::time::Duration;

/// Who has sent it: the id of an access key.
const SENDER: &str = "aws.sender";
/// By it a topic tells messages apart (`dedup.window.ms`).
const MESSAGE_ID: &str = "message-id";

/// The headers by which a dead letter says where it comes from.
const DEAD_QUEUE: &str = "fanlog.dead.queue";
const DEAD_TOPIC: &str = "fanlog.dead.topic";
const DEAD_PARTITION: &str = "fanlog.dead.partition";
const DEAD_OFFSET: &str = "fanlog.dead.offset";
const DEAD_TIMESTAMP: &str = "fanlog.dead.timestamp";
const DEAD_ATTEMPTS: &str = "fanlog.dead.attempts";

/// What is published for a message.
pub(super) fn to_publish(
    queue: &QueueDocument,
    message: OutgoingMessage,
    sender: &str,
) -> NewMessage {
    let mut all = headers::to_headers(&message.attributes);
    let mut put = |name: &str, value: &str| {
        all.push((
            name.to_owned(),
            Some(Bytes::copy_from_slice(value.as_bytes())),
        ));
    };
    put(SENDER, sender);
    if let Some(trace) = message.system_attributes.get("AWSTraceHeader")
        && let AttributeValue::String(trace) = &trace.value
    {
        put(TRACE, trace);
    }
    let mut key = None;
    let mut message_id = None;
    if queue.is_fifo() {
        let group = message.group_id.unwrap_or_default();
        let id = message.deduplication_id;
        let id = id.unwrap_or_else(|| digest::content_deduplication_id(&message.body));
        message_id = Some(match queue.deduplicates_per_group() {
            true => {
                put(DEDUPLICATION, &id);
                // The length keeps apart what would be the same text otherwise.
                format!("{}:{group}:{id}", group.len())
            }
            false => id,
        });
        key = Some(Bytes::from(group));
    } else {
        let noted = [
            (GROUP, message.group_id),
            (DEDUPLICATION, message.deduplication_id),
        ];
        for (name, value) in noted {
            if let Some(value) = value {
                put(name, &value);
            }
        }
    }
    let delay = message.delay_seconds.filter(|_| !queue.is_fifo());
    let delay = delay.and_then(|seconds| u64::try_from(seconds).ok());
    NewMessage {
        partition: None,
        key,
        value: Some(Bytes::from(message.body)),
        headers: all,
        due: delay.map(|seconds| Due::After(Duration::from_secs(seconds))),
        message_id,
    }
}

/// The message's id, which follows from where it lies.
pub(super) fn message_id(
    shared: &Shared,
    topic: &TopicName,
    partition: PartitionIndex,
    offset: Offset,
) -> String {
    let topics = shared.broker.topics();
    // A topic that goes in this moment takes the message with it.
    let id = topics.by_name(topic).map(|topic| *topic.id.0.as_bytes());
    ids::message_id(id.unwrap_or_default(), partition.0, offset.0)
}

/// Whether it is a dead letter now. What was moved back says still where it comes from, and is a new message all the same.
fn is_dead_letter(headers: &Headers) -> bool {
    text(headers, DEAD_QUEUE).is_some()
}

/// When the message was sent; none where its producer has not said. A dead letter of a standard queue keeps the time at which it came into its
/// first queue, on FIFO queues it is that at which it became one.
pub(super) fn sent_at(queue: &QueueDocument, message: &Message) -> Option<TimestampMs> {
    let headers = &message.headers;
    let keeps_time = !queue.is_fifo() && is_dead_letter(headers);
    let before = text(headers, DEAD_TIMESTAMP).filter(|_| keeps_time);
    let before = before.and_then(|text| text.parse().ok()).map(TimestampMs);
    Some(before.unwrap_or(message.timestamp)).filter(|time| time.0 >= 0)
}

/// How a message is answered that was received, as far as the request asks for it.
pub(super) fn to_answer(
    shared: &Shared,
    queue: &QueueDocument,
    asked: &ReceiveMessage,
    message: &Message,
) -> sqs::Message {
    let (body, mut attributes) = content(message);
    attributes.retain(|name, _| name == ENCODING || asked.wants_attribute(name));
    answered(shared, queue, asked, message, body, attributes)
}

/// The same, with another body and other attributes than the record has.
pub(super) fn answered(
    shared: &Shared,
    queue: &QueueDocument,
    asked: &ReceiveMessage,
    message: &Message,
    body: String,
    attributes: Attributes,
) -> sqs::Message {
    let mut system_attributes = BTreeMap::new();
    for (name, value) in system_attributes_of(shared, queue, message) {
        if asked.wants_system_attribute(name) {
            system_attributes.insert(name.to_owned(), value);
        }
    }
    sqs::Message {
        message_id: first_id(shared, message),
        receipt_handle: message.receipt.to_string(),
        md5_of_body: digest::md5_of_body(&body),
        body,
        system_attributes,
        md5_of_attributes: digest::md5_of_attributes(&attributes),
        attributes,
    }
}

/// A dead letter keeps the id that it had in its first queue.
fn first_id(shared: &Shared, message: &Message) -> String {
    let headers = &message.headers;
    let number = |name: &str| text(headers, name)?.parse::<i64>().ok();
    let origin = || {
        let topic = text(headers, DEAD_TOPIC).filter(|_| is_dead_letter(headers))?;
        let topic = TopicName::new(topic).ok()?;
        let partition = i32::try_from(number(DEAD_PARTITION)?).ok()?;
        Some((
            topic,
            PartitionIndex(partition),
            Offset(number(DEAD_OFFSET)?),
        ))
    };
    let MessageId {
        topic,
        partition,
        offset,
    } = &message.id;
    let (topic, partition, offset) = origin().unwrap_or((topic.clone(), *partition, *offset));
    message_id(shared, &topic, partition, offset)
}

/// Body and attributes of a record. A value that is no text, which SQS could not carry, is written in base64, and an attribute says so.
fn content(message: &Message) -> (String, Attributes) {
    let mut attributes = headers::of_headers(&message.headers);
    let (body, is_base64) = headers::body(message.value.as_deref());
    if is_base64 {
        headers::mark_base64(&mut attributes);
    }
    (body, attributes)
}

fn system_attributes_of(
    shared: &Shared,
    queue: &QueueDocument,
    message: &Message,
) -> Vec<(&'static str, String)> {
    let headers = &message.headers;
    let of_header = |name: &str| text(headers, name).map(str::to_owned);
    // "Across all queues": what was counted before it became a dead letter counts too.
    let before = text(headers, DEAD_ATTEMPTS).and_then(|text| text.parse::<u64>().ok());
    let received = before.unwrap_or(0) + u64::from(message.attempt);
    let first = message.first_received.unwrap_or_else(|| shared.now());
    let sent = sent_at(queue, message).unwrap_or(first);
    let sender = of_header(SENDER).unwrap_or_else(|| shared.config.account.clone());
    let mut all = vec![
        ("ApproximateFirstReceiveTimestamp", first.0.to_string()),
        ("ApproximateReceiveCount", received.to_string()),
        ("SenderId", sender),
        ("SentTimestamp", sent.0.to_string()),
    ];
    let (mut group, mut id) = (of_header(GROUP), of_header(DEDUPLICATION));
    if queue.is_fifo() {
        group = message
            .key
            .as_deref()
            .map(|key| String::from_utf8_lossy(key).into_owned());
        id = id.or_else(|| of_header(MESSAGE_ID));
        all.push(("SequenceNumber", ids::sequence_number(message.id.offset.0)));
    }
    let source = text(headers, DEAD_QUEUE).and_then(|group| source_arn(shared, group));
    let optional = [
        ("AWSTraceHeader", of_header(TRACE)),
        ("DeadLetterQueueSourceArn", source),
        ("MessageDeduplicationId", id),
        ("MessageGroupId", group),
    ];
    for (name, value) in optional {
        all.extend(value.map(|value| (name, value)));
    }
    all
}

/// The queue of SQS that a queue of the broker belongs to.
fn source_arn(shared: &Shared, group: &str) -> Option<String> {
    let queues = shared.all_queues().ok()?;
    let is_it = |queue: &&super::Queue| {
        let own = queue.value.group();
        let rest = group.strip_prefix(own.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(".sns."))
    };
    let queue = queues.iter().find(is_it)?;
    Some(queue.value.arn(&shared.config.account).to_string())
}

fn text<'a>(headers: &'a Headers, name: &str) -> Option<&'a str> {
    // The last one of a name counts, as it does for the topic.
    let (_, value) = headers.iter().rev().find(|(header, _)| header == name)?;
    std::str::from_utf8(value.as_ref()?).ok()
}
