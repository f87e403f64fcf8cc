//! The machine's disk, below one data directory that this process has locked.
//!
//! Why it exists: two brokers on one directory would give the same offsets twice.
//! Owns: the `.lock` file.   Never: the meaning of any other file.
//! In -> out: `Disk` and `DiskFile` calls -> pread, pwrite, fdatasync, fallocate, rename, fsync.
//! Read next: `data_dir.rs`.

mod data_dir;
mod file;
mod kept_files;

pub use data_dir::{DataDirError, LOCK_FILE};

use crate::{DirEntry, Disk, DiskFile, KeptFile, OpenMode};
use data_dir::Lock;
use file::{OpenFiles, RealFile};
use kept_files::KeptFiles;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Readable by the owner and, for backups and inspection, by the group; the umask may take more away.
const FILE_PERMISSIONS: u32 = 0o640;
const DIR_PERMISSIONS: u32 = 0o750;
/// Of a file that holds a secret.
const OWN_PERMISSIONS: u32 = 0o600;

/// The machine's disk. The data directory stays locked until this is dropped.
#[derive(Debug)]
pub struct RealDisk {
    root: PathBuf,
    files: Arc<OpenFiles>,
    kept: KeptFiles,
    _lock: Lock,
}

impl RealDisk {
    /// Opens a data directory, creating it where it is missing, and locks it for this process.
    ///
    /// # Errors
    /// The directory is in use, cannot be read or written, or is not a directory.
    pub fn open(dir: &Path) -> Result<Self, DataDirError> {
        data_dir::create(dir)?;
        Ok(Self {
            root: dir.to_owned(),
            files: OpenFiles::new(usize::MAX),
            kept: KeptFiles::default(),
            _lock: Lock::take(dir)?,
        })
    }

    /// As `open`, and refuses a directory that holds something but not `identity_file`: it is somebody else's, and
    /// nothing in it is touched.
    ///
    /// # Errors
    /// As `open`, and `Foreign`.
    pub fn open_identified(dir: &Path, identity_file: &str) -> Result<Self, DataDirError> {
        data_dir::create(dir)?;
        data_dir::check_ours(dir, identity_file)?;
        Self::open(dir)
    }

    /// At most `max` files are open at once from now on: the rest of what the process may open is for others.
    #[must_use]
    pub fn with_files_max(mut self, max: usize) -> Self {
        self.files = OpenFiles::new(max);
        self
    }

    /// The data directory, for messages.
    pub fn root(&self) -> &Path {
        &self.root
    }

    fn locate(&self, path: &Path) -> io::Result<PathBuf> {
        let is_below = path
            .components()
            .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        if is_below {
            Ok(self.root.join(path))
        } else {
            let message = format!("{} leads out of the data directory", path.display());
            Err(io::Error::new(io::ErrorKind::InvalidInput, message))
        }
    }
}

impl Disk for RealDisk {
    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        DirBuilder::new()
            .recursive(true)
            .mode(DIR_PERMISSIONS)
            .create(self.locate(path)?)
    }

    fn read_dir(&self, path: &Path) -> io::Result<Vec<DirEntry>> {
        let mut entries = fs::read_dir(self.locate(path)?)?
            .map(|entry| {
                let entry = entry?;
                Ok(DirEntry {
                    name: entry.file_name(),
                    is_dir: entry.file_type()?.is_dir(),
                })
            })
            .collect::<io::Result<Vec<_>>>()?;
        entries.sort();
        Ok(entries)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(self.locate(from)?, self.locate(to)?)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(self.locate(path)?)
    }

    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir_all(self.locate(path)?)
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        self.locate(path)?.try_exists()
    }

    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn DiskFile>> {
        let place = match self.files.take() {
            Ok(place) => place,
            Err(_) if self.kept.close_one() => self.files.take()?,
            Err(error) => return Err(error),
        };
        let file = OpenOptions::new()
            .read(true)
            .write(mode != OpenMode::Read)
            .create_new(mode == OpenMode::CreateNew)
            .create(mode == OpenMode::CreateOrOpen)
            .mode(FILE_PERMISSIONS)
            .open(self.locate(path)?)?;
        Ok(Arc::new(RealFile::new(file, place)))
    }

    fn keep(&self, file: &Arc<KeptFile>) {
        // A quarter is for files that are open for a moment: indexes, snapshots, the next segment.
        let max = self.files.max - self.files.max / 4;
        while self.files.count.load(Ordering::Relaxed) > max && self.kept.close_one() {}
        self.kept.add(file);
    }

    fn hide(&self, path: &Path) -> io::Result<()> {
        let own = fs::Permissions::from_mode(OWN_PERMISSIONS);
        fs::set_permissions(self.locate(path)?, own)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        File::open(self.locate(path)?)?.sync_all()
    }

    fn available_bytes(&self) -> io::Result<u64> {
        let file_system = rustix::fs::statvfs(&self.root)?;
        Ok(file_system.f_bavail.saturating_mul(file_system.f_frsize))
    }

    fn total_bytes(&self) -> io::Result<u64> {
        let file_system = rustix::fs::statvfs(&self.root)?;
        Ok(file_system.f_blocks.saturating_mul(file_system.f_frsize))
    }

    fn drop_page_cache(&self, path: &Path) -> io::Result<()> {
        let file = File::open(self.locate(path)?)?;
        // DONTNEED passes dirty pages over, so they are written first. Pages that cannot be written are clean after
        // the attempt and are then dropped: the error says nothing that the caller does not find out by reading.
        let _ = file.sync_data();
        Ok(rustix::fs::fadvise(
            &file,
            0,
            None,
            rustix::fs::Advice::DontNeed,
        )?)
    }
}

#[cfg(test)]
mod tests;
