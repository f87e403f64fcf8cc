//! How much memory the transactional ids of all machines take together. The limit is one for the broker; each machine is told what the
//! others take, and decides.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The sum over all machines.
#[derive(Debug, Default)]
pub(super) struct TransactionMemory {
    bytes: AtomicUsize,
    /// Whether the operator was told since there was room last.
    is_told: AtomicBool,
}

/// One machine's part; it is given back with the machine.
#[derive(Debug)]
pub(super) struct MemoryShare {
    memory: Arc<TransactionMemory>,
    bytes: usize,
}

impl TransactionMemory {
    pub(super) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    pub(super) fn share(self: &Arc<Self>) -> MemoryShare {
        MemoryShare {
            memory: self.clone(),
            bytes: 0,
        }
    }
}

impl MemoryShare {
    /// What the other machines take.
    pub(super) fn elsewhere(&self) -> usize {
        self.memory.bytes().saturating_sub(self.bytes)
    }

    /// The machine now takes so much, and has refused so often.
    pub(super) fn note(&mut self, bytes: usize, refused: u64, limit: usize) {
        // First up, then down: the sum of others must not go below zero.
        self.memory.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.memory.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
        self.bytes = bytes;
        if refused > 0 {
            if !self.memory.is_told.swap(true, Ordering::Relaxed) {
                let bytes = self.memory.bytes();
                tracing::warn!(
                    bytes,
                    limit,
                    "transactional ids take the memory of fanlog.transactions.memory.bytes: new ones are refused; raise it, or lower transactional.id.expiration.ms"
                );
            }
        } else if self.memory.bytes() < limit / 10 * 9 {
            self.memory.is_told.store(false, Ordering::Relaxed);
        }
    }
}

impl Drop for MemoryShare {
    fn drop(&mut self) {
        self.memory.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}
