//! How often what happened.

use super::Why;

/// Numbers of records, since the queue began, or of one decision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Handed out, each time.
    pub delivered: u64,
    /// Done with by their consumers.
    pub acknowledged: u64,
    /// Attempts that failed.
    pub failed: u64,
    /// Done with, as their attempts had failed and there was no target.
    pub given_up: u64,
    /// Done with: they stand in the target.
    pub moved: u64,
    /// Done with: the filter did not want them.
    pub filtered: u64,
    /// Done with: somebody cancelled them.
    pub cancelled: u64,
    /// Not done with when the log lost them.
    pub lost: u64,
}

impl Counters {
    /// Counts records that are done with.
    pub fn count_done(&mut self, why: Why, records: u64) {
        match why {
            Why::Acknowledged => add(&mut self.acknowledged, records),
            Why::GivenUp => add(&mut self.given_up, records),
            Why::Moved => add(&mut self.moved, records),
            Why::Filtered => add(&mut self.filtered, records),
            Why::Cancelled => add(&mut self.cancelled, records),
            Why::Gap => {}
        }
    }
}

/// Counters stay where they are at their end, whatever a log says.
pub(super) fn add(counter: &mut u64, records: u64) {
    *counter = counter.saturating_add(records);
}
