//! Moves records to the topics where they go: dead letters, dead letters that come back, and what somebody sends elsewhere.
//!
//! Why it exists: a record is in one place or the other, whatever crashes when. The machine has logged which sequence the copy of each
//! bears, from a producer of the partition's own; the copies are appended in that order, and what the target has already is not
//! appended again. Only when they are durable is the machine told. The note in the audit topic comes last, and is tried again until it can
//! be written; a crash, or too many of them, may lose it.
//! Owns: one task per partition of a queue that has something to move.   Never: decides what moves.
//! In -> out: the machine's row of moves -> appended copies, `Input::Moved`, notes in the audit topic.
//! Invariants: QUE-2, PRD-1.   Read next: `copies.rs`.

use super::Queues;
use super::begin::{Source, not_available, unreadable};
use super::copies::Copies;
use super::live::{Live, SourceKind};
use super::types::QueueError;
use crate::append_types::{AppendError, Appender, RefusedBatch};
use crate::broker::Broker;
use crate::lookup::TopicRef;
use crate::machines::MachineShard;
use crate::partition::Partition;
use fanlog_coordinators::queue::{
    Input, Mover, PendingMove, Policy, QueueKey, RowId, mover, moves,
};
use fanlog_model::{BaseSequence, TopicId};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;

/// How many records are moved at once.
const MOVES_AT_ONCE: usize = 256;
/// How many notes of a partition wait for the audit topic at most.
const NOTES_MAX: usize = 10_000;
/// How long a move that failed waits for its next try: at first, and at most.
const WAIT_MIN: Duration = Duration::from_millis(100);
const WAIT_MAX: Duration = Duration::from_secs(30);

/// The tasks that move.
#[derive(Debug, Default)]
pub(super) struct Movers {
    active: Mutex<BTreeMap<QueueKey, Active>>,
    /// Of moves that are over, and that the audit topic does not tell yet.
    notes: Mutex<BTreeMap<QueueKey, Vec<serde_json::Value>>>,
    /// Something was moved, or could not be.
    pub(super) progress: Notify,
}

#[derive(Debug, Default)]
struct Active {
    /// A task is at it; else it failed, and waits for the next tick.
    is_running: bool,
    /// There may be more than the task has seen.
    is_wanted: bool,
    hindrance: Option<Arc<str>>,
}

/// Where copies go, and by whom.
struct Target {
    partition: Arc<Partition>,
    mover: Mover,
}

impl Movers {
    /// What keeps records of a partition from being moved.
    pub(super) fn hindrance(&self, key: &QueueKey) -> Option<Arc<str>> {
        self.active.lock().get(key)?.hindrance.clone()
    }

    /// To be written in the end: the oldest are given up where they get too many.
    pub(super) fn keep_notes(&self, key: &QueueKey, notes: Vec<serde_json::Value>) {
        if notes.is_empty() {
            return;
        }
        let mut kept = self.notes.lock();
        let kept = kept.entry(key.clone()).or_default();
        kept.extend(notes);
        let over = kept.len().saturating_sub(NOTES_MAX);
        if over > 0 {
            kept.drain(..over);
            tracing::error!(queue = %key.group, notes = over, "moves are never noted in the audit topic: it could not be written for too long");
        }
    }

    fn take_notes(&self, key: &QueueKey) -> Vec<serde_json::Value> {
        self.notes.lock().remove(key).unwrap_or_default()
    }

    fn with_notes(&self) -> Vec<QueueKey> {
        self.notes.lock().keys().cloned().collect()
    }

    /// Whether nothing was wanted since the task looked last: then it is over.
    fn is_over(&self, key: &QueueKey) -> bool {
        let mut active = self.active.lock();
        if let Some(one) = active.get_mut(key)
            && std::mem::take(&mut one.is_wanted)
        {
            one.hindrance = None;
            return false;
        }
        active.remove(key);
        true
    }

    fn note(&self, key: &QueueKey, hindrance: Option<Arc<str>>) {
        if let Some(active) = self.active.lock().get_mut(key) {
            active.hindrance = hindrance;
        }
        self.progress.notify_waiters();
    }
}

impl Queues {
    /// There is something to move.
    pub(super) fn start_mover(self: &Arc<Self>, key: &QueueKey) {
        let mut active = self.movers.active.lock();
        let one = active.entry(key.clone()).or_default();
        if std::mem::replace(&mut one.is_running, true) {
            one.is_wanted = true;
            return;
        }
        drop(active);
        let (queues, key) = (Arc::downgrade(self), key.clone());
        tokio::spawn(async move {
            let mut wait = WAIT_MIN;
            while let Some(queues) = queues.upgrade() {
                match queues.move_some(&key).await {
                    Ok(true) => {
                        wait = WAIT_MIN;
                        queues.movers.note(&key, None);
                    }
                    Ok(false) => {
                        let is_over = queues.movers.is_over(&key);
                        queues.movers.progress.notify_waiters();
                        if is_over {
                            return;
                        }
                    }
                    Err(error) => {
                        let goes_on = queues.is_tried_again(&key, &error, wait);
                        drop(queues);
                        if !goes_on {
                            return;
                        }
                        tokio::time::sleep(wait).await;
                        wait = (wait * 2).min(WAIT_MAX);
                    }
                }
            }
        });
    }

    fn is_tried_again(&self, key: &QueueKey, error: &QueueError, wait: Duration) -> bool {
        if wait == WAIT_MIN {
            tracing::warn!(queue = %key.group, topic = %key.topic, partition = %key.partition, %error, "records wait to be moved");
        }
        self.movers.note(key, Some(error.to_string().into()));
        // Without timers the next tick tries again.
        let goes_on = self.shards.has_timers() && self.broker().is_ok();
        if let Some(active) = self.movers.active.lock().get_mut(key) {
            active.is_running = goes_on;
        }
        goes_on
    }

    /// Records that wait to be moved are tried again, where nobody does.
    pub(super) fn restart_movers(self: &Arc<Self>) {
        for shard in self.shards().iter() {
            let moving = shard.with_active(|machines| {
                let moving = machines.of.iter();
                let moving = moving.filter(|(_, known)| known.ledger.moving_count() > 0);
                moving.map(|(key, _)| key.clone()).collect::<Vec<_>>()
            });
            for key in moving.into_iter().flatten() {
                self.start_mover(&key);
            }
        }
        for key in self.movers.with_notes() {
            self.start_mover(&key);
        }
    }

    /// Moves some of what is to be moved; whether there was anything.
    async fn move_some(self: &Arc<Self>, key: &QueueKey) -> Result<bool, QueueError> {
        let broker = self.broker()?;
        let live = match self.live(&broker, &key.group) {
            Ok(live) => live,
            // What it wanted is forgotten with it.
            Err(QueueError::NoSuchQueue { .. }) => {
                self.movers.take_notes(key);
                return Ok(false);
            }
            Err(error) => return Err(error),
        };
        let Ok(partition) = broker.partition(&TopicRef::Id(key.topic), key.partition) else {
            return Ok(false);
        };
        let topics = broker.topics();
        let Some(topic) = topics.by_id(key.topic) else {
            return Ok(false);
        };
        let kind = live.kind_of(topic);
        let source = self.source(&live, kind, &partition).await?;
        let policy = self.policy(&broker, &live, kind, key.partition);
        let row = source.shard.look(key, |ledger, _, _| {
            mover(ledger).map(|mover| (mover, moves(ledger, MOVES_AT_ONCE)))
        })?;
        let Some((mover, pending)) = row.filter(|(_, pending)| !pending.is_empty()) else {
            self.write_notes(&broker, &live, key).await?;
            return Ok(false);
        };
        // The row must be there before a copy bears one of its numbers: after a power cut another record would have it.
        let decided = source.shard.with_active(|machines| machines.decided_end)?;
        source.shard.durable_to(decided).await?;
        if mover.is_sent && is_gone(&broker, mover.target.topic) {
            let recalled = Input::Recall { row: mover.row() };
            let decided = source.shard.decide(key, &policy, recalled)?;
            source.shard.durable(decided).await?;
            return Ok(true);
        }
        let Some(target) = self.target(&broker, &live, &source, mover).await? else {
            let policy = self.policy(&broker, &live, kind, key.partition);
            self.renumber(&source, &policy, mover.row(), None).await?;
            return Ok(true);
        };
        self.move_to(&broker, &live, &source, &policy, &target, &pending)
            .await?;
        Ok(true)
    }

    /// The partition that copies go to; none where its topic was made anew, so that the row has to begin again.
    async fn target(
        self: &Arc<Self>,
        broker: &Arc<Broker>,
        live: &Live,
        source: &Source,
        mover: Mover,
    ) -> Result<Option<Target>, QueueError> {
        let topics = broker.topics();
        if topics.by_id(mover.target.topic).is_none() && !mover.is_sent {
            let made = self.make_target(broker, live, source.kind).await?;
            return match made {
                Some(_) => Ok(None),
                None => Err(not_available(
                    &"the queue has no dead-letter topic any more, and these were to go there",
                )),
            };
        }
        let partition = broker
            .partition(&TopicRef::Id(mover.target.topic), mover.target.partition)
            .map_err(|error| not_available(&error))?;
        if !mover.is_sent {
            self.begin_target(broker, live, source.kind, &partition)
                .await?;
        }
        Ok(Some(Target { partition, mover }))
    }

    /// The queue reads what it moves: from before the first copy on.
    async fn begin_target(
        self: &Arc<Self>,
        broker: &Arc<Broker>,
        live: &Live,
        from: SourceKind,
        partition: &Arc<Partition>,
    ) -> Result<(), QueueError> {
        let kind = match from {
            SourceKind::Main | SourceKind::Redrive => SourceKind::Dead,
            SourceKind::Dead => SourceKind::Redrive,
        };
        let source = self.source(live, kind, partition).await?;
        self.begun(broker, live, &source).await
    }

    async fn move_to(
        &self,
        broker: &Arc<Broker>,
        live: &Live,
        source: &Source,
        policy: &Policy,
        target: &Target,
        pending: &[PendingMove],
    ) -> Result<(), QueueError> {
        let there = target.last_sequence()?;
        let is_new = |one: &&PendingMove| there.is_none_or(|there| is_behind(one.sequence, there));
        let known = pending.iter().take_while(|one| !is_new(one)).count();
        let (known, new) = pending.split_at(known);
        #[cfg(feature = "planted-faults")]
        if crate::planted::moves_again() && !known.is_empty() {
            return self
                .renumber(source, policy, target.mover.row(), None)
                .await;
        }
        if let Some(last) = known.last() {
            // A crash came between the append and its end.
            target.durable().await?;
            return self
                .moved(broker, live, source, policy, target, known, last.sequence)
                .await;
        }
        let follows = there.is_none_or(|there| new[0].sequence == there.plus(1));
        if target.mover.needs_renumber || !follows {
            return self
                .renumber(
                    source,
                    policy,
                    target.mover.row(),
                    there.map(BaseSequence::get),
                )
                .await;
        }
        let is_sent = target.mover.is_sent;
        let copies = Copies::read(broker, live, source, &target.partition, new, is_sent).await?;
        let Some(copies) = copies else {
            // Retention took one of them.
            let start = source.partition.with_log(|log| log.log_start_offset());
            let start = start.map_err(|error| unreadable(source.partition.topic(), &error))?;
            return self.follow_log_start(source, policy, start);
        };
        let mut batch = copies.batch(&target.mover, new[0].sequence, self.now_ms())?;
        broker.room().await;
        let appended = target
            .partition
            .append_as(&mut batch, Appender::Mover, None);
        let receipt = match appended {
            Ok(receipt) => receipt,
            Err(AppendError::Refused(
                RefusedBatch::OutOfOrderSequence { .. } | RefusedBatch::InvalidProducerEpoch { .. },
            )) => {
                return self
                    .renumber(
                        source,
                        policy,
                        target.mover.row(),
                        there.map(BaseSequence::get),
                    )
                    .await;
            }
            Err(error) => return Err(not_available(&error)),
        };
        receipt
            .durable()
            .await
            .map_err(|error| not_available(&error))?;
        let moved = &new[..copies.len()];
        let last = moved[moved.len() - 1].sequence;
        self.moved(broker, live, source, policy, target, moved, last)
            .await
    }

    /// The copies are durable: over, and noted in the audit topic.
    #[expect(clippy::too_many_arguments, reason = "what moved whence whither")]
    async fn moved(
        &self,
        broker: &Arc<Broker>,
        live: &Live,
        source: &Source,
        policy: &Policy,
        target: &Target,
        moved: &[PendingMove],
        last: BaseSequence,
    ) -> Result<(), QueueError> {
        let event = match source.kind {
            _ if target.mover.is_sent => "move",
            SourceKind::Main | SourceKind::Redrive => "dead-letter",
            SourceKind::Dead => "redrive",
        };
        let notes: Vec<_> = moved
            .iter()
            .map(|one| {
                serde_json::json!({
                    "event": event,
                    "at": self.now_ms().0,
                    "queue": live.name().as_str(),
                    "from": format!("{}/{}/{}", source.partition.topic(), source.key.partition, one.offset),
                    "to": format!("{}/{}", target.partition.topic(), target.partition.index()),
                    "attempts": one.attempts,
                    "reason": one.history.last().map(|attempt| &*attempt.reason),
                })
            })
            .collect();
        // Over first: the target knows the sequences for a while only, and a note may be kept from being written for long.
        let over = Input::Moved {
            row: target.mover.row(),
            through: last.get(),
        };
        source.shard.decide(&source.key, policy, over)?;
        self.movers.keep_notes(&source.key, notes);
        if let Err(error) = self.write_notes(broker, live, &source.key).await {
            tracing::warn!(queue = %live.name(), %error, "moves are not noted yet in the audit topic");
        }
        Ok(())
    }

    /// Writes what is to be noted of moves that are over.
    pub(super) async fn write_notes(
        &self,
        broker: &Arc<Broker>,
        live: &Live,
        key: &QueueKey,
    ) -> Result<(), QueueError> {
        let notes = self.movers.take_notes(key);
        for (at, some) in notes.chunks(MOVES_AT_ONCE).enumerate() {
            if let Err(error) = self.note(broker, live.name().as_str(), some).await {
                let left = notes[at * MOVES_AT_ONCE..].to_vec();
                self.movers.keep_notes(key, left);
                return Err(error);
            }
        }
        Ok(())
    }

    async fn renumber(
        &self,
        source: &Source,
        policy: &Policy,
        row: RowId,
        through: Option<i32>,
    ) -> Result<(), QueueError> {
        let renumbered = Input::Renumber { row, through };
        let decided = source.shard.decide(&source.key, policy, renumbered)?;
        // The numbers count only once they are known for good.
        source.shard.durable(decided).await?;
        Ok(())
    }
}

impl Target {
    /// The last sequence that the target has of the row.
    fn last_sequence(&self) -> Result<Option<BaseSequence>, QueueError> {
        let known = self
            .partition
            .with_log(|log| log.active_producer(self.mover.producer));
        let known = known.map_err(|error| unreadable(self.partition.topic(), &error))?;
        let known = known
            .filter(|known| known.producer_epoch == self.mover.epoch && known.last_sequence >= 0);
        Ok(known.map(|known| BaseSequence(known.last_sequence)))
    }

    /// Waits until all that the target has is durable.
    async fn durable(&self) -> Result<(), QueueError> {
        let end = self.partition.with_log(|log| log.log_end_offset());
        let end = end.map_err(|error| unreadable(self.partition.topic(), &error))?;
        let durable = self.partition.durable(end).await;
        durable.map_err(|error| unreadable(self.partition.topic(), &error))
    }
}

/// Whether a topic is gone for good: while a start opens its topics, what the catalog has counts.
fn is_gone(broker: &Broker, topic: TopicId) -> bool {
    broker.topics().by_id(topic).is_none() && broker.catalog_view().topic_by_id(topic).is_none()
}

/// Whether a sequence comes after another one. They go from 2^31-1 to 0.
fn is_behind(sequence: BaseSequence, other: BaseSequence) -> bool {
    let distance = sequence.get().wrapping_sub(other.get()) & i32::MAX;
    distance > 0 && distance < 1 << 30
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_go_on_from_zero_behind_the_largest() {
        let is_behind = |one, other| super::is_behind(BaseSequence(one), BaseSequence(other));
        assert!(is_behind(1, 0) && !is_behind(0, 0) && !is_behind(0, 1));
        assert!(is_behind(0, i32::MAX) && !is_behind(i32::MAX, 0));
    }
}
