//! Consumer groups: the classic group protocol and committed offsets as one deterministic machine per partition of
//! `__consumer_offsets`.
//!
//! Why it exists: who owns what, and how far each group has read, must survive any crash and fence the late.
//! Owns: the ledger and the waiting of the groups of one partition.   Never: clocks, randomness, sockets, error codes, topics' existence.
//! In -> out: request or passed deadline -> records to log, replies to release once those are durable.
//! Invariants: GRP-1, GRP-2, GRP-3.   Read next: `inputs.rs`, then `waiting.rs`.

mod errors;
mod inputs;
mod names;
mod partition_sets;
pub mod record_format;
mod records;
mod replies;
mod settings;
mod topics;

pub mod consumer;
pub mod share;

mod decide;
mod ledger;
mod memory;
mod waiting;

mod deadlines;
mod live_group;
mod rebalance;
mod subscription;

mod commit;
mod delete;
mod describe;
mod expire;
mod fetch;
mod heartbeat;
mod join;
mod leave;
mod sync;
mod transactional_commit;

mod check_invariants;

pub use check_invariants::check_invariants;
pub use decide::{Decision, TransactionalWrite, decide, kind_of};
pub use describe::passes;
pub use errors::{GroupError, OffsetError};
pub use inputs::{
    CommitInTransaction, CommitOffsets, DeleteOffsets, EndOffsets, FetchOffsets, Heartbeat, Input,
    Join, Leave, LeavingMember, List, OffsetToCommit, Protocol, Sync,
};
pub use ledger::{GroupKind, Ledger, LedgerGroup, apply};
pub use names::{InstanceId, MemberId};
pub use partition_sets::PartitionSets;
pub use records::{CommittedOffset, GroupMetadata, GroupRecord, MemberMetadata};
pub use replies::{
    Answer, DescribedGroup, DescribedMember, FetchedOffset, GroupState, Joined, JoinedMember,
    LeftMember, ListedGroup, OffsetOutcome, Reply, Synced,
};
pub use settings::{
    ConsumerPaces, ConsumerSettings, GROUP_RECORD_BYTES_MAX, GroupSettings, MEMBERS_PER_GROUP_MAX,
    MigrationPolicy, NAME_BYTES_MAX, NEW_MEMBER_JOIN_TIMEOUT, PENDING_MEMBERS_PER_GROUP_MAX,
    PROTOCOLS_BYTES_MAX, PROTOCOLS_PER_MEMBER_MAX,
};
pub use topics::{FewTopics, TopicsSnapshot};
pub use transactional_commit::{OffsetsProducer, PendingOffsets, apply_end, apply_pending};
pub use waiting::{Waiting, next_deadline};

#[cfg(test)]
mod tests;
