//! Append: check, number, write to the page cache.
//!
//! What is refused leaves no trace; a write that the disk did not take is cut off again.

use super::Log;
use super::roll::RollError;
use crate::error::AppendError;
use crate::header::BatchHeader;
use crate::producer_state::{ProducedBatch, Verdict};
use crate::types::{AppendOrigin, Appended};
use fanlog_model::invariants::LOG_3;
use fanlog_model::{LeaderEpoch, Offset, TimestampMs};
use fanlog_protocol::records::{
    BatchView, Decompressor, InvalidBatch, ProduceRules, TimestampType, recompress,
    set_base_offset, set_log_append_time, set_max_timestamp, set_partition_leader_epoch,
    validate_produced,
};
use std::ops::Range;

/// Batches that were checked, as they will be stored but for offsets and epoch.
struct Checked<'a> {
    bytes: Stored<'a>,
    /// Where each batch lies in `bytes`.
    batches: Vec<Range<usize>>,
}

/// The topic's compression may differ from the producer's.
enum Stored<'a> {
    AsSent(&'a mut [u8]),
    Recompressed(Vec<u8>),
}

impl Stored<'_> {
    fn bytes(&mut self) -> &mut [u8] {
        match self {
            Self::AsSent(bytes) => bytes,
            Self::Recompressed(bytes) => bytes,
        }
    }
}

impl Log {
    /// Appends batches as a whole, or nothing of them. Their offsets, leader epoch and, where the topic asks for it, times are written
    /// into `batches`. What is appended is not durable yet: see [`Log::begin_sync`].
    ///
    /// # Errors
    /// A batch is refused, the disk does not take it, or the log has stopped; nothing was appended then.
    pub fn append(
        &mut self,
        batches: &mut [u8],
        origin: AppendOrigin,
        leader_epoch: LeaderEpoch,
        now: TimestampMs,
    ) -> Result<Appended, AppendError> {
        self.check_running()?;
        self.check_leader_epoch(leader_epoch)?;
        let mut checked = self.check_batches(batches, origin, now)?;
        if let Some(original) = self.check_sequences(&mut checked, origin)? {
            return Ok(self.duplicate(&original));
        }
        self.make_room(&mut checked, origin, now)?;
        let headers = self.number(&mut checked, leader_epoch);
        let bytes = checked.bytes.bytes();
        self.write(bytes)?;
        let appended = Appended {
            first_offset: self.log_end,
            last_offset: headers[headers.len() - 1].last_offset,
            log_append_time: match self.config.timestamp_type {
                TimestampType::LogAppendTime => now,
                TimestampType::CreateTime => TimestampMs::NONE,
            },
            log_start_offset: self.log_start,
            is_duplicate: false,
            record_count: headers
                .iter()
                .map(|h| i64::from(h.last_offset_delta) + 1)
                .sum(),
            bytes: bytes.len(),
        };
        self.leader_epoch = leader_epoch;
        for header in &headers {
            self.note(header, now);
        }
        self.check_invariants();
        Ok(appended)
    }

    fn check_leader_epoch(&self, given: LeaderEpoch) -> Result<(), AppendError> {
        let current = self.leader_epoch;
        if given < current {
            return Err(AppendError::StaleLeaderEpoch { given, current });
        }
        Ok(())
    }

    fn check_batches<'a>(
        &self,
        batches: &'a mut [u8],
        origin: AppendOrigin,
        now: TimestampMs,
    ) -> Result<Checked<'a>, AppendError> {
        let rules = self.rules(origin, now);
        let mut decompressor = Decompressor::default();
        let mut recompressed = Vec::new();
        let mut ranges = Vec::new();
        let mut at = 0;
        while at < batches.len() {
            let batch = BatchView::parse(&batches[at..]).map_err(InvalidBatch::from)?;
            let end = at + batch.total_len();
            self.check_size(batch.total_len(), origin)?;
            let found = validate_produced(&batch, &rules, &mut decompressor)?;
            if batch.is_transactional() && origin == AppendOrigin::Client {
                return Err(AppendError::Transactional);
            }
            let wanted = self.config.compression_type;
            let wanted = wanted.filter(|c| *c != batch.compression() && !batch.is_control());
            let other = wanted
                .map(|compression| recompress(&batch, compression, &mut decompressor))
                .transpose()
                .map_err(InvalidBatch::from)?;
            let is_rewritten = other.is_some() || !recompressed.is_empty();
            if is_rewritten && recompressed.is_empty() {
                recompressed.extend_from_slice(&batches[..at]);
            }
            let range = match other {
                Some(other) => {
                    self.check_size(other.len(), origin)?;
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
            self.set_times(&mut bytes[range.clone()], found.max_timestamp, now);
            ranges.push(range);
            at = end;
        }
        if ranges.is_empty() || (origin == AppendOrigin::Client && ranges.len() > 1) {
            return Err(AppendError::BatchCount {
                count: ranges.len(),
            });
        }
        let is_rewritten = !recompressed.is_empty();
        Ok(Checked {
            bytes: if is_rewritten {
                Stored::Recompressed(recompressed)
            } else {
                Stored::AsSent(batches)
            },
            batches: ranges,
        })
    }

    fn rules(&self, origin: AppendOrigin, now: TimestampMs) -> ProduceRules {
        ProduceRules {
            is_from_client: origin == AppendOrigin::Client,
            now,
            timestamp_type: self.config.timestamp_type,
            timestamp_before_max_ms: self.config.timestamp_before_max_ms,
            timestamp_after_max_ms: self.config.timestamp_after_max_ms,
            is_compacted: self.config.is_compacted,
        }
    }

    /// A coordinator's batch may be larger: what it writes was accepted already.
    fn check_size(&self, bytes: usize, origin: AppendOrigin) -> Result<(), AppendError> {
        let max = self.config.max_message_bytes;
        if origin == AppendOrigin::Client && bytes > max as usize {
            return Err(AppendError::TooLarge { bytes, max });
        }
        Ok(())
    }

    /// The times that consumers and indexes will see: never what a client merely claims.
    fn set_times(&self, batch: &mut [u8], found: TimestampMs, now: TimestampMs) {
        match self.config.timestamp_type {
            TimestampType::LogAppendTime => set_log_append_time(batch, now),
            TimestampType::CreateTime => set_max_timestamp(batch, TimestampType::CreateTime, found),
        }
    }

    /// PRD-1 and PRD-2. A client sends one batch, so that there is at most one original.
    fn check_sequences(
        &self,
        checked: &mut Checked<'_>,
        origin: AppendOrigin,
    ) -> Result<Option<ProducedBatch>, AppendError> {
        for range in &checked.batches {
            let header = header_of(&checked.bytes.bytes()[range.clone()]);
            if !header.has_producer_id() {
                continue;
            }
            match origin {
                AppendOrigin::Coordinator => self.producers.check_epoch(&header)?,
                AppendOrigin::Client => {
                    if let Verdict::Duplicate(original) = self.producers.check(&header)? {
                        return Ok(Some(original));
                    }
                }
            }
        }
        Ok(None)
    }

    fn duplicate(&self, original: &ProducedBatch) -> Appended {
        Appended {
            first_offset: original.first_offset(),
            last_offset: original.last_offset,
            log_append_time: match self.config.timestamp_type {
                TimestampType::LogAppendTime => original.timestamp,
                TimestampType::CreateTime => TimestampMs::NONE,
            },
            log_start_offset: self.log_start,
            is_duplicate: true,
            record_count: 0,
            bytes: 0,
        }
    }

    /// Rolls where the active segment should not take the batches. What a coordinator writes may exceed the setting and
    /// has a segment to itself then: refused, it would be decided upon and refused again for ever.
    fn make_room(
        &mut self,
        checked: &mut Checked<'_>,
        origin: AppendOrigin,
        now: TimestampMs,
    ) -> Result<(), AppendError> {
        let bytes = checked.bytes.bytes();
        let max = match origin {
            AppendOrigin::Client => self.config.segment_bytes,
            AppendOrigin::Coordinator => i32::MAX as u32,
        };
        if bytes.len() > max as usize {
            return Err(AppendError::ExceedsSegment {
                bytes: bytes.len(),
                max,
            });
        }
        let headers = checked
            .batches
            .iter()
            .map(|range| header_of(&bytes[range.clone()]));
        let (mut last_offset, mut max_timestamp) = (self.log_end.get() - 1, TimestampMs::NONE);
        for header in headers {
            last_offset += i64::from(header.last_offset_delta) + 1;
            max_timestamp = max_timestamp.max(header.max_timestamp);
        }
        let length = bytes.len() as u64;
        if self
            .is_roll_due(length, max_timestamp, Offset(last_offset), now)
            .map_err(|error| self.append_io(error))?
        {
            self.roll(now).map_err(|error| match error {
                RollError::Failed(failed) => AppendError::Failed(failed),
                RollError::Io(source) => self.append_io(source),
            })?;
        }
        Ok(())
    }

    fn append_io(&self, source: std::io::Error) -> AppendError {
        AppendError::Io {
            log: self.name.clone(),
            source,
        }
    }

    /// Gives each record its offset (LOG-3).
    fn number(&self, checked: &mut Checked<'_>, leader_epoch: LeaderEpoch) -> Vec<BatchHeader> {
        let bytes = checked.bytes.bytes();
        let mut next = self.log_end;
        let mut headers = Vec::with_capacity(checked.batches.len());
        for range in &checked.batches {
            let batch = &mut bytes[range.clone()];
            set_base_offset(batch, next);
            set_partition_leader_epoch(batch, leader_epoch);
            let header = header_of(batch);
            assert_eq!(header.base_offset, next, "{LOG_3}: offsets have no gap");
            next = header.next_offset();
            headers.push(header);
        }
        headers
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), AppendError> {
        let size = self.active().size;
        let written = self.active().log_file(self.disk()).and_then(|file| {
            file.write_all_at(bytes, size).map_err(|error| {
                // What it had taken must be gone for good before anything else is written there: a later crash could bring a
                // mixture of the two back.
                let undone = file.set_len(size).and_then(|()| file.sync_data());
                match undone {
                    Ok(()) => error,
                    Err(undo) => std::io::Error::other(Undo(undo)),
                }
            })
        });
        match written {
            Ok(()) => Ok(()),
            Err(error) if error.get_ref().is_some_and(|inner| inner.is::<Undo>()) => Err(self
                .fail("cutting off a write that the disk did not take", &error)
                .into()),
            Err(error) => Err(self.append_io(error)),
        }
    }

    /// Notes a batch that is in the active segment's file.
    fn note(&mut self, header: &BatchHeader, now: TimestampMs) {
        self.epochs.assign(header.leader_epoch, header.base_offset);
        self.producers.apply(header, now);
        let disk = self.environment.disk.clone();
        self.active_mut().note(&*disk, header);
        self.log_end = header.next_offset();
        self.bytes_since_snapshot += header.bytes;
    }
}

/// A failed attempt to take a write back.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
struct Undo(std::io::Error);

fn push(all: &mut Vec<u8>, batch: &[u8]) -> Range<usize> {
    let start = all.len();
    all.extend_from_slice(batch);
    start..all.len()
}

fn header_of(batch: &[u8]) -> BatchHeader {
    BatchHeader::decode(batch).expect("a checked batch has a header that a log can hold")
}
