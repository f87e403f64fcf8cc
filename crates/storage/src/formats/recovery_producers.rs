//! `recovery-producers`: the producers at an offset below which everything is durable. Ours; Kafka walks further instead.
//!
//! ```text
//! big-endian
//!   0        4        8                16                   24              28             32
//!   +--------+--------+----------------+--------------------+---------------+--------------+---------------------+
//!   | magic  |  crc   |     offset     | bytesSinceSnapshot | offsetEntries | timeEntries  | a producer snapshot |
//!   +--------+--------+----------------+--------------------+---------------+--------------+---------------------+
//! magic               u32  "FRP1"
//! crc                 u32  CRC-32C of everything behind it
//! offset              i64  every batch, index entry and epoch below it was written, every batch synced
//! bytesSinceSnapshot  u64  the batches between the latest `.snapshot` and the offset
//! offsetEntries       u32  how many entries the two indexes of the last segment had: after a power cut they may have fewer
//! timeEntries         u32
//! ```
//! Overwritten in place, without a sync, after syncs of the log: a start after `kill -9` has to read no further back than this. After a
//! power cut it may be torn, older than the truth, or gone; the latest `.snapshot` serves then.

use super::own_file::{Checksum, OwnFile};
use super::producer_snapshot::{self, SnapshotEntry};
use super::{FormatError, be};
use fanlog_model::Offset;

const FIXED_BYTES: usize = 32;
const FILE: OwnFile = OwnFile {
    name: "recovery-producers",
    magic: u32::from_be_bytes(*b"FRP1"),
    bytes: FIXED_BYTES,
    length: "32 bytes and a producer snapshot",
    checksum: Checksum::AtStart,
};

/// The longest file that is read.
pub const FILE_BYTES_MAX: usize = producer_snapshot::FILE_BYTES_MAX + FIXED_BYTES;

/// What the file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecoveryProducers {
    /// Where the producers were like that.
    pub offset: Offset,
    /// What was appended between the latest snapshot and the offset.
    pub bytes_since_snapshot: u64,
    /// How many entries the indexes of the segment had that the offset lies in or behind: offset, time.
    pub index_entries: (u32, u32),
    /// The producers' batches.
    pub entries: Vec<SnapshotEntry>,
}

/// The file's bytes, of a producer snapshot's.
pub fn encode(
    offset: Offset,
    bytes_since_snapshot: u64,
    index_entries: (u32, u32),
    snapshot: &[u8],
) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(FIXED_BYTES + snapshot.len());
    // Magic number and checksum.
    bytes.extend_from_slice(&[0; 8]);
    bytes.extend_from_slice(&offset.get().to_be_bytes());
    bytes.extend_from_slice(&bytes_since_snapshot.to_be_bytes());
    bytes.extend_from_slice(&index_entries.0.to_be_bytes());
    bytes.extend_from_slice(&index_entries.1.to_be_bytes());
    bytes.extend_from_slice(snapshot);
    FILE.seal(&mut bytes);
    bytes
}

/// What the file says.
///
/// # Errors
/// It is not as it was written.
pub fn decode(bytes: &[u8]) -> Result<RecoveryProducers, FormatError> {
    FILE.check(bytes)?;
    Ok(RecoveryProducers {
        offset: Offset(be!(i64, bytes, 8).max(0)),
        bytes_since_snapshot: be!(u64, bytes, 16),
        index_entries: (be!(u32, bytes, 24), be!(u32, bytes, 28)),
        entries: producer_snapshot::decode(&bytes[FIXED_BYTES..])?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fanlog_model::{ProducerEpoch, ProducerId, TimestampMs};
    use proptest::prelude::*;

    fn entry(id: i64, last_offset: i64) -> SnapshotEntry {
        SnapshotEntry {
            producer_id: ProducerId(id),
            producer_epoch: ProducerEpoch(1),
            last_sequence: 2,
            last_offset: Offset(last_offset),
            offset_delta: 3,
            timestamp: TimestampMs(4),
            coordinator_epoch: -1,
            current_txn_first_offset: Offset(-1),
        }
    }

    #[test]
    fn any_flipped_bit_and_any_cut_is_noticed() {
        let bytes = encode(
            Offset(77),
            9,
            (3, 4),
            &producer_snapshot::encode(&[entry(1, 2)]),
        );
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(decode(&damaged).is_err(), "bit {bit}");
        }
        for length in 0..bytes.len() {
            assert!(decode(&bytes[..length]).is_err(), "{length} bytes");
        }
    }

    proptest! {
        #[test]
        fn it_round_trips(offset in 0..i64::MAX, bytes_since_snapshot: u64, index_entries: (u32, u32), ids in proptest::collection::vec(0..i64::MAX, 0..9)) {
            let entries: Vec<_> = ids.iter().map(|id| entry(*id, id / 2)).collect();
            let bytes = encode(Offset(offset), bytes_since_snapshot, index_entries, &producer_snapshot::encode(&entries));
            let expected = RecoveryProducers { offset: Offset(offset), bytes_since_snapshot, index_entries, entries };
            prop_assert_eq!(decode(&bytes), Ok(expected));
        }

        #[test]
        fn any_bytes_are_decoded_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            let _ = decode(&bytes);
        }
    }
}
