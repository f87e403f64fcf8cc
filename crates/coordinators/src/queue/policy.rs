//! What a queue allows: read anew for each decision, as it may change while records are on their way.

pub use fanlog_model::settings::{Backoff, Order};
use fanlog_model::{Offset, PartitionIndex, TopicId};
use std::time::Duration;

/// The rules of one partition of a queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// How long a record is held, where its consumer says nothing (`lock`).
    pub lock: Duration,
    /// How often a record is delivered at most (`max-attempts`); 0 for without an end.
    pub attempts_max: u16,
    /// How long a record rests after an attempt that failed (`backoff`).
    pub backoff: Backoff,
    /// Whether records of a key wait for each other (`order`).
    pub order: Order,
    /// How many records are held at once (`max-in-flight`), in this partition.
    pub window: i64,
    /// Nothing is handed out (`paused`); what is held may be settled.
    pub is_paused: bool,
    /// Where records go after their last attempt, or when they are redriven; `None`: they are given up and counted.
    pub target: Option<MoveTarget>,
    /// How many records may be tracked in memory (held, resting, delayed, passed over) until no new ones are looked at.
    pub tracked_max: usize,
    /// How many runs of states there may be until records far from the others are not cancelled or moved any more.
    pub scattered_max: usize,
    /// How many updates are logged between two snapshots at least; more where a snapshot is large.
    pub updates_per_snapshot: u32,
}

/// The partition to which records are moved, once and only once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MoveTarget {
    /// The topic.
    pub topic: TopicId,
    /// Its partition; the machine stays with the one that it used first while the topic is the same.
    pub partition: PartitionIndex,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            lock: Duration::from_secs(30),
            attempts_max: 5,
            backoff: Backoff::None,
            order: Order::None,
            window: 100_000,
            is_paused: false,
            target: None,
            tracked_max: 1_000_000,
            scattered_max: 2_000_000,
            updates_per_snapshot: 1000,
        }
    }
}

impl Policy {
    /// How many records that were delivered so often may go together, of so many that are wanted; `None` for all of them. From half of
    /// the attempts on, each has half of what the one before had, and the last one a single record: so the bad one is found.
    pub fn isolated(&self, attempts: u16, records_max: usize) -> Option<usize> {
        let half = self.attempts_max.div_ceil(2);
        if self.attempts_max == 0 || attempts < half.max(1) {
            return None;
        }
        let halvings = u32::from(attempts - half + 1);
        match attempts >= self.attempts_max - 1 {
            true => Some(1),
            false => Some(records_max.checked_shr(halvings).unwrap_or(0).max(1)),
        }
    }

    /// Whether a record that was delivered so often has no attempt left.
    pub(super) fn is_last(&self, attempts: u16) -> bool {
        self.attempts_max > 0 && attempts >= self.attempts_max
    }
}

/// How long a record rests after so many attempts.
pub(super) fn rest(backoff: Backoff, offset: Offset, attempts: u16) -> Duration {
    match backoff {
        Backoff::None => Duration::ZERO,
        Backoff::Fixed {
            delay,
            jitter_percent,
        } => less(delay, jitter_percent, offset, attempts),
        Backoff::Exponential {
            first,
            max,
            jitter_percent,
        } => {
            let doublings = u32::from(attempts.saturating_sub(1)).min(31);
            let rest = first.saturating_mul(1 << doublings).min(max);
            less(rest, jitter_percent, offset, attempts)
        }
    }
}

/// Takes off a part that looks like chance, and is the same each time that it is asked for.
fn less(rest: Duration, jitter_percent: u8, offset: Offset, attempts: u16) -> Duration {
    const PARTS: u64 = 1 << 16;
    let share = u64::from(jitter_percent.min(100)) * (mixed(offset, attempts) % PARTS);
    let millis = u64::try_from(rest.as_millis()).unwrap_or(u64::MAX);
    let off = u128::from(millis) * u128::from(share) / u128::from(100 * PARTS);
    let off = u64::try_from(off).unwrap_or(millis);
    rest.saturating_sub(Duration::from_millis(off))
}

/// Spreads the bits of a record and its attempt over a number (the finishing steps of splitmix64).
fn mixed(offset: Offset, attempts: u16) -> u64 {
    let mut bits = offset.0.unsigned_abs().rotate_left(16) ^ u64::from(attempts);
    bits = bits.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponential_backoff_doubles_up_to_its_cap() {
        let backoff = Backoff::Exponential {
            first: Duration::from_millis(100),
            max: Duration::from_millis(350),
            jitter_percent: 0,
        };
        let rests: Vec<_> = (1..6).map(|n| rest(backoff, Offset(7), n)).collect();
        let rests: Vec<_> = rests.iter().map(Duration::as_millis).collect();
        assert_eq!(rests, [100, 200, 350, 350, 350]);
        let huge = rest(backoff, Offset(7), u16::MAX);
        assert_eq!(huge, Duration::from_millis(350));
    }

    #[test]
    fn jitter_only_shortens_and_is_the_same_again() {
        let backoff = Backoff::Fixed {
            delay: Duration::from_secs(10),
            jitter_percent: 50,
        };
        let rests: Vec<_> = (0..1000).map(|o| rest(backoff, Offset(o), 1)).collect();
        let again: Vec<_> = (0..1000).map(|o| rest(backoff, Offset(o), 1)).collect();
        assert_eq!(rests, again);
        let bounds = Duration::from_secs(5)..=Duration::from_secs(10);
        assert!(rests.iter().all(|rest| bounds.contains(rest)));
        let early = rests
            .iter()
            .filter(|rest| **rest < Duration::from_millis(7_500));
        assert!((400..600).contains(&early.count()), "spread evenly");
    }

    #[test]
    fn bad_records_are_found_by_halves() {
        let policy = Policy::default();
        let of = |attempts_max, attempts| {
            Policy {
                attempts_max,
                ..policy.clone()
            }
            .isolated(attempts, 100)
        };
        assert_eq!([of(5, 0), of(5, 2), of(0, 60_000)], [None; 3]);
        assert_eq!(
            [of(5, 3), of(5, 4), of(9, 6), of(2, 1)].map(Option::unwrap),
            [50, 1, 25, 1]
        );
        assert_eq!(of(1, 0), None);
        assert_eq!(of(60_000, 59_000), Some(1));
    }
}
