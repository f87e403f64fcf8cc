//! Queues: named subscriptions on topics. What they may do stands here; what became of their records stands elsewhere.

use super::record::{Queue, QueueStart, Record};
use super::{CatalogView, Decision, Ledger, Rules, Topic};
use crate::filter::{Filter, FilterError};
use crate::group::GroupKind;
use fanlog_model::settings::{
    Overrides, QueueSettings, SettingError, check_queue_name, check_queue_setting, check_size,
    queue_settings, redrive_topic,
};
use fanlog_model::{GroupId, InvalidTopicName, TopicId, TopicName};
use std::collections::BTreeMap;
use std::sync::Arc;
use thiserror::Error;
use uuid::Uuid;

/// The most queues that there may be.
pub const QUEUES_MAX: usize = 10_000;
/// The most queues that one topic may have: each receives every record of it.
pub const QUEUES_PER_TOPIC_MAX: usize = 1_000;

/// A queue asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewQueue {
    /// The id of this life of it, drawn by the caller.
    pub id: Uuid,
    /// Its name, unchecked.
    pub name: GroupId,
    /// The topic, by name, unchecked.
    pub topic: String,
    /// Where it begins to read.
    pub start: QueueStart,
    /// Settings of its own, unchecked.
    pub overrides: Overrides,
    /// The group that has the name already, as far as the caller knows.
    pub taken_by: Option<GroupKind>,
    /// Where it has begun to read already, if it has.
    pub begun: Option<Begun>,
}

/// What of a topic a queue has begun to read before it is made: what comes later is read from its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Begun {
    /// The topic, which may have lost its name meanwhile.
    pub topic: TopicId,
    /// How many partitions it had.
    pub partitions: i32,
}

/// Why a setting of a queue is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum QueueSettingError {
    /// It is unknown or doesn't take its value.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// The filter means nothing.
    #[error("setting filter: {0}")]
    Filter(#[from] FilterError),
    /// Dead letters may not come back the way they went.
    #[error(
        "dead letters of queue '{queue}' can't go to '{topic}', which is {what}; choose another topic for dead-letter, or none"
    )]
    DeadLetter {
        /// The queue.
        queue: GroupId,
        /// The topic.
        topic: TopicName,
        /// What the topic is.
        what: &'static str,
    },
}

/// Why a queue is not created.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CreateQueueError {
    /// The name breaks a rule: it is that of a topic, and shorter.
    #[error("a queue can't be called '{name}': {reason}")]
    InvalidName {
        /// The name.
        name: GroupId,
        /// Which rule; it speaks of topics, which are called after the queue.
        reason: InvalidTopicName,
    },
    /// The name is kept for the broker's own.
    #[error(
        "names that begin with __ are kept for the broker itself; choose another than '{name}'"
    )]
    Reserved {
        /// The name.
        name: GroupId,
    },
    /// The queue is there.
    #[error("queue '{name}' already exists, on topic '{topic}'")]
    AlreadyExists {
        /// The name.
        name: GroupId,
        /// Its topic, as it is called now.
        topic: String,
    },
    /// A group has the name.
    #[error(
        "'{name}' is a {} group, and groups and queues share their names; choose another, or delete the group",
        .kind.name()
    )]
    NameIsGroup {
        /// The name.
        name: GroupId,
        /// What kind of group.
        kind: GroupKind,
    },
    /// No topic of that name.
    #[error("topic '{topic}' does not exist; create it first")]
    UnknownTopic {
        /// The name given.
        topic: String,
    },
    /// The topic is not the one that the queue has begun to read.
    #[error(
        "topic '{topic}' was deleted and made anew while the queue was made; make the queue again"
    )]
    TopicMadeAnew {
        /// The topic.
        topic: TopicName,
    },
    /// The topic is the broker's.
    #[error("topic '{topic}' is internal and has no queues")]
    InternalTopic {
        /// The topic.
        topic: TopicName,
    },
    /// A setting is refused.
    #[error(transparent)]
    Setting(#[from] QueueSettingError),
    /// There are too many.
    #[error("there are {max} queues {scope}, and no more are taken; delete some first")]
    TooMany {
        /// How many may be.
        max: usize,
        /// Where.
        scope: &'static str,
    },
}

/// Why a queue does not change.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AlterQueueError {
    /// There is none.
    #[error(transparent)]
    Unknown(#[from] NoSuchQueue),
    /// A setting is refused.
    #[error(transparent)]
    Setting(#[from] QueueSettingError),
}

/// There is no queue of that name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("queue '{name}' does not exist")]
pub struct NoSuchQueue {
    /// The name given.
    pub name: GroupId,
}

/// Decides on a new queue.
pub fn create_queue(
    ledger: &Ledger,
    _rules: &Rules,
    new: &NewQueue,
) -> Decision<Result<Arc<Queue>, CreateQueueError>> {
    decision(check_new(ledger.view(), new))
}

/// Decides on other settings of a queue: a value is set, none goes back to the default; the others stay.
pub fn alter_queue(
    ledger: &Ledger,
    _rules: &Rules,
    name: &GroupId,
    changes: &BTreeMap<String, Option<String>>,
) -> Decision<Result<Arc<Queue>, AlterQueueError>> {
    let altered = find(ledger.view(), name)
        .map_err(AlterQueueError::from)
        .and_then(|queue| {
            let topic = ledger.view().topic_by_id(queue.topic);
            let overrides = altered(&queue, topic.map(|topic| &topic.name), changes)?;
            Ok((overrides != queue.overrides, queue, overrides))
        });
    match altered {
        Ok((false, queue, _)) => Decision {
            records: Vec::new(),
            reply: Ok(queue),
        },
        Ok((true, queue, overrides)) => decision(Ok(Queue {
            overrides,
            ..Queue::clone(&queue)
        })),
        Err(error) => decision(Err(error)),
    }
}

/// Decides on the end of a queue. Its dead letters stay: they are in a topic.
pub fn delete_queue(
    ledger: &Ledger,
    _rules: &Rules,
    name: &GroupId,
) -> Decision<Result<Arc<Queue>, NoSuchQueue>> {
    let reply = find(ledger.view(), name);
    let records = reply.iter().map(|queue| Record::QueueDeleted(queue.id));
    Decision {
        records: records.collect(),
        reply,
    }
}

/// The records that end all queues of a topic: they go before that which ends the topic, so that no log has a queue without its topic.
pub(super) fn end_queues_of(view: &CatalogView, topic: &Topic) -> Vec<Record> {
    let queues = view.queues_of_topic(topic.id);
    queues.map(|queue| Record::QueueDeleted(queue.id)).collect()
}

fn decision<E>(queue: Result<Queue, E>) -> Decision<Result<Arc<Queue>, E>> {
    let reply = queue.map(Arc::new);
    let records = reply
        .iter()
        .map(|queue| Record::Queue(Queue::clone(queue)))
        .collect();
    Decision { records, reply }
}

fn find(view: &CatalogView, name: &GroupId) -> Result<Arc<Queue>, NoSuchQueue> {
    let queue = view.queue(name).cloned();
    queue.ok_or_else(|| NoSuchQueue { name: name.clone() })
}

fn check_new(view: &CatalogView, new: &NewQueue) -> Result<Queue, CreateQueueError> {
    let name = new.name.clone();
    check_queue_name(name.as_str()).map_err(|reason| CreateQueueError::InvalidName {
        name: name.clone(),
        reason,
    })?;
    if name.as_str().starts_with("__") {
        return Err(CreateQueueError::Reserved { name });
    }
    if let Some(existing) = view.queue(&name) {
        let topic = view.topic_by_id(existing.topic);
        let topic = topic.map_or_else(|| existing.topic.to_string(), |t| t.name.to_string());
        return Err(CreateQueueError::AlreadyExists { name, topic });
    }
    if let Some(kind) = new.taken_by {
        return Err(CreateQueueError::NameIsGroup { name, kind });
    }
    let topic = view
        .topic_named(&new.topic)
        .ok_or_else(|| CreateQueueError::UnknownTopic {
            topic: new.topic.clone(),
        })?;
    if topic.is_internal {
        let topic = topic.name.clone();
        return Err(CreateQueueError::InternalTopic { topic });
    }
    if new.begun.is_some_and(|begun| begun.topic != topic.id) {
        let topic = topic.name.clone();
        return Err(CreateQueueError::TopicMadeAnew { topic });
    }
    let changes = new.overrides.iter();
    let changes = changes.map(|(name, value)| (name.clone(), Some(value.clone())));
    let queue = Queue {
        name,
        id: new.id,
        topic: topic.id,
        start: new.start,
        partitions_at_start: new.begun.map_or(topic.partitions, |begun| begun.partitions),
        overrides: Overrides::new(),
    };
    let overrides = altered(&queue, Some(&topic.name), &changes.collect())?;
    check_room(view, topic)?;
    Ok(Queue { overrides, ..queue })
}

fn check_room(view: &CatalogView, topic: &Topic) -> Result<(), CreateQueueError> {
    let limits = [
        (view.queues().len(), QUEUES_MAX, "on this broker"),
        (
            view.queues_of_topic(topic.id).len(),
            QUEUES_PER_TOPIC_MAX,
            "on the topic",
        ),
    ];
    let full = limits.into_iter().find(|(count, max, _)| count >= max);
    full.map_or(Ok(()), |(_, max, scope)| {
        Err(CreateQueueError::TooMany { max, scope })
    })
}

/// The queue's settings after the changes, canonical and checked as a whole.
fn altered(
    queue: &Queue,
    topic: Option<&TopicName>,
    changes: &BTreeMap<String, Option<String>>,
) -> Result<Overrides, QueueSettingError> {
    let mut overrides = queue.overrides.clone();
    for (name, value) in changes {
        match value {
            Some(value) => {
                overrides.insert(name.clone(), check_queue_setting(name, value)?);
            }
            None if queue_settings().contains_key(name.as_str()) => {
                overrides.remove(name);
            }
            None => {
                check_queue_setting(name, "")?;
            }
        }
    }
    check_size(&overrides)?;
    let settings = QueueSettings::resolve(&overrides);
    check_dead_letter(&queue.name, topic, &settings)?;
    if let Some(filter) = &settings.filter {
        Filter::parse(filter, settings.filter_scope)?;
    }
    Ok(overrides)
}

/// A dead letter in a topic that the queue hands out would be handed out again, and fail again.
fn check_dead_letter(
    queue: &GroupId,
    topic: Option<&TopicName>,
    settings: &QueueSettings,
) -> Result<(), QueueSettingError> {
    let Some(dead) = settings.dead_letter_topic(queue) else {
        return Ok(());
    };
    let what = if Some(&dead) == topic {
        "the topic that the queue reads"
    } else if Some(&dead) == redrive_topic(queue).as_ref() {
        "where its redriven dead letters go"
    } else if super::is_reserved(&dead) {
        "kept for the broker itself"
    } else {
        return Ok(());
    };
    Err(QueueSettingError::DeadLetter {
        queue: queue.clone(),
        topic: dead,
        what,
    })
}

#[cfg(test)]
#[path = "queues_tests.rs"]
mod tests;
