//! Messages that stand in records behind their version: keys and values of internal topics, consumers' metadata.

use super::{DecodeError, EncodeError, GatherBuffer, Reader};
use std::ops::RangeInclusive;

/// Writes `prefix` in 2 bytes, then what `write` writes.
///
/// # Errors
/// Those of `write`.
pub fn encode_prefixed(
    prefix: i16,
    write: impl FnOnce(&mut GatherBuffer) -> Result<(), EncodeError>,
) -> Result<Vec<u8>, EncodeError> {
    let mut buffer = GatherBuffer::new();
    buffer.put_i16(prefix);
    write(&mut buffer)?;
    Ok(buffer.into_vec())
}

/// Reads the version in the first 2 bytes, then the message in that version, which must be all there is.
///
/// # Errors
/// When the version is not among `versions`, or for the reasons of `read`.
pub fn decode_prefixed<'a, T>(
    bytes: &'a [u8],
    message: &'static str,
    versions: RangeInclusive<i16>,
    read: impl FnOnce(&mut Reader<'a>, i16) -> Result<T, DecodeError>,
) -> Result<T, DecodeError> {
    let mut reader = Reader::new(bytes);
    let version = reader.i16()?;
    reader.check_version(message, version, versions)?;
    let value = read(&mut reader, version)?;
    reader.finish()?;
    Ok(value)
}
