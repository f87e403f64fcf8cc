//! Buffers that batches are unpacked into, kept from one append to the next.
//!
//! Why it exists: to reserve and clear a buffer costs as much as to unpack a usual batch into it, and the thread that appends may be
//! another one each time.
//! Owns: the few buffers that wait.   Never: one that holds on to what a large batch took.
//! Invariants: OPS-1.

use fanlog_protocol::records::{Compression, Decompressor};
use parking_lot::Mutex;

/// How many buffers wait at most, a few megabytes each.
const WAITING_MAX: usize = 8;

/// The last that came goes first: the processor's cache still knows it.
static WAITING: Mutex<Vec<Decompressor>> = Mutex::new(Vec::new());

/// A buffer for one append, taken from those that wait once a compressed batch needs it.
#[derive(Debug, Default)]
pub(super) struct Unpacker {
    buffer: Decompressor,
    is_taken: bool,
}

impl Unpacker {
    /// The buffer, for a batch of this compression.
    pub(super) fn buffer(&mut self, compression: Compression) -> &mut Decompressor {
        if compression != Compression::None && !self.is_taken {
            self.buffer = WAITING.lock().pop().unwrap_or_default();
            self.is_taken = true;
        }
        &mut self.buffer
    }
}

impl Drop for Unpacker {
    fn drop(&mut self) {
        if !self.is_taken {
            return;
        }
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.trim();
        let mut waiting = WAITING.lock();
        if waiting.len() < WAITING_MAX {
            waiting.push(buffer);
        }
    }
}
