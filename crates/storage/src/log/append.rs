//! Append: check, number, write to the page cache.
//!
//! What is refused leaves no trace; a write that the disk did not take is cut off again.

use super::Log;
use super::checked_batches::CheckedBatches;
use super::roll::RollError;
use crate::error::AppendError;
use crate::header::BatchHeader;
use crate::producer_state::{CoordinatorsBatch, ProducedBatch, Verdict};
use crate::types::{AppendOrigin, Appended};
use fanlog_model::invariants::LOG_3;
use fanlog_model::{LeaderEpoch, Offset, TimestampMs};
use fanlog_protocol::records::{TimestampType, set_base_offset, set_partition_leader_epoch};

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
        let checked = CheckedBatches::check(&self.config, batches, origin, now)?;
        self.append_checked(checked, leader_epoch)
    }

    /// As [`Log::append`], of batches that were checked before, without the log: checking may take long.
    ///
    /// # Errors
    /// A producer's sequence is refused, the disk does not take the batches, or the log has stopped; nothing was appended then.
    pub fn append_checked(
        &mut self,
        checked: CheckedBatches<'_>,
        leader_epoch: LeaderEpoch,
    ) -> Result<Appended, AppendError> {
        self.append_and(checked, leader_epoch, |_, _| {})
    }

    /// As [`Log::append_checked`], and hands the batches on as they are stored, where they were appended.
    ///
    /// # Errors
    /// As there.
    pub fn append_and(
        &mut self,
        mut checked: CheckedBatches<'_>,
        leader_epoch: LeaderEpoch,
        hand_on: impl FnOnce(&Appended, &[u8]),
    ) -> Result<Appended, AppendError> {
        self.check_running()?;
        self.check_leader_epoch(leader_epoch)?;
        let (origin, now) = (checked.origin, checked.now);
        if let Some(original) = self.check_sequences(&mut checked, origin)? {
            return Ok(self.duplicate(&original));
        }
        self.make_room(&mut checked, origin, now)?;
        let headers = self.number(&mut checked, leader_epoch);
        let timestamp_type = checked.timestamp_type;
        let bytes = checked.bytes.bytes();
        self.write(bytes)?;
        let appended = Appended {
            first_offset: self.log_end,
            last_offset: headers[headers.len() - 1].last_offset,
            log_append_time: match timestamp_type {
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
        hand_on(&appended, checked.bytes.bytes());
        Ok(appended)
    }

    fn check_leader_epoch(&self, given: LeaderEpoch) -> Result<(), AppendError> {
        let current = self.leader_epoch;
        if given < current {
            return Err(AppendError::StaleLeaderEpoch { given, current });
        }
        Ok(())
    }

    /// PRD-1 and PRD-2. A client sends one batch, so that there is at most one original.
    fn check_sequences(
        &self,
        checked: &mut CheckedBatches<'_>,
        origin: AppendOrigin,
    ) -> Result<Option<ProducedBatch>, AppendError> {
        for range in &checked.batches {
            let header = header_of(&checked.bytes.bytes()[range.clone()]);
            if !header.has_producer_id() {
                continue;
            }
            match origin {
                AppendOrigin::Coordinator | AppendOrigin::LaterMarker => {
                    let is_later = origin == AppendOrigin::LaterMarker;
                    let batch = CoordinatorsBatch::of(&header, is_later);
                    self.producers
                        .check_coordinators(batch, checked.allowed_at)?;
                }
                AppendOrigin::Client | AppendOrigin::Mover => {
                    if let Verdict::Duplicate(original) =
                        self.producers.check(&header, checked.allowed_at)?
                    {
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
        checked: &mut CheckedBatches<'_>,
        origin: AppendOrigin,
        now: TimestampMs,
    ) -> Result<(), AppendError> {
        let bytes = checked.bytes.bytes();
        let max = match origin {
            AppendOrigin::Client => self.config.segment_bytes,
            AppendOrigin::Coordinator | AppendOrigin::LaterMarker | AppendOrigin::Mover => {
                i32::MAX as u32
            }
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
    fn number(
        &self,
        checked: &mut CheckedBatches<'_>,
        leader_epoch: LeaderEpoch,
    ) -> Vec<BatchHeader> {
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
        let written = self
            .active()
            .log_file_to_write(self.disk())
            .and_then(|file| {
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
        if written.is_err() && self.synced == self.log_end {
            self.active().note_synced();
        }
        match written {
            Ok(()) => Ok(()),
            Err(error) if error.get_ref().is_some_and(|inner| inner.is::<Undo>()) => Err(self
                .fail("cutting off a write that the disk did not take", &error)
                .into()),
            Err(error) => Err(self.append_io(error)),
        }
    }

    /// Notes a batch that is in the active segment's file.
    pub(super) fn note(&mut self, header: &BatchHeader, now: TimestampMs) {
        self.epochs.assign(header.leader_epoch, header.base_offset);
        let ended = self.producers.apply(header, now);
        let disk = self.environment.disk.clone();
        self.active_mut().note(&*disk, header);
        if let Some(ended) = ended {
            // Until its marker is durable it may come to another end.
            self.undurable_ends
                .insert((ended.first_offset, ended.marker));
            self.note_ended(&ended);
        }
        self.log_end = header.next_offset();
        self.bytes_since_snapshot += header.bytes;
        self.bytes_since_producers += header.bytes;
    }
}

/// A failed attempt to take a write back.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
struct Undo(std::io::Error);

fn header_of(batch: &[u8]) -> BatchHeader {
    let header = BatchHeader::decode(batch);
    header
        .expect("a checked batch has a header that a log can hold")
        .with_marker(batch)
}
