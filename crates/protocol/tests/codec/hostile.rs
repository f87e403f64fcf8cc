//! Bytes that no correct writer writes: nothing panics, and nothing small becomes large in memory.

use super::sample::{self, Dice, Style, varint};
use super::table;
use fanlog_protocol::messages::{CreateTopicsRequest, MetadataRequest, ProduceRequest};
use fanlog_protocol::wire::{DecodeError, Reader};

/// The most memory that one byte of a frame may cost: an empty structure of the widest message in its fewest bytes.
const BYTES_PER_BYTE_MAX: usize = 120;

#[test]
fn a_message_cut_short_anywhere_is_an_error() {
    for message in sample::all_messages() {
        let codec = table::find(&message.name);
        for version in message.versions.first..=message.versions.last {
            for seed in 0..3 {
                let bytes =
                    sample::draw(&message, version, Style::UnknownTags, &mut Dice::new(seed));
                for end in 0..bytes.len() {
                    let decoded = codec(&bytes[..end], version);
                    assert!(decoded.is_err(), "{} {version} cut at {end}", message.name);
                }
            }
        }
    }
}

#[test]
fn changed_bytes_give_an_error_or_a_message_that_can_be_written() {
    let (mut refused, mut accepted) = (0, 0);
    for message in sample::all_messages() {
        let codec = table::find(&message.name);
        for version in message.versions.first..=message.versions.last {
            let mut dice = Dice::new(u64::from(version as u16));
            for _ in 0..100 {
                let mut bytes = sample::draw(&message, version, Style::UnknownTags, &mut dice);
                for _ in 0..=dice.below(3) {
                    let at = dice.below(bytes.len().max(1) as u64) as usize;
                    if let Some(byte) = bytes.get_mut(at) {
                        *byte = [0, 0x7f, 0x80, 0xff, dice.next() as u8][dice.below(5) as usize];
                    }
                }
                let Ok(decoded) = codec(&bytes, version) else {
                    refused += 1;
                    continue;
                };
                accepted += 1;
                assert!(decoded.decoded_bytes <= BYTES_PER_BYTE_MAX * bytes.len().max(1));
                let again = codec(&decoded.written, version).unwrap();
                assert_eq!(again.written, decoded.written, "{} {version}", message.name);
            }
        }
    }
    assert!(
        refused > 1000 && accepted > 1000,
        "{refused} refused, {accepted} accepted"
    );
}

#[test]
fn random_bytes_never_panic() {
    for message in sample::all_messages() {
        let codec = table::find(&message.name);
        let mut dice = Dice::new(7);
        for version in message.versions.first..=message.versions.last {
            for _ in 0..200 {
                let length = dice.below(64);
                let bytes: Vec<u8> = (0..length).map(|_| dice.next() as u8).collect();
                drop(codec(&bytes, version));
            }
        }
    }
}

#[test]
fn an_array_may_not_have_more_elements_than_the_remaining_bytes_hold() {
    let check = |bytes: &[u8], version| {
        let refused = MetadataRequest::decode(&mut Reader::new(bytes), version).unwrap_err();
        assert!(
            matches!(refused, DecodeError::BadLength { .. }),
            "{refused:?}"
        );
    };
    check(&[0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0], 8);
    check(&[0xff, 0xff, 0xff, 0xff, 0x0f, 0, 0, 0], 12);
    check(&[0x80, 0, 0, 0, 0, 0, 0, 0], 8);
    // A topic takes 2 bytes at least, so three do not fit in 5.
    check(&[0, 0, 0, 3, 0, 0, 0, 0, 0], 8);
}

#[test]
fn many_tiny_elements_are_refused_by_the_memory_they_would_take() {
    let topics = 1_000_000;
    let mut bytes = Vec::new();
    varint(topics + 1, &mut bytes);
    // The fewest bytes of a topic: an empty name, two numbers, two empty arrays, no tagged fields.
    for _ in 0..topics {
        bytes.extend([1, 0, 0, 0, 0, 0, 0, 1, 1, 0]);
    }
    bytes.extend([0, 0, 0, 0, 0, 0]);
    let refused = CreateTopicsRequest::decode(&mut Reader::new(&bytes), 7).unwrap_err();
    assert!(
        matches!(refused, DecodeError::TooLarge { .. }),
        "{refused:?}"
    );
    let mut roomy = Reader::with_budget(&bytes, usize::MAX);
    let accepted = CreateTopicsRequest::decode(&mut roomy, 7).unwrap();
    assert_eq!(accepted.topics.len(), topics as usize);
}

#[test]
fn a_version_that_a_message_lacks_is_refused_by_name() {
    for version in [-1, 2, 14, i16::MAX, i16::MIN] {
        let refused = ProduceRequest::decode(&mut Reader::new(&[]), version).unwrap_err();
        let expected = DecodeError::UnsupportedVersion {
            message: "ProduceRequest",
            version,
            lowest: 3,
            highest: 13,
        };
        assert_eq!(refused, expected);
    }
}
