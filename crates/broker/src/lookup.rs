//! How a request names a partition, and why there may be none to serve it.

use fanlog_model::{LeaderEpoch, PartitionIndex, TopicId, TopicName};
use std::fmt;
use std::sync::Arc;
use thiserror::Error;

/// How a request names a topic: older versions by name, newer ones by id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TopicRef {
    /// By name: whichever topic bears it now.
    Name(TopicName),
    /// By id: one life of a topic (KIP-516).
    Id(TopicId),
}

impl fmt::Display for TopicRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => name.fmt(f),
            Self::Id(id) => id.fmt(f),
        }
    }
}

/// No such topic or partition. Fate: refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LookupError {
    /// No topic has this name.
    #[error("topic '{0}' does not exist; create it first")]
    UnknownTopic(TopicName),
    /// No topic has this id: it never had, or the topic was deleted.
    #[error("no topic has the id {0}; refresh the metadata")]
    UnknownTopicId(TopicId),
    /// The topic exists and has fewer partitions.
    #[error("topic '{topic}' has no partition {partition}; refresh the metadata")]
    UnknownPartition {
        /// The topic that exists.
        topic: TopicName,
        /// The partition that does not.
        partition: PartitionIndex,
    },
}

/// The client's leader epoch and ours differ. Fate: the client refreshes its metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum EpochError {
    /// The client's epoch is older: it knows a leader from before a restart.
    #[error("leader epoch {given} is fenced; the partition is at {current}: refresh the metadata")]
    Fenced {
        /// What the client gave.
        given: LeaderEpoch,
        /// What the partition is at.
        current: LeaderEpoch,
    },
    /// The client's epoch is newer than any that this broker has had.
    #[error("leader epoch {given} is unknown; the partition is at {current}")]
    Unknown {
        /// What the client gave.
        given: LeaderEpoch,
        /// What the partition is at.
        current: LeaderEpoch,
    },
}

/// The partition exists and cannot serve. Fate: retry; an operator looks at the reason.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PartitionUnavailable {
    /// Its log could not be opened or has failed; it stays so until the broker is restarted.
    #[error("partition {partition} is offline: {reason}")]
    Offline {
        /// The partition's folder name.
        partition: Arc<str>,
        /// What happened and what to do.
        reason: Arc<str>,
    },
    /// The topic was deleted while the request was under way.
    #[error("partition {partition} was deleted")]
    Deleted {
        /// The partition's folder name.
        partition: Arc<str>,
    },
}
