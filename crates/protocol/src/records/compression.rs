//! The five compressions, in Kafka's framings, with bounded output.
//!
//! Why it exists: a batch of a few hundred bytes can claim to hold gigabytes; nothing it claims may reserve memory.
//! Owns: the buffer that batches are decompressed into.   Never: the layout of records.
//! In -> out: the bytes after a batch's header -> its records' bytes, and back.
//! Invariants: OPS-1.
//!
//! Framings, which all Kafka clients share: gzip members; snappy as snappy-java frames it, or one bare block (librdkafka writes
//! that); an lz4 frame with independent blocks; zstd frames.

use std::io::{self, Read, Write};
use thiserror::Error;

/// How the records of a batch are compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Compression {
    /// As they are.
    #[default]
    None,
    /// gzip.
    Gzip,
    /// snappy, framed as snappy-java does.
    Snappy,
    /// An lz4 frame.
    Lz4,
    /// zstd.
    Zstd,
}

impl Compression {
    /// Every compression, in the order of their numbers.
    pub const ALL: [Self; 5] = [Self::None, Self::Gzip, Self::Snappy, Self::Lz4, Self::Zstd];

    /// The number in a batch's attributes.
    pub const fn id(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Gzip => 1,
            Self::Snappy => 2,
            Self::Lz4 => 3,
            Self::Zstd => 4,
        }
    }

    /// The compression of this number.
    pub const fn from_id(id: u8) -> Option<Self> {
        match id {
            0 => Some(Self::None),
            1 => Some(Self::Gzip),
            2 => Some(Self::Snappy),
            3 => Some(Self::Lz4),
            4 => Some(Self::Zstd),
            _ => None,
        }
    }

    /// Kafka's name, as in `compression.type`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Gzip => "gzip",
            Self::Snappy => "snappy",
            Self::Lz4 => "lz4",
            Self::Zstd => "zstd",
        }
    }

    /// The compression of this name; `uncompressed` is what topics call `none`.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "uncompressed" => Some(Self::None),
            _ => Self::ALL.into_iter().find(|one| one.name() == name),
        }
    }
}

/// Why bytes cannot be decompressed or compressed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CompressionError {
    /// The records would take more memory than allowed.
    #[error(
        "records compressed with {} hold more than the {limit} bytes allowed for one batch",
        .compression.name()
    )]
    TooLarge {
        /// The batch's compression.
        compression: Compression,
        /// The most bytes allowed.
        limit: usize,
    },
    /// The bytes are not what the compression's name says.
    #[error("records are not valid {}: {reason}", .compression.name())]
    Corrupt {
        /// The batch's compression.
        compression: Compression,
        /// What the codec found.
        reason: String,
    },
}

/// A buffer that batches are decompressed into, one after the other, never beyond its limit.
#[derive(Debug)]
pub struct Decompressor {
    buffer: Vec<u8>,
    limit: usize,
}

/// The buffer's capacity that is kept from one batch to the next.
const KEPT_BYTES_MAX: usize = 4 * 1024 * 1024;
/// The step by which output grows: what a false claim can cost at most.
const STEP_BYTES: usize = 64 * 1024;

impl Default for Decompressor {
    fn default() -> Self {
        Self::new(fanlog_model::limits::DECOMPRESSED_BATCH_BYTES_MAX)
    }
}

impl Decompressor {
    /// A buffer that holds at most `limit` bytes.
    pub const fn new(limit: usize) -> Self {
        Self {
            buffer: Vec::new(),
            limit,
        }
    }

    /// The most bytes that one batch may decompress to.
    pub const fn limit(&self) -> usize {
        self.limit
    }

    /// The bytes decompressed: `compressed` itself when there is nothing to do.
    ///
    /// # Errors
    /// When the bytes are malformed or hold more than the limit.
    pub fn decompress<'a>(
        &'a mut self,
        compression: Compression,
        compressed: &'a [u8],
    ) -> Result<&'a [u8], CompressionError> {
        self.buffer.clear();
        self.buffer.shrink_to(KEPT_BYTES_MAX);
        match compression {
            Compression::None => return Ok(compressed),
            Compression::Snappy => self.snappy(compressed)?,
            Compression::Gzip => {
                let reader = flate2::bufread::MultiGzDecoder::new(compressed);
                self.read_all(compression, reader)?;
            }
            Compression::Lz4 => self.lz4(compressed)?,
            Compression::Zstd => self.zstd(compressed)?,
        }
        Ok(&self.buffer)
    }

    /// Reads to the end, growing step by step as bytes really come.
    fn read_all(
        &mut self,
        compression: Compression,
        mut reader: impl Read,
    ) -> Result<(), CompressionError> {
        loop {
            let filled = self.buffer.len();
            // One byte above the limit tells "exactly full" from "too large".
            let room = (self.limit + 1 - filled).min(STEP_BYTES.max(filled));
            self.buffer.resize(filled + room, 0);
            let read = reader
                .read(&mut self.buffer[filled..])
                .map_err(|error| corrupt(compression, error))?;
            self.buffer.truncate(filled + read);
            if self.buffer.len() > self.limit {
                return Err(self.too_large(compression));
            }
            if read == 0 {
                return Ok(());
            }
        }
    }

    fn lz4(&mut self, compressed: &[u8]) -> Result<(), CompressionError> {
        check_lz4_frame(compressed).map_err(|reason| corrupt(Compression::Lz4, reason))?;
        let reader = lz4_flex::frame::FrameDecoder::new(compressed);
        self.read_all(Compression::Lz4, reader)
    }

    fn zstd(&mut self, compressed: &[u8]) -> Result<(), CompressionError> {
        let error = |error| corrupt(Compression::Zstd, error);
        let mut reader = zstd::stream::read::Decoder::with_buffer(compressed).map_err(error)?;
        // A frame names the window it needs, and the decoder reserves it: address space, which becomes memory only as output
        // comes. Never more than the output may be, but always what the usual levels ask for (8 MiB).
        let window_log = self.limit.max(1).ilog2().clamp(23, 27);
        reader.window_log_max(window_log).map_err(error)?;
        self.read_all(Compression::Zstd, reader)
    }

    fn snappy(&mut self, compressed: &[u8]) -> Result<(), CompressionError> {
        let Some(mut rest) = compressed.strip_prefix(SNAPPY_JAVA_MAGIC) else {
            return self.snappy_block(compressed);
        };
        let Some((_versions, blocks)) = rest.split_at_checked(8) else {
            return Err(corrupt(Compression::Snappy, "the frame's header is cut"));
        };
        rest = blocks;
        while !rest.is_empty() {
            let cut = || corrupt(Compression::Snappy, "a block is cut");
            let (length, after) = rest.split_first_chunk::<4>().ok_or_else(cut)?;
            let length = u32::from_be_bytes(*length) as usize;
            let (block, after) = after.split_at_checked(length).ok_or_else(cut)?;
            self.snappy_block(block)?;
            rest = after;
        }
        Ok(())
    }

    fn snappy_block(&mut self, block: &[u8]) -> Result<(), CompressionError> {
        let compression = Compression::Snappy;
        let claimed =
            snap::raw::decompress_len(block).map_err(|error| corrupt(compression, error))?;
        let filled = self.buffer.len();
        if claimed > self.limit - filled {
            return Err(self.too_large(compression));
        }
        // A 3-byte copy yields 64 bytes at most, so a larger claim is false and must not reserve memory.
        if claimed > block.len().saturating_mul(22) {
            return Err(corrupt(compression, "a block claims an impossible length"));
        }
        self.buffer.resize(filled + claimed, 0);
        snap::raw::Decoder::new()
            .decompress(block, &mut self.buffer[filled..])
            .map_err(|error| corrupt(compression, error))?;
        Ok(())
    }

    fn too_large(&self, compression: Compression) -> CompressionError {
        CompressionError::TooLarge {
            compression,
            limit: self.limit,
        }
    }
}

const SNAPPY_JAVA_MAGIC: &[u8] = b"\x82SNAPPY\0";
/// Version 1, readable since version 1.
const SNAPPY_JAVA_VERSIONS: &[u8] = &[0, 0, 0, 1, 0, 0, 0, 1];
/// snappy-java's block size in Kafka.
const SNAPPY_BLOCK_BYTES: usize = 32 * 1024;

const LZ4_MAGIC: &[u8] = &[0x04, 0x22, 0x4d, 0x18];

/// Checks that exactly one frame stands here, from magic to end mark: the decoder takes a frame without an end for a whole one.
/// Kafka's Java consumer reads version 1 with independent blocks only; a batch that it cannot read is refused here too.
fn check_lz4_frame(bytes: &[u8]) -> Result<(), &'static str> {
    const CUT: &str = "the frame is cut";
    let rest = bytes.strip_prefix(LZ4_MAGIC);
    let rest = rest.ok_or("an lz4 frame does not begin here")?;
    let flags = *rest.first().ok_or(CUT)?;
    if flags >> 6 != 1 {
        return Err("the frame's version is not 1");
    }
    if flags & 0x20 == 0 {
        return Err("the frame's blocks depend on each other, which Kafka's clients cannot read");
    }
    let when = |bit: u8, bytes: usize| if flags & bit == 0 { 0 } else { bytes };
    let (block_checksum, content_checksum) = (when(0x10, 4), when(0x04, 4));
    // Flags, block size, content size, dictionary id, checksum.
    let header = 2 + when(0x08, 8) + when(0x01, 4) + 1;
    let mut rest = rest.get(header..).ok_or(CUT)?;
    loop {
        let (length, blocks) = rest.split_first_chunk::<4>().ok_or(CUT)?;
        // The highest bit says that the block is not compressed.
        let length = (u32::from_le_bytes(*length) & 0x7fff_ffff) as usize;
        let skip = if length == 0 {
            content_checksum
        } else {
            length + block_checksum
        };
        rest = blocks.get(skip..).ok_or(CUT)?;
        if length == 0 {
            break;
        }
    }
    if rest.is_empty() {
        Ok(())
    } else {
        Err("bytes follow the frame")
    }
}

fn corrupt(compression: Compression, reason: impl ToString) -> CompressionError {
    CompressionError::Corrupt {
        compression,
        reason: reason.to_string(),
    }
}

/// Appends `plain`, compressed, to `out`.
pub(super) fn compress(
    compression: Compression,
    plain: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), CompressionError> {
    let failed = |error: io::Error| corrupt(compression, error);
    match compression {
        Compression::None => out.extend_from_slice(plain),
        Compression::Gzip => {
            let level = flate2::Compression::default();
            let mut encoder = flate2::write::GzEncoder::new(out, level);
            encoder.write_all(plain).map_err(failed)?;
            encoder.finish().map_err(failed)?;
        }
        Compression::Snappy => compress_snappy(plain, out)?,
        Compression::Lz4 => {
            let info = lz4_flex::frame::FrameInfo::new()
                .block_mode(lz4_flex::frame::BlockMode::Independent)
                .block_size(lz4_flex::frame::BlockSize::Max64KB);
            let mut encoder = lz4_flex::frame::FrameEncoder::with_frame_info(info, out);
            encoder.write_all(plain).map_err(failed)?;
            encoder
                .finish()
                .map_err(|error| corrupt(compression, error))?;
        }
        Compression::Zstd => {
            // Level 0 stands for zstd's default, 3.
            let compressed = zstd::bulk::compress(plain, 0).map_err(failed)?;
            out.extend_from_slice(&compressed);
        }
    }
    Ok(())
}

fn compress_snappy(plain: &[u8], out: &mut Vec<u8>) -> Result<(), CompressionError> {
    out.extend_from_slice(SNAPPY_JAVA_MAGIC);
    out.extend_from_slice(SNAPPY_JAVA_VERSIONS);
    let mut encoder = snap::raw::Encoder::new();
    for block in plain.chunks(SNAPPY_BLOCK_BYTES) {
        let compressed = encoder
            .compress_vec(block)
            .map_err(|error| corrupt(Compression::Snappy, error))?;
        let length = u32::try_from(compressed.len()).expect("a block of 32 KiB stays small");
        out.extend_from_slice(&length.to_be_bytes());
        out.extend_from_slice(&compressed);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn compressed(compression: Compression, plain: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        compress(compression, plain, &mut out).unwrap();
        out
    }

    proptest! {
        #[test]
        fn every_compression_round_trips(
            which in 0_u8..5,
            plain in prop::collection::vec(0_u8..4, 0..100_000),
        ) {
            let compression = Compression::from_id(which).unwrap();
            let packed = compressed(compression, &plain);
            let mut decompressor = Decompressor::new(plain.len());
            prop_assert_eq!(decompressor.decompress(compression, &packed), Ok(&plain[..]));
        }

        #[test]
        fn bytes_from_nowhere_are_refused_or_bounded(
            which in 1_u8..5,
            bytes in prop::collection::vec(any::<u8>(), 0..200),
        ) {
            let mut decompressor = Decompressor::new(10_000);
            if let Ok(plain) = decompressor.decompress(Compression::from_id(which).unwrap(), &bytes) {
                prop_assert!(plain.len() <= 10_000);
            }
        }
    }

    #[test]
    fn a_bomb_is_refused_without_holding_what_it_claims() {
        let plain = vec![0; 50 << 20];
        for compression in Compression::ALL.into_iter().skip(1) {
            let bomb = compressed(compression, &plain);
            let mut decompressor = Decompressor::new(1 << 20);
            let limit = 1 << 20;
            assert_eq!(
                decompressor.decompress(compression, &bomb),
                Err(CompressionError::TooLarge { compression, limit })
            );
            assert!(decompressor.buffer.capacity() <= 4 << 20, "{compression:?}");
        }
    }

    #[test]
    fn exactly_the_limit_is_allowed_and_one_byte_more_is_not() {
        let plain = vec![7; 100_000];
        for compression in Compression::ALL.into_iter().skip(1) {
            let packed = compressed(compression, &plain);
            assert!(
                Decompressor::new(100_000)
                    .decompress(compression, &packed)
                    .is_ok()
            );
            assert!(
                Decompressor::new(99_999)
                    .decompress(compression, &packed)
                    .is_err()
            );
        }
    }

    #[test]
    fn every_truncation_is_refused() {
        let plain: Vec<u8> = (0..40_000_u32)
            .flat_map(|n| (n * n).to_be_bytes())
            .collect();
        for compression in Compression::ALL.into_iter().skip(1) {
            let packed = compressed(compression, &plain);
            let coarse = (0..packed.len()).step_by(packed.len() / 300);
            for length in coarse.chain(packed.len() - 12..packed.len()) {
                let mut decompressor = Decompressor::new(1 << 20);
                let result = decompressor.decompress(compression, &packed[..length]);
                // snappy-java's frame has no end: cut between blocks it is a shorter whole, which the record count then betrays.
                let is_shorter = result.as_ref().is_ok_and(|cut| cut.len() < plain.len());
                let may_be_shorter = compression == Compression::Snappy;
                assert!(
                    result.is_err() || (may_be_shorter && is_shorter),
                    "{compression:?} cut to {length}"
                );
            }
        }
    }

    #[test]
    fn a_snappy_block_without_javas_frame_is_read() {
        let plain = b"as librdkafka writes it, it, it";
        let block = snap::raw::Encoder::new().compress_vec(plain).unwrap();
        let mut decompressor = Decompressor::new(100);
        assert_eq!(
            decompressor.decompress(Compression::Snappy, &block),
            Ok(&plain[..])
        );
    }

    #[test]
    fn an_lz4_frame_with_dependent_blocks_is_refused() {
        let info = lz4_flex::frame::FrameInfo::new().block_mode(lz4_flex::frame::BlockMode::Linked);
        let mut encoder = lz4_flex::frame::FrameEncoder::with_frame_info(info, Vec::new());
        encoder.write_all(&[1; 1000]).unwrap();
        let frame = encoder.finish().unwrap();
        let result = Decompressor::new(10_000)
            .decompress(Compression::Lz4, &frame)
            .map(<[u8]>::len);
        assert!(
            matches!(result, Err(CompressionError::Corrupt { .. })),
            "{result:?}"
        );
    }

    #[test]
    fn names_and_numbers_lead_back() {
        for compression in Compression::ALL {
            assert_eq!(Compression::from_id(compression.id()), Some(compression));
            assert_eq!(
                Compression::from_name(compression.name()),
                Some(compression)
            );
        }
        assert_eq!(Compression::from_id(5), None);
        assert_eq!(
            Compression::from_name("uncompressed"),
            Some(Compression::None)
        );
        assert_eq!(Compression::from_name("brotli"), None);
    }
}
