//! What is remembered of attempts that failed.

use fanlog_model::TimestampMs;
use std::sync::Arc;

/// How many attempts of a record are remembered: the last.
pub const ATTEMPTS_REMEMBERED: usize = 16;
/// The longest reason, in bytes; what is longer is cut.
pub const REASON_BYTES_MAX: usize = 256;

/// An attempt that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// When it was known to have failed.
    pub at: TimestampMs,
    /// Which delivery it was, from 1.
    pub attempt: u16,
    /// Who had it.
    pub consumer: Arc<str>,
    /// Why, in its words.
    pub reason: Arc<str>,
}
