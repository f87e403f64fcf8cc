//! A queue as the catalog has it now, with its settings read; and what belongs to it as long as the process lives.

use super::Queues;
use super::dead_headers::DEAD_QUEUE;
use super::pace::Pace;
use super::receipt::QueueMark;
use super::take::readable_end;
use super::types::QueueError;
use crate::broker::Broker;
use crate::partition::Partition;
use crate::topics_view::{Topic, TopicsView};
use fanlog_coordinators::catalog;
use fanlog_coordinators::filter::Filter;
use fanlog_coordinators::queue::{MoveTarget, Policy, QueueKey};
use fanlog_model::settings::{QueueSettings, redrive_topic};
use fanlog_model::{GroupId, Offset, PartitionIndex, TopicId, TopicName};
use fanlog_protocol::records::RecordView;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering, fence};

/// How many records of a partition may be tracked; memory ends before that.
const TRACKED_MAX: usize = 100_000_000;
/// How many runs of states a partition may have until no more records are cancelled or redriven out of their midst.
const SCATTERED_MAX: usize = 2 * TRACKED_MAX;
/// How many updates are logged between two snapshots of a partition, at least.
const UPDATES_PER_SNAPSHOT: u32 = 2_000;

/// A queue with its settings.
#[derive(Debug)]
pub(super) struct Live {
    pub(super) queue: Arc<catalog::Queue>,
    pub(super) settings: QueueSettings,
    /// The topic of its dead letters, unless it has none.
    pub(super) dead: Option<TopicName>,
    /// The topic by which they come back.
    pub(super) redrive: Option<TopicName>,
    filter: Option<Filter>,
    pub(super) kept: Arc<Kept>,
}

/// What stays when settings change.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// Which partition is looked at first, so that none starves the others.
    pub(super) first: AtomicUsize,
    pub(super) unreadable_delays: AtomicU64,
    pub(super) pace: Mutex<Pace>,
}

/// What a queue reads a topic for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SourceKind {
    /// It is the queue's topic.
    Main,
    /// What was a dead letter comes to the queue again by it.
    Redrive,
    /// What is not done with there are its dead letters: they are never handed out.
    Dead,
}

impl SourceKind {
    pub(super) fn is_handed_out(self) -> bool {
        !matches!(self, Self::Dead)
    }
}

impl Live {
    pub(super) fn new(queue: Arc<catalog::Queue>, kept: Arc<Kept>) -> Self {
        let settings = QueueSettings::resolve(&queue.overrides);
        let filter = settings.filter.as_deref();
        Self {
            // The catalog has none that cannot be read.
            filter: filter.and_then(|filter| Filter::parse(filter, settings.filter_scope).ok()),
            dead: settings.dead_letter_topic(&queue.name),
            redrive: redrive_topic(&queue.name),
            settings,
            kept,
            queue,
        }
    }

    /// What tells its receipts from those of others.
    pub(super) fn mark(&self) -> QueueMark {
        QueueMark::of(self.queue.id)
    }

    pub(super) fn name(&self) -> &GroupId {
        &self.queue.name
    }

    pub(super) fn key(&self, topic: TopicId, partition: PartitionIndex) -> QueueKey {
        QueueKey {
            group: self.queue.name.clone(),
            topic,
            partition,
        }
    }

    /// What the queue reads a topic for that it has a state of.
    pub(super) fn kind_of(&self, topic: &Topic) -> SourceKind {
        if topic.id == self.queue.topic {
            SourceKind::Main
        } else if Some(&topic.name) == self.redrive.as_ref() {
            SourceKind::Redrive
        } else {
            SourceKind::Dead
        }
    }

    /// The topics that it reads and that are there.
    pub(super) fn sources(&self, topics: &TopicsView) -> Vec<(SourceKind, Arc<Topic>)> {
        let by_name =
            |name: &Option<TopicName>| name.as_ref().and_then(|name| topics.by_name(name));
        let all = [
            (SourceKind::Main, topics.by_id(self.queue.topic)),
            (SourceKind::Redrive, by_name(&self.redrive)),
            (SourceKind::Dead, by_name(&self.dead)),
        ];
        let there = all
            .into_iter()
            .filter_map(|(kind, topic)| Some((kind, topic?.clone())));
        there.collect()
    }

    /// Where what leaves a source goes: the topic's name, unless nowhere.
    pub(super) fn target_of(&self, kind: SourceKind) -> Option<&TopicName> {
        match kind {
            SourceKind::Main | SourceKind::Redrive => self.dead.as_ref(),
            SourceKind::Dead => self.redrive.as_ref(),
        }
    }

    /// The offset below which it reads a partition: what is durable and decided, and of its topic no further than its end.
    pub(super) fn readable_end(
        &self,
        kind: SourceKind,
        partition: &Partition,
    ) -> Result<Offset, QueueError> {
        let end = readable_end(partition)?;
        let until = self.settings.until.as_ref();
        let until = until.filter(|_| kind == SourceKind::Main);
        Ok(until.map_or(end, |until| end.min(until.of_partition(partition.index()))))
    }

    /// Whether the queue wants a record: of its topic, what the filter wants; of a dead-letter topic, what came from the queue itself.
    pub(super) fn wants(&self, kind: SourceKind, record: &RecordView<'_>) -> bool {
        match kind {
            SourceKind::Main => self.filter.as_ref().is_none_or(|filter| {
                let text = |(name, value)| Some((std::str::from_utf8(name).ok()?, value));
                filter.matches(record.headers().filter_map(text), record.value)
            }),
            // It was wanted once.
            SourceKind::Redrive => true,
            SourceKind::Dead => {
                let name = self.queue.name.as_str().as_bytes();
                let mut headers = record.headers();
                headers.any(|header| header == (DEAD_QUEUE.as_bytes(), Some(name)))
            }
        }
    }

    fn move_target(
        &self,
        topics: &TopicsView,
        kind: SourceKind,
        of: PartitionIndex,
    ) -> Option<MoveTarget> {
        let target = topics.by_name(self.target_of(kind)?);
        // One that is not there is made before anything is moved: meanwhile what is to be moved waits.
        let (topic, count) = target.map_or((TopicId::ZERO, 1), |topic| {
            (topic.id, topic.partitions.len() as i32)
        });
        Some(MoveTarget {
            topic,
            partition: PartitionIndex(of.0 % count),
        })
    }
}

impl Queues {
    /// The queue of that name.
    pub(super) fn live(&self, broker: &Broker, name: &GroupId) -> Result<Arc<Live>, QueueError> {
        let catalog = broker.catalog_view();
        let mut lives = self.lives.lock();
        let Some(queue) = catalog.queue(name) else {
            lives.remove(name);
            return Err(QueueError::NoSuchQueue { name: name.clone() });
        };
        let kept = match lives.get(name) {
            Some(live) if Arc::ptr_eq(&live.queue, queue) => return Ok(live.clone()),
            Some(live) if live.queue.id == queue.id => live.kept.clone(),
            _ => Arc::default(),
        };
        let live = Arc::new(Live::new(queue.clone(), kept));
        lives.insert(name.clone(), live.clone());
        Ok(live)
    }

    /// The rules of one partition of a queue.
    pub(super) fn policy(
        &self,
        broker: &Broker,
        live: &Live,
        kind: SourceKind,
        partition: PartitionIndex,
    ) -> Policy {
        let settings = &live.settings;
        Policy {
            lock: settings.lock,
            attempts_max: settings.attempts_max,
            backoff: settings.backoff,
            order: settings.order,
            window: settings.in_flight_max.into(),
            is_paused: settings.is_paused || !kind.is_handed_out(),
            target: live.move_target(&broker.topics(), kind, partition),
            tracked_max: self.tracked_max(broker),
            scattered_max: SCATTERED_MAX,
            updates_per_snapshot: UPDATES_PER_SNAPSHOT,
        }
    }

    /// The rules of the partition that a key names; none where the queue or the topic is gone.
    pub(super) fn policy_of(&self, key: &QueueKey) -> Option<Policy> {
        let broker = self.broker().ok()?;
        let live = self.live(&broker, &key.group).ok()?;
        let topics = broker.topics();
        let kind = live.kind_of(topics.by_id(key.topic)?);
        Some(self.policy(&broker, &live, kind, key.partition))
    }

    /// How many records of a partition may be tracked now.
    pub(super) fn tracked_max(&self, broker: &Broker) -> usize {
        match self.is_memory_full(broker) {
            true => 0,
            false => TRACKED_MAX,
        }
    }

    /// Whether queues take as much memory as they may.
    pub(super) fn is_memory_full(&self, broker: &Broker) -> bool {
        let max = broker.settings().queues_memory_bytes;
        if self.memory_bytes() < max {
            return false;
        }
        self.was_full.store(true, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        // What was let go between the two looks has woken nobody.
        self.memory_bytes() >= max
    }

    /// Memory may have been let go: those who found none look again, wherever they wait.
    pub(super) fn wake_if_roomy(&self) {
        fence(Ordering::SeqCst);
        if !self.was_full.load(Ordering::SeqCst) {
            return;
        }
        let Ok(broker) = self.broker() else {
            return;
        };
        if self.memory_bytes() < broker.settings().queues_memory_bytes {
            self.was_full.store(false, Ordering::SeqCst);
            self.seats.wake_all();
        }
    }

    /// How much memory queues take.
    pub(crate) fn memory_bytes(&self) -> u64 {
        (self.memory.bytes() + self.pieces.bytes()) as u64
    }
}
