//! A queue: what its document says, and what follows from that.
//!
//! Why it exists: SQS knows attributes as texts; the broker wants topics, queues and settings.

use super::attributes::{self, Attributes};
use super::redrive::{self, RedrivePolicy};
use crate::documents::Stored;
use fanlog_aws_protocol::arn::Arn;
use fanlog_aws_protocol::names::is_fifo;
use fanlog_model::{GroupId, TopicName};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// The space of the documents.
pub(crate) const SPACE: &str = "aws.queue";
/// The format that is written.
pub(super) const FORMAT: u16 = 1;

/// A queue as the catalog has it.
pub(crate) type Queue = Arc<Stored<QueueDocument>>;

/// What the catalog keeps of a queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct QueueDocument {
    /// How this is written.
    pub(super) format: u16,
    /// Its region.
    pub(crate) region: String,
    /// Its name.
    pub(crate) name: String,
    /// The topic that it owns, and the broker's queue on it: kept, so that it finds them whatever the settings say later.
    pub(super) topic: String,
    pub(super) group: String,
    /// Drawn when it was made: a queue made anew under the name is another one.
    pub(super) life: u64,
    /// Those attributes that were given, in canonical form.
    pub(super) attributes: Attributes,
    /// Its tags.
    pub(super) tags: BTreeMap<String, String>,
    /// When it was made, in milliseconds since 1970.
    pub(super) created_ms: i64,
    /// When its attributes were changed last.
    pub(super) modified_ms: i64,
    /// Its end is under way: it is not there any more, and its topic and queues go.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_deleted: bool,
}

impl QueueDocument {
    /// The topic that it owns.
    pub(crate) fn topic(&self) -> TopicName {
        TopicName::new(&self.topic)
            .expect("it was the name of a topic when the document was written")
    }

    /// The broker's queue on that topic.
    pub(crate) fn group(&self) -> GroupId {
        GroupId::from(self.group.as_str())
    }

    /// Which of the lives of its name this is.
    pub(super) fn life(&self) -> u64 {
        self.life
    }

    /// Its name everywhere.
    pub(crate) fn arn(&self, account: &str) -> Arn {
        Arn::queue(&self.region, account, &self.name)
    }

    pub(crate) fn is_fifo(&self) -> bool {
        is_fifo(&self.name)
    }

    /// All attributes in force that can be set.
    pub(super) fn in_force(&self) -> Attributes {
        attributes::in_force(&self.attributes, self.is_fifo())
    }

    fn seconds(&self, name: &str) -> Duration {
        let seconds = attributes::number(&self.attributes, name);
        Duration::from_secs(u64::try_from(seconds).unwrap_or_default())
    }

    /// For how long a received message is not to be seen, unless the receive says.
    pub(crate) fn visibility(&self) -> Duration {
        self.seconds(attributes::VISIBILITY)
    }

    /// For how long a message is not to be seen at first, unless it says.
    pub(crate) fn delay(&self) -> Duration {
        self.seconds(attributes::DELAY)
    }

    /// For how long messages are kept.
    pub(crate) fn retention(&self) -> Duration {
        self.seconds(attributes::RETENTION)
    }

    /// For how long a receive waits, unless it says.
    pub(super) fn wait(&self) -> Duration {
        self.seconds(attributes::WAIT)
    }

    /// How many bytes a message may have.
    pub(super) fn message_bytes_max(&self) -> usize {
        let bytes = attributes::number(&self.attributes, attributes::MESSAGE_BYTES);
        usize::try_from(bytes).unwrap_or_default()
    }

    fn is(&self, name: &str, value: &str) -> bool {
        self.attributes
            .get(name)
            .is_some_and(|given| given == value)
    }

    /// Whether a message's body stands for its deduplication id.
    pub(super) fn deduplicates_content(&self) -> bool {
        self.is(attributes::CONTENT_BASED_DEDUPLICATION, "true")
    }

    /// Whether messages of different groups are never taken for the same.
    pub(super) fn deduplicates_per_group(&self) -> bool {
        self.is(attributes::DEDUPLICATION_SCOPE, attributes::PER_GROUP)
    }

    /// Where its dead letters go.
    pub(super) fn redrive_policy(&self) -> Option<RedrivePolicy> {
        let text = self.attributes.get(attributes::REDRIVE_POLICY)?;
        // It was checked when it was set.
        redrive::policy(text).ok().flatten()
    }

    /// The queue that takes its dead letters, whether it is there or not.
    pub(crate) fn redrive_target(&self) -> Option<Arn> {
        self.redrive_policy().map(|policy| policy.target)
    }

    /// Whether its end is under way: it is not there any more.
    pub(crate) fn is_deleted(&self) -> bool {
        self.is_deleted
    }

    /// Whether it takes the dead letters of that queue.
    pub(super) fn allows(&self, source: &Arn) -> bool {
        let text = self.attributes.get(attributes::REDRIVE_ALLOW_POLICY);
        let policy = redrive::allow_policy(text.map_or("", String::as_str));
        // It was checked when it was set.
        policy.is_ok_and(|policy| policy.allows(source))
    }

    /// The settings of its broker's queues; dead letters go to a topic, if that queue is there.
    pub(crate) fn settings(&self, dead_letter: Option<&TopicName>) -> BTreeMap<String, String> {
        const LOCK_MIN: Duration = Duration::from_secs(1);
        let attempts = self.redrive_policy().filter(|_| dead_letter.is_some());
        let attempts = attempts.map_or(0, |policy| policy.receives_max);
        let seconds = |duration: Duration| format!("{}s", duration.as_secs());
        let order = if self.is_fifo() { "key" } else { "none" };
        [
            ("backoff", "none".to_owned()),
            (
                "dead-letter",
                dead_letter.map_or("none".to_owned(), |topic| topic.to_string()),
            ),
            ("delay", seconds(self.delay())),
            // A receive says it itself, zero too.
            ("lock", seconds(self.visibility().max(LOCK_MIN))),
            ("max-attempts", attempts.to_string()),
            ("order", order.to_owned()),
            // Messages go when their time is over, by contract.
            ("retention-hold", "false".to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
    }
}
