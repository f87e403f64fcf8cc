//! `partition.metadata`: the id of the topic that a partition's folder belongs to.
//!
//! ```text
//! version: 0\n
//! topic_id: <16 bytes in URL-safe base64 without padding, 22 characters>     no newline at the end
//! ```

use super::FormatError;
use fanlog_model::TopicId;
use uuid::Uuid;

const FILE: &str = "partition.metadata";
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const ID_CHARACTERS: usize = 22;
/// The longest file that is read.
pub const FILE_BYTES_MAX: usize = 1024;

/// The file's bytes.
pub fn encode(topic_id: TopicId) -> Vec<u8> {
    format!("version: 0\ntopic_id: {}", id_to_text(topic_id)).into_bytes()
}

/// The topic id in the file.
///
/// # Errors
/// The version is unknown or a line is unreadable.
pub fn decode(bytes: &[u8]) -> Result<TopicId, FormatError> {
    let wrong = |line: &str| FormatError::Line {
        file: FILE,
        line: line.chars().take(80).collect(),
    };
    let text = std::str::from_utf8(bytes).map_err(|_| wrong("not UTF-8"))?;
    let mut lines = text.lines();
    let mut value = |name: &str| {
        let line = lines.next().unwrap_or("");
        line.strip_prefix(name)
            .and_then(|rest| rest.strip_prefix(": "))
            .ok_or_else(|| wrong(line))
    };
    let version = value("version")?;
    match version.parse::<i64>() {
        Ok(0) => {}
        Ok(version) => {
            return Err(FormatError::Version {
                file: FILE,
                version,
                expected: 0,
            });
        }
        Err(_) => return Err(wrong(version)),
    }
    let id = value("topic_id")?;
    id_from_text(id).ok_or_else(|| wrong(id))
}

/// An id as Kafka writes it in text.
pub fn id_to_text(id: TopicId) -> String {
    let number = id.0.as_u128();
    // 22 characters of 6 bits hold 132 bits: the last character carries only two.
    let sextet = |i: usize| match i {
        21 => (number << 4) & 63,
        _ => (number >> (122 - 6 * i)) & 63,
    };
    (0..ID_CHARACTERS)
        .map(|i| ALPHABET[sextet(i) as usize] as char)
        .collect()
}

/// The id that Kafka's text stands for.
pub fn id_from_text(text: &str) -> Option<TopicId> {
    if text.len() != ID_CHARACTERS {
        return None;
    }
    let mut number: u128 = 0;
    for (i, character) in text.bytes().enumerate() {
        let sextet = ALPHABET.iter().position(|known| *known == character)? as u128;
        number = match i {
            21 if sextet & 15 != 0 => return None,
            21 => number << 2 | sextet >> 4,
            _ => number << 6 | sextet,
        };
    }
    Some(TopicId(Uuid::from_u128(number)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_file_has_the_bytes_that_kafka_4_4_writes() {
        let id = TopicId(Uuid::from_bytes(std::array::from_fn(|i| i as u8)));
        let golden = b"version: 0\ntopic_id: AAECAwQFBgcICQoLDA0ODw";
        assert_eq!(encode(id), golden);
        assert_eq!(decode(golden), Ok(id));
    }

    #[test]
    fn damage_is_noticed() {
        for bytes in [
            "",
            "version: 0\n",
            "version: 1\ntopic_id: AAECAwQFBgcICQoLDA0ODw",
            "version: x\ntopic_id: AAECAwQFBgcICQoLDA0ODw",
            "version: 0\ntopic_id: AAECAwQFBgcICQoLDA0OD",
            "version: 0\ntopic_id: AAECAwQFBgcICQoLDA0OD+",
            "version: 0\ntopic_id: AAECAwQFBgcICQoLDA0OD1",
        ] {
            assert!(decode(bytes.as_bytes()).is_err(), "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn an_id_round_trips(number in any::<u128>()) {
            let id = TopicId(Uuid::from_u128(number));
            prop_assert_eq!(decode(&encode(id)), Ok(id));
        }
    }
}
