//! Who shall own what: the assignors that a group may choose from.
//!
//! Why it exists: in the new protocol the coordinator assigns; members only say what they read and which assignor they prefer.
//! In -> out: members with their topics and what they had, partitions of topics -> what each member shall own.
//! Never: time, chance; the same input gives the same assignment.
//! Read next: `uniform.rs`.

mod range;
mod uniform;

use crate::group::PartitionSets;
use fanlog_model::TopicId;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A member, as an assignor sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscriber<'a> {
    /// Its static name, if it has one.
    pub instance_id: Option<&'a str>,
    /// Its member id.
    pub member_id: &'a str,
    /// The topics that it reads and that exist, in order. Members with the same list share it.
    pub topics: Arc<[TopicId]>,
    /// What it had.
    pub before: &'a PartitionSets,
}

/// How many partitions each topic has.
pub type PartitionCounts = BTreeMap<TopicId, i32>;

/// An assignor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Assignor {
    /// As even as can be, and as much as can be left where it was.
    Uniform,
    /// Each topic in ranges, so that the same index of topics that are alike goes to the same member.
    Range,
}

impl Assignor {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Uniform, Self::Range];

    /// The name in settings and requests.
    pub fn name(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Range => "range",
        }
    }

    /// The assignor of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|assignor| assignor.name() == name)
    }

    /// Assigns every partition of every topic that somebody reads. The result is in the order of the subscribers.
    pub fn assign(
        self,
        subscribers: &[Subscriber<'_>],
        counts: &PartitionCounts,
    ) -> Vec<PartitionSets> {
        match self {
            Self::Uniform => uniform::assign(subscribers, counts),
            Self::Range => range::assign(subscribers, counts),
        }
    }
}

/// The subscribers of each topic, by their positions in order.
fn by_topic(subscribers: &[Subscriber<'_>]) -> BTreeMap<TopicId, Vec<usize>> {
    let mut by_topic = BTreeMap::<TopicId, Vec<usize>>::new();
    for (position, subscriber) in subscribers.iter().enumerate() {
        for topic in subscriber.topics.iter() {
            by_topic.entry(*topic).or_default().push(position);
        }
    }
    by_topic
}

fn count_of(counts: &PartitionCounts, topic: TopicId) -> i32 {
    counts.get(&topic).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests;
