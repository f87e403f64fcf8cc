//! What of an append needs no log: batches are checked, timed and, where the topic asks for it, compressed anew.
//!
//! Why it exists: a few kilobytes may stand for hundreds of megabytes; whoever holds a log's lock must not walk them.

use super::unpacker::Unpacker;
use crate::config::LogConfig;
use crate::error::AppendError;
use crate::types::AppendOrigin;
use fanlog_model::{Offset, ProducerId, TimestampMs};
use fanlog_protocol::records::{
    BatchView, EndMarker, InvalidBatch, ProduceRules, RecordView, RetainError, Retained,
    TimestampType, empty_batch, recompress, retain_records, set_log_append_time, set_max_timestamp,
    validate_produced,
};
use std::ops::Range;

/// Batches that were checked, as they will be stored but for offsets and epoch.
#[derive(Debug)]
pub struct CheckedBatches<'a> {
    pub(super) bytes: Stored<'a>,
    /// Where each batch lies in `bytes`.
    pub(super) batches: Vec<Range<usize>>,
    pub(super) origin: AppendOrigin,
    pub(super) timestamp_type: TimestampType,
    pub(super) now: TimestampMs,
    /// Where the log ended when the transaction's coordinator allowed the batches.
    pub(super) allowed_at: Option<Offset>,
}

/// The topic's compression may differ from the producer's, and records may have been taken out.
#[derive(Debug)]
pub(super) enum Stored<'a> {
    AsSent(&'a mut [u8]),
    Rewritten(Vec<u8>),
}

impl Stored<'_> {
    pub(super) fn bytes(&mut self) -> &mut [u8] {
        match self {
            Self::AsSent(bytes) => bytes,
            Self::Rewritten(bytes) => bytes,
        }
    }
}

impl<'a> CheckedBatches<'a> {
    /// Checks batches by a log's settings. Times are written into them, and they are compressed anew where the topic asks for it.
    ///
    /// # Errors
    /// A batch is refused.
    pub fn check(
        config: &LogConfig,
        batches: &'a mut [u8],
        origin: AppendOrigin,
        now: TimestampMs,
    ) -> Result<Self, AppendError> {
        let rules = rules(config, origin, now);
        let mut unpacker = Unpacker::default();
        let mut recompressed = Vec::new();
        let mut ranges = Vec::new();
        let mut at = 0;
        while at < batches.len() {
            let batch = BatchView::parse(&batches[at..]).map_err(InvalidBatch::from)?;
            let end = at + batch.total_len();
            check_size(config, batch.total_len(), origin)?;
            let buffer = unpacker.buffer(batch.compression());
            let found = validate_produced(&batch, &rules, buffer)?;
            let wanted = config.compression_type;
            let wanted = wanted.filter(|c| *c != batch.compression() && !batch.is_control());
            let other = wanted
                .map(|compression| recompress(&batch, compression, buffer))
                .transpose()
                .map_err(InvalidBatch::from)?;
            let is_rewritten = other.is_some() || !recompressed.is_empty();
            if is_rewritten && recompressed.is_empty() {
                recompressed.extend_from_slice(&batches[..at]);
            }
            let range = match other {
                Some(other) => {
                    check_size(config, other.len(), origin)?;
                    push(&mut recompressed, &other)
                }
                None if is_rewritten => push(&mut recompressed, &batches[at..end]),
                None => at..end,
            };
            let bytes = if is_rewritten {
                &mut recompressed[..]
            } else {
                &mut batches[..]
            };
            set_times(config, &mut bytes[range.clone()], found.max_timestamp, now);
            ranges.push(range);
            at = end;
        }
        if ranges.is_empty() || (is_checked_in_full(origin) && ranges.len() > 1) {
            return Err(AppendError::BatchCount {
                count: ranges.len(),
            });
        }
        let is_rewritten = !recompressed.is_empty();
        Ok(Self {
            bytes: if is_rewritten {
                Stored::Rewritten(recompressed)
            } else {
                Stored::AsSent(batches)
            },
            batches: ranges,
            origin,
            timestamp_type: config.timestamp_type,
            now,
            allowed_at: None,
        })
    }

    /// The same, of a transaction whose coordinator says that the partition belongs to it: it was asked when the log ended at `allowed_at`.
    #[must_use]
    pub fn allowed_at(mut self, allowed_at: Option<Offset>) -> Self {
        self.allowed_at = allowed_at;
        self
    }

    /// The end of a transaction, if that is what is to be appended.
    pub fn end_marker(&mut self) -> Option<(ProducerId, EndMarker)> {
        let [range] = &self.batches[..] else {
            return None;
        };
        let batch = BatchView::parse(&self.bytes.bytes()[range.clone()]).ok()?;
        Some((batch.producer_id(), EndMarker::of_batch(&batch)?))
    }

    /// Calls `each` with every record, in order.
    ///
    /// # Errors
    /// As [`CheckedBatches::check`]: what was checked can be read.
    pub fn each_record(
        &mut self,
        mut each: impl FnMut(&BatchView<'_>, &RecordView<'_>),
    ) -> Result<(), AppendError> {
        let mut unpacker = Unpacker::default();
        for range in self.batches.clone() {
            let batch = BatchView::parse(&self.bytes.bytes()[range]).map_err(InvalidBatch::from)?;
            let buffer = unpacker.buffer(batch.compression());
            for record in batch.records(buffer).map_err(InvalidBatch::from)? {
                each(&batch, &record.map_err(InvalidBatch::from)?);
            }
        }
        Ok(())
    }

    /// Takes the records out that are not to stay, as compaction would: offset deltas and sequences stay, and of a batch that has no
    /// record left its header.
    ///
    /// # Errors
    /// As [`CheckedBatches::check`].
    pub fn retain(
        &mut self,
        mut stays: impl FnMut(&RecordView<'_>) -> bool,
    ) -> Result<(), AppendError> {
        let mut unpacker = Unpacker::default();
        let (mut left, mut ranges) = (Vec::new(), Vec::new());
        for range in self.batches.clone() {
            let batch = BatchView::parse(&self.bytes.bytes()[range]).map_err(InvalidBatch::from)?;
            let buffer = unpacker.buffer(batch.compression());
            let start = left.len();
            let retained = retain_records(&batch, buffer, None, &mut stays, &mut left);
            match retained.map_err(invalid)? {
                Retained::Some(_) => {}
                Retained::Whole => left.extend_from_slice(batch.bytes()),
                Retained::Nothing => empty_batch(&batch, &mut left),
            }
            ranges.push(start..left.len());
        }
        self.bytes = Stored::Rewritten(left);
        self.batches = ranges;
        Ok(())
    }
}

fn invalid(error: RetainError) -> InvalidBatch {
    match error {
        RetainError::Batch(error) => error.into(),
        RetainError::Record(error) => error.into(),
    }
}

fn rules(config: &LogConfig, origin: AppendOrigin, now: TimestampMs) -> ProduceRules {
    ProduceRules {
        is_from_client: is_checked_in_full(origin),
        now,
        timestamp_type: config.timestamp_type,
        timestamp_before_max_ms: config.timestamp_before_max_ms,
        timestamp_after_max_ms: config.timestamp_after_max_ms,
        is_compacted: config.is_compacted,
    }
}

/// Whether the rules for clients' batches count.
fn is_checked_in_full(origin: AppendOrigin) -> bool {
    matches!(origin, AppendOrigin::Client | AppendOrigin::Mover)
}

/// The broker's batch may be larger: what it writes was accepted already.
fn check_size(config: &LogConfig, bytes: usize, origin: AppendOrigin) -> Result<(), AppendError> {
    let max = config.max_message_bytes;
    if origin == AppendOrigin::Client && bytes > max as usize {
        return Err(AppendError::TooLarge { bytes, max });
    }
    Ok(())
}

/// The times that consumers and indexes will see: never what a client merely claims.
fn set_times(config: &LogConfig, batch: &mut [u8], found: TimestampMs, now: TimestampMs) {
    match config.timestamp_type {
        TimestampType::LogAppendTime => set_log_append_time(batch, now),
        TimestampType::CreateTime => set_max_timestamp(batch, TimestampType::CreateTime, found),
    }
}

fn push(all: &mut Vec<u8>, batch: &[u8]) -> Range<usize> {
    let start = all.len();
    all.extend_from_slice(batch);
    start..all.len()
}
