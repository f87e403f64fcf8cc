//! Consumer groups of the new protocol (KIP-848): the coordinator assigns, and moves one partition at a time.
//!
//! Why it exists: in the classic protocol everybody stops for everybody; here a member that isn't concerned goes on reading.
//! Owns: what the records of these groups mean, and every decision about such a group.   Never: compiles regular expressions in a
//! decision, looks topics up; both come in with the input.
//! In -> out: heartbeats -> records, and what each member owns.
//! Invariants: GRP-1, GRP-2, GRP-3.   Read next: `records.rs`, `heartbeat.rs`, `reconcile.rs`.

mod ledger;
mod owned_partitions;
pub(super) mod record_format;
mod records;

pub mod assignors;
mod draft;
mod reconcile;
mod subscriptions;
mod target;

mod fence;
mod heartbeat;
mod requests;
mod topics_changed;
mod validation;

mod classic_members;
mod conversion;
mod subscription_bytes;

mod commit;
mod describe;
mod regex;

pub(super) use draft::tombstones;

pub use describe::{DescribedConsumer, DescribedConsumerGroup, NamedPartitions};
pub use ledger::{ConsumerGroup, ConsumerState};
pub use owned_partitions::OwnedPartitions;
pub use records::{
    ClassicMember, ConsumerMember, ConsumerRecord, CurrentAssignment, GroupEpoch, MemberState,
    ResolvedRegex, TargetEpoch,
};
pub use regex::{InvalidRegex, REGEX_BYTES_MAX, TopicRegex};
pub use requests::{
    ConsumerHeartbeat, JOIN_EPOCH, LEAVE_EPOCH, MemberHeartbeat, STATIC_LEAVE_EPOCH,
    SubscribedRegex,
};
pub use topics_changed::RegexResolved;

#[cfg(test)]
mod tests;
