//! How much memory the machines of one kind take together: groups, or transactional ids.
//!
//! Why it exists: the limit is one for the broker; each machine is told what the others take, and decides.
//! Never: refuses; the machine does.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// The sum over all machines, and what was refused for it.
#[derive(Debug)]
pub(crate) struct MachineMemory {
    /// What the operator is told when something is refused.
    full: &'static str,
    bytes: AtomicUsize,
    refused: AtomicU64,
    /// Whether the operator was told since there was room last.
    is_told: AtomicBool,
}

/// One machine's part; it is given back with the machine.
#[derive(Debug)]
pub(crate) struct MemoryShare {
    memory: Arc<MachineMemory>,
    bytes: usize,
}

impl MachineMemory {
    /// Nothing is taken yet; `full` says what to do when all is.
    pub(crate) fn new(full: &'static str) -> Self {
        Self {
            full,
            bytes: AtomicUsize::new(0),
            refused: AtomicU64::new(0),
            is_told: AtomicBool::new(false),
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    pub(crate) fn share(self: &Arc<Self>) -> MemoryShare {
        MemoryShare {
            memory: self.clone(),
            bytes: 0,
        }
    }
}

impl MemoryShare {
    /// What the other machines take.
    pub(crate) fn elsewhere(&self) -> usize {
        self.memory.bytes().saturating_sub(self.bytes)
    }

    /// The machine now takes so much, and has refused so often.
    pub(crate) fn note(&mut self, bytes: usize, refused: u64, limit: usize) {
        // First up, then down: the sum of others must not go below zero.
        self.memory.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.memory.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
        self.bytes = bytes;
        if refused > 0 {
            self.memory.refused.fetch_add(refused, Ordering::Relaxed);
            if !self.memory.is_told.swap(true, Ordering::Relaxed) {
                let (bytes, full) = (self.memory.bytes(), self.memory.full);
                tracing::warn!(bytes, limit, "{full}");
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
