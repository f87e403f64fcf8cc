//! Consumer groups of the new protocol (KIP-848): the coordinator assigns, and moves one partition at a time.
//!
//! Why it exists: in the classic protocol everybody stops for everybody; here a member that isn't concerned goes on reading.
//! Owns: what the records of these groups mean.   Never: regular expressions and topics; they come in with the input.
//! In -> out: heartbeats -> records, and what each member shall own.
//! Invariants: GRP-1, GRP-2, GRP-3.   Read next: `records.rs`, `ledger.rs`.

mod ledger;
mod owned_partitions;
pub(super) mod record_format;
mod records;

pub use ledger::{ConsumerGroup, ConsumerState};
pub use owned_partitions::OwnedPartitions;
pub use records::{
    ClassicMember, ConsumerMember, ConsumerRecord, CurrentAssignment, GroupEpoch, MemberState,
    ResolvedRegex, TargetEpoch,
};
