//! The transaction index (`.txnindex`): the aborted transactions whose markers lie in the segment.
//!
//! ```text
//! entry, 34 bytes, big-endian:
//!   0   2          10            18           26                 34
//!   +---+----------+-------------+------------+------------------+
//!   |ver|producerId| firstOffset | lastOffset | lastStableOffset |
//!   +---+----------+-------------+------------+------------------+
//! ver               i16  0
//! producerId        i64
//! firstOffset       i64  of the transaction's first batch
//! lastOffset        i64  of the abort marker
//! lastStableOffset  i64  when the marker was written
//! ```
//! Entries stand in the order of their markers. The file exists only where there is an entry, or where compaction has dropped all of them.

use super::{FormatError, be};
use fanlog_model::{Offset, ProducerId};

/// An entry's length in the file.
pub const ENTRY_BYTES: usize = 34;
const VERSION: i16 = 0;
const FILE: &str = "transaction index";

/// One aborted transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AbortedTransaction {
    /// Whose it was.
    pub producer_id: ProducerId,
    /// Where it began.
    pub first_offset: Offset,
    /// Where its abort marker lies.
    pub last_offset: Offset,
    /// The last stable offset when the marker was written.
    pub last_stable_offset: Offset,
}

impl AbortedTransaction {
    /// What stands for an entry that cannot be read.
    pub(crate) const UNREADABLE: Self = Self {
        producer_id: ProducerId::NONE,
        first_offset: Offset(-1),
        last_offset: Offset(-1),
        last_stable_offset: Offset(-1),
    };

    /// The entry's bytes.
    pub fn encode(self) -> [u8; ENTRY_BYTES] {
        let mut bytes = [0; ENTRY_BYTES];
        bytes[..2].copy_from_slice(&VERSION.to_be_bytes());
        bytes[2..10].copy_from_slice(&self.producer_id.get().to_be_bytes());
        bytes[10..18].copy_from_slice(&self.first_offset.get().to_be_bytes());
        bytes[18..26].copy_from_slice(&self.last_offset.get().to_be_bytes());
        bytes[26..].copy_from_slice(&self.last_stable_offset.get().to_be_bytes());
        bytes
    }

    /// The entry that `bytes` are.
    ///
    /// # Errors
    /// Its version is not 0.
    pub fn decode(bytes: &[u8; ENTRY_BYTES]) -> Result<Self, FormatError> {
        let version = be!(i16, bytes, 0);
        if version != VERSION {
            return Err(FormatError::Version {
                file: FILE,
                version: version.into(),
                expected: VERSION.into(),
            });
        }
        Ok(Self {
            producer_id: ProducerId(be!(i64, bytes, 2)),
            first_offset: Offset(be!(i64, bytes, 10)),
            last_offset: Offset(be!(i64, bytes, 18)),
            last_stable_offset: Offset(be!(i64, bytes, 26)),
        })
    }
}

/// All entries of a file.
///
/// # Errors
/// The length is not a whole number of entries, a version is unknown, or the markers do not rise.
pub fn decode_all(bytes: &[u8]) -> Result<Vec<AbortedTransaction>, FormatError> {
    let (chunks, rest) = bytes.as_chunks::<ENTRY_BYTES>();
    if !rest.is_empty() {
        return Err(FormatError::Length {
            file: FILE,
            length: bytes.len() as u64,
            expected: "a multiple of 34",
        });
    }
    let entries = chunks
        .iter()
        .map(AbortedTransaction::decode)
        .collect::<Result<Vec<_>, _>>()?;
    match entries
        .windows(2)
        .position(|pair| pair[0].last_offset >= pair[1].last_offset)
    {
        Some(before) => Err(FormatError::Order {
            file: FILE,
            entry: before + 1,
        }),
        None => Ok(entries),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_entry_has_the_bytes_that_kafka_4_4_writes() {
        let entry = AbortedTransaction {
            producer_id: ProducerId(7),
            first_offset: Offset(10),
            last_offset: Offset(20),
            last_stable_offset: Offset(21),
        };
        let golden = [
            0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0, 0, 0, 20, 0, 0,
            0, 0, 0, 0, 0, 21,
        ];
        assert_eq!(entry.encode(), golden);
        assert_eq!(decode_all(&golden), Ok(vec![entry]));
        let mut newer = golden;
        newer[1] = 1;
        assert!(matches!(
            decode_all(&newer),
            Err(FormatError::Version { version: 1, .. })
        ));
        assert!(matches!(
            decode_all(&golden[1..]),
            Err(FormatError::Length { length: 33, .. })
        ));
        assert!(matches!(
            decode_all(&[golden, golden].concat()),
            Err(FormatError::Order { entry: 1, .. })
        ));
    }

    proptest! {
        #[test]
        fn an_entry_round_trips(numbers in any::<[i64; 4]>()) {
            let entry = AbortedTransaction {
                producer_id: ProducerId(numbers[0]),
                first_offset: Offset(numbers[1]),
                last_offset: Offset(numbers[2]),
                last_stable_offset: Offset(numbers[3]),
            };
            prop_assert_eq!(AbortedTransaction::decode(&entry.encode()), Ok(entry));
        }

        #[test]
        fn no_bytes_make_decoding_panic(bytes in prop::collection::vec(any::<u8>(), 0..150)) {
            let _ = decode_all(&bytes);
        }
    }
}
