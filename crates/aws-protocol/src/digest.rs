//! The checksums that SDKs check, and the id that stands for a body.
//!
//! A set of attributes is summed in the order of its names, each as name, type, one byte for how the value travels (1 text,
//! 2 bytes), and value; every part but that byte is led by its length in four bytes, the highest first.

use std::collections::BTreeMap;

use md5::{Digest, Md5};
use sha2::Sha256;

use crate::attribute::{AttributeValue, MessageAttribute};

/// Bytes in small hexadecimal digits.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits
        .map(|digit| char::from(DIGITS[usize::from(digit)]))
        .collect()
}

/// `MD5OfMessageBody` and `MD5OfBody`.
pub fn md5_of_body(body: &str) -> String {
    hexadecimal(&Md5::digest(body.as_bytes()))
}

/// `MD5OfMessageAttributes` and `MD5OfMessageSystemAttributes`; nothing of no attributes.
pub fn md5_of_attributes(attributes: &BTreeMap<String, MessageAttribute>) -> Option<String> {
    if attributes.is_empty() {
        return None;
    }
    let mut sum = Md5::new();
    for (name, attribute) in attributes {
        add(&mut sum, name.as_bytes());
        add(&mut sum, attribute.data_type.as_bytes());
        let is_binary = matches!(attribute.value, AttributeValue::Binary(_));
        sum.update([if is_binary { 2_u8 } else { 1 }]);
        add(&mut sum, attribute.value.bytes());
    }
    Some(hexadecimal(&sum.finalize()))
}

fn add(sum: &mut Md5, part: &[u8]) {
    let length = u32::try_from(part.len()).expect("a request is far shorter than 4 GiB");
    sum.update(length.to_be_bytes());
    sum.update(part);
}

/// The deduplication id that a FIFO queue makes of a body by itself.
pub fn content_deduplication_id(body: &str) -> String {
    hexadecimal(&Sha256::digest(body.as_bytes()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{content_deduplication_id, md5_of_attributes, md5_of_body};
    use crate::attribute::{AttributeValue, MessageAttribute};

    fn typed(data_type: &str, value: &str) -> MessageAttribute {
        MessageAttribute {
            data_type: data_type.to_owned(),
            value: AttributeValue::String(value.to_owned()),
        }
    }

    /// What moto 5.2.5's tests expect of these messages, which were checked against Amazon's service.
    #[test]
    fn checksums_are_those_that_the_service_answers() {
        assert_eq!(md5_of_body("derp"), "58fd9edd83341c29f1aebba81c31e257");
        assert_eq!(md5_of_attributes(&BTreeMap::new()), None);
        let name = "SOME_Valid.attribute-Name".to_owned();
        let one = BTreeMap::from([(name, typed("Number", "1493147359900"))]);
        let sum = md5_of_attributes(&one);
        assert_eq!(sum.as_deref(), Some("36655e7e9d7c0e8479fa3f3f42247ae7"));
        let binary = MessageAttribute {
            data_type: "Binary".to_owned(),
            value: AttributeValue::Binary(b"kekchebukek".to_vec()),
        };
        let four = BTreeMap::from([
            (
                "id".to_owned(),
                typed("String", "453ae55e-f03b-21a6-a4b1-70c2e2e8fe71"),
            ),
            ("mybin".to_owned(), binary),
            (
                "timestamp".to_owned(),
                typed("Number.java.lang.Long", "1603134247654"),
            ),
            (
                "contentType".to_owned(),
                typed("String", "application/json"),
            ),
        ]);
        let sum = md5_of_attributes(&four);
        assert_eq!(sum.as_deref(), Some("049075255ebc53fb95f7f9f3cedf3c50"));
    }

    #[test]
    fn a_body_stands_for_itself_by_its_sha_256() {
        let id = content_deduplication_id("abc");
        assert_eq!(
            id,
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }
}
