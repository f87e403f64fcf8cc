//! Compaction's part under the log's lock: how dirty the log is, what a cleaning may touch, and the swap.

use super::transactions::{AbortedSearch, SearchedSegment};
use super::{Log, files};
use crate::compaction::{CleanError, CleanedSegment, CleanerMemory, Cleaning, Plan, Source, swap};
use crate::error::ChangeError;
use crate::formats::compaction_state::CompactionState;
use crate::segment::Segment;
use fanlog_environment::Disk;
use fanlog_model::{Offset, TimestampMs};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a log remembers of its cleanings.
#[derive(Debug, Default)]
pub(super) struct Compaction {
    /// As it is on disk.
    pub(super) state: CompactionState,
    /// Where it was clean to, by its checkpoint.
    pub(super) clean_to: Option<Offset>,
    /// Whether a cleaning is under way.
    is_under_way: bool,
    /// Whether a swap has begun: what is being replaced stays until it is over.
    is_swapping: bool,
    /// Counts swaps: a search by time that began before one may have seen files of before and of after.
    pub(super) swaps: Arc<AtomicU64>,
}

/// How much a cleaning would have to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dirtiness {
    /// Bytes in segments that are clean.
    pub clean_bytes: u64,
    /// Bytes in sealed segments behind them that may be cleaned.
    pub dirty_bytes: u64,
    /// Whether a dirty record is older than `max.compaction.lag.ms`.
    pub is_overdue: bool,
    /// Whether a cleaning is due, by this or by `min.cleanable.dirty.ratio`.
    pub is_due: bool,
}

impl Dirtiness {
    /// The share of dirty bytes.
    pub fn ratio(&self) -> f64 {
        match self.clean_bytes + self.dirty_bytes {
            0 => 0.0,
            all => self.dirty_bytes as f64 / all as f64,
        }
    }
}

impl Log {
    /// How dirty the log is; nothing where its topic is not compacted.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn dirtiness(&self, now: TimestampMs) -> io::Result<Option<Dirtiness>> {
        if !self.config.is_compacted || self.failed.is_some() {
            return Ok(None);
        }
        let first_dirty = self.first_dirty();
        let count = self.cleanable_segments(first_dirty, now)?;
        let is_clean = |pair: &&[Segment]| pair[1].base_offset <= first_dirty;
        let size = |pair: &[Segment]| pair[0].size;
        let cleanable = || self.segments.windows(2).take(count);
        let clean_bytes = cleanable().take_while(is_clean).map(size).sum();
        let dirty = || cleanable().skip_while(is_clean);
        let mut dirtiness = Dirtiness {
            clean_bytes,
            dirty_bytes: dirty().map(size).sum(),
            is_overdue: false,
            is_due: false,
        };
        if self.config.max_compaction_lag_ms < i64::MAX {
            let oldest = now.get().saturating_sub(self.config.max_compaction_lag_ms);
            for segment in dirty().map(|pair| &pair[0]) {
                let first = segment.read_first_timestamp(self.disk());
                let first = first.map_err(super::roll::into_io)?;
                dirtiness.is_overdue |= first.is_some_and(|t| t.get() > 0 && t.get() < oldest);
            }
        }
        let is_due =
            dirtiness.is_overdue || dirtiness.ratio() > self.config.min_cleanable_dirty_ratio;
        dirtiness.is_due = is_due && dirtiness.dirty_bytes > 0;
        Ok(Some(dirtiness))
    }

    /// Where the log is not clean any more.
    fn first_dirty(&self) -> Offset {
        // A checkpoint beyond the log is of records that were cut off.
        let clean_to = self.compaction.clean_to.filter(|to| *to <= self.log_end);
        clean_to.unwrap_or(Offset::ZERO).max(self.log_start)
    }

    /// How many segments, the first ones, a cleaning may touch: sealed, durable, without an open transaction, and older than `min.compaction.lag.ms`
    /// where they are dirty.
    fn cleanable_segments(&self, first_dirty: Offset, now: TimestampMs) -> io::Result<usize> {
        // What is not durable in its segment a start may have to append again, and a sync that is due knows its file by name.
        let unsynced = self.sealed.first();
        let unsynced = unsynced.map_or(self.active().base_offset, |segment| segment.base_offset);
        let limit = self.last_stable_offset().min(self.synced).min(unsynced);
        let mut count = 0;
        for pair in self.segments.windows(2) {
            let end = pair[1].base_offset;
            if end > limit || (end > first_dirty && self.is_too_young(&pair[0], now)?) {
                break;
            }
            count += 1;
        }
        Ok(count)
    }

    fn is_too_young(&self, segment: &Segment, now: TimestampMs) -> io::Result<bool> {
        let lag = self.config.min_compaction_lag_ms;
        if lag <= 0 {
            return Ok(false);
        }
        let max = segment.max_timestamp(self.disk());
        let max = max.map_err(super::roll::into_io)?;
        Ok(max.is_some_and(|max| max.timestamp.get() > now.get().saturating_sub(lag)))
    }

    /// Plans a cleaning of all that is dirty; nothing where nothing is, where the log has stopped, or where one is under way. Hand it
    /// to [`Log::finish_cleaning`], whatever becomes of it.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn begin_cleaning(
        &mut self,
        now: TimestampMs,
        memory: CleanerMemory,
    ) -> io::Result<Option<Cleaning>> {
        if self.failed.is_some() || self.compaction.is_under_way {
            return Ok(None);
        }
        let first_dirty = self.first_dirty();
        let cleanable = self.cleanable_segments(first_dirty, now)?;
        let sources = self.sources(cleanable);
        if sources.last().is_none_or(|last| last.end <= first_dirty) {
            return Ok(None);
        }
        let aborted = self.aborted_among(&sources);
        let mut secret = [0; 16];
        self.environment.entropy.fill(&mut secret);
        let plan = Plan {
            disk: self.environment.disk.clone(),
            dir: self.dir.clone(),
            name: self.name.clone(),
            config: self.config.clone(),
            sources,
            first_dirty,
            producers: self.producers.last_batches(),
            aborted,
            snapshot: self.last_snapshot,
            state: self.compaction.state,
            generation: self.generation,
            now,
            secret,
            memory,
        };
        self.compaction.is_under_way = true;
        Ok(Some(Cleaning::new(plan)))
    }

    /// Where the aborted transactions are noted that have records in the sources: their markers may lie further on.
    fn aborted_among(&self, sources: &[Source]) -> Option<(AbortedSearch, Vec<SearchedSegment>)> {
        let (first, last) = (sources.first()?, sources.last()?);
        let search = self.aborted_search(first.base_offset, last.end)?;
        Some((search, self.searched_segments()))
    }

    fn sources(&self, count: usize) -> Vec<Source> {
        let pairs = self.segments.windows(2).take(count);
        pairs
            .map(|pair| Source {
                base_offset: pair[0].base_offset,
                end: pair[1].base_offset,
                bytes: pair[0].size,
                is_dense: pair[0].is_dense(),
                path: pair[0].log_path(),
            })
            .collect()
    }

    /// Begins to put a cleaned segment in the place of those that it was made of; until [`Log::install_cleaned`] no segment goes.
    ///
    /// # Errors
    /// The log has stopped, or was changed meanwhile.
    pub fn begin_swap(&mut self, cleaned: &CleanedSegment) -> Result<BegunSwap, CleanError> {
        self.check_running()?;
        self.replaced_range(cleaned).ok_or(CleanError::Overtaken)?;
        self.compaction.is_swapping = true;
        let before = CompactionState {
            swap: None,
            ..self.compaction.state
        };
        let swap = cleaned.swap;
        Ok(BegunSwap {
            disk: self.environment.disk.clone(),
            dir: self.dir.clone(),
            before,
            after: CompactionState {
                holes_below: before.holes_below.max(swap.end),
                swap: Some(swap),
            },
        })
    }

    /// Puts a cleaned segment in the place of those that it was made of, with what [`BegunSwap::decide`] said. Readers who have a plan go on
    /// reading the old files.
    ///
    /// # Errors
    /// The log was changed meanwhile, or the disk refuses: it is as it was. Where that is not known the log has stopped.
    pub fn install_cleaned(
        &mut self,
        cleaned: &CleanedSegment,
        begun: &BegunSwap,
        decided: io::Result<()>,
    ) -> Result<(), CleanError> {
        self.compaction.is_swapping = false;
        self.check_running()?;
        let swap = cleaned.swap;
        let Some(range) = self.replaced_range(cleaned) else {
            let changed = io::Error::other("the log was changed meanwhile");
            return Err(match self.take_back(swap.base, &begun.before, changed) {
                CleanError::Io { .. } => CleanError::Overtaken,
                failed => failed,
            });
        };
        let disk = self.environment.disk.clone();
        let swapped = decided.and_then(|()| swap::rename_cleaned(&*disk, &self.dir, swap.base));
        if let Err(error) = swapped {
            return Err(self.take_back(swap.base, &begun.before, error));
        }
        let created = self.segments[range.start].created;
        let size = swap.bytes;
        let layout = self.config.layout(false);
        let segment = Segment::existing(&self.dir, swap.base, size, created, layout);
        self.segments.splice(range, [segment]);
        self.compaction.state = begun.after;
        self.compaction.swaps.fetch_add(1, Ordering::AcqRel);
        self.check_invariants();
        Ok(())
    }

    /// Whether segments must stay until a swap that has begun is over.
    pub(super) fn is_swapping(&self) -> bool {
        self.compaction.is_swapping
    }

    /// The numbers of the segments that a cleaned one takes the place of, where they are all still there.
    fn replaced_range(&self, cleaned: &CleanedSegment) -> Option<std::ops::Range<usize>> {
        let start = self
            .segments
            .iter()
            .position(|segment| segment.base_offset == cleaned.swap.base)?;
        let end = start + cleaned.replaced.len();
        let bases = self.segments.get(start..end)?.iter();
        let is_same = cleaned.generation == self.generation
            && bases
                .map(|s| s.base_offset)
                .eq(cleaned.replaced.iter().copied())
            && self.segments.get(end).map(|next| next.base_offset) == Some(cleaned.swap.end);
        is_same.then_some(start..end)
    }

    /// The swap failed: has it durably not happen. Where that fails too, or the batches may have their new name already, only a start
    /// can tell what is there.
    fn take_back(
        &mut self,
        base: Offset,
        before: &CompactionState,
        error: io::Error,
    ) -> CleanError {
        let disk = self.environment.disk.clone();
        match swap::take_back(&*disk, &self.dir, base, before) {
            Ok(()) => CleanError::Io {
                path: self.dir.to_path_buf(),
                source: error,
            },
            Err(undo) => {
                tracing::error!(log = %self.name, %undo, "a swap of cleaned segments cannot be taken back");
                CleanError::Failed(self.fail("swapping cleaned segments", &error))
            }
        }
    }

    /// Takes a cleaning back, however it ended.
    pub fn finish_cleaning(&mut self, cleaning: &Cleaning) {
        self.compaction.is_under_way = false;
        self.compaction.is_swapping = false;
        if cleaning.generation() != self.generation {
            return;
        }
        self.compaction.state = cleaning.state();
        if let Some(clean_to) = cleaning.clean_to() {
            self.compaction.clean_to = Some(clean_to);
        }
    }

    /// Before the log is cut at `end`: no swap may bring back what was cut, and what is appended there later is not clean.
    pub(super) fn prepare_cut(&mut self, end: Offset) -> Result<(), ChangeError> {
        if self.compaction.is_under_way {
            let busy = io::Error::new(
                io::ErrorKind::ResourceBusy,
                "the log is being compacted; try again",
            );
            return Err(self.change_io(busy));
        }
        let disk = self.environment.disk.clone();
        let latest = self.last_snapshot;
        let state = &mut self.compaction.state;
        let finished = swap::finish(&*disk, &self.dir, state, |offset| latest == Some(offset));
        let lowered = finished.and_then(|()| match self.compaction.clean_to {
            Some(clean_to) if clean_to > end => files::save_clean_to(&*disk, &self.dir, end),
            _ => Ok(()),
        });
        lowered.map_err(|error| self.change_io(error))
    }
}

/// A swap that is to be decided, which takes syncs and so is done without the log's lock.
#[derive(Debug)]
#[must_use = "a swap must be handed to Log::install_cleaned"]
pub struct BegunSwap {
    disk: Arc<dyn Disk>,
    dir: Arc<Path>,
    before: CompactionState,
    after: CompactionState,
}

impl BegunSwap {
    /// Says durably that the swap happens. Blocks; the log's lock must not be held.
    ///
    /// # Errors
    /// The disk refuses; whether it happens is not known then.
    pub fn decide(&self) -> io::Result<()> {
        swap::save(&*self.disk, &self.dir, &self.after)
    }
}

impl Compaction {
    /// At an open, before any segment is looked at; `is_needed` says that a name in the folder is compaction's.
    pub(super) fn open(disk: &dyn Disk, dir: &Path, is_needed: bool) -> io::Result<Self> {
        let mut compaction = Self::default();
        if is_needed {
            compaction.state = swap::recover(disk, dir)?;
            compaction.clean_to = files::read_clean_to(disk, dir)?;
        }
        Ok(compaction)
    }

    /// Whether the batches of the segment that begins at `base` follow each other without holes.
    pub(super) fn is_dense(&self, base: Offset) -> bool {
        base >= self.state.holes_below
    }
}
