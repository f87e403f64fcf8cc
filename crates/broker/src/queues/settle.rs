//! Settle: takes what became of messages, receipt by receipt, and answers once it is durable.
//!
//! In -> out: receipts and outcomes -> one answer each, in their order. Those of one partition are one decision.
//! Invariants: QUE-1, QUE-2.

use super::Queues;
use super::begin::Source;
use super::live::Live;
use super::receipt::{Handed, Receipt};
use super::shard::{Decided, Shard};
use super::types::{QueueError, SettleFailure, SettleOutcome, SettledEach};
use crate::broker::Broker;
use crate::lookup::TopicRef;
use fanlog_coordinators::queue::{
    Claim, DueTooLate, Input, Outcome, QueueKey, Reply, Settle, Settled,
};
use fanlog_model::{GroupId, PartitionIndex, TopicId};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// The longest delay and the longest lock that a consumer may ask for.
const DELAY_MAX: Duration = Duration::from_secs(366 * 86_400);
pub(super) const LOCK_MAX: Duration = Duration::from_secs(12 * 3_600);

/// What was decided on some items, and which they are.
struct Settling {
    positions: Vec<usize>,
    shard: Arc<Shard>,
    decided: Decided,
}

impl Queues {
    /// Takes what became of messages; one answer each, in the order given, once it is durable.
    ///
    /// # Errors
    /// There is no such queue.
    pub async fn settle(
        self: &Arc<Self>,
        queue: &GroupId,
        items: Vec<(Receipt, SettleOutcome)>,
    ) -> Result<SettledEach, QueueError> {
        let broker = self.broker()?;
        let live = self.live(&broker, queue)?;
        broker.room().await;
        let mut answers: Vec<Option<Result<Settled, SettleFailure>>> = Vec::new();
        answers.resize_with(items.len(), || None);
        let mut by_partition: BTreeMap<(TopicId, PartitionIndex), Vec<(usize, Handed)>> =
            BTreeMap::new();
        for (position, (receipt, outcome)) in items.iter().enumerate() {
            match Handed::decode(receipt) {
                Ok(handed) if handed.queue != live.mark() => {
                    let queue = queue.clone();
                    answers[position] = Some(Err(SettleFailure::OfAnother { queue }));
                }
                Ok(handed) => match check_rest(&broker, &handed, outcome) {
                    Ok(()) => by_partition
                        .entry((handed.topic, handed.partition))
                        .or_default()
                        .push((position, handed)),
                    Err(error) => answers[position] = Some(Err(error.into())),
                },
                Err(error) => answers[position] = Some(Err(error.into())),
            }
        }
        let mut all = Vec::new();
        for ((topic, partition), handed) in by_partition {
            let positions: Vec<_> = handed.iter().map(|(position, _)| *position).collect();
            let settled = self.settle_one(&broker, &live, (topic, partition), &handed, &items);
            match settled.await {
                Ok((shard, decided)) => all.push(Settling {
                    positions,
                    shard,
                    decided,
                }),
                Err(failure) => {
                    for position in positions {
                        answers[position] = Some(Err(failure.clone()));
                    }
                }
            }
        }
        for settling in all {
            settling.answer(&mut answers).await;
        }
        self.note_pace(&broker, &live);
        let answers = answers.into_iter();
        Ok(answers
            .map(|answer| answer.expect("each has its answer"))
            .collect())
    }

    /// Decides on the items of one partition.
    async fn settle_one(
        self: &Arc<Self>,
        broker: &Arc<Broker>,
        live: &Arc<Live>,
        (topic, partition): (TopicId, PartitionIndex),
        handed: &[(usize, Handed)],
        items: &[(Receipt, SettleOutcome)],
    ) -> Result<(Arc<Shard>, Decided), SettleFailure> {
        let source = self.settled_source(broker, live, topic, partition).await?;
        let settles: Vec<_> = handed
            .iter()
            .map(|(position, handed)| Settle {
                offset: handed.offset,
                claim: Claim::Grant(handed.grant),
                outcome: outcome_of(&items[*position].1),
            })
            .collect();
        let policy = self.policy(broker, live, source.kind, partition);
        let input = Input::Settle {
            items: &settles,
            is_atomic: false,
        };
        let decided = source.shard.decide(&source.key, &policy, input)?;
        Ok((source.shard, decided))
    }

    pub(super) async fn settled_source(
        self: &Arc<Self>,
        broker: &Arc<Broker>,
        live: &Arc<Live>,
        topic: TopicId,
        partition: PartitionIndex,
    ) -> Result<Source, SettleFailure> {
        let of_another = || SettleFailure::OfAnother {
            queue: live.name().clone(),
        };
        let topics = broker.topics();
        let place = topics.by_id(topic).ok_or_else(of_another)?;
        let kind = live.kind_of(place);
        let partition = broker
            .partition(&TopicRef::Id(topic), partition)
            .map_err(|_| of_another())?;
        let key: QueueKey = live.key(topic, partition.index());
        let shard = self.shard(&key).await?;
        let source = Source {
            kind,
            key,
            partition,
            shard,
        };
        let incarnation = live.queue.id;
        let is_its_own = source.shard.look(&source.key, |ledger, _, _| {
            ledger.is_initialized() && ledger.head().incarnation == incarnation
        })?;
        if !kind.is_handed_out() || !is_its_own {
            return Err(of_another());
        }
        Ok(source)
    }
}

impl Settling {
    async fn answer(self, answers: &mut [Option<Result<Settled, SettleFailure>>]) {
        let each = match self.shard.durable(self.decided).await {
            Ok(Reply::Settled(each)) => each,
            Ok(other) => unreachable!("a machine answers in kind, not with {other:?}"),
            Err(error) => {
                for position in self.positions {
                    answers[position] = Some(Err(error.clone().into()));
                }
                return;
            }
        };
        for (position, one) in self.positions.into_iter().zip(each) {
            answers[position] = Some(one.map_err(SettleFailure::from));
        }
    }
}

/// A delay that somebody names is refused where retention would take the message first; the backoff names none.
fn check_rest(broker: &Broker, handed: &Handed, outcome: &SettleOutcome) -> Result<(), DueTooLate> {
    let (SettleOutcome::Nack { delay, .. } | SettleOutcome::Release { delay }) = outcome else {
        return Ok(());
    };
    let topics = broker.topics();
    let place = topics.by_id(handed.topic);
    let place = place.and_then(|topic| Some((topic, topic.partition(handed.partition)?)));
    match (delay, place) {
        (Some(delay), Some((topic, partition))) => {
            broker.check_rest(topic, partition, handed.offset, *delay)
        }
        // That there is no such place is said where it is looked for.
        _ => Ok(()),
    }
}

fn outcome_of(outcome: &SettleOutcome) -> Outcome<'_> {
    match outcome {
        SettleOutcome::Ack => Outcome::Ack,
        SettleOutcome::Nack { delay, reason } => Outcome::Nack {
            delay: delay.map(|delay| delay.min(DELAY_MAX)),
            reason,
        },
        SettleOutcome::Release { delay } => Outcome::Release {
            delay: delay.map(|delay| delay.min(DELAY_MAX)),
        },
        SettleOutcome::Reject { reason } => Outcome::Reject { reason },
        SettleOutcome::Extend(lock) => Outcome::Extend((*lock).min(LOCK_MAX)),
    }
}
