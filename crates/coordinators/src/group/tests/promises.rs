//! What clients were promised, kept apart from the machine: from the answers alone, and the order in which they were decided.

use super::world::Call;
use crate::group::*;
use fanlog_model::{Offset, TopicPartition};
use std::collections::BTreeMap;

type Committed = Option<Offset>;

/// How often the group had been deleted: generations start over then.
pub(super) type Life = usize;

#[derive(Default)]
pub(super) struct Promises {
    /// GRP-1: who holds a partition in a generation of a life of the group.
    owners: BTreeMap<(Life, i32, u8), String>,
    lives: Life,
    /// GRP-2: the last generation whose assignment was decided.
    assigned_generation: i32,
    /// GRP-2: the last member id given to a static member.
    static_ids: BTreeMap<InstanceId, MemberId>,
    /// GRP-3: what was written to a partition: first what is certain, then what may be lost in a crash.
    written: BTreeMap<TopicPartition, Vec<Committed>>,
    /// The next fetch tells what has survived.
    after_crash: bool,
}

impl Promises {
    /// The life that what is decided now belongs to.
    pub(super) fn life(&self) -> Life {
        self.lives
    }

    /// A record was appended. Only what no answer tells is taken from it.
    pub(super) fn recorded(&mut self, record: &GroupRecord) {
        match record {
            GroupRecord::Group { metadata, .. } => self.assigned_generation = metadata.generation,
            GroupRecord::GroupDeleted { .. } => self.start_life(),
            GroupRecord::OffsetDeleted { partition, .. } => self.write(partition.clone(), None),
            GroupRecord::Offset { .. } => {}
            GroupRecord::Consumer { .. } | GroupRecord::Share { .. } => {
                unreachable!("classic members only")
            }
        }
    }

    fn start_life(&mut self) {
        self.lives += 1;
        self.assigned_generation = 0;
        self.static_ids.clear();
    }

    fn write(&mut self, partition: TopicPartition, committed: Committed) {
        let written = self.written.entry(partition).or_insert_with(|| vec![None]);
        written.push(committed);
    }

    /// An answer was decided; it may never be heard.
    pub(super) fn decided(&mut self, call: &Call, answer: &Answer) {
        let identity = &call.identity;
        match answer {
            Answer::Join(Ok(joined)) => {
                if let Some(instance) = &identity.instance_id {
                    self.static_ids
                        .insert(instance.clone(), joined.member_id.clone());
                }
            }
            Answer::CommitOffsets(Ok(_)) => {
                if identity.generation >= 0 {
                    self.check_committer(call);
                }
                let (partition, offset) = call.commits.clone().expect("a commit");
                self.write(partition, Some(offset));
            }
            Answer::FetchOffsets(Ok(fetched)) => self.check_fetched(fetched),
            _ => {}
        }
    }

    fn check_committer(&self, call: &Call) {
        let (given, assigned) = (call.identity.generation, self.assigned_generation);
        assert!(
            given >= assigned,
            "GRP-2: generation {given} commits after {assigned} was assigned"
        );
        if let Some(instance) = &call.identity.instance_id {
            let known = self.static_ids.get(instance);
            let is_latest = known.is_none_or(|id| *id == call.identity.member_id);
            assert!(
                is_latest,
                "GRP-2: {:?} commits, but {known:?} took its place",
                call.identity
            );
        }
    }

    /// A fetch finds the last write; after a crash, any write that was not certain before it, which is certain from then on.
    fn check_fetched(&mut self, fetched: &[FetchedOffset]) {
        for offset in fetched {
            let found = offset.committed.as_ref().map(|c| c.offset);
            let Some(written) = self.written.get_mut(&offset.partition) else {
                assert_eq!(found, None, "GRP-3: {} was never written", offset.partition);
                continue;
            };
            if self.after_crash {
                let is_possible = written.contains(&found);
                assert!(
                    is_possible,
                    "GRP-3: {} reads {found:?}, not one of {written:?}",
                    offset.partition
                );
                *written = vec![found];
            } else {
                let last = *written.last().expect("never empty");
                assert_eq!(
                    found, last,
                    "GRP-3: {} reads a stale offset",
                    offset.partition
                );
            }
        }
        self.after_crash = false;
    }

    /// An answer has left: what it says is a promise, of the life in which it was decided.
    pub(super) fn released(&mut self, call: &Call, life: Life, answer: &Answer) {
        match answer {
            Answer::Sync(Ok(synced)) => self.check_owner(call, life, synced),
            Answer::CommitOffsets(Ok(_)) => {
                let (partition, offset) = call.commits.clone().expect("a commit");
                let written = self.written.get_mut(&partition).expect("it was decided");
                // Whatever was written before it can't come back any more.
                if let Some(at) = written.iter().position(|w| *w == Some(offset)) {
                    written.drain(..at);
                }
            }
            _ => {}
        }
    }

    fn check_owner(&mut self, call: &Call, life: Life, synced: &Synced) {
        let identity = &call.identity;
        // A static member is the same owner under each of its ids: the older ones are fenced.
        let owner = match &identity.instance_id {
            Some(instance) => format!("instance {instance}"),
            None => format!("member {}", identity.member_id),
        };
        for partition in &synced.assignment {
            let key = (life, identity.generation, *partition);
            let holder = self.owners.entry(key).or_insert_with(|| owner.clone());
            assert_eq!(*holder, owner, "GRP-1: {key:?} is owned twice");
        }
    }

    /// The coordinator came back with what was left of the log.
    pub(super) fn crashed(&mut self, log: &[GroupRecord]) {
        let deleted = |record: &&GroupRecord| matches!(record, GroupRecord::GroupDeleted { .. });
        self.lives = log.iter().filter(deleted).count();
        let last_group = log.iter().rev().find_map(|record| match record {
            GroupRecord::Group { metadata, .. } => Some(Some(metadata)),
            GroupRecord::GroupDeleted { .. } => Some(None),
            _ => None,
        });
        let metadata = last_group.flatten();
        self.assigned_generation = metadata.map_or(0, |m| m.generation);
        let members = metadata.into_iter().flat_map(|m| &m.members);
        let static_ids =
            members.filter_map(|m| Some((m.instance_id.clone()?, m.member_id.clone())));
        self.static_ids = static_ids.collect();
        self.after_crash = true;
    }
}
