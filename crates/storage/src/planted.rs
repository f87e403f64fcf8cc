//! Faults on purpose, for the simulator to find: proof that it would find them. Only with the feature `planted-faults`.

use fanlog_model::Offset;
use std::cell::Cell;

/// A fault of syncing or of recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlantedFault {
    /// The first batch behind the producer snapshot is not told to the producers' state.
    ForgetsABatch,
    /// One segment more than lies below the log's start is removed.
    RemovesASegmentTooMany,
    /// The journal is not synced.
    SkipsJournalSyncs,
    /// Journal files are used again without a checkpoint.
    SkipsCheckpoints,
    /// After a failed sync of a segment another one's success is believed.
    BelievesALaterSync,
}

thread_local! {
    static PLANTED: Cell<Option<PlantedFault>> = const { Cell::new(None) };
}

/// Plants a fault in the logs that this thread opens, or removes it.
pub fn plant(fault: Option<PlantedFault>) {
    PLANTED.set(fault);
}

pub(crate) fn believes_later_syncs() -> bool {
    PLANTED.get() == Some(PlantedFault::BelievesALaterSync)
}

pub(crate) fn skips_journal_syncs() -> bool {
    PLANTED.get() == Some(PlantedFault::SkipsJournalSyncs)
}

pub(crate) fn skips_checkpoints() -> bool {
    PLANTED.get() == Some(PlantedFault::SkipsCheckpoints)
}

pub(crate) fn notes_from(offset: Offset) -> Offset {
    match PLANTED.get() {
        Some(PlantedFault::ForgetsABatch) => offset.plus(1),
        _ => offset,
    }
}

pub(crate) fn removed_segments(count: usize, of: usize) -> usize {
    match PLANTED.get() {
        Some(PlantedFault::RemovesASegmentTooMany) if count > 0 => (count + 1).min(of - 1),
        _ => count,
    }
}
