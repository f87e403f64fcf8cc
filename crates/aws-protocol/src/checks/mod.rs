//! What is refused whatever queues and topics there are, and what is refused once their limits are known.
//!
//! Why it exists: which mistake is said first, and in which words, is part of what SDKs and their users see.
//! In -> out: a value -> nothing, or the error that the service has for it. Read next: `message.rs`.

mod attribute;
mod message;

use std::collections::BTreeSet;

pub use attribute::{attributes, is_message_text, system_attributes};
pub use message::{fifo_message, fifo_notification, message, notification};

use crate::error::AwsError;
use crate::limits::{BATCH_ID_LENGTH_MAX, GROUP_ID_LENGTH_MAX, LABEL_LENGTH_MAX};

/// A number that may be absent lies within its bounds.
pub fn in_range(name: &str, value: Option<i64>, min: i64, max: i64) -> Result<(), AwsError> {
    match value {
        Some(value) if !(min..=max).contains(&value) => Err(AwsError::invalid_value_for(
            name,
            &value.to_string(),
            &format!("Must be between {min} and {max}, if provided."),
        )),
        _ => Ok(()),
    }
}

fn is_name_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

/// True if it may be the id of a batch's entry.
pub fn is_batch_id(id: &str) -> bool {
    (1..=BATCH_ID_LENGTH_MAX).contains(&id.len()) && id.bytes().all(is_name_letter)
}

/// The first id that is there twice.
pub fn repeated_id<'a>(ids: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut seen = BTreeSet::new();
    let mut ids = ids;
    ids.find(|id| !seen.insert(*id))
}

/// A group id, a deduplication id or an attempt id: letters, digits and ASCII's punctuation.
pub fn group_like_id(name: &str, id: &str) -> Result<(), AwsError> {
    let is_fine = |byte: u8| byte.is_ascii_alphanumeric() || byte.is_ascii_punctuation();
    if (1..=GROUP_ID_LENGTH_MAX).contains(&id.len()) && id.bytes().all(is_fine) {
        return Ok(());
    }
    let reason = format!(
        "{name} can only include alphanumeric and punctuation characters. 1 to {GROUP_ID_LENGTH_MAX} in length."
    );
    Err(AwsError::invalid_value_for(name, id, &reason))
}

/// The label of a permission.
pub fn label(label: &str) -> Result<(), AwsError> {
    if (1..=LABEL_LENGTH_MAX).contains(&label.len()) && label.bytes().all(is_name_letter) {
        return Ok(());
    }
    let reason = "Can only include letters, digits, hyphens and underscores, 1 to 80 of them.";
    Err(AwsError::invalid_value_for("Label", label, reason))
}

#[cfg(test)]
mod tests {
    use super::{group_like_id, in_range, is_batch_id, repeated_id};

    #[test]
    fn ids_have_letters_and_lengths() {
        assert!(is_batch_id("id_1-A") && !is_batch_id("") && !is_batch_id("a.b"));
        assert!(is_batch_id(&"i".repeat(80)) && !is_batch_id(&"i".repeat(81)));
        assert!(group_like_id("MessageGroupId", "a!~/").is_ok());
        assert!(group_like_id("MessageGroupId", "a b").is_err());
        assert!(group_like_id("MessageGroupId", &"a".repeat(129)).is_err());
    }

    #[test]
    fn the_first_repeated_id_is_said() {
        assert_eq!(repeated_id(["a", "b", "b", "a"].into_iter()), Some("b"));
        assert_eq!(repeated_id(["a", "b"].into_iter()), None);
    }

    #[test]
    fn bounds_are_inclusive_and_absence_is_fine() {
        assert!(in_range("X", None, 1, 10).is_ok() && in_range("X", Some(10), 1, 10).is_ok());
        let error = in_range("X", Some(11), 1, 10).expect_err("too large");
        assert_eq!(error.query_code, "InvalidParameterValue");
    }
}
