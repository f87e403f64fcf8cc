//! The bytes of a [`QueueRecord`] in `__fanlog_queues`.

use super::{QueueKey, QueueRecord};
use thiserror::Error;

/// Why a record in the log is none of ours. Loading stops: going on would lose what it says.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum QueueRecordError {
    /// A newer program wrote this.
    #[error("queue record of unknown kind {kind}; start a version of fanlog that knows it")]
    UnknownKind {
        /// The key's first byte.
        kind: u8,
    },
    /// A newer program wrote this.
    #[error(
        "queue record has version {version}, which this program does not know; start a newer version of fanlog"
    )]
    UnknownVersion {
        /// The value's version.
        version: u16,
    },
    /// The bytes end early.
    #[error("queue record ends early: {what} is missing")]
    Short {
        /// Which part was being read.
        what: &'static str,
    },
    /// Bytes are left over.
    #[error("queue record has {count} bytes too many")]
    TrailingBytes {
        /// How many.
        count: usize,
    },
    /// A part has a value that no version writes.
    #[error("queue record has an illegal {what}: {value}")]
    Illegal {
        /// Which part.
        what: &'static str,
        /// The value found.
        value: String,
    },
}

/// Writes a record: its key, and its value or a tombstone.
pub fn encode(key: &QueueKey, record: &QueueRecord) -> (Vec<u8>, Option<Vec<u8>>) {
    let _ = (key, record);
    (Vec::new(), None)
}

/// Reads a record; none where a tombstone says nothing new.
///
/// # Errors
/// Says what is unknown or malformed.
pub fn decode(
    key: Option<&[u8]>,
    value: Option<&[u8]>,
) -> Result<Option<(QueueKey, QueueRecord)>, QueueRecordError> {
    let _ = (key, value);
    Ok(None)
}
