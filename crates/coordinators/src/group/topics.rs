//! The topics that there are, and the names that queues have, as one decision sees them.

use fanlog_model::{GroupId, TopicId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// An immutable picture of the topics, handed in beside each input: a decision looks nothing up that can change under it.
pub trait TopicsSnapshot {
    /// The id and the number of partitions of the topic that bears this name.
    fn by_name(&self, name: &str) -> Option<(TopicId, i32)>;

    /// The name of the topic with this id.
    fn name_of(&self, id: TopicId) -> Option<Arc<str>>;

    /// Whether a queue has that name: queues and groups share their names.
    fn is_queue(&self, _name: &GroupId) -> bool {
        false
    }
}

/// A picture of few topics.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FewTopics(pub BTreeMap<Arc<str>, (TopicId, i32)>);

impl TopicsSnapshot for FewTopics {
    fn by_name(&self, name: &str) -> Option<(TopicId, i32)> {
        self.0.get(name).copied()
    }

    fn name_of(&self, id: TopicId) -> Option<Arc<str>> {
        let mut all = self.0.iter();
        all.find(|(_, (of, _))| *of == id)
            .map(|(name, _)| name.clone())
    }
}
