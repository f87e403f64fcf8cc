//! Named limits on what input may make us hold. Settings may lower or raise those that have one.

/// The largest request frame accepted, in bytes (`socket.request.max.bytes`).
pub const REQUEST_BYTES_MAX: usize = 100 * 1024 * 1024;
/// The most memory that decoding one frame may take beyond the frame itself, in bytes.
pub const DECODED_BYTES_MAX: usize = 64 * 1024 * 1024;
/// The most bytes that one record batch may decompress to.
pub const DECOMPRESSED_BATCH_BYTES_MAX: usize = 256 * 1024 * 1024;
/// The most partitions that one topic may have.
pub const PARTITIONS_PER_TOPIC_MAX: i32 = 10_000;
/// The first bytes of a log that a client may own: topics beginning so are ours.
pub const INTERNAL_TOPIC_PREFIX: &str = "__";
