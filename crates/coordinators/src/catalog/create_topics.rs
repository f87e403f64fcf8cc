//! Creating topics: every topic of a request stands or falls alone.

use super::assignment::{AssignmentError, check_consecutive, check_copies};
use super::record::{Record, Topic};
use super::{CatalogView, Decision, Ledger, PARTITIONS_PER_REQUEST_MAX, Rules, is_reserved};
use fanlog_model::limits::PARTITIONS_PER_TOPIC_MAX;
use fanlog_model::settings::{
    BrokerSettings, Overrides, SettingError, check_topic, check_topic_setting,
};
use fanlog_model::{InvalidTopicName, TopicId, TopicName};
use std::collections::BTreeMap;
use thiserror::Error;

/// A topic asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewTopic {
    /// The id that it gets, drawn by the caller.
    pub id: TopicId,
    /// Its name, unchecked.
    pub name: String,
    /// How many partitions; -1 for `num.partitions`, or where they are assigned by hand.
    pub partitions: i32,
    /// How many copies; -1 for `default.replication.factor`, or where they are assigned by hand.
    pub replication_factor: i16,
    /// Partitions placed by hand: number and brokers. Empty where the broker places them.
    pub assignments: Vec<(i32, Vec<i32>)>,
    /// Settings of its own.
    pub overrides: Vec<(String, Option<String>)>,
}

/// A topic created (or that would be, when only validated).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreatedTopic {
    /// The topic.
    pub topic: Topic,
    /// How many copies it has.
    pub replication_factor: i16,
}

/// Why a topic is not created.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CreateTopicError {
    /// The name breaks a rule.
    #[error(transparent)]
    InvalidName(#[from] InvalidTopicName),
    /// The name is kept for the broker's own topics.
    #[error("topic name '{name}' is kept for the broker itself; choose another")]
    Reserved {
        /// The name.
        name: TopicName,
    },
    /// The name differs from another's in `.` and `_` alone.
    #[error(
        "topic '{name}' collides with topic '{existing}': '.' and '_' are one in metrics; choose another name"
    )]
    Collision {
        /// The name.
        name: TopicName,
        /// The topic that is there.
        existing: TopicName,
    },
    /// The topic is there.
    #[error("topic '{name}' already exists")]
    AlreadyExists {
        /// The name.
        name: TopicName,
    },
    /// The request names the topic more than once.
    #[error("the request names topic '{name}' more than once")]
    Repeated {
        /// The name.
        name: String,
    },
    /// The number of partitions is out of range.
    #[error(
        "topic '{name}' can't have {partitions} partitions; give 1 to {}, or -1 for the broker's default",
        PARTITIONS_PER_TOPIC_MAX
    )]
    InvalidPartitions {
        /// The name.
        name: TopicName,
        /// The number given.
        partitions: i32,
    },
    /// The number of copies is out of range.
    #[error(
        "replication factor {replication_factor} is not possible with one broker; give 1 or -1, or set fanlog.replication.factor.clamp"
    )]
    InvalidReplicationFactor {
        /// The number given, or the default's.
        replication_factor: i32,
    },
    /// Numbers are given beside a manual assignment.
    #[error("partitions are assigned by hand, so {what} must be -1, not {value}")]
    BesideAssignment {
        /// Which number.
        what: &'static str,
        /// The value given.
        value: i32,
    },
    /// The manual assignment can't be kept.
    #[error(transparent)]
    InvalidAssignment(#[from] AssignmentError),
    /// A setting is unknown or doesn't take its value.
    #[error(transparent)]
    InvalidSetting(#[from] SettingError),
    /// A setting is given without a value.
    #[error("setting {name} is given without a value; leave it out for the default")]
    NullSetting {
        /// The setting.
        name: String,
    },
    /// A setting is given twice.
    #[error("setting {name} is given more than once")]
    RepeatedSetting {
        /// The setting.
        name: String,
    },
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

/// Decides on a CreateTopics request, or on the creation of a topic that was asked for and is not there.
pub fn create_topics(
    ledger: &Ledger,
    rules: &Rules,
    request: &[NewTopic],
    validate_only: bool,
) -> Decision<Vec<Result<CreatedTopic, CreateTopicError>>> {
    let mut batch = Batch::new(ledger.view(), rules, request);
    let reply: Vec<_> = request.iter().map(|topic| batch.decide(topic)).collect();
    let records = match validate_only {
        true => Vec::new(),
        false => reply
            .iter()
            .flatten()
            .map(|t| Record::Topic(t.topic.clone()))
            .collect(),
    };
    Decision { records, reply }
}

/// How many partitions may still be added, by this request and at all.
pub(super) struct PartitionBudget {
    in_request: u64,
    room: u64,
}

impl PartitionBudget {
    pub(super) fn new(view: &CatalogView, settings: &BrokerSettings) -> Self {
        let limit = u64::from(settings.partitions_max);
        Self {
            in_request: 0,
            room: limit.saturating_sub(view.partition_count()),
        }
    }

    /// Takes `count` from the budget, or says which limit stands in the way.
    pub(super) fn take(&mut self, count: i32) -> Result<(), (u64, u64, &'static str)> {
        let partitions = self.in_request + u64::from(count.unsigned_abs());
        if partitions > PARTITIONS_PER_REQUEST_MAX {
            return Err((partitions, PARTITIONS_PER_REQUEST_MAX, "by one request"));
        }
        if partitions > self.room {
            let scope = "before fanlog.partitions.max is reached";
            return Err((partitions, self.room, scope));
        }
        self.in_request = partitions;
        Ok(())
    }
}

/// The topics of one request: later ones see earlier ones.
struct Batch<'a> {
    view: &'a CatalogView,
    rules: &'a Rules,
    settings: BrokerSettings,
    mentions: BTreeMap<&'a str, usize>,
    new_metric_keys: BTreeMap<String, TopicName>,
    budget: PartitionBudget,
}

impl<'a> Batch<'a> {
    fn new(view: &'a CatalogView, rules: &'a Rules, request: &'a [NewTopic]) -> Self {
        let settings = rules.broker_settings(view);
        let mut mentions = BTreeMap::new();
        for topic in request {
            *mentions.entry(topic.name.as_str()).or_default() += 1;
        }
        Self {
            view,
            rules,
            budget: PartitionBudget::new(view, &settings),
            settings,
            mentions,
            new_metric_keys: BTreeMap::new(),
        }
    }

    fn decide(&mut self, new: &NewTopic) -> Result<CreatedTopic, CreateTopicError> {
        if self.mentions.get(new.name.as_str()).is_some_and(|n| *n > 1) {
            let name = new.name.clone();
            return Err(CreateTopicError::Repeated { name });
        }
        let name = self.check_name(&new.name)?;
        let (partitions, replication_factor) = self.check_shape(&name, new)?;
        let overrides = check_overrides(&new.overrides)?;
        self.budget
            .take(partitions)
            .map_err(
                |(partitions, limit, scope)| CreateTopicError::TooManyPartitions {
                    partitions,
                    limit,
                    scope,
                },
            )?;
        self.new_metric_keys.insert(name.metric_key(), name.clone());
        let topic = Topic {
            name,
            id: new.id,
            partitions,
            made: 0,
            overrides,
            is_internal: false,
        };
        Ok(CreatedTopic {
            topic,
            replication_factor,
        })
    }

    fn check_name(&self, name: &str) -> Result<TopicName, CreateTopicError> {
        let name = TopicName::new(name)?;
        if self.view.topic(&name).is_some() {
            return Err(CreateTopicError::AlreadyExists { name });
        }
        if is_reserved(&name) {
            return Err(CreateTopicError::Reserved { name });
        }
        let collides = self
            .view
            .topic_colliding_with(&name)
            .or_else(|| self.new_metric_keys.get(&name.metric_key()));
        match collides.cloned() {
            Some(existing) => Err(CreateTopicError::Collision { name, existing }),
            None => Ok(name),
        }
    }

    /// Partitions and replication factor.
    fn check_shape(
        &self,
        name: &TopicName,
        new: &NewTopic,
    ) -> Result<(i32, i16), CreateTopicError> {
        if !new.assignments.is_empty() {
            return self.check_assigned(name, new);
        }
        let partitions = match new.partitions {
            -1 => self.settings.num_partitions,
            given => given,
        };
        check_partitions(name, partitions)?;
        let replication_factor = match new.replication_factor {
            -1 => self.settings.default_replication_factor,
            given => i32::from(given),
        };
        match replication_factor {
            1 => Ok((partitions, 1)),
            2.. if self.settings.is_replication_factor_clamped => Ok((partitions, 1)),
            _ => Err(CreateTopicError::InvalidReplicationFactor { replication_factor }),
        }
    }

    fn check_assigned(
        &self,
        name: &TopicName,
        new: &NewTopic,
    ) -> Result<(i32, i16), CreateTopicError> {
        let given = [
            ("the number of partitions", new.partitions),
            ("the replication factor", i32::from(new.replication_factor)),
        ];
        if let Some((what, value)) = given.into_iter().find(|(_, value)| *value != -1) {
            return Err(CreateTopicError::BesideAssignment { what, value });
        }
        let copies = check_consecutive(&new.assignments)?;
        check_copies(&copies, 0, self.rules.broker_id)?;
        let partitions = i32::try_from(copies.len()).unwrap_or(i32::MAX);
        check_partitions(name, partitions)?;
        Ok((partitions, 1))
    }
}

fn check_partitions(name: &TopicName, partitions: i32) -> Result<(), CreateTopicError> {
    if (1..=PARTITIONS_PER_TOPIC_MAX).contains(&partitions) {
        return Ok(());
    }
    Err(CreateTopicError::InvalidPartitions {
        name: name.clone(),
        partitions,
    })
}

fn check_overrides(given: &[(String, Option<String>)]) -> Result<Overrides, CreateTopicError> {
    let mut overrides = Overrides::new();
    for (name, value) in given {
        let value = value
            .as_deref()
            .ok_or_else(|| CreateTopicError::NullSetting { name: name.clone() })?;
        let value = check_topic_setting(name, value)?;
        if overrides.insert(name.clone(), value).is_some() {
            return Err(CreateTopicError::RepeatedSetting { name: name.clone() });
        }
    }
    check_topic(&overrides)?;
    Ok(overrides)
}

#[cfg(test)]
#[path = "create_topics_tests.rs"]
mod tests;
