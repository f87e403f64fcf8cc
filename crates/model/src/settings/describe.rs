//! What DescribeConfigs answers, as a function of the values given.

use super::declaration::Setting;
use super::layers::{
    BrokerLayers, Source, broker_synonyms, effective_broker_value, effective_group_value,
    effective_topic_value,
};
use super::{
    Overrides, broker_settings, effective_queue_value, group_settings, queue_settings,
    topic_settings,
};

/// A value that would be in force if those before it were not given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Synonym {
    /// The setting that gives it.
    pub name: &'static str,
    /// The value; a secret is not shown.
    pub value: Option<String>,
    /// Where it was given.
    pub source: Source,
}

/// One setting as a client sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Described {
    /// Its declaration: name, type, doc, whether it is read-only or a secret.
    pub setting: &'static Setting,
    /// The value in force; none where there is none or it is a secret.
    pub value: Option<String>,
    /// Where the value comes from.
    pub source: Source,
    /// The values given for it, the one in force first.
    pub synonyms: Vec<Synonym>,
}

/// Every setting of a topic (or those in `wanted`; unknown names are left out, as Kafka does).
pub fn describe_topic(
    topic: &Overrides,
    layers: &BrokerLayers<'_>,
    wanted: Option<&[&str]>,
) -> Vec<Described> {
    let describe = |setting: &'static Setting| {
        let value = effective_topic_value(setting.name, topic, layers);
        let mut synonyms = Vec::new();
        if topic.contains_key(setting.name) {
            synonyms.push(Synonym {
                name: setting.name,
                value: Some(value.clone()),
                source: Source::DynamicTopic,
            });
        }
        if let Some(broker_name) = setting.synonyms.first() {
            synonyms.extend(synonyms_of(broker_settings()[broker_name], layers));
        }
        described(setting, Some(value), synonyms)
    };
    selected(topic_settings().values(), wanted)
        .map(describe)
        .collect()
}

/// Every setting of a group (or those in `wanted`).
pub fn describe_group(
    group: &Overrides,
    layers: &BrokerLayers<'_>,
    wanted: Option<&[&str]>,
) -> Vec<Described> {
    let describe = |setting: &'static Setting| {
        let value = effective_group_value(setting.name, group, layers);
        let mut synonyms = Vec::new();
        if group.contains_key(setting.name) {
            synonyms.push(Synonym {
                name: setting.name,
                value: Some(value.clone()),
                source: Source::DynamicGroup,
            });
        }
        let default = || Synonym {
            name: setting.name,
            value: setting.default.map(str::to_owned),
            source: Source::Default,
        };
        match setting.synonyms.first() {
            Some(name) => synonyms.extend(synonyms_of(broker_settings()[name], layers)),
            None => synonyms.push(default()),
        }
        described(setting, Some(value), synonyms)
    };
    selected(group_settings().values(), wanted)
        .map(describe)
        .collect()
}

/// Every setting of a queue, by name: the value in force, and whether it was given.
pub fn describe_queue(queue: &Overrides) -> impl Iterator<Item = (&'static Setting, &str, bool)> {
    queue_settings().values().map(|setting| {
        let value = effective_queue_value(setting.name, queue);
        (*setting, value, queue.contains_key(setting.name))
    })
}

/// Every setting of a broker (or those in `wanted`).
pub fn describe_broker(layers: &BrokerLayers<'_>, wanted: Option<&[&str]>) -> Vec<Described> {
    let describe = |setting: &'static Setting| {
        let value = effective_broker_value(setting.name, layers).map(str::to_owned);
        described(setting, value, synonyms_of(setting, layers))
    };
    selected(broker_settings().values(), wanted)
        .map(describe)
        .collect()
}

/// The settings given for all brokers while running (of those in `wanted`), and nothing else.
pub fn describe_broker_default(
    layers: &BrokerLayers<'_>,
    wanted: Option<&[&str]>,
) -> Vec<Described> {
    let given = broker_settings()
        .values()
        .filter(|setting| layers.dynamic_default.contains_key(setting.name));
    let describe = |setting: &'static Setting| {
        let value = layers.dynamic_default.get(setting.name).cloned();
        let mut synonyms = synonyms_of(setting, layers);
        synonyms.retain(|s| s.source == Source::DynamicDefaultBroker);
        described(setting, value, synonyms)
    };
    selected(given, wanted).map(describe).collect()
}

fn selected<'w>(
    settings: impl Iterator<Item = &'static &'static Setting> + 'w,
    wanted: Option<&'w [&'w str]>,
) -> impl Iterator<Item = &'static Setting> + 'w {
    settings
        .copied()
        .filter(move |s| wanted.is_none_or(|names| names.contains(&s.name)))
}

fn described(
    setting: &'static Setting,
    value: Option<String>,
    synonyms: Vec<Synonym>,
) -> Described {
    Described {
        setting,
        value: value.filter(|_| !setting.is_sensitive()),
        source: synonyms.first().map_or(Source::Default, |s| s.source),
        synonyms,
    }
}

/// All values given for a broker setting or its synonyms, by source and then by unit. As in Kafka the list starts
/// at the setting's own name: a value given in hours alone doesn't show under the name in milliseconds.
fn synonyms_of(setting: &'static Setting, layers: &BrokerLayers<'_>) -> Vec<Synonym> {
    let names = broker_synonyms(setting.name);
    let hidden = setting.is_sensitive();
    let mut all = Vec::new();
    for (source, layer) in layers.given() {
        for name in &names {
            if let Some(value) = layer.get(*name) {
                all.push((*name, value.clone(), source));
            }
        }
    }
    for name in &names {
        if let Some(value) = broker_settings()[name].default {
            all.push((*name, value.to_owned(), Source::Default));
        }
    }
    all.into_iter()
        .skip_while(|(name, _, _)| *name != setting.name)
        .map(|(name, value, source)| Synonym {
            name,
            value: Some(value).filter(|_| !hidden),
            source,
        })
        .collect()
}
