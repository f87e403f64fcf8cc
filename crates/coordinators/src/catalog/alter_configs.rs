//! Changing settings of topics and brokers: each resource changes as a whole or not at all.

use super::alter_target::Target;
use super::record::Record;
use super::{ALTERED_BYTES_MAX, Decision, Ledger, Rules};
use fanlog_model::settings::{Overrides, SettingError};
use fanlog_model::{InvalidTopicName, TopicName};
use std::collections::BTreeSet;
use thiserror::Error;

/// What kind of thing has settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ResourceKind {
    /// A topic, by name.
    Topic,
    /// A broker by number, or all brokers by the empty name.
    Broker,
    /// A broker's loggers: there are none to set.
    BrokerLogger,
    /// A subscription of client metrics: not there.
    ClientMetrics,
    /// A group, by name, whether it exists or not.
    Group,
    /// A number that no kind has.
    Unknown(i8),
}

/// Whose settings change.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConfigResource {
    /// Its kind.
    pub kind: ResourceKind,
    /// Its name, unchecked.
    pub name: String,
}

/// All settings of a resource anew: those not given go back to their defaults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    /// The resource.
    pub resource: ConfigResource,
    /// All that is to be set.
    pub entries: Vec<(String, Option<String>)>,
}

/// What to do with one setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// Give it this value.
    Set,
    /// Go back to the default.
    Delete,
    /// Add these items to the list.
    Append,
    /// Take these items from the list.
    Subtract,
    /// A number that no kind has.
    Unknown(i8),
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigChange {
    /// The setting, unchecked.
    pub name: String,
    /// What to do.
    pub kind: ChangeKind,
    /// The value, or the items.
    pub value: Option<String>,
}

/// Changes of some settings of a resource; the others stay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IncrementalAlteration {
    /// The resource.
    pub resource: ConfigResource,
    /// The changes, at most one a setting.
    pub changes: Vec<ConfigChange>,
}

/// Why the settings of a resource don't change.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AlterConfigsError {
    /// The request names the resource more than once.
    #[error("the request changes {kind:?} '{name}' more than once")]
    RepeatedResource {
        /// The resource's kind.
        kind: ResourceKind,
        /// The resource's name.
        name: String,
    },
    /// There are no defaults for all topics but the broker's settings.
    #[error("there are no settings of all topics; change the broker's, such as log.retention.ms")]
    DefaultTopic,
    /// No topic can have that name.
    #[error(transparent)]
    InvalidTopicName(#[from] InvalidTopicName),
    /// No topic of that name.
    #[error("topic '{name}' does not exist")]
    UnknownTopic {
        /// The name given.
        name: String,
    },
    /// The broker itself needs the topic as it is.
    #[error("topic '{name}' is internal and keeps its settings")]
    InternalTopic {
        /// The topic.
        name: TopicName,
    },
    /// There are no defaults for all groups but the broker's settings.
    #[error(
        "there are no settings of all groups; change the broker's, such as group.share.record.lock.duration.ms"
    )]
    DefaultGroup,
    /// No group can have that name.
    #[error("a group's name has at most {max} bytes, not {length}")]
    GroupNameTooLong {
        /// Its length.
        length: usize,
        /// The most allowed.
        max: usize,
    },
    /// Settings of groups are for some groups, not for each of very many.
    #[error("{max} groups have settings of their own; delete those of others first")]
    TooManyGroups {
        /// How many may.
        max: usize,
    },
    /// Not this broker's number.
    #[error("there is no broker '{name}'; this is broker {broker}, and the empty name means all")]
    UnknownBroker {
        /// The name given.
        name: String,
        /// The only broker.
        broker: i32,
    },
    /// This kind of resource has no settings here.
    #[error("{kind:?} has no settings here; topics, brokers and groups have")]
    UnsupportedResource {
        /// The kind.
        kind: ResourceKind,
    },
    /// The request names the setting more than once.
    #[error("setting {name} is changed more than once")]
    RepeatedSetting {
        /// The setting.
        name: String,
    },
    /// A value is missing.
    #[error("setting {name} is given without a value; delete it to go back to the default")]
    NullValue {
        /// The setting.
        name: String,
    },
    /// Not an operation.
    #[error("setting {name}: there is no operation {number}; set, delete, append or subtract")]
    UnknownOperation {
        /// The setting.
        name: String,
        /// The number given.
        number: i8,
    },
    /// Append and subtract are for lists.
    #[error("setting {name} is no list, so nothing can be appended or subtracted; set it")]
    NotAList {
        /// The setting.
        name: String,
    },
    /// The request rewrites too much at once.
    #[error(
        "the request changes more than {ALTERED_BYTES_MAX} bytes of settings; send it in parts"
    )]
    RequestTooLarge,
    /// The setting is unknown or doesn't take its value.
    #[error(transparent)]
    InvalidSetting(#[from] SettingError),
}

/// Decides on an AlterConfigs request: full replacement, resource by resource.
pub fn alter_configs(
    ledger: &Ledger,
    rules: &Rules,
    request: &[Replacement],
    validate_only: bool,
) -> Decision<Vec<Result<(), AlterConfigsError>>> {
    let repeated = repeated(request.iter().map(|r| &r.resource));
    let decide = |replacement: &Replacement| {
        let target = target(ledger, rules, &replacement.resource, &repeated)?;
        let mut overrides = Overrides::new();
        for (name, value) in &replacement.entries {
            let null = || AlterConfigsError::NullValue { name: name.clone() };
            let value = target.check(name, value.as_deref().ok_or_else(null)?)?;
            if overrides.insert(name.clone(), value).is_some() {
                return Err(AlterConfigsError::RepeatedSetting { name: name.clone() });
            }
        }
        target.finish(overrides)
    };
    decision(request.iter().map(decide), validate_only)
}

/// Decides on an IncrementalAlterConfigs request, resource by resource.
pub fn incremental_alter_configs(
    ledger: &Ledger,
    rules: &Rules,
    request: &[IncrementalAlteration],
    validate_only: bool,
) -> Decision<Vec<Result<(), AlterConfigsError>>> {
    let repeated = repeated(request.iter().map(|a| &a.resource));
    let decide = |alteration: &IncrementalAlteration| {
        let target = target(ledger, rules, &alteration.resource, &repeated)?;
        let mut overrides = target.overrides();
        let mut changed = BTreeSet::new();
        for change in &alteration.changes {
            if !changed.insert(change.name.as_str()) {
                let name = change.name.clone();
                return Err(AlterConfigsError::RepeatedSetting { name });
            }
            target.change(&mut overrides, change)?;
        }
        target.finish(overrides)
    };
    decision(request.iter().map(decide), validate_only)
}

/// Records of what was accepted and changes anything.
fn decision(
    decided: impl Iterator<Item = Result<Option<Record>, AlterConfigsError>>,
    validate_only: bool,
) -> Decision<Vec<Result<(), AlterConfigsError>>> {
    let mut records = Vec::new();
    let mut bytes = 0;
    let mut keep = |record: Option<Record>| {
        let length = record
            .as_ref()
            .and_then(Record::encode_value)
            .map_or(0, |v| v.len());
        if bytes + length > ALTERED_BYTES_MAX {
            return Err(AlterConfigsError::RequestTooLarge);
        }
        bytes += length;
        records.extend(record.filter(|_| !validate_only));
        Ok(())
    };
    let reply = decided.map(|outcome| outcome.and_then(&mut keep)).collect();
    Decision { records, reply }
}

fn target<'a>(
    ledger: &'a Ledger,
    rules: &'a Rules,
    resource: &ConfigResource,
    repeated: &BTreeSet<&ConfigResource>,
) -> Result<Target<'a>, AlterConfigsError> {
    if repeated.contains(resource) {
        return Err(AlterConfigsError::RepeatedResource {
            kind: resource.kind,
            name: resource.name.clone(),
        });
    }
    Target::find(ledger.view(), rules, resource)
}

/// The resources named more than once.
fn repeated<'a>(
    resources: impl Iterator<Item = &'a ConfigResource>,
) -> BTreeSet<&'a ConfigResource> {
    let mut seen = BTreeSet::new();
    resources
        .filter(|resource| !seen.insert(*resource))
        .collect()
}

#[cfg(test)]
#[path = "alter_configs_tests.rs"]
mod tests;
