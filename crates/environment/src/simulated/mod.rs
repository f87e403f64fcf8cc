//! A disk in memory that knows which bytes and names would survive a power cut.
//!
//! Why it exists: a missing sync shows only after a crash, and a real crash can be had neither a thousand times a
//! second nor twice in the same way.
//! Owns: live and durable bytes, faults, the count of operations.   Never: time, threads, real files.
//! In -> out: `Disk` and `DiskFile` calls, faults, a crash with a seed -> what a restart finds.
//! Invariants: same calls and same seeds, same bytes.   Read next: `content.rs`.
//!
//! What a crash may do, and every file system that journals its metadata stays within:
//! - bytes synced by `sync_data` survive; of later ones every 512-byte sector holds any of the versions that it had
//!   since, each sector on its own, and the length is any that the file had since (zeros where nothing was written);
//! - names synced by `sync_dir` survive; of later changes any subset does. A rename happens as a whole or not at all.
//!
//! A test takes one of three roads:
//! - `crash_at(n)` to stop after n operations, for each n until `is_crashed` stays false, then `crash(seed)` (power cut) or `restart()` (kill -9:
//!   the page cache survives);
//! - `fail_sync`, `set_free_bytes`, `fail_reads` for what a disk answers, then go on;
//! - `fork()` to try many crash seeds on one state.

mod content;
mod faults;
mod file;
mod names;
mod state;
#[cfg(test)]
mod tests;

pub use faults::FailedSync;

use crate::{DirEntry, Disk, DiskFile, OpenMode};
use file::SimulatedFile;
use parking_lot::Mutex;
use state::State;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a disk reads and writes as a whole: a power cut may fall between two of them.
pub const SECTOR_BYTES: usize = 512;

/// A disk in memory.
#[derive(Debug)]
pub struct SimulatedDisk {
    state: Arc<Mutex<State>>,
}

impl SimulatedDisk {
    /// An empty disk. The seed decides what the faults leave open: how much of a write happens that a crash cuts off,
    /// and what becomes of the pages after a failed sync.
    pub fn new(seed: u64) -> Self {
        Self {
            state: Arc::new(Mutex::new(State::new(seed))),
        }
    }

    /// A second disk in the same state; the two go their own ways from here.
    pub fn fork(&self) -> Self {
        Self {
            state: Arc::new(Mutex::new(self.state.lock().clone())),
        }
    }

    /// Cuts the power and restores it: what was synced survives, and of the rest what `seed` says. Faults are lifted,
    /// and files opened before answer with errors.
    pub fn crash(&self, seed: u64) {
        self.state.lock().crash(seed);
    }

    /// Ends the process and starts it anew: everything written survives in the page cache, durable or not. Faults are
    /// lifted, and files opened before answer with errors.
    pub fn restart(&self) {
        self.state.lock().restart();
    }

    /// How many changing operations were made: creating, renaming, removing, writing, cutting, syncing.
    pub fn operations(&self) -> u64 {
        self.state.lock().faults.operations
    }

    /// Lets `operations` more operations happen and everything after them fail, reads too, until `crash` or `restart`.
    /// Where the last of them is a write, only some of it happens, and it fails.
    pub fn crash_at(&self, operations: u64) {
        self.state.lock().faults.crash_after(operations);
    }

    /// Takes back what `crash_at`, `fail_sync` and `set_free_bytes` asked for, as far as it has not happened.
    pub fn lift_faults(&self) {
        let mut state = self.state.lock();
        if !state.faults.is_crashed() {
            state.faults.lift();
            state.set_free_bytes(None);
        }
    }

    /// Whether the operation named in `crash_at` was reached.
    pub fn is_crashed(&self) -> bool {
        self.state.lock().faults.is_crashed()
    }

    /// How many syncs were asked for, of files and of directories.
    pub fn syncs(&self) -> u64 {
        self.state.lock().faults.syncs
    }

    /// Lets the sync after the next `syncs` ones fail with EIO, of a file or of a directory. May be called repeatedly.
    pub fn fail_sync(&self, syncs: u64, failed: FailedSync) {
        self.state.lock().faults.fail_sync_after(syncs, failed);
    }

    /// Leaves room for this many more bytes, or for any number. What is written beyond fails with `StorageFull`.
    pub fn set_free_bytes(&self, free: Option<u64>) {
        self.state.lock().set_free_bytes(free);
    }

    /// Lets reads of a file fail with EIO, or succeed again.
    ///
    /// # Errors
    /// The file does not exist.
    pub fn fail_reads(&self, path: &Path, failing: bool) -> io::Result<()> {
        self.state.lock().fail_reads(path, failing)
    }

    /// Changes stored bytes behind everyone's back, as a failing medium does: each byte from `at` on is combined with
    /// `mask` by exclusive or.
    ///
    /// # Errors
    /// The file does not exist, or ends before.
    pub fn corrupt(&self, path: &Path, at: u64, mask: &[u8]) -> io::Result<()> {
        self.state.lock().corrupt(path, at, mask)
    }

    /// Every file with the bytes that a reader sees now.
    pub fn live_files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        self.state.lock().live_files()
    }

    /// Every file with the bytes that survive the worst crash.
    pub fn durable_files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        self.state.lock().durable_files()
    }
}

impl Disk for SimulatedDisk {
    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        self.state.lock().create_dir_all(path)
    }

    fn read_dir(&self, path: &Path) -> io::Result<Vec<DirEntry>> {
        self.state.lock().read_dir(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.state.lock().rename(from, to)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.state.lock().remove_file(path)
    }

    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        self.state.lock().remove_dir_all(path)
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        self.state.lock().exists(path)
    }

    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn DiskFile>> {
        let handle = self.state.lock().open(path, mode)?;
        Ok(Arc::new(SimulatedFile::new(
            Arc::clone(&self.state),
            handle,
        )))
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.state.lock().sync_dir(path)
    }

    fn available_bytes(&self) -> io::Result<u64> {
        self.state.lock().available_bytes()
    }

    fn total_bytes(&self) -> io::Result<u64> {
        self.state.lock().total_bytes()
    }

    fn drop_page_cache(&self, path: &Path) -> io::Result<()> {
        self.state.lock().drop_page_cache(path)
    }
}
