//! The journal: one sequence of files that makes the records of all logs durable with one sync.
//!
//! Why it exists: a sync of each segment that was written to costs as many syncs as there are busy partitions; one write and one sync
//! of a file that was written before serve them all.
//! Owns: `<data>/journal/`.   Never: threads, waiting, which logs there are.
//! In -> out: records of many logs -> one durable commit; after a crash, each log's records again.
//! Invariants: LOG-1. A commit begins only after the one before it is durable. A file is used again only when every record in it is
//! durable in its segment, and a durable checkpoint says so.
//! Read next: `format.rs`, `files.rs`, then `recovered.rs`; the reasons are in docs/decisions/journal.md.

mod checkpoint;
mod files;
mod format;
mod pending;
mod recovered;
mod registry;
mod scan;
#[cfg(test)]
mod tests;

pub use files::{CommitError, Committed, Journal};
pub use pending::Pending;
pub(crate) use recovered::{Damage, Kept};
pub use recovered::{Recovered, Replay};

use fanlog_environment::DiskFile;
use fanlog_model::{LeaderEpoch, Offset, PartitionIndex, TopicId};

/// The folder in the data directory.
pub const FOLDER: &str = "journal";

/// How large the journal is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JournalConfig {
    /// The size of one file.
    pub file_bytes: u64,
    /// How many files there are at most. Those kept for a log that cannot be opened come on top.
    pub files_max: usize,
    /// From so many bytes on an append goes past the journal: writing it twice costs more than a sync of its own segment does.
    pub past_bytes: usize,
}

impl Default for JournalConfig {
    fn default() -> Self {
        Self {
            file_bytes: 64 * 1024 * 1024,
            files_max: 16,
            past_bytes: 512 * 1024,
        }
    }
}

impl JournalConfig {
    /// Whether an append of so many bytes goes past the journal, to be made durable by a sync of its segment: a large one does, and so
    /// does whatever stands behind one that is not proven yet, so that what is durable has no hole.
    pub fn goes_past(&self, bytes: usize, is_behind_another: bool) -> bool {
        #[cfg(feature = "planted-faults")]
        let is_behind_another = is_behind_another && !crate::planted::overlooks_holes();
        let most = self.file_bytes / 4;
        is_behind_another || bytes >= self.past_bytes || bytes as u64 > most
    }

    /// Whether a file was written to its end once: it is as long as it was ever written.
    fn is_filled(&self, file: &dyn DiskFile) -> bool {
        file.len().is_ok_and(|len| len >= self.file_bytes)
    }

    /// Whether an append at `start` follows what the journal has of its log, so that nothing must be synced before it is committed.
    pub fn follows(&self, handed_on: Offset, start: Offset) -> bool {
        #[cfg(feature = "planted-faults")]
        let handed_on = match crate::planted::overlooks_holes() {
            true => start,
            false => handed_on,
        };
        handed_on == start
    }
}

/// Which log a record is of: by the topic's id, so that a later topic of the same name gets nothing of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LogId {
    /// The topic.
    pub topic_id: TopicId,
    /// The partition.
    pub partition: PartitionIndex,
}

/// A run of batches of one log, as a commit's table has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The log.
    pub log: LogId,
    /// The epoch of its batches.
    pub leader_epoch: LeaderEpoch,
    /// The offset of the first record.
    pub base: Offset,
    /// The offset behind the last record.
    pub next: Offset,
    /// The bytes of the batches. None stands for a note: below `next` the log's segments are durable.
    pub bytes: u32,
}
