//! One open file of the simulated disk.

use super::state::{Handle, State};
use crate::DiskFile;
use parking_lot::Mutex;
use std::fmt;
use std::io::{self, IoSlice};
use std::sync::Arc;

pub(super) struct SimulatedFile {
    state: Arc<Mutex<State>>,
    handle: Handle,
}

impl SimulatedFile {
    pub(super) fn new(state: Arc<Mutex<State>>, handle: Handle) -> Self {
        Self { state, handle }
    }
}

impl fmt::Debug for SimulatedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.handle.fmt(f)
    }
}

impl DiskFile for SimulatedFile {
    fn len(&self) -> io::Result<u64> {
        self.state.lock().len(self.handle)
    }

    fn read_at(&self, buf: &mut [u8], at: u64) -> io::Result<usize> {
        self.state.lock().read_at(self.handle, buf, at)
    }

    fn write_all_at(&self, buf: &[u8], at: u64) -> io::Result<()> {
        self.state.lock().write_all_at(self.handle, buf, at)
    }

    fn write_all_vectored_at(&self, bufs: &[IoSlice<'_>], at: u64) -> io::Result<()> {
        let together: Vec<u8> = bufs.iter().flat_map(|buf| buf.iter().copied()).collect();
        self.write_all_at(&together, at)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.state.lock().set_len(self.handle, len)
    }

    fn allocate(&self, len: u64) -> io::Result<()> {
        self.state.lock().allocate(self.handle, len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.state.lock().sync(self.handle)
    }

    fn sync_all(&self) -> io::Result<()> {
        self.state.lock().sync(self.handle)
    }
}
