//! Cuts the log of a shard: what stands before the oldest snapshot that is needed.
//!
//! Why it exists: updates bear one key and add up, so the topic cannot be compacted; and a replay must stay short. As often
//! as the log has grown by some records for each share-partition, those whose snapshot is old write a new one, and the
//! log begins at the oldest.
//! Invariants: replay equals live: nothing goes that a replay needs.

use super::shard::{Machines, Shard};
use crate::machines::{CoordinatorError, MachineShard, cut_log_before};
use fanlog_coordinators::share::snapshot;
use fanlog_model::Offset;
use std::sync::Arc;

/// The log is cut after so many records at the earliest.
const RECORDS_MIN: u64 = 5_000;
/// And after so many for each share-partition.
const RECORDS_PER_PARTITION: u64 = 4;

impl Machines {
    /// Whether the log has grown enough to be cut.
    pub(super) fn is_long(&self) -> bool {
        self.appended >= RECORDS_MIN.max(RECORDS_PER_PARTITION * self.of.len() as u64)
    }
}

impl Shard {
    /// Cuts the log, on a thread that may block.
    pub(super) fn prune_in_background(self: &Arc<Self>) {
        // Counted from now on, so that only one is under way for this growth.
        if self.with_active(|machines| machines.appended = 0).is_err() {
            return;
        }
        let shard = self.clone();
        tokio::spawn(async move {
            let epoch = shard.partition().leader_epoch();
            let old = shard.partition().high_watermark().0 - RECORDS_MIN as i64;
            let written = shard.log_all(|machines, now| {
                let is_old = |at: Offset| at.0 < old;
                let cold = machines
                    .of
                    .iter()
                    .filter(|(_, known)| is_old(known.snapshot_at));
                cold.map(|(key, known)| (key.clone(), snapshot(&known.ledger, epoch, now)))
                    .collect()
            });
            if written.is_err() {
                return;
            }
            let Ok((needed, end)) = shard.needed_from() else {
                return;
            };
            // A crash must find the snapshots that the cut relies on.
            if shard.durable_to(end).await.is_err() {
                return;
            }
            let cut = shard.base().blocking().run({
                let shard = shard.clone();
                move || cut_log_before(shard.partition(), needed)
            });
            if let Ok(Err(error)) = cut.await {
                tracing::warn!(partition = %shard.partition().folder(), %error, "the log of share groups stays long for now");
            }
        });
    }

    /// The offset of the oldest snapshot, and the end of what was decided when it was the oldest: both of one moment, as a later
    /// snapshot is not durable with what was decided before it.
    fn needed_from(&self) -> Result<(Offset, Offset), CoordinatorError> {
        self.with_active(|machines| {
            let snapshots = machines.of.values().map(|known| known.snapshot_at);
            let end = machines.decided_end;
            (snapshots.min().unwrap_or(end), end)
        })
    }
}
