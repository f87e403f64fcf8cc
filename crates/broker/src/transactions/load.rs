//! Loading a transaction machine: replays its partition of `__transaction_state`. Start and recovery from a failed write are one path.

use crate::partition::Partition;
use crate::replay::{ReplayError, replay};
use fanlog_coordinators::transaction::{Ledger, apply, record_format};
use fanlog_model::Offset;

/// What the log remembers, and where it ends.
pub(super) fn replayed(partition: &Partition) -> Result<(Ledger, Offset), ReplayError> {
    let mut ledger = Ledger::default();
    let end = replay(partition, |key, value| {
        match record_format::decode(key, value) {
            Ok(record) => apply(&mut ledger, &record),
            Err(skipped) => {
                tracing::warn!(partition = %partition.folder(), %skipped, "a record is not ours");
            }
        }
        Ok(())
    })?;
    Ok((ledger, end))
}
