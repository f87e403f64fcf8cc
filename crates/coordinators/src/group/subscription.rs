//! The one embedded protocol that we look into: the topics of a consumer's subscription.
//!
//! Every version of the subscription begins alike: a two-byte version, then an array of topic names. Members send what they
//! like here, so anything else is "unknown", never an error.
//!
//! ```text
//! version: i16 | topic count: i32 | (length: i16, UTF-8)* | ...
//! ```

use bytes::Buf;

/// The protocol type of consumers.
pub(super) const CONSUMER_PROTOCOL_TYPE: &str = "consumer";

/// The topics of a subscription; `None` if the bytes are not one.
pub(super) fn subscribed_topics(mut metadata: &[u8]) -> Option<Vec<Box<str>>> {
    if metadata.try_get_i16().ok()? < 0 {
        return None;
    }
    let count = usize::try_from(metadata.try_get_i32().ok()?).ok()?;
    // A topic takes two bytes at least, so a count beyond this is a lie; it must not drive an allocation.
    if count > metadata.len() / 2 {
        return None;
    }
    let mut topics = Vec::with_capacity(count);
    for _ in 0..count {
        let length = usize::try_from(metadata.try_get_i16().ok()?).ok()?;
        let (name, rest) = metadata.split_at_checked(length)?;
        topics.push(std::str::from_utf8(name).ok()?.into());
        metadata = rest;
    }
    Some(topics)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_subscription_is_read_and_anything_else_is_unknown() {
        let check = |bytes: &[u8], topics: Option<&[&str]>| {
            let expected = topics.map(|t| t.iter().map(|t| Box::from(*t)).collect::<Vec<_>>());
            assert_eq!(subscribed_topics(bytes), expected, "{bytes:?}");
        };
        check(&[0, 0, 0, 0, 0, 0], Some(&[]));
        check(&[0, 1, 0, 0, 0, 1, 0, 2, b'a', b'b', 255], Some(&["ab"]));
        check(
            &[0, 3, 0, 0, 0, 2, 0, 1, b'a', 0, 1, b'b'],
            Some(&["a", "b"]),
        );
        check(&[], None);
        check(&[0], None);
        check(&[255, 255, 0, 0, 0, 0], None);
        check(&[0, 0, 127, 255, 255, 255], None);
        check(&[0, 0, 255, 255, 255, 255], None);
        check(&[0, 0, 0, 0, 0, 1, 0, 9, b'a'], None);
        check(&[0, 0, 0, 0, 0, 1, 255, 255, b'a'], None);
        check(&[0, 0, 0, 0, 0, 1, 0, 1, 200], None);
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            subscribed_topics(&bytes);
        }
    }
}
