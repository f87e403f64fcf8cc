//! How a partition's records become durable and visible.
//!
//! Why it exists: between an append and its acknowledgement lies one commit of the journal; behind it the segments are synced.
//! Owns: the steps of one sync of the segments, and the move of the high watermark.
//! Invariants: LOG-1, LOG-2; at most one sync of a partition is under way.   Read next: `committer.rs`, `sync_threads.rs`.

use super::Partition;
use crate::lookup::PartitionUnavailable;
use crate::waiters::Ack;
use fanlog_model::Offset;
use fanlog_model::invariants::LOG_2;
use fanlog_storage::{Durability, Log};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

/// How long a sync waits that lacked file handles.
const RETRY_PAUSE: Duration = Duration::from_millis(20);
/// How long records may be in the journal alone: a start after a crash has no more to do than they are.
const SYNC_WAIT: Duration = Duration::from_secs(10);

/// So many bytes of a partition of class `os` are left to the system. It writes with one thread, and once gigabytes wait it stops whoever
/// appends until it has caught up.
const LEFT_BYTES_MAX: u64 = 16 * 1024 * 1024;

const CLEAN: u8 = 0;
const QUEUED: u8 = 1;
const SYNCING: u8 = 2;
const SYNCING_AND_DIRTY: u8 = 3;

/// Where a partition stands with the sync threads: queued at most once, synced by one thread at a time.
#[derive(Debug)]
pub(super) struct Dirt(AtomicU8);

impl Dirt {
    pub(super) fn clean() -> Self {
        Self(AtomicU8::new(CLEAN))
    }

    /// There is something to sync; whether the partition must be queued for it.
    fn mark(&self) -> bool {
        let next = |state| match state {
            CLEAN => Some(QUEUED),
            SYNCING => Some(SYNCING_AND_DIRTY),
            _ => None,
        };
        let before = self
            .0
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, next);
        before == Ok(CLEAN)
    }

    fn begin(&self) {
        let before = self.0.swap(SYNCING, Ordering::AcqRel);
        assert_eq!(
            before, QUEUED,
            "{LOG_2}: two syncs of one partition at once"
        );
    }

    /// The sync is over; whether the partition must be queued again.
    fn end(&self) -> bool {
        let next = |state| match state {
            SYNCING_AND_DIRTY => Some(QUEUED),
            _ => Some(CLEAN),
        };
        let before = self
            .0
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, next);
        before == Ok(SYNCING_AND_DIRTY)
    }
}

fn wait_of(durability: Durability) -> Duration {
    match durability {
        Durability::Sync => SYNC_WAIT,
        // It is not marked before it is worth it.
        Durability::Os => Duration::ZERO,
        Durability::Interval(ms) => Duration::from_millis(ms.into()),
    }
}

impl Partition {
    /// Records were appended, or segments sealed: a sync thread shall make it durable, when it is time.
    pub(crate) fn mark_dirty(self: &Arc<Self>, durability: Durability) {
        if self.dirt.mark() {
            self.shared.queue.push(self.clone(), wait_of(durability));
        }
    }

    /// As `mark_dirty`, where anything is to be synced that its class wants synced.
    pub(crate) fn mark_dirty_if_unsynced(self: &Arc<Self>) {
        let look = |log: &Log| {
            let durability = log.config().durability;
            let is_unsynced = log.synced_offset() < log.log_end_offset();
            let is_due =
                log.unsynced_segments() > 0 || (is_unsynced && durability != Durability::Os);
            is_due.then_some(durability)
        };
        if let Ok(Some(durability)) = self.with_log(look) {
            self.mark_dirty(durability);
        }
    }

    /// Counts bytes that are not synced, and has them synced in time.
    pub(super) fn count_dirty(self: &Arc<Self>, bytes: usize, durability: Durability) {
        let bytes = bytes as u64;
        self.dirty_bytes.fetch_add(bytes, Ordering::Relaxed);
        self.shared.queue.add_dirty(bytes);
        self.mark_dirty(durability);
    }

    /// Counts bytes that nobody wants synced; whether they are much now.
    pub(super) fn has_become_much(&self, bytes: usize) -> bool {
        let bytes = bytes as u64;
        let left = self.left_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if left >= LEFT_BYTES_MAX {
            self.left_bytes.store(0, Ordering::Relaxed);
        }
        left >= LEFT_BYTES_MAX
    }

    /// Makes the segments durable as far as they were appended to.
    pub(crate) fn sync_once(self: &Arc<Self>) {
        self.dirt.begin();
        let is_done = self.sync();
        if self.dirt.end() {
            let durability = self.with_log(|log| log.config().durability);
            let wait = wait_of(durability.unwrap_or(Durability::Sync));
            self.shared.queue.push(self.clone(), wait);
        }
        if !is_done {
            // Nothing tells when a file handle is free again.
            self.shared.queue.pause(RETRY_PAUSE);
            self.mark_dirty(Durability::Interval(0));
        }
    }

    /// Producers wait for its segments: a sync thread shall make them durable now.
    pub(super) fn hurry(self: &Arc<Self>) {
        if self.urgent.mark() {
            self.shared.queue.push_urgent(self.clone());
        }
    }

    /// As `sync_once`, for those who wait.
    pub(crate) fn sync_now(self: &Arc<Self>) {
        self.urgent.begin();
        let is_done = self.sync();
        if self.urgent.end() {
            self.shared.queue.push_urgent(self.clone());
        }
        if !is_done {
            self.shared.queue.pause(RETRY_PAUSE);
            self.hurry();
        }
    }

    /// As `sync_once`, when no sync thread runs any more.
    pub(crate) fn sync_last(self: &Arc<Self>) {
        self.sync();
    }

    /// Makes the segments durable for what the committer does next; answers how far, or nothing where the partition does not serve.
    pub(crate) fn sync_for_commit(self: &Arc<Self>) -> Option<Offset> {
        while !self.sync() {
            self.shared.queue.pause(RETRY_PAUSE);
        }
        self.with_log(|log| log.synced_offset()).ok()
    }

    /// Whether everything was done that there was to do.
    fn sync(self: &Arc<Self>) -> bool {
        let _under_way = self.syncing.lock();
        let dirty = self.dirty_bytes.swap(0, Ordering::Relaxed);
        self.shared.queue.take_dirty(dirty);
        let started = self.shared.clock.monotonic();
        let ticket = match self.change(|log| log.begin_sync()) {
            Ok(Some(ticket)) => ticket,
            Ok(None) => {
                self.publish_as_is();
                return true;
            }
            // It went offline or away while it was queued.
            Err(error) => {
                self.note_unavailable(&error);
                return true;
            }
        };
        let wanted = ticket.end_offset();
        let result = ticket.run();
        self.shared
            .metrics
            .observe_sync(self.shared.clock.monotonic().saturating_sub(started));
        let finished = self.change(|log| {
            let synced = log.end_sync(ticket, result).ok()?;
            let is_noted = self.note_in_journal(log, synced);
            if !is_noted {
                log.note_durable(synced).ok()?;
            }
            Some((synced, is_noted))
        });
        match finished {
            Ok(Some((synced, is_noted))) => {
                if is_noted {
                    let journal = &self.shared.committer.journal;
                    journal.note_synced(self.log_id(), synced);
                } else {
                    self.publish_as_is();
                }
                synced >= wanted
            }
            Ok(None) => true,
            Err(error) => {
                self.note_unavailable(&error);
                true
            }
        }
    }

    /// The segments are durable beyond what was handed to the journal: the next commit says so, and acknowledges it. Under the lock.
    fn note_in_journal(self: &Arc<Self>, log: &Log, synced: Offset) -> bool {
        let committer = &self.shared.committer;
        let is_due = log.config().durability == Durability::Sync
            && synced.0 > self.handed_on.load(Ordering::Relaxed)
            && committer.journal.failure().is_none();
        let is_noted = is_due && committer.push_note(self, self.leader_epoch(), synced);
        if is_noted {
            self.handed_on.store(synced.0, Ordering::Relaxed);
        }
        is_noted
    }

    /// What the log says: the segments may be ahead of the journal.
    fn publish_as_is(&self) {
        let look = |log: &Log| (log.durable_offset(), log.synced_offset());
        if let Ok((durable, synced)) = self.with_log(look) {
            self.shared
                .committer
                .journal
                .note_synced(self.log_id(), synced);
            self.publish(durable);
        }
    }

    /// The journal holds everything below `end` durably.
    pub(crate) fn note_committed(&self, end: Offset, took: Duration) {
        self.shared.metrics.observe_sync(took);
        match self.change(|log| log.note_durable(end)) {
            Ok(Ok(durable)) => self.publish(durable),
            Ok(Err(_)) => {}
            Err(error) => self.note_unavailable(&error),
        }
    }

    /// The journal keeps the records of a log that has stopped, for the restart; it does not keep those of one that is gone.
    fn note_unavailable(&self, error: &PartitionUnavailable) {
        let journal = &self.shared.committer.journal;
        match error {
            PartitionUnavailable::Deleted { .. } => journal.forget(self.log_id()),
            PartitionUnavailable::Offline { .. } => journal.keep(self.log_id()),
        }
    }

    /// The journal has failed: what waits for it is never acknowledged, and only a restart knows what the disk has.
    pub(crate) fn stop_log(&self, reason: &str) {
        let error = io::Error::other(reason.to_owned());
        // It may be offline or gone already.
        let _ = self.change(|log| log.stop("a commit of the journal", &error));
    }

    /// Everything below `durable` is durable, and so visible.
    pub(crate) fn publish(&self, durable: Offset) {
        let before = self.watermark.fetch_max(durable.0, Ordering::AcqRel);
        if before > durable.0 {
            // Whoever was faster tells those who wait.
            return;
        }
        self.acks.move_to(durable);
        if before < durable.0 {
            self.watchers.wake_all();
        }
    }

    pub(crate) fn wait_durable(&self, needed: Offset) -> Ack {
        self.acks.wait_for(needed)
    }

    /// Completes when everything below `needed` is durable.
    pub(crate) async fn durable(&self, needed: Offset) -> Result<(), PartitionUnavailable> {
        match self.wait_durable(needed) {
            Ack::Decided(result) => result,
            // The sender goes without an answer only with the partition itself, when the broker stops.
            Ack::Parked(receiver) => receiver.await.unwrap_or_else(|_| Err(self.stopping())),
        }
    }

    pub(crate) fn observe_ack(&self, appended_at: Duration) {
        let now = self.shared.clock.monotonic();
        let waited = now.saturating_sub(appended_at);
        self.shared.metrics.observe_ack(now, waited);
    }
}
