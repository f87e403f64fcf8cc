//! The five compressions, in Kafka's framings, with bounded output.
//!
//! Why it exists: a batch of a few hundred bytes can claim to hold gigabytes; nothing it claims may reserve memory.
//! Owns: the buffer that batches are decompressed into.   Never: the layout of records.
//! In -> out: the bytes after a batch's header -> its records' bytes, and back.
//! Invariants: OPS-1.
//!
//! Framings, which all Kafka clients share: gzip members; snappy as snappy-java frames it, or one bare block (librdkafka writes
//! that); an lz4 frame with independent blocks; zstd frames.

use super::output::{Output, Refused};
use super::{lz4, snappy, zstd_frames};
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

impl Compression {
    /// The most bytes that `compressed` can hold, as its frames' headers tell without decompressing it: a claim of less is refused
    /// later. `None` where they don't tell.
    pub fn decompressed_bytes_max(self, compressed: &[u8]) -> Option<usize> {
        match self {
            Self::None => Some(compressed.len()),
            Self::Gzip => None,
            Self::Snappy => snappy::bytes_max(compressed),
            Self::Lz4 => lz4::bytes_max(compressed),
            Self::Zstd => zstd_frames::bytes_max(compressed),
        }
    }
}

/// A buffer that batches are decompressed into, one after the other, never beyond its limit. It is worth keeping: its memory is
/// neither reserved nor cleared anew for the next batch.
pub struct Decompressor {
    output: Output,
    zstd: zstd_frames::Decoder,
}

impl std::fmt::Debug for Decompressor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Decompressor")
            .field("limit", &self.limit())
            .finish_non_exhaustive()
    }
}

impl Default for Decompressor {
    fn default() -> Self {
        Self::new(fanlog_model::limits::DECOMPRESSED_BATCH_BYTES_MAX)
    }
}

impl Decompressor {
    /// A buffer that holds at most `limit` bytes.
    pub const fn new(limit: usize) -> Self {
        Self {
            output: Output::new(limit),
            zstd: zstd_frames::Decoder::new(),
        }
    }

    /// The most bytes that one batch may decompress to.
    pub const fn limit(&self) -> usize {
        self.output.limit()
    }

    /// Gives back what a large batch took; a few megabytes stay.
    pub fn trim(&mut self) {
        self.output.trim();
        self.zstd.trim();
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
        if compression == Compression::None {
            return Ok(compressed);
        }
        self.trim();
        match compression {
            Compression::None => {}
            Compression::Snappy => {
                let done = snappy::decompress(compressed, &mut self.output);
                done.map_err(|refused| self.refused(compression, refused))?;
            }
            Compression::Gzip => self.gzip(compressed)?,
            Compression::Lz4 => {
                let done = lz4::decompress(compressed, &mut self.output);
                done.map_err(|refused| self.refused(compression, refused))?;
            }
            Compression::Zstd => {
                let done = self.zstd.decompress(compressed, &mut self.output);
                done.map_err(|refused| self.refused(compression, refused))?;
            }
        }
        Ok(self.output.filled())
    }

    fn gzip(&mut self, compressed: &[u8]) -> Result<(), CompressionError> {
        let mut reader = flate2::bufread::MultiGzDecoder::new(compressed);
        loop {
            let read = reader.read(self.output.step());
            let read = read.map_err(|error| corrupt(Compression::Gzip, error))?;
            self.advance(Compression::Gzip, read)?;
            if read == 0 {
                return Ok(());
            }
        }
    }

    fn advance(&mut self, compression: Compression, count: usize) -> Result<(), CompressionError> {
        let done = self.output.advance(count);
        done.map_err(|full| self.refused(compression, full.into()))
    }

    fn refused(&self, compression: Compression, refused: Refused) -> CompressionError {
        match refused {
            Refused::TooLarge => CompressionError::TooLarge {
                compression,
                limit: self.limit(),
            },
            Refused::Corrupt(reason) => corrupt(compression, reason),
        }
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
        Compression::Snappy => {
            snappy::compress(plain, out).map_err(|error| corrupt(compression, error))?;
        }
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

#[cfg(test)]
mod tests {
    use super::super::output::KEPT_BYTES_MAX;
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
            assert!(decompressor.output.capacity() <= 4 << 20, "{compression:?}");
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
    fn headers_tell_how_much_comes_at_most() {
        for bytes in [0, 1, 1_000, 300_000] {
            let plain = vec![9; bytes];
            for compression in Compression::ALL {
                let packed = compressed(compression, &plain);
                let max = compression.decompressed_bytes_max(&packed);
                match compression {
                    Compression::Gzip => assert_eq!(max, None),
                    Compression::Lz4 => {
                        assert!(max.is_some_and(|max| max >= bytes && max < bytes + 64 * 1024));
                    }
                    _ => assert_eq!(max, Some(bytes), "{compression:?}"),
                }
            }
        }
        let two = [
            compressed(Compression::Zstd, b"one"),
            compressed(Compression::Zstd, b"two"),
        ];
        assert_eq!(
            Compression::Zstd.decompressed_bytes_max(&two.concat()),
            None
        );
    }

    #[test]
    fn a_zstd_frame_that_claims_less_than_it_holds_is_refused_before_it_is_unpacked() {
        let mut packed = Vec::new();
        let mut encoder = zstd::stream::Encoder::new(&mut packed, 1).unwrap();
        encoder.set_pledged_src_size(Some(50 << 20)).unwrap();
        encoder.include_contentsize(true).unwrap();
        encoder.write_all(&vec![0; 50 << 20]).unwrap();
        encoder.finish().unwrap();
        let claim = (50_u32 << 20).to_le_bytes();
        let at = packed.windows(4).position(|bytes| bytes == claim).unwrap();
        packed[at..at + 4].copy_from_slice(&1_000_u32.to_le_bytes());
        let max = Compression::Zstd.decompressed_bytes_max(&packed);
        assert_eq!(max, Some(1_000));
        let mut decompressor = Decompressor::default();
        let result = decompressor.decompress(Compression::Zstd, &packed);
        assert!(
            matches!(result, Err(CompressionError::Corrupt { .. })),
            "{result:?}"
        );
        assert!(decompressor.output.capacity() <= 1 << 20);
    }

    #[test]
    fn leftovers_of_an_earlier_batch_never_show() {
        let mut decompressor = Decompressor::new(1 << 20);
        for round in 0..3_u8 {
            for compression in Compression::ALL {
                for bytes in [100_000, 10, 0, 5_000] {
                    let plain: Vec<u8> = (0..bytes).map(|n| (n as u8) ^ round).collect();
                    let packed = compressed(compression, &plain);
                    let cut = &packed[..packed.len() / 2];
                    let _refused = decompressor.decompress(compression, cut).is_err();
                    assert_eq!(
                        decompressor.decompress(compression, &packed),
                        Ok(&plain[..])
                    );
                }
            }
        }
    }

    #[test]
    fn a_kept_buffer_gives_back_what_a_large_batch_took() {
        let plain = vec![5; 40 << 20];
        for compression in Compression::ALL.into_iter().skip(1) {
            let mut decompressor = Decompressor::new(64 << 20);
            let packed = compressed(compression, &plain);
            assert_eq!(
                decompressor.decompress(compression, &packed),
                Ok(&plain[..])
            );
            decompressor.trim();
            assert!(decompressor.output.capacity() <= KEPT_BYTES_MAX);
            assert!(decompressor.zstd.bytes() <= KEPT_BYTES_MAX);
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
