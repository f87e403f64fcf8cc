//! What is there beside groups: the topics that they read, and the queues that share their names.
//!
//! Why it exists: a name is a group's or a queue's, never both; who is first has it.
//! Read next: `shard.rs`.

use super::{CoordinatorError, Groups};
use crate::broker::Broker;
use crate::topics_view::TopicsView;
use fanlog_coordinators::catalog::CatalogView;
use fanlog_coordinators::group::{GroupKind, TopicsSnapshot};
use fanlog_model::{GroupId, TopicId};
use std::sync::Arc;

/// Topics and queues at one moment.
#[derive(Debug, Default)]
pub(super) struct Surroundings {
    topics: Arc<TopicsView>,
    catalog: Arc<CatalogView>,
}

impl Surroundings {
    pub(super) fn of(broker: Arc<Broker>) -> Self {
        Self {
            topics: broker.topics(),
            catalog: broker.catalog_view(),
        }
    }
}

impl TopicsSnapshot for Surroundings {
    fn by_name(&self, name: &str) -> Option<(TopicId, i32)> {
        TopicsSnapshot::by_name(&*self.topics, name)
    }

    fn name_of(&self, id: TopicId) -> Option<Arc<str>> {
        self.topics.name_of(id)
    }

    fn is_queue(&self, name: &GroupId) -> bool {
        self.catalog.queue(name).is_some()
    }
}

impl Groups {
    /// Of which kind a group is, if there is one. Its topic is not made for this: without it there are no groups.
    ///
    /// # Errors
    /// Its coordinator cannot say.
    pub(crate) fn kind_of(&self, group: &GroupId) -> Result<Option<GroupKind>, CoordinatorError> {
        self.shard_now(group)
            .map_or(Ok(None), |shard| shard.kind_of(group))
    }
}
