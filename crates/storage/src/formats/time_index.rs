//! The time index (`.timeindex`): up to which offset all timestamps are at most so large.
//!
//! An entry `(t, o)` says: no record up to the batch that ends at `o` has a timestamp above `t`, and that batch has one of `t`.
//!
//! ```text
//! entry, 12 bytes, big-endian:
//!   0                 8       12
//!   +-----------------+--------+
//!   |    timestamp    | offset |
//!   +-----------------+--------+
//! timestamp  i64  the largest so far, in milliseconds since 1970
//! offset     i32  last offset of the batch that has it, less the segment's base offset
//! ```
//! A file that Kafka left open has zeros behind its last entry.

use super::{FormatError, be};
use fanlog_model::TimestampMs;

/// An entry's length in the file.
pub const ENTRY_BYTES: usize = 12;
const FILE: &str = "time index";

/// One entry, relative to its segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeEntry {
    /// The largest timestamp so far.
    pub timestamp: TimestampMs,
    /// The last offset of the batch that has it, less the segment's base offset.
    pub relative_offset: u32,
}

impl TimeEntry {
    /// The entry's bytes.
    pub fn encode(self) -> [u8; ENTRY_BYTES] {
        let mut bytes = [0; ENTRY_BYTES];
        bytes[..8].copy_from_slice(&self.timestamp.get().to_be_bytes());
        bytes[8..].copy_from_slice(&self.relative_offset.to_be_bytes());
        bytes
    }

    /// The entry that `bytes` are.
    pub fn decode(bytes: &[u8; ENTRY_BYTES]) -> Self {
        Self {
            timestamp: TimestampMs(be!(i64, bytes, 0)),
            relative_offset: be!(u32, bytes, 8),
        }
    }

    fn is_padding(self) -> bool {
        self.timestamp == TimestampMs(0) && self.relative_offset == 0
    }
}

/// All entries of a file, without the zeros that a preallocated one ends with.
///
/// # Errors
/// The length is not a whole number of entries, or the entries do not rise: the index must be rebuilt.
pub fn decode_all(bytes: &[u8]) -> Result<Vec<TimeEntry>, FormatError> {
    let (chunks, rest) = bytes.as_chunks::<ENTRY_BYTES>();
    if !rest.is_empty() {
        return Err(FormatError::Length {
            file: FILE,
            length: bytes.len() as u64,
            expected: "a multiple of 12",
        });
    }
    let mut entries: Vec<TimeEntry> = chunks.iter().map(TimeEntry::decode).collect();
    while entries.last().is_some_and(|last| last.is_padding()) {
        entries.pop();
    }
    let rises = |a: &TimeEntry, b: &TimeEntry| {
        a.timestamp < b.timestamp && a.relative_offset < b.relative_offset
    };
    let fits = |e: &TimeEntry| i32::try_from(e.relative_offset).is_ok();
    let wrong = (0..entries.len())
        .find(|&i| !fits(&entries[i]) || (i > 0 && !rises(&entries[i - 1], &entries[i])));
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
        let entry = TimeEntry {
            timestamp: TimestampMs(0x0102_0304_0506_0708),
            relative_offset: 0x090a_0b0c,
        };
        assert_eq!(entry.encode(), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    }

    #[test]
    fn a_damaged_index_is_noticed() {
        assert!(matches!(
            decode_all(&[0; 13]),
            Err(FormatError::Length { length: 13, .. })
        ));
        let entry = |ms, relative_offset| {
            TimeEntry {
                timestamp: TimestampMs(ms),
                relative_offset,
            }
            .encode()
        };
        let falls = [entry(1000, 5), entry(999, 6)].concat();
        assert!(matches!(
            decode_all(&falls),
            Err(FormatError::Order { entry: 1, .. })
        ));
    }

    proptest! {
        #[test]
        fn entries_round_trip_with_and_without_padding(
            steps in prop::collection::vec((1i64..1000, 1u32..1000), 0..50), padding in 0usize..4,
        ) {
            let mut entries = Vec::new();
            let (mut ms, mut relative_offset) = (1_700_000_000_000, 0);
            for (time_step, offset_step) in steps {
                ms += time_step;
                relative_offset += offset_step;
                entries.push(TimeEntry { timestamp: TimestampMs(ms), relative_offset });
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
