//! How old segments go: forgotten under the log's lock, removed without it.
//!
//! Why it exists: removing large files takes as long as the file system likes, and appends wait for the lock.
//! Invariants: at most one removal of a partition is under way.

use super::Partition;
use crate::lookup::PartitionUnavailable;
use fanlog_environment::{Disk, write_atomically};
use fanlog_storage::ChangeError;
use std::io;
use std::path::Path;
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

    /// Replaces a small file beside the log that is not needed to serve. A topic that is deleted meanwhile waits for it.
    pub(crate) fn write_beside(&self, disk: &dyn Disk, file: &str, bytes: &[u8]) {
        let _under_way = self.removing.lock();
        if self.check_serving().is_err() {
            return;
        }
        let path = Path::new(&**self.folder()).join(file);
        if let Err(error) = write_atomically(disk, &path, bytes) {
            tracing::warn!(partition = %self.folder(), file, %error, "a file is not written");
        }
    }

    /// Removes such a file, if it is there.
    pub(crate) fn remove_beside(&self, disk: &dyn Disk, file: &str) {
        let _under_way = self.removing.lock();
        if self.check_serving().is_err() {
            return;
        }
        let path = Path::new(&**self.folder()).join(file);
        match disk.remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::warn!(partition = %self.folder(), file, %error, "a file is not removed");
            }
            _ => {}
        }
    }
}
