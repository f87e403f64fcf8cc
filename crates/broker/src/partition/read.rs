//! How a partition is read: planned under its lock, read without it.

use super::Partition;
use crate::fetch_types::{
    AbortedTransaction, DivergingEpoch, FetchError, FetchedRecords, Isolation,
};
use crate::lookup::PartitionUnavailable;
use bytes::Bytes;
use fanlog_environment::Disk;
use fanlog_model::{LeaderEpoch, Offset, TimestampMs};
use fanlog_protocol::records::HEADER_BYTES;
use fanlog_storage::{
    AbortedSearch, DamagedSegment, FileSlice, Log, ReadError, ReadLimit, ReadPlan,
};
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

/// What a fetch would read of a partition, and where the partition stood when that was planned.
#[derive(Debug)]
pub(crate) struct Readable {
    plan: ReadPlan,
    from: Offset,
    standing: FetchedRecords,
}

/// How much to read of a partition.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    pub(crate) from: Offset,
    pub(crate) bytes_max: usize,
    /// Whether one batch is read whatever its size.
    pub(crate) whole_batch: bool,
    pub(crate) isolation: Isolation,
}

impl Readable {
    /// Whether there is nothing to read because the client's log ran apart from ours.
    pub(crate) fn is_diverging(&self) -> bool {
        self.standing.diverging.is_some()
    }

    /// How many bytes it would read.
    pub(crate) fn bytes(&self) -> usize {
        self.plan.bytes()
    }

    /// Whether it is to be sent from its file.
    pub(crate) fn is_sendable(&self, bytes_min: usize) -> bool {
        let mut slices = self.plan.slices.iter();
        let bytes = self.bytes();
        bytes > 0 && bytes >= bytes_min && slices.all(|slice| slice.file.is_sendable())
    }

    /// The slices of its files, if they can be sent as they are.
    pub(crate) fn ready_slices(&self) -> Option<FetchedRecords> {
        let are_ready = self.plan.slices.iter().all(FileSlice::is_ready);
        are_ready.then(|| self.slices())
    }

    fn slices(&self) -> FetchedRecords {
        FetchedRecords {
            in_files: self.plan.slices.clone(),
            ..self.standing.clone()
        }
    }

    fn records(&self, records: Vec<Bytes>) -> FetchedRecords {
        FetchedRecords {
            records,
            ..self.standing.clone()
        }
    }
}

impl Partition {
    /// Plans a read of whole batches that are visible, if no file has to be read for that; nothing otherwise.
    pub(crate) fn readable_now(&self, wanted: Wanted) -> Result<Option<Readable>, FetchError> {
        self.with_log(|log| {
            let (mut standing, limit) = self.limits(log, wanted)?;
            let plan = log.read_recent(wanted.from, limit);
            let plan = plan.map_err(|error| self.unreadable(&error))?;
            let Some(plan) = plan else { return Ok(None) };
            if tells_aborted(wanted, &plan) {
                let Some(aborted) = log.aborted_recent(wanted.from, plan.next_offset) else {
                    return Ok(None);
                };
                standing.aborted_transactions = aborted.iter().map(as_told).collect();
            }
            Ok(Some(Readable {
                plan,
                from: wanted.from,
                standing,
            }))
        })?
    }

    /// Plans a read of whole batches that are visible. Blocks, without the log's lock unless files change under it.
    pub(crate) fn readable(&self, wanted: Wanted) -> Result<Readable, FetchError> {
        for _ in 0..SWAPS_MAX {
            let (swaps, mut readable) = self.planned(wanted)?;
            if !tells_aborted(wanted, &readable.plan) || self.find_aborted(swaps, &mut readable)? {
                return Ok(readable);
            }
        }
        Err(FetchError::Read {
            partition: self.folder().to_string(),
            reason: "its segments are replaced or removed faster than they are read; retry"
                .to_owned(),
        })
    }

    /// Finds the aborted transactions of what is planned; whether the segments were let be meanwhile. The plan holds its files, whatever
    /// becomes of their names: compaction takes a transaction's records and its entry together, and a log that starts behind them has
    /// neither.
    fn find_aborted(&self, swaps: u64, readable: &mut Readable) -> Result<bool, FetchError> {
        let (from, below) = (readable.from, readable.plan.next_offset);
        let search = self.with_log(|log| log.aborted_search(from, below))?;
        let Some(mut search) = search else {
            return Ok(true);
        };
        let next = |search: &AbortedSearch| self.with_log(|log| log.next_of_search(search));
        let is_same = |partition: &Self| {
            let is_same = |log: &Log| log.swap_count() == swaps && log.log_start_offset() <= from;
            Ok::<_, FetchError>(partition.with_log(is_same)?)
        };
        while let Some(segment) = next(&search)? {
            match search.look_into(&segment) {
                Ok(true) => break,
                Ok(false) => {}
                Err(_) if !is_same(self)? => return Ok(false),
                Err(error) => return Err(self.unreadable(&error)),
            }
        }
        readable.standing.aborted_transactions = search.finish().iter().map(as_told).collect();
        is_same(self)
    }

    /// As `readable`, but for aborted transactions; and how many swaps of segments there were.
    fn planned(&self, wanted: Wanted) -> Result<(u64, Readable), FetchError> {
        let from = wanted.from;
        let (swaps, standing, search) = self.with_log(|log| {
            let (standing, limit) = self.limits(log, wanted)?;
            let search = log.read_search(from, limit);
            let search = search.map_err(|error| self.unreadable(&error))?;
            Ok::<_, FetchError>((log.swap_count(), standing, search))
        })??;
        if let Ok(Some(plan)) = search.run() {
            let readable = Readable {
                plan,
                from,
                standing,
            };
            return Ok((swaps, readable));
        }
        // Perhaps a segment was removed meanwhile; if not, this says what is wrong.
        self.with_log(|log| {
            let (standing, limit) = self.limits(log, wanted)?;
            let plan = log.read(from, limit);
            let readable = |plan| Readable {
                plan,
                from,
                standing,
            };
            plan.map(|plan| (log.swap_count(), readable(plan)))
                .map_err(|error| self.unreadable(&error))
        })?
    }

    /// Where the log stands, and how far a read may go.
    fn limits(&self, log: &Log, wanted: Wanted) -> Result<(FetchedRecords, ReadLimit), FetchError> {
        let standing = self.standing(log);
        let from = wanted.from;
        if from < standing.log_start_offset || from > standing.high_watermark {
            return Err(FetchError::OffsetOutOfRange {
                requested: from,
                log_start_offset: standing.log_start_offset,
                high_watermark: standing.high_watermark,
            });
        }
        let limit = ReadLimit {
            max_bytes: wanted.bytes_max,
            min_one_batch: wanted.whole_batch,
            below: match wanted.isolation {
                Isolation::ReadUncommitted => standing.high_watermark,
                Isolation::ReadCommitted => standing.last_stable_offset,
            },
        };
        Ok((standing, limit))
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

    /// Reads what was planned. Blocks.
    pub(crate) fn read(&self, readable: &Readable) -> Result<FetchedRecords, FetchError> {
        let read = readable.plan.read_in_turns(&*self.shared.cold_reads);
        read.map(|records| readable.records(records))
            .map_err(|error| self.unreadable(&error))
    }

    /// As `read`, if that takes no wait for the disk; nothing otherwise.
    pub(crate) fn read_now(
        &self,
        readable: &Readable,
    ) -> Result<Option<FetchedRecords>, FetchError> {
        let read = readable.plan.read_now();
        read.map(|records| Some(readable.records(records?)))
            .map_err(|error| self.unreadable(&error))
    }

    /// Makes what was planned ready to be sent from its file. Blocks.
    pub(crate) fn load(&self, readable: &Readable) -> Result<FetchedRecords, FetchError> {
        for slice in &readable.plan.slices {
            if !slice.is_ready() {
                let loaded = slice.load(&*self.shared.cold_reads);
                loaded.map_err(|error| self.unreadable(&error))?;
            }
        }
        Ok(readable.slices())
    }

    /// Counts what a fetch was given.
    pub(crate) fn count_fetch(&self, readable: &Readable) {
        let records = (readable.plan.next_offset.0 - readable.from.0).max(0);
        let metrics = &self.shared.metrics;
        metrics.count_fetch(readable.bytes(), records.unsigned_abs());
    }

    /// The timestamp of the batch that holds an offset; none at the end of the log. Reads one batch header.
    pub(crate) fn batch_timestamp(
        &self,
        offset: Offset,
    ) -> Result<Option<TimestampMs>, FetchError> {
        let from = self.with_log(|log| offset.max(log.log_start_offset()))?;
        let readable = self.readable(Wanted {
            from,
            bytes_max: 0,
            whole_batch: true,
            isolation: Isolation::ReadUncommitted,
        })?;
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

    /// The files in which reads have met damage since the start, and that are still there. A file that was restored counts
    /// until the next start.
    pub(crate) fn damaged_files(&self, disk: &dyn Disk) -> Vec<PathBuf> {
        let mut damaged = self.damaged.lock();
        damaged.retain(|path| disk.exists(path).unwrap_or(true));
        damaged.iter().cloned().collect()
    }

    fn unreadable(&self, error: &impl FailedRead) -> FetchError {
        tracing::error!(partition = %self.folder(), %error, "a read failed");
        if let Some(file) = error.damaged_file() {
            self.damaged
                .lock()
                .insert(Path::new(&**self.folder()).join(file));
        }
        let partition = self.folder().to_string();
        let reason = error.to_string();
        match error.is_damage() {
            true => FetchError::Damaged { partition, reason },
            false => FetchError::Read { partition, reason },
        }
    }
}

/// How often a read is planned anew because compaction has replaced segments meanwhile.
const SWAPS_MAX: usize = 8;

/// Whether the reader is told of aborted transactions.
fn tells_aborted(wanted: Wanted, plan: &ReadPlan) -> bool {
    wanted.isolation == Isolation::ReadCommitted && !plan.slices.is_empty()
}

fn as_told(aborted: &fanlog_storage::AbortedTransaction) -> AbortedTransaction {
    AbortedTransaction {
        producer_id: aborted.producer_id,
        first_offset: aborted.first_offset,
    }
}

/// Why bytes cannot be had: damage stays until somebody restores the file, anything else may pass.
trait FailedRead: std::fmt::Display {
    fn is_damage(&self) -> bool;

    /// The file's name in the partition's folder, if it is damaged.
    fn damaged_file(&self) -> Option<&OsStr>;
}

impl FailedRead for ReadError {
    fn is_damage(&self) -> bool {
        matches!(self, ReadError::Corrupt { .. })
    }

    fn damaged_file(&self) -> Option<&OsStr> {
        match self {
            ReadError::Corrupt { path, .. } => path.file_name(),
            _ => None,
        }
    }
}

impl FailedRead for io::Error {
    fn is_damage(&self) -> bool {
        self.kind() == io::ErrorKind::InvalidData
    }

    fn damaged_file(&self) -> Option<&OsStr> {
        let damaged = self.get_ref()?.downcast_ref::<DamagedSegment>()?;
        Some(OsStr::new(&damaged.file))
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

#[cfg(test)]
mod tests;
