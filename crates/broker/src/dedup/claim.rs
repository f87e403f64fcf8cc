//! A batch's hold on the message ids in it, from before it is appended until it is.
//!
//! Why it exists: two batches with one id may come at the same moment; one of them must have it, and the other wait for what becomes
//! of that: had it taken the record for a duplicate at once, and the first were lost, both would be.
//! In -> out: ids -> a claim, once nothing is undecided; `settle` makes the ids known, `drop` frees them.
//! Invariants: PRD-3. A batch claims all of its ids or none, and waits holding none: no two wait for each other.

use super::id_map::Id;
use super::topic_ids::TopicIds;
use crate::partition::Partition;
use fanlog_model::{Offset, PartitionIndex, ProducerId, TimestampMs, TopicName};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;
use tokio::time::{Instant, timeout_at};

/// A batch waits no longer for what others do with its ids, whatever its request allows: clients hang up when they hear nothing.
const WAIT_MAX: Duration = Duration::from_secs(5);

/// Why a batch with message ids is not appended now. Nothing of it was; it may be sent again.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum IdsError {
    /// The topic's logs are being read for the ids in them.
    #[error("the message ids of topic '{topic}' are still being read from its log; try again")]
    Loading {
        /// The topic.
        topic: TopicName,
    },
    /// The ids of a partition can't be known.
    #[error(
        "which message ids topic '{topic}' has is not known, as a partition can't be read: {reason}; set its dedup.window.ms to 0 to go on without"
    )]
    Unknown {
        /// The topic.
        topic: TopicName,
        /// Why a partition can't be read.
        reason: Arc<str>,
    },
    /// Another record with one of the ids is not durable, or its transaction is not decided.
    #[error(
        "a record of topic '{topic}' with the same message id is not decided: its transaction is open, or it is not durable yet; try again"
    )]
    Undecided {
        /// The topic.
        topic: TopicName,
    },
    /// More ids are not kept in memory.
    #[error(
        "topic '{topic}' can remember no more message ids: they take fanlog.dedup.memory.bytes {limit}; raise that, or lower dedup.window.ms, or try again when older ones have expired"
    )]
    Full {
        /// The topic.
        topic: TopicName,
        /// The setting.
        limit: usize,
    },
}

/// What keeps a batch from claiming its ids now.
#[derive(Debug)]
pub(super) enum Obstacle {
    Loading,
    /// Another batch has one of them, or an open transaction.
    Held,
    /// One was appended, and counts once the log is durable up to `end`.
    NotDurable {
        partition: Arc<Partition>,
        end: Offset,
    },
    Refused(IdsError),
}

/// The first record with an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct First {
    pub(crate) partition: PartitionIndex,
    pub(crate) offset: Offset,
    pub(crate) time: TimestampMs,
}

/// What becomes of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    New,
    /// The topic has it.
    Repeated(First),
    /// The record with this number in the same batch has the same id.
    RepeatedHere(i32),
}

/// Ids that no other batch gets.
#[derive(Debug)]
pub(crate) struct Claim {
    topic: Arc<TopicIds>,
    /// With the number of the record in its batch.
    claimed: Vec<(Id, i32)>,
    fates: Vec<Fate>,
}

impl Claim {
    pub(super) fn new(topic: Arc<TopicIds>, claimed: Vec<(Id, i32)>, fates: Vec<Fate>) -> Self {
        Self {
            topic,
            claimed,
            fates,
        }
    }

    /// What becomes of each record of the batch.
    pub(super) fn fates(&self) -> &[Fate] {
        &self.fates
    }

    /// The batch was appended from `base` on; of a producer's transaction, where it belongs to one. Under the partition's lock.
    pub(crate) fn settle(
        mut self,
        partition: PartitionIndex,
        base: Offset,
        producer: Option<ProducerId>,
    ) {
        let claimed = std::mem::take(&mut self.claimed);
        self.topic.settle(&claimed, partition, base, producer);
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if !self.claimed.is_empty() {
            self.topic.release(&self.claimed);
        }
    }
}

impl TopicIds {
    /// Claims the ids of a batch, and waits while what others do with them is undecided.
    pub(super) async fn claim(
        self: &Arc<Self>,
        ids: &[Option<Id>],
        producer: Option<ProducerId>,
        wait: Duration,
    ) -> Result<Claim, IdsError> {
        let deadline = Instant::now() + wait.min(WAIT_MAX);
        loop {
            let mut changed = pin!(self.changed.notified());
            changed.as_mut().enable();
            let obstacle = match self.try_claim(ids, producer) {
                Ok(claim) => return Ok(claim),
                Err(obstacle) => obstacle,
            };
            let topic = || self.topic.clone();
            let (is_over, error) = match obstacle {
                Obstacle::Refused(error) => return Err(error),
                Obstacle::Loading => {
                    let waited = timeout_at(deadline, changed).await;
                    (waited.is_err(), IdsError::Loading { topic: topic() })
                }
                Obstacle::Held => {
                    let waited = timeout_at(deadline, changed).await;
                    (waited.is_err(), IdsError::Undecided { topic: topic() })
                }
                Obstacle::NotDurable { partition, end } => {
                    // Where its log has failed, only a restart knows whether the disk has it.
                    let waited = timeout_at(deadline, partition.durable(end)).await;
                    let is_durable = waited.is_ok_and(|durable| durable.is_ok());
                    (!is_durable, IdsError::Undecided { topic: topic() })
                }
            };
            if is_over {
                return Err(error);
            }
        }
    }
}
