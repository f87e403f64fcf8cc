//! Consumer groups, from a member's side: the classic protocol.
//!
//! In -> out: `GroupConsumer::poll` -> records, and what the group gave or took. Read next: `consumer.rs`.

mod assignor;
mod consumer;
mod membership;
mod offsets;

pub use consumer::{GroupConfig, GroupConsumer, GroupEvent};
pub(crate) use offsets::{assigned_partitions, commit, fetch_committed};
