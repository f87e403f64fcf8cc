//! Loads the partitions of queues of one shard: replays its log. Start, crash and a write that was refused are one path.
//! Invariants: replay equals live.   Read next: `shard.rs`.

use super::machines::Loaded;
use crate::partition::Partition;
use crate::replay::{ReplayError, replay_with_offsets};
use fanlog_coordinators::queue::{QueueRecord, record_format};
use fanlog_model::Offset;

/// What the log remembers, and where it ends.
pub(super) fn replayed(partition: &Partition) -> Result<(Loaded, Offset), ReplayError> {
    let mut loaded = Loaded::default();
    let end = replay_with_offsets(partition, |offset, key, value| {
        match record_format::decode(key, value) {
            Ok(Some((key, QueueRecord::Deleted))) => {
                loaded.remove(&key);
            }
            Ok(Some((key, record))) => loaded.entry(key).or_default().apply(&record, offset),
            Ok(None) => {}
            // Going on would lose what it says: handed out again, or given up in silence.
            Err(error) => return Err(error.to_string()),
        }
        Ok(())
    })?;
    // Updates whose snapshot was cut off.
    loaded.retain(|_, known| known.ledger.is_initialized());
    Ok((loaded, end))
}
