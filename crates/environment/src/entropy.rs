//! Chance: from the kernel, or from a seed.

use parking_lot::Mutex;
use std::fmt;
use uuid::Uuid;

/// Where random bytes come from.
pub trait Entropy: fmt::Debug + Send + Sync {
    /// Fills `out` with random bytes.
    fn fill(&self, out: &mut [u8]);

    /// A random (version 4) id whose base64 form does not begin with `-`, as Kafka draws them: such an id would be
    /// taken for a flag on a command line.
    fn uuid(&self) -> Uuid {
        const DASH_IN_BASE64: u8 = 62;
        loop {
            let mut bytes = [0; 16];
            self.fill(&mut bytes);
            if bytes[0] >> 2 != DASH_IN_BASE64 {
                return uuid::Builder::from_random_bytes(bytes).into_uuid();
            }
        }
    }

    /// A random number.
    fn u64(&self) -> u64 {
        let mut bytes = [0; 8];
        self.fill(&mut bytes);
        u64::from_le_bytes(bytes)
    }
}

/// The kernel's random bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct OsEntropy;

impl Entropy for OsEntropy {
    fn fill(&self, out: &mut [u8]) {
        getrandom::fill(out).expect("getrandom(2) does not fail once the machine has booted");
    }
}

/// Bytes that follow from a seed. Not for secrets.
#[derive(Debug)]
pub struct SeededEntropy {
    state: Mutex<SplitMix>,
}

impl SeededEntropy {
    /// The sequence that belongs to `seed`.
    pub fn new(seed: u64) -> Self {
        Self {
            state: Mutex::new(SplitMix::new(seed)),
        }
    }
}

impl Entropy for SeededEntropy {
    fn fill(&self, out: &mut [u8]) {
        let mut state = self.state.lock();
        for chunk in out.chunks_mut(8) {
            chunk.copy_from_slice(&state.next().to_le_bytes()[..chunk.len()]);
        }
    }
}

/// SplitMix64: a counter and a mix of shifts and multiplications. Passes the usual statistical tests, needs 8 bytes.
#[derive(Clone, Debug)]
pub(crate) struct SplitMix(u64);

impl SplitMix {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, which is not 0. The bias is far below what tests could tell.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let drawn = self.next() % bound as u64;
        usize::try_from(drawn).expect("it is below a usize")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_bytes_and_another_seed_gives_others() {
        let draw = |seed| {
            let mut bytes = [0; 37];
            SeededEntropy::new(seed).fill(&mut bytes);
            bytes
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }

    #[test]
    fn the_sequence_of_seed_zero_is_that_of_the_reference() {
        let mut splitmix = SplitMix::new(0);
        assert_eq!(splitmix.next(), 0xe220_a839_7b1d_cdaf);
        assert_eq!(splitmix.next(), 0x6e78_9e6a_a1b9_65f4);
    }

    #[test]
    fn ids_are_version_4_and_never_look_like_a_flag() {
        let entropy = SeededEntropy::new(3);
        for _ in 0..2_000 {
            let id = entropy.uuid();
            assert_eq!(id.get_version_num(), 4);
            assert_ne!(id.as_bytes()[0] >> 2, 62);
        }
        assert_ne!(OsEntropy.uuid(), OsEntropy.uuid());
    }
}
