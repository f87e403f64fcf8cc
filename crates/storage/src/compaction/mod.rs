//! Compaction: of a log that has `cleanup.policy=compact`, the newest record of each key stays.
//!
//! Why it exists: a topic that says what is the case now would otherwise grow with every change.
//! Owns: the rewriting of sealed segments, in files of its own, and how these take the old ones' place.
//! Never: the log's lock (see `log/compaction.rs` for what happens under it), threads, the choice of the log to clean.
//! In -> out: sealed segments and a map of bounded size -> fewer and smaller segments with the same offsets.
//! Invariants: LOG-1, LOG-3, and LOG-4's exception: what stays of a batch has its bytes, its base offset and its last offset.
//! Read next: `cleaning.rs`, then `rewrite.rs`, `transactions.rs` and `swap.rs`; the reasons are in docs/decisions/compaction.md.
//!
//! What stays is Kafka's rule: of each key the record with the largest offset; a tombstone until its batch's delete horizon
//! (KIP-534), which the first cleaning sets; the last batch of each producer that the log remembers, without records where none stays.
//! The last batch of each new segment stays likewise, so that a segment ends where the next one begins: a missing file still shows.
//! Records of transactions that were committed are records like others; aborted ones go; a marker stays while there is a batch of its
//! transaction, and then until a delete horizon.

mod batch_reader;
mod cleaning;
mod offset_map;
mod rewrite;
mod sip_hash;
pub(crate) mod swap;
mod transactions;

pub(crate) use batch_reader::Source;
pub(crate) use cleaning::Plan;
pub use cleaning::{Cleaned, Cleaning};
pub use rewrite::CleanedSegment;
pub use sip_hash::SipKey;

use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// How much memory a cleaning takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CleanerMemory {
    /// `log.cleaner.dedupe.buffer.size`: for the map of keys.
    pub map_bytes: usize,
    /// `log.cleaner.io.buffer.load.factor`: how full the map may get.
    pub map_load_factor: f64,
    /// `log.cleaner.io.buffer.size`: for reading, and as much for writing. A larger batch takes what it needs.
    pub buffer_bytes: usize,
}

impl Default for CleanerMemory {
    /// Kafka 4.4's defaults.
    fn default() -> Self {
        Self {
            map_bytes: 128 * 1024 * 1024,
            map_load_factor: 0.9,
            buffer_bytes: 512 * 1024,
        }
    }
}

/// Why a log was not cleaned, or not to the end. It is as it was or cleaned in part; nothing that should stay is gone.
#[derive(Debug, Error)]
pub enum CleanError {
    /// Whoever sets the pace said so.
    #[error("cleaning was stopped")]
    Interrupted,
    /// The log was changed meanwhile, by retention or truncation.
    #[error("the log was changed while it was cleaned")]
    Overtaken,
    /// A segment is damaged: it stays as it is.
    #[error("{} is corrupt at byte {position}: {reason}", path.display())]
    Corrupt {
        /// The damaged file.
        path: PathBuf,
        /// Where in it.
        position: u64,
        /// What is wrong.
        reason: String,
    },
    /// The disk refused.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
    /// The log has stopped.
    #[error(transparent)]
    Failed(#[from] crate::error::LogFailed),
}

impl CleanError {
    fn io(path: &Path, source: io::Error) -> Self {
        Self::Io {
            path: path.to_owned(),
            source,
        }
    }

    /// Whether the same attempt may succeed later without anybody doing anything.
    pub fn may_pass(&self) -> bool {
        match self {
            Self::Interrupted | Self::Overtaken => true,
            Self::Corrupt { .. } | Self::Failed(_) => false,
            Self::Io { source, .. } => crate::log::is_transient(source),
        }
    }
}

/// A piece of a cleaning's work that is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// So many bytes were read or written, a few hundred thousand at most unless a batch has more.
    Moved(u64),
    /// Files were synced, for which commits may have had to wait.
    Synced,
}

/// Told of every piece of work; whether to go on. It may wait as long as it likes: no lock is held.
pub type Pace<'a> = &'a mut dyn FnMut(Work) -> bool;

fn keep_pace(pace: Pace<'_>, work: Work) -> Result<(), CleanError> {
    match pace(work) {
        true => Ok(()),
        false => Err(CleanError::Interrupted),
    }
}
