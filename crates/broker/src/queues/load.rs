//! Loads the partitions of queues of one shard: replays its log. Start, crash and a write that was refused are one path.
//! Invariants: replay equals live.   Read next: `shard.rs`.

use super::machines::Loaded;
use super::shard::Shard;
use crate::replay::{ReplayError, replay_with_offsets};
use fanlog_coordinators::queue::{QueueRecord, record_format};
use fanlog_model::Offset;
use std::sync::Arc;

impl Shard {
    /// Replays the log and serves from then on.
    pub(super) fn load(self: &Arc<Self>) {
        match self.replayed() {
            Ok((loaded, end)) => {
                self.activate(loaded, end);
                // Those that went while it was loading; it is told of those that go from now on.
                if let Some(queues) = self.queues() {
                    queues.forget_gone_of(self);
                }
            }
            Err(error) => self.break_down(&error.to_string()),
        }
    }

    fn replayed(&self) -> Result<(Loaded, Offset), ReplayError> {
        let mut loaded = Loaded::default();
        let end = replay_with_offsets(self.partition(), |offset, key, value| {
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
}
