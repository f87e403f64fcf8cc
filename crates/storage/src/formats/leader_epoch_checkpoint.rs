//! `leader-epoch-checkpoint`: at which offset each leader epoch began.
//!
//! ```text
//! 0\n
//! <count>\n
//! <epoch> <start offset>\n   both rising
//! ```

use super::{FormatError, text_checkpoint};
use fanlog_model::{LeaderEpoch, Offset};

pub use super::text_checkpoint::FILE_BYTES_MAX;

const FILE: &str = "leader-epoch-checkpoint";

/// The first offset of an epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EpochEntry {
    /// The epoch.
    pub epoch: LeaderEpoch,
    /// Where it began.
    pub start_offset: Offset,
}

/// The file's bytes.
pub fn encode(entries: &[EpochEntry]) -> Vec<u8> {
    let line = |entry: &EpochEntry| format!("{} {}", entry.epoch, entry.start_offset);
    text_checkpoint::encode(entries.iter().map(line))
}

/// The file's entries.
///
/// # Errors
/// A line is unreadable, or the entries do not rise.
pub fn decode(bytes: &[u8]) -> Result<Vec<EpochEntry>, FormatError> {
    let entries = text_checkpoint::decode(FILE, bytes, |line| {
        let (epoch, start_offset) = line.split_once(' ')?;
        Some(EpochEntry {
            epoch: LeaderEpoch(epoch.parse().ok().filter(|epoch| *epoch >= 0)?),
            start_offset: Offset(start_offset.parse().ok().filter(|offset| *offset >= 0)?),
        })
    })?;
    let falls = |pair: &[EpochEntry]| {
        pair[0].epoch >= pair[1].epoch || pair[0].start_offset >= pair[1].start_offset
    };
    match entries.windows(2).position(falls) {
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

    fn entry(epoch: i32, start_offset: i64) -> EpochEntry {
        EpochEntry {
            epoch: LeaderEpoch(epoch),
            start_offset: Offset(start_offset),
        }
    }

    #[test]
    fn the_file_has_the_bytes_that_kafka_4_4_writes() {
        let entries = [entry(1, 0), entry(3, 120)];
        assert_eq!(encode(&entries), b"0\n2\n1 0\n3 120\n");
        assert_eq!(decode(b"0\n2\n1 0\n3 120\n"), Ok(entries.to_vec()));
    }

    #[test]
    fn damage_is_noticed() {
        for bytes in [
            &b""[..],
            b"0\n",
            b"1\n0\n",
            b"0\n2\n1 0\n",
            b"0\n1\n1 0\n3 120\n",
            b"0\n2\n3 0\n1 120\n",
            b"0\n1\n1 x\n",
            b"0\n1\n1 12",
            b"0\n1\n-1 12\n",
            b"\xff\n",
        ] {
            assert!(
                decode(bytes).is_err(),
                "{:?}",
                String::from_utf8_lossy(bytes)
            );
        }
    }

    proptest! {
        #[test]
        fn entries_round_trip(steps in prop::collection::vec((1i32..1000, 1i64..1_000_000), 0..20)) {
            let mut entries = Vec::new();
            let (mut epoch, mut offset) = (0, 0);
            for (epoch_step, offset_step) in steps {
                entries.push(entry(epoch, offset));
                epoch += epoch_step;
                offset += offset_step;
            }
            prop_assert_eq!(decode(&encode(&entries)), Ok(entries));
        }
    }
}
