//! Which partition a record goes to: as the Java client decides, so that a key stays where other publishers put it.

use std::sync::atomic::{AtomicU64, Ordering};

/// Kafka's hash of keys: murmur2 with a fixed seed.
pub fn murmur2(bytes: &[u8]) -> u32 {
    const SEED: u32 = 0x9747_b28c;
    const MULTIPLIER: u32 = 0x5bd1_e995;
    const SHIFT: u32 = 24;
    // Java's lengths are 31 bits; what is longer cannot be a key.
    let mut hash = SEED ^ bytes.len() as u32;
    let mut words = bytes.chunks_exact(4);
    for word in &mut words {
        let mut mixed = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
        mixed = mixed.wrapping_mul(MULTIPLIER);
        mixed ^= mixed >> SHIFT;
        mixed = mixed.wrapping_mul(MULTIPLIER);
        hash = hash.wrapping_mul(MULTIPLIER) ^ mixed;
    }
    let tail = words.remainder();
    for (at, byte) in tail.iter().enumerate() {
        hash ^= u32::from(*byte) << (8 * at);
    }
    if !tail.is_empty() {
        hash = hash.wrapping_mul(MULTIPLIER);
    }
    hash ^= hash >> 13;
    hash = hash.wrapping_mul(MULTIPLIER);
    hash ^ (hash >> 15)
}

/// The partition of a key among `count` partitions.
///
/// # Panics
/// When there are no partitions.
pub fn partition_for_key(key: &[u8], count: u32) -> u32 {
    // The sign is cut off, not turned: Java's `toPositive`.
    (murmur2(key) & 0x7fff_ffff) % count
}

/// Where records without a key go: to one partition until a batch's worth of bytes went there, then to the next. So batches fill, and
/// over time every partition gets as much.
#[derive(Debug)]
pub(crate) struct StickyPartitioner {
    bytes: AtomicU64,
    batch_bytes: u64,
}

impl StickyPartitioner {
    /// Starts at the partition that `start` falls on, which should differ from producer to producer.
    pub(crate) fn new(start: u64, batch_bytes: usize) -> Self {
        let batch_bytes = batch_bytes.max(1) as u64;
        let start = start % (1 << 20);
        Self {
            bytes: AtomicU64::new(start * batch_bytes),
            batch_bytes,
        }
    }

    /// The partition of a record of this size.
    pub(crate) fn partition(&self, record_bytes: usize, count: u32) -> u32 {
        let before = self.bytes.fetch_add(record_bytes as u64, Ordering::Relaxed);
        let number = (before / self.batch_bytes) % u64::from(count);
        u32::try_from(number).expect("less than a 32-bit count")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_hash_as_javas_do() {
        // The expected values are what org.apache.kafka.common.utils.Utils.murmur2 of Kafka 4.4 gives.
        let check = |key: &str, expected: i32| {
            assert_eq!(murmur2(key.as_bytes()) as i32, expected, "{key:?}");
        };
        check("", 275646681);
        check("a", -1563381124);
        check("ab", 316155434);
        check("abc", 479470107);
        check("abcd", -1323649548);
        check("order-4711", 1584983611);
        check("a-little-bit-long-string", -985981536);
        check("äöü", -2070914556);
        check("key-0", 29210041);
        check("2147483647", -427214283);
    }

    #[test]
    fn records_without_a_key_fill_one_partition_after_the_other() {
        let sticky = StickyPartitioner::new(1, 100);
        let went: Vec<_> = (0..8).map(|_| sticky.partition(50, 3)).collect();
        assert_eq!(went, [1, 1, 2, 2, 0, 0, 1, 1]);
    }
}
