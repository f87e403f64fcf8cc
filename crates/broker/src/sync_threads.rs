//! The threads that sync segments, behind the journal.
//!
//! Why it exists: what is in the journal is durable, and must be durable in its segment before the journal's file can be used again.
//! Syncing all segments at once would hold up the commits; so they are synced one after the other, the ones dirty longest first, as
//! fast as dirty bytes come in. A topic that does not wait for the disk has its syncs here too.
//! Owns: the queue of dirty partitions (each at most once, so it is bounded by their number).
//! Never: which offset is durable; the partition's log says so.
//! In -> out: `Partition::mark_dirty` -> `Partition::sync_once` -> journal files used again.
//! Invariants: LOG-1.   Read next: `partition/sync.rs`.

use crate::partition::Partition;
use fanlog_environment::Clock;
use fanlog_storage::journal::Journal;
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// So many dirty bytes each partition may have before it is synced early, on average: a sync of less is not worth its cost.
const DIRTY_BYTES_EACH: u64 = 512 * 1024;
/// So many dirty bytes there may be in all, however few partitions.
const DIRTY_BYTES_MIN: u64 = 16 * 1024 * 1024;

/// So many threads at most sync what nobody waits for; the others are there for those that producers wait for.
const BACKGROUND_MAX: usize = 2;

/// Partitions with records that are not synced yet, by when they should be.
#[derive(Debug)]
pub(crate) struct SyncQueue {
    journal: Arc<Journal>,
    clock: Arc<dyn Clock>,
    state: Mutex<QueueState>,
    changed: Condvar,
    stopped: Condvar,
    dirty_bytes: AtomicU64,
    /// Syncs begin early beyond so many dirty bytes.
    dirty_bytes_max: AtomicU64,
}

#[derive(Debug, Default)]
struct QueueState {
    /// By due time, then in the order in which they became dirty.
    dirty: BTreeMap<(Duration, u64), Arc<Partition>>,
    next: u64,
    /// Those whose producers wait for a sync, each at most once.
    urgent: VecDeque<Arc<Partition>>,
    /// How many threads sync what nobody waits for.
    in_background: usize,
    /// Those that became dirty before this one are due: the journal needs its files.
    urged_below: u64,
    /// The journal should look after its files.
    has_new_file: bool,
    is_stopped: bool,
}

enum Work {
    Sync(Arc<Partition>),
    SyncNow(Arc<Partition>),
    Files,
}

impl SyncQueue {
    pub(crate) fn new(journal: Arc<Journal>, clock: Arc<dyn Clock>) -> Self {
        Self {
            journal,
            clock,
            state: Mutex::default(),
            changed: Condvar::new(),
            stopped: Condvar::new(),
            dirty_bytes: AtomicU64::new(0),
            dirty_bytes_max: AtomicU64::new(DIRTY_BYTES_MIN),
        }
    }

    /// The partition shall be synced after `wait` at the latest.
    pub(crate) fn push(&self, partition: Arc<Partition>, wait: Duration) {
        let due = self.clock.monotonic().saturating_add(wait);
        let mut state = self.state.lock();
        let number = state.next;
        state.next += 1;
        let is_first = state
            .dirty
            .first_key_value()
            .is_none_or(|(first, _)| due < first.0);
        state.dirty.insert((due, number), partition);
        self.set_limit(&state);
        drop(state);
        if is_first {
            self.changed.notify_one();
        }
    }

    /// Producers wait for the partition to be synced.
    pub(crate) fn push_urgent(&self, partition: Arc<Partition>) {
        self.state.lock().urgent.push_back(partition);
        self.changed.notify_one();
    }

    /// Syncs a partition whose producers wait for it, on this thread; whether there was one.
    pub(crate) fn sync_urgent(&self) -> bool {
        let partition = self.state.lock().urgent.pop_front();
        if let Some(partition) = &partition {
            sync_guarded(partition, Partition::sync_now);
        }
        partition.is_some()
    }

    fn set_limit(&self, state: &QueueState) {
        let config = self.journal.config();
        let most = config.file_bytes * config.files_max as u64 / 2;
        let wanted = (state.dirty.len() as u64 * DIRTY_BYTES_EACH).max(DIRTY_BYTES_MIN);
        self.dirty_bytes_max
            .store(wanted.min(most), Ordering::Relaxed);
    }

    /// Bytes were appended that are not synced.
    pub(crate) fn add_dirty(&self, bytes: u64) {
        let before = self.dirty_bytes.fetch_add(bytes, Ordering::Relaxed);
        let max = self.dirty_bytes_max.load(Ordering::Relaxed);
        if before <= max && before + bytes > max {
            // Under the lock, so that a thread about to wait sees it.
            drop(self.state.lock());
            self.changed.notify_one();
        }
    }

    /// Bytes were synced, or their log is gone.
    pub(crate) fn take_dirty(&self, bytes: u64) {
        self.dirty_bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// The journal has begun another file.
    pub(crate) fn note_new_file(&self) {
        let is_short = self.journal.files_left() < self.journal.config().files_max / 2;
        let mut state = self.state.lock();
        state.has_new_file = true;
        if is_short {
            state.urged_below = state.next;
        }
        drop(state);
        self.changed.notify_one();
    }

    /// The partition that is due next, due or not, without waiting.
    fn try_pop(&self) -> Option<Arc<Partition>> {
        let mut state = self.state.lock();
        let (_, partition) = state.dirty.pop_first()?;
        self.set_limit(&state);
        Some(partition)
    }

    /// Syncs the partition that is due next, due or not; whether there was one.
    pub(crate) fn sync_next(&self) -> bool {
        let Some(partition) = self.try_pop() else {
            return false;
        };
        sync_guarded(&partition, Partition::sync_once);
        self.look_after_files();
        true
    }

    /// Syncs until the journal has a file again; whether there was anything to do for that.
    pub(crate) fn make_room(&self) -> bool {
        loop {
            let is_made = self.journal.recycle().unwrap_or_else(|error| {
                tracing::warn!(%error, "the journal's files are used again later");
                false
            });
            if is_made {
                return true;
            }
            let Some(partition) = self.try_pop() else {
                return false;
            };
            sync_guarded(&partition, Partition::sync_once);
        }
    }

    /// Files that no log needs are used again, and one is made ready for the next commits.
    pub(crate) fn look_after_files(&self) {
        let looked = self
            .journal
            .recycle()
            .and_then(|_| self.journal.prepare_spare());
        if let Err(error) = looked {
            tracing::warn!(%error, "the journal's files are looked after later");
        }
    }

    /// What is to be done next; none once the queue is stopped.
    fn wait(&self) -> Option<Work> {
        let mut state = self.state.lock();
        loop {
            if state.is_stopped {
                return None;
            }
            if let Some(partition) = state.urgent.pop_front() {
                return Some(Work::SyncNow(partition));
            }
            if std::mem::take(&mut state.has_new_file) {
                return Some(Work::Files);
            }
            let first = state.dirty.first_key_value().map(|(key, _)| *key);
            let Some((due, number)) = first.filter(|_| state.in_background < BACKGROUND_MAX) else {
                self.changed.wait(&mut state);
                continue;
            };
            let now = self.clock.monotonic();
            let is_pressed = self.dirty_bytes.load(Ordering::Relaxed)
                > self.dirty_bytes_max.load(Ordering::Relaxed);
            if due <= now || number < state.urged_below || is_pressed {
                let (_, partition) = state.dirty.pop_first()?;
                state.in_background += 1;
                self.set_limit(&state);
                return Some(Work::Sync(partition));
            }
            self.changed.wait_for(&mut state, due.saturating_sub(now));
        }
    }

    /// A sync that nobody waited for is over.
    fn end_background(&self) {
        self.state.lock().in_background -= 1;
        self.changed.notify_one();
    }

    /// Lets a thread wait before it tries again; not beyond the stop.
    pub(crate) fn pause(&self, span: Duration) {
        let mut state: MutexGuard<'_, QueueState> = self.state.lock();
        if !state.is_stopped {
            self.stopped.wait_for(&mut state, span);
        }
    }

    fn stop(&self) {
        let mut state = self.state.lock();
        state.is_stopped = true;
        // A queued partition holds the queue, and the queue the partition.
        state.dirty.clear();
        state.urgent.clear();
        drop(state);
        self.changed.notify_all();
        self.stopped.notify_all();
    }
}

/// The running threads; they end when this is stopped or dropped, without syncing what is still queued.
#[derive(Debug)]
pub(crate) struct SyncThreads {
    queue: Arc<SyncQueue>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl SyncThreads {
    pub(crate) fn start(queue: Arc<SyncQueue>, count: usize) -> io::Result<Self> {
        let threads = (0..count)
            .map(|number| {
                let queue = queue.clone();
                std::thread::Builder::new()
                    .name(format!("sync-{number}"))
                    .spawn(move || run(&queue))
            })
            .collect::<io::Result<Vec<_>>>()?;
        Ok(Self {
            queue,
            threads: Mutex::new(threads),
        })
    }

    /// Ends the threads once the syncs under way are done.
    pub(crate) fn stop(&self) {
        self.queue.stop();
        let threads = std::mem::take(&mut *self.threads.lock());
        for thread in threads {
            // `run` lets no panic out.
            let _ = thread.join();
        }
    }
}

impl Drop for SyncThreads {
    fn drop(&mut self) {
        self.stop();
    }
}

fn run(queue: &SyncQueue) {
    while let Some(work) = queue.wait() {
        match work {
            // The next one may be waiting: files are looked after when a commit needs another.
            Work::SyncNow(partition) => {
                sync_guarded(&partition, Partition::sync_now);
                continue;
            }
            Work::Sync(partition) => {
                sync_guarded(&partition, Partition::sync_once);
                queue.end_background();
            }
            Work::Files => {}
        }
        queue.look_after_files();
    }
}

/// Syncs; a broken invariant takes its partition offline and leaves the thread to the others.
fn sync_guarded(partition: &Arc<Partition>, sync: impl FnOnce(&Arc<Partition>)) {
    if catch_unwind(AssertUnwindSafe(|| sync(partition))).is_err() {
        tracing::error!(partition = %partition.folder(), "a broken invariant stopped this partition");
        partition
            .take_offline("an internal error while syncing; see the broker's log and restart it");
    }
}
