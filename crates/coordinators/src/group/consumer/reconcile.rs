//! One member's next step towards its target.
//!
//! ```text
//!            target has less              has given it up           all its partitions are free
//! Stable -------------------> Unrevoked ------------------> Stable <--------------------------- Unreleased
//!    \________________________________________________________________________________________/
//!                       target has more, and others have not given it up
//! ```
//!
//! Why it exists: a partition must be given up by its owner before the next one gets it (GRP-1), and nobody waits who is not concerned.
//! In -> out: what the member owns, its target, what it says it owns, what is free -> what it owns now.
//! Invariants: GRP-1.

use super::{CurrentAssignment, MemberState, OwnedPartitions};
use crate::group::PartitionSets;
use fanlog_model::{PartitionIndex, TopicId};

/// What a member says it owns: topics and partitions as they came.
pub(super) type ClaimedPartitions = [(TopicId, Vec<i32>)];

/// What a step depends on.
pub(super) struct Step<'a> {
    /// The epoch of the target.
    pub(super) target_epoch: i32,
    /// The target.
    pub(super) target: &'a PartitionSets,
    /// What the member says it owns, if it says so.
    pub(super) claimed: Option<&'a ClaimedPartitions>,
    /// Whether the member subscribes to a topic. It may have unsubscribed since the target was made.
    pub(super) is_subscribed: &'a dyn Fn(TopicId) -> bool,
    /// Whether no other member owns a partition.
    pub(super) is_free: &'a dyn Fn(TopicId, PartitionIndex) -> bool,
}

impl Step<'_> {
    /// The member's next state; the same as before if there is nothing to do.
    pub(super) fn next(&self, current: &CurrentAssignment) -> CurrentAssignment {
        match current.state {
            MemberState::Stable if current.epoch != self.target_epoch => {
                self.towards_target(current)
            }
            MemberState::Stable => self.drop_unsubscribed(current),
            MemberState::UnrevokedPartitions if self.claims_any(&current.pending_revocation) => {
                self.drop_unsubscribed(current)
            }
            MemberState::UnrevokedPartitions
            | MemberState::UnreleasedPartitions
            | MemberState::Unknown => self.towards_target(current),
        }
    }

    /// The member keeps its epoch while it has something to give up, also where one thing follows on another; it has the target's
    /// from then on.
    fn towards_target(&self, current: &CurrentAssignment) -> CurrentAssignment {
        let (kept, revoked) = self.split(current, |topic, partition| {
            let of_topic = self.target.get(&topic);
            of_topic.is_some_and(|of| of.contains(&partition)) && (self.is_subscribed)(topic)
        });
        if !revoked.is_empty() && self.claims_any(&revoked) {
            return CurrentAssignment {
                epoch: current.epoch,
                previous_epoch: current.epoch,
                state: MemberState::UnrevokedPartitions,
                assigned: kept,
                pending_revocation: revoked,
            };
        }
        let mut assigned = kept;
        let mut waits = false;
        for (topic, partitions) in self.target {
            if !(self.is_subscribed)(*topic) {
                continue;
            }
            for partition in partitions {
                if assigned.epoch(*topic, *partition).is_some() {
                    continue;
                }
                if (self.is_free)(*topic, *partition) {
                    assigned.insert(*topic, *partition, self.target_epoch);
                } else {
                    waits = true;
                }
            }
        }
        let next = CurrentAssignment {
            epoch: self.target_epoch,
            previous_epoch: current.epoch,
            state: match waits {
                true => MemberState::UnreleasedPartitions,
                false => MemberState::Stable,
            },
            assigned,
            pending_revocation: OwnedPartitions::default(),
        };
        unless_same(current, next)
    }

    /// Topics that a member no longer subscribes to are taken from it before there is a new target.
    fn drop_unsubscribed(&self, current: &CurrentAssignment) -> CurrentAssignment {
        let (kept, mut revoked) = self.split(current, |topic, _| (self.is_subscribed)(topic));
        if revoked.is_empty() {
            return current.clone();
        }
        for (topic, partition, epoch) in current.pending_revocation.iter() {
            revoked.insert(topic, partition, epoch);
        }
        let is_given_up = !self.claims_any(&revoked);
        CurrentAssignment {
            epoch: current.epoch,
            previous_epoch: current.previous_epoch,
            state: match is_given_up {
                true => current.state,
                false => MemberState::UnrevokedPartitions,
            },
            assigned: kept,
            pending_revocation: match is_given_up {
                true => OwnedPartitions::default(),
                false => revoked,
            },
        }
    }

    fn split(
        &self,
        current: &CurrentAssignment,
        keeps: impl Fn(TopicId, PartitionIndex) -> bool,
    ) -> (OwnedPartitions, OwnedPartitions) {
        let (kept, revoked): (Vec<_>, Vec<_>) = current
            .assigned
            .iter()
            .partition(|(topic, partition, _)| keeps(*topic, *partition));
        (kept.into_iter().collect(), revoked.into_iter().collect())
    }

    /// Whether the member may still read one of those. One that doesn't say, does.
    fn claims_any(&self, partitions: &OwnedPartitions) -> bool {
        let Some(claimed) = self.claimed else {
            return !partitions.is_empty();
        };
        claimed.iter().any(|(topic, indexes)| {
            let Some(of_topic) = partitions.0.get(topic) else {
                return false;
            };
            let mut indexes = indexes.iter();
            indexes.any(|index| of_topic.contains_key(&PartitionIndex(*index)))
        })
    }
}

/// A step that changes nothing must not forget the epoch before: the member may not have heard of its present one.
fn unless_same(current: &CurrentAssignment, next: CurrentAssignment) -> CurrentAssignment {
    let is_same = current.epoch == next.epoch
        && current.state == next.state
        && current.assigned == next.assigned
        && current.pending_revocation == next.pending_revocation;
    match is_same {
        true => current.clone(),
        false => next,
    }
}
