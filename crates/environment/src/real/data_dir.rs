//! The data directory as a whole: made, recognised, and locked for one process.

use super::{DIR_PERMISSIONS, FILE_PERMISSIONS};
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The file whose lock says that a process uses the data directory. It holds that process's id, for people.
pub const LOCK_FILE: &str = ".lock";

/// Made by mkfs.ext4 in the root of a file system; a data directory may be such a root.
const LOST_AND_FOUND: &str = "lost+found";

/// Why a data directory cannot be used. Nothing in it was changed.
#[derive(Debug, Error)]
pub enum DataDirError {
    /// Another process holds the lock.
    #[error("data directory {} is in use by {}; stop it, or give this one another directory", path.display(), holder(*pid))]
    InUse {
        /// The data directory.
        path: PathBuf,
        /// The process that has it, where the lock file says so.
        pid: Option<u32>,
    },
    /// The operating system refuses it.
    #[error("data directory {} cannot be read and written: {source}; check its owner and permissions", path.display())]
    Unreadable {
        /// What was refused: the directory or its lock file.
        path: PathBuf,
        /// The refusal.
        source: io::Error,
    },
    /// Something else has the name.
    #[error("{} is not a directory; name a directory, or a path that does not exist yet", path.display())]
    NotADirectory {
        /// The data directory.
        path: PathBuf,
    },
    /// It holds files that are not ours.
    #[error("directory {} is not empty and has no '{identity_file}' (it holds '{found}'): it belongs to something else; name an empty directory", path.display())]
    Foreign {
        /// The data directory.
        path: PathBuf,
        /// The file that ours would have.
        identity_file: String,
        /// A name that it has instead.
        found: String,
    },
}

fn holder(pid: Option<u32>) -> String {
    pid.map_or_else(
        || "another process".to_owned(),
        |pid| format!("process {pid}"),
    )
}

fn unreadable(path: &Path) -> impl FnOnce(io::Error) -> DataDirError {
    let path = path.to_owned();
    move |source| DataDirError::Unreadable { path, source }
}

/// Creates the directory where it is missing, its name durable in the directory above.
pub(super) fn create(dir: &Path) -> Result<(), DataDirError> {
    match fs::metadata(dir) {
        Ok(found) if found.is_dir() => return Ok(()),
        Ok(_) => {
            return Err(DataDirError::NotADirectory {
                path: dir.to_owned(),
            });
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            return Err(DataDirError::NotADirectory {
                path: dir.to_owned(),
            });
        }
        Err(error) => return Err(unreadable(dir)(error)),
    }
    let missing: Vec<&Path> = dir
        .ancestors()
        .take_while(|above| !above.as_os_str().is_empty() && !above.exists())
        .collect();
    DirBuilder::new()
        .recursive(true)
        .mode(DIR_PERMISSIONS)
        .create(dir)
        .map_err(unreadable(dir))?;
    for created in missing {
        let above = match created.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let synced = File::open(above).and_then(|above| above.sync_all());
        synced.map_err(unreadable(above))?;
    }
    Ok(())
}

/// Refuses a directory that holds something but not `identity_file`.
pub(super) fn check_ours(dir: &Path, identity_file: &str) -> Result<(), DataDirError> {
    let mut other = None;
    for entry in fs::read_dir(dir).map_err(unreadable(dir))? {
        let name = entry.map_err(unreadable(dir))?.file_name();
        if name == identity_file {
            return Ok(());
        }
        // The identity file's temporary name: the first start may have been cut off while writing it.
        let is_ours = name == LOCK_FILE || name == *format!("{identity_file}.tmp");
        if !is_ours && name != LOST_AND_FOUND {
            other = other.max(Some(name));
        }
    }
    match other {
        None => Ok(()),
        Some(found) => Err(DataDirError::Foreign {
            path: dir.to_owned(),
            identity_file: identity_file.to_owned(),
            found: found.to_string_lossy().into_owned(),
        }),
    }
}

/// Holds the directory's lock; the kernel lets go of it when the process ends, however it ends.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

impl Lock {
    pub(super) fn take(dir: &Path) -> Result<Self, DataDirError> {
        let path = dir.join(LOCK_FILE);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(FILE_PERMISSIONS)
            .open(&path)
            .map_err(unreadable(&path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(DataDirError::InUse {
                    path: dir.to_owned(),
                    pid: read_pid(&mut file),
                });
            }
            Err(TryLockError::Error(error)) => return Err(unreadable(&path)(error)),
        }
        write_pid(&mut file).map_err(unreadable(&path))?;
        Ok(Self { _file: file })
    }
}

fn read_pid(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.take(16).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

fn write_pid(file: &mut File) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    match file.write_all(format!("{}\n", std::process::id()).as_bytes()) {
        // The id is a courtesy: a full disk must not keep a broker from starting and serving reads.
        Err(error) if error.kind() == io::ErrorKind::StorageFull => Ok(()),
        written => written,
    }
}
