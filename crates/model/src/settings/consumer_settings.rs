//! The settings that consumer groups of the new protocol obey, of the broker and of one group.

use super::Overrides;
use super::layers::{BrokerLayers, effective_broker_value, effective_group_value};

/// What the broker says of all consumer groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsumerSettings {
    /// `group.consumer.assignors`, the default first.
    pub assignors: Vec<String>,
    /// `group.consumer.max.size`.
    pub group_size_max: u32,
    /// `group.consumer.migration.policy`.
    pub migration_policy: String,
}

/// One consumer group's settings in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConsumerGroupSettings {
    /// `consumer.assignment.interval.ms`.
    pub assignment_interval_ms: u64,
    /// `consumer.heartbeat.interval.ms`.
    pub heartbeat_interval_ms: i32,
    /// `consumer.session.timeout.ms`.
    pub session_timeout_ms: u64,
}

impl ConsumerSettings {
    pub(super) fn resolve(layers: &BrokerLayers<'_>) -> Self {
        let text = |name: &str| {
            effective_broker_value(name, layers)
                .expect("every honoured setting has a default; the tables' test says so")
        };
        let size: i64 = text("group.consumer.max.size")
            .parse()
            .expect("a number setting in force is a number: it was checked, or is a default");
        let assignors = text("group.consumer.assignors");
        let names = assignors.split(',').map(str::trim);
        Self {
            assignors: names
                .filter(|name| !name.is_empty())
                .map(str::to_owned)
                .collect(),
            group_size_max: u32::try_from(size.max(0)).unwrap_or(u32::MAX),
            migration_policy: text("group.consumer.migration.policy").to_owned(),
        }
    }
}

impl ConsumerGroupSettings {
    /// Resolves what was given for a group.
    pub fn resolve(group: &Overrides, layers: &BrokerLayers<'_>) -> Self {
        // The broker's bounds may have come closer since the group's value was taken.
        let number = |name: &str| -> i64 {
            let value: i64 = effective_group_value(name, group, layers)
                .parse()
                .expect("a number setting in force is a number: it was checked, or is a default");
            match super::group_bounds(name, layers) {
                Some((least, most)) => value.max(least).min(most),
                None => value,
            }
        };
        let heartbeat = number("consumer.heartbeat.interval.ms");
        Self {
            assignment_interval_ms: number("consumer.assignment.interval.ms").unsigned_abs(),
            heartbeat_interval_ms: i32::try_from(heartbeat).unwrap_or(i32::MAX),
            session_timeout_ms: number("consumer.session.timeout.ms").unsigned_abs(),
        }
    }
}
