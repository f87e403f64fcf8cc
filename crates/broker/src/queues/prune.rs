//! Cuts the log of a shard: what stands before the oldest snapshot that is needed.
//!
//! Why it exists: updates bear one key and add up, so the topic cannot be compacted; and a replay must stay short. As often
//! as the log has grown by a few times what the snapshots of all take, those whose snapshot is old write a new one, and the
//! log begins at the oldest.
//! Invariants: replay equals live: nothing goes that a replay needs.

use super::shard::Shard;
use crate::machines::{CoordinatorError, MachineShard, cut_log_before};
use fanlog_coordinators::queue::snapshot;
use fanlog_model::Offset;
use std::sync::Arc;

impl Shard {
    /// Cuts the log, on a thread that may block.
    pub(super) fn prune_in_background(self: &Arc<Self>) {
        // Counted from now on, so that only one is under way for this growth.
        let begun = self.with_active(|machines| {
            machines.appended_bytes = 0;
            machines.decided_end
        });
        let Ok(begun) = begun else {
            return;
        };
        let shard = self.clone();
        tokio::spawn(async move {
            // What has a snapshot in the younger half keeps it.
            let start = shard.partition().with_log(|log| log.log_start_offset());
            let old = Offset(start.map_or(begun.0, |start| start.0.midpoint(begun.0)));
            let written = shard.log_all(|machines| {
                let machines = machines.of.iter();
                let cold = machines.filter(|(_, known)| known.snapshot_at < old);
                let records = cold.flat_map(|(key, known)| {
                    let records = snapshot(&known.ledger).into_iter();
                    records.map(|record| (key.clone(), record))
                });
                records.collect()
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
                tracing::warn!(partition = %shard.partition().folder(), %error, "the log of queues stays long for now");
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
