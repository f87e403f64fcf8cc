//! Record batch v2: a zero-copy view, its records, its checks, in-place edits, compression, and a builder.
//!
//! Why it exists: batches travel from producer to disk to consumer as they came (LOG-4), so everything a broker needs to know about
//! them has to be read from, and written into, the bytes in place.
//! Owns: the layout of a batch and of a record.   Never: offsets' meaning in a log, producer state, protocol error codes.
//! In -> out: bytes -> [`BatchView`] -> [`RecordView`]s; [`NewRecord`]s -> [`BatchBuilder`] -> bytes.
//! Invariants: LOG-4, OPS-1.   Read next: `batch.rs`.
//!
//! ```text
//!  at  bytes  field                     at  bytes  field
//!   0    8    base offset               27    8    base timestamp
//!   8    4    length of what follows    35    8    max timestamp
//!  12    4    partition leader epoch    43    8    producer id
//!  16    1    magic, 2                  51    2    producer epoch
//!  17    4    CRC-32C of 21..end        53    4    base sequence
//!  21    2    attributes                57    4    record count
//!  23    4    last offset delta         61    -    records, compressed as a whole
//! ```

mod batch;
mod builder;
mod compression;
mod edit;
mod end_marker;
mod key_hash;
mod lz4;
mod output;
mod record;
mod retain;
mod snappy;
mod validate;
mod varint;
mod zstd_frames;

#[cfg(test)]
mod golden_tests;
#[cfg(test)]
mod tests;

pub use batch::{BatchError, BatchView, HEADER_BYTES, TimestampType};
pub use builder::{BatchBuilder, BuildError, NewRecord};
pub use compression::{Compression, CompressionError, Decompressor};
pub use edit::{
    recompress, set_base_offset, set_log_append_time, set_max_timestamp, set_partition_leader_epoch,
};
pub use end_marker::EndMarker;
pub use key_hash::{murmur2, partition_for_key};
pub use record::{HeaderIter, RecordError, RecordIter, RecordView};
pub use retain::{RetainError, Retained, empty_batch, retain_records, set_delete_horizon};
pub use validate::{
    InvalidBatch, ProduceRules, RecordFault, RefusedRecord, Validated, validate_produced,
};
