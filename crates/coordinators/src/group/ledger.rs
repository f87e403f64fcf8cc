//! What `__consumer_offsets` remembers of the groups of one partition.
//!
//! Why it exists: replaying the log must give exactly what the live machine knows.
//! Owns: groups as of their last completed rebalance, committed offsets.   Never: parked callers, deadlines, next generations.
//! In -> out: record -> changed ledger.
//! Invariants: GRP-3.   Read next: `waiting.rs`.

use super::{CommittedOffset, GroupMetadata, GroupRecord};
use fanlog_model::{GroupId, TopicPartition};
use std::collections::BTreeMap;

/// The groups that the log knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    groups: BTreeMap<GroupId, LedgerGroup>,
}

/// One group that the log knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LedgerGroup {
    /// Its last completed rebalance; `None` for a group that only commits offsets.
    pub metadata: Option<GroupMetadata>,
    /// Its committed offsets.
    pub offsets: BTreeMap<TopicPartition, CommittedOffset>,
}

impl Ledger {
    /// One group.
    pub fn group(&self, group: &GroupId) -> Option<&LedgerGroup> {
        self.groups.get(group)
    }

    /// All groups in order of their names.
    pub fn groups(&self) -> impl Iterator<Item = (&GroupId, &LedgerGroup)> {
        self.groups.iter()
    }

    /// One committed offset.
    pub fn offset(&self, group: &GroupId, partition: &TopicPartition) -> Option<&CommittedOffset> {
        self.groups.get(group)?.offsets.get(partition)
    }
}

/// Applies one record. Total: any record in any order gives a legal ledger, because a compacted log may begin anywhere.
pub fn apply(ledger: &mut Ledger, record: &GroupRecord) {
    match record {
        GroupRecord::Group { group, metadata } => {
            ledger.groups.entry(group.clone()).or_default().metadata = Some(metadata.clone());
        }
        GroupRecord::GroupDeleted { group } => change(ledger, group, |known| known.metadata = None),
        GroupRecord::Offset {
            group,
            partition,
            committed,
        } => {
            let known = ledger.groups.entry(group.clone()).or_default();
            known.offsets.insert(partition.clone(), committed.clone());
        }
        GroupRecord::OffsetDeleted { group, partition } => change(ledger, group, |known| {
            known.offsets.remove(partition);
        }),
    }
}

/// Changes a group that exists, and forgets it once nothing is left of it.
fn change(ledger: &mut Ledger, group: &GroupId, change: impl FnOnce(&mut LedgerGroup)) {
    if let Some(known) = ledger.groups.get_mut(group) {
        change(known);
        if known.metadata.is_none() && known.offsets.is_empty() {
            ledger.groups.remove(group);
        }
    }
}
