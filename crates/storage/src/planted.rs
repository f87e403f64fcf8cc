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
    /// A cleaning keeps the record before the newest one of each key.
    KeepsTheOlderRecord,
    /// What an earlier use of a journal file has left counts as new.
    AcceptsStaleCommits,
    /// What stands behind an append that went past the journal does not, and is durable before it.
    OverlooksHoles,
}

thread_local! {
    static PLANTED: Cell<Option<PlantedFault>> = const { Cell::new(None) };
}

/// Plants a fault in the logs that this thread opens, or removes it.
pub fn plant(fault: Option<PlantedFault>) {
    PLANTED.set(fault);
}

pub(crate) fn accepts_stale_commits() -> bool {
    PLANTED.get() == Some(PlantedFault::AcceptsStaleCommits)
}

pub(crate) fn overlooks_holes() -> bool {
    PLANTED.get() == Some(PlantedFault::OverlooksHoles)
}

pub(crate) fn keeps_older_records() -> bool {
    PLANTED.get() == Some(PlantedFault::KeepsTheOlderRecord)
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
