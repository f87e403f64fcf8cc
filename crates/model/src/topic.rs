//! Topic names, checked once where they enter.

use crate::PartitionIndex;
use std::fmt;
use std::sync::Arc;
use thiserror::Error;

/// A legal topic name: 1 to 249 of `[a-zA-Z0-9._-]`, neither `.` nor `..`. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TopicName(Arc<str>);

/// Why a topic name is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum InvalidTopicName {
    /// The name is empty.
    #[error("topic name is empty; give it 1 to 249 characters of [a-zA-Z0-9._-]")]
    Empty,
    /// The name would be a path to this or the parent folder.
    #[error("topic name '{0}' is not allowed: it means a folder; choose another")]
    Dots(String),
    /// The name is too long to be a folder's name beside its partition number.
    #[error(
        "topic name has {length} characters; at most {} are allowed",
        TopicName::LENGTH_MAX
    )]
    TooLong {
        /// How many characters the refused name has.
        length: usize,
    },
    /// The name has a character outside the legal set.
    #[error("topic name '{name}' has the illegal character '{character}'; use only [a-zA-Z0-9._-]")]
    IllegalCharacter {
        /// The refused name.
        name: String,
        /// The first character that is not allowed.
        character: char,
    },
}

impl TopicName {
    /// The longest name, as Kafka has it: folder names carry a partition number and a suffix besides.
    pub const LENGTH_MAX: usize = 249;

    /// Checks a name.
    ///
    /// # Errors
    /// Says which rule the name breaks.
    pub fn new(name: &str) -> Result<Self, InvalidTopicName> {
        if name.is_empty() {
            return Err(InvalidTopicName::Empty);
        }
        if name == "." || name == ".." {
            return Err(InvalidTopicName::Dots(name.to_owned()));
        }
        if name.len() > Self::LENGTH_MAX {
            return Err(InvalidTopicName::TooLong {
                length: name.chars().count(),
            });
        }
        let illegal = |c: &char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'));
        match name.chars().find(illegal) {
            Some(character) => Err(InvalidTopicName::IllegalCharacter {
                name: name.to_owned(),
                character,
            }),
            None => Ok(Self(name.into())),
        }
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name with `.` and `_` taken for the same, as metrics names do: two topics must not clash in it.
    pub fn metric_key(&self) -> String {
        self.0.replace('.', "_")
    }
}

impl fmt::Display for TopicName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// One partition of a topic, by name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TopicPartition {
    /// The topic.
    pub topic: TopicName,
    /// The partition's number.
    pub partition: PartitionIndex,
}

impl fmt::Display for TopicPartition {
    /// Written as the partition's folder is named: `<topic>-<partition>`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.topic, self.partition)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_name_is_checked_by_kafkas_rules() {
        let check = |name: &str, ok: bool| assert_eq!(TopicName::new(name).is_ok(), ok, "{name}");
        check("order.placed", true);
        check("a", true);
        check("A_b-9.", true);
        check("...", true);
        check("", false);
        check(".", false);
        check("..", false);
        check("a/b", false);
        check("a b", false);
        check("ä", false);
        check(&"x".repeat(249), true);
        check(&"x".repeat(250), false);
    }
}
