//! Which partition of `__share_group_state` holds a share-partition, computed as Kafka does.

use fanlog_coordinators::share::ShareKey;
use std::fmt::Write;

/// The name by which a share-partition is spread over the partitions.
pub(super) fn name_of(key: &ShareKey) -> String {
    let mut text = format!("{}:", key.group);
    push_base64(&mut text, key.topic.0.as_bytes());
    write!(text, ":{}", key.partition).expect("a string takes all that is written");
    text
}

/// Topic ids as Kafka writes them: base64 for URLs, without padding.
fn push_base64(text: &mut String, bytes: &[u8]) {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    for chunk in bytes.chunks(3) {
        let number = chunk
            .iter()
            .fold(0_u32, |number, byte| number << 8 | u32::from(*byte));
        let bits = number << (8 * (3 - chunk.len()));
        for place in 0..=chunk.len() {
            let digit = bits >> (18 - 6 * place) & 63;
            text.push(char::from(DIGITS[digit as usize]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fanlog_model::{PartitionIndex, TopicId};
    use uuid::Uuid;

    #[test]
    fn topic_ids_are_written_as_kafka_writes_them() {
        let mut text = String::new();
        let id = Uuid::parse_str("95dd6844-4236-4ca8-8bcf-2d3391b222ba").unwrap();
        push_base64(&mut text, id.as_bytes());
        assert_eq!(text, "ld1oREI2TKiLzy0zkbIiug");
    }

    #[test]
    fn a_share_partition_lies_where_kafka_looks_for_it() {
        let key = ShareKey {
            group: "g".into(),
            topic: TopicId(Uuid::nil()),
            partition: PartitionIndex(3),
        };
        assert_eq!(name_of(&key), "g:AAAAAAAAAAAAAAAAAAAAAA:3");
    }
}
