//! One resource whose settings are to change.

use super::alter_configs::{
    AlterConfigsError, ChangeKind, ConfigChange, ConfigResource, ResourceKind,
};
use super::record::{BrokerScope, Record, Topic};
use super::{CatalogView, Rules};
use crate::group::NAME_BYTES_MAX;
use fanlog_model::settings::{
    Overrides, Setting, SettingError, SettingType, broker_settings, check_broker_dynamic,
    check_group, check_group_setting, check_size, check_topic, check_topic_setting,
    effective_broker_value, effective_group_value, effective_topic_value, group_settings,
    topic_settings,
};
use fanlog_model::{BrokerId, GroupId, TopicName};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The resource as it is now.
pub(super) struct Target<'a> {
    view: &'a CatalogView,
    rules: &'a Rules,
    what: What,
}

enum What {
    Topic(Arc<Topic>),
    Broker(BrokerScope, Arc<Overrides>),
    Group(GroupId, Arc<Overrides>),
}

/// How many groups may have settings of their own.
const GROUPS_WITH_SETTINGS_MAX: usize = 10_000;

impl<'a> Target<'a> {
    pub(super) fn find(
        view: &'a CatalogView,
        rules: &'a Rules,
        resource: &ConfigResource,
    ) -> Result<Self, AlterConfigsError> {
        let what = match resource.kind {
            ResourceKind::Topic => What::Topic(find_topic(view, &resource.name)?),
            ResourceKind::Broker => {
                let scope = find_broker(rules.broker_id, &resource.name)?;
                What::Broker(scope, view.broker_settings(scope))
            }
            ResourceKind::Group => {
                let group = find_group(&resource.name)?;
                let overrides = view.group_settings(&group);
                What::Group(group, overrides)
            }
            kind @ (ResourceKind::BrokerLogger
            | ResourceKind::ClientMetrics
            | ResourceKind::Unknown(_)) => {
                return Err(AlterConfigsError::UnsupportedResource { kind });
            }
        };
        Ok(Self { view, rules, what })
    }

    /// What is set now.
    pub(super) fn overrides(&self) -> Overrides {
        match &self.what {
            What::Topic(topic) => topic.overrides.clone(),
            What::Broker(_, overrides) | What::Group(_, overrides) => Overrides::clone(overrides),
        }
    }

    /// The canonical form of a value.
    pub(super) fn check(&self, name: &str, value: &str) -> Result<String, SettingError> {
        match &self.what {
            What::Topic(_) => check_topic_setting(name, value),
            What::Group(..) => check_group_setting(name, value),
            What::Broker(scope, _) => {
                check_broker_dynamic(name, value, *scope == BrokerScope::Default)
            }
        }
    }

    /// Carries out one change on `overrides`.
    pub(super) fn change(
        &self,
        overrides: &mut Overrides,
        change: &ConfigChange,
    ) -> Result<(), AlterConfigsError> {
        let name = &change.name;
        let given = || {
            let value = change.value.as_deref();
            value.ok_or_else(|| AlterConfigsError::NullValue { name: name.clone() })
        };
        let value = match change.kind {
            // Also of an unknown setting, as in Kafka: what is asked for, that it isn't set, is so.
            ChangeKind::Delete => {
                overrides.remove(name);
                return Ok(());
            }
            ChangeKind::Set => self.check(name, given()?)?,
            ChangeKind::Append => {
                let list = self.list(overrides, name)?;
                self.check(name, &format!("{list},{}", given()?))?
            }
            ChangeKind::Subtract => {
                let list = self.list(overrides, name)?;
                self.check(name, &without(&list, given()?))?
            }
            ChangeKind::Unknown(number) => {
                let name = name.clone();
                return Err(AlterConfigsError::UnknownOperation { name, number });
            }
        };
        overrides.insert(name.clone(), value);
        Ok(())
    }

    /// The list in force, for adding to and taking from it.
    fn list(&self, overrides: &Overrides, name: &str) -> Result<String, AlterConfigsError> {
        let of = match &self.what {
            What::Topic(_) => "topic",
            What::Broker(..) => "broker",
            What::Group(..) => "group",
        };
        let setting = self.declared(name).ok_or_else(|| SettingError::Unknown {
            of,
            name: name.to_owned(),
        })?;
        if setting.kind != SettingType::List {
            let name = name.to_owned();
            return Err(AlterConfigsError::NotAList { name });
        }
        if let Some(list) = overrides.get(name) {
            return Ok(list.clone());
        }
        Ok(self.rules.with_layers(self.view, |layers| match self.what {
            What::Topic(_) => effective_topic_value(name, overrides, layers),
            What::Group(..) => effective_group_value(name, overrides, layers),
            What::Broker(..) => effective_broker_value(name, layers)
                .unwrap_or("")
                .to_owned(),
        }))
    }

    fn declared(&self, name: &str) -> Option<&'static Setting> {
        let all = match self.what {
            What::Topic(_) => topic_settings(),
            What::Group(..) => group_settings(),
            What::Broker(..) => broker_settings(),
        };
        all.get(name).copied()
    }

    /// The record of the new settings; none where they are what they were.
    pub(super) fn finish(self, overrides: Overrides) -> Result<Option<Record>, AlterConfigsError> {
        check_size(&overrides)?;
        match self.what {
            What::Topic(topic) => {
                check_topic(&overrides)?;
                let is_changed = overrides != topic.overrides;
                let topic = Topic {
                    overrides,
                    ..Topic::clone(&topic)
                };
                Ok(is_changed.then_some(Record::Topic(topic)))
            }
            What::Group(group, before) => {
                let checked = self
                    .rules
                    .with_layers(self.view, |layers| check_group(&overrides, layers));
                checked?;
                let groups = self.view.groups_with_settings().len();
                if before.is_empty() && !overrides.is_empty() && groups >= GROUPS_WITH_SETTINGS_MAX
                {
                    let max = GROUPS_WITH_SETTINGS_MAX;
                    return Err(AlterConfigsError::TooManyGroups { max });
                }
                let is_changed = overrides != *before;
                Ok(is_changed.then_some(Record::GroupSettings(group, overrides)))
            }
            What::Broker(scope, before) => {
                let is_changed = overrides != *before;
                Ok(is_changed.then_some(Record::BrokerSettings(scope, overrides)))
            }
        }
    }
}

fn find_topic(view: &CatalogView, name: &str) -> Result<Arc<Topic>, AlterConfigsError> {
    if name.is_empty() {
        return Err(AlterConfigsError::DefaultTopic);
    }
    TopicName::new(name)?;
    let topic = view
        .topic_named(name)
        .ok_or_else(|| AlterConfigsError::UnknownTopic {
            name: name.to_owned(),
        })?;
    if topic.is_internal {
        let name = topic.name.clone();
        return Err(AlterConfigsError::InternalTopic { name });
    }
    Ok(topic.clone())
}

fn find_group(name: &str) -> Result<GroupId, AlterConfigsError> {
    match name.len() {
        0 => Err(AlterConfigsError::DefaultGroup),
        length if length > NAME_BYTES_MAX => Err(AlterConfigsError::GroupNameTooLong {
            length,
            max: NAME_BYTES_MAX,
        }),
        _ => Ok(GroupId::from(name)),
    }
}

fn find_broker(broker: BrokerId, name: &str) -> Result<BrokerScope, AlterConfigsError> {
    if name.is_empty() {
        return Ok(BrokerScope::Default);
    }
    if name.parse() == Ok(broker.0) {
        return Ok(BrokerScope::Broker(broker));
    }
    Err(AlterConfigsError::UnknownBroker {
        name: name.to_owned(),
        broker: broker.0,
    })
}

/// `list` without the items of `taken`.
fn without(list: &str, taken: &str) -> String {
    let taken: BTreeSet<&str> = taken.split(',').map(str::trim).collect();
    let kept: Vec<&str> = list.split(',').filter(|i| !taken.contains(i)).collect();
    kept.join(",")
}
