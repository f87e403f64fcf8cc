//! Share groups (KIP-932) as groups: what `__consumer_offsets` remembers of their members and of which partitions have a state.
//!
//! Owns: what the records of these groups mean.   Never: the state of records; that is in `__share_group_state`.
//! Read next: `heartbeat.rs`, `assignment.rs`, `records.rs`, `ledger.rs`.

mod admin;
mod assignment;
mod assignor;
mod heartbeat;
mod ledger;
pub(super) mod record_format;
mod records;

pub(in crate::group) use assignment::{SettledShareGroup, without_state};

pub use admin::{DescribedShareGroup, DescribedShareMember, ShareStatesChanged};
pub use assignor::ASSIGNOR;
pub use heartbeat::{ShareHeartbeat, ShareHeartbeatAnswer, ShareRules};
pub use ledger::ShareGroup;
pub use records::{
    DeletingTopic, ShareAssignment, ShareGroupEpoch, ShareMember, SharePartitions, ShareRecord,
    ShareTopic,
};

#[cfg(test)]
mod tests;
