//! One partition's log on disk: segments, indexes, recovery, retention.
//!
//! Why it exists: an acknowledged record must be read back, at its offset, after any crash (LOG-1).
//! Owns: every file in a partition's folder.   Never: threads, waiting, topics, protocol error codes.
//! In -> out: batches as they came -> offsets; offsets -> where in which file the batches lie.
//! Invariants: LOG-1 to LOG-4, PRD-1, PRD-2.   Read next: `log/mod.rs`.

mod compaction;
mod config;
mod error;
mod log;
mod types;

pub mod formats;
mod header;
pub mod journal;
mod leader_epochs;
#[cfg(feature = "planted-faults")]
pub mod planted;
mod producer_state;
mod read_plan;
mod segment;
mod sparse_index;

pub use compaction::{
    CleanError, Cleaned, CleanedSegment, CleanerMemory, Cleaning, Pace, SipKey, Work,
};
pub use config::{Durability, LogConfig};
pub use error::{AppendError, ChangeError, DamagedSegment, LogFailed, OpenLogError, ReadError};
pub use formats::transaction_index::AbortedTransaction;
pub use log::{
    AbortedSearch, BegunSwap, CheckedBatches, Dirtiness, Log, ReadSearch, Removal, SearchedSegment,
    SyncTicket, TimeSearch,
};
pub use read_plan::{AtOnce, FileSlice, ReadPlan, ReadTurns};
pub use types::{
    ActiveProducer, AppendOrigin, Appended, ReadLimit, RecoveryMode, Retained, RetentionHold,
    TimestampOffset,
};
