//! Which names queues and topics may have.

use crate::error::AwsError;
use crate::limits::{QUEUE_NAME_LENGTH_MAX, TOPIC_NAME_LENGTH_MAX};

/// What the name of a FIFO queue or topic ends in.
pub const FIFO_SUFFIX: &str = ".fifo";

/// How strict names are (`aws.strict-names`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameRules {
    /// As Amazon has them: letters, digits, hyphens and underscores.
    Strict,
    /// Full stops too, as Kafka's topics have them.
    WithDots,
}

/// True if the name is that of a FIFO queue or topic.
pub fn is_fifo(name: &str) -> bool {
    name.ends_with(FIFO_SUFFIX)
}

fn is_fine(name: &str, length_max: usize, rules: NameRules) -> bool {
    let letters = name.strip_suffix(FIFO_SUFFIX).unwrap_or(name);
    let is_letter = |byte: u8| {
        byte.is_ascii_alphanumeric()
            || matches!(byte, b'-' | b'_')
            || (byte == b'.' && rules == NameRules::WithDots)
    };
    // `.` and `..` are no names of topics, in Kafka either.
    let has_letters = letters.bytes().any(|byte| byte != b'.');
    has_letters && name.len() <= length_max && letters.bytes().all(is_letter)
}

/// Checks the name of a queue to be; `is_fifo_wanted` is its attribute `FifoQueue`.
pub fn check_queue_name(
    name: &str,
    is_fifo_wanted: bool,
    rules: NameRules,
) -> Result<(), AwsError> {
    if is_fifo(name) == is_fifo_wanted && is_fine(name, QUEUE_NAME_LENGTH_MAX, rules) {
        return Ok(());
    }
    Err(AwsError::invalid_parameter_value(if is_fifo_wanted {
        "The name of a FIFO queue can only include alphanumeric characters, hyphens, or underscores, must end with .fifo suffix and be 1 to 80 in length"
    } else {
        "Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length"
    }))
}

/// Checks the name of a topic to be; `is_fifo_wanted` is its attribute `FifoTopic`.
pub fn check_topic_name(
    name: &str,
    is_fifo_wanted: bool,
    rules: NameRules,
) -> Result<(), AwsError> {
    if is_fifo(name) == is_fifo_wanted && is_fine(name, TOPIC_NAME_LENGTH_MAX, rules) {
        return Ok(());
    }
    Err(AwsError::invalid_parameter(if is_fifo_wanted {
        "Fifo Topic names must end with .fifo and must be made up of only uppercase and lowercase ASCII letters, numbers, underscores, and hyphens, and must be between 1 and 256 characters long."
    } else {
        "Topic names must be made up of only uppercase and lowercase ASCII letters, numbers, underscores, and hyphens, and must be between 1 and 256 characters long."
    }))
}

#[cfg(test)]
mod tests {
    use super::NameRules::{Strict, WithDots};
    use super::{check_queue_name, check_topic_name};

    #[test]
    fn names_are_as_strict_as_the_rules_say() {
        let queue = |name: &str, is_fifo, rules| check_queue_name(name, is_fifo, rules).is_ok();
        assert!(queue("a-B_9", false, Strict) && queue("a.fifo", true, Strict));
        assert!(!queue("a.b", false, Strict) && queue("a.b", false, WithDots));
        assert!(!queue("a.b.fifo", true, Strict) && queue("a.b.fifo", true, WithDots));
        assert!(!queue(".", false, WithDots) && !queue("..", false, WithDots));
        assert!(!queue("", false, WithDots) && !queue(".fifo", true, WithDots));
        assert!(!queue("a.fifo", false, WithDots) && !queue("a", true, Strict));
        assert!(queue(&"a".repeat(80), false, Strict) && !queue(&"a".repeat(81), false, Strict));
        assert!(!queue("/my/test", false, WithDots) && !queue("ä", false, WithDots));
        assert!(check_topic_name(&"a".repeat(256), false, Strict).is_ok());
        assert!(check_topic_name("topic.name.fifo", true, Strict).is_err());
    }
}
