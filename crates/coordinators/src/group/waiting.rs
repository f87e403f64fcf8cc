//! What only this process remembers of its groups: callers, deadlines, the next generation. (Signatures first.)

use super::{GroupRecord, GroupSettings, Input, Ledger, Reply};
use crate::Now;
use std::time::Duration;

/// What is lost with the process, without breaking a promise.
#[derive(Clone, Debug, Default)]
pub struct Waiting {}

impl Waiting {
    /// The state after the log was replayed: members of stable groups are kept, with fresh session timers.
    pub fn after_loading(_settings: &GroupSettings, _ledger: &Ledger, _now: Now) -> Self {
        Self::default()
    }
}

/// What one input leads to: records to append (and apply at once), replies to release when they are durable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decision {
    /// To append in this order, all in one batch, and to apply to the ledger right after.
    pub records: Vec<GroupRecord>,
    /// To release when these records, and all decided before, are durable. If the append fails, drop the machine.
    pub replies: Vec<Reply>,
}

/// Decides on one input.
pub fn decide(
    _settings: &GroupSettings,
    _ledger: &Ledger,
    _waiting: &mut Waiting,
    _now: Now,
    _input: Input,
) -> Decision {
    Decision::default()
}

/// When to hand in the next [`Input::Tick`], on the monotonic clock.
pub fn next_deadline(_waiting: &Waiting) -> Option<Duration> {
    None
}
