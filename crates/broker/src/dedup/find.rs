//! Where the record with a message id is.
//!
//! In -> out: a topic that remembers ids, and an id -> the place of the first record with it, once that is durable and decided.

use super::claim::{First, IdsError, Obstacle};
use crate::broker::Broker;
use crate::queues::MessageId;
use fanlog_model::TopicName;
use thiserror::Error;

/// Why it can't be said where a record with an id is.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FindMessageError {
    /// There is no such topic.
    #[error("there is no topic '{topic}'")]
    NoSuchTopic {
        /// The topic.
        topic: TopicName,
    },
    /// The topic remembers none.
    #[error(
        "topic '{topic}' does not remember message ids; name the message as topic/partition/offset, or set the topic's dedup.window.ms to how long it shall remember them"
    )]
    NoDedup {
        /// The topic.
        topic: TopicName,
    },
    /// The topic has no record with the id, or not any more.
    #[error(
        "topic '{topic}' remembers no message '{id}': its dedup.window.ms is {window_ms}, and what was appended before that is known by topic/partition/offset only"
    )]
    Unknown {
        /// The topic.
        topic: TopicName,
        /// The id.
        id: Box<str>,
        /// The setting.
        window_ms: i64,
    },
    /// It is not known yet.
    #[error(transparent)]
    Ids(#[from] IdsError),
}

impl Broker {
    /// Where the record with this `message-id` is.
    ///
    /// # Errors
    /// The topic is not there, or remembers no ids, or not this one, or it is not decided what becomes of the record.
    pub fn message_with_id(
        &self,
        topic: &TopicName,
        id: &str,
    ) -> Result<MessageId, FindMessageError> {
        let topics = self.topics();
        let found = topics.by_name(topic);
        let found = found.ok_or_else(|| FindMessageError::NoSuchTopic {
            topic: topic.clone(),
        })?;
        let window_ms = found.settings.dedup_window_ms;
        if window_ms == 0 {
            return Err(FindMessageError::NoDedup {
                topic: topic.clone(),
            });
        }
        let unknown = || FindMessageError::Unknown {
            topic: topic.clone(),
            id: id.into(),
            window_ms,
        };
        // An empty one is none.
        if id.is_empty() {
            return Err(unknown());
        }
        let refusal = |obstacle| match obstacle {
            Obstacle::Refused(error) => error,
            Obstacle::Loading => IdsError::Loading {
                topic: topic.clone(),
            },
            Obstacle::Held | Obstacle::NotDurable { .. } => IdsError::Undecided {
                topic: topic.clone(),
            },
        };
        let ids = self.dedup.of_topic(found.id);
        let ids = ids.ok_or_else(|| refusal(Obstacle::Loading))?;
        let First {
            partition, offset, ..
        } = ids
            .find(id.as_bytes())
            .map_err(refusal)?
            .ok_or_else(unknown)?;
        Ok(MessageId {
            topic: topic.clone(),
            partition,
            offset,
        })
    }
}
