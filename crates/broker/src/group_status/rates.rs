//! How fast groups read: committed offsets as they were seen, some time apart.
//!
//! Why it exists: a log says when its records came, and nothing says when they were read.
//! Owns: two sights of each position at most, of a bounded number of positions.
//! In -> out: positions, whenever somebody looks -> records per second, once the older sight is old enough.

use fanlog_model::{GroupId, Offset, TopicPartition};
use std::collections::BTreeMap;
use std::time::Duration;

/// A rate is told over no less than this.
const SPAN_MIN: Duration = Duration::from_secs(5);
/// A sight that is this old gives way to a newer one.
const SPAN_USUAL: Duration = Duration::from_secs(60);
/// A sight that is older says nothing of now.
const SPAN_MAX: Duration = Duration::from_secs(15 * 60);
/// How many positions are kept in mind.
const POSITIONS_MAX: usize = 100_000;

/// Where something stood at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sight {
    at: Duration,
    offset: Offset,
}

/// Which position.
pub(crate) type Key = (GroupId, TopicPartition);

/// What was seen.
#[derive(Debug, Default)]
pub(crate) struct Positions {
    sights: BTreeMap<Key, (Sight, Sight)>,
}

impl Positions {
    /// Notes positions of all groups; those that are not there any more are forgotten.
    pub(super) fn note_all(&mut self, now: Duration, seen: BTreeMap<Key, Offset>) {
        self.sights.retain(|key, _| seen.contains_key(key));
        for (key, offset) in seen {
            self.note(now, key, offset);
        }
    }

    /// Notes one position.
    pub(super) fn note(&mut self, now: Duration, key: Key, offset: Offset) {
        let sight = Sight { at: now, offset };
        if let Some((older, newer)) = self.sights.get_mut(&key) {
            // A position that went back was reset: what was read is counted from there on.
            if offset < newer.offset {
                (*older, *newer) = (sight, sight);
            } else if now.saturating_sub(newer.at) >= SPAN_USUAL {
                (*older, *newer) = (*newer, sight);
            }
            return;
        }
        if self.sights.len() < POSITIONS_MAX {
            self.sights.insert(key, (sight, sight));
        }
    }

    /// Records per second up to now; none if nothing was seen that is old enough and not too old.
    pub(super) fn rate(&self, now: Duration, key: &Key, offset: Offset) -> Option<f64> {
        let (older, newer) = self.sights.get(key)?;
        let is_fit = |sight: &&Sight| {
            let span = now.saturating_sub(sight.at);
            (SPAN_MIN..=SPAN_MAX).contains(&span) && offset >= sight.offset
        };
        // The older one tells more evenly, while it is not too old.
        let sight = Some(older).filter(is_fit).or(Some(newer).filter(is_fit))?;
        let span = now.saturating_sub(sight.at).as_secs_f64();
        Some((offset.0 - sight.offset.0) as f64 / span)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fanlog_model::{PartitionIndex, TopicName};

    fn key() -> Key {
        let partition = TopicPartition {
            topic: TopicName::new("t").unwrap(),
            partition: PartitionIndex(0),
        };
        (GroupId("g".into()), partition)
    }

    fn after(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn a_rate_is_told_over_a_span_that_says_something() {
        let mut positions = Positions::default();
        assert_eq!(positions.rate(after(0), &key(), Offset(0)), None);
        positions.note(after(0), key(), Offset(0));
        assert_eq!(positions.rate(after(4), &key(), Offset(8)), None);
        assert_eq!(positions.rate(after(5), &key(), Offset(10)), Some(2.0));
        positions.note(after(60), key(), Offset(60));
        assert_eq!(positions.rate(after(100), &key(), Offset(300)), Some(3.0));
        // The older one is too old, the newer is not.
        assert_eq!(
            positions.rate(after(910), &key(), Offset(60 + 850)),
            Some(1.0)
        );
        assert_eq!(positions.rate(after(10_000), &key(), Offset(10_000)), None);
    }

    #[test]
    fn a_reset_begins_anew_and_who_is_gone_is_forgotten() {
        let mut positions = Positions::default();
        positions.note(after(0), key(), Offset(100));
        assert_eq!(positions.rate(after(10), &key(), Offset(50)), None);
        positions.note(after(10), key(), Offset(50));
        assert_eq!(positions.rate(after(20), &key(), Offset(60)), Some(1.0));
        positions.note_all(after(30), BTreeMap::new());
        assert_eq!(positions.rate(after(40), &key(), Offset(70)), None);
    }
}
