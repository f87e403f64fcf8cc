//! Whether a record may rest so long: retention may take it first.
//!
//! Why it exists: what is due after it is gone is lost, and whoever said when it is due should be told so at once.

use fanlog_model::TimestampMs;
use thiserror::Error;

/// What retention will do with a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// `retention.ms` of its topic; none for no limit.
    pub retention_ms: Option<u64>,
    /// Whether every queue of the topic holds retention back (`retention-hold`): then it waits for them.
    pub is_held: bool,
}

/// Retention would take the record before it is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "due {} ms after the record's time, and retention takes records after {} ms: deliver it earlier, raise retention.ms, or set retention-hold on all queues of the topic",
    due.0.saturating_sub(time.0),
    retention_ms
)]
pub struct DueTooLate {
    /// When it would be due.
    pub due: TimestampMs,
    /// The record's own time.
    pub time: TimestampMs,
    /// `retention.ms` of its topic.
    pub retention_ms: u64,
}

/// Decides whether a record of this time may be due then. Retention by size is not foreseen here: what it takes is counted and announced.
///
/// # Errors
/// Retention would take it first.
pub fn check_due(
    due: TimestampMs,
    time: TimestampMs,
    retention: Retention,
) -> Result<(), DueTooLate> {
    let Some(retention_ms) = retention.retention_ms.filter(|_| !retention.is_held) else {
        return Ok(());
    };
    // A segment goes once its newest record is older than this: the record may stay longer, and not less long.
    let goes = i128::from(time.0) + i128::from(retention_ms);
    if i128::from(due.0) <= goes {
        return Ok(());
    }
    Err(DueTooLate {
        due,
        time,
        retention_ms,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_be_due_after_retention_has_taken_it_is_refused() {
        let check = |due: i64, retention_ms: Option<u64>, is_held: bool, is_allowed: bool| {
            let retention = Retention {
                retention_ms,
                is_held,
            };
            let checked = check_due(TimestampMs(due), TimestampMs(1_000), retention);
            assert_eq!(checked.is_ok(), is_allowed, "{due} {retention:?}");
        };
        check(1_500, Some(500), false, true);
        check(1_501, Some(500), false, false);
        check(1_501, Some(500), true, true);
        check(i64::MAX, None, false, true);
        check(i64::MAX, Some(u64::MAX), false, true);
        check(i64::MIN, Some(0), false, true);
        let retention = Retention {
            retention_ms: Some(500),
            is_held: false,
        };
        let error = check_due(TimestampMs(9_000), TimestampMs(1_000), retention);
        assert_eq!(
            error.expect_err("too late").to_string(),
            "due 8000 ms after the record's time, and retention takes records after 500 ms: deliver it earlier, raise retention.ms, or set retention-hold on all queues of the topic"
        );
    }
}
