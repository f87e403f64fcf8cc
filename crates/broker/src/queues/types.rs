//! What is asked of queues, and what they answer.

use super::receipt::{Receipt, ReceiptError};
use crate::fetch_budget::FetchMemory;
use crate::groups::CoordinatorError;
use bytes::Bytes;
use fanlog_coordinators::queue::{DueTooLate, SettleError, Settled};
use fanlog_model::{GroupId, Offset, PartitionIndex, TimestampMs, TopicId, TopicName};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;

/// Where a new queue begins, in every partition that its topic has then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Start {
    /// Behind what is there.
    #[default]
    Latest,
    /// With the first record that the topic keeps.
    Earliest,
    /// With the first record at or after this time.
    Time(TimestampMs),
    /// At this offset of each partition.
    Offset(Offset),
}

/// A queue that is to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewQueue {
    /// Its name: a group id.
    pub name: GroupId,
    /// The topic that it reads.
    pub topic: TopicName,
    /// Its settings, as text; what is not given has its default.
    pub settings: BTreeMap<String, String>,
    /// Where it begins.
    pub start: Start,
}

/// What a queue is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueDescription {
    /// Its name.
    pub name: GroupId,
    /// The topic that it reads.
    pub topic: TopicName,
    /// That topic's id: a topic made anew under the name is another one.
    pub topic_id: TopicId,
    /// How many partitions it reads.
    pub partitions: i32,
    /// Its settings in force, as text, with the defaults.
    pub settings: BTreeMap<String, String>,
    /// The topic of its dead letters, unless it has none.
    pub dead_letter: Option<TopicName>,
    /// Whether it is paused.
    pub is_paused: bool,
}

/// Which record: shown and read as `topic/partition/offset`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MessageId {
    /// Its topic.
    pub topic: TopicName,
    /// Its partition.
    pub partition: PartitionIndex,
    /// Its offset.
    pub offset: Offset,
}

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.topic, self.partition, self.offset)
    }
}

/// A text that names no record.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("'{0}' is no message id: it is written topic/partition/offset, as in orders/3/1042")]
pub struct MessageIdError(pub Box<str>);

impl FromStr for MessageId {
    type Err = MessageIdError;

    fn from_str(text: &str) -> Result<Self, MessageIdError> {
        let wrong = || MessageIdError(text.into());
        let mut parts = text.rsplitn(3, '/');
        let mut next = || parts.next().ok_or_else(wrong);
        let offset: i64 = next()?.parse().map_err(|_| wrong())?;
        let partition: i32 = next()?.parse().map_err(|_| wrong())?;
        if offset < 0 || partition < 0 {
            return Err(wrong());
        }
        Ok(Self {
            topic: TopicName::new(next()?).map_err(|_| wrong())?,
            partition: PartitionIndex(partition),
            offset: Offset(offset),
        })
    }
}

/// What a consumer wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receive {
    /// Who it is: with order per key, one consumer has a key at a time. Without a name it is somebody new with each receive.
    pub consumer: Arc<str>,
    /// How many messages at most.
    pub records_max: usize,
    /// At most so many bytes of keys, values and headers; one message may exceed it.
    pub bytes_max: usize,
    /// The longest wait for the first message.
    pub wait_max: Duration,
    /// How long they are held; `None` as the queue says. Zero: the attempts count, and the messages come again as after any that failed.
    pub lock: Option<Duration>,
}

/// What a consumer gets.
#[derive(Debug)]
pub struct Received {
    /// The messages, in the order of their offsets within each partition; none if there was none in time.
    pub messages: Vec<Message>,
    /// The bytes count against the broker's budget until this is dropped: keep it until they are sent.
    pub memory: FetchMemory,
}

/// The headers of a record, in their order.
pub type Headers = Vec<(String, Option<Bytes>)>;

/// A record that a consumer holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Which record.
    pub id: MessageId,
    /// The queue that hands it out.
    pub queue: GroupId,
    /// With it the consumer says what became of the record.
    pub receipt: Receipt,
    /// The record's own.
    pub timestamp: TimestampMs,
    /// The record's own.
    pub key: Option<Bytes>,
    /// The record's own.
    pub value: Option<Bytes>,
    /// The record's own.
    pub headers: Headers,
    /// Which delivery of it this is, from 1.
    pub attempt: u16,
    /// When it was handed out for the first time; none where that is not remembered.
    pub first_received: Option<TimestampMs>,
    /// Until when it is held.
    pub lock_until: TimestampMs,
}

/// What became of a message, in its consumer's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettleOutcome {
    /// Done.
    Ack,
    /// The attempt failed: it comes again after `delay`, or else as the queue's backoff says; or becomes a dead letter.
    Nack {
        /// How long it rests.
        delay: Option<Duration>,
        /// Why, for people.
        reason: String,
    },
    /// It becomes a dead letter now.
    Reject {
        /// Why, for people.
        reason: String,
    },
    /// Not tried: it comes again, at once or after `delay`, and no attempt is burnt.
    Release {
        /// How long it rests.
        delay: Option<Duration>,
    },
    /// Still being done: the lock lasts so long from now on.
    Extend(Duration),
}

/// Why what was said of one message did not count.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SettleFailure {
    /// The text is no receipt.
    #[error(transparent)]
    NoReceipt(#[from] ReceiptError),
    /// It is a receipt of another queue, or of a topic that is gone.
    #[error("the receipt is not one of queue '{queue}'")]
    OfAnother {
        /// The queue that was asked.
        queue: GroupId,
    },
    /// The lock ran out, or it was settled before.
    #[error(transparent)]
    Refused(#[from] SettleError),
    /// Retention would take it before it comes again.
    #[error(transparent)]
    DueTooLate(#[from] DueTooLate),
    /// The queue's state cannot be written; retry.
    #[error(transparent)]
    Unavailable(#[from] CoordinatorError),
}

/// One answer per receipt.
pub type SettledEach = Vec<Result<Settled, SettleFailure>>;

/// How many messages of a queue there are, and of which kind. Those on their way to another topic are none of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueCounts {
    /// They can be received, or wait for an earlier one of their key.
    pub visible: u64,
    /// Consumers hold them.
    pub in_flight: u64,
    /// They are not due yet, or rest after an attempt that failed.
    pub delayed: u64,
    /// There were too many to look at each.
    pub is_estimate: bool,
}

/// What a cancellation led to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CancelOutcome {
    /// Which message.
    pub id: MessageId,
    /// In which queue it will not be delivered, and whether it was still to be delivered there when that was said.
    pub queues: Vec<(GroupId, Result<bool, QueueError>)>,
}

/// Why a queue does not do what was asked.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum QueueError {
    /// There is none of that name.
    #[error("there is no queue '{name}'")]
    NoSuchQueue {
        /// The name.
        name: GroupId,
    },
    /// There is one, with another topic or other settings.
    #[error("there is a queue '{name}' already")]
    Exists {
        /// The name.
        name: GroupId,
    },
    /// The name belongs to a group that is no queue.
    #[error(
        "'{name}' is the name of a group; queues and groups share their names: take another one"
    )]
    NameIsGroup {
        /// The name.
        name: GroupId,
    },
    /// The name cannot be one.
    #[error("'{name}' cannot be the name of a queue: {reason}")]
    BadName {
        /// The name.
        name: GroupId,
        /// Why.
        reason: Box<str>,
    },
    /// There is no such topic, or not any more.
    #[error("there is no topic '{topic}'")]
    NoSuchTopic {
        /// The topic.
        topic: TopicName,
    },
    /// The topic cannot be read by a queue.
    #[error("queues do not read topic '{topic}': {reason}")]
    BadTopic {
        /// The topic.
        topic: TopicName,
        /// Why.
        reason: Box<str>,
    },
    /// A setting is unknown, or its value is out of range.
    #[error("{reason}")]
    BadSetting {
        /// The setting.
        setting: Box<str>,
        /// The value.
        value: Box<str>,
        /// What is wrong, and what is right.
        reason: Box<str>,
    },
    /// A number in what was asked is out of range.
    #[error("{what} is {given}; it must be at least {min} and at most {max}")]
    Limit {
        /// Which number.
        what: &'static str,
        /// What was given.
        given: i64,
        /// The least.
        min: i64,
        /// The most.
        max: i64,
    },
    /// There is no such message, or it is not what was asked for.
    #[error("message {id}: {reason}")]
    NoSuchMessage {
        /// Which.
        id: MessageId,
        /// Why not.
        reason: Box<str>,
    },
    /// The queue has no such redrive, or remembers it no more.
    #[error("queue '{queue}' has no redrive '{id}'")]
    NoSuchRedrive {
        /// The queue.
        queue: GroupId,
        /// What was asked for.
        id: Box<str>,
    },
    /// One at a time.
    #[error(
        "redrive '{id}' of queue '{queue}' is under way, and there is one at a time; wait for its end, or cancel it"
    )]
    RedriveUnderWay {
        /// The queue.
        queue: GroupId,
        /// Which one.
        id: Box<str>,
    },
    /// What is over is not cancelled.
    #[error("redrive '{id}' of queue '{queue}' is over: it is {state}")]
    RedriveOver {
        /// The queue.
        queue: GroupId,
        /// Which one.
        id: Box<str>,
        /// How it ended.
        state: &'static str,
    },
    /// A topic that it needs cannot be made.
    #[error("topic '{topic}' cannot be made: {reason}")]
    TopicNotMade {
        /// The topic.
        topic: TopicName,
        /// Why.
        reason: Box<str>,
    },
    /// A record cannot be read.
    #[error("topic '{topic}' cannot be read: {reason}")]
    Read {
        /// The topic.
        topic: TopicName,
        /// Why.
        reason: Box<str>,
    },
    /// Its state cannot be read or written now; retry.
    #[error(transparent)]
    Unavailable(#[from] CoordinatorError),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_id_is_read_as_it_is_shown() {
        let id: MessageId = "a.b/3/42".parse().unwrap();
        assert_eq!((id.partition, id.offset), (PartitionIndex(3), Offset(42)));
        assert_eq!(id.to_string(), "a.b/3/42");
        for wrong in [
            "", "a", "a/1", "a/-1/2", "a/1/-2", "a/1/x", "/1/2", "a/b/1/2",
        ] {
            assert!(wrong.parse::<MessageId>().is_err(), "{wrong}");
        }
    }
}
