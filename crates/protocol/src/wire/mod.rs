//! Kafka's primitive types, read and written.
//!
//! Why it exists: the generated messages say which fields come in which order; how a field lies in bytes, and how a
//! stranger's bytes are distrusted, is said here once.
//! Owns: nothing.   Never: messages, versions beyond "flexible or not".
//! In -> out: bytes <-> numbers, strings, arrays, tagged fields.
//! Read next: `reader.rs`.

mod error;
mod gather;
mod prefixed;
mod reader;
mod record_bytes;

pub use error::{DecodeError, EncodeError};
pub use gather::{FramePart, GatherBuffer, TaggedFields, require_default, require_some};
pub use prefixed::{decode_prefixed, encode_prefixed};
pub use reader::Reader;
pub use record_bytes::RecordBytes;
