//! Reads the message ids of a partition from its log: those that a window goes back.
//!
//! Why it exists: ids are kept in memory; what is durable of them is the records that bear them.
//! In -> out: a partition's log -> ids that its topic remembers. Until all partitions are read, records with ids wait.
//! Invariants: PRD-3: what transactions wrote counts once they are committed, wherever the log says so; OPS-1.

use super::append::message_id;
use super::append_times::AppendTimes;
use super::claim::First;
use super::id_map::{Full, Id};
use super::topic_ids::TopicIds;
use crate::lookup::PartitionUnavailable;
use crate::partition::Partition;
use crate::replay::{ReplayError, corrupt, each_batch};
use fanlog_environment::Disk;
use fanlog_model::{Offset, ProducerEpoch, ProducerId, TimestampMs};
use fanlog_protocol::records::{BatchView, Decompressor, EndMarker, TimestampType};
use std::collections::HashMap;
use std::sync::Arc;
use thiserror::Error;

/// What an id of a transaction takes whose end was not read yet, at most.
const UNDECIDED_BYTES: usize = 2 * size_of::<(Id, First)>();

/// Why the ids of a partition are not known. Fate: the next round of maintenance tries again.
#[derive(Debug, Error)]
pub(super) enum LoadError {
    #[error(transparent)]
    Unavailable(#[from] PartitionUnavailable),
    #[error(transparent)]
    Replay(#[from] ReplayError),
    #[error("the time search in {partition} failed: {reason}")]
    Search { partition: String, reason: String },
    #[error("its message ids take more than fanlog.dedup.memory.bytes; raise that")]
    Full,
}

impl From<Full> for LoadError {
    fn from(Full: Full) -> Self {
        Self::Full
    }
}

/// Where the window begins in the log.
fn start(
    partition: &Partition,
    times: &AppendTimes,
    expired_before: i64,
) -> Result<Offset, LoadError> {
    let (log_start, stable, end, search) = partition.with_log(|log| {
        let end = log.durable_offset();
        let stable = log.last_stable_offset();
        (log.log_start_offset(), stable, end, log.time_search(end))
    })?;
    let from = match times.end_before(expired_before) {
        Some(offset) => offset,
        None => {
            let found = search.first_at(TimestampMs(expired_before.max(0)));
            let found = found.map_err(|error| LoadError::Search {
                partition: partition.folder().to_string(),
                reason: error.to_string(),
            })?;
            let by_time = found.map_or(end, |found| found.offset);
            times
                .first_end()
                .map_or(by_time, |first| by_time.min(first))
        }
    };
    // A transaction may have been open for longer than the window.
    Ok(from.min(stable).clamp(log_start, end))
}

/// A log that is being read. What it says up to `next` is known.
pub(super) struct Loading {
    ids: Arc<TopicIds>,
    partition: Arc<Partition>,
    times: AppendTimes,
    now: TimestampMs,
    next: Offset,
    /// Ids of transactions whose end was not read yet.
    undecided: HashMap<(ProducerId, ProducerEpoch), Vec<(Id, First)>>,
    undecided_ids: usize,
    pub(super) records: u64,
}

impl Loading {
    /// Finds out where to begin. Blocks.
    pub(super) fn begin(
        ids: Arc<TopicIds>,
        partition: Arc<Partition>,
        disk: &dyn Disk,
    ) -> Result<Self, LoadError> {
        let times = AppendTimes::read(disk, partition.folder(), partition.topic_id());
        let now = ids.now();
        let next = start(&partition, &times, ids.expired_before(now))?;
        Ok(Self {
            ids,
            partition,
            times,
            now,
            next,
            undecided: HashMap::new(),
            undecided_ids: 0,
            records: 0,
        })
    }

    /// Reads what is durable; whether all is known then. If not, a transaction has ended in what is not durable yet. Blocks.
    pub(super) fn read_on(&mut self) -> Result<bool, LoadError> {
        let (partition, from) = (self.partition.clone(), self.next);
        let mut decompressor = Decompressor::default();
        self.next = each_batch(&partition, from, |batch| {
            self.take(batch, &mut decompressor)
        })?;
        self.note_open()
    }

    fn take(
        &mut self,
        batch: &BatchView<'_>,
        decompressor: &mut Decompressor,
    ) -> Result<(), LoadError> {
        if batch.is_control() {
            return match EndMarker::of_batch(batch) {
                Some(marker) => self.end(batch.producer_id(), marker.is_commit),
                None => Ok(()),
            };
        }
        let damaged = |reason| corrupt(&self.partition, batch.base_offset(), reason);
        let producer = (batch.producer_id(), batch.producer_epoch());
        let producer = batch.is_transactional().then_some(producer);
        let records = batch.records(decompressor);
        let mut found = Vec::new();
        for record in records.map_err(|error| damaged(error.to_string()))? {
            let record = record.map_err(|error| damaged(error.to_string()))?;
            self.records += 1;
            let Some(text) = message_id(&record) else {
                continue;
            };
            let offset = batch.offset_of(record.offset_delta);
            let own = batch.timestamp_of(record.timestamp_delta);
            let first = First {
                partition: self.partition.index(),
                offset,
                time: match batch.timestamp_type() {
                    TimestampType::LogAppendTime => own.min(self.now),
                    TimestampType::CreateTime => self.times.time_of(offset, own, self.now),
                },
            };
            found.push((self.ids.id_of(text), first));
        }
        match producer {
            Some(producer) => self.note_undecided(producer, found),
            None => self.note(found, None),
        }
    }

    fn note_undecided(
        &mut self,
        producer: (ProducerId, ProducerEpoch),
        found: Vec<(Id, First)>,
    ) -> Result<(), LoadError> {
        self.undecided_ids += found.len();
        if self.undecided_ids * UNDECIDED_BYTES > self.ids.room() {
            return Err(LoadError::Full);
        }
        self.undecided.entry(producer).or_default().extend(found);
        Ok(())
    }

    fn note(&self, found: Vec<(Id, First)>, open: Option<ProducerId>) -> Result<(), LoadError> {
        for (id, first) in found {
            self.ids.remember(id, first, open)?;
        }
        Ok(())
    }

    /// A marker may have a later epoch than what it ends.
    fn end(&mut self, producer: ProducerId, is_commit: bool) -> Result<(), LoadError> {
        let ended = self.undecided.extract_if(|(id, _), _| *id == producer);
        let ended: Vec<_> = ended.flat_map(|(_, found)| found).collect();
        self.undecided_ids -= ended.len();
        match is_commit {
            true => self.note(ended, None),
            false => Ok(()),
        }
    }

    /// What is left belongs to transactions that are open, unless their end comes behind what was read. Under the partition's lock, under
    /// which they end.
    fn note_open(&mut self) -> Result<bool, LoadError> {
        let partition = self.partition.clone();
        partition.with_log(|log| {
            let is_all = log.log_end_offset() == self.next;
            let is_open = |(id, epoch): &(ProducerId, ProducerEpoch)| {
                is_all || log.is_in_transaction(*id, *epoch)
            };
            let open = self.undecided.extract_if(|producer, _| is_open(producer));
            for ((producer, _), found) in open.collect::<Vec<_>>() {
                self.undecided_ids -= found.len();
                self.note(found, Some(producer))?;
            }
            Ok(self.undecided.is_empty())
        })?
    }
}
