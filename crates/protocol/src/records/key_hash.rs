//! Which partition a key goes to: as the Java client decides, so that a key stays where other publishers put it.

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
}
