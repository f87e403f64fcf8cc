//! Every Kafka 4.4 topic and broker setting, and our own, declared once: type, default, range, effect and doc.
//!
//! Why it exists: help, validation, DescribeConfigs and `docs/settings.md` must not tell four stories.
//! Owns: the declarations and their rules.   Never: where settings are kept; the catalog and the start-up file do that.
//! In -> out: overrides by name -> [`TopicSettings`] and [`BrokerSettings`] for the code, [`Described`] for clients.
//! Read next: `declaration.rs`, then `topic_table.rs`.

mod aws_settings;
mod broker_settings;
mod check;
mod consumer_settings;
mod declaration;
mod describe;
mod document;
mod layers;
mod parse;
mod queue_settings;
mod share_settings;
mod topic_settings;

mod broker_access_table;
mod broker_aws_table;
mod broker_cluster_table;
mod broker_group_table;
mod broker_log_table;
mod broker_own_table;
mod broker_server_table;
mod group_table;
mod queue_table;
mod topic_table;

pub use aws_settings::{AwsCredentials, AwsSettings};
pub use broker_settings::BrokerSettings;
pub use check::{
    OVERRIDES_BYTES_MAX, VALUE_BYTES_MAX, check_broker_dynamic, check_group, check_group_setting,
    check_queue_setting, check_size, check_statics, check_topic, check_topic_setting,
};
pub use consumer_settings::{ConsumerGroupSettings, ConsumerSettings};
pub use declaration::{Effect, Setting, SettingType, Update, Valid};
pub use describe::{
    Described, Synonym, describe_broker, describe_broker_default, describe_group, describe_queue,
    describe_topic,
};
pub use document::settings_page;
pub(crate) use layers::group_bounds;
pub use layers::{
    BrokerLayers, Source, effective_broker_value, effective_group_value, effective_topic_value,
};
pub use parse::SettingError;
pub use queue_settings::{
    Backoff, DeadLetter, FilterScope, Order, QUEUE_NAME_BYTES_MAX, QueueSettings, Until,
    check_queue_name, duration, effective_queue_value, redrive_topic,
};
pub use share_settings::{OffsetReset, ShareGroupSettings, ShareSettings};
pub use topic_settings::{
    CleanupPolicy, CompressionType, Durability, MessageTimestampType, TopicSettings,
};

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Values given for settings, by name, in canonical form.
///
/// Names are kept as text, so that a log written by a newer program keeps settings that this one doesn't know.
pub type Overrides = BTreeMap<String, String>;

/// All topic settings, by name.
pub fn topic_settings() -> &'static BTreeMap<&'static str, &'static Setting> {
    static ALL: LazyLock<BTreeMap<&str, &Setting>> = LazyLock::new(|| index(&[topic_table::TABLE]));
    &ALL
}

/// All settings that a group may have, by name.
pub fn group_settings() -> &'static BTreeMap<&'static str, &'static Setting> {
    static ALL: LazyLock<BTreeMap<&str, &Setting>> = LazyLock::new(|| index(&[group_table::TABLE]));
    &ALL
}

/// All settings that a queue may have, by name.
pub fn queue_settings() -> &'static BTreeMap<&'static str, &'static Setting> {
    static ALL: LazyLock<BTreeMap<&str, &Setting>> = LazyLock::new(|| index(&[queue_table::TABLE]));
    &ALL
}

/// All broker settings, Kafka's and ours, by name.
pub fn broker_settings() -> &'static BTreeMap<&'static str, &'static Setting> {
    static ALL: LazyLock<BTreeMap<&str, &Setting>> = LazyLock::new(|| {
        index(&[
            broker_own_table::TABLE,
            broker_aws_table::TABLE,
            broker_log_table::TABLE,
            broker_group_table::TABLE,
            broker_server_table::TABLE,
            broker_access_table::TABLE,
            broker_cluster_table::TABLE,
        ])
    });
    &ALL
}

fn index(tables: &[&'static [Setting]]) -> BTreeMap<&'static str, &'static Setting> {
    let rows = tables.iter().flat_map(|table| table.iter());
    rows.map(|setting| (setting.name, setting)).collect()
}

#[cfg(test)]
mod tests;
