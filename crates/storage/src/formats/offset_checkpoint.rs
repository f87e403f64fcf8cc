//! Offset checkpoints (`recovery-point-offset-checkpoint`, `log-start-offset-checkpoint`): an offset for each partition.
//!
//! ```text
//! 0\n
//! <count>\n
//! <topic> <partition> <offset>\n   count times
//! ```

use super::{FormatError, text_checkpoint};
use fanlog_model::{Offset, PartitionIndex, TopicName, TopicPartition};

pub use super::text_checkpoint::FILE_BYTES_MAX;

const FILE: &str = "offset checkpoint";

/// The file's bytes.
pub fn encode(entries: &[(TopicPartition, Offset)]) -> Vec<u8> {
    let line =
        |(of, offset): &(TopicPartition, Offset)| format!("{} {} {offset}", of.topic, of.partition);
    text_checkpoint::encode(entries.iter().map(line))
}

/// The file's entries.
///
/// # Errors
/// A line is unreadable.
pub fn decode(bytes: &[u8]) -> Result<Vec<(TopicPartition, Offset)>, FormatError> {
    text_checkpoint::decode(FILE, bytes, |line| {
        let mut words = line.split(' ');
        let topic = TopicName::new(words.next()?).ok()?;
        let partition = words.next()?.parse().ok().filter(|index| *index >= 0)?;
        let offset = words.next()?.parse().ok().filter(|offset| *offset >= 0)?;
        let partition = PartitionIndex(partition);
        let of = TopicPartition { topic, partition };
        words.next().is_none().then_some((of, Offset(offset)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn entry(topic: &str, partition: i32, offset: i64) -> (TopicPartition, Offset) {
        let topic = TopicName::new(topic).unwrap();
        let partition = PartitionIndex(partition);
        (TopicPartition { topic, partition }, Offset(offset))
    }

    #[test]
    fn the_file_has_the_bytes_that_kafka_4_4_writes() {
        let entries = vec![entry("order.placed", 0, 17), entry("b", 12, 3)];
        let golden = b"0\n2\norder.placed 0 17\nb 12 3\n";
        assert_eq!(encode(&entries), golden);
        assert_eq!(decode(golden), Ok(entries));
    }

    #[test]
    fn damage_is_noticed() {
        for line in ["a 0", "a 0 1 2", "a -1 2", "a 0 -2", "a  0 2", "/ 0 2", ""] {
            let bytes = format!("0\n1\n{line}\n");
            assert!(decode(bytes.as_bytes()).is_err(), "{line:?}");
        }
    }

    proptest! {
        #[test]
        fn entries_round_trip(numbers in prop::collection::vec(("[a-zA-Z0-9_-]{1,20}", 0..i32::MAX, 0..i64::MAX), 0..20)) {
            let entries: Vec<_> = numbers.iter().map(|(topic, p, o)| entry(topic, *p, *o)).collect();
            prop_assert_eq!(decode(&encode(&entries)), Ok(entries));
        }
    }
}
