//! Lookup: offsets by time and by leader epoch.

use super::Log;
use super::read::read_error;
use crate::error::ReadError;
use crate::header::{BatchHeader, Step};
use crate::segment::{Located, MaxTimestamp, Segment, SegmentError};
use crate::types::TimestampOffset;
use fanlog_environment::{Disk, DiskFile};
use fanlog_model::{LeaderEpoch, Offset, TimestampMs};
use fanlog_protocol::records::{BatchView, Decompressor};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

impl Log {
    /// The first record, in offset order, whose time is `timestamp` or later, at or after the log's start and below `below`.
    ///
    /// # Errors
    /// The disk refuses; the bytes there are damaged.
    pub fn offset_for_timestamp(
        &self,
        timestamp: TimestampMs,
        below: Offset,
    ) -> Result<Option<TimestampOffset>, ReadError> {
        self.time_search(below).first_at(timestamp)
    }

    /// The first record that has the largest time of all below `below`.
    ///
    /// # Errors
    /// The disk refuses; the bytes there are damaged.
    pub fn max_timestamp_offset(
        &self,
        below: Offset,
    ) -> Result<Option<TimestampOffset>, ReadError> {
        self.time_search(below).latest()
    }

    /// A search among the records below `below`, as they are now. It reads nothing yet.
    pub fn time_search(&self, below: Offset) -> TimeSearch {
        let first = self.segment_index(self.log_start);
        let active = self.active().base_offset;
        let segments = self.segments[first..]
            .iter()
            .take_while(|segment| segment.base_offset < below)
            .map(|segment| segment.snapshot(segment.base_offset < active))
            .collect();
        TimeSearch {
            disk: self.environment.disk.clone(),
            name: self.name.clone(),
            segments,
            log_start: self.log_start,
            below,
            swaps: self.compaction.swaps.clone(),
            swaps_before: self.compaction.swaps.load(Ordering::Acquire),
        }
    }

    /// Where the records of a leader epoch end, as Kafka's OffsetForLeaderEpoch answers: the largest epoch known up to `epoch`, and the
    /// offset behind its last record. Nothing for an epoch that has not begun.
    pub fn offset_for_leader_epoch(&self, epoch: LeaderEpoch) -> Option<(LeaderEpoch, Offset)> {
        self.epochs
            .end_offset_for(epoch, self.leader_epoch, self.log_end)
    }

    /// The epoch that wrote the record at `offset`, or that would write it.
    pub fn leader_epoch_at(&self, offset: Offset) -> LeaderEpoch {
        if offset >= self.log_end {
            return self.leader_epoch;
        }
        self.epochs.epoch_at(offset).unwrap_or(self.leader_epoch)
    }
}

/// A search by time: planned under the log's lock, run without it. A segment that is removed meanwhile is an error of the kind
/// `NotFound`, where its file was not open; segments that compaction replaces meanwhile are too.
#[derive(Debug)]
pub struct TimeSearch {
    disk: Arc<dyn Disk>,
    name: Arc<str>,
    segments: Vec<Segment>,
    log_start: Offset,
    below: Offset,
    /// How many swaps of cleaned segments there were, now and when this was planned.
    swaps: Arc<AtomicU64>,
    swaps_before: u64,
}

impl TimeSearch {
    /// The first record, in offset order, whose time is `timestamp` or later. Blocks.
    ///
    /// # Errors
    /// The disk refuses; the bytes there are damaged.
    pub fn first_at(&self, timestamp: TimestampMs) -> Result<Option<TimestampOffset>, ReadError> {
        self.checked(self.find_first_at(timestamp))
    }

    /// What was found, unless compaction put other files in the place of those looked at: then neither an answer nor an error counts.
    fn checked<T>(&self, found: Result<T, ReadError>) -> Result<T, ReadError> {
        if self.swaps.load(Ordering::Acquire) == self.swaps_before {
            return found;
        }
        let message = "compaction replaced segments meanwhile";
        Err(ReadError::Io {
            log: self.name.clone(),
            source: io::Error::new(io::ErrorKind::NotFound, message),
        })
    }

    fn find_first_at(&self, timestamp: TimestampMs) -> Result<Option<TimestampOffset>, ReadError> {
        for segment in &self.segments {
            let found = self.search_segment(segment, timestamp);
            if let Some(found) = found.map_err(|error| read_error(&self.name, error))? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    fn search_segment(
        &self,
        segment: &Segment,
        timestamp: TimestampMs,
    ) -> Result<Option<TimestampOffset>, SegmentError> {
        let disk = &*self.disk;
        let (log_start, below) = (self.log_start, self.below);
        let max = segment.max_timestamp(disk)?;
        if max.is_none_or(|max| max.timestamp < timestamp) {
            return Ok(None);
        }
        let from = segment
            .offset_before_timestamp(disk, timestamp)?
            .max(log_start);
        let Some(start) = segment.find(disk, from)? else {
            return Ok(None);
        };
        let file = segment.log_file(disk)?;
        let mut walk = segment.walk_from(&*file, start.position, Some(start.header.base_offset));
        while let Step::Batch { position, header } = segment.checked(walk.step()?)? {
            if header.base_offset >= below {
                break;
            }
            if header.max_timestamp < timestamp || header.is_empty {
                continue;
            }
            let batch = Located { position, header };
            let is_wanted = |offset: Offset, time: TimestampMs| {
                time >= timestamp && offset >= log_start && offset < below
            };
            if let Some(found) = first_record(segment, &*file, &batch, is_wanted)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// The first record that has the largest time of all. Blocks.
    ///
    /// # Errors
    /// The disk refuses; the bytes there are damaged.
    pub fn latest(&self) -> Result<Option<TimestampOffset>, ReadError> {
        let found = self.find_latest();
        self.checked(found.map_err(|error| read_error(&self.name, error)))
    }

    fn find_latest(&self) -> Result<Option<TimestampOffset>, SegmentError> {
        let disk = &*self.disk;
        let mut best = None;
        for segment in &self.segments {
            let max = segment.max_timestamp_below(disk, self.below);
            if let Some(max) = max?
                && max.offset >= self.log_start
                && best.is_none_or(|(_, best): (&Segment, MaxTimestamp)| {
                    max.timestamp > best.timestamp
                })
            {
                best = Some((segment, max));
            }
        }
        let Some((segment, max)) = best else {
            return Ok(None);
        };
        let Some(batch) = segment.find(disk, max.offset)? else {
            return Ok(None);
        };
        if batch.header.is_empty {
            return self.find_latest_record();
        }
        let file = segment.log_file(disk)?;
        first_record(segment, &*file, &batch, |offset, time| {
            time == max.timestamp && offset >= self.log_start
        })
    }

    /// As [`Self::find_latest`], where compaction has left no record of the batch that the indexes name: all headers are looked at.
    fn find_latest_record(&self) -> Result<Option<TimestampOffset>, SegmentError> {
        let mut best: Option<(&Segment, Located)> = None;
        for segment in &self.segments {
            let file = segment.log_file(&*self.disk)?;
            let mut walk = segment.walk(&*file, 0);
            while let Step::Batch { position, header } = segment.checked(walk.step()?)? {
                let is_later =
                    best.is_none_or(|(_, best)| header.max_timestamp > best.header.max_timestamp);
                let is_within =
                    header.last_offset >= self.log_start && header.last_offset < self.below;
                if is_within && is_later && !header.is_empty {
                    best = Some((segment, Located { position, header }));
                }
            }
            segment.close_file();
        }
        let Some((segment, batch)) = best else {
            return Ok(None);
        };
        let file = segment.log_file(&*self.disk)?;
        let latest = batch.header.max_timestamp;
        first_record(segment, &*file, &batch, |offset, time| {
            time == latest && offset >= self.log_start
        })
    }
}

/// The first record of a batch that is wanted.
fn first_record(
    segment: &Segment,
    file: &dyn DiskFile,
    batch: &Located,
    is_wanted: impl Fn(Offset, TimestampMs) -> bool,
) -> Result<Option<TimestampOffset>, SegmentError> {
    let Located { position, header } = batch;
    let damaged = |reason| SegmentError::Broken {
        path: segment.log_path(),
        position: *position,
        reason,
    };
    let bytes = read_batch(file, *position, header)?;
    let view = BatchView::parse(&bytes).map_err(|_| damaged("no record batch begins there"))?;
    view.check_crc()
        .map_err(|_| damaged("the checksum does not match"))?;
    let mut decompressor = Decompressor::default();
    let records = view
        .records(&mut decompressor)
        .map_err(|_| damaged("the records cannot be decompressed"))?;
    for record in records {
        let record = record.map_err(|_| damaged("a record cannot be read"))?;
        let offset = view.offset_of(record.offset_delta);
        let timestamp = view.timestamp_of(record.timestamp_delta);
        if is_wanted(offset, timestamp) {
            return Ok(Some(TimestampOffset {
                timestamp,
                offset,
                leader_epoch: header.leader_epoch,
            }));
        }
    }
    Ok(None)
}

/// The bytes of a batch whose frame was found to fit in its segment.
fn read_batch(
    file: &dyn DiskFile,
    position: u64,
    header: &BatchHeader,
) -> std::io::Result<Vec<u8>> {
    let length = usize::try_from(header.bytes).expect("a batch is smaller than 2 GiB");
    let mut bytes = vec![0; length];
    file.read_exact_at(&mut bytes, position)?;
    Ok(bytes)
}
