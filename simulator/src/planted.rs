//! Faults planted in the product's own code, on this thread.

use crate::Planted;
use fanlog_broker::planted::{answer_early, move_again};
use fanlog_coordinators::planted::{
    forget_acknowledgements, forget_rests, give_what_is_owned, share_keys, skip_generation_check,
};
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
    answer_early(planted == Some(Planted::AnsweredEarly));
    forget_acknowledgements(planted == Some(Planted::ForgottenAcknowledgement));
    move_again(planted == Some(Planted::RepeatedMove));
    forget_rests(planted == Some(Planted::ForgottenRest));
    share_keys(planted == Some(Planted::SharedKey));
}
