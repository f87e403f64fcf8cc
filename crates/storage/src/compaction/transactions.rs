//! What a cleaning knows of transactions: which records were aborted, and which markers still decide on something.
//!
//! Why it exists: an aborted record must neither stay nor hide another, and a marker must not go before the records that it decides on.
//! In -> out: the log's aborted transactions, and every batch in order -> what a batch is.
//! Invariants: TXN-1. All that is cleaned lies below the last stable offset, so that every transaction in it has ended.
//!
//! A marker is needed until a cleaning meets no batch of its transaction any more, not even an empty one. That cleaning drops the entry of
//! an aborted transaction and writes a delete horizon into the marker; one behind the horizon drops the marker. Records go durably before
//! their marker does: only a later cleaning can find them gone, and it begins by finishing the swap of the one before.

use super::{CleanError, swap};
use crate::error::ReadError;
use crate::formats::file_names::{self, TRANSACTION_INDEX};
use crate::formats::transaction_index::AbortedTransaction;
use crate::log::{AbortedSearch, SearchedSegment};
use fanlog_environment::{Disk, OpenMode};
use fanlog_model::{Offset, ProducerId};
use fanlog_protocol::records::{BatchView, EndMarker};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The aborted transactions that have records among what is cleaned: 32 bytes for each.
#[derive(Debug, Default)]
pub(super) struct Aborted(BTreeMap<ProducerId, Vec<AbortedTransaction>>);

impl Aborted {
    /// Reads them from the segments' indexes.
    pub(super) fn read(
        dir: &Path,
        search: Option<(AbortedSearch, Vec<SearchedSegment>)>,
    ) -> Result<Self, CleanError> {
        let Some((mut search, segments)) = search else {
            return Ok(Self::default());
        };
        for segment in &segments {
            let is_enough = search.look_into(segment).map_err(|error| match error {
                ReadError::Corrupt {
                    path,
                    position,
                    reason,
                } => CleanError::Corrupt {
                    path,
                    position,
                    reason,
                },
                ReadError::Io { source, .. } => CleanError::io(dir, source),
                _ => CleanError::Overtaken,
            })?;
            if is_enough {
                break;
            }
        }
        let mut aborted = Self::default();
        // By where they began; a producer's do not overlap.
        for entry in search.finish() {
            aborted.0.entry(entry.producer_id).or_default().push(entry);
        }
        Ok(aborted)
    }

    /// The transaction of a producer that holds an offset, its marker included.
    fn find(&self, producer: ProducerId, offset: Offset) -> Option<&AbortedTransaction> {
        let entries = self.0.get(&producer)?;
        let behind = entries.partition_point(|entry| entry.first_offset <= offset);
        let entry = entries.get(behind.checked_sub(1)?)?;
        (offset <= entry.last_offset).then_some(entry)
    }

    /// Whether a batch's records were aborted.
    pub(super) fn has(&self, batch: &BatchView<'_>) -> bool {
        let is_of_one = batch.is_transactional() && !batch.is_control();
        is_of_one
            && self
                .find(batch.producer_id(), batch.base_offset())
                .is_some()
    }
}

/// What a batch is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Records that count.
    Records,
    /// Records that were aborted.
    Aborted,
    /// A control batch; whether it must stay, and the entry that stays with it.
    Control {
        is_needed: bool,
        entry: Option<AbortedTransaction>,
    },
}

/// An abort marker of records of which no index says that they were aborted.
#[derive(Debug, thiserror::Error)]
#[error(
    "{TRANSACTION_INDEX} does not have the transaction of producer {} that the marker at offset {} aborts", producer.get(), marker.get()
)]
pub(super) struct MissingEntry {
    producer: ProducerId,
    marker: Offset,
}

/// Follows transactions over all batches of a cleaning.
#[derive(Debug)]
pub(super) struct Transactions<'a> {
    aborted: &'a Aborted,
    /// Who has a batch since its last marker.
    with_batches: BTreeSet<ProducerId>,
}

impl<'a> Transactions<'a> {
    pub(super) fn new(aborted: &'a Aborted) -> Self {
        Self {
            aborted,
            with_batches: BTreeSet::new(),
        }
    }

    /// What the next batch is.
    pub(super) fn next(&mut self, batch: &BatchView<'_>) -> Result<Kind, MissingEntry> {
        let producer = batch.producer_id();
        if batch.is_control() {
            return self.control(batch);
        }
        if batch.is_transactional() {
            self.with_batches.insert(producer);
        }
        match self.aborted.has(batch) {
            true => Ok(Kind::Aborted),
            false => Ok(Kind::Records),
        }
    }

    fn control(&mut self, batch: &BatchView<'_>) -> Result<Kind, MissingEntry> {
        let Some(marker) = EndMarker::of_batch(batch) else {
            // One that an earlier cleaning has emptied, or of another kind, of which nothing is known.
            return Ok(Kind::Control {
                is_needed: batch.record_count() > 0,
                entry: None,
            });
        };
        let producer = batch.producer_id();
        let is_needed = self.with_batches.remove(&producer);
        let mut entry = None;
        if is_needed && !marker.is_commit {
            let found = self.aborted.find(producer, batch.last_offset());
            entry = Some(*found.ok_or(MissingEntry {
                producer,
                marker: batch.last_offset(),
            })?);
        }
        Ok(Kind::Control { is_needed, entry })
    }
}

/// Writes the index of a cleaned segment. Where none of the sources' entries stays, a file without any takes the place of the first
/// one's: an entry without its marker would have readers skip what its producer writes later.
pub(super) fn write_index(
    disk: &dyn Disk,
    dir: &Path,
    base: Offset,
    entries: &[AbortedTransaction],
) -> Result<(), CleanError> {
    let old = dir.join(file_names::with_offset(base, TRANSACTION_INDEX));
    let path = swap::cleaned_path(dir, base, TRANSACTION_INDEX);
    let write = || {
        if entries.is_empty() && !disk.exists(&old)? {
            return Ok(());
        }
        let file = disk.open(&path, OpenMode::CreateNew)?;
        let bytes: Vec<u8> = entries.iter().flat_map(|entry| entry.encode()).collect();
        file.write_all_at(&bytes, 0)?;
        file.sync_data()
    };
    write().map_err(|error| CleanError::io(&path, error))
}
