//! What our own small files have in common: a magic number, which is the version too, a known length, and a CRC-32C.

use super::{FormatError, be};
use std::ops::Range;

/// One kind of file.
pub(super) struct OwnFile {
    pub(super) name: &'static str,
    pub(super) magic: u32,
    /// Its length; the least one where something follows.
    pub(super) bytes: usize,
    /// The same in words.
    pub(super) length: &'static str,
    pub(super) checksum: Checksum,
}

/// Where the checksum stands.
pub(super) enum Checksum {
    /// In the last four bytes, of all before them.
    AtEnd,
    /// Behind the magic number, of all that follows, which may be longer.
    AtStart,
}

impl OwnFile {
    /// Where the checksum is in so many bytes, and of which it is.
    fn checksum(&self, length: usize) -> (usize, Range<usize>) {
        match self.checksum {
            Checksum::AtEnd => (self.bytes - 4, 0..self.bytes - 4),
            Checksum::AtStart => (4, 8..length),
        }
    }

    /// Puts magic number and checksum into bytes that are otherwise done.
    pub(super) fn seal(&self, bytes: &mut [u8]) {
        bytes[..4].copy_from_slice(&self.magic.to_be_bytes());
        let (at, covered) = self.checksum(bytes.len());
        let crc = crc32c::crc32c(&bytes[covered]);
        bytes[at..at + 4].copy_from_slice(&crc.to_be_bytes());
    }

    /// Whether the bytes are as they were sealed.
    pub(super) fn check(&self, bytes: &[u8]) -> Result<(), FormatError> {
        let has_length = match self.checksum {
            Checksum::AtEnd => bytes.len() == self.bytes,
            Checksum::AtStart => bytes.len() >= self.bytes,
        };
        if !has_length {
            return Err(FormatError::Length {
                file: self.name,
                length: bytes.len() as u64,
                expected: self.length,
            });
        }
        let magic = be!(u32, bytes, 0);
        if magic != self.magic {
            return Err(FormatError::Version {
                file: self.name,
                version: magic.into(),
                expected: self.magic.into(),
            });
        }
        let (at, covered) = self.checksum(bytes.len());
        let (found, computed) = (be!(u32, bytes, at), crc32c::crc32c(&bytes[covered]));
        if found != computed {
            return Err(FormatError::Checksum {
                file: self.name,
                found,
                computed,
            });
        }
        Ok(())
    }
}
