//! The disk's whole state, behind one lock: names, contents, faults.

use super::content::Content;
use super::faults::{FailedSync, Faults, input_output_error, no_space};
use super::names::{Names, NodeId};
use crate::entropy::SplitMix;
use crate::{DirEntry, OpenMode};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) faults: Faults,
    names: Names,
    contents: BTreeMap<NodeId, Content>,
    capacity: Option<u64>,
    /// Rises at every crash and restart: files opened before belong to a process that is gone.
    life: u64,
}

/// An open file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Handle {
    node: NodeId,
    is_writable: bool,
    life: u64,
}

impl State {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            faults: Faults::new(seed),
            names: Names::new(),
            contents: BTreeMap::new(),
            capacity: None,
            life: 0,
        }
    }

    pub(super) fn crash(&mut self, seed: u64) {
        let mut chance = SplitMix::new(seed);
        self.names.crash(&mut chance);
        let reachable = self.names.live_paths();
        self.contents.retain(|node, _| reachable.contains_key(node));
        for content in self.contents.values_mut() {
            content.crash(&mut chance);
        }
        self.restart();
    }

    pub(super) fn restart(&mut self) {
        self.life += 1;
        self.faults.lift();
        self.capacity = None;
        for content in self.contents.values_mut() {
            content.fails_reads = false;
        }
    }

    pub(super) fn create_dir_all(&mut self, path: &Path) -> io::Result<()> {
        self.faults.check_running()?;
        let mut above: Vec<&Path> = path.ancestors().collect();
        above.reverse();
        for dir in above.into_iter().filter(|dir| !dir.as_os_str().is_empty()) {
            match self.names.find(dir) {
                Ok(node) if self.names.is_dir(node) => {}
                Ok(_) => return Err(io::ErrorKind::AlreadyExists.into()),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    self.faults.count_operation()?;
                    let place = self.names.place(dir)?;
                    self.names.add(place, true);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    pub(super) fn read_dir(&self, path: &Path) -> io::Result<Vec<DirEntry>> {
        self.faults.check_running()?;
        let dir = self.find_dir(path)?;
        let entry = |(name, node): (&std::ffi::OsString, NodeId)| DirEntry {
            name: name.clone(),
            is_dir: self.names.is_dir(node),
        };
        Ok(self.names.entries(dir).map(entry).collect())
    }

    fn find_dir(&self, path: &Path) -> io::Result<NodeId> {
        let node = self.names.find(path)?;
        if !self.names.is_dir(node) {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        Ok(node)
    }

    fn find_content(&mut self, path: &Path) -> io::Result<&mut Content> {
        let node = self.names.find(path)?;
        let content = self.contents.get_mut(&node);
        content.ok_or_else(|| io::ErrorKind::IsADirectory.into())
    }

    pub(super) fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        self.faults.count_operation()?;
        let (source, target) = (self.names.place(from)?, self.names.place(to)?);
        let node = self.names.at(&source).ok_or(io::ErrorKind::NotFound)?;
        if source == target {
            return Ok(());
        }
        if self.names.is_dir(node) && to.starts_with(from) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        if let Some(replaced) = self.names.at(&target) {
            match (self.names.is_dir(node), self.names.is_dir(replaced)) {
                (false, true) => return Err(io::ErrorKind::IsADirectory.into()),
                (true, false) => return Err(io::ErrorKind::NotADirectory.into()),
                (true, true) if !self.names.is_empty_dir(replaced) => {
                    return Err(io::ErrorKind::DirectoryNotEmpty.into());
                }
                _ => {}
            }
        }
        self.names.rename(source, target, node);
        Ok(())
    }

    pub(super) fn remove_file(&mut self, path: &Path) -> io::Result<()> {
        self.faults.count_operation()?;
        let place = self.names.place(path)?;
        let node = self.names.at(&place).ok_or(io::ErrorKind::NotFound)?;
        if self.names.is_dir(node) {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        self.names.remove(place);
        Ok(())
    }

    /// Name by name, as a real one is: a crash may come in the middle.
    pub(super) fn remove_dir_all(&mut self, path: &Path) -> io::Result<()> {
        self.faults.check_running()?;
        let dir = self.find_dir(path)?;
        let place = self.names.place(path)?;
        let inner: Vec<(PathBuf, bool)> = self
            .names
            .entries(dir)
            .map(|(name, node)| (path.join(name), self.names.is_dir(node)))
            .collect();
        for (path, is_dir) in inner {
            if is_dir {
                self.remove_dir_all(&path)?;
            } else {
                self.remove_file(&path)?;
            }
        }
        self.faults.count_operation()?;
        self.names.remove(place);
        Ok(())
    }

    pub(super) fn exists(&self, path: &Path) -> io::Result<bool> {
        self.faults.check_running()?;
        match self.names.find(path) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => Err(error),
            Err(_) => Ok(false),
        }
    }

    pub(super) fn open(&mut self, path: &Path, mode: OpenMode) -> io::Result<Handle> {
        self.faults.check_running()?;
        let node = match self.names.find(path) {
            Ok(node) if self.names.is_dir(node) => Err(io::ErrorKind::IsADirectory.into()),
            Ok(_) if mode == OpenMode::CreateNew => Err(io::ErrorKind::AlreadyExists.into()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => self.create(path, mode),
            found => found,
        }?;
        Ok(Handle {
            node,
            is_writable: mode != OpenMode::Read,
            life: self.life,
        })
    }

    fn create(&mut self, path: &Path, mode: OpenMode) -> io::Result<NodeId> {
        if matches!(mode, OpenMode::Read | OpenMode::ReadWrite) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let place = self.names.place(path)?;
        self.faults.count_operation()?;
        let node = self.names.add(place, false);
        self.contents.insert(node, Content::default());
        Ok(node)
    }

    pub(super) fn sync_dir(&mut self, path: &Path) -> io::Result<()> {
        let failed = self.faults.count_sync()?;
        let dir = self.find_dir(path)?;
        if failed.is_some() {
            return Err(input_output_error());
        }
        self.names.sync(dir);
        Ok(())
    }

    pub(super) fn drop_page_cache(&mut self, path: &Path) -> io::Result<()> {
        self.faults.count_operation()?;
        self.find_content(path)?.drop_page_cache();
        Ok(())
    }

    pub(super) fn set_free_bytes(&mut self, free: Option<u64>) {
        self.capacity = free.map(|free| self.occupied().saturating_add(free));
    }

    pub(super) fn available_bytes(&self) -> io::Result<u64> {
        self.faults.check_running()?;
        Ok(self.free_bytes())
    }

    pub(super) fn total_bytes(&self) -> io::Result<u64> {
        self.faults.check_running()?;
        Ok(self.capacity.unwrap_or(u64::MAX))
    }

    fn free_bytes(&self) -> u64 {
        self.capacity.map_or(u64::MAX, |capacity| {
            capacity.saturating_sub(self.occupied())
        })
    }

    fn occupied(&self) -> u64 {
        let linked = self.names.live_paths();
        let contents = linked.keys().filter_map(|node| self.contents.get(node));
        contents.map(|content| content.occupied() as u64).sum()
    }

    pub(super) fn fail_reads(&mut self, path: &Path, failing: bool) -> io::Result<()> {
        self.find_content(path)?.fails_reads = failing;
        Ok(())
    }

    pub(super) fn corrupt(&mut self, path: &Path, at: u64, mask: &[u8]) -> io::Result<()> {
        let at = to_usize(at)?;
        let content = self.find_content(path)?;
        if content.live().len() < at.saturating_add(mask.len()) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        content.corrupt(at, mask);
        Ok(())
    }

    pub(super) fn live_files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        self.files(self.names.live_paths(), Content::live)
    }

    pub(super) fn durable_files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        self.files(self.names.durable_paths(), Content::durable)
    }

    fn files(
        &self,
        paths: BTreeMap<NodeId, PathBuf>,
        side: fn(&Content) -> &[u8],
    ) -> BTreeMap<PathBuf, Vec<u8>> {
        let bytes = |node| {
            self.contents
                .get(node)
                .map(|content| side(content).to_vec())
        };
        paths
            .iter()
            .filter_map(|(node, path)| Some((path.clone(), bytes(node)?)))
            .collect()
    }

    fn content(&self, handle: Handle) -> io::Result<&Content> {
        self.faults.check_running()?;
        if handle.life != self.life {
            return Err(io::Error::other("the file was opened before the crash"));
        }
        Ok(&self.contents[&handle.node])
    }

    fn check_writable(&self, handle: Handle) -> io::Result<()> {
        self.content(handle)?;
        if handle.is_writable {
            Ok(())
        } else {
            Err(io::ErrorKind::PermissionDenied.into())
        }
    }

    pub(super) fn len(&self, handle: Handle) -> io::Result<u64> {
        Ok(self.content(handle)?.live().len() as u64)
    }

    pub(super) fn read_at(&self, handle: Handle, buf: &mut [u8], at: u64) -> io::Result<usize> {
        let content = self.content(handle)?;
        if content.fails_reads {
            return Err(input_output_error());
        }
        let Some(rest) = content.live().get(to_usize(at)?..) else {
            return Ok(0);
        };
        let count = rest.len().min(buf.len());
        buf[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }

    pub(super) fn write_all_at(&mut self, handle: Handle, buf: &[u8], at: u64) -> io::Result<()> {
        self.check_writable(handle)?;
        let at = to_usize(at)?;
        self.faults.count_operation()?;
        let fitting = self.fitting(handle, at, buf.len())?;
        let written = if self.faults.is_last_before_crash() {
            self.faults.chance.below(fitting + 1)
        } else {
            fitting
        };
        self.checked_content(handle).write(at, &buf[..written]);
        self.faults.check_running()?;
        if written < buf.len() {
            return Err(no_space());
        }
        Ok(())
    }

    /// How many of the bytes to be written at `at` the disk has room for.
    fn fitting(&self, handle: Handle, at: usize, len: usize) -> io::Result<usize> {
        let end = at.checked_add(len).ok_or(io::ErrorKind::FileTooLarge)?;
        if self.capacity.is_none() {
            return Ok(len);
        }
        let has = self.contents[&handle.node].occupied();
        let lacking = end.saturating_sub(has.max(at)) as u64;
        let missing = lacking.saturating_sub(self.free_bytes());
        Ok(len - to_usize(missing)?.min(len))
    }

    fn checked_content(&mut self, handle: Handle) -> &mut Content {
        let content = self.contents.get_mut(&handle.node);
        content.expect("the handle was checked by the caller")
    }

    pub(super) fn set_len(&mut self, handle: Handle, len: u64) -> io::Result<()> {
        self.check_writable(handle)?;
        let len = to_usize(len)?;
        self.faults.count_operation()?;
        self.checked_content(handle).set_len(len);
        Ok(())
    }

    pub(super) fn allocate(&mut self, handle: Handle, len: u64) -> io::Result<()> {
        self.check_writable(handle)?;
        let len = to_usize(len)?;
        self.faults.count_operation()?;
        if self.fitting(handle, 0, len)? < len {
            return Err(no_space());
        }
        self.checked_content(handle).allocate(len);
        Ok(())
    }

    pub(super) fn sync(&mut self, handle: Handle) -> io::Result<()> {
        self.content(handle)?;
        let failed = self.faults.count_sync()?;
        let content = self.checked_content(handle);
        match failed {
            None => {
                content.sync();
                return Ok(());
            }
            Some(FailedSync::PagesDropped) => content.forget_pending(),
            Some(FailedSync::PagesKept | FailedSync::Either) => {}
        }
        Err(input_output_error())
    }
}

fn to_usize(value: u64) -> io::Result<usize> {
    usize::try_from(value).map_err(|_| io::ErrorKind::FileTooLarge.into())
}
