//! What happened, as lines: hashed, so that two runs can be compared, and printed where somebody wants to read them.

/// The lines of one run.
#[derive(Debug)]
pub(crate) struct Trace {
    hash: u64,
    lines: u64,
    is_printed: bool,
}

impl Trace {
    pub(crate) fn new(is_printed: bool) -> Self {
        Self {
            hash: 0xcbf2_9ce4_8422_2325,
            lines: 0,
            is_printed,
        }
    }

    /// Notes that something happened.
    pub(crate) fn line(&mut self, text: &str) {
        self.lines += 1;
        if self.is_printed {
            eprintln!("{:>6} {text}", self.lines);
        }
        self.bytes(text.as_bytes());
    }

    /// Takes bytes into the hash (FNV-1a), with their length, so that moving a byte from one call to the next shows.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        let length = (bytes.len() as u64).to_le_bytes();
        for byte in bytes.iter().chain(&length) {
            self.hash = (self.hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    pub(crate) fn hash(&self) -> u64 {
        self.hash
    }

    pub(crate) fn lines(&self) -> u64 {
        self.lines
    }
}
