//! A batch's header as read from a segment, without its records, and the walk from one to the next.
//!
//! Why it exists: finding a batch must not cost reading the records of those before it.

use crate::formats::be;
use fanlog_environment::DiskFile;
use fanlog_model::{LeaderEpoch, Offset, ProducerEpoch, ProducerId, TimestampMs};
use fanlog_protocol::records::{BatchView, EndMarker, HEADER_BYTES};
use std::io;

const MAGIC: u8 = 2;
/// What the length field does not count.
const UNCOUNTED_BYTES: u64 = 12;
const TRANSACTIONAL_BIT: i16 = 0x10;
const CONTROL_BIT: i16 = 0x20;
/// Where the bytes begin that the checksum covers.
const CHECKED_FROM: u64 = 21;
/// How much is read at once while walking: the bytes between two index entries.
const WALK_BYTES: usize = 4096;
/// How much is read at once while walking where the checksums are wanted too: a start walks what was not synced, which may be
/// half a million small batches.
const CHECKED_WALK_BYTES: usize = 256 * 1024;
/// How much is asked for ahead where small batches follow each other. The kernel reads nothing ahead by itself.
const AHEAD_BYTES: u64 = 256 * 1024;
/// How much is read at once while computing a checksum.
const CHECKSUM_BYTES: usize = 256 * 1024;

/// A control batch that is longer holds no marker of a transaction.
const MARKER_BATCH_BYTES_MAX: u64 = 4096;

/// What a log needs to know of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BatchHeader {
    pub(crate) base_offset: Offset,
    pub(crate) last_offset: Offset,
    /// The whole batch, with this header.
    pub(crate) bytes: u64,
    pub(crate) leader_epoch: LeaderEpoch,
    pub(crate) crc: u32,
    pub(crate) is_transactional: bool,
    pub(crate) is_control: bool,
    pub(crate) max_timestamp: TimestampMs,
    pub(crate) producer_id: ProducerId,
    pub(crate) producer_epoch: ProducerEpoch,
    pub(crate) base_sequence: i32,
    pub(crate) last_offset_delta: i32,
    /// Whether compaction has left no record.
    pub(crate) is_empty: bool,
    /// The marker in a control batch that ends a transaction, where its records were looked at.
    pub(crate) marker: Option<EndMarker>,
}

impl BatchHeader {
    /// The header that `bytes` are; nothing where they cannot be one.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; HEADER_BYTES] = bytes.first_chunk()?;
        let length = u64::try_from(be!(i32, bytes, 8)).ok()?;
        let total = length + UNCOUNTED_BYTES;
        let base_offset = be!(i64, bytes, 0);
        let last_offset_delta = be!(i32, bytes, 23);
        let last_offset = base_offset.checked_add(last_offset_delta.into())?;
        let is_plausible = bytes[16] == MAGIC
            && total >= HEADER_BYTES as u64
            && base_offset >= 0
            && last_offset_delta >= 0
            && last_offset < i64::MAX;
        let attributes = be!(i16, bytes, 21);
        is_plausible.then(|| Self {
            base_offset: Offset(base_offset),
            last_offset: Offset(last_offset),
            bytes: total,
            leader_epoch: LeaderEpoch(be!(i32, bytes, 12)),
            crc: be!(u32, bytes, 17),
            is_transactional: attributes & TRANSACTIONAL_BIT != 0,
            is_control: attributes & CONTROL_BIT != 0,
            max_timestamp: TimestampMs(be!(i64, bytes, 35)),
            producer_id: ProducerId(be!(i64, bytes, 43)),
            producer_epoch: ProducerEpoch(be!(i16, bytes, 51)),
            base_sequence: be!(i32, bytes, 53),
            last_offset_delta,
            is_empty: be!(i32, bytes, 57) == 0,
            marker: None,
        })
    }

    /// The same, with the marker that the whole batch holds.
    pub(crate) fn with_marker(mut self, batch: &[u8]) -> Self {
        if self.is_control && self.is_transactional {
            self.marker = BatchView::parse(batch)
                .ok()
                .and_then(|batch| EndMarker::of_batch(&batch));
        }
        self
    }

    /// As [`BatchHeader::with_marker`], of a batch in a segment.
    pub(crate) fn with_marker_in(self, file: &dyn DiskFile, position: u64) -> io::Result<Self> {
        if !(self.is_control && self.is_transactional) || self.bytes > MARKER_BATCH_BYTES_MAX {
            return Ok(self);
        }
        let mut batch = vec![0; usize::try_from(self.bytes).unwrap_or_default()];
        file.read_exact_at(&mut batch, position)?;
        Ok(self.with_marker(&batch))
    }

    /// The offset after the batch.
    pub(crate) fn next_offset(&self) -> Offset {
        self.last_offset.plus(1)
    }

    pub(crate) fn has_producer_id(&self) -> bool {
        self.producer_id.get() >= 0
    }
}

/// Walks batch headers from a position to the end of a segment's bytes.
pub(crate) struct HeaderWalk<'a> {
    file: &'a dyn DiskFile,
    /// Where the next header begins.
    position: u64,
    /// Where the segment's bytes end.
    end: u64,
    /// The offset that the next batch begins at, where it is known.
    expected: Option<Offset>,
    /// Whether offsets have no holes: the base offset lies outside the checksum, and only its neighbours tell when it is damaged.
    is_dense: bool,
    buffer: Vec<u8>,
    buffer_at: u64,
    /// How much is read at a time.
    window: usize,
    /// How far was asked for ahead.
    ahead_to: u64,
}

/// One step of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// A batch whose frame fits in the segment.
    Batch {
        /// Where it begins.
        position: u64,
        /// Its header.
        header: BatchHeader,
    },
    /// The segment ends here, behind a whole batch.
    End,
    /// What begins here is no batch, or reaches beyond the segment.
    Broken {
        /// Where it begins.
        position: u64,
    },
}

impl<'a> HeaderWalk<'a> {
    /// A walk over `position..end`. A batch must begin at `position`, and hold `expected` first where that is known.
    pub(crate) fn new(
        file: &'a dyn DiskFile,
        position: u64,
        end: u64,
        expected: Option<Offset>,
        is_dense: bool,
    ) -> Self {
        Self {
            file,
            position,
            end,
            expected,
            is_dense,
            buffer: Vec::new(),
            buffer_at: 0,
            window: WALK_BYTES,
            ahead_to: 0,
        }
    }

    /// The same walk, of one who will ask for the checksums: small batches come with their headers, many at a time.
    pub(crate) fn with_batches(mut self) -> Self {
        self.window = CHECKED_WALK_BYTES;
        self
    }

    /// Whether the checksum of the batch that the last step found matches its bytes.
    pub(crate) fn check_crc(&mut self, position: u64, header: &BatchHeader) -> io::Result<bool> {
        if header.bytes > self.window as u64 {
            return check_crc(self.file, position, header);
        }
        let batch = self.bytes_at(position, header.bytes)?;
        Ok(crc32c::crc32c(&batch[CHECKED_FROM as usize..]) == header.crc)
    }

    /// Goes on at another batch.
    pub(crate) fn jump_to(&mut self, position: u64) {
        self.position = position;
        self.expected = None;
    }

    /// Where the next batch begins.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// The next batch; the walk stays where it is at the end and at what is broken.
    pub(crate) fn step(&mut self) -> io::Result<Step> {
        let position = self.position;
        if position == self.end {
            return Ok(Step::End);
        }
        let broken = Step::Broken { position };
        let left = self.end.saturating_sub(position);
        if left < HEADER_BYTES as u64 {
            return Ok(broken);
        }
        match BatchHeader::decode(self.bytes_at(position, HEADER_BYTES as u64)?) {
            Some(header) if header.bytes <= left && self.follows(&header) => {
                self.position += header.bytes;
                self.expected = Some(header.next_offset());
                Ok(Step::Batch { position, header })
            }
            _ => Ok(broken),
        }
    }

    fn follows(&self, header: &BatchHeader) -> bool {
        match self.expected {
            Some(expected) if self.is_dense => header.base_offset == expected,
            Some(expected) => header.base_offset >= expected,
            None => true,
        }
    }

    /// Where the walk has just read what lies before, it will read what follows.
    fn read_ahead(&mut self, position: u64) {
        let buffered_to = self.buffer_at + self.buffer.len() as u64;
        let goes_on = (self.buffer_at..=buffered_to).contains(&position);
        if goes_on && !self.buffer.is_empty() && position + AHEAD_BYTES / 2 > self.ahead_to {
            let from = position.max(self.ahead_to);
            self.ahead_to = self.end.min(from + AHEAD_BYTES);
            let length = self.ahead_to.saturating_sub(from);
            self.file
                .read_ahead(from, usize::try_from(length).unwrap_or_default());
        }
    }

    /// Bytes of the segment: no more than are read at a time, and none behind its end.
    fn bytes_at(&mut self, position: u64, length: u64) -> io::Result<&[u8]> {
        let buffered_to = self.buffer_at + self.buffer.len() as u64;
        if position < self.buffer_at || position + length > buffered_to {
            self.read_ahead(position);
            let left = self.end - position;
            let window = usize::try_from(left).map_or(self.window, |left| left.min(self.window));
            self.buffer.resize(window, 0);
            self.file.read_exact_at(&mut self.buffer, position)?;
            self.buffer_at = position;
        }
        let at =
            usize::try_from(position - self.buffer_at).expect("the position is within the buffer");
        let length = usize::try_from(length).expect("it is no more than is buffered");
        Ok(&self.buffer[at..at + length])
    }
}

/// Whether the checksum of the batch at `position` matches its bytes.
pub(crate) fn check_crc(
    file: &dyn DiskFile,
    position: u64,
    header: &BatchHeader,
) -> io::Result<bool> {
    let end = position + header.bytes;
    let mut at = position + CHECKED_FROM;
    let mut crc = 0;
    let mut buffer = Vec::new();
    while at < end {
        let length = usize::try_from(end - at).map_or(CHECKSUM_BYTES, |l| l.min(CHECKSUM_BYTES));
        buffer.resize(length, 0);
        file.read_exact_at(&mut buffer, at)?;
        crc = crc32c::crc32c_append(crc, &buffer);
        at += length as u64;
    }
    Ok(crc == header.crc)
}
