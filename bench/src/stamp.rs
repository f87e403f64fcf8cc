//! Numbers and times in the records of a batch that was encoded once.
//!
//! A value begins with a number and the time of sending, both of 8 bytes. They lie inside the batch's checksum, which is therefore
//! computed anew; for the sizes in use that costs microseconds.

use anyhow::{Context, ensure};
use fanlog_protocol::records::{BatchView, Decompressor};

/// The bytes of a stamp.
pub(crate) const STAMP_BYTES: usize = 16;
/// Where a batch has its checksum, and where the bytes begin that it covers (message format 2).
const CRC_AT: usize = 17;
const COVERED_AT: usize = 21;

/// What a record says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    /// Its number in its partition, from 0.
    pub(crate) number: u64,
    /// When it was sent, in nanoseconds of the sender's clock.
    pub(crate) sent_ns: u64,
}

impl Stamp {
    /// Reads the stamp at the beginning of a value.
    pub(crate) fn read(value: &[u8]) -> Option<Self> {
        let (number, rest) = value.split_first_chunk()?;
        let sent = rest.first_chunk()?;
        Some(Self {
            number: u64::from_be_bytes(*number),
            sent_ns: u64::from_be_bytes(*sent),
        })
    }
}

/// Where the values of a batch's records begin.
///
/// # Errors
/// The batch is compressed, or a value is too short for a stamp.
pub(crate) fn places(batch: &[u8]) -> anyhow::Result<Vec<usize>> {
    let view = BatchView::parse(batch)?;
    let stored = view.compressed_records().as_ptr_range();
    let mut decompressor = Decompressor::default();
    let mut places = Vec::new();
    for record in view.records(&mut decompressor)? {
        let value = record?.value.context("a record without a value")?;
        ensure!(
            value.len() >= STAMP_BYTES,
            "a value of {} bytes has no room for a stamp of {STAMP_BYTES}",
            value.len()
        );
        ensure!(
            stored.contains(&value.as_ptr()),
            "a compressed batch cannot be stamped"
        );
        places.push(value.as_ptr() as usize - batch.as_ptr() as usize);
    }
    Ok(places)
}

/// Numbers the records at `places` from `first` on, and sets the checksum.
pub(crate) fn stamp(batch: &mut [u8], places: &[usize], first: u64, sent_ns: u64) {
    for (number, at) in (first..).zip(places) {
        batch[*at..at + 8].copy_from_slice(&number.to_be_bytes());
        batch[at + 8..at + STAMP_BYTES].copy_from_slice(&sent_ns.to_be_bytes());
    }
    let crc = crc32c::crc32c(&batch[COVERED_AT..]);
    batch[CRC_AT..CRC_AT + 4].copy_from_slice(&crc.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use fanlog_model::TimestampMs;
    use fanlog_protocol::records::{BatchBuilder, Compression, NewRecord};

    fn batch(compression: Compression, bytes: usize) -> Vec<u8> {
        let mut builder = BatchBuilder::new(compression);
        for _ in 0..3 {
            builder
                .push(&NewRecord {
                    timestamp: TimestampMs(1),
                    key: None,
                    value: Some(&vec![b'x'; bytes]),
                    headers: &[],
                })
                .unwrap();
        }
        builder.build().unwrap()
    }

    #[test]
    fn stamped_records_are_numbered_and_their_checksum_is_right() {
        let mut batch = batch(Compression::None, 20);
        let places = places(&batch).unwrap();
        stamp(&mut batch, &places, 7, 99);
        let view = BatchView::parse(&batch).unwrap();
        view.check_crc().unwrap();
        let mut decompressor = Decompressor::default();
        let stamps: Vec<_> = view
            .records(&mut decompressor)
            .unwrap()
            .map(|record| Stamp::read(record.unwrap().value.unwrap()).unwrap())
            .collect();
        let expected = [7, 8, 9].map(|number| Stamp {
            number,
            sent_ns: 99,
        });
        assert_eq!(stamps, expected);
    }

    #[test]
    fn batches_without_room_for_stamps_are_refused() {
        assert!(places(&batch(Compression::None, 15)).is_err());
        assert!(places(&batch(Compression::Lz4, 1000)).is_err());
        assert_eq!(Stamp::read(&[0; 15]), None);
    }
}
