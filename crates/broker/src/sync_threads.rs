//! The threads that make appended records durable.
//!
//! Why it exists: fdatasync takes milliseconds and serves everything written before it; while one runs, appends of
//! other producers gather for the next (group commit). Several threads, as a disk syncs files in parallel.
//! Owns: the queue of dirty partitions (each at most once, so it is bounded by their number).
//! Never: which offset is durable; the partition's log says so.
//! In -> out: `Partition::mark_dirty` -> `Partition::sync_once`.
//! Invariants: LOG-1, LOG-2.   Read next: `partition.rs`.

use crate::partition::Partition;
use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

/// Partitions with records that are not durable yet, in the order in which they became dirty.
#[derive(Debug, Default)]
pub(crate) struct SyncQueue {
    state: Mutex<QueueState>,
    changed: Condvar,
    stopped: Condvar,
}

#[derive(Debug, Default)]
struct QueueState {
    dirty: VecDeque<Arc<Partition>>,
    is_stopped: bool,
}

impl SyncQueue {
    pub(crate) fn push(&self, partition: Arc<Partition>) {
        self.state.lock().dirty.push_back(partition);
        self.changed.notify_one();
    }

    /// The next dirty partition, without waiting.
    pub(crate) fn try_pop(&self) -> Option<Arc<Partition>> {
        self.state.lock().dirty.pop_front()
    }

    /// The next dirty partition; none once the queue is stopped.
    fn pop(&self) -> Option<Arc<Partition>> {
        let mut state = self.state.lock();
        loop {
            if state.is_stopped {
                return None;
            }
            if let Some(partition) = state.dirty.pop_front() {
                return Some(partition);
            }
            self.changed.wait(&mut state);
        }
    }

    /// Lets a sync thread wait before it tries again; not beyond the stop.
    pub(crate) fn pause(&self, span: Duration) {
        let mut state = self.state.lock();
        if !state.is_stopped {
            self.stopped.wait_for(&mut state, span);
        }
    }

    fn stop(&self) {
        let mut state = self.state.lock();
        state.is_stopped = true;
        // A queued partition holds the queue, and the queue the partition.
        state.dirty.clear();
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
    while let Some(partition) = queue.pop() {
        sync_guarded(&partition);
    }
}

/// Syncs; a broken invariant takes its partition offline and leaves the thread to the others.
pub(crate) fn sync_guarded(partition: &Arc<Partition>) {
    if catch_unwind(AssertUnwindSafe(|| partition.sync_once())).is_err() {
        tracing::error!(partition = %partition.folder(), "a broken invariant stopped this partition");
        partition
            .take_offline("an internal error while syncing; see the broker's log and restart it");
    }
}
