//! `checkpoint`: which of the journal's files still count, and how far each log's segments are durable.
//!
//! ```text
//! big-endian
//!   0   u64 "FLJCKPT1"        8   u32 crc of all that follows      12  u32 how many live files
//!   16  u64 next epoch        24  u32 how many logs                28  u64 for each live file: its epoch
//!   then, for each log: 16 topic id, i32 partition, i64 recovery point
//! ```
//! A file with the next epoch or a later one counts as well. It is replaced as a whole, durably, before a file is used again. One
//! file for all logs: with a mark of its own for each of a thousand logs there would be a thousand syncs for each file used again.

use super::LogId;
use fanlog_model::{Offset, PartitionIndex, TopicId};
use std::collections::HashMap;
use uuid::Uuid;

pub(super) const FILE: &str = "checkpoint";
const MAGIC: u64 = u64::from_be_bytes(*b"FLJCKPT1");
const FIXED_BYTES: usize = 28;
const LOG_BYTES: usize = 28;
/// Room for a million logs.
pub(super) const FILE_BYTES_MAX: usize = 32 * 1024 * 1024;

/// The file's content.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Checkpoint {
    pub(super) next_epoch: u64,
    pub(super) live: Vec<u64>,
    pub(super) points: HashMap<LogId, Offset>,
}

impl Checkpoint {
    /// Whether a file in this use still counts.
    pub(super) fn is_live(&self, epoch: u64) -> bool {
        epoch >= self.next_epoch || self.live.contains(&epoch)
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(FIXED_BYTES + self.points.len() * LOG_BYTES);
        let count = |length: usize| u32::try_from(length).unwrap_or(u32::MAX).to_be_bytes();
        bytes.extend_from_slice(&MAGIC.to_be_bytes());
        bytes.extend_from_slice(&[0; 4]);
        bytes.extend_from_slice(&count(self.live.len()));
        bytes.extend_from_slice(&self.next_epoch.to_be_bytes());
        bytes.extend_from_slice(&count(self.points.len()));
        for epoch in &self.live {
            bytes.extend_from_slice(&epoch.to_be_bytes());
        }
        let mut points: Vec<_> = self.points.iter().collect();
        points.sort_unstable();
        for (log, point) in points {
            bytes.extend_from_slice(log.topic_id.0.as_bytes());
            bytes.extend_from_slice(&log.partition.0.to_be_bytes());
            bytes.extend_from_slice(&point.get().to_be_bytes());
        }
        let crc = crc32c::crc32c(&bytes[12..]);
        bytes[8..12].copy_from_slice(&crc.to_be_bytes());
        bytes
    }

    /// Nothing where the bytes are not as they were written.
    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let is_whole = u64::from_be_bytes(*bytes.first_chunk()?) == MAGIC
            && u32_at(bytes, 8)? == crc32c::crc32c(bytes.get(12..)?);
        if !is_whole {
            return None;
        }
        let (live, logs) = (u32_at(bytes, 12)? as usize, u32_at(bytes, 24)? as usize);
        let rest = bytes.get(FIXED_BYTES..)?;
        let (epochs, points) = rest.split_at_checked(live.checked_mul(8)?)?;
        if points.len() != logs.checked_mul(LOG_BYTES)? {
            return None;
        }
        let epochs = epochs.chunks_exact(8).filter_map(|e| e.first_chunk());
        let points = points.chunks_exact(LOG_BYTES).filter_map(|point| {
            let log = LogId {
                topic_id: TopicId(Uuid::from_bytes(*point.first_chunk()?)),
                partition: PartitionIndex(i32::from_be_bytes(*point.get(16..)?.first_chunk()?)),
            };
            let offset = i64::from_be_bytes(*point.get(20..)?.first_chunk()?);
            Some((log, Offset(offset.max(0))))
        });
        Some(Self {
            next_epoch: u64::from_be_bytes(*bytes.get(16..)?.first_chunk()?),
            live: epochs.copied().map(u64::from_be_bytes).collect(),
            points: points.collect(),
        })
    }
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn checkpoint(live: Vec<u64>, points: &[(u128, i32, i64)]) -> Checkpoint {
        let point = |(id, partition, offset): &(u128, i32, i64)| {
            let log = LogId {
                topic_id: TopicId(Uuid::from_u128(*id)),
                partition: PartitionIndex(*partition),
            };
            (log, Offset(*offset))
        };
        Checkpoint {
            next_epoch: 77,
            live,
            points: points.iter().map(point).collect(),
        }
    }

    proptest! {
        #[test]
        fn a_checkpoint_round_trips(live in proptest::collection::vec(any::<u64>(), 0..9), points in proptest::collection::vec((any::<u128>(), 0..9_i32, 0..i64::MAX), 0..9)) {
            let checkpoint = checkpoint(live, &points);
            prop_assert_eq!(Checkpoint::decode(&checkpoint.encode()), Some(checkpoint));
        }

        #[test]
        fn any_bytes_are_decoded_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            let _ = Checkpoint::decode(&bytes);
        }
    }

    #[test]
    fn any_flipped_bit_is_noticed() {
        let bytes = checkpoint(vec![1, 2], &[(1, 2, 3)]).encode();
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Checkpoint::decode(&damaged), None, "bit {bit}");
        }
        assert_eq!(Checkpoint::decode(&bytes[..bytes.len() - 1]), None);
    }
}
