//! Pieces of logs that were read last, for those who read on in them.
//!
//! Why it exists: many consumers with small receives work through one piece; each would read and unpack it anew.
//! Owns: the bytes, within a bound.   Never: bytes of two lives or two filters of a queue in one.

use super::piece::Piece;
use fanlog_coordinators::catalog;
use fanlog_coordinators::queue::QueueKey;
use fanlog_model::Offset;
use parking_lot::Mutex;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// How many bytes all pieces take together, and of which part of the memory for queues at most.
const BYTES_MAX: usize = 32 * 1024 * 1024;
const PARTS: u64 = 4;
/// How many pieces of one partition are kept, those that were used last: at the cursor, and where records come again.
const PER_PARTITION_MAX: usize = 4;

#[derive(Debug, Default)]
pub(super) struct Pieces {
    kept: Mutex<KeptPieces>,
}

#[derive(Debug, Default)]
struct KeptPieces {
    of: HashMap<QueueKey, Vec<KeptPiece>>,
    /// The oldest first.
    by_age: BTreeMap<u64, QueueKey>,
    bytes: usize,
    next_age: u64,
}

#[derive(Debug)]
struct KeptPiece {
    age: u64,
    bytes: usize,
    /// Under which settings it was looked through.
    queue: Arc<catalog::Queue>,
    piece: Arc<Piece>,
}

impl Pieces {
    /// The piece that has what stands at an offset.
    pub(super) fn get(
        &self,
        key: &QueueKey,
        queue: &Arc<catalog::Queue>,
        offset: Offset,
    ) -> Option<Arc<Piece>> {
        let mut kept = self.kept.lock();
        let of_partition = kept.of.get_mut(key)?;
        let at = of_partition
            .iter()
            .position(|kept| kept.piece.covers(offset) && Arc::ptr_eq(&kept.queue, queue))?;
        // The one that is read on stays, however many are read for records that come again.
        of_partition[at..].rotate_left(1);
        of_partition.last().map(|found| found.piece.clone())
    }

    /// Keeps a piece for the next who reads there; `memory` is what all queues may take.
    pub(super) fn keep(
        &self,
        key: &QueueKey,
        queue: &Arc<catalog::Queue>,
        piece: &Arc<Piece>,
        memory: u64,
    ) {
        let bytes_max = usize::try_from(memory / PARTS).map_or(BYTES_MAX, |max| max.min(BYTES_MAX));
        let bytes = piece.bytes();
        if bytes > bytes_max / 2 {
            return;
        }
        let mut kept = self.kept.lock();
        let age = kept.next_age;
        kept.next_age += 1;
        kept.bytes += bytes;
        kept.by_age.insert(age, key.clone());
        let of_partition = kept.of.entry(key.clone()).or_default();
        of_partition.push(KeptPiece {
            age,
            bytes,
            queue: queue.clone(),
            piece: piece.clone(),
        });
        if of_partition.len() > PER_PARTITION_MAX {
            let oldest = of_partition[0].age;
            kept.remove(oldest);
        }
        while kept.bytes > bytes_max
            && let Some(oldest) = kept.by_age.keys().next().copied()
        {
            kept.remove(oldest);
        }
    }

    /// The queue's state of these is gone.
    pub(super) fn forget(&self, is_gone: impl Fn(&QueueKey) -> bool) {
        let mut kept = self.kept.lock();
        let gone = kept.by_age.iter().filter(|(_, key)| is_gone(key));
        let gone: Vec<u64> = gone.map(|(age, _)| *age).collect();
        for age in gone {
            kept.remove(age);
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.kept.lock().bytes
    }
}

impl KeptPieces {
    fn remove(&mut self, age: u64) {
        let Some(key) = self.by_age.remove(&age) else {
            return;
        };
        let Some(of_partition) = self.of.get_mut(&key) else {
            return;
        };
        if let Some(at) = of_partition.iter().position(|kept| kept.age == age) {
            self.bytes -= of_partition.remove(at).bytes;
        }
        if of_partition.is_empty() {
            self.of.remove(&key);
        }
    }
}
