//! Adding partitions to topics. Later records of a key may land in another partition than earlier ones.

use super::assignment::{AssignmentError, check_copies};
use super::create_topics::PartitionBudget;
use super::record::{Record, Topic};
use super::{Decision, Ledger, Rules};
use fanlog_model::limits::PARTITIONS_PER_TOPIC_MAX;
use fanlog_model::{BrokerId, TopicName};
use std::collections::BTreeMap;
use std::sync::Arc;
use thiserror::Error;

/// A topic that is to grow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionGrowth {
    /// The topic's name, unchecked.
    pub topic: String,
    /// How many partitions it is to have in all.
    pub count: i32,
    /// Where the new ones are to be; none where the broker places them.
    pub assignments: Option<Vec<Vec<i32>>>,
}

/// Why a topic doesn't grow.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CreatePartitionsError {
    /// No topic of that name.
    #[error("topic '{name}' does not exist")]
    UnknownTopic {
        /// The name given.
        name: String,
    },
    /// The request names the topic more than once.
    #[error("the request names topic '{name}' more than once")]
    Repeated {
        /// The name given.
        name: String,
    },
    /// The broker's own topics keep their partitions: what they hold is found by them.
    #[error("topic '{name}' is internal and keeps its partitions")]
    Internal {
        /// The topic.
        name: TopicName,
    },
    /// The count is not larger than it is.
    #[error("topic '{name}' has {current} partitions; {count} would not be an increase")]
    NotAnIncrease {
        /// The topic.
        name: TopicName,
        /// How many it has.
        current: i32,
        /// How many were asked for.
        count: i32,
    },
    /// The count is beyond what a topic may have.
    #[error(
        "topic '{name}' can't have {count} partitions; at most {PARTITIONS_PER_TOPIC_MAX} are allowed"
    )]
    TooManyForTopic {
        /// The topic.
        name: TopicName,
        /// How many were asked for.
        count: i32,
    },
    /// The manual assignment can't be kept.
    #[error(transparent)]
    InvalidAssignment(#[from] AssignmentError),
    /// There would be too many partitions.
    #[error("{partitions} more partitions are too many: {limit} may be added {scope}")]
    TooManyPartitions {
        /// How many this would add, in this request so far.
        partitions: u64,
        /// How many may be added.
        limit: u64,
        /// Under which limit.
        scope: &'static str,
    },
}

/// Decides on a CreatePartitions request; every topic stands or falls alone. The reply has the grown topics.
pub fn create_partitions(
    ledger: &Ledger,
    rules: &Rules,
    request: &[PartitionGrowth],
    validate_only: bool,
) -> Decision<Vec<Result<Topic, CreatePartitionsError>>> {
    let view = ledger.view();
    let mut budget = PartitionBudget::new(view, &rules.broker_settings(view));
    let mut mentions: BTreeMap<&str, usize> = BTreeMap::new();
    for growth in request {
        *mentions.entry(&growth.topic).or_default() += 1;
    }
    let mut decide = |growth: &PartitionGrowth| {
        let name = growth.topic.clone();
        if mentions[growth.topic.as_str()] > 1 {
            return Err(CreatePartitionsError::Repeated { name });
        }
        let found = view.topic_named(&name);
        let topic = found.ok_or(CreatePartitionsError::UnknownTopic { name })?;
        let added = check_growth(topic, growth, rules.broker_id)?;
        budget.take(added).map_err(|(partitions, limit, scope)| {
            CreatePartitionsError::TooManyPartitions {
                partitions,
                limit,
                scope,
            }
        })?;
        Ok(Topic {
            partitions: growth.count,
            ..Topic::clone(topic)
        })
    };
    let reply: Vec<_> = request.iter().map(&mut decide).collect();
    let records = match validate_only {
        true => Vec::new(),
        false => reply.iter().flatten().cloned().map(Record::Topic).collect(),
    };
    Decision { records, reply }
}

/// How many partitions are added.
fn check_growth(
    topic: &Arc<Topic>,
    growth: &PartitionGrowth,
    broker: BrokerId,
) -> Result<i32, CreatePartitionsError> {
    let (name, current, count) = (topic.name.clone(), topic.partitions, growth.count);
    if topic.is_internal {
        return Err(CreatePartitionsError::Internal { name });
    }
    if count <= current {
        return Err(CreatePartitionsError::NotAnIncrease {
            name,
            current,
            count,
        });
    }
    if count > PARTITIONS_PER_TOPIC_MAX {
        return Err(CreatePartitionsError::TooManyForTopic { name, count });
    }
    let added = count - current;
    if let Some(assignments) = &growth.assignments {
        let wanted = usize::try_from(added).unwrap_or(usize::MAX);
        if assignments.len() != wanted {
            let given = assignments.len();
            return Err(AssignmentError::WrongCount { given, wanted }.into());
        }
        let copies: Vec<&[i32]> = assignments.iter().map(Vec::as_slice).collect();
        check_copies(&copies, usize::try_from(current).unwrap_or(0), broker)?;
    }
    Ok(added)
}

#[cfg(test)]
#[path = "grow_and_delete_tests.rs"]
mod tests;
