//! The producer snapshot (`.snapshot`): what the log knew about each producer at the offset in the file's name.
//!
//! ```text
//! header, 10 bytes, big-endian, then entries:
//!   0   2        6        10
//!   +---+--------+--------+
//!   |ver|  crc   | count  |
//!   +---+--------+--------+
//! ver    i16  1
//! crc    u32  CRC-32C of everything behind it
//! count  i32  entries that follow
//!
//! entry, 46 bytes:
//!   0          8     10       14         22    26        34      38              46
//!   +----------+-----+--------+----------+-----+---------+-------+---------------+
//!   |producerId|epoch|lastSeq |lastOffset|delta|timestamp|coordEp|txnFirstOffset |
//!   +----------+-----+--------+----------+-----+---------+-------+---------------+
//! producerId      i64
//! epoch           i16
//! lastSeq         i32  of the batch, -1 for none
//! lastOffset      i64  of the batch, -1 for none
//! delta           i32  last sequence less first sequence of the batch
//! timestamp       i64  largest in the batch
//! coordEp         i32  of the last transaction marker, -1 for none
//! txnFirstOffset  i64  where the open transaction began, -1 for none
//! ```
//! Kafka writes one entry for each producer, its last batch, and so forgets after a restart up to four batches that a
//! client may still retry. We write an entry for each batch remembered, oldest first: Kafka's reader keeps the last entry
//! of a producer, which is what it would have written itself.

use super::{FormatError, be};
use fanlog_model::{Offset, ProducerEpoch, ProducerId, TimestampMs};

const VERSION: i16 = 1;
const HEADER_BYTES: usize = 10;
const CRC_END: usize = 6;
const FILE: &str = "producer snapshot";

/// An entry's length in the file.
pub const ENTRY_BYTES: usize = 46;
/// The longest snapshot that is read.
pub const FILE_BYTES_MAX: usize = 256 * 1024 * 1024;

/// One batch of one producer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SnapshotEntry {
    /// The producer.
    pub producer_id: ProducerId,
    /// Its epoch.
    pub producer_epoch: ProducerEpoch,
    /// The batch's last sequence, -1 where the producer has only a marker.
    pub last_sequence: i32,
    /// The batch's last offset, -1 where the producer has only a marker.
    pub last_offset: Offset,
    /// The batch's last sequence less its first.
    pub offset_delta: i32,
    /// The batch's largest timestamp.
    pub timestamp: TimestampMs,
    /// The epoch of the coordinator that wrote the last marker, -1 for none.
    pub coordinator_epoch: i32,
    /// Where the producer's open transaction began, -1 for none.
    pub current_txn_first_offset: Offset,
}

impl SnapshotEntry {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.producer_id.get().to_be_bytes());
        out.extend_from_slice(&self.producer_epoch.get().to_be_bytes());
        out.extend_from_slice(&self.last_sequence.to_be_bytes());
        out.extend_from_slice(&self.last_offset.get().to_be_bytes());
        out.extend_from_slice(&self.offset_delta.to_be_bytes());
        out.extend_from_slice(&self.timestamp.get().to_be_bytes());
        out.extend_from_slice(&self.coordinator_epoch.to_be_bytes());
        out.extend_from_slice(&self.current_txn_first_offset.get().to_be_bytes());
    }

    fn decode(bytes: &[u8; ENTRY_BYTES]) -> Self {
        Self {
            producer_id: ProducerId(be!(i64, bytes, 0)),
            producer_epoch: ProducerEpoch(be!(i16, bytes, 8)),
            last_sequence: be!(i32, bytes, 10),
            last_offset: Offset(be!(i64, bytes, 14)),
            offset_delta: be!(i32, bytes, 22),
            timestamp: TimestampMs(be!(i64, bytes, 26)),
            coordinator_epoch: be!(i32, bytes, 34),
            current_txn_first_offset: Offset(be!(i64, bytes, 38)),
        }
    }
}

/// The bytes of a snapshot.
///
/// # Panics
/// With more entries than a file may hold, which the number of producers remembered excludes.
pub fn encode(entries: &[SnapshotEntry]) -> Vec<u8> {
    let count = i32::try_from(entries.len()).expect("the producers remembered fit in 31 bits");
    let mut bytes = Vec::with_capacity(HEADER_BYTES + entries.len() * ENTRY_BYTES);
    bytes.extend_from_slice(&VERSION.to_be_bytes());
    bytes.extend_from_slice(&[0; 4]);
    bytes.extend_from_slice(&count.to_be_bytes());
    for entry in entries {
        entry.encode(&mut bytes);
    }
    let crc = crc32c::crc32c(&bytes[CRC_END..]);
    bytes[2..CRC_END].copy_from_slice(&crc.to_be_bytes());
    bytes
}

/// The entries of a snapshot, in file order.
///
/// # Errors
/// The version, length or checksum is wrong: an earlier snapshot or the log itself must serve.
pub fn decode(bytes: &[u8]) -> Result<Vec<SnapshotEntry>, FormatError> {
    let wrong_length = || FormatError::Length {
        file: FILE,
        length: bytes.len() as u64,
        expected: "10 bytes and 46 for each entry counted",
    };
    if bytes.len() < HEADER_BYTES {
        return Err(wrong_length());
    }
    let version = be!(i16, bytes, 0);
    if version != VERSION {
        return Err(FormatError::Version {
            file: FILE,
            version: version.into(),
            expected: VERSION.into(),
        });
    }
    let found = be!(u32, bytes, 2);
    let computed = crc32c::crc32c(&bytes[CRC_END..]);
    if found != computed {
        return Err(FormatError::Checksum {
            file: FILE,
            found,
            computed,
        });
    }
    let count = usize::try_from(be!(i32, bytes, CRC_END)).map_err(|_| wrong_length())?;
    let (entries, rest) = bytes[HEADER_BYTES..].as_chunks::<ENTRY_BYTES>();
    if entries.len() != count || !rest.is_empty() {
        return Err(wrong_length());
    }
    Ok(entries.iter().map(SnapshotEntry::decode).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Written by Kafka 4.4 for two producers, the second with an open transaction and no batch.
    const GOLDEN: &str = "0001f3e2730f0000000200000000000003e8000200000009000000000000006d000000040000018bcfe56800\
        00000000ffffffffffffffff00000000000003e90000ffffffffffffffffffffffff000000000000018bcfe5680100000005\
        0000000000000058";

    fn golden() -> Vec<u8> {
        let digits: Vec<u8> = GOLDEN.bytes().filter(u8::is_ascii_hexdigit).collect();
        digits
            .chunks(2)
            .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
            .collect()
    }

    fn entries() -> Vec<SnapshotEntry> {
        vec![
            SnapshotEntry {
                producer_id: ProducerId(1000),
                producer_epoch: ProducerEpoch(2),
                last_sequence: 9,
                last_offset: Offset(109),
                offset_delta: 4,
                timestamp: TimestampMs(1_700_000_000_000),
                coordinator_epoch: 0,
                current_txn_first_offset: Offset(-1),
            },
            SnapshotEntry {
                producer_id: ProducerId(1001),
                producer_epoch: ProducerEpoch(0),
                last_sequence: -1,
                last_offset: Offset(-1),
                offset_delta: 0,
                timestamp: TimestampMs(1_700_000_000_001),
                coordinator_epoch: 5,
                current_txn_first_offset: Offset(88),
            },
        ]
    }

    #[test]
    fn a_snapshot_has_the_bytes_that_kafka_4_4_writes() {
        assert_eq!(decode(&golden()), Ok(entries()));
        assert_eq!(encode(&entries()), golden());
    }

    #[test]
    fn any_flipped_bit_is_noticed() {
        let bytes = golden();
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(decode(&damaged).is_err(), "bit {bit}");
        }
        for length in 0..bytes.len() {
            assert!(decode(&bytes[..length]).is_err(), "length {length}");
        }
    }

    #[test]
    fn a_count_that_the_bytes_do_not_hold_is_refused() {
        let mut bytes = encode(&entries());
        bytes[6..10].copy_from_slice(&i32::MAX.to_be_bytes());
        let crc = crc32c::crc32c(&bytes[6..]);
        bytes[2..6].copy_from_slice(&crc.to_be_bytes());
        assert!(matches!(decode(&bytes), Err(FormatError::Length { .. })));
    }

    proptest! {
        #[test]
        fn a_snapshot_round_trips(numbers in prop::collection::vec(any::<(i64, i16, i32, i64, i32, i64, i32, i64)>(), 0..8)) {
            let entries: Vec<SnapshotEntry> = numbers.into_iter().map(|n| SnapshotEntry {
                producer_id: ProducerId(n.0),
                producer_epoch: ProducerEpoch(n.1),
                last_sequence: n.2,
                last_offset: Offset(n.3),
                offset_delta: n.4,
                timestamp: TimestampMs(n.5),
                coordinator_epoch: n.6,
                current_txn_first_offset: Offset(n.7),
            }).collect();
            prop_assert_eq!(decode(&encode(&entries)), Ok(entries));
        }
    }
}
