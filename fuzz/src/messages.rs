//! Messages in every version, and whole request frames.

use fanlog_protocol::messages::*;
use fanlog_protocol::wire::{GatherBuffer, Reader};
use fanlog_protocol::{ApiKey, Message};

/// The most memory that one byte of a frame may cost: an empty structure of the widest message in its fewest bytes.
const BYTES_PER_BYTE_MAX: usize = 120;

/// What reads one kind of message, and writes it again if it can be read.
type Codec = fn(&[u8], i16);

/// What `M` writes of the message in `bytes`, if there is one.
fn through<'a, M: Message<'a>>(bytes: &'a [u8], version: i16) -> Option<Vec<u8>> {
    let mut reader = Reader::new(bytes);
    let message = M::decode(&mut reader, version).ok()?;
    assert!(reader.decoded_bytes() <= BYTES_PER_BYTE_MAX * bytes.len().max(1));
    let mut buffer = GatherBuffer::new();
    let written = message.encode(&mut buffer, version);
    written.expect("what was read can be written");
    Some(buffer.into_vec())
}

macro_rules! all {
    ($($message:ident)*) => {
        &[$((stringify!($message), |bytes, version| {
            if let Some(written) = through::<$message>(bytes, version) {
                // What we wrote can be read, and the second time nothing changes any more.
                let again = through::<$message>(&written, version);
                assert_eq!(again, Some(written));
            }
        })),*]
    };
}

/// Every message that we know, by name.
pub const MESSAGES: &[(&str, Codec)] = fanlog_protocol::with_every_message!(all);

/// The number of a message in an input of the target `messages`.
pub fn message_index(name: &str) -> Option<u8> {
    let at = MESSAGES.iter().position(|(each, _)| *each == name)?;
    u8::try_from(at).ok()
}

/// One byte for the message, one for the version, then the message.
pub(crate) fn message(bytes: &[u8]) {
    if let [index, version, body @ ..] = bytes {
        let (_, codec) = MESSAGES[usize::from(*index) % MESSAGES.len()];
        codec(body, i16::from(*version));
    }
}

/// A request as a connection reads it: the header, which says what follows it.
pub(crate) fn frame(bytes: &[u8]) {
    let Some(head) = bytes.first_chunk::<4>() else {
        return;
    };
    let [key, version] = [[head[0], head[1]], [head[2], head[3]]].map(i16::from_be_bytes);
    let Some(api) = ApiKey::from_i16(key) else {
        return;
    };
    let mut reader = Reader::new(bytes);
    let header = RequestHeader::decode(&mut reader, api.request_header_version(version));
    if header.is_err() {
        return;
    }
    let name = format!("{}Request", api.name());
    let index = message_index(&name).expect("every API has a request");
    let (_, codec) = MESSAGES[usize::from(index)];
    codec(&bytes[reader.position()..], version);
}
