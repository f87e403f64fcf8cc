//! What storage may ask of a disk.
//!
//! Why it exists: a crash keeps what was synced and any part of what was not; only a disk that can be asked to forget
//! lets a test see which of the two a caller relied on.
//! Invariants: LOG-1.   Read next: `real/mod.rs`, then `simulated/mod.rs`.
//!
//! All paths are relative to the data directory; the empty path is the data directory itself.

use crate::KeptFile;
use std::ffi::OsString;
use std::fmt;
use std::io::{self, IoSlice};
use std::os::fd::BorrowedFd;
use std::path::Path;
use std::sync::Arc;

/// How a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenMode {
    /// An existing file, to be read.
    Read,
    /// An existing file, to be read and written.
    ReadWrite,
    /// A file that must not exist yet.
    CreateNew,
    /// The file if it exists, else a new one.
    CreateOrOpen,
}

/// A name in a directory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DirEntry {
    /// The last part of its path.
    pub name: OsString,
    /// Whether it is a directory.
    pub is_dir: bool,
}

/// A tree of files below one data directory.
///
/// A name that was created, renamed or removed survives a crash only once its directory was synced.
pub trait Disk: fmt::Debug + Send + Sync + 'static {
    /// Creates a directory and those above it that are missing.
    fn create_dir_all(&self, path: &Path) -> io::Result<()>;
    /// The names in a directory, sorted.
    fn read_dir(&self, path: &Path) -> io::Result<Vec<DirEntry>>;
    /// Gives a file or directory another name, replacing a file that has it.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove_file(&self, path: &Path) -> io::Result<()>;
    /// Removes a directory and everything in it.
    fn remove_dir_all(&self, path: &Path) -> io::Result<()>;
    /// Whether a file or directory has this name.
    fn exists(&self, path: &Path) -> io::Result<bool>;
    /// Opens a file.
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn DiskFile>>;
    /// Notes a file that stays open. Where too many are open, those that were not used for longest are closed.
    fn keep(&self, _file: &Arc<KeptFile>) {}
    /// Lets nobody but the process's own user read a file. Does nothing where there are no users.
    fn hide(&self, _path: &Path) -> io::Result<()> {
        Ok(())
    }
    /// Makes the names in a directory durable (not those in the directories below it).
    fn sync_dir(&self, path: &Path) -> io::Result<()>;
    /// How many bytes can still be written.
    fn available_bytes(&self) -> io::Result<u64>;
    /// How many bytes the disk holds in all, by whomever they are used.
    fn total_bytes(&self) -> io::Result<u64>;
    /// Makes the next reads of a file come from the disk.
    ///
    /// For a restart after a failed sync: the kernel then holds pages that it takes for clean and that the disk never
    /// got. Pages that are merely not yet written are written first; what cannot be written is forgotten. What is read
    /// afterwards is on the disk, and still has to be synced before anyone relies on it.
    fn drop_page_cache(&self, path: &Path) -> io::Result<()>;
}

/// An open file. Reads and writes name their position, so that threads can share it.
pub trait DiskFile: fmt::Debug + Send + Sync {
    /// The file's length in bytes.
    fn len(&self) -> io::Result<u64>;

    /// Whether the file has no bytes.
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Reads some bytes from `at` on; 0 at the end of the file.
    fn read_at(&self, buf: &mut [u8], at: u64) -> io::Result<usize>;

    /// Fills `buf` from `at` on.
    ///
    /// # Errors
    /// `UnexpectedEof` where the file ends before.
    fn read_exact_at(&self, buf: &mut [u8], at: u64) -> io::Result<()> {
        let mut done = 0;
        while done < buf.len() {
            match self.read_at(&mut buf[done..], at + done as u64) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => done += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Fills `buf` from `at` on if that does not wait for the disk; says whether it did.
    ///
    /// # Errors
    /// `UnexpectedEof` where the file ends before.
    fn read_now(&self, buf: &mut [u8], at: u64) -> io::Result<bool> {
        self.read_exact_at(buf, at).map(|()| true)
    }

    /// Whether `length` bytes from `at` on are in memory, so that reading or sending them does not wait for the disk. Found out by
    /// probing here and there: a page may be missing all the same, and may go at any moment.
    fn is_in_memory(&self, _at: u64, _length: usize) -> bool {
        true
    }

    /// Nothing is read from now on that was not asked for: whoever reads knows better what is needed next, and in pieces of which size
    /// a sync can bear to wait behind.
    fn read_no_further(&self) {}

    /// Asks for bytes to be brought into memory soon; does not wait for them.
    fn read_ahead(&self, _at: u64, _length: usize) {}

    /// Whether `send` works.
    fn is_sendable(&self) -> bool {
        false
    }

    /// Sends up to `length` bytes from `at` on to a socket, without copying them through this process; answers how many. 0 says that
    /// the file ends at `at`.
    ///
    /// # Errors
    /// `WouldBlock` where the socket takes nothing now; `Unsupported` unless `is_sendable`.
    fn send(&self, _socket: BorrowedFd<'_>, _at: u64, _length: usize) -> io::Result<usize> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Writes all of `buf` from `at` on; a gap before it reads as zeros. On an error some of it may be written.
    fn write_all_at(&self, buf: &[u8], at: u64) -> io::Result<()>;

    /// Writes all of `bufs`, one behind the other, from `at` on.
    fn write_all_vectored_at(&self, bufs: &[IoSlice<'_>], at: u64) -> io::Result<()> {
        let mut position = at;
        for buf in bufs {
            self.write_all_at(buf, position)?;
            position += buf.len() as u64;
        }
        Ok(())
    }

    /// Cuts the file, or lengthens it with zeros.
    fn set_len(&self, len: u64) -> io::Result<()>;

    /// Reserves space for the first `len` bytes, so that writing there cannot fail for lack of it. The file's length
    /// stays. Does nothing on a file system that cannot reserve.
    fn allocate(&self, len: u64) -> io::Result<()>;

    /// Makes the file's bytes and its length durable (fdatasync).
    ///
    /// After an error nothing written since the last success may be taken for durable, now or after another call: the
    /// kernel may have dropped those pages.
    fn sync_data(&self) -> io::Result<()>;

    /// As `sync_data`, with times and permissions (fsync).
    fn sync_all(&self) -> io::Result<()>;
}
