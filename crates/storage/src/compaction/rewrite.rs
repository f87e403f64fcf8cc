//! Writes one segment out of several: the batches that stay, or what stays of them, with new indexes.

use super::batch_reader::{BatchReader, Source};
use super::cleaning::{Counts, Rules};
use super::swap::{self, cleaned_path};
use super::transactions::{self, Kind, MissingEntry, Transactions};
use super::{CleanError, Pace, Work, keep_pace};
use crate::formats::compaction_state::Swap;
use crate::formats::file_names::LOG;
use crate::formats::transaction_index::AbortedTransaction;
use crate::header::BatchHeader;
use crate::segment::Indexes;
use fanlog_environment::{Disk, DiskFile, OpenMode};
use fanlog_model::Offset;
use fanlog_protocol::records::{
    BatchView, Decompressor, RecordView, RetainError, Retained, empty_batch, retain_records,
    set_delete_horizon,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How much is written between two syncs: a sync of all at once would stall the commits of others.
const SYNC_BYTES: u64 = 2 * 1024 * 1024;

/// A cleaned segment that is durable under names of its own.
#[derive(Debug)]
pub struct CleanedSegment {
    pub(crate) swap: Swap,
    /// The base offsets of those that it was made of.
    pub(crate) replaced: Vec<Offset>,
    pub(crate) generation: u64,
    /// The file that the new one takes the name of: its space is given back when this goes, without the log's lock.
    _old: Arc<dyn DiskFile>,
}

/// Writes the segment that takes the place of `sources`.
pub(super) struct Rewrite<'a> {
    disk: &'a dyn Disk,
    dir: &'a Path,
    rules: &'a Rules,
    path: PathBuf,
    file: Arc<dyn DiskFile>,
    indexes: Indexes,
    /// The aborted transactions whose markers are needed.
    aborted: Vec<AbortedTransaction>,
    index_interval_bytes: u32,
    /// Batches that are not in the file yet.
    pending: Vec<u8>,
    written: u64,
    unsynced: u64,
    buffer_bytes: usize,
    decompressor: Decompressor,
}

/// What a rewrite needs beside its sources.
pub(super) struct Target<'a> {
    pub(super) disk: &'a dyn Disk,
    pub(super) dir: &'a Path,
    pub(super) index_interval_bytes: u32,
    pub(super) buffer_bytes: usize,
}

impl<'a> Rewrite<'a> {
    pub(super) fn begin(
        target: &Target<'a>,
        rules: &'a Rules,
        base: Offset,
    ) -> Result<Self, CleanError> {
        let Target { disk, dir, .. } = *target;
        swap::discard(disk, dir, base);
        let path = cleaned_path(dir, base, LOG);
        let file = disk
            .open(&path, OpenMode::CreateNew)
            .map_err(|error| CleanError::io(&path, error))?;
        Ok(Self {
            disk,
            dir,
            rules,
            file,
            indexes: Indexes::with_paths(base, |suffix| cleaned_path(dir, base, suffix)),
            aborted: Vec::new(),
            index_interval_bytes: target.index_interval_bytes,
            pending: Vec::new(),
            written: 0,
            unsynced: 0,
            buffer_bytes: target.buffer_bytes,
            decompressor: Decompressor::default(),
            path,
        })
    }

    /// Rewrites the sources and makes the result durable.
    pub(super) fn run(
        mut self,
        sources: &[Source],
        generation: u64,
        transactions: &mut Transactions<'_>,
        counts: &mut Counts,
        pace: Pace<'_>,
    ) -> Result<CleanedSegment, CleanError> {
        let path = &sources[0].path;
        let old = self.disk.open(path, OpenMode::Read);
        let old = old.map_err(|error| CleanError::io(path, error))?;
        for (i, source) in sources.iter().enumerate() {
            let is_last = i + 1 == sources.len();
            self.rewrite(source, is_last, transactions, counts, pace)?;
        }
        self.flush(pace)?;
        let (first, last) = (&sources[0], &sources[sources.len() - 1]);
        transactions::write_index(self.disk, self.dir, first.base_offset, &self.aborted)?;
        self.finish()?;
        keep_pace(pace, Work::Synced)?;
        counts.bytes_written += self.written;
        Ok(CleanedSegment {
            swap: Swap {
                base: first.base_offset,
                end: last.end,
                bytes: self.written,
            },
            replaced: sources.iter().map(|source| source.base_offset).collect(),
            generation,
            _old: old,
        })
    }

    fn rewrite(
        &mut self,
        source: &Source,
        is_last_source: bool,
        transactions: &mut Transactions<'_>,
        counts: &mut Counts,
        pace: Pace<'_>,
    ) -> Result<(), CleanError> {
        let mut reader = BatchReader::open(self.disk, source, self.buffer_bytes)?;
        let mut unpaced = 0;
        while let Some((batch, is_last_batch)) = reader.next()? {
            unpaced += batch.total_len() as u64;
            counts.bytes_read += batch.total_len() as u64;
            let kind = transactions.next(&batch).map_err(TakeError::from);
            let is_last = is_last_source && is_last_batch;
            kind.and_then(|kind| Ok(self.take(&batch, kind, is_last, counts)?))
                .map_err(|error| CleanError::Corrupt {
                    path: source.path.clone(),
                    position: reader.batch_position(),
                    reason: error.to_string(),
                })?;
            if self.pending.len() >= self.buffer_bytes {
                self.flush(pace)?;
            }
            if unpaced >= self.buffer_bytes as u64 {
                keep_pace(pace, Work::Moved(unpaced))?;
                unpaced = 0;
            }
        }
        keep_pace(pace, Work::Moved(unpaced))
    }

    /// Appends what stays of a batch to what is to be written.
    fn take(
        &mut self,
        batch: &BatchView<'_>,
        kind: Kind,
        is_last: bool,
        counts: &mut Counts,
    ) -> Result<(), RetainError> {
        let start = self.pending.len();
        match self.retain(batch, kind, counts)? {
            Retained::Some(_) => {}
            Retained::Whole => self.pending.extend_from_slice(batch.bytes()),
            Retained::Nothing if is_last || self.rules.is_last_of_producer(batch) => {
                empty_batch(batch, &mut self.pending);
            }
            Retained::Nothing => return Ok(()),
        }
        let header = BatchHeader::decode(&self.pending[start..])
            .expect("a batch that was checked has a header that a log can hold");
        let position = self.written + start as u64;
        if position <= i32::MAX as u64 {
            self.indexes
                .note(position, &header, self.index_interval_bytes);
        }
        Ok(())
    }

    fn retain(
        &mut self,
        batch: &BatchView<'_>,
        kind: Kind,
        counts: &mut Counts,
    ) -> Result<Retained, RetainError> {
        let (rules, out) = (self.rules, &mut self.pending);
        let horizon = rules.delete_horizon;
        let decompressor = &mut self.decompressor;
        match kind {
            Kind::Records => {
                let stays = |record: &RecordView<'_>| rules.stays(batch, record, counts);
                retain_records(batch, decompressor, horizon, stays, out)
            }
            Kind::Aborted => {
                counts.records_removed += u64::from(batch.record_count().unsigned_abs());
                Ok(Retained::Nothing)
            }
            Kind::Control {
                is_needed: true,
                entry,
            } => {
                self.aborted.extend(entry);
                Ok(Retained::Whole)
            }
            Kind::Control { .. } if batch.record_count() == 0 || rules.is_behind_horizon(batch) => {
                Ok(Retained::Nothing)
            }
            Kind::Control { .. } => set_delete_horizon(batch, decompressor, horizon, out),
        }
    }

    fn flush(&mut self, pace: Pace<'_>) -> Result<(), CleanError> {
        let length = self.pending.len() as u64;
        if i32::try_from(self.written + length).is_err() {
            return Err(CleanError::Corrupt {
                path: self.path.clone(),
                position: self.written,
                reason: "cleaned segments would have more than 2 GiB: lower segment.bytes".into(),
            });
        }
        let io = |error| CleanError::io(&self.path, error);
        self.file
            .write_all_at(&self.pending, self.written)
            .map_err(io)?;
        self.written += length;
        self.unsynced += length;
        self.pending.clear();
        self.pending.shrink_to(2 * self.buffer_bytes);
        if self.indexes.offsets.is_flush_due() {
            self.indexes.flush(self.disk).map_err(io)?;
        }
        keep_pace(pace, Work::Moved(length))?;
        if self.unsynced >= SYNC_BYTES {
            self.file.sync_data().map_err(io)?;
            self.unsynced = 0;
            keep_pace(pace, Work::Synced)?;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), CleanError> {
        let mut sync = || {
            self.file.sync_data()?;
            self.indexes.push_max_timestamp();
            self.indexes.flush(self.disk)?.sync()?;
            self.disk.sync_dir(self.dir)
        };
        sync().map_err(|error| CleanError::io(&self.path, error))
    }
}

/// Why a batch cannot be taken.
#[derive(Debug, thiserror::Error)]
enum TakeError {
    #[error(transparent)]
    Retain(#[from] RetainError),
    #[error(transparent)]
    Missing(#[from] MissingEntry),
}
