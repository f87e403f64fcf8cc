//! `compaction-state`: where a log may have holes between its offsets, and which segments are being replaced. Ours, not Kafka's.
//!
//! ```text
//! 48 bytes, big-endian:
//!   0       4       8            16         24        32          40       44    48
//!   +-------+-------+------------+----------+---------+-----------+--------+-----+
//!   | magic | flags | holesBelow | swapBase | swapEnd | swapBytes |reserved| crc |
//!   +-------+-------+------------+----------+---------+-----------+--------+-----+
//! magic        u32  "FCS1"
//! flags        u32  bit 0: a swap is under way; else its three fields are 0
//! holesBelow   i64  segments that begin below may have holes between their batches
//! swapBase     i64  the segment that replaces others, and the first of those
//! swapEnd      i64  where the last of those ended
//! swapBytes    i64  the length of the new segment
//! reserved     4 bytes of zero
//! crc          u32  CRC-32C of the 44 bytes before it
//! ```
//! It is there once a log was compacted, whatever the topic's settings say later: what was removed does not come back.

use super::own_file::{Checksum, OwnFile};
use super::{FormatError, be};
use fanlog_model::Offset;

/// The file's length.
pub const FILE_BYTES: usize = 48;
const SWAP_BIT: u32 = 1;
const FILE: OwnFile = OwnFile {
    name: "compaction-state",
    magic: u32::from_be_bytes(*b"FCS1"),
    bytes: FILE_BYTES,
    length: "48",
    checksum: Checksum::AtEnd,
};

/// What compaction has done to a log, and what it is about to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CompactionState {
    /// Segments that begin below may have holes between their batches.
    pub holes_below: Offset,
    /// The segments that are being replaced.
    pub swap: Option<Swap>,
}

/// A cleaned segment takes the place of those that it was made of. Once this is durable it happens, whatever crashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Swap {
    /// Where the new segment begins, and the first of the old ones.
    pub base: Offset,
    /// Where the last of the old ones ended.
    pub end: Offset,
    /// The length of the new segment.
    pub bytes: u64,
}

/// The file's bytes.
pub fn encode(state: &CompactionState) -> [u8; FILE_BYTES] {
    let mut bytes = [0; FILE_BYTES];
    let mut put = |at: usize, field: &[u8]| bytes[at..at + field.len()].copy_from_slice(field);
    put(8, &state.holes_below.get().to_be_bytes());
    if let Some(swap) = &state.swap {
        put(4, &SWAP_BIT.to_be_bytes());
        put(16, &swap.base.get().to_be_bytes());
        put(24, &swap.end.get().to_be_bytes());
        put(32, &swap.bytes.to_be_bytes());
    }
    FILE.seal(&mut bytes);
    bytes
}

/// The state in the file.
///
/// # Errors
/// The length, magic or checksum is wrong.
pub fn decode(bytes: &[u8]) -> Result<CompactionState, FormatError> {
    FILE.check(bytes)?;
    let swap = Swap {
        base: Offset(be!(i64, bytes, 16)),
        end: Offset(be!(i64, bytes, 24)),
        bytes: be!(u64, bytes, 32),
    };
    Ok(CompactionState {
        holes_below: Offset(be!(i64, bytes, 8)),
        swap: (be!(u32, bytes, 4) & SWAP_BIT != 0).then_some(swap),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_state_round_trips_and_no_flipped_bit_passes(
            holes in 0..i64::MAX, swap in prop::option::of((0..i64::MAX, 0..i64::MAX, any::<u64>())),
            bit in 0..FILE_BYTES * 8,
        ) {
            let state = CompactionState {
                holes_below: Offset(holes),
                swap: swap.map(|(base, end, bytes)| Swap { base: Offset(base), end: Offset(end), bytes }),
            };
            let mut bytes = encode(&state);
            prop_assert_eq!(decode(&bytes), Ok(state));
            bytes[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(decode(&bytes).is_err());
        }
    }
}
