//! Moves a queue's messages to other topics, as somebody asks for: from a queue of dead letters back to where they failed, or elsewhere.
//!
//! Why it exists: a topic of dead letters may be read by a queue of its own, as in SQS, and its messages are that queue's then. They
//! go the way of every move, once and only once, whatever crashes. A row of moves has one target, so that messages for one go
//! together, and the next target waits until they have arrived. The task itself is not kept: who asks does that, and asks again after a
//! restart; what was on its way arrives in any case.
//! In -> out: `Input::Send` on the queue's partitions -> a mover's work.   Read next: `mover.rs`.

use super::Queues;
use super::begin::Source;
use super::cancel::no_room;
use super::dead_headers::{DEAD_QUEUE, text};
use super::live::{Live, SourceKind};
use super::move_types::{MoveEnd, MoveMessages, MoveTask, MoveTo};
use super::take::{OneRecord, readable_end};
use super::types::QueueError;
use crate::broker::Broker;
use crate::topics_view::Topic;
use fanlog_coordinators::queue::{Input, MoveTarget, Reply, State, Taken};
use fanlog_model::{GroupId, Offset, PartitionIndex, TopicId, TopicName};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

/// How many are sent in one decision.
const AT_ONCE: usize = 500;
/// How many are found before those for one target go together.
const FOUND_MAX: usize = 2_000;
/// How many origins are remembered.
const ORIGINS_MAX: usize = 10_000;

/// Messages for each topic, in the order of their offsets.
type ByTopic = BTreeMap<TopicId, (Arc<Topic>, Vec<Offset>)>;

/// A move under way.
struct Moving<'a> {
    queues: &'a Arc<Queues>,
    live: Arc<Live>,
    wanted: &'a MoveMessages,
    task: &'a MoveTask,
    origins: HashMap<String, Option<Arc<Topic>>>,
    /// To wait before the next are sent.
    pause: Duration,
}

impl Queues {
    /// Moves the messages that a queue has now to other topics; each leaves the queue once its copy is durable. Answers when all have
    /// arrived, or soon after the task was cancelled.
    ///
    /// # Errors
    /// There is no such queue or topic (any more), or messages cannot be read or written: those that have not gone stay.
    pub async fn move_messages(
        self: &Arc<Self>,
        queue: &GroupId,
        wanted: &MoveMessages,
        task: &MoveTask,
    ) -> Result<MoveEnd, QueueError> {
        let broker = self.broker()?;
        let live = self.live(&broker, queue)?;
        if let MoveTo::Topic(name) = &wanted.to {
            check_target(&broker, &live, name)?;
        }
        let mut places = Vec::new();
        for source in self.handed_out(&broker, queue).await? {
            self.begun(&broker, &live, &source).await?;
            // What is moved may come back: it is not moved again.
            let below = readable_end(&source.partition)?;
            places.push((source, below));
        }
        drop(broker);
        let mut moving = Moving {
            queues: self,
            live,
            wanted,
            task,
            origins: HashMap::new(),
            pause: Duration::ZERO,
        };
        for (source, below) in &places {
            moving.move_all(source, *below).await?;
        }
        Ok(match task.is_cancelled() {
            true => MoveEnd::Cancelled,
            false => MoveEnd::Done,
        })
    }
}

fn check_target(broker: &Broker, live: &Live, name: &TopicName) -> Result<(), QueueError> {
    let topics = broker.topics();
    let topic = topics.by_name(name).ok_or_else(|| no_such_topic(name))?;
    let refused = |reason: &str| {
        Err(QueueError::BadTopic {
            topic: name.clone(),
            reason: reason.into(),
        })
    };
    if topic.is_internal {
        return refused("it is the broker's own");
    }
    match topic.id == live.queue.topic {
        true => refused("the messages are there already"),
        false => Ok(()),
    }
}

fn no_such_topic(name: &TopicName) -> QueueError {
    QueueError::NoSuchTopic {
        topic: name.clone(),
    }
}

impl Moving<'_> {
    /// Moves what stands in a partition below an offset.
    async fn move_all(&mut self, source: &Source, below: Offset) -> Result<(), QueueError> {
        let mut from = Offset::ZERO;
        let mut found = ByTopic::new();
        let mut count = 0;
        loop {
            if self.task.is_cancelled() {
                return Ok(());
            }
            let broker = self.queues.broker()?;
            let walked = self.queues.walk(&broker, &self.live, source, from).await?;
            let letters = walked.letters.iter();
            for (offset, record) in letters.filter(|(offset, _)| *offset < below) {
                let Some(topic) = self.topic_of(&broker, source, record).await? else {
                    self.task.add_without_origin();
                    continue;
                };
                let of_topic = found.entry(topic.id).or_insert((topic, Vec::new()));
                of_topic.1.push(*offset);
                count += 1;
            }
            drop(broker);
            let next = walked.next.filter(|next| *next < below);
            if count >= FOUND_MAX || next.is_none() {
                for (topic, offsets) in std::mem::take(&mut found).into_values() {
                    self.send_all(source, &topic, &offsets).await?;
                }
                count = 0;
            }
            match next {
                Some(next) => from = next,
                None => return Ok(()),
            }
        }
    }

    async fn send_all(
        &mut self,
        source: &Source,
        topic: &Topic,
        offsets: &[Offset],
    ) -> Result<(), QueueError> {
        let at_once = self
            .wanted
            .rate
            .map_or(AT_ONCE, |rate| rate.max(1) as usize);
        for some in offsets.chunks(at_once.min(AT_ONCE)) {
            if !self.pause.is_zero() {
                tokio::select! {
                    () = tokio::time::sleep(self.pause) => {}
                    () = self.task.until_cancelled() => {}
                }
            }
            if self.task.is_cancelled() {
                return Ok(());
            }
            if let Some(rate) = self.wanted.rate {
                self.pause = Duration::from_secs_f64(some.len() as f64 / f64::from(rate.max(1)));
            }
            self.send(source, topic, some).await?;
        }
        Ok(())
    }

    /// Sends some to one topic, and waits until they are there.
    async fn send(
        &self,
        source: &Source,
        topic: &Topic,
        offsets: &[Offset],
    ) -> Result<(), QueueError> {
        let of = source.key.partition.0 % topic.partitions.len() as i32;
        let target = MoveTarget {
            topic: topic.id,
            partition: PartitionIndex(of),
        };
        let sent = loop {
            let progress = self.queues.movers.progress.notified();
            let mut progress = std::pin::pin!(progress);
            progress.as_mut().enable();
            let taken = self.decide(source, offsets, target).await?;
            if taken.contains(&Taken::NoRoom) {
                return Err(no_room());
            }
            if !taken.contains(&Taken::Busy) {
                let each = offsets.iter().zip(taken);
                let sent = each.filter(|(_, taken)| *taken == Taken::Taken);
                break sent.map(|(offset, _)| *offset).collect::<Vec<_>>();
            }
            tokio::select! {
                () = progress => {}
                () = self.task.until_cancelled() => return Ok(()),
            }
        };
        self.arrived(source, &sent).await?;
        let done = source.shard.look(&source.key, |ledger, _, _| {
            let is_done = |offset: &&Offset| ledger.state(**offset).0 == State::Done;
            sent.iter().filter(is_done).count()
        })?;
        self.task.add_moved(done as u64);
        match done < sent.len() && !self.task.is_cancelled() {
            // They were called back.
            true => Err(no_such_topic(&topic.name)),
            false => Ok(()),
        }
    }

    async fn decide(
        &self,
        source: &Source,
        offsets: &[Offset],
        target: MoveTarget,
    ) -> Result<Vec<Taken>, QueueError> {
        let broker = self.queues.broker()?;
        broker.room().await;
        let (kind, partition) = (source.kind, source.key.partition);
        let policy = self.queues.policy(&broker, &self.live, kind, partition);
        let input = Input::Send { offsets, target };
        let decided = source.shard.decide(&source.key, &policy, input)?;
        match source.shard.durable(decided).await? {
            Reply::Taken(taken) => Ok(taken),
            other => unreachable!("a machine answers in kind, not with {other:?}"),
        }
    }

    /// Waits until none of these is on its way any more, or nobody waits for it.
    async fn arrived(&self, source: &Source, sent: &[Offset]) -> Result<(), QueueError> {
        loop {
            let progress = self.queues.movers.progress.notified();
            let mut progress = std::pin::pin!(progress);
            progress.as_mut().enable();
            let is_any_moving = source.shard.look(&source.key, |ledger, _, _| {
                let is_moving = |offset: &Offset| {
                    let state = ledger.state(*offset).0;
                    matches!(state, State::Moving { .. })
                };
                sent.iter().any(is_moving)
            })?;
            if !is_any_moving {
                return Ok(());
            }
            tokio::select! {
                () = progress => {}
                () = self.task.until_cancelled() => return Ok(()),
            }
        }
    }

    /// The topic to which a message goes; none where nothing says so.
    async fn topic_of(
        &mut self,
        broker: &Arc<Broker>,
        source: &Source,
        record: &OneRecord,
    ) -> Result<Option<Arc<Topic>>, QueueError> {
        let own = match &self.wanted.to {
            MoveTo::Topic(name) => {
                let topic = broker.topics().by_name(name).cloned();
                return topic.map(Some).ok_or_else(|| no_such_topic(name));
            }
            MoveTo::Origin(own) => own,
        };
        let Some(queue) = text(&record.headers, DEAD_QUEUE) else {
            return Ok(None);
        };
        if let Some(known) = self.origins.get(queue) {
            return Ok(known.clone());
        }
        let topic = self.origin(broker, &queue.into(), own).await?;
        let topic = topic.filter(|topic| topic.id != source.key.topic);
        if self.origins.len() >= ORIGINS_MAX {
            self.origins.clear();
        }
        self.origins.insert(queue.to_owned(), topic.clone());
        Ok(topic)
    }

    /// The topic by which messages come to a queue again, and which it reads from before the first of them.
    async fn origin(
        &self,
        broker: &Arc<Broker>,
        queue: &GroupId,
        own: &BTreeMap<GroupId, TopicName>,
    ) -> Result<Option<Arc<Topic>>, QueueError> {
        if let Some(own) = own.get(queue) {
            return Ok(broker.topics().by_name(own).cloned());
        }
        let Ok(live) = self.queues.live(broker, queue) else {
            return Ok(None);
        };
        let made = self
            .queues
            .make_target(broker, &live, SourceKind::Dead)
            .await?;
        for partition in made.iter().flat_map(|topic| &topic.partitions) {
            let kind = SourceKind::Redrive;
            let source = self.queues.source(&live, kind, partition).await?;
            self.queues.begun(broker, &live, &source).await?;
        }
        Ok(made)
    }
}
