//! What a read found: runs of whole batches in files, to be read or sent without the log's lock.
//!
//! Why it exists: a consumer's bytes go from the page cache to its socket. Nothing looks at them on the way, so what comes from the
//! disk is looked at before, once, by a thread that may wait for the disk.
//! In -> out: a slice -> its bytes, checked; or the promise that they are checked and in memory.
//! Read next: `log/read.rs`.

use crate::error::DamagedSegment;
use crate::formats::file_names::{self, LOG};
use crate::header::BatchHeader;
use crate::segment::CheckedRanges;
use bytes::Bytes;
use fanlog_environment::DiskFile;
use fanlog_model::Offset;
use fanlog_protocol::records::{BatchView, HEADER_BYTES};
use std::io;
use std::sync::Arc;

/// How much is asked of the disk at once: a sync that others wait for stands in line behind it.
const LOAD_BYTES: usize = 256 * 1024;
/// Where the bytes of a batch begin that its checksum covers.
const CHECKED_FROM: usize = 21;

/// A run of whole batches in a segment.
#[derive(Clone, Debug)]
pub struct FileSlice {
    /// The segment's file, open: it can be read even where retention removes its name meanwhile.
    pub file: Arc<dyn DiskFile>,
    /// Where the run begins.
    pub position: u64,
    /// How long it is.
    pub length: usize,
    /// The segment's base offset, which is its file's name.
    pub(crate) segment: Offset,
    /// Where the first batch begins, and whether the others follow without holes.
    pub(crate) first_offset: Offset,
    pub(crate) is_dense: bool,
    pub(crate) checked: Arc<CheckedRanges>,
}

/// Who may read from the disk when: a piece at a time.
pub trait ReadTurns {
    /// Runs `read`, which reads so many bytes that may have to come from the disk, when it is its turn. Blocks.
    ///
    /// # Errors
    /// Those of `read`.
    fn take(&self, bytes: usize, read: &mut dyn FnMut() -> io::Result<()>) -> io::Result<()>;
}

/// No turns: everybody reads at once.
#[derive(Clone, Copy, Debug)]
pub struct AtOnce;

impl ReadTurns for AtOnce {
    fn take(&self, _: usize, read: &mut dyn FnMut() -> io::Result<()>) -> io::Result<()> {
        read()
    }
}

/// What a read found: where whole batches lie. Reading the bytes needs no lock on the log.
#[derive(Clone, Debug)]
pub struct ReadPlan {
    /// The batches, in order; nothing at the end of the log.
    pub slices: Vec<FileSlice>,
    /// The offset after the last batch; the wanted offset where there is none.
    pub next_offset: Offset,
    /// Where the log starts.
    pub log_start_offset: Offset,
}

impl ReadPlan {
    /// How many bytes will be read.
    pub fn bytes(&self) -> usize {
        self.slices.iter().map(|slice| slice.length).sum()
    }

    /// Reads the batches and checks that each is as it was written.
    ///
    /// # Errors
    /// The disk refuses; `InvalidData` where a batch is damaged, so that no consumer is handed it; `UnexpectedEof` where the log was
    /// truncated meanwhile.
    pub fn read(&self) -> io::Result<Vec<Bytes>> {
        self.read_in_turns(&AtOnce)
    }

    /// As [`ReadPlan::read`], a piece at each turn.
    ///
    /// # Errors
    /// As there.
    pub fn read_in_turns(&self, turns: &dyn ReadTurns) -> io::Result<Vec<Bytes>> {
        let slices = self.slices.iter().map(|slice| slice.read(turns));
        slices.collect()
    }

    /// As [`ReadPlan::read`], if that takes no wait for the disk; nothing otherwise.
    ///
    /// # Errors
    /// As there.
    pub fn read_now(&self) -> io::Result<Option<Vec<Bytes>>> {
        let slices = self.slices.iter().map(FileSlice::read_now);
        slices.collect()
    }
}

/// The same bytes of the same open file.
impl PartialEq for FileSlice {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.file, &other.file)
            && (self.position, self.length) == (other.position, other.length)
    }
}

impl Eq for FileSlice {}

impl FileSlice {
    /// Reads the batches and checks each.
    fn read(&self, turns: &dyn ReadTurns) -> io::Result<Bytes> {
        let mut bytes = vec![0; self.length];
        let mut at = self.position;
        for piece in bytes.chunks_mut(LOAD_BYTES) {
            turns.take(piece.len(), &mut || self.file.read_exact_at(piece, at))?;
            at += piece.len() as u64;
        }
        self.checked(bytes)
    }

    fn read_now(&self) -> io::Result<Option<Bytes>> {
        let mut bytes = vec![0; self.length];
        match self.file.read_now(&mut bytes, self.position)? {
            true => self.checked(bytes).map(Some),
            false => Ok(None),
        }
    }

    fn checked(&self, bytes: Vec<u8>) -> io::Result<Bytes> {
        let mut expected = self.first_offset;
        for batch in BatchView::parse_all(&bytes) {
            let checked = batch.map_err(damaged).and_then(|batch| {
                batch.check_crc().map_err(damaged)?;
                check_offset(batch.base_offset(), expected, self.is_dense)?;
                Ok(batch.next_offset())
            });
            expected = checked.map_err(|error| self.named(error, expected))?;
        }
        Ok(bytes.into())
    }

    /// Damage, with the file in which it is and about where.
    fn named(&self, error: io::Error, expected: Offset) -> io::Error {
        if error.kind() != io::ErrorKind::InvalidData {
            return error;
        }
        damaged(DamagedSegment {
            file: file_names::with_offset(self.segment, LOG),
            offset: expected,
            reason: error.to_string(),
        })
    }

    /// Whether it can be sent as it is: checked, and in memory as far as a few probes tell.
    pub fn is_ready(&self) -> bool {
        let end = self.position + self.length as u64;
        self.checked.contain(self.position, end)
            && self.file.is_in_memory(self.position, self.length)
    }

    /// Brings `length` of its bytes, from `skip` on, back into memory. Blocks.
    ///
    /// # Errors
    /// The disk refuses; `UnexpectedEof` where the file has become shorter.
    pub fn touch(&self, skip: usize, length: usize) -> io::Result<()> {
        let mut buffer = vec![0; LOAD_BYTES.min(length)];
        let (mut at, mut left) = (self.position + skip as u64, length);
        while left > 0 {
            let count = left.min(buffer.len());
            self.file.read_exact_at(&mut buffer[..count], at)?;
            at += count as u64;
            left -= count;
        }
        Ok(())
    }

    /// Brings the batches into memory, and checks each, a piece at each turn. Blocks.
    ///
    /// # Errors
    /// As [`ReadPlan::read`].
    pub fn load(&self, turns: &dyn ReadTurns) -> io::Result<()> {
        let end = self.position + self.length as u64;
        let mut check = BatchChecks {
            expected: self.first_offset,
            is_dense: self.is_dense,
            batch: None,
        };
        let mut buffer = vec![0; LOAD_BYTES.min(self.length.max(HEADER_BYTES))];
        let mut at = self.position;
        while at < end {
            let wanted = usize::try_from(end - at).map_or(buffer.len(), |l| l.min(buffer.len()));
            let piece = &mut buffer[..wanted];
            turns.take(wanted, &mut || self.file.read_exact_at(piece, at))?;
            let taken = check.take(&buffer[..wanted]);
            at += taken.map_err(|error| self.named(error, check.expected))? as u64;
        }
        if check.batch.is_some() {
            let error = damaged("a record batch is cut short");
            return Err(self.named(error, check.expected));
        }
        self.checked.add(self.position, end);
        Ok(())
    }
}

/// Checks batches that come in pieces, so that no batch has to be in memory as a whole.
struct BatchChecks {
    expected: Offset,
    is_dense: bool,
    /// The batch under way: its header, how many bytes are still to come, the checksum so far.
    batch: Option<(BatchHeader, u64, u32)>,
}

impl BatchChecks {
    /// Takes bytes in; answers how many, never none. What is left is the beginning of a header.
    fn take(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let (header, left, crc) = match self.batch.take() {
                Some(under_way) => under_way,
                None if rest.len() < HEADER_BYTES => break,
                None => {
                    let header = BatchHeader::decode(rest);
                    let header = header.ok_or_else(|| damaged("no record batch begins here"))?;
                    check_offset(header.base_offset, self.expected, self.is_dense)?;
                    rest = &rest[CHECKED_FROM..];
                    (header, header.bytes - CHECKED_FROM as u64, 0)
                }
            };
            let count = usize::try_from(left).map_or(rest.len(), |left| left.min(rest.len()));
            let crc = crc32c::crc32c_append(crc, &rest[..count]);
            rest = &rest[count..];
            let left = left - count as u64;
            if left > 0 {
                self.batch = Some((header, left, crc));
            } else if crc != header.crc {
                return Err(damaged("the checksum of a record batch does not match"));
            } else {
                self.expected = header.next_offset();
            }
        }
        if rest.len() == bytes.len() {
            return Err(damaged("a record batch is cut short"));
        }
        Ok(bytes.len() - rest.len())
    }
}

/// The offset lies outside the checksum.
fn check_offset(base_offset: Offset, expected: Offset, is_dense: bool) -> io::Result<()> {
    if base_offset < expected || (is_dense && base_offset > expected) {
        let message = format!("a record batch has offset {base_offset} where {expected} is due");
        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
    }
    Ok(())
}

fn damaged(reason: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}
