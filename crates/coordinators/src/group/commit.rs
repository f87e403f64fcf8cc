//! OffsetCommit: members of the present generation, or anybody while the group is Empty, say how far they have read.
//!
//! Invariants: GRP-2 (who is refused), GRP-3 (what is accepted is a record before it is an answer).

use super::decide::Deciding;
use super::live_group::{LiveGroup, Phase};
use super::memory::{self, Growth};
use super::settings::OFFSET_METADATA_BYTES_LIMIT;
use super::{
    Answer, CommitOffsets, CommittedOffset, GroupError, GroupKind, GroupRecord, OffsetError,
    OffsetOutcome, OffsetToCommit,
};
use fanlog_model::{LeaderEpoch, TimestampMs, TopicId, TopicPartition};

impl Deciding<'_> {
    pub(super) fn commit_offsets(&mut self, commit: CommitOffsets) {
        let result = self.check_commit(&commit).map(|()| {
            let expires_at = commit
                .retention_ms
                .map(|ms| TimestampMs(self.now.wall.get().saturating_add(ms)));
            let offsets = commit.offsets.iter();
            let outcomes = offsets.map(|offset| self.commit_offset(&commit, offset, expires_at));
            outcomes.collect()
        });
        self.reply(commit.call, Answer::CommitOffsets(result));
    }

    pub(super) fn check_commit(&mut self, commit: &CommitOffsets) -> Result<(), GroupError> {
        // An empty group id is accepted here and in OffsetFetch, as Kafka does for its oldest clients.
        GroupError::check_names(&[("group id", commit.group.as_str())])?;
        let known = self.ledger.group(&commit.group);
        match self.kind(&commit.group) {
            Some(GroupKind::Share | GroupKind::Queue) => {
                return Err(GroupError::GroupNotFound {
                    group: commit.group.clone(),
                });
            }
            Some(GroupKind::Consumer) => {
                let group = known.and_then(|known| known.consumer.as_ref());
                return group.map_or(Ok(()), |group| {
                    self.check_consumer_commit(group, commit, false)
                });
            }
            None | Some(GroupKind::Classic) => {}
        }
        let checked = self.with_group(&commit.group, |deciding, group| {
            check_committer(group, commit)?;
            // A commit is a sign of life.
            deciding.restart_session(group, &commit.member_id);
            Ok(())
        });
        checked.unwrap_or_else(|| match commit.generation {
            // No such group, and no member speaking: the offsets are all that there will be of this group.
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

    pub(super) fn commit_offset(
        &mut self,
        commit: &CommitOffsets,
        given: &OffsetToCommit,
        expires_at: Option<TimestampMs>,
    ) -> OffsetOutcome {
        let max = self.settings.offset_metadata_bytes_max;
        let max = max.min(OFFSET_METADATA_BYTES_LIMIT);
        let result = match given.metadata.len() {
            length if length > max => Err(OffsetError::MetadataTooLarge { given: length, max }),
            _ => self.check_offset_memory(commit, given),
        };
        if result.is_ok() {
            self.record(GroupRecord::Offset {
                group: commit.group.clone(),
                partition: TopicPartition {
                    topic: given.topic.clone(),
                    partition: given.partition,
                },
                committed: self.committed(given, expires_at),
            });
        }
        OffsetOutcome {
            topic: given.topic.clone(),
            partition: given.partition,
            result,
        }
    }

    /// Whether there is room for an offset; counts it in if so.
    fn check_offset_memory(
        &mut self,
        commit: &CommitOffsets,
        given: &OffsetToCommit,
    ) -> Result<(), OffsetError> {
        let partition = TopicPartition {
            topic: given.topic.clone(),
            partition: given.partition,
        };
        let bytes = memory::of_offset(&partition, &given.metadata);
        let (growth, bytes) = match self.ledger.offset(&commit.group, &partition) {
            Some(held) => {
                let held = memory::of_committed(&partition, held);
                (Growth::Known, bytes.saturating_sub(held))
            }
            None if self.ledger.group(&commit.group).is_none() => {
                (Growth::New, bytes + memory::of_group(&commit.group))
            }
            None => (Growth::New, bytes),
        };
        self.check_memory(growth, bytes, None)
            .map_err(|max| OffsetError::MemoryFull { max })?;
        self.added += bytes;
        Ok(())
    }

    /// What is remembered. A retention of its own comes only from old clients, which know neither epochs nor topic ids, and its
    /// record has no room for them: the ledger must not know more than the log.
    fn committed(
        &self,
        given: &OffsetToCommit,
        expires_at: Option<TimestampMs>,
    ) -> CommittedOffset {
        let (leader_epoch, topic_id) = match expires_at {
            None => (given.leader_epoch, given.topic_id),
            Some(_) => (LeaderEpoch::UNKNOWN, TopicId::ZERO),
        };
        CommittedOffset {
            offset: given.offset,
            leader_epoch,
            metadata: given.metadata.clone(),
            committed_at: self.now.wall,
            expires_at,
            topic_id,
        }
    }
}

/// Whether this committer may commit now (GRP-2).
fn check_committer(group: &LiveGroup, commit: &CommitOffsets) -> Result<(), GroupError> {
    if commit.generation < 0 && group.phase == Phase::Empty {
        return Ok(());
    }
    // From outside (no generation, no member) this fails too: a group with members belongs to them.
    group.check_member(&commit.member_id, commit.instance_id.as_ref())?;
    let checked = group.check_generation(commit.generation);
    #[cfg(feature = "planted-faults")]
    let checked = checked.or_else(|refused| match crate::planted::skips_generation_check() {
        true => Ok(()),
        false => Err(refused),
    });
    checked?;
    match group.phase {
        // The member has joined a generation that has no assignment yet: what it read belongs to the one before.
        Phase::Completing => Err(GroupError::RebalanceInProgress {
            group: group.id.clone(),
        }),
        // Last words of the old generation are welcome while the next one gathers.
        Phase::Preparing { .. } | Phase::Stable | Phase::Empty => Ok(()),
    }
}
