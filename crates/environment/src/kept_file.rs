//! A file that is kept open for as long as nobody else needs its handle.
//!
//! Why it exists: a broker has more files than a process may have open; those used last stay open, the others are opened again
//! when they are needed.
//! Owns: one handle at most.   Never: closes a file with bytes that are not synced without syncing them: the kernel tells whoever has the file open of a
//! failed write, and may forget to tell those who open it later.
//! Invariants: OPS-1, LOG-1.

use crate::{Disk, DiskFile};
use parking_lot::Mutex;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A place for an open file.
#[derive(Debug, Default)]
pub struct KeptFile {
    file: Mutex<Option<Arc<dyn DiskFile>>>,
    /// Whether it was asked for since the disk last looked for a file to close.
    is_used: AtomicBool,
    is_pinned: AtomicBool,
    /// A sync of it failed while it was about to be closed: nothing that it holds can be believed.
    has_failed: AtomicBool,
    /// Whether the disk knows of it.
    is_listed: AtomicBool,
}

impl KeptFile {
    /// The file, opened by `open` where it is not.
    ///
    /// # Errors
    /// Those of `open`; a sync of the file has failed before.
    pub fn get(
        self: &Arc<Self>,
        disk: &dyn Disk,
        open: impl FnOnce() -> io::Result<Arc<dyn DiskFile>>,
    ) -> io::Result<Arc<dyn DiskFile>> {
        self.is_used.store(true, Ordering::Relaxed);
        let file = {
            let mut kept = self.file.lock();
            if self.has_failed.load(Ordering::Acquire) {
                return Err(io::Error::other("a sync of the file has failed before"));
            }
            if let Some(file) = &*kept {
                return Ok(file.clone());
            }
            kept.insert(open()?).clone()
        };
        self.list(disk);
        Ok(file)
    }

    /// Keeps a file that was opened otherwise.
    pub fn put(self: &Arc<Self>, disk: &dyn Disk, file: Arc<dyn DiskFile>) {
        *self.file.lock() = Some(file);
        self.list(disk);
    }

    /// Whether it is open.
    pub fn is_open(&self) -> bool {
        self.file.lock().is_some()
    }

    /// Closes the file once those who have it are done with it.
    pub fn close(&self) {
        *self.file.lock() = None;
    }

    /// The file has bytes that are not synced: it is not closed until they are, by their owner or by [`KeptFile::sync_and_close`].
    pub fn pin(&self) {
        self.is_pinned.store(true, Ordering::Release);
    }

    /// All its bytes are synced.
    pub fn unpin(&self) {
        self.is_pinned.store(false, Ordering::Release);
    }

    fn list(self: &Arc<Self>, disk: &dyn Disk) {
        if !self.is_listed.swap(true, Ordering::AcqRel) {
            disk.keep(self);
        }
    }

    /// Closes the file unless it was used since the last time, or may not be closed.
    pub(crate) fn offer(&self) -> Offer {
        // Whoever holds the lock is about to use the file.
        let Some(mut file) = self.file.try_lock() else {
            return Offer::Kept;
        };
        if file.is_none() {
            self.is_listed.store(false, Ordering::Release);
            return Offer::WasClosed;
        }
        if self.is_pinned.load(Ordering::Acquire) {
            return Offer::Pinned;
        }
        if self.is_used.swap(false, Ordering::Relaxed) {
            return Offer::Kept;
        }
        self.is_listed.store(false, Ordering::Release);
        *file = None;
        Offer::Closed
    }

    /// For disks that run out of handles: syncs a pinned file and closes it; whether it did. It stays pinned: whoever pinned it says when it has no such bytes any more.
    /// A file that somebody has in hand is left alone: they may be about to write.
    pub fn sync_and_close(&self) -> bool {
        let Some(mut kept) = self.file.try_lock() else {
            return false;
        };
        let Some(file) = kept.as_ref().filter(|file| Arc::strong_count(file) == 1) else {
            return false;
        };
        if file.sync_data().is_err() {
            // Whoever asks for it next is told.
            self.has_failed.store(true, Ordering::Release);
            return false;
        }
        self.is_listed.store(false, Ordering::Release);
        *kept = None;
        true
    }
}

/// What became of a file that was offered to be closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Offer {
    Kept,
    Pinned,
    WasClosed,
    Closed,
}
