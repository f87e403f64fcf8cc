//! Which partition of `__consumer_offsets` holds a group, computed as Kafka's tools and clients do.

use fanlog_model::PartitionIndex;

/// The partition of a group among `count`; transactional ids and share-partitions are spread likewise.
pub(crate) fn partition_of_name(name: &str, count: i32) -> PartitionIndex {
    assert!(count > 0, "a topic has at least one partition");
    let hash = java_hash(name);
    // As Kafka does: the absolute value of the smallest number is taken to be zero.
    let positive = hash.checked_abs().unwrap_or(0);
    PartitionIndex(positive % count)
}

/// Java's `String.hashCode`, over UTF-16 units.
fn java_hash(text: &str) -> i32 {
    text.encode_utf16().fold(0_i32, |hash, unit| {
        hash.wrapping_mul(31).wrapping_add(i32::from(unit))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_javas() {
        let check = |text: &str, expected: i32| assert_eq!(java_hash(text), expected, "{text}");
        check("", 0);
        check("a", 97);
        check("hello", 99_162_322);
        check("polygenelubricants", i32::MIN);
        check("\u{1F600}", 1_772_899);
    }

    #[test]
    fn a_group_has_a_partition_whatever_its_hash() {
        assert_eq!(
            partition_of_name("polygenelubricants", 50),
            PartitionIndex(0)
        );
        assert_eq!(partition_of_name("hello", 50), PartitionIndex(22));
    }
}
