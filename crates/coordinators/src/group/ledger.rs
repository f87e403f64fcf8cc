//! What `__consumer_offsets` remembers of the groups of one partition.
//!
//! Why it exists: replaying the log must give exactly what the live machine knows.
//! Owns: groups as of their last completed rebalance, committed offsets.   Never: parked callers, deadlines, next generations.
//! In -> out: record -> changed ledger.
//! Invariants: GRP-3.   Read next: `waiting.rs`.

use super::consumer::ConsumerGroup;
use super::memory;
use super::share::ShareGroup;
use super::{CommittedOffset, GroupMetadata, GroupRecord, PendingOffsets};
use fanlog_model::{GroupId, TopicPartition};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

/// The groups that the log knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    groups: BTreeMap<GroupId, LedgerGroup>,
    pub(super) pending: PendingOffsets,
    pub(super) bytes: usize,
}

/// One group that the log knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LedgerGroup {
    /// Its last completed rebalance, where it is of the classic protocol.
    pub metadata: Option<GroupMetadata>,
    /// Its facts, where it is a consumer group of the new protocol.
    pub consumer: Option<Box<ConsumerGroup>>,
    /// Its facts, where it is a share group.
    pub share: Option<Box<ShareGroup>>,
    /// Its committed offsets.
    pub offsets: BTreeMap<TopicPartition, CommittedOffset>,
}

/// The kind of a group. All kinds share one space of names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GroupKind {
    /// Of the classic protocol, or one that only commits offsets.
    Classic,
    /// Of the new consumer protocol.
    Consumer,
    /// A share group.
    Share,
    /// No group, but a queue that has the name: the machine of groups keeps nothing of it.
    Queue,
}

impl GroupKind {
    /// The name that ListGroups shows.
    pub fn name(self) -> &'static str {
        match self {
            Self::Classic => "classic",
            Self::Consumer => "consumer",
            Self::Share => "share",
            Self::Queue => "queue",
        }
    }
}

impl LedgerGroup {
    /// Of which kind it is. Of two kinds it can only be in the middle of a log that is being replayed: what turns a group into
    /// one of another kind takes all of the kind before away.
    pub fn kind(&self) -> GroupKind {
        match (&self.consumer, &self.share) {
            (Some(_), _) => GroupKind::Consumer,
            (None, Some(_)) => GroupKind::Share,
            (None, None) => GroupKind::Classic,
        }
    }

    fn is_nothing(&self) -> bool {
        self.metadata.is_none()
            && self.consumer.is_none()
            && self.share.is_none()
            && self.offsets.is_empty()
    }
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

    /// The groups from a name on, in order; all of them, if there is none.
    pub(super) fn groups_from(
        &self,
        from: Option<&GroupId>,
    ) -> impl Iterator<Item = (&GroupId, &LedgerGroup)> {
        let from = from.map_or(Bound::Unbounded, Bound::Included);
        self.groups.range::<GroupId, _>((from, Bound::Unbounded))
    }

    /// How much memory it takes, about.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The same, counted anew.
    pub(super) fn counted_bytes(&self) -> usize {
        let of_group = |(id, known): (&GroupId, &LedgerGroup)| {
            let offsets = known.offsets.iter();
            memory::of_group(id)
                + known.metadata.as_ref().map_or(0, memory::of_metadata)
                + known
                    .consumer
                    .as_ref()
                    .map_or(0, |group| group.counted_bytes())
                + known
                    .share
                    .as_ref()
                    .map_or(0, |group| group.counted_bytes())
                + offsets
                    .map(|(p, o)| memory::of_committed(p, o))
                    .sum::<usize>()
        };
        let groups: usize = self.groups.iter().map(of_group).sum();
        groups + self.pending.counted_bytes()
    }

    /// The offsets of transactions under way.
    pub fn pending(&self) -> &PendingOffsets {
        &self.pending
    }

    /// The partitions for which a group has an offset, in force or pending.
    pub(super) fn offsets_of(&self, group: &GroupId) -> BTreeSet<&TopicPartition> {
        let known = self.groups.get(group);
        let committed = known.into_iter().flat_map(|known| known.offsets.keys());
        committed.chain(self.pending.of_group(group)).collect()
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
            let known = known_or_new(&mut ledger.groups, &mut ledger.bytes, group);
            let before = known.metadata.replace(metadata.clone());
            ledger.bytes += memory::of_metadata(metadata);
            ledger.bytes -= before.as_ref().map_or(0, memory::of_metadata);
        }
        GroupRecord::GroupDeleted { group } => change(ledger, group, |known| {
            known
                .metadata
                .take()
                .as_ref()
                .map_or(0, memory::of_metadata)
        }),
        GroupRecord::Offset {
            group,
            partition,
            committed,
        } => {
            ledger.pending.supersede(group, partition);
            put_offset(ledger, group, partition, committed);
        }
        GroupRecord::OffsetDeleted { group, partition } => {
            ledger.bytes -= ledger.pending.forget(group, partition);
            change(ledger, group, |known| {
                let before = known.offsets.remove(partition);
                before.map_or(0, |before| memory::of_committed(partition, &before))
            });
        }
        GroupRecord::Consumer { group, record } => {
            let known = known_or_new(&mut ledger.groups, &mut ledger.bytes, group);
            let consumer = known.consumer.get_or_insert_default();
            let before = consumer.bytes();
            consumer.apply(record);
            ledger.bytes = ledger.bytes - before + consumer.bytes();
            if consumer.is_nothing() {
                known.consumer = None;
            }
            forget_if_nothing(ledger, group);
        }
        GroupRecord::Share { group, record } => {
            let known = known_or_new(&mut ledger.groups, &mut ledger.bytes, group);
            let share = known.share.get_or_insert_default();
            let grown = share.apply(record);
            if share.is_nothing() {
                known.share = None;
            }
            ledger.bytes = ledger
                .bytes
                .checked_add_signed(grown)
                .expect("what is taken away was counted in");
            forget_if_nothing(ledger, group);
        }
    }
}

/// Puts a committed offset in force.
pub(super) fn put_offset(
    ledger: &mut Ledger,
    group: &GroupId,
    partition: &TopicPartition,
    committed: &CommittedOffset,
) {
    let known = known_or_new(&mut ledger.groups, &mut ledger.bytes, group);
    let before = known.offsets.insert(partition.clone(), committed.clone());
    let bytes = |committed| memory::of_committed(partition, committed);
    ledger.bytes += bytes(committed);
    ledger.bytes -= before.as_ref().map_or(0, bytes);
}

fn known_or_new<'a>(
    groups: &'a mut BTreeMap<GroupId, LedgerGroup>,
    bytes: &mut usize,
    group: &GroupId,
) -> &'a mut LedgerGroup {
    groups.entry(group.clone()).or_insert_with(|| {
        *bytes += memory::of_group(group);
        LedgerGroup::default()
    })
}

/// Takes something from a group that exists, and forgets it once nothing is left of it.
fn change(ledger: &mut Ledger, group: &GroupId, take: impl FnOnce(&mut LedgerGroup) -> usize) {
    if let Some(known) = ledger.groups.get_mut(group) {
        ledger.bytes -= take(known);
        forget_if_nothing(ledger, group);
    }
}

fn forget_if_nothing(ledger: &mut Ledger, group: &GroupId) {
    if ledger
        .groups
        .get(group)
        .is_some_and(LedgerGroup::is_nothing)
    {
        ledger.groups.remove(group);
        ledger.bytes -= memory::of_group(group);
    }
}
