//! What waits to be committed: records of many logs, in one buffer.

use super::format::ENTRY_BYTES;
use super::{Entry, LogId};
use fanlog_model::{LeaderEpoch, Offset};

/// A buffer that has grown beyond this is given back when it is emptied.
const KEPT_BYTES_MAX: usize = 32 * 1024 * 1024;

/// Records that are not committed yet, in the order in which their logs took them.
#[derive(Debug, Default)]
pub struct Pending {
    pub(super) entries: Vec<Entry>,
    pub(super) payload: Vec<u8>,
}

impl Pending {
    /// Takes in the batches that a log was appended.
    pub fn push(
        &mut self,
        log: LogId,
        leader_epoch: LeaderEpoch,
        offsets: std::ops::Range<Offset>,
        batches: &[u8],
    ) {
        self.entries.push(Entry {
            log,
            leader_epoch,
            base: offsets.start,
            next: offsets.end,
            bytes: u32::try_from(batches.len()).expect("a log's appends have less than 2 GiB"),
        });
        self.payload.extend_from_slice(batches);
    }

    /// Takes in the note that below `end` the log's segments are durable.
    pub fn push_synced(&mut self, log: LogId, leader_epoch: LeaderEpoch, end: Offset) {
        self.push(log, leader_epoch, end..end, &[]);
    }

    /// All but the records of some logs, and which of them those are.
    #[must_use]
    pub fn without(&self, is_left_out: impl Fn(LogId) -> bool) -> (Self, Vec<usize>) {
        let (mut kept, mut positions) = (Self::default(), Vec::new());
        let mut at = 0;
        for (i, entry) in self.entries.iter().enumerate() {
            let end = at + entry.bytes as usize;
            if !is_left_out(entry.log) {
                kept.entries.push(*entry);
                kept.payload.extend_from_slice(&self.payload[at..end]);
                positions.push(i);
            }
            at = end;
        }
        (kept, positions)
    }

    /// How many records (runs of batches) there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The bytes that they take.
    pub fn bytes(&self) -> usize {
        self.payload.len() + self.entries.len() * ENTRY_BYTES
    }

    /// Empties it, for the next use.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.payload.clear();
        if self.payload.capacity() > KEPT_BYTES_MAX {
            self.payload = Vec::new();
        }
    }
}
