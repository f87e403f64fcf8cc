//! What is found again by reading the topic.

use super::{Ledger, Policy};
use crate::Now;
use fanlog_model::Offset;
use std::time::Duration;

/// What only this process knows: how far the topic was looked at, and what was found there that has to wait. Losing it costs
/// another look, and breaks no promise.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    pub(super) is_loaded: bool,
}

/// Where there is something to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextRead {
    /// The first offset.
    pub from: Offset,
    /// Whether nothing is known of what stands there: it may be behind the end of the log. Otherwise its record can go at once.
    pub is_scan: bool,
}

/// Where to read for the next `Acquire`; none while nothing may be handed out: then the next input that has freed something, or
/// the next tick, may change that.
pub fn next_read(
    ledger: &Ledger,
    waiting: &mut Waiting,
    policy: &Policy,
    now: Now,
) -> Option<NextRead> {
    let _ = (waiting, policy, now);
    ledger.is_initialized().then_some(NextRead {
        from: ledger.start(),
        is_scan: true,
    })
}

/// When to hand in the next `Input::Tick`, on the monotonic clock; now or before if there is something to do at once.
pub fn next_deadline(ledger: &Ledger, waiting: &Waiting, now: Now) -> Option<Duration> {
    let _ = (ledger, waiting, now);
    None
}

/// How many bytes of memory both take up, about; counted, not walked.
pub fn memory(ledger: &Ledger, waiting: &Waiting) -> usize {
    let _ = (ledger, waiting);
    0
}
