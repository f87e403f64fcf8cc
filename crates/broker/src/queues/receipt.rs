//! Receipts: with one a consumer shows which record it holds, and since which hand-over.
//!
//! Layout, all big-endian, as base64 for URLs without padding:
//!
//! ```text
//! version u8 = 2 | the queue's mark u64 | topic id 16 bytes | partition i32 | offset i64 | hand-over u64
//! ```
//!
//! The mark comes from the queue's id in the catalog: several queues read one topic, and a receipt of one says nothing in another.

use fanlog_model::{Offset, PartitionIndex, TopicId};
use std::fmt;
use thiserror::Error;
use uuid::Uuid;

const VERSION: u8 = 2;
const BYTES: usize = 1 + 8 + 16 + 4 + 8 + 8;
const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// What a consumer was given with a message, as text: for it to give back, not to look into.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Receipt(pub String);

/// A text that is no receipt.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the text is no receipt: give it back as it came with the message")]
pub struct ReceiptError;

/// Tells queues apart, also those that have a name one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct QueueMark(u64);

impl QueueMark {
    /// The mark of the queue with this id in the catalog.
    pub(super) fn of(id: Uuid) -> Self {
        let (high, low) = id.as_u64_pair();
        Self(high ^ low)
    }
}

/// What a receipt says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Handed {
    /// Which queue handed it out.
    pub(super) queue: QueueMark,
    /// The topic of the record, which may be another one than the queue's: what was redriven has its own.
    pub(super) topic: TopicId,
    pub(super) partition: PartitionIndex,
    pub(super) offset: Offset,
    /// The number of the hand-over.
    pub(super) grant: u64,
}

impl Receipt {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<String> for Receipt {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<&str> for Receipt {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl fmt::Display for Receipt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Handed {
    pub(super) fn encode(&self) -> Receipt {
        let mut bytes = [0; BYTES];
        bytes[0] = VERSION;
        bytes[1..9].copy_from_slice(&self.queue.0.to_be_bytes());
        bytes[9..25].copy_from_slice(self.topic.0.as_bytes());
        bytes[25..29].copy_from_slice(&self.partition.0.to_be_bytes());
        bytes[29..37].copy_from_slice(&self.offset.0.to_be_bytes());
        bytes[37..].copy_from_slice(&self.grant.to_be_bytes());
        let mut text = String::with_capacity(BYTES.div_ceil(3) * 4);
        for chunk in bytes.chunks(3) {
            let number = chunk
                .iter()
                .fold(0_u32, |n, byte| n << 8 | u32::from(*byte));
            let bits = number << (8 * (3 - chunk.len()));
            for place in 0..=chunk.len() {
                let digit = bits >> (18 - 6 * place) & 63;
                text.push(char::from(DIGITS[digit as usize]));
            }
        }
        Receipt(text)
    }

    pub(super) fn decode(receipt: &Receipt) -> Result<Self, ReceiptError> {
        let bytes = bytes_of(receipt.0.as_bytes()).ok_or(ReceiptError)?;
        if bytes[0] != VERSION {
            return Err(ReceiptError);
        }
        let (queue, rest) = bytes[1..].split_first_chunk().ok_or(ReceiptError)?;
        let (topic, rest) = rest.split_first_chunk().ok_or(ReceiptError)?;
        let (partition, rest) = rest.split_first_chunk().ok_or(ReceiptError)?;
        let (offset, rest) = rest.split_first_chunk().ok_or(ReceiptError)?;
        let (grant, _) = rest.split_first_chunk().ok_or(ReceiptError)?;
        let handed = Self {
            queue: QueueMark(u64::from_be_bytes(*queue)),
            topic: TopicId(Uuid::from_bytes(*topic)),
            partition: PartitionIndex(i32::from_be_bytes(*partition)),
            offset: Offset(i64::from_be_bytes(*offset)),
            grant: u64::from_be_bytes(*grant),
        };
        // One text for one receipt: bits that say nothing are not ignored.
        match handed.partition.0 >= 0 && handed.offset.0 >= 0 && handed.encode() == *receipt {
            true => Ok(handed),
            false => Err(ReceiptError),
        }
    }
}

fn bytes_of(text: &[u8]) -> Option<[u8; BYTES]> {
    let mut bytes = [0; BYTES];
    if text.len() != (BYTES * 8).div_ceil(6) {
        return None;
    }
    let (mut bits, mut count, mut at) = (0_u32, 0, 0);
    for letter in text {
        let digit = DIGITS.iter().position(|digit| digit == letter)?;
        bits = (bits << 6 | digit as u32) & 0xffff;
        count += 6;
        if count >= 8 {
            count -= 8;
            *bytes.get_mut(at)? = (bits >> count) as u8;
            at += 1;
        }
    }
    (at == BYTES).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_receipt_is_read_as_it_was_written(queue: u64, topic: u128, partition in 0..i32::MAX, offset in 0..i64::MAX, grant: u64) {
            let handed = Handed {
                queue: QueueMark(queue),
                topic: TopicId(Uuid::from_u128(topic)),
                partition: PartitionIndex(partition),
                offset: Offset(offset),
                grant,
            };
            prop_assert_eq!(Handed::decode(&handed.encode()), Ok(handed));
        }

        #[test]
        fn any_text_is_read_without_harm(text: String) {
            let _ = Handed::decode(&Receipt(text));
        }

        #[test]
        fn a_changed_receipt_is_another_one_or_none(at in 0_usize..60, letter in 0_usize..64) {
            let handed = Handed {
                queue: QueueMark(6),
                topic: TopicId(Uuid::from_u128(77)),
                partition: PartitionIndex(3),
                offset: Offset(4),
                grant: 5,
            };
            let mut text = handed.encode().0.into_bytes();
            let before = text[at];
            text[at] = DIGITS[letter];
            let receipt = Receipt(String::from_utf8(text).unwrap());
            let is_same = DIGITS[letter] == before;
            prop_assert_eq!(Handed::decode(&receipt) == Ok(handed), is_same);
        }
    }
}
