//! One cleaning of one log: finds the newest record of each key, then writes the segments anew, some at a time.
//!
//! It is planned under the log's lock (`Log::begin_cleaning`), runs without it for as long as it takes, and takes it for each swap.

use super::batch_reader::{BatchReader, Source};
use super::offset_map::OffsetMap;
use super::rewrite::{CleanedSegment, Rewrite, Target};
use super::sip_hash::SipKey;
use super::transactions::{Aborted, Transactions};
use super::{CleanError, CleanerMemory, Pace, Work, keep_pace, swap};
use crate::config::LogConfig;
use crate::formats::compaction_state::CompactionState;
use crate::log::{AbortedSearch, SearchedSegment};
use crate::producer_state::LastBatch;
use fanlog_environment::Disk;
use fanlog_model::{Offset, ProducerId, TimestampMs};
use fanlog_protocol::records::{BatchView, Decompressor, RecordView};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// What a cleaning has to know of its log.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) dir: Arc<Path>,
    pub(crate) name: Arc<str>,
    pub(crate) config: LogConfig,
    /// All sealed segments that may be cleaned, rising.
    pub(crate) sources: Vec<Source>,
    pub(crate) first_dirty: Offset,
    /// The last batch of each producer that the log remembers.
    pub(crate) producers: BTreeMap<ProducerId, LastBatch>,
    /// Where the aborted transactions are noted, if there are any.
    pub(crate) aborted: Option<(AbortedSearch, Vec<SearchedSegment>)>,
    /// The latest producer snapshot, which a start may need.
    pub(crate) snapshot: Option<Offset>,
    pub(crate) state: CompactionState,
    pub(crate) generation: u64,
    pub(crate) now: TimestampMs,
    pub(crate) secret: [u8; 16],
    pub(crate) memory: CleanerMemory,
}

/// A cleaning under way.
#[derive(Debug)]
#[must_use = "a cleaning must be handed to Log::finish_cleaning"]
pub struct Cleaning {
    plan: Plan,
    counts: Counts,
    /// Up to where the log is clean once this is done.
    end: Offset,
    is_done: bool,
}

/// What a cleaning did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cleaned {
    /// Where the log was clean to before.
    pub from: Offset,
    /// Where it is clean to now.
    pub to: Offset,
    /// Batches read, in bytes; dirty ones are read twice.
    pub bytes_read: u64,
    /// Batches written, in bytes.
    pub bytes_written: u64,
    /// How many keys the map held.
    pub keys: usize,
    /// Records that went.
    pub records_removed: u64,
    /// Records without a key that went: they were there before the topic was compacted.
    pub records_without_key: u64,
    /// Segments before and after.
    pub segments: (usize, usize),
}

/// What is counted on the way.
pub(super) type Counts = Cleaned;

/// Which records stay.
pub(super) struct Rules {
    map: OffsetMap,
    /// Records at or behind this offset are not in the map: they stay.
    end: Offset,
    now: TimestampMs,
    pub(super) delete_horizon: Option<TimestampMs>,
    producers: BTreeMap<ProducerId, LastBatch>,
}

impl Rules {
    pub(super) fn stays(
        &self,
        batch: &BatchView<'_>,
        record: &RecordView<'_>,
        counts: &mut Counts,
    ) -> bool {
        let offset = batch.offset_of(record.offset_delta);
        if offset >= self.end {
            return true;
        }
        let stays = match record.key {
            None => {
                counts.records_without_key += 1;
                false
            }
            Some(key) => {
                let is_newest = self.map.get(key).is_none_or(|newest| offset >= newest);
                #[cfg(feature = "planted-faults")]
                let is_newest = is_newest != crate::planted::keeps_older_records();
                is_newest && (record.value.is_some() || !self.is_behind_horizon(batch))
            }
        };
        counts.records_removed += u64::from(!stays);
        stays
    }

    /// Whether what a batch holds for a while may go: its delete horizon is the base timestamp where it has one.
    pub(super) fn is_behind_horizon(&self, batch: &BatchView<'_>) -> bool {
        batch.has_delete_horizon() && batch.base_timestamp() <= self.now
    }

    /// Whether the batch says what the next sequence of a producer is, or what its epoch is.
    pub(super) fn is_last_of_producer(&self, batch: &BatchView<'_>) -> bool {
        if !batch.has_producer_id() {
            return false;
        }
        match self.producers.get(&batch.producer_id()) {
            Some(LastBatch::Records(offset)) => *offset == batch.last_offset(),
            Some(LastBatch::Marker(offset)) => *offset == batch.last_offset(),
            Some(LastBatch::AnyMarker(epoch)) => {
                batch.is_control() && *epoch == batch.producer_epoch()
            }
            None => false,
        }
    }
}

impl Cleaning {
    pub(crate) fn new(plan: Plan) -> Self {
        let counts = Counts {
            from: plan.first_dirty,
            to: plan.first_dirty,
            ..Counts::default()
        };
        Self {
            end: plan.first_dirty,
            plan,
            counts,
            is_done: false,
        }
    }

    /// Cleans. Blocks; the log's lock must not be held. `install` is called with each cleaned segment and passes it to
    /// [`crate::Log::begin_swap`] and [`crate::Log::install_cleaned`], both under the lock, and decides the swap between them, without it.
    ///
    /// # Errors
    /// What is done by then is done; the log is whole.
    pub fn run(
        &mut self,
        pace: Pace<'_>,
        install: &mut dyn FnMut(&CleanedSegment) -> Result<(), CleanError>,
    ) -> Result<Cleaned, CleanError> {
        // What an earlier cleaning could not finish.
        self.finish_swap()?;
        let aborted = Aborted::read(&self.plan.dir, self.plan.aborted.take())?;
        let rules = self.find_newest(&aborted, pace)?;
        let mut transactions = Transactions::new(&aborted);
        let mut sources = self.sources_before_end();
        self.counts.segments.0 = sources.len();
        while !sources.is_empty() {
            let group = sources
                .drain(..group_length(&sources, &self.plan.config))
                .collect();
            self.clean(group, &rules, &mut transactions, pace, install)?;
            self.counts.segments.1 += 1;
        }
        self.save_checkpoint()?;
        self.counts.to = self.end;
        self.is_done = true;
        Ok(self.counts)
    }

    /// Walks the dirty segments. Ends early where the map is full.
    fn find_newest(&mut self, aborted: &Aborted, pace: Pace<'_>) -> Result<Rules, CleanError> {
        let plan = &self.plan;
        let first_dirty = plan.first_dirty;
        let dirty = || {
            plan.sources
                .iter()
                .filter(|source| source.end > first_dirty)
        };
        let offsets = |source: &Source| source.end.get() - source.base_offset.get();
        let records: i64 = dirty().map(offsets).sum();
        let CleanerMemory {
            map_bytes,
            map_load_factor,
            buffer_bytes,
        } = plan.memory;
        let secret = SipKey::new(plan.secret);
        let mut map = OffsetMap::new(secret, map_bytes, map_load_factor, records.unsigned_abs());
        let mut end = plan.sources.last().map_or(first_dirty, |last| last.end);
        let mut decompressor = Decompressor::default();
        'full: for source in dirty() {
            let mut reader = BatchReader::open(&*plan.disk, source, buffer_bytes)?;
            let mut unpaced = 0;
            while let Some((batch, _)) = reader.next()? {
                let bytes = batch.total_len() as u64;
                self.counts.bytes_read += bytes;
                unpaced += bytes;
                // An aborted record must not hide another one.
                let noted = match aborted.has(&batch) {
                    true => Ok(None),
                    false => note_keys(&mut map, &batch, first_dirty, &mut decompressor),
                };
                let full_at = noted.map_err(|reason| CleanError::Corrupt {
                    path: source.path.clone(),
                    position: reader.batch_position(),
                    reason,
                })?;
                if let Some(offset) = full_at {
                    end = offset;
                    break 'full;
                }
                if unpaced >= buffer_bytes as u64 {
                    keep_pace(pace, Work::Moved(unpaced))?;
                    unpaced = 0;
                }
            }
            keep_pace(pace, Work::Moved(unpaced))?;
        }
        self.counts.keys = map.len();
        self.end = end;
        let horizon = plan.now.get().checked_add(plan.config.delete_retention_ms);
        Ok(Rules {
            map,
            end,
            now: plan.now,
            // Tombstones that stay for ever need no horizon.
            delete_horizon: horizon.map(TimestampMs),
            producers: plan.producers.clone(),
        })
    }

    fn sources_before_end(&self) -> Vec<Source> {
        let sources = self.plan.sources.iter();
        let before = sources.take_while(|source| source.base_offset < self.end);
        before.cloned().collect()
    }

    fn clean(
        &mut self,
        group: Vec<Source>,
        rules: &Rules,
        transactions: &mut Transactions<'_>,
        pace: Pace<'_>,
        install: &mut dyn FnMut(&CleanedSegment) -> Result<(), CleanError>,
    ) -> Result<(), CleanError> {
        let plan = &self.plan;
        let target = Target {
            disk: &*plan.disk,
            dir: &plan.dir,
            index_interval_bytes: plan.config.index_interval_bytes,
            buffer_bytes: plan.memory.buffer_bytes,
        };
        let base = group[0].base_offset;
        let generation = plan.generation;
        let cleaned = Rewrite::begin(&target, rules, base)
            .and_then(|rewrite| {
                rewrite.run(&group, generation, transactions, &mut self.counts, pace)
            })
            .inspect_err(|_| swap::discard(&*plan.disk, &plan.dir, base))?;
        install(&cleaned).inspect_err(|_| {
            // Where the swap may still happen, at the next start, its files must stay.
            if swap::is_undecided(&*plan.disk, &plan.dir) {
                swap::discard(&*plan.disk, &plan.dir, base);
            }
        })?;
        let swap = cleaned.swap;
        let state = &mut self.plan.state;
        state.holes_below = state.holes_below.max(swap.end);
        state.swap = Some(swap);
        self.finish_swap()?;
        keep_pace(pace, Work::Synced)
    }

    fn finish_swap(&mut self) -> Result<(), CleanError> {
        let plan = &mut self.plan;
        let snapshot = plan.snapshot;
        swap::finish(&*plan.disk, &plan.dir, &mut plan.state, |offset| {
            snapshot == Some(offset)
        })
        .map_err(|error| CleanError::io(&plan.dir, error))
    }

    fn save_checkpoint(&self) -> Result<(), CleanError> {
        let plan = &self.plan;
        crate::log::save_clean_to(&*plan.disk, &plan.dir, self.end)
            .map_err(|error| CleanError::io(&plan.dir, error))
    }

    /// The log's name, for messages.
    pub fn log(&self) -> &Arc<str> {
        &self.plan.name
    }

    /// What was done so far.
    pub fn counts(&self) -> &Cleaned {
        &self.counts
    }

    pub(crate) fn state(&self) -> CompactionState {
        self.plan.state
    }

    pub(crate) fn generation(&self) -> u64 {
        self.plan.generation
    }

    /// Where the log is clean to, where the cleaning came to its end.
    pub(crate) fn clean_to(&self) -> Option<Offset> {
        self.is_done.then_some(self.end)
    }
}

/// Notes the keys of a batch. Where the map is full: the offset of the first record that had no room.
fn note_keys(
    map: &mut OffsetMap,
    batch: &BatchView<'_>,
    first_dirty: Offset,
    decompressor: &mut Decompressor,
) -> Result<Option<Offset>, String> {
    if batch.is_control() || batch.last_offset() < first_dirty {
        return Ok(None);
    }
    for record in batch.records(decompressor).map_err(|e| e.to_string())? {
        let record = record.map_err(|error| error.to_string())?;
        let offset = batch.offset_of(record.offset_delta);
        if let Some(key) = record.key
            && offset >= first_dirty
            && !map.put(key, offset)
        {
            return Ok(Some(offset));
        }
    }
    Ok(None)
}

/// How many of the segments, the first ones, become one: as many as fit in one by size and offsets, and one at least.
fn group_length(sources: &[Source], config: &LogConfig) -> usize {
    let base = sources[0].base_offset.get();
    let bytes_max = u64::from(config.segment_bytes.min(i32::MAX as u32));
    let mut bytes = 0;
    let fits = sources.iter().take_while(|source| {
        bytes += source.bytes;
        bytes <= bytes_max && source.end.get() - base <= i64::from(i32::MAX)
    });
    fits.count().max(1)
}
