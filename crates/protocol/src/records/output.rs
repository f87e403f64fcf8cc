//! The memory that batches are decompressed into, never beyond its limit.
//!
//! Why it exists: to zero a buffer for every batch costs about as much as to decompress into it. What was written once stays
//! initialised, and how much of it belongs to the present batch is counted apart.
//! Owns: the bytes of one batch at a time.   Never: the memory that a claim asks for before bytes came to fill it.
//! Invariants: OPS-1.

/// What is kept from one batch to the next.
pub(super) const KEPT_BYTES_MAX: usize = 4 * 1024 * 1024;
/// The step by which output grows where its size isn't known: what a false claim can cost at most.
const STEP_BYTES: usize = 64 * 1024;

/// Bytes that were written, and initialised room behind them that holds leftovers of earlier batches.
#[derive(Debug)]
pub(super) struct Output {
    bytes: Vec<u8>,
    filled: usize,
    limit: usize,
}

/// The output would go beyond its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Full;

/// Why compressed bytes are refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    TooLarge,
    Corrupt(String),
}

impl From<&str> for Refused {
    fn from(reason: &str) -> Self {
        Self::Corrupt(reason.to_owned())
    }
}

impl From<Full> for Refused {
    fn from(Full: Full) -> Self {
        Self::TooLarge
    }
}

impl Output {
    pub(super) const fn new(limit: usize) -> Self {
        Self {
            bytes: Vec::new(),
            filled: 0,
            limit,
        }
    }

    pub(super) const fn limit(&self) -> usize {
        self.limit
    }

    /// Begins anew, and gives back what one large batch took.
    pub(super) fn trim(&mut self) {
        self.filled = 0;
        self.bytes.truncate(KEPT_BYTES_MAX);
        self.bytes.shrink_to(KEPT_BYTES_MAX);
    }

    pub(super) fn filled(&self) -> &[u8] {
        &self.bytes[..self.filled]
    }

    /// How much more may come.
    pub(super) const fn left(&self) -> usize {
        self.limit - self.filled
    }

    /// Room for `count` bytes behind those that are filled.
    pub(super) fn room(&mut self, count: usize) -> Result<&mut [u8], Full> {
        if count > self.left() {
            return Err(Full);
        }
        let end = self.filled + count;
        if self.bytes.len() < end {
            self.bytes.resize(end, 0);
        }
        Ok(&mut self.bytes[self.filled..end])
    }

    /// The next step of an output whose size isn't known: never nothing, so that one byte too many shows as such.
    pub(super) fn step(&mut self) -> &mut [u8] {
        let ready = self.bytes.len() - self.filled;
        let room = ready.max(STEP_BYTES.max(self.filled)).min(self.left() + 1);
        let end = self.filled + room;
        if self.bytes.len() < end {
            self.bytes.resize(end, 0);
        }
        &mut self.bytes[self.filled..end]
    }

    /// Counts what was written into the room.
    pub(super) fn advance(&mut self, count: usize) -> Result<(), Full> {
        if count > self.left() {
            return Err(Full);
        }
        assert!(
            self.filled + count <= self.bytes.len(),
            "OPS-1: more was written than there was room for"
        );
        self.filled += count;
        Ok(())
    }

    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.bytes.capacity()
    }
}
