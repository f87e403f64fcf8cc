//! The lz4 frame as Kafka's clients read it: version 1, blocks that don't depend on each other, one frame and nothing behind it.
//!
//! Why it exists: a frame's blocks are decompressed straight to where they belong. A reader that hands bytes on from a buffer of
//! its own would allocate two buffers, fill them with zeros and copy everything, for every batch.
//! In -> out: a whole frame -> its content, or what is wrong with it.
//! Invariants: OPS-1.
//!
//! Layout, numbers little-endian:
//! ```text
//! magic (4) | flags | block size | content size (8)? | header checksum |
//! (length (4), highest bit: not compressed | block | block checksum (4)?)* | 0 (4) | content checksum (4)?
//! ```

use super::output::{Output, Refused};
use lz4_flex::block::{DecompressError, decompress_into};
use twox_hash::XxHash32;

const MAGIC: &[u8] = &[0x04, 0x22, 0x4d, 0x18];
const UNCOMPRESSED: u32 = 0x8000_0000;
/// No byte of a block stands for more.
const RATIO_MAX: usize = 255;
const CUT: &str = "the frame is cut";

struct Header {
    has_block_checksums: bool,
    has_content_checksum: bool,
    block_bytes_max: usize,
    content_bytes: Option<u64>,
}

/// One block, its checksum aside.
struct Block<'a> {
    bytes: &'a [u8],
    is_compressed: bool,
    checksum: Option<u32>,
}

/// Decompresses a frame.
pub(super) fn decompress(frame: &[u8], output: &mut Output) -> Result<(), Refused> {
    let (header, mut rest) = header(frame)?;
    while let Some(block) = block(&header, &mut rest)? {
        let expected = block.checksum;
        if expected.is_some_and(|expected| expected != checksum(block.bytes)) {
            return Err("the checksum of a block differs".into());
        }
        let written = unpack(&header, &block, output)?;
        output.advance(written)?;
    }
    let content = output.filled();
    let claimed = header.content_bytes;
    if claimed.is_some_and(|claimed| claimed != content.len() as u64) {
        return Err("the frame's content has another size than it claims".into());
    }
    if header.has_content_checksum && number(&mut rest).ok_or(CUT)? != checksum(content) {
        return Err("the checksum of the frame's content differs".into());
    }
    if rest.is_empty() {
        Ok(())
    } else {
        Err("bytes follow the frame".into())
    }
}

/// The most bytes that a frame can hold, from the lengths of its blocks; nothing where it isn't a whole frame.
pub(super) fn bytes_max(frame: &[u8]) -> Option<usize> {
    let (header, mut rest) = header(frame).ok()?;
    let mut bytes = 0_usize;
    while let Some(block) = block(&header, &mut rest).ok()? {
        bytes += room(&header, &block);
    }
    Some(bytes)
}

fn header(frame: &[u8]) -> Result<(Header, &[u8]), Refused> {
    let rest = frame.strip_prefix(MAGIC);
    let rest = rest.ok_or("an lz4 frame does not begin here")?;
    let (&[flags, sizes], mut after) = rest.split_first_chunk().ok_or(CUT)?;
    if flags >> 6 != 1 {
        return Err("the frame's version is not 1".into());
    }
    if flags & 0x20 == 0 {
        let reason = "the frame's blocks depend on each other, which Kafka's clients cannot read";
        return Err(reason.into());
    }
    if flags & 0x01 != 0 {
        return Err("the frame needs a dictionary".into());
    }
    if flags & 0x02 != 0 || sizes & 0x8f != 0 {
        return Err("the frame's header has unknown bits".into());
    }
    let block_bytes_max = match sizes >> 4 {
        size @ 4..=7 => 1 << (8 + 2 * size),
        _ => return Err("the frame's blocks have no known size".into()),
    };
    let mut content_bytes = None;
    if flags & 0x08 != 0 {
        let (bytes, behind) = after.split_first_chunk().ok_or(CUT)?;
        content_bytes = Some(u64::from_le_bytes(*bytes));
        after = behind;
    }
    let described = &rest[..rest.len() - after.len()];
    let (&expected, blocks) = after.split_first().ok_or(CUT)?;
    if expected != checksum(described).to_le_bytes()[1] {
        return Err("the checksum of the frame's header differs".into());
    }
    let header = Header {
        has_block_checksums: flags & 0x10 != 0,
        has_content_checksum: flags & 0x04 != 0,
        block_bytes_max,
        content_bytes,
    };
    Ok((header, blocks))
}

/// The next block, or none at the end mark. Kafka's clients take a length of 0 for the end whatever the highest bit says.
fn block<'a>(header: &Header, rest: &mut &'a [u8]) -> Result<Option<Block<'a>>, Refused> {
    let length = number(rest).ok_or(CUT)?;
    let bytes = (length & !UNCOMPRESSED) as usize;
    if bytes == 0 {
        return Ok(None);
    }
    if bytes > header.block_bytes_max {
        return Err("a block is larger than the frame's blocks may be".into());
    }
    let (bytes, after) = rest.split_at_checked(bytes).ok_or(CUT)?;
    *rest = after;
    let checksum = match header.has_block_checksums {
        true => Some(number(rest).ok_or(CUT)?),
        false => None,
    };
    let is_compressed = length & UNCOMPRESSED == 0;
    Ok(Some(Block {
        bytes,
        is_compressed,
        checksum,
    }))
}

/// The most bytes that a block can hold.
fn room(header: &Header, block: &Block<'_>) -> usize {
    if block.is_compressed {
        let bytes = block.bytes.len().saturating_mul(RATIO_MAX);
        bytes.min(header.block_bytes_max)
    } else {
        block.bytes.len()
    }
}

/// Writes a block's content into the output's room.
fn unpack(header: &Header, block: &Block<'_>, output: &mut Output) -> Result<usize, Refused> {
    if !block.is_compressed {
        let room = output.room(block.bytes.len())?;
        room.copy_from_slice(block.bytes);
        return Ok(room.len());
    }
    let wanted = room(header, block);
    let allowed = wanted.min(output.left());
    // The decoder sees no more than this block's room, so that no block reaches back into what stood before.
    match decompress_into(block.bytes, output.room(allowed)?) {
        Ok(written) => Ok(written),
        Err(DecompressError::OutputTooSmall { .. }) if allowed < wanted => Err(Refused::TooLarge),
        Err(error) => Err(Refused::Corrupt(error.to_string())),
    }
}

fn number(rest: &mut &[u8]) -> Option<u32> {
    let (bytes, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(u32::from_le_bytes(*bytes))
}

fn checksum(bytes: &[u8]) -> u32 {
    XxHash32::oneshot(0, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lz4_flex::frame::{BlockMode, BlockSize, FrameEncoder, FrameInfo};
    use proptest::prelude::*;
    use std::io::Write;

    const LIMIT: usize = 1 << 20;

    fn frame(info: FrameInfo, plain: &[u8]) -> Vec<u8> {
        let info = info.block_mode(BlockMode::Independent);
        let mut encoder = FrameEncoder::with_frame_info(info, Vec::new());
        encoder.write_all(plain).unwrap();
        encoder.finish().unwrap()
    }

    fn unpacked(frame: &[u8]) -> Result<Vec<u8>, Refused> {
        let mut output = Output::new(LIMIT);
        decompress(frame, &mut output)?;
        Ok(output.filled().to_vec())
    }

    fn whole() -> FrameInfo {
        FrameInfo::new()
            .block_size(BlockSize::Max64KB)
            .block_checksums(true)
            .content_checksum(true)
    }

    /// Compressible at its beginning only, so that a frame of it has blocks of both kinds.
    fn plain() -> Vec<u8> {
        let noise = (0..70_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8);
        std::iter::repeat_n(7, 70_000).chain(noise).collect()
    }

    #[test]
    fn every_optional_field_is_read_and_checked() {
        let plain = plain();
        let size = Some(plain.len() as u64);
        for info in [FrameInfo::new(), whole(), whole().content_size(size)] {
            let frame = frame(info, &plain);
            assert_eq!(unpacked(&frame).as_ref(), Ok(&plain));
            assert!(bytes_max(&frame).is_some_and(|max| max >= plain.len()));
        }
    }

    #[test]
    fn a_changed_byte_is_refused_wherever_a_checksum_covers_it() {
        let plain = plain();
        let packed = frame(whole().content_size(Some(plain.len() as u64)), &plain);
        // Whatever the end mark's highest bit says, it is the end.
        let no_matter = (packed.len() - 5, 0x80);
        let near_ends = (0..40).chain(packed.len() - 40..packed.len());
        for at in near_ends.chain((40..packed.len() - 40).step_by(97)) {
            for bit in [0x01, 0x80] {
                let mut changed = packed.clone();
                changed[at] ^= bit;
                let found = unpacked(&changed);
                let is_read = (at, bit) == no_matter;
                assert_eq!(found.is_ok(), is_read, "byte {at} ^ {bit:#x}");
            }
        }
    }

    #[test]
    fn a_claimed_size_must_be_the_contents() {
        let mut packed = frame(whole().content_size(Some(70_000)), &[1; 70_000]);
        let claimed = 6..14;
        packed[claimed].copy_from_slice(&70_001_u64.to_le_bytes());
        packed[14] = checksum(&packed[4..14]).to_le_bytes()[1];
        let found = unpacked(&packed);
        assert!(matches!(found, Err(Refused::Corrupt(why)) if why.contains("another size")));
    }

    #[test]
    fn a_block_cannot_reach_into_the_block_before_it() {
        // The second block's one copy begins a byte before that block.
        let mut packed = frame(FrameInfo::new().block_size(BlockSize::Max64KB), b"");
        let end = packed.split_off(7);
        for block in [&b"\x50abcde"[..], b"\x10x\x02\x00\x50abcde"] {
            packed.extend_from_slice(&(block.len() as u32).to_le_bytes());
            packed.extend_from_slice(block);
        }
        packed.extend_from_slice(&end);
        let mut output = Output::new(LIMIT);
        output.room(1_000).unwrap().fill(0xee);
        let found = decompress(&packed, &mut output);
        assert!(matches!(found, Err(Refused::Corrupt(_))), "{found:?}");
    }

    #[test]
    fn a_large_block_size_claimed_for_few_bytes_takes_little_memory() {
        let packed = frame(FrameInfo::new().block_size(BlockSize::Max4MB), &[3; 5_000]);
        let mut output = Output::new(8 << 20);
        decompress(&packed, &mut output).unwrap();
        assert_eq!(output.filled(), [3; 5_000]);
        assert!(output.capacity() <= packed.len() * RATIO_MAX);
    }

    proptest! {
        #[test]
        fn what_the_encoder_writes_is_read_back(
            plain in prop::collection::vec(0_u8..3, 0..200_000),
            with_checksums: bool,
        ) {
            let info = if with_checksums { whole() } else { FrameInfo::new() };
            let packed = frame(info, &plain);
            prop_assert!(bytes_max(&packed).is_some_and(|max| max >= plain.len()));
            prop_assert_eq!(unpacked(&packed), Ok(plain));
        }
    }
}
