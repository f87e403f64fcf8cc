//! Disk and clock as one process of the broker has them: the simulated ones, with faults of the medium's own and with things
//! that happen while a log is synced.
//!
//! Why it exists: a sync takes time, and meanwhile others append; and a process that is gone must not touch the disk.
//! Never: what survives a crash; `fanlog_environment::simulated` says so.

use crate::Planted;
use fanlog_environment::{Clock, DirEntry, Disk, DiskFile, ManualClock, OpenMode, SimulatedDisk};
use fanlog_model::TimestampMs;
use parking_lot::Mutex;
use std::fmt;
use std::io::{self, IoSlice};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// What others do meanwhile.
type Meanwhile = Box<dyn FnOnce() + Send>;

/// When, while a log is synced, the others have their turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Before the segment's bytes are taken, where the folder is synced too.
    AtFolder,
    /// While the segment is synced, before its bytes are on the disk.
    BeforeBytes,
    /// While the segment is synced, after its bytes are on the disk.
    AfterBytes,
    /// After the sync has succeeded or failed, before the log knows.
    BeforeResult,
}

/// The disk of one process.
pub(crate) struct ProcessDisk {
    inner: Arc<SimulatedDisk>,
    shared: Arc<Shared>,
}

struct Shared {
    planted: Option<Planted>,
    is_gone: AtomicBool,
    meanwhile: Mutex<Option<(Turn, Meanwhile)>>,
    /// A segment was synced since `meanwhile` was set.
    has_synced: AtomicBool,
    /// How many segments were synced.
    syncs: AtomicU64,
}

impl ProcessDisk {
    pub(crate) fn new(inner: Arc<SimulatedDisk>, planted: Option<Planted>) -> Self {
        Self {
            inner,
            shared: Arc::new(Shared {
                planted,
                is_gone: AtomicBool::new(false),
                meanwhile: Mutex::new(None),
                has_synced: AtomicBool::new(false),
                syncs: AtomicU64::new(0),
            }),
        }
    }

    /// The process is gone: whatever is left of it fails.
    pub(crate) fn end(&self) {
        self.shared.is_gone.store(true, Ordering::Release);
    }

    /// Lets something happen while the next log is synced.
    pub(crate) fn during_next_sync(&self, turn: Turn, meanwhile: Meanwhile) {
        self.shared.has_synced.store(false, Ordering::Release);
        *self.shared.meanwhile.lock() = Some((turn, meanwhile));
    }

    /// The clock of the same process.
    pub(crate) fn clock(&self, inner: Arc<ManualClock>) -> ProcessClock {
        let shared = self.shared.clone();
        ProcessClock { inner, shared }
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

    fn skips_sync(&self, synced: Synced) -> bool {
        match self.planted {
            Some(Planted::SkippedSync) => true,
            Some(Planted::SkippedJournalSync) => synced == Synced::Journal,
            Some(Planted::SkippedSegmentSync) => synced == Synced::Segment,
            Some(Planted::RarelySkippedSync) => self.syncs.fetch_add(1, Ordering::Relaxed) % 8 == 7,
            _ => false,
        }
    }

    fn take_turn(&self, turn: Turn) {
        let meanwhile = self.meanwhile.lock().take_if(|(wanted, _)| *wanted == turn);
        if let Some((_, meanwhile)) = meanwhile {
            meanwhile();
        }
    }

    /// A log that fails, as all do that wait for a failed commit, writes a note under its lock: nobody else can have a turn then but after the sync.
    fn note_result(&self, is_ok: bool) {
        if !is_ok {
            let mut meanwhile = self.meanwhile.lock();
            meanwhile.take_if(|(turn, _)| *turn != Turn::BeforeResult);
        }
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
            synced: Synced::of(path),
            shared: self.shared.clone(),
        }))
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        if self.shared.planted == Some(Planted::SkippedFolderSync) {
            return Ok(());
        }
        if !self.inner.is_crashed() {
            self.shared.take_turn(Turn::AtFolder);
        }
        let result = self.alive()?.sync_dir(path);
        self.shared.note_result(result.is_ok());
        result
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

/// What the records of logs are in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Synced {
    Segment,
    Journal,
}

impl Synced {
    fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "log" => Some(Self::Segment),
            "journal" => Some(Self::Journal),
            _ => None,
        }
    }
}

struct ProcessFile {
    inner: Arc<dyn DiskFile>,
    /// What it holds of logs, if it does.
    synced: Option<Synced>,
    shared: Arc<Shared>,
}

impl ProcessFile {
    fn alive(&self) -> io::Result<&dyn DiskFile> {
        self.shared.check_alive()?;
        Ok(&*self.inner)
    }

    fn sync(&self) -> io::Result<()> {
        let Some(synced) = self.synced else {
            let result = self.alive()?.sync_data();
            self.shared.note_result(result.is_ok());
            return result;
        };
        self.shared.take_turn(Turn::BeforeBytes);
        let result = match self.shared.skips_sync(synced) {
            true => Ok(()),
            false => self.alive()?.sync_data(),
        };
        self.shared.take_turn(Turn::AfterBytes);
        self.shared.note_result(result.is_ok());
        self.shared.has_synced.store(true, Ordering::Release);
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
        let result = self.alive()?.write_all_at(buf, at);
        self.shared.note_result(result.is_ok());
        result
    }

    fn write_all_vectored_at(&self, bufs: &[IoSlice<'_>], at: u64) -> io::Result<()> {
        let result = self.alive()?.write_all_vectored_at(bufs, at);
        self.shared.note_result(result.is_ok());
        result
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let result = self.alive()?.set_len(len);
        self.shared.note_result(result.is_ok());
        result
    }

    fn allocate(&self, len: u64) -> io::Result<()> {
        let result = self.alive()?.allocate(len);
        self.shared.note_result(result.is_ok());
        result
    }

    fn sync_data(&self) -> io::Result<()> {
        self.sync()
    }

    fn sync_all(&self) -> io::Result<()> {
        self.sync()
    }
}

/// The clock of one process. The broker looks at it when a sync is over and its log does not know yet.
#[derive(Debug)]
pub(crate) struct ProcessClock {
    inner: Arc<ManualClock>,
    shared: Arc<Shared>,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}

impl Clock for ProcessClock {
    fn wall_ms(&self) -> TimestampMs {
        self.inner.wall_ms()
    }

    fn monotonic(&self) -> Duration {
        if self.shared.has_synced.load(Ordering::Acquire) {
            self.shared.take_turn(Turn::BeforeResult);
        }
        self.inner.monotonic()
    }
}
