//! A small number in a file that is overwritten in place: it survives a crash at any moment, and takes no space that the
//! disk may not have.
//!
//! Why it exists: replacing a file as a whole needs room for a second one, and a full disk has none, just when an
//! operator must start the broker to make room.
//! In -> out: a number -> the same number, or the one before where a crash cut the writing off.
//!
//! ```text
//! two slots, at bytes 0 and 4096, each in one sector; the file has 8192 bytes; big-endian:
//!   0        4                12               20       24
//!   +--------+----------------+----------------+--------+
//!   | magic  |     round      |     value      |  crc   |
//!   +--------+----------------+----------------+--------+
//! magic  u32  "FTS1"
//! round  u64  rises with every write; its parity says which slot it is in
//! value  i64
//! crc    u32  CRC-32C of the 20 bytes before it
//! ```
//! The slot with the higher round counts. A write goes to the other one, and only once this one is known to be on the
//! disk: so a torn write leaves the value before it.

use fanlog_environment::{Disk, DiskFile, OpenMode, read_bounded, write_atomically};
use std::io;
use std::path::Path;
use std::sync::Arc;

const MAGIC: &[u8; 4] = b"FTS1";
const SLOT_BYTES: usize = 24;
/// The slots lie in pages of their own: no write of one touches the other.
const STRIDE: usize = 4096;
const FILE_BYTES: usize = 2 * STRIDE;

/// The open file.
#[derive(Debug)]
pub(crate) struct TwoSlots {
    file: Arc<dyn DiskFile>,
    round: u64,
    value: i64,
}

impl TwoSlots {
    /// Makes the file, or replaces what is there, durably.
    pub(crate) fn create(disk: &dyn Disk, path: &Path, value: i64) -> io::Result<Self> {
        let mut bytes = vec![0; FILE_BYTES];
        let round = 0;
        bytes[..SLOT_BYTES].copy_from_slice(&encode(round, value));
        write_atomically(disk, path, &bytes)?;
        let file = disk.open(path, OpenMode::ReadWrite)?;
        Ok(Self { file, round, value })
    }

    /// Opens the file, if there is one. What it says is durable on return.
    ///
    /// # Errors
    /// `InvalidData` where neither slot is whole.
    pub(crate) fn open(disk: &dyn Disk, path: &Path) -> io::Result<Option<Self>> {
        let bytes = match read_bounded(disk, path, FILE_BYTES) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let slot = |at: usize| bytes.get(at..at + SLOT_BYTES).and_then(decode);
        let (round, value) = slot(0).max(slot(STRIDE)).ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidData, "neither of its slots is whole")
        })?;
        let slots = Self {
            file: disk.open(path, OpenMode::ReadWrite)?,
            round,
            value,
        };
        // An earlier process may have written this, or made the file, without being told that it is on the disk. The
        // next write replaces the slot before it, so this one must be there first. The bytes are the same: nothing
        // can be torn.
        slots.write(round, value)?;
        disk.sync_dir(path.parent().unwrap_or(Path::new("")))?;
        Ok(Some(slots))
    }

    pub(crate) fn value(&self) -> i64 {
        self.value
    }

    /// Makes `value` the file's, durably. After an error it is either of the two.
    pub(crate) fn replace(&mut self, value: i64) -> io::Result<()> {
        // Where this fails the next attempt writes to the same slot, and the good one stays.
        self.write(self.round + 1, value)?;
        self.round += 1;
        self.value = value;
        Ok(())
    }

    fn write(&self, round: u64, value: i64) -> io::Result<()> {
        let at = if round.is_multiple_of(2) { 0 } else { STRIDE };
        self.file.write_all_at(&encode(round, value), at as u64)?;
        self.file.sync_data()
    }
}

fn encode(round: u64, value: i64) -> [u8; SLOT_BYTES] {
    let mut bytes = [0; SLOT_BYTES];
    bytes[..4].copy_from_slice(MAGIC);
    bytes[4..12].copy_from_slice(&round.to_be_bytes());
    bytes[12..20].copy_from_slice(&value.to_be_bytes());
    let crc = crc32c::crc32c(&bytes[..20]);
    bytes[20..].copy_from_slice(&crc.to_be_bytes());
    bytes
}

fn decode(slot: &[u8]) -> Option<(u64, i64)> {
    let (content, crc) = slot.split_at_checked(SLOT_BYTES - 4)?;
    let is_whole = crc == crc32c::crc32c(content).to_be_bytes();
    let (magic, numbers) = content.split_at(MAGIC.len());
    let (round, value) = numbers.split_at(8);
    let round = u64::from_be_bytes(round.try_into().ok()?);
    let value = i64::from_be_bytes(value.try_into().ok()?);
    (is_whole && magic == MAGIC && round < u64::MAX).then_some((round, value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fanlog_environment::SimulatedDisk;
    use fanlog_environment::simulated::FailedSync;

    const PATH: &str = "number";

    fn open(disk: &SimulatedDisk) -> TwoSlots {
        TwoSlots::open(disk, Path::new(PATH)).unwrap().unwrap()
    }

    #[test]
    fn a_slot_round_trips_and_any_flipped_bit_is_noticed() {
        let slot = encode(7, -9);
        assert_eq!(decode(&slot), Some((7, -9)));
        for bit in 0..slot.len() * 8 {
            let mut damaged = slot;
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(decode(&damaged), None, "bit {bit}");
        }
        assert_eq!(decode(&slot[..23]), None);
    }

    #[test]
    fn a_full_disk_takes_every_write_but_the_first() {
        let disk = SimulatedDisk::new(1);
        let path = Path::new(PATH);
        assert!(TwoSlots::open(&disk, path).unwrap().is_none());
        TwoSlots::create(&disk, path, 5).unwrap();
        disk.set_free_bytes(Some(0));
        for value in 6..10 {
            open(&disk).replace(value).unwrap();
            assert_eq!(open(&disk).value(), value);
        }
    }

    #[test]
    fn one_damaged_slot_leaves_the_other_and_two_are_an_error() {
        let disk = SimulatedDisk::new(2);
        let path = Path::new(PATH);
        TwoSlots::create(&disk, path, 5)
            .unwrap()
            .replace(6)
            .unwrap();
        disk.corrupt(path, STRIDE as u64 + 13, &[1]).unwrap();
        assert_eq!(open(&disk).value(), 5);
        disk.corrupt(path, 13, &[1]).unwrap();
        let error = TwoSlots::open(&disk, path).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }

    /// Lives one after the other, each cut off at some operation or at a failed sync, by a kill or a power cut: what was
    /// answered stays or is followed by what came next.
    #[test]
    fn no_crash_and_no_failed_sync_takes_back_what_was_answered() {
        for seed in 0..3_000 {
            let mut entropy = seed;
            let mut below = |bound: u64| {
                entropy = u64::wrapping_mul(entropy, 6_364_136_223_846_793_005) + 1;
                (entropy >> 33) % bound
            };
            let disk = SimulatedDisk::new(seed);
            TwoSlots::create(&disk, Path::new(PATH), 0).unwrap();
            let mut answered = 0;
            let mut written = 0;
            for _ in 0..8 {
                match below(3) {
                    0 => disk.fail_sync(below(4), FailedSync::Either),
                    _ => disk.crash_at(below(7)),
                }
                if let Ok(Some(mut slots)) = TwoSlots::open(&disk, Path::new(PATH)) {
                    let found = slots.value();
                    assert!(
                        (answered..=written).contains(&found),
                        "seed {seed}: {found}"
                    );
                    answered = found;
                    for _ in 0..=below(2) {
                        written += 1;
                        if slots.replace(written).is_ok() {
                            answered = written;
                        }
                    }
                }
                match below(2) {
                    0 => disk.crash(below(1 << 20)),
                    _ => disk.restart(),
                }
            }
            let found = open(&disk).value();
            assert!(
                (answered..=written).contains(&found),
                "seed {seed}: {found}"
            );
        }
    }
}
