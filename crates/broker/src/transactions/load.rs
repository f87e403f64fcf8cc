//! Loading a transaction machine: replays its partition of `__transaction_state`. Start and recovery from a failed write are one path.

use super::shard::Shard;
use crate::replay::{ReplayError, replay};
use fanlog_coordinators::transaction::{Ledger, apply, record_format};
use fanlog_model::Offset;
use std::sync::Arc;

impl Shard {
    /// Replays the log and serves from then on.
    pub(super) fn load(self: &Arc<Self>) {
        match self.replayed() {
            Ok((ledger, end)) => self.activate(ledger, end),
            Err(error) => self.break_down(&error.to_string()),
        }
    }

    fn replayed(&self) -> Result<(Ledger, Offset), ReplayError> {
        let mut ledger = Ledger::default();
        let end = replay(self.partition(), |key, value| {
            match record_format::decode(key, value) {
                Ok(record) => apply(&mut ledger, &record),
                Err(skipped) => {
                    tracing::warn!(partition = %self.partition().folder(), %skipped, "a record is not ours");
                }
            }
            Ok(())
        })?;
        Ok((ledger, end))
    }
}
