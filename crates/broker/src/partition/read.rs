//! How a partition is read: planned under its lock, read without it.

use super::Partition;
use crate::fetch_types::{DivergingEpoch, FetchError, FetchedRecords, Isolation};
use crate::lookup::PartitionUnavailable;
use fanlog_model::{LeaderEpoch, Offset, TimestampMs};
use fanlog_protocol::records::HEADER_BYTES;
use fanlog_storage::{Log, ReadLimit, ReadPlan};

/// What a fetch would read of a partition, and where the partition stood when that was planned.
#[derive(Debug)]
pub(crate) struct Readable {
    plan: ReadPlan,
    from: Offset,
    standing: FetchedRecords,
}

impl Readable {
    /// Whether it reads up to the end of what is visible, which was written lately and is in memory.
    pub(crate) fn is_at_tail(&self) -> bool {
        self.plan.next_offset >= self.standing.last_stable_offset
    }

    /// Whether there is nothing to read because the client's log ran apart from ours.
    pub(crate) fn is_diverging(&self) -> bool {
        self.standing.diverging.is_some()
    }

    /// How many bytes it would read.
    pub(crate) fn bytes(&self) -> usize {
        self.plan.bytes()
    }
}

impl Partition {
    /// Plans a read from `from` on, of at most `bytes_max` bytes of whole batches that are visible.
    pub(crate) fn readable(
        &self,
        from: Offset,
        bytes_max: usize,
        whole_batch: bool,
        isolation: Isolation,
    ) -> Result<Readable, FetchError> {
        self.with_log(|log| {
            let standing = self.standing(log);
            if from < standing.log_start_offset || from > standing.high_watermark {
                return Err(FetchError::OffsetOutOfRange {
                    requested: from,
                    log_start_offset: standing.log_start_offset,
                    high_watermark: standing.high_watermark,
                });
            }
            let limit = ReadLimit {
                max_bytes: bytes_max,
                min_one_batch: whole_batch,
                below: match isolation {
                    Isolation::ReadUncommitted => standing.high_watermark,
                    Isolation::ReadCommitted => standing.last_stable_offset,
                },
            };
            log.read(from, limit)
                .map(|plan| Readable {
                    plan,
                    from,
                    standing,
                })
                .map_err(|error| self.unreadable(&error))
        })?
    }

    fn standing(&self, log: &Log) -> FetchedRecords {
        let high_watermark = log.durable_offset();
        FetchedRecords {
            high_watermark,
            last_stable_offset: log.last_stable_offset().min(high_watermark),
            log_start_offset: log.log_start_offset(),
            leader_epoch: self.leader_epoch(),
            ..FetchedRecords::default()
        }
    }

    /// What a client is told whose last record before `from` is of `epoch`, if our log has none like it there: that epoch
    /// ended earlier here, or never was.
    pub(crate) fn diverging(
        &self,
        from: Offset,
        epoch: LeaderEpoch,
    ) -> Result<Option<Readable>, FetchError> {
        self.with_log(|log| {
            let mut standing = self.standing(log);
            let end = self.epoch_end(log, epoch);
            let (Some(known), Some(end_offset)) = (end.leader_epoch, end.end_offset) else {
                return Err(FetchError::OffsetOutOfRange {
                    requested: from,
                    log_start_offset: standing.log_start_offset,
                    high_watermark: standing.high_watermark,
                });
            };
            if known >= epoch && end_offset >= from {
                return Ok(None);
            }
            standing.diverging = Some(DivergingEpoch {
                epoch: known,
                end_offset,
            });
            let nothing = ReadLimit {
                max_bytes: 0,
                min_one_batch: false,
                below: standing.high_watermark,
            };
            let from = standing.high_watermark;
            let plan = log.read(from, nothing);
            plan.map(|plan| {
                Some(Readable {
                    plan,
                    from,
                    standing,
                })
            })
            .map_err(|error| self.unreadable(&error))
        })?
    }

    /// Reads what was planned, on this thread.
    pub(crate) fn read(&self, readable: Readable) -> Result<FetchedRecords, FetchError> {
        let Readable {
            plan,
            from,
            mut standing,
        } = readable;
        standing.records = plan.read().map_err(|error| self.unreadable(&error))?;
        let records = (plan.next_offset.0 - from.0).max(0).unsigned_abs();
        self.shared.metrics.count_fetch(standing.bytes(), records);
        Ok(standing)
    }

    /// The timestamp of the batch that holds an offset; none at the end of the log. Reads one batch header.
    pub(crate) fn batch_timestamp(
        &self,
        offset: Offset,
    ) -> Result<Option<TimestampMs>, FetchError> {
        let from = self.with_log(|log| offset.max(log.log_start_offset()))?;
        let readable = self.readable(from, 0, true, Isolation::ReadUncommitted)?;
        let Some(slice) = readable.plan.slices.first() else {
            return Ok(None);
        };
        let mut header = [0; HEADER_BYTES];
        slice
            .file
            .read_exact_at(&mut header, slice.position)
            .map_err(|error| self.unreadable(&error))?;
        Ok(Some(base_timestamp(&header)))
    }

    /// The bytes of all segments.
    pub(crate) fn size_bytes(&self) -> Result<u64, PartitionUnavailable> {
        self.with_log(|log| log.size_bytes())
    }

    fn unreadable(&self, error: &dyn std::fmt::Display) -> FetchError {
        tracing::error!(partition = %self.folder(), %error, "a read failed");
        FetchError::Read {
            partition: self.folder().to_string(),
            reason: error.to_string(),
        }
    }
}

/// Where a batch's header has its base timestamp.
const BASE_TIMESTAMP_AT: usize = 27;

fn base_timestamp(header: &[u8; HEADER_BYTES]) -> TimestampMs {
    let bytes = header[BASE_TIMESTAMP_AT..]
        .first_chunk()
        .expect("the header is longer than that");
    TimestampMs(i64::from_be_bytes(*bytes))
}
