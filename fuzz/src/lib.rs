//! What must hold for any bytes whatever, one function for each fuzz target.
//!
//! Why it exists: everything here reads bytes from a network or a disk, and neither keeps its promises.
//! In -> out: bytes -> nothing, or a panic that says what does not hold.
//! Read next: `messages.rs`; then `examples/seed.rs`, which writes the bytes that a fuzzer begins with.

mod aws;
mod batches;
mod files;
mod messages;
mod records;
mod recovery;
mod settings;

pub use messages::{MESSAGES, message_index};

/// What one target does with an input.
pub type Target = fn(&[u8]);

/// The fuzz targets, by the names that they have in `Cargo.toml`.
pub const TARGETS: &[(&str, Target)] = &[
    ("messages", messages::message),
    ("frames", messages::frame),
    ("batches", batches::batches),
    ("gzip", batches::gzip),
    ("snappy", batches::snappy),
    ("lz4", batches::lz4),
    ("zstd", batches::zstd),
    ("indexes", files::indexes),
    ("producer_snapshot", files::producer_snapshot),
    ("checkpoints", files::checkpoints),
    ("recovery", recovery::recovery),
    ("group_records", records::group_records),
    ("catalog_records", records::catalog_records),
    ("settings", settings::settings),
    ("aws_requests", aws::request),
];

/// Runs one target once.
///
/// # Panics
/// When there is no such target, and when what must hold does not.
pub fn run(target: &str, bytes: &[u8]) {
    let found = TARGETS.iter().find(|(name, _)| *name == target);
    let (_, check) = found.expect("the name is one of TARGETS");
    check(bytes);
}

/// The parts of an input that holds several: each stands behind its length in two bytes, the last one takes what is left.
pub(crate) fn parts(mut bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let (length, rest) = bytes.split_first_chunk::<2>()?;
        let length = usize::from(u16::from_be_bytes(*length)).min(rest.len());
        let (part, rest) = rest.split_at(length);
        bytes = rest;
        Some(part)
    })
}
