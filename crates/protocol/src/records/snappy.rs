//! snappy as Kafka's clients write it: framed as snappy-java does, or one bare block (librdkafka writes that).
//!
//! In -> out: what stands after a batch's header -> its content, or what is wrong with it; and back.
//! Invariants: OPS-1.
//!
//! snappy-java's frame, numbers big-endian: `magic (8) | version (4) | readable since (4) | (length (4) | block)*`.

use super::output::{Output, Refused};

const JAVA_MAGIC: &[u8] = b"\x82SNAPPY\0";
/// Version 1, readable since version 1.
const JAVA_VERSIONS: &[u8] = &[0, 0, 0, 1, 0, 0, 0, 1];
/// snappy-java's block size in Kafka.
const BLOCK_BYTES: usize = 32 * 1024;
/// A 3-byte copy yields 64 bytes at most.
const RATIO_MAX: usize = 22;

/// Decompresses every block.
pub(super) fn decompress(compressed: &[u8], output: &mut Output) -> Result<(), Refused> {
    blocks(compressed).try_for_each(|block| unpack(block?, output))
}

/// The most bytes that the blocks can hold, as they claim; nothing where they aren't whole.
pub(super) fn bytes_max(compressed: &[u8]) -> Option<usize> {
    blocks(compressed).try_fold(0_usize, |bytes, block| {
        bytes.checked_add(snap::raw::decompress_len(block.ok()?).ok()?)
    })
}

fn unpack(block: &[u8], output: &mut Output) -> Result<(), Refused> {
    let failed = |error: snap::Error| Refused::Corrupt(error.to_string());
    let claimed = snap::raw::decompress_len(block).map_err(failed)?;
    // A claim that is false must not reserve memory.
    if claimed > block.len().saturating_mul(RATIO_MAX) {
        return Err("a block claims an impossible length".into());
    }
    let room = output.room(claimed)?;
    let written = snap::raw::Decoder::new().decompress(block, room);
    output.advance(written.map_err(failed)?)?;
    Ok(())
}

/// The blocks of snappy-java's frame, or the one that stands alone.
fn blocks(compressed: &[u8]) -> impl Iterator<Item = Result<&[u8], &'static str>> {
    let framed = compressed.strip_prefix(JAVA_MAGIC);
    let alone = framed.is_none().then_some(Ok(compressed));
    let blocks = framed.map(|framed| framed.get(JAVA_VERSIONS.len()..));
    let headless = (blocks == Some(None)).then_some(Err("the frame's header is cut"));
    let mut rest = blocks.flatten().unwrap_or_default();
    let framed = std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let block = block(&mut rest).ok_or("a block is cut");
        rest = block.map_or(&[], |_| rest);
        Some(block)
    });
    alone.into_iter().chain(headless).chain(framed)
}

fn block<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, after) = rest.split_first_chunk::<4>()?;
    let (block, after) = after.split_at_checked(u32::from_be_bytes(*length) as usize)?;
    *rest = after;
    Some(block)
}

/// Appends `plain`, compressed and framed, to `out`.
pub(super) fn compress(plain: &[u8], out: &mut Vec<u8>) -> Result<(), snap::Error> {
    out.extend_from_slice(JAVA_MAGIC);
    out.extend_from_slice(JAVA_VERSIONS);
    let mut encoder = snap::raw::Encoder::new();
    for block in plain.chunks(BLOCK_BYTES) {
        let compressed = encoder.compress_vec(block)?;
        let length = u32::try_from(compressed.len()).expect("a block of 32 KiB stays small");
        out.extend_from_slice(&length.to_be_bytes());
        out.extend_from_slice(&compressed);
    }
    Ok(())
}
