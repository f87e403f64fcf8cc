//! What can be wrong with bytes that we read, and with values that we are asked to write.

use thiserror::Error;

/// Why bytes are not the message that they should be. Positions count from the first byte given to the reader.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DecodeError {
    /// The bytes end inside a value.
    #[error("message ends early: {needed} bytes needed at position {position}, {remaining} left")]
    Truncated {
        /// How many bytes the value takes.
        needed: usize,
        /// How many bytes are left.
        remaining: usize,
        /// Where the value begins.
        position: usize,
    },
    /// A length or a count is negative, or says more than the remaining bytes can hold.
    #[error("length {length} at position {position} is not possible with {remaining} bytes left")]
    BadLength {
        /// The length or count as sent.
        length: i64,
        /// How many bytes are left after it.
        remaining: usize,
        /// Where the length ends.
        position: usize,
    },
    /// A value is null that this version does not let be null.
    #[error("null at position {position} where the version has no null")]
    UnexpectedNull {
        /// Where the null was read.
        position: usize,
    },
    /// A string is not UTF-8.
    #[error("string at position {position} is not UTF-8")]
    BadUtf8 {
        /// Where the string begins.
        position: usize,
    },
    /// A variable-length number goes on beyond its type's longest form.
    #[error("variable-length number at position {position} is too long")]
    BadVarint {
        /// Where the number begins.
        position: usize,
    },
    /// The message does not exist in this version, or we do not serve it.
    #[error("{message} has no version {version}; versions {lowest} to {highest} are known")]
    UnsupportedVersion {
        /// The message's name.
        message: &'static str,
        /// The version asked for.
        version: i16,
        /// The lowest version known.
        lowest: i16,
        /// The highest version known.
        highest: i16,
    },
    /// Decoding would take more memory than one frame may.
    #[error("message would take over {limit} bytes of memory decoded; send fewer elements at once")]
    TooLarge {
        /// The limit in bytes.
        limit: usize,
    },
    /// Bytes are left after the message.
    #[error("{count} bytes are left after the message")]
    TrailingBytes {
        /// How many.
        count: usize,
    },
}

/// Why a value cannot be written in the version asked for.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EncodeError {
    /// The message does not exist in this version, or we do not serve it.
    #[error("{message} has no version {version}; versions {lowest} to {highest} are known")]
    UnsupportedVersion {
        /// The message's name.
        message: &'static str,
        /// The version asked for.
        version: i16,
        /// The lowest version known.
        lowest: i16,
        /// The highest version known.
        highest: i16,
    },
    /// A field is set that the version lacks and that a reader must not miss.
    #[error("{field} is set, but version {version} cannot carry it; leave its default")]
    FieldNotInVersion {
        /// The message or structure and its field, as `FetchRequest.RackId`.
        field: &'static str,
        /// The version asked for.
        version: i16,
    },
    /// A field is null that this version does not let be null.
    #[error("{field} is null, which version {version} cannot carry")]
    NullNotInVersion {
        /// The message or structure and its field.
        field: &'static str,
        /// The version asked for.
        version: i16,
    },
    /// A string, array or frame is longer than its length field can say.
    #[error("a value of {length} bytes or elements is longer than its length field can say")]
    TooLong {
        /// The length.
        length: usize,
    },
}
