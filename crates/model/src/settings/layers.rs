//! Which value is in force, and where it comes from.

use super::declaration::Setting;
use super::{Overrides, broker_settings, group_settings, topic_settings};

/// Where a value was given. In Kafka's order: an earlier one wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// On the topic.
    DynamicTopic,
    /// On the group.
    DynamicGroup,
    /// On the broker, while running.
    DynamicBroker,
    /// For all brokers, while running.
    DynamicDefaultBroker,
    /// In the start-up file or flags.
    StaticBroker,
    /// Nowhere: the declaration's default.
    Default,
}

impl Source {
    /// Its number in DescribeConfigs responses.
    pub const fn code(self) -> i8 {
        match self {
            Self::DynamicTopic => 1,
            Self::DynamicGroup => 8,
            Self::DynamicBroker => 2,
            Self::DynamicDefaultBroker => 3,
            Self::StaticBroker => 4,
            Self::Default => 5,
        }
    }
}

/// The values given for a broker, by where they were given.
#[derive(Clone, Copy, Debug)]
pub struct BrokerLayers<'a> {
    /// For this broker, while running.
    pub dynamic: &'a Overrides,
    /// For all brokers, while running.
    pub dynamic_default: &'a Overrides,
    /// In the start-up file or flags.
    pub statics: &'a Overrides,
}

impl<'a> BrokerLayers<'a> {
    /// The layers that name values, the winning one first.
    pub(super) fn given(&self) -> [(Source, &'a Overrides); 3] {
        [
            (Source::DynamicBroker, self.dynamic),
            (Source::DynamicDefaultBroker, self.dynamic_default),
            (Source::StaticBroker, self.statics),
        ]
    }

    fn value_of(&self, setting: &Setting) -> Option<&'a str> {
        self.given()
            .into_iter()
            .find_map(|(_, layer)| legal(setting, layer.get(setting.name)))
            .or(setting.default)
    }
}

/// A value that this program can't read (a newer one wrote it) counts as not given.
fn legal<'a>(setting: &Setting, value: Option<&'a String>) -> Option<&'a str> {
    value
        .map(String::as_str)
        .filter(|value| setting.parse(value).is_ok())
}

/// The broker settings that `name` may be given by, the finest unit first.
pub(super) fn broker_synonyms(name: &'static str) -> Vec<&'static str> {
    const FAMILIES: [&[&str]; 3] = [
        &[
            "log.retention.ms",
            "log.retention.minutes",
            "log.retention.hours",
        ],
        &["log.roll.ms", "log.roll.hours"],
        &["log.roll.jitter.ms", "log.roll.jitter.hours"],
    ];
    if name == "log.flush.interval.ms" {
        return vec![name, "log.flush.scheduler.interval.ms"];
    }
    let family = FAMILIES.into_iter().find(|family| family.contains(&name));
    family.map_or_else(|| vec![name], <[&str]>::to_vec)
}

/// The value in force for a broker setting: its own, in its own unit; none where it has no default.
///
/// # Panics
/// When no setting of that name is declared.
pub fn effective_broker_value<'a>(name: &str, layers: &BrokerLayers<'a>) -> Option<&'a str> {
    layers.value_of(broker_settings()[name])
}

/// The value in force for a topic setting, in the topic setting's unit.
///
/// # Panics
/// When no setting of that name is declared.
pub fn effective_topic_value(name: &str, topic: &Overrides, layers: &BrokerLayers<'_>) -> String {
    let setting = topic_settings()[name];
    if let Some(value) = legal(setting, topic.get(name)) {
        return value.to_owned();
    }
    for synonym in setting.synonyms {
        if let Some(value) = effective_broker_value(synonym, layers) {
            return in_milliseconds(synonym, value);
        }
    }
    setting
        .default
        .expect("every topic setting has a default; the tables' test says so")
        .to_owned()
}

/// The value in force for a setting of a group.
///
/// # Panics
/// When no setting of that name is declared.
pub fn effective_group_value(name: &str, group: &Overrides, layers: &BrokerLayers<'_>) -> String {
    let setting = group_settings()[name];
    if let Some(value) = legal(setting, group.get(name)) {
        return value.to_owned();
    }
    let synonyms = setting.synonyms.iter();
    synonyms
        .filter_map(|synonym| effective_broker_value(synonym, layers))
        .next()
        .or(setting.default)
        .expect("every group setting has a default; the tables' test says so")
        .to_owned()
}

/// The least and the most that the broker's settings allow a group's setting to be, where they say so.
pub(crate) fn group_bounds(name: &str, layers: &BrokerLayers<'_>) -> Option<(i64, i64)> {
    let (kind, rest) = name.split_once('.')?;
    let bound = |which: &str| -> Option<i64> {
        let name = format!("group.{kind}.{which}.{rest}");
        broker_settings().get(name.as_str())?;
        effective_broker_value(&name, layers)?.parse().ok()
    };
    Some((bound("min")?, bound("max")?))
}

/// A topic counts time in milliseconds where the broker may count in minutes or hours.
fn in_milliseconds(broker_setting: &str, value: &str) -> String {
    let unit_ms: i64 = match broker_setting {
        name if name.ends_with(".hours") => 3_600_000,
        name if name.ends_with(".minutes") => 60_000,
        _ => return value.to_owned(),
    };
    let number: i64 = value.parse().expect("only legal numbers come here");
    // A negative count means no limit, in every unit.
    if number < 0 {
        return "-1".to_owned();
    }
    number.saturating_mul(unit_ms).to_string()
}
