//! What the log says of one share group.
//!
//! Owns: the facts.   Never: deadlines, decisions.
//! In -> out: record -> changed group. Total: any record in any order.

use super::{ShareAssignment, ShareGroupEpoch, ShareMember, SharePartitions, ShareRecord};
use crate::group::consumer::TargetEpoch;
use crate::group::memory;
use crate::group::{MemberId, PartitionSets};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The facts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShareGroup {
    /// The group's epoch.
    pub epoch: Option<ShareGroupEpoch>,
    /// For which epoch the target was made.
    pub target_epoch: Option<TargetEpoch>,
    /// The members.
    pub members: BTreeMap<MemberId, Arc<ShareMember>>,
    /// What each member shall read.
    pub targets: BTreeMap<MemberId, Arc<PartitionSets>>,
    /// What each member reads.
    pub currents: BTreeMap<MemberId, Arc<ShareAssignment>>,
    /// Which share-partitions have a state.
    pub partitions: Option<Arc<SharePartitions>>,
}

impl ShareGroup {
    /// Whether nothing is left.
    pub(in crate::group) fn is_nothing(&self) -> bool {
        self.epoch.is_none()
            && self.target_epoch.is_none()
            && self.members.is_empty()
            && self.targets.is_empty()
            && self.currents.is_empty()
            && self.partitions.is_none()
    }

    /// Applies one record and says by how many bytes the group grew.
    pub(in crate::group) fn apply(&mut self, record: &ShareRecord) -> isize {
        match record {
            ShareRecord::Epoch(epoch) => {
                self.epoch = *epoch;
                0
            }
            ShareRecord::TargetEpoch(epoch) => {
                self.target_epoch = *epoch;
                0
            }
            ShareRecord::Member(id, member) => {
                put(&mut self.members, id, member.as_ref(), |member| {
                    memory::of_share_member(id, member)
                })
            }
            ShareRecord::Target(id, target) => {
                put(&mut self.targets, id, target.as_ref(), |target| {
                    memory::of_target(id, target)
                })
            }
            ShareRecord::Current(id, current) => {
                put(&mut self.currents, id, current.as_ref(), |current| {
                    memory::of_target(id, &current.assigned)
                })
            }
            ShareRecord::Partitions(partitions) => {
                let before = std::mem::replace(&mut self.partitions, partitions.clone());
                size(partitions.as_deref()) - size(before.as_deref())
            }
        }
    }

    /// How much memory it takes, about, counted anew.
    pub(in crate::group) fn counted_bytes(&self) -> usize {
        let members = self.members.iter();
        let targets = self.targets.iter();
        let currents = self.currents.iter();
        let of_members = members.map(|(id, m)| memory::of_share_member(id, m));
        let of_targets = targets.map(|(id, t)| memory::of_target(id, t));
        let of_currents = currents.map(|(id, c)| memory::of_target(id, &c.assigned));
        of_members
            .chain(of_targets)
            .chain(of_currents)
            .sum::<usize>()
            + size(self.partitions.as_deref()).unsigned_abs()
    }
}

fn size(partitions: Option<&SharePartitions>) -> isize {
    partitions
        .map_or(0, memory::of_share_partitions)
        .cast_signed()
}

fn put<V: Clone>(
    map: &mut BTreeMap<MemberId, V>,
    id: &MemberId,
    value: Option<&V>,
    bytes: impl Fn(&V) -> usize,
) -> isize {
    let before = match value {
        Some(value) => map.insert(id.clone(), value.clone()),
        None => map.remove(id),
    };
    let size = |value: Option<&V>| value.map_or(0, &bytes).cast_signed();
    size(value) - size(before.as_ref())
}
