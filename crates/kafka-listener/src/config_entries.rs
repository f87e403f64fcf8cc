//! Kinds of resources that have settings, and what a client may know of a setting, shared by the APIs about them.

use fanlog_coordinators::catalog::{ConfigResource, ResourceKind};
use fanlog_model::settings::{Described, Update};

const TOPIC: i8 = 2;
const BROKER: i8 = 4;
const BROKER_LOGGER: i8 = 8;
pub(crate) const CLIENT_METRICS: i8 = 16;
const GROUP: i8 = 32;

/// Every type that there is.
pub(crate) const TYPES: [i8; 5] = [TOPIC, BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP];

/// The kind that the protocol gives this number.
pub(crate) fn kind_of(number: i8) -> ResourceKind {
    match number {
        TOPIC => ResourceKind::Topic,
        BROKER => ResourceKind::Broker,
        BROKER_LOGGER => ResourceKind::BrokerLogger,
        CLIENT_METRICS => ResourceKind::ClientMetrics,
        GROUP => ResourceKind::Group,
        other => ResourceKind::Unknown(other),
    }
}

/// The resource that a request names.
pub(crate) fn resource(kind: i8, name: &str) -> ConfigResource {
    ConfigResource {
        kind: kind_of(kind),
        name: name.to_owned(),
    }
}

/// Whether a setting can't be changed while the broker runs.
pub(crate) fn is_read_only(described: &Described) -> bool {
    described.setting.update == Update::ReadOnly
}
