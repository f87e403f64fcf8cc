//! One file per API, named as Kafka names it.

pub(crate) mod api_versions;
pub(crate) mod produce;
pub(crate) mod fetch;
