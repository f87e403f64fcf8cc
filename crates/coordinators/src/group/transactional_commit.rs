//! Offsets that a transaction commits: pending until its marker, then in force or gone, with what the transaction wrote.
//!
//! Why it exists: a consumer that reads, processes and writes in one transaction must go on behind exactly what it has written (TXN-1).
//! Owns: the offsets of transactions under way.   Never: whether a transaction is under way; the runtime has asked its coordinator.
//! In -> out: TxnOffsetCommit -> records in the producer's name; its marker -> offsets in force, or none.
//! Invariants: TXN-1; GRP-2: a member of another generation is refused. Of several commits the one that came last counts, in whichever
//! order their transactions end. An offset that is deleted takes those with it that are pending.

use super::decide::{Deciding, TransactionalWrite};
use super::ledger::put_offset;
use super::live_group::LiveGroup;
use super::{
    Answer, CommitInTransaction, CommitOffsets, CommittedOffset, EndOffsets, GroupError, GroupKind,
    GroupRecord, Ledger, memory,
};
use fanlog_model::{GroupId, ProducerEpoch, ProducerId, TopicPartition};
use std::collections::BTreeMap;

/// Who commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OffsetsProducer {
    /// The producer id.
    pub id: ProducerId,
    /// Its epoch.
    pub epoch: ProducerEpoch,
}

/// The offsets of transactions under way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PendingOffsets {
    by_producer: BTreeMap<ProducerId, BTreeMap<(GroupId, TopicPartition), Pending>>,
    /// Whose, in the order in which they were committed.
    holders: BTreeMap<GroupId, BTreeMap<TopicPartition, Vec<ProducerId>>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Pending {
    committed: CommittedOffset,
    /// Another commit is in force that came later.
    is_superseded: bool,
}

impl PendingOffsets {
    /// Whether a transaction under way has an offset for a partition.
    pub fn has(&self, group: &GroupId, partition: &TopicPartition) -> bool {
        let of_group = self.holders.get(group);
        of_group.is_some_and(|partitions| partitions.contains_key(partition))
    }

    /// The groups of which transactions under way have an offset.
    pub(super) fn groups(&self) -> impl Iterator<Item = &GroupId> {
        self.holders.keys()
    }

    /// Whether a transaction under way has an offset of a group.
    pub fn has_any(&self, group: &GroupId) -> bool {
        self.holders.contains_key(group)
    }

    /// The partitions for which transactions under way have an offset of a group.
    pub(super) fn of_group(&self, group: &GroupId) -> impl Iterator<Item = &TopicPartition> {
        self.holders.get(group).into_iter().flat_map(BTreeMap::keys)
    }

    /// All groups and partitions for which transactions under way have an offset.
    pub fn all(&self) -> impl Iterator<Item = (&GroupId, &TopicPartition)> {
        self.holders.iter().flat_map(|(group, partitions)| {
            partitions.keys().map(move |partition| (group, partition))
        })
    }

    pub(super) fn counted_bytes(&self) -> usize {
        let pending = self.by_producer.values().flatten();
        pending
            .map(|((group, partition), p)| bytes(group, partition, &p.committed))
            .sum()
    }

    /// Another commit was logged: what is pending for the partition is older than that.
    pub(super) fn supersede(&mut self, group: &GroupId, partition: &TopicPartition) {
        let holders = self.holders.get(group).and_then(|p| p.get(partition));
        for producer in holders.cloned().unwrap_or_default() {
            self.set_superseded(producer, group, partition);
        }
    }

    fn set_superseded(
        &mut self,
        producer: ProducerId,
        group: &GroupId,
        partition: &TopicPartition,
    ) {
        let of_producer = self.by_producer.get_mut(&producer);
        let key = (group.clone(), partition.clone());
        if let Some(pending) = of_producer.and_then(|offsets| offsets.get_mut(&key)) {
            pending.is_superseded = true;
        }
    }

    /// The offset was deleted: what is pending for it goes too. How much memory it took.
    pub(super) fn forget(&mut self, group: &GroupId, partition: &TopicPartition) -> usize {
        let Some(of_group) = self.holders.get_mut(group) else {
            return 0;
        };
        let holders = of_group.remove(partition).unwrap_or_default();
        if of_group.is_empty() {
            self.holders.remove(group);
        }
        let key = (group.clone(), partition.clone());
        let mut freed = 0;
        for producer in holders {
            let Some(offsets) = self.by_producer.get_mut(&producer) else {
                continue;
            };
            let pending = offsets.remove(&key);
            freed += pending.map_or(0, |pending| bytes(group, partition, &pending.committed));
            if offsets.is_empty() {
                self.by_producer.remove(&producer);
            }
        }
        freed
    }

    fn put(
        &mut self,
        producer: ProducerId,
        group: &GroupId,
        partition: &TopicPartition,
        committed: &CommittedOffset,
    ) -> Option<CommittedOffset> {
        let holders = self.holders.entry(group.clone()).or_default();
        let holders = holders.entry(partition.clone()).or_default();
        holders.retain(|holder| *holder != producer);
        holders.push(producer);
        let offsets = self.by_producer.entry(producer).or_default();
        let pending = Pending {
            committed: committed.clone(),
            is_superseded: false,
        };
        let before = offsets.insert((group.clone(), partition.clone()), pending);
        before.map(|before| before.committed)
    }

    /// Takes what a producer has out. Where it is committed, what was committed before is superseded, and what came later is not.
    fn take(
        &mut self,
        producer: ProducerId,
        is_commit: bool,
    ) -> BTreeMap<(GroupId, TopicPartition), Pending> {
        let taken = self.by_producer.remove(&producer).unwrap_or_default();
        for ((group, partition), pending) in &taken {
            let is_in_force = is_commit && !pending.is_superseded;
            let mut before = Vec::new();
            let Some(of_group) = self.holders.get_mut(group) else {
                continue;
            };
            if let Some(holders) = of_group.get_mut(partition) {
                let earlier = holders.iter().take_while(|holder| **holder != producer);
                before.extend(earlier.copied().filter(|_| is_in_force));
                holders.retain(|holder| *holder != producer);
                if holders.is_empty() {
                    of_group.remove(partition);
                }
            }
            if of_group.is_empty() {
                self.holders.remove(group);
            }
            for producer in before {
                self.set_superseded(producer, group, partition);
            }
        }
        taken
    }
}

fn bytes(group: &GroupId, partition: &TopicPartition, committed: &CommittedOffset) -> usize {
    // Twice, as it is found by its producer and by its group.
    2 * (memory::of_committed(partition, committed) + group.as_str().len())
}

/// Applies a record that was written in a transaction. Total, as [`apply`](super::apply) is.
pub fn apply_pending(ledger: &mut Ledger, producer: ProducerId, record: &GroupRecord) {
    let GroupRecord::Offset {
        group,
        partition,
        committed,
    } = record
    else {
        // Nothing else is written in transactions; of a log that another has written it counts at once.
        return super::apply(ledger, record);
    };
    let before = ledger.pending.put(producer, group, partition, committed);
    ledger.bytes += bytes(group, partition, committed);
    ledger.bytes -= before.map_or(0, |before| bytes(group, partition, &before));
}

/// Applies a marker: what the producer had pending is in force, or gone.
pub fn apply_end(ledger: &mut Ledger, producer: ProducerId, is_commit: bool) {
    for ((group, partition), pending) in ledger.pending.take(producer, is_commit) {
        let Pending {
            committed,
            is_superseded,
        } = pending;
        ledger.bytes -= bytes(&group, &partition, &committed);
        if is_commit && !is_superseded {
            put_offset(ledger, &group, &partition, &committed);
        }
    }
}

impl Deciding<'_> {
    pub(super) fn commit_in_transaction(&mut self, commit: CommitInTransaction) {
        let CommitInTransaction { producer, commit } = commit;
        let result = self.check_commit_in_transaction(&commit).map(|()| {
            let offsets = commit.offsets.iter();
            let outcomes = offsets.map(|offset| self.commit_offset(&commit, offset, None));
            outcomes.collect()
        });
        self.decision.transaction = Some(TransactionalWrite::Offsets(producer));
        self.reply(commit.call, Answer::CommitOffsets(result));
    }

    /// Other than outside of transactions, a producer that names no member is taken in at any time: it is fenced by its epoch. One
    /// that joined a generation without an assignment yet still ends what it read before.
    fn check_commit_in_transaction(&mut self, commit: &CommitOffsets) -> Result<(), GroupError> {
        let known = self.ledger.group(&commit.group);
        if let Some(group) = known.and_then(|known| known.consumer.as_ref()) {
            return self.check_consumer_commit(group, commit, true);
        }
        let kind = self.kind(&commit.group);
        if matches!(kind, Some(GroupKind::Share | GroupKind::Queue)) {
            return self.check_commit(commit);
        }
        GroupError::check_names(&[("group id", commit.group.as_str())])?;
        if commit.group.as_str().is_empty() {
            return Err(GroupError::InvalidGroupId);
        }
        let checked = self.with_group(&commit.group, |deciding, group| {
            check_member(group, commit)?;
            deciding.restart_session(group, &commit.member_id);
            Ok(())
        });
        checked.unwrap_or_else(|| match commit.generation {
            ..0 => Ok(()),
            _ if commit.names_missing_group => Err(GroupError::GroupNotFound {
                group: commit.group.clone(),
            }),
            given => Err(GroupError::IllegalGeneration {
                group: commit.group.clone(),
                given,
                current: -1,
            }),
        })
    }

    /// A producer's transaction has ended: the runtime writes the marker.
    pub(super) fn end_offsets(&mut self, end: EndOffsets) {
        self.reply(end.call, Answer::OffsetsEnded);
        self.decision.transaction = Some(TransactionalWrite::End(end));
    }
}

fn check_member(group: &LiveGroup, commit: &CommitOffsets) -> Result<(), GroupError> {
    if !commit.names_member() {
        return Ok(());
    }
    if commit.generation < 0 && group.members.is_empty() {
        return Ok(());
    }
    group.check_member(&commit.member_id, commit.instance_id.as_ref())?;
    group.check_generation(commit.generation)
}
