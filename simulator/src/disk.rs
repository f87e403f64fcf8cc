//! The disk as one process of the broker has it: the simulated one, with faults of the medium's own and with things that
//! happen while it syncs.
//!
//! Why it exists: a sync takes time, and meanwhile others append; and a process that is gone must not touch the disk.
//! Never: what survives a crash; `fanlog_environment::simulated` says so.

use crate::Planted;
use fanlog_environment::{DirEntry, Disk, DiskFile, OpenMode, SimulatedDisk};
use parking_lot::Mutex;
use std::fmt;
use std::io::{self, IoSlice};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

type Meanwhile = Box<dyn FnOnce() + Send>;

/// The disk of one process.
pub(crate) struct ProcessDisk {
    inner: Arc<SimulatedDisk>,
    shared: Arc<Shared>,
}

struct Shared {
    planted: Option<Planted>,
    is_gone: AtomicBool,
    /// What happens during the next sync of a segment, before or after the bytes are on the disk.
    meanwhile: Mutex<Option<(bool, Meanwhile)>>,
}

impl ProcessDisk {
    pub(crate) fn new(inner: Arc<SimulatedDisk>, planted: Option<Planted>) -> Self {
        Self {
            inner,
            shared: Arc::new(Shared {
                planted,
                is_gone: AtomicBool::new(false),
                meanwhile: Mutex::new(None),
            }),
        }
    }

    /// The process is gone: whatever is left of it fails.
    pub(crate) fn end(&self) {
        self.shared.is_gone.store(true, Ordering::Release);
    }

    /// Lets something happen while the next segment is synced, before its bytes are taken or after.
    pub(crate) fn during_next_sync(&self, is_before: bool, meanwhile: Meanwhile) {
        *self.shared.meanwhile.lock() = Some((is_before, meanwhile));
    }

    /// Nothing was synced, or it is too late.
    pub(crate) fn forget_meanwhile(&self) {
        *self.shared.meanwhile.lock() = None;
    }

    fn alive(&self) -> io::Result<&SimulatedDisk> {
        self.shared.check_alive()?;
        Ok(&self.inner)
    }
}

impl Shared {
    fn check_alive(&self) -> io::Result<()> {
        if self.is_gone.load(Ordering::Acquire) {
            return Err(io::Error::other("the process is gone"));
        }
        Ok(())
    }
}

impl fmt::Debug for ProcessDisk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl Disk for ProcessDisk {
    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        self.alive()?.create_dir_all(path)
    }

    fn read_dir(&self, path: &Path) -> io::Result<Vec<DirEntry>> {
        self.alive()?.read_dir(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.alive()?.rename(from, to)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.alive()?.remove_file(path)
    }

    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        self.alive()?.remove_dir_all(path)
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        self.alive()?.exists(path)
    }

    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn DiskFile>> {
        Ok(Arc::new(ProcessFile {
            inner: self.alive()?.open(path, mode)?,
            is_segment: path.extension().is_some_and(|extension| extension == "log"),
            shared: self.shared.clone(),
        }))
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        if self.shared.planted == Some(Planted::SkippedFolderSync) {
            return Ok(());
        }
        self.alive()?.sync_dir(path)
    }

    fn available_bytes(&self) -> io::Result<u64> {
        self.alive()?.available_bytes()
    }

    fn total_bytes(&self) -> io::Result<u64> {
        self.alive()?.total_bytes()
    }

    fn drop_page_cache(&self, path: &Path) -> io::Result<()> {
        self.alive()?.drop_page_cache(path)
    }
}

struct ProcessFile {
    inner: Arc<dyn DiskFile>,
    is_segment: bool,
    shared: Arc<Shared>,
}

impl ProcessFile {
    fn alive(&self) -> io::Result<&dyn DiskFile> {
        self.shared.check_alive()?;
        Ok(&*self.inner)
    }

    fn sync(&self) -> io::Result<()> {
        let meanwhile = match self.is_segment {
            true => self.shared.meanwhile.lock().take(),
            false => None,
        };
        let (before, after) = match meanwhile {
            Some((true, meanwhile)) => (Some(meanwhile), None),
            Some((false, meanwhile)) => (None, Some(meanwhile)),
            None => (None, None),
        };
        before.into_iter().for_each(|meanwhile| meanwhile());
        let is_skipped = self.is_segment && self.shared.planted == Some(Planted::SkippedSync);
        let result = match is_skipped {
            true => Ok(()),
            false => self.alive()?.sync_data(),
        };
        after.into_iter().for_each(|meanwhile| meanwhile());
        result
    }
}

impl fmt::Debug for ProcessFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl DiskFile for ProcessFile {
    fn len(&self) -> io::Result<u64> {
        self.alive()?.len()
    }

    fn read_at(&self, buf: &mut [u8], at: u64) -> io::Result<usize> {
        self.alive()?.read_at(buf, at)
    }

    fn write_all_at(&self, buf: &[u8], at: u64) -> io::Result<()> {
        self.alive()?.write_all_at(buf, at)
    }

    fn write_all_vectored_at(&self, bufs: &[IoSlice<'_>], at: u64) -> io::Result<()> {
        self.alive()?.write_all_vectored_at(bufs, at)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.alive()?.set_len(len)
    }

    fn allocate(&self, len: u64) -> io::Result<()> {
        self.alive()?.allocate(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.sync()
    }

    fn sync_all(&self) -> io::Result<()> {
        self.sync()
    }
}
