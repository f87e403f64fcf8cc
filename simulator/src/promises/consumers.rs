//! What members of a consumer group of the new protocol were told they own, and who is gone: GRP-1.
//!
//! A member counts as the owner of what it was told for as long as the coordinator can't have given it up: from the request that it
//! was answered, until the shorter of its time-outs is over or it lets go.

use super::{Verdict, holds};
use fanlog_model::TopicId;
use fanlog_model::invariants::GRP_1;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// A partition of a topic.
pub(crate) type Owned = (TopicId, i32);

#[derive(Clone, Debug, Default)]
struct Owner {
    partitions: BTreeSet<Owned>,
    until: Duration,
}

/// One group.
#[derive(Debug, Default)]
pub(crate) struct ConsumerGroup {
    owners: BTreeMap<String, Owner>,
    gone: BTreeSet<String>,
}

impl ConsumerGroup {
    /// A member was told what it owns, or that nothing has changed; it is there until then.
    pub(crate) fn told(
        &mut self,
        now: Duration,
        until: Duration,
        member: &str,
        partitions: &BTreeSet<Owned>,
    ) -> Verdict {
        for (other, owner) in &self.owners {
            if other == member || owner.until <= now {
                continue;
            }
            let both = owner.partitions.intersection(partitions).next();
            holds(both.is_none(), GRP_1, || {
                format!("{both:?} belongs to {other} and to {member}")
            })?;
        }
        let owner = Owner {
            partitions: partitions.clone(),
            until,
        };
        self.owners.insert(member.to_owned(), owner);
        Ok(())
    }

    /// A member lets go of everything: it leaves, dies, or was fenced.
    pub(crate) fn lets_go(&mut self, member: &str) {
        self.owners.remove(member);
    }

    /// A member's goodbye was answered, or that of the process that took its place: nothing may be heard of it any more.
    pub(crate) fn left(&mut self, member: &str) {
        self.gone.insert(member.to_owned());
    }

    pub(crate) fn has_left(&self, member: &str) -> bool {
        self.gone.contains(member)
    }
}
