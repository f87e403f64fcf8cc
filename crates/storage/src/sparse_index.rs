//! A sparse index of a segment: entries that rise, most of them in a file, the latest ones in memory.
//!
//! Why it exists: an entry is due for every few kilobytes appended; a write for each would cost as much as the append. What is in
//! memory only is rebuilt from the batches after a crash.
//! Owns: one `.index` or `.timeindex` file.

use crate::formats::{FormatError, offset_index, time_index, transaction_index};
use fanlog_environment::{Disk, DiskFile, OpenMode, read_bounded};
use offset_index::OffsetEntry;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use time_index::TimeEntry;
use transaction_index::AbortedTransaction;

/// How many entries wait in memory at most, unless the disk refuses them.
const PENDING_MAX: usize = 512;
/// The longest file that is read as a whole; a longer one is built anew.
const FILE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// An entry is no longer.
const ENTRY_BYTES_MAX: usize = 40;
/// How many entries are read at once by a scan.
const SCANNED_AT_ONCE: usize = 256;

/// An entry of a sparse index.
pub(crate) trait IndexEntry: Copy + std::fmt::Debug + PartialEq {
    /// Its length in the file.
    const BYTES: usize;
    /// Appends its bytes.
    fn encode_to(self, out: &mut Vec<u8>);
    /// The entry that `bytes`, of its length, are.
    fn decode_from(bytes: &[u8]) -> Self;
    /// All entries of a file.
    fn decode_file(bytes: &[u8]) -> Result<Vec<Self>, FormatError>;
    /// Whether it is one of the zeros that a preallocated file ends with.
    fn is_zero(self) -> bool;
}

impl IndexEntry for OffsetEntry {
    const BYTES: usize = offset_index::ENTRY_BYTES;

    fn encode_to(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.encode());
    }

    fn decode_from(bytes: &[u8]) -> Self {
        Self::decode(
            bytes
                .first_chunk()
                .expect("the caller passes a whole entry"),
        )
    }

    fn decode_file(bytes: &[u8]) -> Result<Vec<Self>, FormatError> {
        offset_index::decode_all(bytes)
    }

    fn is_zero(self) -> bool {
        self.relative_offset == 0 && self.position == 0
    }
}

impl IndexEntry for TimeEntry {
    const BYTES: usize = time_index::ENTRY_BYTES;

    fn encode_to(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.encode());
    }

    fn decode_from(bytes: &[u8]) -> Self {
        Self::decode(
            bytes
                .first_chunk()
                .expect("the caller passes a whole entry"),
        )
    }

    fn decode_file(bytes: &[u8]) -> Result<Vec<Self>, FormatError> {
        time_index::decode_all(bytes)
    }

    fn is_zero(self) -> bool {
        self.timestamp.get() == 0 && self.relative_offset == 0
    }
}

impl IndexEntry for AbortedTransaction {
    const BYTES: usize = transaction_index::ENTRY_BYTES;

    fn encode_to(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.encode());
    }

    fn decode_from(bytes: &[u8]) -> Self {
        let bytes = bytes
            .first_chunk()
            .expect("the caller passes a whole entry");
        // Of a version that is not ours nothing is known; what the numbers say then is refused by whoever opens the file.
        Self::decode(bytes).unwrap_or(Self::UNREADABLE)
    }

    fn decode_file(bytes: &[u8]) -> Result<Vec<Self>, FormatError> {
        transaction_index::decode_all(bytes)
    }

    fn is_zero(self) -> bool {
        // A marker lies behind what it ends.
        self.last_offset.get() <= 0
    }
}

/// One index of one segment.
#[derive(Clone, Debug)]
pub(crate) struct SparseIndex<E> {
    path: PathBuf,
    /// Whether there is a file, with entries or not.
    has_file: bool,
    /// How many entries the file holds.
    flushed: usize,
    /// The last of them.
    flushed_last: Option<E>,
    /// The entries behind those in the file.
    pending: Vec<E>,
}

impl<E: IndexEntry> SparseIndex<E> {
    /// An index without entries; its file is written when entries are.
    pub(crate) fn empty(path: PathBuf) -> Self {
        Self {
            path,
            has_file: false,
            flushed: 0,
            flushed_last: None,
            pending: Vec::new(),
        }
    }

    /// The index in a file that was closed in order. Only its end is read.
    ///
    /// # Errors
    /// `NotFound` without a file; `InvalidData` where the file must be rebuilt.
    pub(crate) fn open(disk: &dyn Disk, path: PathBuf) -> io::Result<Self> {
        let file = disk.open(&path, OpenMode::Read)?;
        let length = file.len()?;
        let count = usize::try_from(length).unwrap_or(usize::MAX);
        if count % E::BYTES != 0 {
            return Err(invalid("its length is no multiple of an entry's"));
        }
        let mut index = Self::empty(path);
        index.has_file = true;
        index.flushed = count / E::BYTES;
        if let Some(last) = index.flushed.checked_sub(1) {
            let entry = index.read_entry(&*file, last)?;
            if entry.is_zero() {
                return Err(invalid("it ends with zeros"));
            }
            index.flushed_last = Some(entry);
        }
        Ok(index)
    }

    /// An index without entries; the next flush cuts off what a file of the name holds.
    pub(crate) fn to_write_anew(disk: &dyn Disk, path: PathBuf) -> io::Result<Self> {
        let mut index = Self::empty(path);
        index.has_file = disk.exists(&index.path)?;
        Ok(index)
    }

    /// The index in a file of which a crash may have left any end: to be truncated. No entry where there is no file.
    pub(crate) fn open_torn(disk: &dyn Disk, path: PathBuf) -> io::Result<Self> {
        let mut index = Self::to_write_anew(disk, path)?;
        if index.has_file {
            let file = disk.open(&index.path, OpenMode::Read)?;
            let length = usize::try_from(file.len()?).unwrap_or(usize::MAX);
            index.flushed = length / E::BYTES;
            if let Some(last) = index.flushed.checked_sub(1) {
                index.flushed_last = Some(index.read_entry(&*file, last)?);
            }
        }
        Ok(index)
    }

    /// The index in a file that may be damaged: all of it is read and checked.
    ///
    /// # Errors
    /// `NotFound` without a file; `InvalidData` where the file must be rebuilt.
    pub(crate) fn open_checked(disk: &dyn Disk, path: PathBuf) -> io::Result<Self> {
        let bytes = read_bounded(disk, &path, FILE_BYTES_MAX)?;
        let entries = E::decode_file(&bytes)
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        let mut index = Self::empty(path);
        index.has_file = true;
        index.flushed = entries.len();
        index.flushed_last = entries.last().copied();
        Ok(index)
    }

    /// Keeps the entries for which `is_synced` holds, a prefix, as the file's, and has the others written anew with the next flush: what
    /// the kernel shows of them may never have reached the disk.
    pub(crate) fn write_again_from(
        &mut self,
        disk: &dyn Disk,
        is_synced: impl Fn(&E) -> bool,
    ) -> io::Result<()> {
        let all = self.flushed;
        self.truncate(disk, is_synced)?;
        let mut bytes = vec![0; (all - self.flushed) * E::BYTES];
        if !bytes.is_empty() {
            let file = disk.open(&self.path, OpenMode::Read)?;
            file.read_exact_at(&mut bytes, (self.flushed * E::BYTES) as u64)?;
        }
        self.pending = bytes.chunks_exact(E::BYTES).map(E::decode_from).collect();
        Ok(())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// How many entries there are.
    pub(crate) fn len(&self) -> usize {
        self.flushed + self.pending.len()
    }

    /// The last entry.
    pub(crate) fn last(&self) -> Option<E> {
        self.pending.last().copied().or(self.flushed_last)
    }

    /// Whether entries wait for a flush in a number that should not grow.
    pub(crate) fn is_flush_due(&self) -> bool {
        self.pending.len() >= PENDING_MAX
    }

    /// Adds an entry, in memory.
    pub(crate) fn push(&mut self, entry: E) {
        self.pending.push(entry);
    }

    /// Writes what is in memory to the file, which is made where it is missing, and cuts off what lies behind.
    pub(crate) fn flush(&mut self, disk: &dyn Disk) -> io::Result<Arc<dyn DiskFile>> {
        let file = disk.open(&self.path, OpenMode::CreateOrOpen)?;
        let mut bytes = Vec::with_capacity(self.pending.len() * E::BYTES);
        for entry in &self.pending {
            entry.encode_to(&mut bytes);
        }
        file.write_all_at(&bytes, (self.flushed * E::BYTES) as u64)?;
        let length = (self.len() * E::BYTES) as u64;
        if file.len()? != length {
            file.set_len(length)?;
        }
        self.has_file = true;
        self.flushed_last = self.last();
        self.flushed += self.pending.len();
        self.pending.clear();
        Ok(file)
    }

    /// The last entry for which `is_before` holds; it must hold for a prefix of the entries.
    pub(crate) fn last_where(
        &self,
        disk: &dyn Disk,
        is_before: impl Fn(&E) -> bool,
    ) -> io::Result<Option<E>> {
        let in_memory = self.pending.partition_point(&is_before);
        if let Some(i) = in_memory.checked_sub(1) {
            return Ok(Some(self.pending[i]));
        }
        match self.flushed_last {
            None => return Ok(None),
            Some(last) if is_before(&last) => return Ok(Some(last)),
            Some(_) => {}
        }
        let file = disk.open(&self.path, OpenMode::Read)?;
        let (mut low, mut high) = (0, self.flushed - 1);
        let mut found = None;
        while low < high {
            let middle = low + (high - low) / 2;
            let entry = self.read_entry(&*file, middle)?;
            if is_before(&entry) {
                found = Some(entry);
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(found)
    }

    /// Keeps the entries for which `is_kept` holds; it must hold for a prefix of them. The file is cut at the next flush.
    pub(crate) fn truncate(
        &mut self,
        disk: &dyn Disk,
        is_kept: impl Fn(&E) -> bool,
    ) -> io::Result<()> {
        let in_memory = self.pending.partition_point(&is_kept);
        self.pending.truncate(in_memory);
        if in_memory > 0 || self.flushed == 0 || self.flushed_last.is_some_and(|e| is_kept(&e)) {
            return Ok(());
        }
        let file = disk.open(&self.path, OpenMode::Read)?;
        let (mut low, mut high) = (0, self.flushed - 1);
        while low < high {
            let middle = low + (high - low) / 2;
            if is_kept(&self.read_entry(&*file, middle)?) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        self.flushed_last = match low.checked_sub(1) {
            Some(last) => Some(self.read_entry(&*file, last)?),
            None => None,
        };
        self.flushed = low;
        Ok(())
    }

    /// Calls `each` with the entries for which `is_before` does not hold, in order, until it has enough; `is_before` must hold for a
    /// prefix of them. Answers whether it had enough.
    pub(crate) fn scan(
        &self,
        disk: &dyn Disk,
        is_before: impl Fn(&E) -> bool,
        mut each: impl FnMut(&E) -> bool,
    ) -> io::Result<bool> {
        if self.flushed_last.is_some_and(|last| !is_before(&last)) {
            let file = disk.open(&self.path, OpenMode::Read)?;
            let (mut low, mut high) = (0, self.flushed - 1);
            while low < high {
                let middle = low + (high - low) / 2;
                if is_before(&self.read_entry(&*file, middle)?) {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            while low < self.flushed {
                let count = (self.flushed - low).min(SCANNED_AT_ONCE);
                let mut bytes = vec![0; count * E::BYTES];
                file.read_exact_at(&mut bytes, (low * E::BYTES) as u64)?;
                if bytes
                    .chunks_exact(E::BYTES)
                    .any(|entry| each(&E::decode_from(entry)))
                {
                    return Ok(true);
                }
                low += count;
            }
        }
        let in_memory = self.pending.partition_point(&is_before);
        Ok(self.pending[in_memory..].iter().any(each))
    }

    /// Whether a scan behind what `is_before` holds for reads no file.
    pub(crate) fn is_scan_in_memory(&self, is_before: impl Fn(&E) -> bool) -> bool {
        self.flushed_last.is_none_or(|last| is_before(&last))
    }

    /// Whether there is a file, with entries or not.
    pub(crate) fn has_file(&self) -> bool {
        self.has_file
    }

    /// Whether there is neither an entry nor a file.
    pub(crate) fn is_nothing(&self) -> bool {
        self.pending.is_empty() && !self.has_file
    }

    fn read_entry(&self, file: &dyn DiskFile, number: usize) -> io::Result<E> {
        let mut bytes = [0; ENTRY_BYTES_MAX];
        let bytes = &mut bytes[..E::BYTES];
        file.read_exact_at(bytes, (number * E::BYTES) as u64)?;
        Ok(E::decode_from(bytes))
    }
}

fn invalid(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fanlog_environment::RealDisk;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn a_search_finds_what_a_scan_finds(
            steps in prop::collection::vec((1u32..9, any::<bool>()), 0..60), targets in prop::collection::vec(0u32..300, 8), cut in 0u32..300,
        ) {
            let dir = tempfile::tempdir().unwrap();
            let disk = RealDisk::open(dir.path()).unwrap();
            let mut index = SparseIndex::empty(PathBuf::from("0.index"));
            let mut entries = Vec::new();
            let mut relative_offset = 0;
            let check = |index: &SparseIndex<OffsetEntry>, entries: &[OffsetEntry]| {
                for target in &targets {
                    let expected = entries.iter().rev().find(|e| e.relative_offset <= *target).copied();
                    let found = index.last_where(&disk, |e| e.relative_offset <= *target).unwrap();
                    assert_eq!(found, expected);
                }
                assert_eq!(index.len(), entries.len());
                assert_eq!(index.last(), entries.last().copied());
            };
            for (step, is_flushed) in steps {
                relative_offset += step;
                let entry = OffsetEntry { relative_offset, position: relative_offset * 10 };
                entries.push(entry);
                index.push(entry);
                if is_flushed {
                    index.flush(&disk).unwrap();
                }
            }
            check(&index, &entries);
            index.truncate(&disk, |e| e.relative_offset < cut).unwrap();
            entries.retain(|e| e.relative_offset < cut);
            check(&index, &entries);
            index.flush(&disk).unwrap();
            let opened = SparseIndex::open(&disk, PathBuf::from("0.index")).unwrap();
            check(&opened, &entries);
            let checked = SparseIndex::open_checked(&disk, PathBuf::from("0.index")).unwrap();
            check(&checked, &entries);
        }
    }
}
