//! A piece of a log, read and looked through once: what stands at each offset, and where its bytes are.
//!
//! Why it exists: the machine reads no batches; and many small receives, one after the other, must not read and unpack the same
//! megabyte again and again.
//! In -> out: bytes of whole batches -> what was found from one offset up to another, without holes; and each record on demand.

use super::delays::delay_of;
use crate::fetch_types::{AbortedTransaction, FetchedRecords};
use bytes::Bytes;
use fanlog_coordinators::queue::Found;
use fanlog_model::{Offset, ProducerId, TimestampMs};
use fanlog_protocol::records::{
    BatchError, BatchView, Compression, CompressionError, Decompressor, RecordError, RecordView,
};
use std::borrow::Cow;
use std::collections::HashSet;
use std::hash::Hasher;
use std::time::Duration;
use thiserror::Error;
use twox_hash::XxHash64;

/// No further batch is unpacked once so much is.
const UNPACKED_BYTES_MAX: usize = 2 * 1024 * 1024;

/// What was read is not what was once written.
#[derive(Debug, Error)]
pub(super) enum PieceError {
    #[error(transparent)]
    Batch(#[from] BatchError),
    #[error(transparent)]
    Compression(#[from] CompressionError),
    #[error(transparent)]
    Record(#[from] RecordError),
}

/// Who is asked whether the queue wants a record; and how long it waits where its headers don't say, unless nothing delays it.
pub(super) type Rules<'a> = (&'a dyn Fn(&RecordView<'_>) -> bool, Option<Duration>);

/// Which part of what was read is looked through.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) from: Offset,
    /// Up to there, if nothing was read.
    pub(super) below: Offset,
    /// No more records than so many.
    pub(super) records_max: usize,
}

impl Part {
    pub(super) fn all(from: Offset, below: Offset) -> Self {
        Self {
            from,
            below,
            records_max: usize::MAX,
        }
    }
}

/// What was found from one offset up to another.
#[derive(Debug, Default)]
pub(super) struct Piece {
    found: Vec<Found>,
    /// Beside `found`: where each record stands.
    places: Vec<Place>,
    /// The records of the batches, unpacked.
    plain: Vec<Bytes>,
    first: Offset,
    end: Offset,
    /// How many records have a delay that can't be read.
    pub(super) unreadable_delays: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Place {
    plain: u32,
    at: u32,
    length: u32,
    timestamp: TimestampMs,
}

/// The transactions that were aborted, while batches are passed in order.
struct Aborted<'a> {
    ahead: &'a [AbortedTransaction],
    open: HashSet<ProducerId>,
}

impl Aborted<'_> {
    /// Whether a batch has nothing for a consumer that sees what is committed.
    fn takes(&mut self, batch: &BatchView<'_>) -> bool {
        while let Some((next, rest)) = self.ahead.split_first()
            && next.first_offset <= batch.last_offset()
        {
            self.open.insert(next.producer_id);
            self.ahead = rest;
        }
        if batch.is_control() {
            // A marker ends its producer's transaction.
            self.open.remove(&batch.producer_id());
            return true;
        }
        batch.is_transactional() && self.open.contains(&batch.producer_id())
    }
}

impl Piece {
    /// What lies from `from` on, up to the end of what was read, or until there are enough records; or up to `below`, if nothing was read.
    pub(super) fn of(
        read: &FetchedRecords,
        part: Part,
        rules: Rules<'_>,
    ) -> Result<Self, PieceError> {
        let mut piece = Self {
            first: part.from,
            end: part.from,
            ..Self::default()
        };
        let mut aborted = Aborted {
            ahead: &read.aborted_transactions,
            open: HashSet::new(),
        };
        let mut decompressor = Decompressor::default();
        for bytes in &read.records {
            let mut at = 0;
            while at < bytes.len() {
                let batch = BatchView::parse(&bytes[at..])?;
                let of_batch = bytes.slice(at..at + batch.total_len());
                at += batch.total_len();
                let is_enough = piece.found.len() >= part.records_max;
                if is_enough || piece.unpacked_bytes() >= UNPACKED_BYTES_MAX {
                    return Ok(piece);
                }
                match aborted.takes(&batch) {
                    true => piece.pass(batch.next_offset()),
                    false => {
                        let records_max = part.records_max;
                        piece.add(&batch, (&of_batch, records_max), &mut decompressor, rules)?;
                    }
                }
            }
        }
        if piece.end == part.from {
            // Compaction has left nothing there.
            piece.pass(part.below);
        }
        Ok(piece)
    }

    fn add(
        &mut self,
        batch: &BatchView<'_>,
        (bytes, records_max): (&Bytes, usize),
        decompressor: &mut Decompressor,
        rules: Rules<'_>,
    ) -> Result<(), PieceError> {
        let packed = batch.compressed_records();
        let plain = match batch.compression() {
            Compression::None => bytes.slice_ref(packed),
            compression => Bytes::copy_from_slice(decompressor.decompress(compression, packed)?),
        };
        let number = self.plain.len() as u32;
        let mut at = 0;
        let count = batch.record_count();
        let mut is_whole = true;
        for record in RecordView::all(&plain, count) {
            let record = record?;
            let length = record.bytes.len();
            let offset = batch.offset_of(record.offset_delta);
            if offset >= self.end {
                if self.found.len() >= records_max {
                    is_whole = false;
                    break;
                }
                self.pass(offset);
                let place = Place {
                    plain: number,
                    at: at as u32,
                    length: length as u32,
                    timestamp: batch.timestamp_of(record.timestamp_delta),
                };
                self.put(offset, &record, place, rules);
            }
            at += length;
        }
        if is_whole {
            self.pass(batch.next_offset());
        }
        self.plain.push(plain);
        Ok(())
    }

    fn put(&mut self, offset: Offset, record: &RecordView<'_>, place: Place, rules: Rules<'_>) {
        let is_wanted = rules.0(record);
        let delay = match rules.1.filter(|_| is_wanted) {
            Some(usual) => delay_of(record.headers(), place.timestamp, usual),
            None => Default::default(),
        };
        self.unreadable_delays += u64::from(delay.is_unreadable);
        self.found.push(Found {
            first: offset,
            last: offset,
            is_gap: false,
            is_wanted,
            key: record.key.map(key_hash),
            due: delay.due,
        });
        self.places.push(place);
        self.end = offset.plus(1);
    }

    /// There is nothing below `to` that was not found yet.
    fn pass(&mut self, to: Offset) {
        if self.end >= to {
            return;
        }
        let last = Offset(to.0 - 1);
        match self.found.last_mut() {
            Some(gap) if gap.is_gap => gap.last = last,
            _ => {
                self.found.push(Found {
                    first: self.end,
                    last,
                    is_gap: true,
                    is_wanted: false,
                    key: None,
                    due: None,
                });
                self.places.push(Place::default());
            }
        }
        self.end = to;
    }

    fn unpacked_bytes(&self) -> usize {
        self.plain.iter().map(Bytes::len).sum()
    }

    /// What it takes of memory.
    pub(super) fn bytes(&self) -> usize {
        self.unpacked_bytes() + self.found.len() * (size_of::<Found>() + size_of::<Place>())
    }

    /// Whether it says what stands at an offset.
    pub(super) fn covers(&self, offset: Offset) -> bool {
        self.first <= offset && offset < self.end
    }

    /// The offset behind it.
    pub(super) fn end(&self) -> Offset {
        self.end
    }

    /// What was found from an offset on.
    pub(super) fn found_from(&self, from: Offset) -> Cow<'_, [Found]> {
        let at = self.found.partition_point(|found| found.last < from);
        let found = &self.found[at..];
        match found.first() {
            Some(gap) if gap.first < from => {
                let mut found = found.to_vec();
                found[0].first = from;
                Cow::Owned(found)
            }
            _ => Cow::Borrowed(found),
        }
    }

    /// What was found from an offset on, and the bytes of each record.
    pub(super) fn places_from(&self, from: Offset) -> impl Iterator<Item = (Found, usize)> + '_ {
        let at = self.found.partition_point(|found| found.last < from);
        let places = self.found[at..].iter().zip(&self.places[at..]);
        places.map(move |(found, place)| {
            let first = found.first.max(from);
            (Found { first, ..*found }, place.length as usize)
        })
    }

    /// The record at an offset and its time, if there is one.
    pub(super) fn record(&self, offset: Offset) -> Option<(RecordView<'_>, TimestampMs)> {
        let at = self.found.partition_point(|found| found.last < offset);
        let found = self.found.get(at)?;
        if found.is_gap || found.first != offset {
            return None;
        }
        let place = self.places[at];
        let from = place.at as usize;
        let bytes = &self.plain[place.plain as usize][from..from + place.length as usize];
        let record = RecordView::parse(bytes).expect("it was read here before");
        Some((record, place.timestamp))
    }
}

/// The same in every version: what waits for a key is found by it.
pub(super) fn key_hash(key: &[u8]) -> u64 {
    let mut hasher = XxHash64::with_seed(0);
    hasher.write(key);
    hasher.finish()
}

#[cfg(test)]
#[path = "piece_tests.rs"]
mod tests;
