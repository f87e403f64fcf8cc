//! Message ids: of the records of a topic that bear the same one, only the first is appended.
//!
//! Why it exists: whoever sends again because an answer got lost, or because it was started anew, can't know whether the first one is
//! there; an idempotent producer knows it of its own session only, and of one partition.
//! Owns: which ids the topics with `dedup.window.ms` remember, and for how long.
//! Never: a second copy of what a log says: what is remembered is in memory, and read from the logs again at a start.
//! In -> out: a batch -> which of its records are new; those are its own until they are appended, and count once they are durable.
//! Invariants: PRD-3, OPS-1.   Read next: `claim.rs`, then `append.rs`, `load.rs`; the reasons are in docs/decisions/dedup.md.

mod append;
mod append_times;
mod claim;
mod find;
mod id_map;
mod load;
mod runtime;
mod topic_ids;

pub use append::{Claimed, Identified};
pub use claim::IdsError;
pub use find::FindMessageError;

pub(crate) use claim::{Claim, Fate, First};
pub(crate) use runtime::Dedup;
pub(crate) use topic_ids::TopicIds;

/// The header that bears a record's id: the last one of this name counts, and an empty one is none.
pub(crate) const MESSAGE_ID_HEADER: &str = "message-id";
