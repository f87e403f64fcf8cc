//! How old segments go: forgotten under the log's lock, removed without it.
//!
//! Why it exists: removing large files takes as long as the file system likes, and appends wait for the lock.
//! Invariants: at most one removal of a partition is under way.

use super::Partition;
use crate::lookup::PartitionUnavailable;
use fanlog_storage::ChangeError;
use thiserror::Error;

/// Why files that are not needed any more are still there. Fate: the next round of maintenance tries again.
#[derive(Debug, Error)]
pub(crate) enum RemovalError {
    #[error(transparent)]
    Unavailable(#[from] PartitionUnavailable),
    #[error(transparent)]
    Disk(#[from] ChangeError),
}

impl Partition {
    /// Makes the log's start durable, and removes the files below it. On return all is done that began before.
    pub(crate) fn finish_removals(&self) -> Result<(), RemovalError> {
        let _under_way = self.removing.lock();
        let Some(removal) = self.with_log(|log| log.begin_removal())? else {
            return Ok(());
        };
        let result = removal.run();
        self.change(|log| log.finish_removal(&removal, result))??;
        Ok(())
    }
}
