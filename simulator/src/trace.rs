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

    /// Takes bytes into the hash, with their length, so that moving a byte from one call to the next shows. It is FNV-1a, by words
    /// of eight bytes, and a rotation that brings what a multiplication moved up back down.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.word(u64::from_le_bytes(*word));
        }
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.word(u64::from_le_bytes(last));
        self.word(bytes.len() as u64);
    }

    fn word(&mut self, word: u64) {
        let mixed = (self.hash ^ word).wrapping_mul(0x0000_0100_0000_01b3);
        self.hash = mixed.rotate_left(29);
    }

    pub(crate) fn hash(&self) -> u64 {
        self.hash
    }

    pub(crate) fn lines(&self) -> u64 {
        self.lines
    }
}
