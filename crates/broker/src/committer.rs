//! The committer: makes appended records durable by way of the journal, all that wait with one write and one sync.
//!
//! Why it exists: while one commit is under way, appends of all partitions gather for the next (group commit), so that a sync costs
//! the same for one partition as for a thousand.
//! Owns: the records that wait to be committed.   Never: which offset is durable (the log says so), the journal's files.
//! In -> out: `push`, under the partition's lock -> one commit -> each partition's durable offset.
//! Invariants: LOG-1, LOG-2. After a failed write or sync the logs that had records in it stop; the others go on by syncing their
//! segments.   Read next: `sync_threads.rs`.

use crate::partition::Partition;
use crate::sync_threads::SyncQueue;
use fanlog_environment::Clock;
use fanlog_model::{LeaderEpoch, Offset};
use fanlog_storage::journal::{CommitError, Journal, LogId, Pending};
use parking_lot::{Condvar, Mutex};
use std::collections::{HashMap, HashSet};
use std::io;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::Notify;

/// Appends wait while so many bytes wait to be committed.
const WAITING_BYTES_MAX: usize = 32 * 1024 * 1024;
/// How long the committer waits for room that only others can make.
const ROOM_PAUSE: Duration = Duration::from_millis(5);

/// Records that wait to be committed, and the journal that they go to.
#[derive(Debug)]
pub(crate) struct Committer {
    pub(crate) journal: Arc<Journal>,
    queue: Arc<SyncQueue>,
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
    changed: Condvar,
    waiting_bytes: AtomicUsize,
    room: Notify,
    /// Logs that have stopped with records that are neither synced nor here: what comes behind those is not committed.
    cut_off: Mutex<HashSet<LogId>>,
}

#[derive(Debug, Default)]
struct State {
    waiting: Batch,
    /// Taken, and not committed for want of a file.
    unfinished: Option<Batch>,
    /// Empty, for the next exchange.
    spare: Batch,
    is_stopped: bool,
}

/// What goes into one commit.
#[derive(Debug, Default)]
struct Batch {
    pending: Pending,
    /// Whose record each is.
    owners: Vec<(Arc<Partition>, Offset)>,
    /// Partitions whose segments hold what the journal does not, and must be synced first.
    must_sync: Vec<Arc<Partition>>,
    /// How many of the records are committed.
    done: usize,
}

impl Batch {
    fn is_empty(&self) -> bool {
        self.pending.is_empty() && self.must_sync.is_empty()
    }

    fn clear(&mut self) {
        self.pending.clear();
        self.owners.clear();
        self.must_sync.clear();
        self.done = 0;
    }
}

impl Committer {
    pub(crate) fn new(journal: Arc<Journal>, queue: Arc<SyncQueue>, clock: Arc<dyn Clock>) -> Self {
        Self {
            journal,
            queue,
            clock,
            state: Mutex::new(State::default()),
            changed: Condvar::new(),
            waiting_bytes: AtomicUsize::new(0),
            room: Notify::new(),
            cut_off: Mutex::default(),
        }
    }

    /// Whether an append goes past the journal. When that has failed all do: the logs that had nothing in it go on without.
    pub(crate) fn goes_past(&self, bytes: usize, is_behind_another: bool) -> bool {
        let config = self.journal.config();
        config.goes_past(bytes, is_behind_another) || self.journal.failure().is_some()
    }

    /// Takes in what was appended to a partition. Called under the partition's lock, so that records stay in order. `follows` says whether
    /// everything before it is durable or was pushed as well.
    pub(crate) fn push(
        &self,
        partition: &Arc<Partition>,
        leader_epoch: LeaderEpoch,
        offsets: Range<Offset>,
        bytes: &[u8],
        follows: bool,
    ) {
        let end = offsets.end;
        let mut state = self.state.lock();
        let waiting = &mut state.waiting;
        if !follows {
            waiting.must_sync.push(partition.clone());
        }
        let log = partition.log_id();
        waiting.pending.push(log, leader_epoch, offsets, bytes);
        waiting.owners.push((partition.clone(), end));
        self.waiting_bytes
            .store(waiting.pending.bytes(), Ordering::Relaxed);
        drop(state);
        self.changed.notify_one();
    }

    /// Takes in the note that below `synced` the partition's segments are durable: with its commit what went past the journal is proven,
    /// and acknowledged. Called under the partition's lock. Nobody takes it any more once the committer has stopped.
    pub(crate) fn push_note(
        &self,
        partition: &Arc<Partition>,
        leader_epoch: LeaderEpoch,
        synced: Offset,
    ) -> bool {
        let mut state = self.state.lock();
        if state.is_stopped {
            return false;
        }
        let waiting = &mut state.waiting;
        let log = partition.log_id();
        waiting.pending.push_synced(log, leader_epoch, synced);
        waiting.owners.push((partition.clone(), synced));
        drop(state);
        self.changed.notify_one();
        true
    }

    /// Waits until there is room for more. Those that wait together may exceed it together: by what they hold in memory anyway.
    pub(crate) async fn room(&self) {
        while self.waiting_bytes.load(Ordering::Acquire) > WAITING_BYTES_MAX {
            let mut made = std::pin::pin!(self.room.notified());
            made.as_mut().enable();
            if self.waiting_bytes.load(Ordering::Acquire) > WAITING_BYTES_MAX {
                made.await;
            }
        }
    }

    /// Commits what waits, as far as the journal takes it now; whether there was anything.
    pub(crate) fn commit_waiting(&self) -> bool {
        let batch = self.take_from(&mut self.state.lock());
        batch.is_some_and(|batch| self.commit_and_give_back(batch))
    }

    fn take_from(&self, state: &mut State) -> Option<Batch> {
        if let Some(unfinished) = state.unfinished.take() {
            return Some(unfinished);
        }
        if state.waiting.is_empty() {
            return None;
        }
        let spare = std::mem::take(&mut state.spare);
        let batch = std::mem::replace(&mut state.waiting, spare);
        self.waiting_bytes.store(0, Ordering::Release);
        self.room.notify_waiters();
        Some(batch)
    }

    /// Whether the batch is done with.
    fn commit_and_give_back(&self, mut batch: Batch) -> bool {
        let committed = catch_unwind(AssertUnwindSafe(|| self.commit(&mut batch)));
        let is_done = committed.unwrap_or_else(|_| {
            tracing::error!(
                "a broken invariant stopped the committer: nothing is acknowledged any more"
            );
            self.stop_logs(
                &batch,
                "an internal error; see the broker's log and restart it",
            );
            true
        });
        let mut state = self.state.lock();
        if is_done {
            batch.clear();
            state.spare = batch;
        } else {
            state.unfinished = Some(batch);
        }
        is_done
    }

    fn stop_logs(&self, batch: &Batch, reason: &str) {
        let reason = self.journal.stop(reason);
        let left = batch.owners.get(batch.done..).unwrap_or_default();
        for (partition, _) in left {
            partition.stop_log(&reason);
        }
    }

    fn commit(&self, batch: &mut Batch) -> bool {
        if !batch.must_sync.is_empty() {
            if !self.sync_first(&batch.must_sync) {
                return false;
            }
            batch.must_sync.clear();
        }
        self.leave_out(batch);
        let committed = self.commit_all(&batch.pending, batch.done, |done, count, took| {
            announce(&batch.owners[done..done + count], took);
        });
        match committed {
            Ok(()) => true,
            Err(Unfinished::At(done)) => {
                batch.done = done;
                false
            }
            Err(Unfinished::Failed { done, reason }) => {
                batch.done = done;
                self.stop_logs(batch, &reason);
                true
            }
        }
    }

    fn leave_out(&self, batch: &mut Batch) {
        let cut_off = self.cut_off.lock();
        let is_hit =
            |(partition, _): &(Arc<Partition>, Offset)| cut_off.contains(&partition.log_id());
        if batch.done == 0 && !cut_off.is_empty() && batch.owners.iter().any(is_hit) {
            let (kept, positions) = batch.pending.without(|log| cut_off.contains(&log));
            batch.pending = kept;
            batch.owners = positions.iter().map(|i| batch.owners[*i].clone()).collect();
        }
    }

    /// Syncs segments, and notes durably how far: what is committed next relies on it. Whether the notes are committed.
    fn sync_first(&self, partitions: &[Arc<Partition>]) -> bool {
        let mut notes = Pending::default();
        for partition in partitions {
            let log = partition.log_id();
            match partition.sync_for_commit() {
                Some(synced) => notes.push_synced(log, partition.leader_epoch(), synced),
                None => drop(self.cut_off.lock().insert(log)),
            }
        }
        !matches!(
            self.commit_all(&notes, 0, |_, _, _| {}),
            Err(Unfinished::At(_))
        )
    }

    /// Commits records from the one numbered `done` on, and tells of each commit.
    fn commit_all(
        &self,
        pending: &Pending,
        mut done: usize,
        tell: impl Fn(usize, usize, Duration),
    ) -> Result<(), Unfinished> {
        while done < pending.len() {
            let started = self.clock.monotonic();
            match self.journal.commit(pending, done) {
                Ok(commit) => {
                    let took = self.clock.monotonic().saturating_sub(started);
                    tell(done, commit.count, took);
                    done += commit.count;
                    if commit.is_first_of_file {
                        self.queue.note_new_file();
                    }
                }
                Err(CommitError::Failed(reason)) => {
                    return Err(Unfinished::Failed { done, reason });
                }
                Err(error @ (CommitError::Full | CommitError::NoFile(_))) => {
                    tracing::debug!(%error, "commits wait for segments to be synced");
                    if !self.queue.make_room() {
                        return Err(Unfinished::At(done));
                    }
                }
            }
        }
        Ok(())
    }

    /// Waits for records; none once it is stopped.
    fn wait(&self) -> Option<Batch> {
        let mut state = self.state.lock();
        loop {
            if state.is_stopped {
                return None;
            }
            if let Some(batch) = self.take_from(&mut state) {
                return Some(batch);
            }
            self.changed.wait(&mut state);
        }
    }

    fn stop(&self) {
        self.state.lock().is_stopped = true;
        self.changed.notify_all();
    }

    /// Nothing is committed any more. Records that wait hold their partitions, and those hold this.
    fn forget_waiting(&self) {
        let mut state = self.state.lock();
        state.is_stopped = true;
        state.waiting.clear();
        state.unfinished = None;
    }
}

/// Why not everything was committed.
enum Unfinished {
    /// There is no file for the records from here on, for now.
    At(usize),
    /// The journal has failed.
    Failed { done: usize, reason: Arc<str> },
}

/// Tells each partition once how far it is durable, in the order in which they came.
fn announce(durable: &[(Arc<Partition>, Offset)], took: Duration) {
    let mut seen: HashMap<LogId, usize> = HashMap::new();
    let mut ends: Vec<(&Arc<Partition>, Offset)> = Vec::new();
    for (partition, end) in durable {
        match ends.last_mut() {
            Some(last) if Arc::ptr_eq(last.0, partition) => last.1 = *end,
            _ => {
                let at = *seen.entry(partition.log_id()).or_insert(ends.len());
                match ends.get_mut(at) {
                    Some(known) => known.1 = *end,
                    None => ends.push((partition, *end)),
                }
            }
        }
    }
    for (partition, end) in ends {
        let told = catch_unwind(AssertUnwindSafe(|| partition.note_committed(end, took)));
        if told.is_err() {
            tracing::error!(partition = %partition.folder(), "a broken invariant stopped this partition");
            partition.take_offline(
                "an internal error after a commit; see the broker's log and restart it",
            );
        }
    }
}

/// The running committer. Stopping or dropping it ends it, without committing what waits.
#[derive(Debug)]
pub(crate) struct CommitterThread {
    committer: Arc<Committer>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl CommitterThread {
    /// `is_started` is false where the commits are made by calls, for simulation.
    pub(crate) fn start(committer: Arc<Committer>, is_started: bool) -> io::Result<Self> {
        let runs = committer.clone();
        let run = move || {
            while let Some(batch) = runs.wait() {
                if !runs.commit_and_give_back(batch) {
                    runs.queue.pause(ROOM_PAUSE);
                }
            }
        };
        let thread = match is_started {
            true => Some(
                std::thread::Builder::new()
                    .name("committer".into())
                    .spawn(run)?,
            ),
            false => None,
        };
        Ok(Self {
            committer,
            thread: Mutex::new(thread),
        })
    }

    /// Ends the thread once the commit under way is done.
    pub(crate) fn stop(&self) {
        self.committer.stop();
        if let Some(thread) = self.thread.lock().take() {
            // It lets no panic out.
            let _ = thread.join();
        }
    }
}

impl Drop for CommitterThread {
    fn drop(&mut self) {
        self.stop();
        self.committer.forget_waiting();
    }
}
