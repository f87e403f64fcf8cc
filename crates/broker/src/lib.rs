//! Partitions, waiting fetches and the coordinator runtime: the one API that every listener calls.
//!
//! Why it exists: listeners translate protocols and hold no policy; what they all need (an append that is
//! acknowledged when durable, a fetch that waits, topics, groups) is said here once.
//! Owns: the data directory's identity, the topics that are open, who waits for what.
//! Never: sockets, protocol error codes, the layout of a log's files (that is storage's).
//! In -> out: calls of listeners -> appends, reads and records of the internal topics.
//! Invariants: LOG-1, LOG-2, PRD-1, GRP-3, OPS-1.   Read next: `broker.rs`.

mod fetch_types;
mod lookup;
mod offsets_types;

pub use fetch_types::{
    AbortedTransaction, FetchError, FetchPartition, FetchRequestPlan, FetchedRecords, Isolation,
};
pub use lookup::{EpochError, LookupError, PartitionUnavailable, TopicRef};
pub use offsets_types::{
    DeleteRecordsError, EpochEnd, ListOffsetsError, ListedOffset, OffsetSpec, OffsetsError,
};
mod clean_shutdown;
mod identity;
mod small_files;
mod start_counter;
mod waiters;
