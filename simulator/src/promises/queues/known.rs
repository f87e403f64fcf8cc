//! What is known of one record in one queue.

use super::kinds::Kind;
use crate::promises::groups::Moment;
use std::collections::BTreeSet;

/// How certain something is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sure {
    #[default]
    No,
    Maybe,
    Yes,
}

impl Sure {
    pub(super) fn raise(&mut self, to: Self) {
        *self = (*self).max(to);
    }
}

/// Somebody has it.
#[derive(Clone, Debug)]
pub(super) struct Hold {
    pub(super) worker: usize,
    pub(super) receipt: String,
    pub(super) attempt: u16,
    /// Until then for certain, if `is_sure`.
    pub(super) until: i64,
    /// Not longer for certain.
    pub(super) until_max: i64,
    pub(super) is_sure: bool,
    pub(super) is_durable: bool,
    /// It is over or in doubt, and what that means for the later ones of its key was noted.
    pub(super) is_swept: bool,
    pub(super) since: Moment,
}

#[derive(Debug, Default)]
pub(super) struct Known {
    /// It never comes again, since somebody was told so.
    pub(super) over: Option<&'static str>,
    /// The number of the ending that was told then.
    pub(super) over_at: u64,
    pub(super) acked: Sure,
    /// It is on its way to the dead letters, or there.
    pub(super) dead: Sure,
    pub(super) given_up: Sure,
    pub(super) cancelled: Sure,
    pub(super) was_given: bool,
    /// It rests until then, as somebody was told.
    pub(super) not_before: i64,
    /// How often it was delivered, without what was taken back: at least and at most.
    pub(super) attempts: (u16, u16),
    /// The least of it that is durable.
    pub(super) durable_attempts: u16,
    /// How many deliveries nobody had seen when that was noted.
    pub(super) unseen: u16,
    pub(super) hold: Option<Hold>,
    /// Receipts with which its hold has ended, as their holders were told.
    pub(super) ended: BTreeSet<String>,
    /// How many words of it are not answered yet.
    pub(super) asked: u32,
}

impl Known {
    /// Whether it may be done with, for all that is known.
    pub(super) fn may_be_over(&self, kind: &Kind, unseen: u16) -> bool {
        let ends = [self.acked, self.dead, self.given_up, self.cancelled];
        self.over.is_some()
            || self.asked > 0
            || ends.iter().any(|end| *end > Sure::No)
            || self.may_have_failed_for_good(kind, unseen)
    }

    /// Whether it may have had all its attempts: it leaves then without anybody being told.
    pub(super) fn may_have_failed_for_good(&self, kind: &Kind, unseen: u16) -> bool {
        kind.attempts_max > 0 && self.attempts_max(unseen) >= kind.attempts_max
    }

    /// How often it was delivered at most.
    pub(super) fn attempts_max(&self, unseen: u16) -> u16 {
        let since = unseen.saturating_sub(self.unseen);
        self.attempts.1.saturating_add(since)
    }

    /// Somebody was told that it is over.
    pub(super) fn ends(&mut self, why: &'static str, at: u64) {
        if self.over.is_none() {
            (self.over, self.over_at) = (Some(why), at);
        }
    }

    /// It may have come back without its holder's word, and without an attempt being burnt.
    pub(super) fn doubt_hold(&mut self) {
        if let Some(hold) = &mut self.hold {
            hold.is_sure = false;
            let before = hold.attempt.saturating_sub(1);
            self.attempts.0 = self.attempts.0.min(before);
            self.durable_attempts = self.durable_attempts.min(before);
        }
    }

    pub(super) fn power_failed(&mut self) {
        if let Some(hold) = &mut self.hold
            && !hold.is_durable
        {
            hold.is_sure = false;
        }
        self.attempts.0 = self.attempts.0.min(self.durable_attempts);
    }
}
