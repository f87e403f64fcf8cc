//! Every reason that the broker gives, as Kafka's error code: each enum in one exhaustive match.
//!
//! Why it exists: codes are the protocol's affair; below the listeners errors are typed and know nothing of them.

mod append;
mod groups;
mod offsets;
mod shares;
mod topics;
mod transactions;

pub(crate) use append::{Refusal, of_append};
pub(crate) use groups::{of_coordinator, of_group, of_group_failure, of_offset};
pub(crate) use offsets::{
    of_delete_records, of_describe_producers, of_fetch, of_lookup, of_offsets, of_unavailable,
};
pub(crate) use shares::{of_share_ack, of_share_fetch, of_share_session};
pub(crate) use topics::{
    of_altered, of_auto_create, of_catalog, of_create_partitions, of_create_topic, of_delete_topic,
    of_init_producer_id,
};
pub(crate) use transactions::{of_allow, of_marker, of_transaction, of_transactional_commit};
