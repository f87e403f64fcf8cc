//! The generated codec of each message, by name.

use fanlog_protocol::Message;
use fanlog_protocol::messages::*;
use fanlog_protocol::wire::{DecodeError, GatherBuffer, Reader};

/// What came of decoding some bytes.
pub(crate) struct Decoded {
    /// The message written again in the same version.
    pub(crate) written: Vec<u8>,
    /// How much memory its arrays took.
    pub(crate) decoded_bytes: usize,
}

/// Decodes bytes that hold one message of the version, and encodes it again.
pub(crate) type Codec = fn(&[u8], i16) -> Result<Decoded, DecodeError>;

fn codec<'a, M: Message<'a>>(bytes: &'a [u8], version: i16) -> Result<Decoded, DecodeError> {
    let mut reader = Reader::new(bytes);
    let message = M::decode(&mut reader, version)?;
    reader.finish()?;
    let mut buffer = GatherBuffer::new();
    let written = message.encode(&mut buffer, version);
    written.unwrap_or_else(|error| panic!("{} {version}: {error}", M::NAME));
    Ok(Decoded {
        written: buffer.into_vec(),
        decoded_bytes: reader.decoded_bytes(),
    })
}

/// The codec of the message with this name.
pub(crate) fn find(name: &str) -> Codec {
    macro_rules! by_name {
        ($($message:ident)*) => {
            match name {
                $(stringify!($message) => |bytes, version| codec::<$message>(bytes, version),)*
                _ => panic!("no message is named {name}"),
            }
        };
    }
    fanlog_protocol::with_every_message!(by_name)
}
