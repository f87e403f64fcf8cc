//! Ids that follow from where a message lies, so that every answer about it says the same one and nothing is stored for them.

use sha2::{Digest, Sha256};

/// The message id of the record at an offset: shaped as a UUID, the same whenever it is asked for.
///
/// It is a digest, as the place itself would tell every receiver how much a topic holds. The version is that of the ids
/// made of a digest, 5: readers from before RFC 9562 know no 8.
pub fn message_id(topic_id: [u8; 16], partition: i32, offset: i64) -> String {
    let digest = Sha256::new()
        .chain_update(b"fanlog message id")
        .chain_update(topic_id)
        .chain_update(partition.to_be_bytes())
        .chain_update(offset.to_be_bytes())
        .finalize();
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    uuid_text(bytes, 5)
}

/// Sixteen bytes, drawn or made elsewhere, shaped as a UUID of a version.
pub fn uuid_text(mut bytes: [u8; 16], version: u8) -> String {
    bytes[6] = (bytes[6] & 0x0f) | (version << 4);
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    let digits = crate::digest::hexadecimal(&bytes);
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|range| &digits[range]);
    parts.join("-")
}

/// The sequence number of the record at an offset: twenty digits, growing with it, also when compared as text.
pub fn sequence_number(offset: i64) -> String {
    assert!(offset >= 0, "a record's offset is never negative: {offset}");
    format!("1{offset:019}")
}

#[cfg(test)]
mod tests {
    use super::{message_id, sequence_number, uuid_text};

    #[test]
    fn a_message_id_follows_from_the_place_and_looks_like_a_uuid() {
        let id = message_id([7; 16], 1, 2);
        assert_eq!(id, message_id([7; 16], 1, 2));
        assert_ne!(id, message_id([7; 16], 2, 1));
        let lengths: Vec<usize> = id.split('-').map(str::len).collect();
        assert_eq!(lengths, [8, 4, 4, 4, 12], "{id}");
        assert_eq!(&id[14..15], "5", "{id}");
        assert_eq!(
            uuid_text([0xff; 16], 4),
            "ffffffff-ffff-4fff-bfff-ffffffffffff"
        );
    }

    #[test]
    fn sequence_numbers_have_twenty_digits_and_grow() {
        assert_eq!(sequence_number(0), "10000000000000000000");
        assert!(sequence_number(99) < sequence_number(100));
        assert_eq!(sequence_number(i64::MAX).len(), 20);
    }
}
