//! What code that handles any message knows of it.

use crate::ApiKey;
use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use std::fmt::Debug;
use std::ops::RangeInclusive;

/// A message: a request, a response, a header, or what stands in a record of an internal topic.
pub trait Message<'a>: Clone + Debug + Default + PartialEq + Sized {
    /// Kafka's name for it.
    const NAME: &'static str;
    /// The versions that it has.
    const VERSIONS: RangeInclusive<i16>;

    /// Reads the message in `version`, and leaves what follows it.
    ///
    /// # Errors
    /// When the version is not known or the bytes are not such a message.
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError>;

    /// Writes the message in `version`.
    ///
    /// # Errors
    /// When the version is not known or cannot carry a field that is set.
    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError>;

    /// Reads the message in `version` from bytes that hold nothing else.
    ///
    /// # Errors
    /// As for `decode`, and when bytes are left.
    fn decode_all(bytes: &'a [u8], version: i16) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(bytes);
        let message = Self::decode(&mut reader, version)?;
        reader.finish()?;
        Ok(message)
    }
}

/// A request, which has an API key and a response.
pub trait Request<'a>: Message<'a> {
    /// The API that it asks for.
    const KEY: ApiKey;
    /// What answers it, in the same version.
    type Response<'r>: Message<'r>;
}
