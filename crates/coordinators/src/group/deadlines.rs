//! The deadlines of a machine: at most one per purpose, found by purpose and by time.

use super::MemberId;
use fanlog_model::GroupId;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// What a deadline is for. The order breaks ties between deadlines of the same time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Purpose {
    /// A group's join phase ends.
    Join(GroupId),
    /// A group's sync phase ends.
    Sync(GroupId),
    /// A member (or a pending member id) must have been heard of.
    Session(GroupId, MemberId),
    /// A member of the new protocol must have given up what it was told to.
    Revocation(GroupId, MemberId),
    /// A classic member of a consumer group must have taken its next step: joined again, or asked for its assignment.
    Rejoin(GroupId, MemberId),
    /// Offsets are looked through for expired ones.
    OffsetExpiry,
}

/// Deadlines by purpose and by time.
#[derive(Clone, Debug, Default)]
pub(super) struct Deadlines {
    by_purpose: BTreeMap<Purpose, Duration>,
    by_time: BTreeSet<(Duration, Purpose)>,
}

impl Deadlines {
    /// Sets the deadline for a purpose, in place of any earlier one.
    pub(super) fn set(&mut self, purpose: Purpose, at: Duration) {
        if let Some(before) = self.by_purpose.insert(purpose.clone(), at) {
            self.by_time.remove(&(before, purpose.clone()));
        }
        self.by_time.insert((at, purpose));
    }

    /// Takes the deadline for a purpose away, if there is one.
    pub(super) fn cancel(&mut self, purpose: Purpose) {
        if let Some(at) = self.by_purpose.remove(&purpose) {
            self.by_time.remove(&(at, purpose));
        }
    }

    /// The earliest deadline.
    pub(super) fn next(&self) -> Option<Duration> {
        self.by_time.first().map(|(at, _)| *at)
    }

    /// Takes the earliest deadline out if it has passed.
    pub(super) fn take_due(&mut self, now: Duration) -> Option<Purpose> {
        if self.next()? > now {
            return None;
        }
        let (_, purpose) = self.by_time.pop_first()?;
        self.by_purpose.remove(&purpose);
        Some(purpose)
    }

    /// Whether there is a deadline for a purpose.
    pub(super) fn has(&self, purpose: &Purpose) -> bool {
        self.by_purpose.contains_key(purpose)
    }

    /// All purposes that have a deadline.
    pub(super) fn purposes(&self) -> impl Iterator<Item = &Purpose> {
        self.by_purpose.keys()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_purpose_has_one_deadline_and_the_earliest_comes_first() {
        let group = |name: &str| Purpose::Join(name.into());
        let ms = Duration::from_millis;
        let mut deadlines = Deadlines::default();
        deadlines.set(group("a"), ms(10));
        deadlines.set(group("b"), ms(5));
        deadlines.set(group("a"), ms(3));
        deadlines.cancel(group("c"));
        assert_eq!(deadlines.next(), Some(ms(3)));
        assert_eq!(deadlines.take_due(ms(2)), None);
        assert_eq!(deadlines.take_due(ms(9)), Some(group("a")));
        assert!(!deadlines.has(&group("a")));
        assert_eq!(deadlines.take_due(ms(9)), Some(group("b")));
        assert_eq!(deadlines.next(), None);
    }
}
