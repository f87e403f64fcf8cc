//! `recovery-mark`: up to where the log is known to be durable. Ours; Kafka has `recovery-point-offset-checkpoint` instead.
//!
//! ```text
//! 24 bytes, big-endian:
//!   0        4                12       20       24
//!   +--------+----------------+--------+--------+
//!   | magic  |     offset     |reserved|  crc   |
//!   +--------+----------------+--------+--------+
//! magic     u32  "FRM1"
//! offset    i64  every batch below it was synced
//! reserved  8 bytes of zero
//! crc       u32  CRC-32C of the 20 bytes before it
//! ```
//! Overwritten in place after each sync of the log, within one sector: an atomic replacement would cost two syncs and a
//! rename each time. A mark that is older than the truth only makes recovery read more; an unreadable one counts as 0.

use super::own_file::{Checksum, OwnFile};
use super::{FormatError, be};
use fanlog_model::Offset;

/// The file's length.
pub const FILE_BYTES: usize = 24;
const FILE: OwnFile = OwnFile {
    name: "recovery-mark",
    magic: u32::from_be_bytes(*b"FRM1"),
    bytes: FILE_BYTES,
    length: "24",
    checksum: Checksum::AtEnd,
};

/// The file's bytes.
pub fn encode(durable: Offset) -> [u8; FILE_BYTES] {
    let mut bytes = [0; FILE_BYTES];
    bytes[4..12].copy_from_slice(&durable.get().to_be_bytes());
    FILE.seal(&mut bytes);
    bytes
}

/// The offset in the file.
///
/// # Errors
/// The length, magic or checksum is wrong.
pub fn decode(bytes: &[u8]) -> Result<Offset, FormatError> {
    FILE.check(bytes)?;
    Ok(Offset(be!(i64, bytes, 4).max(0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn any_flipped_bit_is_noticed() {
        let bytes = encode(Offset(0x0102_0304_0506));
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes;
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(decode(&damaged).is_err(), "bit {bit}");
        }
        assert!(decode(&bytes[..23]).is_err());
    }

    proptest! {
        #[test]
        fn a_mark_round_trips(offset in 0..i64::MAX) {
            prop_assert_eq!(decode(&encode(Offset(offset))), Ok(Offset(offset)));
        }
    }
}
