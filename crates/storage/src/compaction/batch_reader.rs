//! Reads a segment from its beginning, batch by batch, every one checked.
//!
//! Why it exists: what a cleaning writes gets a new checksum; damage that passed unseen would be made good for ever.

use super::CleanError;
use crate::header::BatchHeader;
use fanlog_environment::{Disk, DiskFile, OpenMode};
use fanlog_model::Offset;
use fanlog_protocol::records::{BatchView, HEADER_BYTES};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A sealed segment to be read.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) base_offset: Offset,
    /// Where the next segment begins.
    pub(crate) end: Offset,
    pub(crate) bytes: u64,
    /// Whether its batches follow each other without holes.
    pub(crate) is_dense: bool,
    pub(crate) path: PathBuf,
}

/// Walks the batches of a source.
pub(super) struct BatchReader<'a> {
    source: &'a Source,
    file: Arc<dyn DiskFile>,
    position: u64,
    /// Where the batch before it begins.
    batch_at: u64,
    expected: Offset,
    buffer: Vec<u8>,
    /// Where in the file the buffer begins.
    buffer_at: u64,
    buffer_bytes: usize,
}

impl<'a> BatchReader<'a> {
    pub(super) fn open(
        disk: &dyn Disk,
        source: &'a Source,
        buffer_bytes: usize,
    ) -> Result<Self, CleanError> {
        let file = disk
            .open(&source.path, OpenMode::Read)
            .map_err(|error| CleanError::io(&source.path, error))?;
        Ok(Self {
            source,
            file,
            position: 0,
            batch_at: 0,
            expected: source.base_offset,
            buffer: Vec::new(),
            buffer_at: 0,
            buffer_bytes: buffer_bytes.max(HEADER_BYTES),
        })
    }

    /// Where the batch begins that was read last.
    pub(super) fn batch_position(&self) -> u64 {
        self.batch_at
    }

    /// The next batch, and whether it is the last one.
    pub(super) fn next(&mut self) -> Result<Option<(BatchView<'_>, bool)>, CleanError> {
        let left = self.source.bytes - self.position;
        if left == 0 {
            return Ok(None);
        }
        if left < HEADER_BYTES as u64 {
            return Err(self.corrupt("no whole record batch begins there"));
        }
        let at = self.fill(HEADER_BYTES)?;
        let header = BatchHeader::decode(&self.buffer[at..])
            .filter(|header| header.bytes <= left)
            .ok_or_else(|| self.corrupt("no whole record batch begins there"))?;
        self.check_place(&header)?;
        let length = usize::try_from(header.bytes).expect("a batch is smaller than 2 GiB");
        let at = self.fill(length)?;
        let position = self.position;
        self.batch_at = position;
        self.position += header.bytes;
        self.expected = header.next_offset();
        let view = BatchView::parse(&self.buffer[at..at + length]);
        match view.and_then(|view| view.check_crc().map(|()| view)) {
            Ok(view) => Ok(Some((view, header.bytes == left))),
            Err(error) => Err(CleanError::Corrupt {
                path: self.source.path.clone(),
                position,
                reason: error.to_string(),
            }),
        }
    }

    /// The offset lies outside the checksum: its neighbours tell whether it is damaged.
    fn check_place(&self, header: &BatchHeader) -> Result<(), CleanError> {
        let follows = match self.source.is_dense {
            true => header.base_offset == self.expected,
            false => header.base_offset >= self.expected,
        };
        match follows && header.next_offset() <= self.source.end {
            true => Ok(()),
            false => Err(self.corrupt("the batch's offset does not follow")),
        }
    }

    /// Has `length` bytes from the position on in the buffer; where in it they begin.
    fn fill(&mut self, length: usize) -> Result<usize, CleanError> {
        let at = usize::try_from(self.position - self.buffer_at).unwrap_or(usize::MAX);
        let is_there = at
            .checked_add(length)
            .is_some_and(|end| end <= self.buffer.len());
        if is_there {
            return Ok(at);
        }
        let left = usize::try_from(self.source.bytes - self.position).unwrap_or(usize::MAX);
        let wanted = self.buffer_bytes.max(length).min(left);
        self.buffer.resize(wanted, 0);
        self.buffer.shrink_to(self.buffer_bytes.max(wanted));
        self.file
            .read_exact_at(&mut self.buffer, self.position)
            .map_err(|error| CleanError::io(&self.source.path, error))?;
        self.buffer_at = self.position;
        Ok(0)
    }

    pub(super) fn corrupt(&self, reason: &str) -> CleanError {
        corrupt(&self.source.path, self.position, reason)
    }
}

fn corrupt(path: &Path, position: u64, reason: &str) -> CleanError {
    CleanError::Corrupt {
        path: path.to_owned(),
        position,
        reason: reason.to_owned(),
    }
}
