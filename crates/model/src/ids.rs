//! Identities: of topics, brokers and groups.

use std::fmt;
use std::sync::Arc;
use uuid::Uuid;

/// Names one life of a topic: a topic deleted and created again has a new id (KIP-516).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TopicId(pub Uuid);

impl TopicId {
    /// No id: the request names the topic instead.
    pub const ZERO: Self = Self(Uuid::nil());

    /// Whether this stands for "no id".
    pub fn is_zero(self) -> bool {
        self.0.is_nil()
    }
}

impl fmt::Display for TopicId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A broker's number in its cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BrokerId(pub i32);

/// A consumer group's name. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupId(pub Arc<str>);

impl GroupId {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for GroupId {
    fn from(name: &str) -> Self {
        Self(name.into())
    }
}

impl fmt::Display for GroupId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
