//! Faults planted in the product's own code, on this thread.

use crate::Planted;
use fanlog_coordinators::planted::{give_what_is_owned, skip_generation_check};
use fanlog_storage::planted::PlantedFault;

/// Plants a fault, or removes what an earlier run has planted.
pub(crate) fn plant(planted: Option<Planted>) {
    fanlog_storage::planted::plant(match planted {
        Some(Planted::ForgottenBatch) => Some(PlantedFault::ForgetsABatch),
        Some(Planted::SegmentTooMany) => Some(PlantedFault::RemovesASegmentTooMany),
        Some(Planted::OlderRecordKept) => Some(PlantedFault::KeepsTheOlderRecord),
        Some(Planted::AcceptedStaleCommits) => Some(PlantedFault::AcceptsStaleCommits),
        Some(Planted::OverlookedHole) => Some(PlantedFault::OverlooksHoles),
        _ => None,
    });
    skip_generation_check(planted == Some(Planted::SkippedGenerationCheck));
    give_what_is_owned(planted == Some(Planted::GivenWhatIsOwned));
}
