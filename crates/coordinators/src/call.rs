//! What every machine's runtime hands in beside the input: who asked, and what time it is.

use fanlog_model::TimestampMs;
use std::time::Duration;

/// Names a waiting request: the runtime draws one per request and maps the reply with the same number back to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(pub u64);

/// The time of a decision, read once by the runtime: a machine has no clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Now {
    /// The wall clock, for what is logged: it may jump.
    pub wall: TimestampMs,
    /// A clock that never goes back, for deadlines.
    pub monotonic: Duration,
}
