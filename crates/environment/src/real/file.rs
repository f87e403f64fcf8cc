//! One open file of the machine's disk.

use crate::DiskFile;
use rustix::fs::{Advice, FallocateFlags};
use rustix::io::{Errno, ReadWriteFlags};
use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut};
use std::num::NonZeroU64;
use std::os::fd::BorrowedFd;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The most buffers that one pwritev takes on Linux.
const VECTORED_BUFFERS_MAX: usize = 1024;
/// How far apart the probes are that tell whether bytes are in memory: the kernel reads ahead, and lets go, in runs of pages.
const PROBE_EVERY_BYTES: usize = 64 * 1024;

#[derive(Debug)]
pub(super) struct RealFile {
    file: File,
    _place: FilePlace,
}

/// Files open at once, and how many may be.
#[derive(Debug)]
pub(super) struct OpenFiles {
    pub(super) count: AtomicUsize,
    pub(super) max: usize,
}

/// One of the files that may be open; free again when dropped.
#[derive(Debug)]
pub(super) struct FilePlace(Arc<OpenFiles>);

impl OpenFiles {
    pub(super) fn new(max: usize) -> Arc<Self> {
        Arc::new(Self {
            count: AtomicUsize::new(0),
            max,
        })
    }

    /// A place for one more file, refused in the system's own words.
    pub(super) fn take(self: &Arc<Self>) -> io::Result<FilePlace> {
        let place = FilePlace(Arc::clone(self));
        if self.count.fetch_add(1, Ordering::Relaxed) >= self.max {
            return Err(Errno::MFILE.into());
        }
        Ok(place)
    }
}

impl Drop for FilePlace {
    fn drop(&mut self) {
        self.0.count.fetch_sub(1, Ordering::Relaxed);
    }
}

impl RealFile {
    pub(super) fn new(file: File, place: FilePlace) -> Self {
        Self {
            file,
            _place: place,
        }
    }

    /// Reads what is in memory; `AGAIN` where the first byte is not.
    fn read_without_waiting(&self, buf: &mut [u8], at: u64) -> Result<usize, Errno> {
        let mut bufs = [IoSliceMut::new(buf)];
        rustix::io::preadv2(&self.file, &mut bufs, at, ReadWriteFlags::NOWAIT)
    }
}

impl DiskFile for RealFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    fn read_at(&self, buf: &mut [u8], at: u64) -> io::Result<usize> {
        self.file.read_at(buf, at)
    }

    fn read_now(&self, buf: &mut [u8], at: u64) -> io::Result<bool> {
        match self.read_without_waiting(buf, at) {
            Ok(0) if !buf.is_empty() => Err(io::ErrorKind::UnexpectedEof.into()),
            // Less than wanted is where the pages in memory end, or the file: whoever may wait finds out.
            Ok(count) => Ok(count == buf.len()),
            Err(Errno::AGAIN | Errno::INTR) => Ok(false),
            // A file system that cannot tell.
            Err(Errno::OPNOTSUPP) => self.read_exact_at(buf, at).map(|()| true),
            Err(error) => Err(error.into()),
        }
    }

    fn is_in_memory(&self, at: u64, length: usize) -> bool {
        let Some(last) = length.checked_sub(1) else {
            return true;
        };
        let probes = (0..last).step_by(PROBE_EVERY_BYTES).chain([last]);
        let mut byte = [0];
        let is_missing = |ahead| {
            let probed = self.read_without_waiting(&mut byte, at + ahead as u64);
            matches!(probed, Err(Errno::AGAIN))
        };
        !probes.into_iter().any(is_missing)
    }

    fn read_no_further(&self) {
        // Advice only: without it the kernel reads megabytes ahead at once, and syncs wait behind them.
        let _ = rustix::fs::fadvise(&self.file, 0, None, Advice::Random);
    }

    fn read_ahead(&self, at: u64, length: usize) {
        if let Some(length) = NonZeroU64::new(length as u64) {
            // Advice only: without it the read takes longer.
            let _ = rustix::fs::fadvise(&self.file, at, Some(length), Advice::WillNeed);
        }
    }

    fn is_sendable(&self) -> bool {
        true
    }

    fn send(&self, socket: BorrowedFd<'_>, at: u64, length: usize) -> io::Result<usize> {
        let mut at = at;
        loop {
            match rustix::fs::sendfile(socket, &self.file, Some(&mut at), length) {
                Err(Errno::INTR) => {}
                sent => return Ok(sent?),
            }
        }
    }

    fn write_all_at(&self, buf: &[u8], at: u64) -> io::Result<()> {
        self.file.write_all_at(buf, at)
    }

    fn write_all_vectored_at(&self, bufs: &[IoSlice<'_>], at: u64) -> io::Result<()> {
        let mut bufs = bufs.to_vec();
        let mut rest = bufs.as_mut_slice();
        let mut position = at;
        // Empty buffers are passed over here, so that a write of nothing means a full device and not an empty buffer.
        IoSlice::advance_slices(&mut rest, 0);
        while !rest.is_empty() {
            let some = &rest[..rest.len().min(VECTORED_BUFFERS_MAX)];
            match rustix::io::pwritev(&self.file, some, position) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => {
                    position += count as u64;
                    IoSlice::advance_slices(&mut rest, count);
                }
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    fn allocate(&self, len: u64) -> io::Result<()> {
        if len == 0 {
            return Ok(());
        }
        match rustix::fs::fallocate(&self.file, FallocateFlags::KEEP_SIZE, 0, len) {
            Ok(()) | Err(Errno::OPNOTSUPP) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn sync_data(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn sync_all(&self) -> io::Result<()> {
        self.file.sync_all()
    }
}
