//! The topics that are open, as one immutable view that is replaced when something changes.
//!
//! Why it exists: every request looks up topics, few change them; a reader takes the view and keeps it, so that
//! one request sees one state.
//! Never: the catalog's own topic, which clients don't see.

use crate::lookup::{LookupError, TopicRef};
use crate::partition::Partition;
use fanlog_coordinators::group::TopicsSnapshot;
use fanlog_model::settings::{Overrides, TopicSettings};
use fanlog_model::{PartitionIndex, TopicId, TopicName};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// One life of a topic.
#[derive(Debug)]
pub struct Topic {
    /// Its name.
    pub name: TopicName,
    /// Its id, which no other life of the name shares.
    pub id: TopicId,
    /// Its partitions by index; never empty.
    pub partitions: Vec<Arc<Partition>>,
    /// Whether it belongs to the broker (`__consumer_offsets`): clients may read it and not produce to it.
    pub is_internal: bool,
    /// The settings given for this topic.
    pub overrides: Overrides,
    /// Its settings in force.
    pub settings: TopicSettings,
}

impl Topic {
    /// The partition with this index.
    pub fn partition(&self, index: PartitionIndex) -> Option<&Arc<Partition>> {
        let position = usize::try_from(index.0).ok()?;
        self.partitions.get(position)
    }
}

/// All topics at one moment.
#[derive(Clone, Debug, Default)]
pub struct TopicsView {
    by_name: BTreeMap<TopicName, Arc<Topic>>,
    by_id: HashMap<TopicId, Arc<Topic>>,
}

impl TopicsView {
    /// The topics in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Topic>> {
        self.by_name.values()
    }

    /// The topics in the order of their names, from `name` on; for paging.
    pub fn iter_from<'a>(&'a self, name: &TopicName) -> impl Iterator<Item = &'a Arc<Topic>> {
        self.by_name.range(name.clone()..).map(|(_, topic)| topic)
    }

    /// How many topics there are.
    pub fn len(&self) -> usize {
        self.by_name.len()
    }

    /// Whether there is no topic.
    pub fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    /// The topic that bears this name now.
    pub fn by_name(&self, name: &TopicName) -> Option<&Arc<Topic>> {
        self.by_name.get(name)
    }

    /// The topic with this id.
    pub fn by_id(&self, id: TopicId) -> Option<&Arc<Topic>> {
        self.by_id.get(&id)
    }

    /// The topic that a request names.
    ///
    /// # Errors
    /// There is none.
    pub fn topic(&self, topic: &TopicRef) -> Result<&Arc<Topic>, LookupError> {
        match topic {
            TopicRef::Name(name) => self
                .by_name(name)
                .ok_or_else(|| LookupError::UnknownTopic(name.clone())),
            TopicRef::Id(id) => self.by_id(*id).ok_or(LookupError::UnknownTopicId(*id)),
        }
    }

    /// The partition that a request names.
    ///
    /// # Errors
    /// There is no such topic, or it has fewer partitions.
    pub fn partition(
        &self,
        topic: &TopicRef,
        partition: PartitionIndex,
    ) -> Result<&Arc<Partition>, LookupError> {
        let topic = self.topic(topic)?;
        topic
            .partition(partition)
            .ok_or_else(|| LookupError::UnknownPartition {
                topic: topic.name.clone(),
                partition,
            })
    }

    pub(crate) fn put(&mut self, topic: Arc<Topic>) {
        if let Some(before) = self.by_name.insert(topic.name.clone(), topic.clone()) {
            self.by_id.remove(&before.id);
        }
        self.by_id.insert(topic.id, topic);
    }

    pub(crate) fn remove(&mut self, id: TopicId) -> Option<Arc<Topic>> {
        let topic = self.by_id.remove(&id)?;
        self.by_name.remove(&topic.name);
        Some(topic)
    }
}

impl TopicsSnapshot for TopicsView {
    fn by_name(&self, name: &str) -> Option<(TopicId, i32)> {
        let topic = self.by_name.get(&TopicName::new(name).ok()?)?;
        let partitions = i32::try_from(topic.partitions.len()).unwrap_or(i32::MAX);
        Some((topic.id, partitions))
    }

    fn name_of(&self, id: TopicId) -> Option<Arc<str>> {
        self.by_id.get(&id).map(|topic| topic.name.as_str().into())
    }
}
