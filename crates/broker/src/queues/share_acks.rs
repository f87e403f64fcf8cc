//! Acknowledgements of Kafka share consumers on a queue, and where the queue stands as Kafka's tools show it.
//!
//! What each type means here: accept is an ack; release is a nack, since Kafka counts it as a delivery, and rests as the queue's backoff
//! says; reject is a reject; a gap is done with, since there was no record; a renewal lets the lock begin anew.
//! In -> out: ranges of one partition -> one decision on all of them: all counts or nothing.
//! Invariants: QUE-1, QUE-2.

use super::Queues;
use super::shard::{Decided, Shard};
use super::take::readable_end;
use super::types::{QueueError, SettleFailure};
use crate::groups::CoordinatorError;
use crate::shares::{ShareAckError, ShareOffset, SharePartitionRef};
use fanlog_coordinators::queue::{Claim, Input, Outcome, QueueKey, Reply, Settle, SettleError};
use fanlog_coordinators::share::{AckError, AckRange, AckType, check_shape};
use fanlog_model::{GroupId, LeaderEpoch, Offset, PartitionIndex, TopicId};
use std::sync::Arc;
use std::time::Duration;

/// Why a released record comes again, for people.
const RELEASED: &str = "a share consumer released it";
/// Why a rejected record is a dead letter, for people.
const REJECTED: &str = "a share consumer rejected it";

/// Acknowledgements that were decided upon and wait to be durable.
#[derive(Debug)]
pub(crate) struct PendingSettle {
    shard: Arc<Shard>,
    decided: Decided,
}

impl PendingSettle {
    pub(crate) async fn durable(self) -> Result<(), ShareAckError> {
        let Reply::Settled(each) = self.shard.durable(self.decided).await? else {
            unreachable!("a machine answers in kind");
        };
        for one in each {
            if let Err(SettleError::NotHeld(offset)) = one {
                return Err(AckError::NotHeld(offset).into());
            }
        }
        Ok(())
    }
}

impl Queues {
    /// Decides on what a share consumer says of records of one partition.
    pub(crate) async fn share_acknowledge(
        self: &Arc<Self>,
        (queue, member): (&GroupId, &str),
        (topic, partition): (TopicId, PartitionIndex),
        ranges: &[AckRange],
    ) -> Result<PendingSettle, ShareAckError> {
        check_shape(ranges)?;
        let broker = self.broker()?;
        let live = self.live(&broker, queue).map_err(of_queue)?;
        broker.room().await;
        let source = self.settled_source(&broker, &live, topic, partition);
        let source = source.await.map_err(of_settle)?;
        let (log_start, held) = source.shard.look(&source.key, |ledger, _, _| {
            (ledger.head().log_start, ledger.held_count())
        })?;
        let policy = self.policy(&broker, &live, source.kind, partition);
        let items = items(member, ranges, log_start, held, policy.lock)?;
        let input = Input::Settle {
            items: &items,
            is_atomic: true,
        };
        let decided = source.shard.decide(&source.key, &policy, input)?;
        self.note_pace(&broker, &live);
        Ok(PendingSettle {
            shard: source.shard,
            decided,
        })
    }

    /// Gives back what a share consumer holds: it has gone. Where the log refuses that, the locks run out.
    pub(crate) fn share_release(
        &self,
        queue: &GroupId,
        member: &str,
        places: &[(TopicId, PartitionIndex)],
    ) {
        for (topic, partition) in places {
            let key = QueueKey {
                group: queue.clone(),
                topic: *topic,
                partition: *partition,
            };
            let Some((shard, policy)) = self.shard_now(&key).zip(self.policy_of(&key)) else {
                continue;
            };
            // A state is not made for this.
            let is_there = shard.look(&key, |ledger, _, _| ledger.held_count() > 0);
            if !is_there.unwrap_or(false) {
                continue;
            }
            let released = shard.decide(&key, &policy, Input::Release { consumer: member });
            if let Err(error) = released {
                tracing::debug!(%queue, member, %error, "messages come back when their locks run out");
            }
        }
    }

    /// How long its share consumers hold records; none if there is no such queue.
    pub(crate) fn share_lock(&self, queue: &GroupId) -> Option<Duration> {
        let live = self.live(&*self.broker().ok()?, queue).ok()?;
        Some(live.settings.lock)
    }

    /// The partitions that a queue reads for its consumers.
    pub(crate) fn share_partitions(
        &self,
        queue: &GroupId,
    ) -> Result<Vec<SharePartitionRef>, CoordinatorError> {
        let broker = self.broker()?;
        let Ok(live) = self.live(&broker, queue) else {
            return Ok(Vec::new());
        };
        let sources = live.sources(&broker.topics()).into_iter();
        let read = sources.filter(|(kind, _)| kind.is_handed_out());
        let mut places: Vec<_> = read
            .flat_map(|(_, topic)| {
                let partitions = topic.partitions.iter().map(|of| of.index());
                let places = partitions.map(|partition| SharePartitionRef {
                    topic: topic.id,
                    partition,
                });
                places.collect::<Vec<_>>()
            })
            .collect();
        places.sort_unstable();
        Ok(places)
    }

    /// Where a queue stands in a partition; none if it has no state of it.
    pub(crate) fn share_offset(
        &self,
        queue: &GroupId,
        of: SharePartitionRef,
    ) -> Result<Option<ShareOffset>, CoordinatorError> {
        let broker = self.broker()?;
        let Ok(live) = self.live(&broker, queue) else {
            return Ok(None);
        };
        let topics = broker.topics();
        let place = topics.by_id(of.topic);
        let place = place.and_then(|topic| Some((topic, topic.partition(of.partition)?)));
        let Some((topic, partition)) = place else {
            return Ok(None);
        };
        let key = live.key(of.topic, of.partition);
        let Some(shard) = self.shard_now(&key) else {
            return Ok(None);
        };
        if !live.kind_of(topic).is_handed_out() {
            return Ok(None);
        }
        let end = readable_end(partition).unwrap_or(Offset::ZERO);
        let incarnation = live.queue.id;
        shard.look(&key, |ledger, _, _| {
            let is_its_own = ledger.is_initialized() && ledger.head().incarnation == incarnation;
            is_its_own.then(|| ShareOffset {
                start: Some(ledger.start()),
                leader_epoch: LeaderEpoch(0),
                lag: i64::try_from(ledger.left_below(end)).ok(),
            })
        })
    }
}

/// One settlement for each record. Those that the log has lost are nobody's any more.
fn items<'a>(
    member: &'a str,
    ranges: &[AckRange],
    log_start: Offset,
    held: u64,
    lock: Duration,
) -> Result<Vec<Settle<'a>>, AckError> {
    let mut items = Vec::new();
    for range in ranges {
        let first = range.first.max(log_start);
        if first > range.last {
            continue;
        }
        // Nobody holds so many: the range is not worth its memory.
        let count = (range.last.0 - first.0).unsigned_abs() + 1;
        if items.len() as u64 + count > held {
            return Err(AckError::NotHeld(first));
        }
        for offset in first.0..=range.last.0 {
            let at = usize::try_from(offset - range.first.0).unwrap_or(usize::MAX);
            let kind = match range.types[..] {
                [kind] => Some(kind),
                _ => range.types.get(at).copied(),
            };
            items.push(Settle {
                offset: Offset(offset),
                claim: Claim::Consumer(member),
                outcome: outcome_of(kind.expect("the shape was checked"), lock),
            });
        }
    }
    Ok(items)
}

fn outcome_of(kind: AckType, lock: Duration) -> Outcome<'static> {
    match kind {
        AckType::Accept | AckType::Gap => Outcome::Ack,
        AckType::Release => Outcome::Nack {
            delay: None,
            reason: RELEASED,
        },
        AckType::Reject => Outcome::Reject { reason: REJECTED },
        AckType::Renew => Outcome::Extend(lock),
    }
}

fn of_queue(error: QueueError) -> ShareAckError {
    match error {
        QueueError::Unavailable(error) => error.into(),
        // It went a moment ago, and with it what was held.
        _ => AckError::NotBegun.into(),
    }
}

fn of_settle(failure: SettleFailure) -> ShareAckError {
    match failure {
        SettleFailure::Unavailable(error) => error.into(),
        SettleFailure::Refused(SettleError::NotHeld(offset)) => AckError::NotHeld(offset).into(),
        _ => AckError::NotBegun.into(),
    }
}
