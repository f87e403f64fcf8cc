//! Cutting the log of machines that add up updates: such a log is not compacted.

use crate::partition::Partition;
use fanlog_model::Offset;
use std::sync::Arc;

/// Removes what lies below the oldest snapshot that is needed. Blocks.
pub(crate) fn cut_log_before(partition: &Arc<Partition>, needed: Offset) -> Result<(), String> {
    let durable = partition.high_watermark();
    if needed > durable {
        return Err(format!(
            "the snapshot at offset {needed} is not durable yet: only what is below {durable} is"
        ));
    }
    let started = partition.change(|log| log.start_deletion(needed));
    let started = started.map_err(|error| error.to_string())?;
    started.map_err(|error| error.to_string())?;
    let finished = partition.finish_removals();
    finished.map_err(|error| error.to_string())
}
