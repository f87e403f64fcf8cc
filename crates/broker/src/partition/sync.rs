//! How a partition's records become durable and visible.
//!
//! Why it exists: between an append and its acknowledgement lies one sync, which serves all appends before it.
//! Owns: the steps of one sync, and the move of the high watermark.
//! Invariants: LOG-1, LOG-2; at most one sync of a partition is under way.   Read next: `sync_threads.rs`.

use super::Partition;
use crate::lookup::PartitionUnavailable;
use crate::waiters::Ack;
use fanlog_model::Offset;
use fanlog_model::invariants::LOG_2;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

/// How long a sync waits that lacked file handles.
const RETRY_PAUSE: Duration = Duration::from_millis(20);

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

impl Partition {
    /// Records were appended, or the log's start moved: a sync thread shall make it durable.
    pub(crate) fn mark_dirty(self: &Arc<Self>) {
        if self.dirt.mark() {
            self.shared.queue.push(self.clone());
        }
    }

    /// Makes everything appended so far durable, and lets those who wait for it go.
    pub(crate) fn sync_once(self: &Arc<Self>) {
        self.dirt.begin();
        let is_done = self.sync();
        if self.dirt.end() {
            self.shared.queue.push(self.clone());
        }
        if !is_done {
            // Nothing tells when a file handle is free again.
            self.shared.queue.pause(RETRY_PAUSE);
            self.mark_dirty();
        }
    }

    /// As `sync_once`, when no sync thread runs any more.
    pub(crate) fn sync_last(&self) {
        self.sync();
    }

    /// Whether everything was done that there was to do.
    fn sync(&self) -> bool {
        let _under_way = self.syncing.lock();
        let started = self.shared.clock.monotonic();
        let ticket = match self.change(|log| log.begin_sync()) {
            Ok(Some(ticket)) => ticket,
            Ok(None) => {
                self.publish_as_is();
                return true;
            }
            // It went offline or away while it was queued.
            Err(_) => return true,
        };
        let wanted = ticket.end_offset();
        let result = ticket.run();
        self.shared
            .metrics
            .observe_sync(self.shared.clock.monotonic().saturating_sub(started));
        let Ok(Ok(durable)) = self.change(|log| log.finish_sync(ticket, result)) else {
            return true;
        };
        self.publish(durable);
        durable >= wanted
    }

    /// Nothing is left to sync: rolling a segment has made it durable.
    fn publish_as_is(&self) {
        if let Ok(durable) = self.with_log(|log| log.durable_offset()) {
            self.publish(durable);
        }
    }

    /// Everything below `durable` is durable, and so visible.
    pub(crate) fn publish(&self, durable: Offset) {
        let before = self.watermark.fetch_max(durable.0, Ordering::AcqRel);
        assert!(
            before <= durable.0,
            "{LOG_2}: the high watermark of {} went back from {before} to {durable}",
            self.folder()
        );
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
        let waited = self.shared.clock.monotonic().saturating_sub(appended_at);
        self.shared.metrics.observe_ack(waited);
    }
}
