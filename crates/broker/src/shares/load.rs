//! Loading a shard: replays its partition of `__share_group_state`.
//!
//! Why it exists: start and recovery from a failed write are the same path.
//! Invariants: replay equals live.   Read next: `shard.rs`.

use super::shard::Loaded;
use crate::partition::Partition;
use crate::replay::{ReplayError, replay_with_offsets};
use fanlog_coordinators::share::{ShareRecord, apply, record_format};
use fanlog_model::Offset;

/// What the log remembers, and where it ends.
pub(super) fn replayed(partition: &Partition) -> Result<(Loaded, Offset), ReplayError> {
    let mut loaded = Loaded::default();
    let end = replay_with_offsets(partition, |offset, key, value| {
        match record_format::decode(key, value) {
            Ok(Some((key, ShareRecord::Deleted))) => {
                loaded.remove(&key);
            }
            Ok(Some((key, record))) => {
                let known = loaded.entry(key).or_default();
                if matches!(record, ShareRecord::Snapshot(_)) {
                    known.snapshot_at = offset;
                }
                apply(&mut known.ledger, &record);
            }
            Ok(None) => {}
            Err(skipped) => {
                tracing::warn!(partition = %partition.folder(), %offset, %skipped, "a record is not ours");
            }
        }
        Ok(())
    })?;
    // Updates whose snapshot was cut off.
    loaded.retain(|_, known| known.ledger.is_initialized());
    Ok((loaded, end))
}
