//! The offset index (`.index`): where in the segment a batch lies.
//!
//! Sparse: one entry for every `index.interval.bytes` of batches at most. Entries rise in both numbers.
//!
//! ```text
//! entry, 8 bytes, big-endian:
//!   0        4        8
//!   +--------+--------+
//!   | offset |position|
//!   +--------+--------+
//! offset    i32  last offset of an append, less the segment's base offset
//! position  i32  where in the .log file the first batch of that append begins
//! ```
//! A file that Kafka left open has zeros behind its last entry.

use super::{FormatError, be};

/// An entry's length in the file.
pub const ENTRY_BYTES: usize = 8;
const FILE: &str = "offset index";

/// One entry, relative to its segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OffsetEntry {
    /// The last offset of the append, less the segment's base offset.
    pub relative_offset: u32,
    /// Where the append's first batch begins.
    pub position: u32,
}

impl OffsetEntry {
    /// The entry's bytes.
    pub fn encode(self) -> [u8; ENTRY_BYTES] {
        let mut bytes = [0; ENTRY_BYTES];
        bytes[..4].copy_from_slice(&self.relative_offset.to_be_bytes());
        bytes[4..].copy_from_slice(&self.position.to_be_bytes());
        bytes
    }

    /// The entry that `bytes` are.
    pub fn decode(bytes: &[u8; ENTRY_BYTES]) -> Self {
        Self {
            relative_offset: be!(u32, bytes, 0),
            position: be!(u32, bytes, 4),
        }
    }

    fn is_padding(self) -> bool {
        self.relative_offset == 0 && self.position == 0
    }

    fn fits(self) -> bool {
        i32::try_from(self.relative_offset).is_ok() && i32::try_from(self.position).is_ok()
    }
}

/// All entries of a file, without the zeros that a preallocated one ends with.
///
/// # Errors
/// The length is not a whole number of entries, or the entries do not rise: the index must be rebuilt.
pub fn decode_all(bytes: &[u8]) -> Result<Vec<OffsetEntry>, FormatError> {
    let (chunks, rest) = bytes.as_chunks::<ENTRY_BYTES>();
    if !rest.is_empty() {
        return Err(FormatError::Length {
            file: FILE,
            length: bytes.len() as u64,
            expected: "a multiple of 8",
        });
    }
    let mut entries: Vec<OffsetEntry> = chunks.iter().map(OffsetEntry::decode).collect();
    // No entry points at position 0: the first is due only after the first interval.
    while entries.last().is_some_and(|last| last.is_padding()) {
        entries.pop();
    }
    let rises = |a: &OffsetEntry, b: &OffsetEntry| {
        a.relative_offset < b.relative_offset && a.position < b.position
    };
    let wrong = (0..entries.len())
        .find(|&i| !entries[i].fits() || (i > 0 && !rises(&entries[i - 1], &entries[i])));
    match wrong {
        Some(entry) => Err(FormatError::Order { file: FILE, entry }),
        None => Ok(entries),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_entry_is_laid_out_as_kafka_does() {
        let entry = OffsetEntry {
            relative_offset: 0x0102_0304,
            position: 0x0506_0708,
        };
        assert_eq!(entry.encode(), [1, 2, 3, 4, 5, 6, 7, 8]);
    }

    #[test]
    fn a_damaged_index_is_noticed() {
        assert!(matches!(
            decode_all(&[0; 9]),
            Err(FormatError::Length { length: 9, .. })
        ));
        let entry = |relative_offset, position| {
            OffsetEntry {
                relative_offset,
                position,
            }
            .encode()
        };
        let hole = [entry(5, 100), entry(0, 0), entry(9, 300)].concat();
        let wrong = Err(FormatError::Order {
            file: FILE,
            entry: 1,
        });
        assert_eq!(decode_all(&hole), wrong);
        let falls = [entry(5, 100), entry(6, 90)].concat();
        assert_eq!(decode_all(&falls), wrong);
        assert!(decode_all(&entry(0x8000_0000, 1)).is_err());
    }

    proptest! {
        #[test]
        fn entries_round_trip_with_and_without_padding(
            steps in prop::collection::vec((1u32..1000, 1u32..1000), 0..50), padding in 0usize..4,
        ) {
            let mut entries = Vec::new();
            let (mut relative_offset, mut position) = (0, 0);
            for (offset_step, position_step) in steps {
                relative_offset += offset_step;
                position += position_step;
                entries.push(OffsetEntry { relative_offset, position });
            }
            let mut bytes: Vec<u8> = entries.iter().flat_map(|e| e.encode()).collect();
            bytes.resize(bytes.len() + padding * ENTRY_BYTES, 0);
            prop_assert_eq!(decode_all(&bytes), Ok(entries));
        }

        #[test]
        fn no_bytes_make_decoding_panic(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            let _ = decode_all(&bytes);
        }
    }
}
