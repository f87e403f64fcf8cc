//! "Why is this stuck?": how a queue stands, put together from its partitions.
//!
//! In -> out: the machines' own words, the ends of the logs, the last few samples -> one picture. Nothing is read from the disk but
//! the header of the batch that waits longest in each partition.

use super::Queues;
use super::live::{Live, SourceKind};
use super::pace::Sample;
use super::status_types::{
    BlockedKey, ConsumerLoad, Drain, Hindrance, QueuePartitionStatus, QueueStatus,
};
use super::take::readable_end;
use super::types::{MessageId, QueueError};
use crate::broker::Broker;
use crate::groups::CoordinatorError;
use crate::partition::Partition;
use crate::topics_view::Topic;
use fanlog_coordinators::queue::{BlockReason, Counters, PartitionStatus, QueueKey, status};
use fanlog_model::{GroupId, Offset, TimestampMs, TopicName};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// How many consumers and keys are listed.
const LISTED_MAX: usize = 100;

impl Queues {
    /// How a queue stands, and why it may be stuck.
    ///
    /// # Errors
    /// There is no such queue.
    pub fn status(&self, queue: &GroupId) -> Result<QueueStatus, QueueError> {
        let broker = self.broker()?;
        let live = self.live(&broker, queue)?;
        let topics = broker.topics();
        let topic = topics.by_id(live.queue.topic);
        let topic = topic.ok_or(CoordinatorError::Loading)?.name.clone();
        let mut gathered = Gathered::new(self, &broker, &live, topic);
        for (kind, topic) in live.sources(&topics) {
            for partition in &topic.partitions {
                gathered.add(kind, &topic, partition);
            }
        }
        Ok(gathered.finish())
    }
}

/// A status under way.
struct Gathered<'a> {
    queues: &'a Queues,
    live: &'a Arc<Live>,
    status: QueueStatus,
    consumers: BTreeMap<Arc<str>, ConsumerLoad>,
    done: Counters,
    /// The ends of the queue's own topic, added up.
    end: u64,
    /// What is in the dead-letter topic and not done with.
    dead: u64,
    /// What has left it.
    left: u64,
}

impl<'a> Gathered<'a> {
    fn new(queues: &'a Queues, broker: &Broker, live: &'a Arc<Live>, topic: TopicName) -> Self {
        let kept = &live.kept;
        let mut hindrances = Vec::new();
        if live.settings.is_paused {
            hindrances.push(Hindrance::Paused);
        }
        if queues.is_memory_full(broker) {
            hindrances.push(Hindrance::MemoryFull {
                bytes: queues.memory_bytes(),
                limit: broker.settings().queues_memory_bytes,
            });
        }
        Self {
            queues,
            live,
            status: QueueStatus {
                name: live.name().clone(),
                topic,
                hindrances,
                depth: 0,
                unread: 0,
                available: 0,
                oldest: None,
                in_flight: Vec::new(),
                in_flight_records: 0,
                resting: 0,
                waiting_for_time: 0,
                waiting_for_key: 0,
                blocked: Vec::new(),
                next_due: None,
                attempts: BTreeMap::new(),
                dead_letters: live.dead.as_ref().map(|_| 0),
                moving: 0,
                moving_hindrance: None,
                acknowledged: 0,
                given_up: 0,
                lost: 0,
                unreadable_delays: kept.unreadable_delays.load(Ordering::Relaxed),
                rate_in: None,
                rate_out: None,
                drain: Drain::Unknown,
                partitions: Vec::new(),
            },
            consumers: BTreeMap::new(),
            done: Counters::default(),
            end: 0,
            dead: 0,
            left: 0,
        }
    }

    fn add(&mut self, kind: SourceKind, topic: &Topic, partition: &Arc<Partition>) {
        let key = self.live.key(topic.id, partition.index());
        let looked = readable_end(partition).and_then(|end| {
            let shard = self.queues.shard_now(&key);
            let shard = shard.ok_or(CoordinatorError::Loading)?;
            let of_partition = shard.look(&key, |ledger, waiting, now| {
                ledger
                    .is_initialized()
                    .then(|| status(ledger, waiting, now))
            })?;
            Ok((end, of_partition))
        });
        match looked {
            Ok((end, Some(of_partition))) => {
                self.add_known(kind, partition, &key, end, &of_partition)
            }
            // It was added to the topic, and begins with its first record when it is first used.
            Ok((end, None)) if kind == SourceKind::Main => {
                self.end += end.0.max(0).unsigned_abs();
                let start = partition.with_log(|log| log.log_start_offset());
                let unread = (end.0 - start.map_or(end.0, |start| start.0)).max(0);
                self.status.depth += unread.unsigned_abs();
                self.status.unread += unread.unsigned_abs();
            }
            Ok((_, None)) => {}
            Err(QueueError::Unavailable(CoordinatorError::Loading)) => {
                let partition = partition.index();
                self.status
                    .hindrances
                    .push(Hindrance::Loading { partition });
            }
            Err(error) => self.status.hindrances.push(Hindrance::Unavailable {
                partition: partition.index(),
                reason: error.to_string().into(),
            }),
        }
    }

    fn add_known(
        &mut self,
        kind: SourceKind,
        partition: &Arc<Partition>,
        key: &QueueKey,
        end: Offset,
        of: &PartitionStatus,
    ) {
        let all = (end.0 - of.start.0).max(0).unsigned_abs();
        let depth = all.saturating_sub(of.done_behind);
        let status = &mut self.status;
        status.moving += of.moving;
        if of.moving > 0 && status.moving_hindrance.is_none() {
            status.moving_hindrance = self.queues.movers.hindrance(key);
        }
        if kind == SourceKind::Dead {
            self.dead += depth.saturating_sub(of.moving);
            self.left += of.counters.moved + of.counters.cancelled;
            return;
        }
        if kind == SourceKind::Main {
            self.end += end.0.max(0).unsigned_abs();
        }
        let depth = depth.saturating_sub(of.moving);
        status.depth += depth;
        status.unread += (end.0 - of.cursor.0).max(0).unsigned_abs();
        status.available += of.ready;
        status.in_flight_records += of.held;
        status.resting += of.resting;
        status.waiting_for_time += of.timed;
        status.waiting_for_key += of.passed_over;
        status.next_due = match (status.next_due, of.next_due) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        for (attempts, count) in of
            .attempts
            .iter()
            .enumerate()
            .filter(|(_, count)| **count > 0)
        {
            *status.attempts.entry(attempts as u16).or_default() += count;
        }
        if of.held >= u64::from(self.live.settings.in_flight_max) {
            status.hindrances.push(Hindrance::WindowFull {
                partition: key.partition,
                in_flight: of.held,
            });
        }
        status.partitions.push(QueuePartitionStatus {
            topic: partition.topic().clone(),
            partition: key.partition,
            start: of.start.0,
            cursor: of.cursor.0,
            end: end.0,
            in_flight: of.held,
            depth,
        });
        add_counters(&mut self.done, &of.counters);
        self.note_oldest(partition, of.start, depth);
        self.note_consumers(of);
        self.note_blocked(partition, key, of);
    }

    /// The record that waits longest, by the time of its batch.
    fn note_oldest(&mut self, partition: &Arc<Partition>, start: Offset, depth: u64) {
        if depth == 0 {
            return;
        }
        let Ok(Some(timestamp)) = partition.batch_timestamp(start) else {
            return;
        };
        let oldest = &mut self.status.oldest;
        if oldest
            .as_ref()
            .is_none_or(|(_, oldest)| timestamp < *oldest)
        {
            let id = MessageId {
                topic: partition.topic().clone(),
                partition: partition.index(),
                offset: start,
            };
            *oldest = Some((id, timestamp));
        }
    }

    fn note_consumers(&mut self, of: &PartitionStatus) {
        for one in &of.consumers {
            let known = ConsumerLoad {
                consumer: one.consumer.clone(),
                records: one.held,
                first_deadline: one.next_deadline,
                last_deadline: one.last_deadline,
            };
            match self.consumers.entry(one.consumer.clone()) {
                Entry::Vacant(place) => {
                    place.insert(known);
                }
                Entry::Occupied(mut place) => {
                    let load = place.get_mut();
                    load.records += known.records;
                    load.first_deadline = earlier(load.first_deadline, known.first_deadline);
                    load.last_deadline = load.last_deadline.max(known.last_deadline);
                }
            }
        }
    }

    fn note_blocked(&mut self, partition: &Arc<Partition>, key: &QueueKey, of: &PartitionStatus) {
        let left = LISTED_MAX.saturating_sub(self.status.blocked.len());
        for one in of.blocked_keys.iter().take(left) {
            let piece = self.queues.pieces.get(key, &self.live.queue, one.offset);
            let text = piece.and_then(|piece| {
                let (record, _) = piece.record(one.offset)?;
                Some(String::from_utf8_lossy(record.key?).into_owned())
            });
            let reason = match &one.reason {
                BlockReason::Held(consumer) => format!("held by {consumer}"),
                BlockReason::Resting(why) if why.is_empty() => "failed and rests".to_owned(),
                BlockReason::Resting(why) => format!("failed and rests: {why}"),
                BlockReason::Delayed => "not due yet".to_owned(),
            };
            self.status.blocked.push(BlockedKey {
                key: text,
                by: MessageId {
                    topic: partition.topic().clone(),
                    partition: key.partition,
                    offset: one.offset,
                },
                reason: reason.into(),
                until: one.until,
            });
        }
    }

    fn finish(mut self) -> QueueStatus {
        let status = &mut self.status;
        let mut consumers: Vec<_> = self.consumers.into_values().collect();
        consumers.sort_by_key(|load| std::cmp::Reverse(load.records));
        consumers.truncate(LISTED_MAX);
        status.in_flight = consumers;
        // Others may put dead letters, or anything else, into the same topic: of what is there at most so many came from here.
        let own = self.done.moved.saturating_sub(self.left);
        status.dead_letters = status.dead_letters.map(|_| self.dead.min(own));
        status.acknowledged = self.done.acknowledged;
        status.given_up = self.done.given_up;
        status.lost = self.done.lost;
        let sample = Sample {
            at: self.queues.clock.monotonic(),
            came: self.end,
            went: went(&self.done),
        };
        if let Some(rates) = self.live.kept.pace.lock().rates(sample) {
            status.rate_in = Some(rates.0);
            status.rate_out = Some(rates.1);
        }
        status.drain = Drain::of(status.depth, status.rate_in.zip(status.rate_out));
        self.status
    }
}

impl Queues {
    /// Notes how far the queue is, now and then, so that there are rates when somebody asks.
    pub(super) fn note_pace(&self, broker: &Broker, live: &Live) {
        let at = self.clock.monotonic();
        if !live.kept.pace.lock().is_due(at) {
            return;
        }
        let (mut came, mut counters) = (0, Counters::default());
        for (kind, topic) in live.sources(&broker.topics()) {
            for partition in topic.partitions.iter().filter(|_| kind.is_handed_out()) {
                let key = live.key(topic.id, partition.index());
                if kind == SourceKind::Main {
                    came += readable_end(partition).map_or(0, |end| end.0.max(0).unsigned_abs());
                }
                let counted = self
                    .shard_now(&key)
                    .map(|shard| shard.look(&key, |ledger, _, _| ledger.head().counters));
                if let Some(Ok(of_partition)) = counted {
                    add_counters(&mut counters, &of_partition);
                }
            }
        }
        let went = went(&counters);
        live.kept.pace.lock().rates(Sample { at, came, went });
    }
}

fn went(counters: &Counters) -> u64 {
    counters.acknowledged
        + counters.given_up
        + counters.moved
        + counters.filtered
        + counters.cancelled
}

fn earlier(one: Option<TimestampMs>, other: Option<TimestampMs>) -> Option<TimestampMs> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

fn add_counters(all: &mut Counters, one: &Counters) {
    all.delivered += one.delivered;
    all.acknowledged += one.acknowledged;
    all.failed += one.failed;
    all.given_up += one.given_up;
    all.moved += one.moved;
    all.filtered += one.filtered;
    all.cancelled += one.cancelled;
    all.lost += one.lost;
}
