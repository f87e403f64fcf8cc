//! Receive: finds messages for a consumer in one queue or in several, waits for them if there are none, and hands them out.
//!
//! Why it exists: what can be handed out changes with new records, with those that come back or fall due, and with the queue's
//! settings; a wait is on all of these, of all the queues, with one timer, and holds no bytes.
//! Never: settles; decides what may go (the machine does).
//! In -> out: what a consumer wants -> messages that it holds.
//! Invariants: QUE-1, QUE-3, QUE-4, LOG-2, OPS-1 (bytes count against the budget of fetches).   Read next: `piece.rs`, `take.rs`.

use super::Queues;
use super::begin::Source;
use super::live::Live;
use super::receipt::Handed;
use super::types::{Message, MessageId, QueueError, Receive, Received};
use crate::broker::Broker;
use crate::fetch_budget::FetchMemory;
use crate::seats::Seated;
use crate::topics_view::TopicsView;
use crate::waiters::FetchWaiter;
use fanlog_coordinators::queue::{Claim, Input, Outcome, QueueKey, Settle};
use fanlog_model::{GroupId, Offset, PartitionIndex, TopicId};
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::time::Instant;
use uuid::Uuid;

/// The most messages of one answer.
pub(super) const RECORDS_MAX: usize = 10_000;

/// The longest name of a consumer, in bytes: it is logged while it holds something.
const CONSUMER_BYTES_MAX: usize = 256;

/// How long a receive waits for its turn and for memory at least: others have them for moments only, and who asks without a wait is to
/// get what there is.
const PATIENCE_MIN: Duration = Duration::from_secs(1);

/// A partition that is looked at.
pub(super) struct Target {
    /// Which of the queues reads it, and that queue as it is now.
    queue: usize,
    pub(super) live: Arc<Live>,
    pub(super) source: Source,
    pub(super) seated: Seated<QueueKey>,
    tickets: Option<(u64, u64)>,
}

impl Drop for Target {
    fn drop(&mut self) {
        if let Some((of_log, of_state)) = self.tickets {
            self.source.partition.watchers().unwatch(of_log);
            self.seated.seat().watchers.unwatch(of_state);
        }
    }
}

/// A record that was taken.
pub(super) struct Hold {
    live: Arc<Live>,
    pub(super) source: Source,
    pub(super) offset: Offset,
    grant: u64,
}

/// The partitions that were looked at, of which topics and of which lives of the queues.
struct Seen {
    topics: Arc<TopicsView>,
    ids: Vec<Option<Uuid>>,
    targets: Vec<Target>,
}

/// One receive under way.
pub(super) struct Receiving<'a> {
    pub(super) queues: &'a Arc<Queues>,
    pub(super) broker: Arc<Broker>,
    names: Vec<GroupId>,
    pub(super) wanted: Receive,
    /// Under which name a consumer without one takes records where keys have an order.
    pub(super) nobody: Arc<str>,
    pub(super) messages: Vec<Message>,
    pub(super) memory: FetchMemory,
    /// Until when it waits for its turn at a partition and for memory.
    pub(super) patience: Instant,
    pub(super) bytes_left: usize,
    /// Nothing more goes into this answer.
    pub(super) is_full: bool,
    /// Why a partition gives nothing.
    failure: Option<QueueError>,
    pub(super) held: Vec<Hold>,
    /// The partitions that are asked for; all, if none are named.
    only: Option<HashSet<(TopicId, PartitionIndex)>>,
}

/// Who goes away before the answer has not had the messages.
impl Drop for Receiving<'_> {
    fn drop(&mut self) {
        let held = std::mem::take(&mut self.held);
        for hold in held {
            let Hold { live, source, .. } = &hold;
            let item = Settle {
                offset: hold.offset,
                claim: Claim::Grant(hold.grant),
                outcome: Outcome::Release { delay: None },
            };
            let policy = self
                .queues
                .policy(&self.broker, live, source.kind, source.key.partition);
            let released = Input::Settle {
                items: &[item],
                is_atomic: false,
            };
            if let Err(error) = source.shard.decide(&source.key, &policy, released) {
                tracing::debug!(queue = %live.name(), %error, "messages come back when their locks run out");
            }
        }
    }
}

impl Queues {
    /// Hands messages to a consumer, waiting for the first one as it asks.
    ///
    /// # Errors
    /// There is no such queue, or its state cannot be read or written.
    pub async fn receive(
        self: &Arc<Self>,
        queue: &GroupId,
        wanted: Receive,
    ) -> Result<Received, QueueError> {
        self.receive_any(std::slice::from_ref(queue), wanted).await
    }

    /// Hands a consumer messages of several queues, waiting for the first one of any. A queue that is not there is passed over while
    /// another one is. Without a name of its own, the consumer is somebody new with each receive.
    ///
    /// # Errors
    /// There is none of the queues, or their state cannot be read or written.
    pub async fn receive_any(
        self: &Arc<Self>,
        queues: &[GroupId],
        wanted: Receive,
    ) -> Result<Received, QueueError> {
        check_wanted(&wanted)?;
        let broker = self.broker()?;
        broker.room().await;
        let mut receiving = Receiving::new(self, broker, queues.to_vec(), wanted, None);
        receiving.run().await?;
        // The consumer has them from here on.
        receiving.held.clear();
        Ok(Received {
            messages: std::mem::take(&mut receiving.messages),
            memory: std::mem::replace(&mut receiving.memory, FetchMemory::none()),
        })
    }
}

fn check_wanted(wanted: &Receive) -> Result<(), QueueError> {
    if wanted.consumer.len() > CONSUMER_BYTES_MAX {
        return Err(QueueError::Limit {
            what: "the length of a consumer's name",
            given: i64::try_from(wanted.consumer.len()).unwrap_or(i64::MAX),
            min: 0,
            max: CONSUMER_BYTES_MAX as i64,
        });
    }
    if !(1..=RECORDS_MAX).contains(&wanted.records_max) {
        return Err(QueueError::Limit {
            what: "the number of messages",
            given: i64::try_from(wanted.records_max).unwrap_or(i64::MAX),
            min: 1,
            max: RECORDS_MAX as i64,
        });
    }
    Ok(())
}

impl<'a> Receiving<'a> {
    pub(super) fn new(
        queues: &'a Arc<Queues>,
        broker: Arc<Broker>,
        names: Vec<GroupId>,
        wanted: Receive,
        only: Option<HashSet<(TopicId, PartitionIndex)>>,
    ) -> Self {
        Self {
            queues,
            names,
            nobody: queues.nobody(&broker),
            messages: Vec::new(),
            memory: FetchMemory::none(),
            bytes_left: wanted.bytes_max.min(broker.budget.bytes_max()).max(1),
            is_full: false,
            failure: None,
            patience: Instant::now() + wanted.wait_max.max(PATIENCE_MIN),
            held: Vec::new(),
            only,
            broker,
            wanted,
        }
    }
}

impl Receiving<'_> {
    pub(super) async fn run(&mut self) -> Result<(), QueueError> {
        let waiter = Arc::new(FetchWaiter::default());
        let until = Instant::now() + self.wanted.wait_max;
        let mut is_last = self.wanted.wait_max.is_zero();
        let mut seen: Option<Seen> = None;
        loop {
            // Settings may have changed, and a queue or a topic may be gone, or have more partitions.
            let lives = self.lives()?;
            let topics = self.broker.topics();
            let ids: Vec<_> = lives
                .iter()
                .map(|live| live.as_ref().map(|live| live.queue.id))
                .collect();
            let mut now = match seen.take() {
                Some(known) if Arc::ptr_eq(&known.topics, &topics) && known.ids == ids => known,
                _ => Seen {
                    targets: self
                        .targets(&lives, &topics, (!is_last).then_some(&waiter))
                        .await?,
                    topics,
                    ids,
                },
            };
            for target in &mut now.targets {
                if let Some(live) = &lives[target.queue] {
                    target.live = live.clone();
                }
            }
            self.failure = None;
            self.is_full = false;
            self.take_from_all(&now.targets).await;
            if !self.messages.is_empty() {
                return Ok(());
            }
            if is_last {
                return self.failure.take().map_or(Ok(()), Err);
            }
            // What came before it was watched for wakes nobody.
            let is_old = !Arc::ptr_eq(&now.topics, &self.broker.topics());
            seen = Some(now);
            if is_old {
                continue;
            }
            let changed = tokio::time::timeout_at(until, waiter.changed()).await;
            is_last = changed.is_err();
        }
    }

    /// The queues as they are now; none for one that is not there.
    fn lives(&self) -> Result<Vec<Option<Arc<Live>>>, QueueError> {
        let live = |name| self.queues.live(&self.broker, name);
        let lives: Vec<_> = self.names.iter().map(live).collect();
        let is_any_there = lives.iter().any(Result::is_ok);
        match lives.iter().find_map(|live| live.as_ref().err()) {
            Some(error) if !is_any_there => Err(error.clone()),
            _ => Ok(lives.into_iter().map(Result::ok).collect()),
        }
    }

    /// The partitions that are handed out; another one first each time.
    async fn targets(
        &self,
        lives: &[Option<Arc<Live>>],
        topics: &TopicsView,
        waiter: Option<&Arc<FetchWaiter>>,
    ) -> Result<Vec<Target>, QueueError> {
        let mut targets = Vec::new();
        let there = lives.iter().enumerate();
        let there = there.filter_map(|(at, live)| Some((at, live.as_ref()?)));
        for (queue, live) in there.clone() {
            let sources = live.sources(topics);
            let handed_out = sources.iter().filter(|(kind, _)| kind.is_handed_out());
            for (kind, topic) in handed_out {
                for partition in &topic.partitions {
                    let place = (topic.id, partition.index());
                    let is_asked = |only: &HashSet<_>| only.contains(&place);
                    if !self.only.as_ref().is_none_or(is_asked) {
                        continue;
                    }
                    let source = self.queues.source(live, *kind, partition).await?;
                    let seated = self.queues.seats.take(&source.key);
                    // Before the first look, so that no change is missed.
                    let tickets = waiter.map(|waiter| {
                        let of_log = source.partition.watchers().watch(waiter, 0);
                        (of_log, seated.seat().watchers.watch(waiter, 0))
                    });
                    targets.push(Target {
                        queue,
                        live: live.clone(),
                        source,
                        seated,
                        tickets,
                    });
                }
            }
        }
        if let Some((_, live)) = there.clone().next()
            && !targets.is_empty()
        {
            let first = live.kept.first.fetch_add(1, Ordering::Relaxed);
            let count = targets.len();
            targets.rotate_left(first % count);
        }
        Ok(targets)
    }

    async fn take_from_all(&mut self, targets: &[Target]) {
        for target in targets {
            if let Err(error) = self.take(target).await {
                tracing::debug!(queue = %target.live.name(), partition = %target.source.partition.folder(), %error, "a partition gives no messages");
                self.failure.get_or_insert(error);
            }
            if self.is_full || self.left() == 0 || self.bytes_left == 0 {
                return;
            }
        }
    }

    /// How many messages may still be given.
    pub(super) fn left(&self) -> usize {
        self.wanted.records_max - self.messages.len()
    }

    /// A record is the consumer's from now on, unless the answer does not come about.
    pub(super) fn hold(&mut self, target: &Target, handed: Handed, message: Message) {
        self.held.push(Hold {
            live: target.live.clone(),
            source: target.source.clone(),
            offset: handed.offset,
            grant: handed.grant,
        });
        self.messages.push(message);
    }

    pub(super) fn id_of(source: &Source, offset: Offset) -> MessageId {
        MessageId {
            topic: source.partition.topic().clone(),
            partition: source.key.partition,
            offset,
        }
    }
}
