//! The small files beside a log: what can be read is written again as it was.

use fanlog_storage::formats::*;
use std::fmt::Debug;

/// Reads, writes and reads again.
fn stays<T: PartialEq + Debug, E>(
    bytes: &[u8],
    decode: impl Fn(&[u8]) -> Result<T, E>,
    encode: impl Fn(&T) -> Vec<u8>,
) {
    let Ok(read) = decode(bytes) else { return };
    let written = encode(&read);
    let Ok(again) = decode(&written) else {
        panic!("what we wrote cannot be read: {read:?}");
    };
    assert_eq!(again, read);
}

/// One byte says which index.
pub(crate) fn indexes(bytes: &[u8]) {
    let Some((which, bytes)) = bytes.split_first() else {
        return;
    };
    match which % 3 {
        0 => stays(bytes, offset_index::decode_all, |all| {
            all.iter().flat_map(|entry| entry.encode()).collect()
        }),
        1 => stays(bytes, time_index::decode_all, |all| {
            all.iter().flat_map(|entry| entry.encode()).collect()
        }),
        _ => stays(bytes, transaction_index::decode_all, |all| {
            all.iter().flat_map(|entry| entry.encode()).collect()
        }),
    }
}

/// The snapshot of producers; its checksum is put right first.
pub(crate) fn producer_snapshot(bytes: &[u8]) {
    let (decode, encode) = (producer_snapshot::decode, producer_snapshot::encode);
    stays(bytes, decode, |entries| encode(entries));
    // Version in two bytes, checksum in four, then what it is computed over.
    let mut fixed = bytes.to_vec();
    if let Some((head, body)) = fixed.split_at_mut_checked(6) {
        head[2..].copy_from_slice(&crc32c(body).to_be_bytes());
        stays(&fixed, decode, |entries| encode(entries));
    }
}

/// CRC-32C, bit by bit: the fuzzer's own, so that it does not share a mistake with what it tests.
fn crc32c(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| (crc >> 1) ^ (0x82f6_3b78 & (crc & 1).wrapping_neg());
    !bytes
        .iter()
        .fold(!0, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), step))
}

/// One byte says which file.
pub(crate) fn checkpoints(bytes: &[u8]) {
    let Some((which, bytes)) = bytes.split_first() else {
        return;
    };
    match which % 6 {
        0 => stays(bytes, leader_epoch_checkpoint::decode, |all| {
            leader_epoch_checkpoint::encode(all)
        }),
        1 => stays(bytes, offset_checkpoint::decode, |all| {
            offset_checkpoint::encode(all)
        }),
        2 => stays(bytes, partition_metadata::decode, |id| {
            partition_metadata::encode(*id)
        }),
        3 => stays(bytes, clean_shutdown::decode, |epoch| {
            clean_shutdown::encode(*epoch)
        }),
        4 => stays(bytes, recovery_mark::decode, |offset| {
            recovery_mark::encode(*offset).to_vec()
        }),
        _ => {
            let name = String::from_utf8_lossy(bytes);
            if let Some((offset, suffix)) = file_names::parse(&name) {
                assert_eq!(file_names::with_offset(offset, suffix), name);
            }
        }
    }
}
