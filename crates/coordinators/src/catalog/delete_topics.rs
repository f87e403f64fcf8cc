//! Deleting topics. The record comes first; the broker removes the folders once it is durable, or at its next start.

use super::queues::end_queues_of;
use super::record::Record;
use super::{CatalogView, Decision, Ledger, Rules};
use fanlog_model::{TopicId, TopicName};
use std::collections::BTreeSet;
use thiserror::Error;

/// A topic meant by its name or by its id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TopicRef {
    /// By name, unchecked.
    Name(String),
    /// By id.
    Id(TopicId),
}

/// A topic that is gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeletedTopic {
    /// Its name.
    pub name: TopicName,
    /// Its id.
    pub id: TopicId,
}

/// Why a topic is not deleted.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DeleteTopicError {
    /// No topic of that name.
    #[error("topic '{name}' does not exist")]
    UnknownTopic {
        /// The name given.
        name: String,
    },
    /// No topic of that id.
    #[error("no topic has the id {id}")]
    UnknownTopicId {
        /// The id given.
        id: TopicId,
    },
    /// The broker itself needs the topic.
    #[error("topic '{name}' is internal and can't be deleted")]
    Internal {
        /// The topic.
        name: TopicName,
    },
    /// The request means the topic more than once.
    #[error("the request names topic '{name}' more than once")]
    Repeated {
        /// The topic.
        name: TopicName,
    },
    /// Deletion is switched off.
    #[error("deleting topics is switched off; set delete.topic.enable to true")]
    Disabled,
}

/// Decides on a DeleteTopics request; every topic stands or falls alone.
pub fn delete_topics(
    ledger: &Ledger,
    rules: &Rules,
    request: &[TopicRef],
) -> Decision<Vec<Result<DeletedTopic, DeleteTopicError>>> {
    let view = ledger.view();
    let is_enabled = rules.broker_settings(view).delete_topic;
    let mut seen = BTreeSet::new();
    let repeated: BTreeSet<TopicId> = request
        .iter()
        .filter_map(|topic| find(view, topic).ok())
        .filter(|topic| !seen.insert(topic.id))
        .map(|topic| topic.id)
        .collect();
    let decide = |topic: &TopicRef| {
        let topic = find(view, topic)?;
        let DeletedTopic { name, id } = topic.clone();
        if repeated.contains(&id) {
            return Err(DeleteTopicError::Repeated { name });
        }
        if view.topic(&name).is_some_and(|t| t.is_internal) {
            return Err(DeleteTopicError::Internal { name });
        }
        if is_enabled {
            Ok(topic)
        } else {
            Err(DeleteTopicError::Disabled)
        }
    };
    let reply: Vec<_> = request.iter().map(decide).collect();
    // The queues of a topic go with it, in the same change.
    let records = reply
        .iter()
        .flatten()
        .filter_map(|deleted| view.topic_by_id(deleted.id))
        .flat_map(|topic| {
            let mut records = end_queues_of(view, topic);
            records.push(Record::TopicDeleted(topic.id));
            records
        })
        .collect();
    Decision { records, reply }
}

fn find(view: &CatalogView, topic: &TopicRef) -> Result<DeletedTopic, DeleteTopicError> {
    let found = match topic {
        TopicRef::Name(name) => view
            .topic_named(name)
            .ok_or_else(|| DeleteTopicError::UnknownTopic { name: name.clone() }),
        TopicRef::Id(id) => view
            .topic_by_id(*id)
            .ok_or(DeleteTopicError::UnknownTopicId { id: *id }),
    };
    found.map(|topic| DeletedTopic {
        name: topic.name.clone(),
        id: topic.id,
    })
}
