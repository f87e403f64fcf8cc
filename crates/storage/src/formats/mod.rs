//! The bytes of every file that a log keeps, in Apache Kafka 4.4's own formats.
//!
//! Why it exists: Kafka's tools must read what we write, and a cleanly stopped directory must be able to move.
//! Owns: byte layouts.   Never: files, clocks; a format is bytes in and values out.
//! In -> out: bytes <-> entries.
//! Read next: `offset_index.rs`.

pub mod clean_shutdown;
pub mod compaction_state;
pub mod file_names;
pub mod leader_epoch_checkpoint;
pub mod offset_checkpoint;
pub mod offset_index;
mod own_file;
pub mod partition_metadata;
pub mod producer_snapshot;
pub mod recovery_mark;
pub mod recovery_producers;
mod text_checkpoint;
pub mod time_index;
pub mod transaction_index;

use thiserror::Error;

/// Why the bytes of one of a log's files are not what their format asks for.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FormatError {
    /// The length is none that the format can have.
    #[error("{file} has {length} bytes, which is not {expected}")]
    Length {
        /// What kind of file.
        file: &'static str,
        /// The length found.
        length: u64,
        /// The lengths that the format has.
        expected: &'static str,
    },
    /// The version is not one that we know.
    #[error("{file} has version {version}; only version {expected} is known")]
    Version {
        /// What kind of file.
        file: &'static str,
        /// The version found.
        version: i64,
        /// The version that is understood.
        expected: i64,
    },
    /// The checksum does not match the bytes.
    #[error("{file} has checksum {found:#010x} where its bytes give {computed:#010x}")]
    Checksum {
        /// What kind of file.
        file: &'static str,
        /// The checksum in the file.
        found: u32,
        /// The checksum of the file's bytes.
        computed: u32,
    },
    /// A line of a text file does not say what it should.
    #[error("{file} has the unreadable line {line:?}")]
    Line {
        /// What kind of file.
        file: &'static str,
        /// The line, cut to a readable length.
        line: String,
    },
    /// Entries that must rise do not.
    #[error("{file} has entries out of order at entry {entry}")]
    Order {
        /// What kind of file.
        file: &'static str,
        /// The number of the entry that is not above its predecessor.
        entry: usize,
    },
}

/// Big-endian numbers out of a slice whose length was checked.
macro_rules! be {
    ($type:ty, $bytes:expr, $at:expr) => {{
        const SIZE: usize = size_of::<$type>();
        let at: usize = $at;
        <$type>::from_be_bytes(
            $bytes[at..at + SIZE]
                .try_into()
                .expect("the slice has the type's length"),
        )
    }};
}
pub(crate) use be;
