//! Dead letters are delivered again, or given up for good.
//!
//! Why it exists: what failed may succeed once its cause is gone. A redrive goes the way of every move, once and only once; what was
//! redriven too often stays (the loop guard), so that a message that always fails does not go round for ever.
//! In -> out: which dead letters -> `Input::Move` or `Input::Cancel` on their partitions; notes in the audit topic.
//! A redrive with a rate goes on behind its answer, as a job (`redrive_jobs.rs`).

use super::Queues;
use super::begin::{Source, not_available};
use super::cancel::no_room;
use super::dead_headers::{borrowed, redrives};
use super::dead_types::{DeadDone, DeadSelection, Redrive};
use super::live::{Live, SourceKind};
use super::take::{OneRecord, readable_end};
use super::types::{MessageId, QueueError};
use crate::broker::Broker;
use fanlog_coordinators::filter::Filter;
use fanlog_coordinators::queue::{Input, QueueKey, Reply, State, Taken};
use fanlog_model::settings::FilterScope;
use fanlog_model::{GroupId, Offset};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

/// How many are moved or given up in one decision.
pub(super) const AT_ONCE: usize = 500;
/// How long a redrive without a rate waits until all have arrived.
const ARRIVAL_MAX: Duration = Duration::from_secs(30);

/// Dead letters that are chosen piece by piece, so that no more than a piece is in memory.
#[derive(Clone)]
pub(super) struct Choosing {
    choice: Arc<Choice>,
    redrives_max: u32,
    /// Where there may be more, the last place first.
    pub(super) places: Vec<Place>,
    /// Those asked for by name that were not found yet.
    pub(super) named: BTreeSet<MessageId>,
    pub(super) done: DeadDone,
}

#[derive(Clone)]
pub(super) struct Place {
    pub(super) source: Source,
    from: Offset,
    pub(super) last: Offset,
}

/// What was chosen of one piece of a partition.
pub(super) struct Chosen {
    pub(super) source: Source,
    pub(super) offsets: Vec<Offset>,
}

/// Which dead letters are meant.
enum Choice {
    All,
    Ids(HashMap<(String, i32), HashSet<i64>>),
    Filter(Box<Filter>),
}

impl Queues {
    /// Delivers dead letters again; without a rate the answer comes when all have arrived, or says that some are still on their way.
    ///
    /// # Errors
    /// There is no such queue, or its dead letters cannot be read.
    pub async fn redrive(
        self: &Arc<Self>,
        queue: &GroupId,
        redrive: Redrive,
    ) -> Result<DeadDone, QueueError> {
        let broker = self.broker()?;
        let live = self.live(&broker, queue)?;
        if redrive.rate.is_none() && !redrive.is_dry_run {
            let (which, redrives_max) = (redrive.which, redrive.redrives_max);
            let choosing = self.choosing(&broker, &live, which, redrives_max).await?;
            return self.redrive_now(&broker, &live, choosing).await;
        }
        if !redrive.is_dry_run {
            return Ok(self.start_redrive(queue, redrive).await?.1);
        }
        let mut choosing = self
            .choosing(&broker, &live, redrive.which, redrive.redrives_max)
            .await?;
        self.count_chosen(&broker, &live, &mut choosing).await?;
        Ok(choosing.done)
    }

    /// Gives dead letters up for good.
    ///
    /// # Errors
    /// There is no such queue, or its dead letters cannot be read.
    pub async fn discard(
        self: &Arc<Self>,
        queue: &GroupId,
        which: DeadSelection,
    ) -> Result<DeadDone, QueueError> {
        let broker = self.broker()?;
        let live = self.live(&broker, queue)?;
        let mut choosing = self.choosing(&broker, &live, which, u32::MAX).await?;
        while let Some(chosen) = self.choose(&broker, &live, &mut choosing).await? {
            let source = &chosen.source;
            for offsets in chosen.offsets.chunks(AT_ONCE) {
                let taken = self
                    .decide_on(&live, source, Input::Cancel(offsets))
                    .await?;
                let gone: Vec<_> = those_taken(offsets, &taken).collect();
                choosing.done.done += gone.len() as u64;
                let notes = gone.iter().map(|offset| {
                    serde_json::json!({
                        "event": "discard",
                        "at": self.now_ms().0,
                        "queue": queue.as_str(),
                        "from": format!("{}/{}/{offset}", source.partition.topic(), source.key.partition),
                    })
                });
                self.movers.keep_notes(&source.key, notes.collect());
                if self.write_notes(&broker, &live, &source.key).await.is_err() {
                    // Tried again there.
                    self.start_mover(&source.key);
                }
                all_had_room(&taken, choosing.done.done)?;
            }
        }
        Ok(choosing.done)
    }

    async fn redrive_now(
        self: &Arc<Self>,
        broker: &Arc<Broker>,
        live: &Arc<Live>,
        mut choosing: Choosing,
    ) -> Result<DeadDone, QueueError> {
        let mut last_moves: HashMap<QueueKey, (Source, Offset)> = HashMap::new();
        let mut has_target = false;
        while let Some(Chosen { source, offsets }) =
            self.choose(broker, live, &mut choosing).await?
        {
            if !std::mem::replace(&mut has_target, true) {
                self.make_target(broker, live, SourceKind::Dead).await?;
            }
            for offsets in offsets.chunks(AT_ONCE) {
                let taken = self.decide_on(live, &source, Input::Move(offsets)).await?;
                let moves: Vec<_> = those_taken(offsets, &taken).collect();
                choosing.done.done += moves.len() as u64;
                if let Some(last) = moves.last() {
                    last_moves.insert(source.key.clone(), (source.clone(), *last));
                }
                all_had_room(&taken, choosing.done.done)?;
            }
        }
        let arrivals = async {
            for (source, last) in last_moves.values() {
                self.arrived(source, *last).await?;
            }
            Ok::<_, QueueError>(())
        };
        match self.shards.has_timers() {
            true => match tokio::time::timeout(ARRIVAL_MAX, arrivals).await {
                Ok(arrived) => arrived?,
                Err(_) => choosing.done.goes_on = true,
            },
            false => arrivals.await?,
        }
        Ok(choosing.done)
    }

    /// How many there are to be moved; the choice is at its end then.
    pub(super) async fn count_chosen(
        self: &Arc<Self>,
        broker: &Arc<Broker>,
        live: &Arc<Live>,
        choosing: &mut Choosing,
    ) -> Result<u64, QueueError> {
        let mut count = 0;
        while let Some(chosen) = self.choose(broker, live, choosing).await? {
            count += chosen.offsets.len() as u64;
        }
        Ok(count)
    }

    /// Decides, durably; what became of each.
    pub(super) async fn decide_on(
        self: &Arc<Self>,
        live: &Live,
        source: &Source,
        input: Input<'_>,
    ) -> Result<Vec<Taken>, QueueError> {
        let broker = self.broker()?;
        let policy = self.policy(&broker, live, source.kind, source.key.partition);
        let decided = source.shard.decide(&source.key, &policy, input)?;
        match source.shard.durable(decided).await? {
            Reply::Taken(taken) => Ok(taken),
            other => unreachable!("a machine answers in kind, not with {other:?}"),
        }
    }

    /// Waits until the last of what was to be moved has arrived (they go in order), or can't for now.
    async fn arrived(&self, source: &Source, last: Offset) -> Result<(), QueueError> {
        let Source { shard, key, .. } = source;
        loop {
            let progress = self.movers.progress.notified();
            let mut progress = std::pin::pin!(progress);
            progress.as_mut().enable();
            let state = shard.look(key, |ledger, _, _| ledger.state(last).0)?;
            if !matches!(state, State::Moving { .. }) {
                return Ok(());
            }
            if let Some(hindrance) = self.movers.hindrance(key) {
                return Err(not_available(&hindrance));
            }
            progress.await;
        }
    }

    /// What is there now, and nothing that comes later: what is redriven may come back.
    pub(super) async fn choosing(
        self: &Arc<Self>,
        broker: &Arc<Broker>,
        live: &Arc<Live>,
        which: DeadSelection,
        redrives_max: u32,
    ) -> Result<Choosing, QueueError> {
        let named: BTreeSet<_> = match &which {
            DeadSelection::Ids(ids) => ids.iter().cloned().collect(),
            DeadSelection::Filter { .. } | DeadSelection::All => BTreeSet::new(),
        };
        let choice = Choice::of(which)?;
        let mut places = Vec::new();
        if let Some(topic) = self.dead_topic(broker, live) {
            for partition in topic.partitions.iter().rev() {
                let source = self.source(live, SourceKind::Dead, partition).await?;
                let (from, last) = choice.bounds(&source);
                let last = last.min(Offset(readable_end(partition)?.0 - 1));
                places.push(Place { source, from, last });
            }
        }
        Ok(Choosing {
            choice: Arc::new(choice),
            redrives_max,
            places,
            named,
            done: DeadDone::default(),
        })
    }

    /// The next piece in which there are any; none at the end.
    pub(super) async fn choose(
        self: &Arc<Self>,
        broker: &Arc<Broker>,
        live: &Arc<Live>,
        choosing: &mut Choosing,
    ) -> Result<Option<Chosen>, QueueError> {
        while let Some(Place { source, from, last }) = choosing.places.pop() {
            if from > last {
                continue;
            }
            let walked = self.walk(broker, live, &source, from).await?;
            if let Some(next) = walked.next {
                let (source, from) = (source.clone(), next);
                choosing.places.push(Place { source, from, last });
            }
            let mut offsets = Vec::new();
            for (offset, record) in walked.letters {
                if offset > last || !choosing.choice.is_meant(&source, offset, &record) {
                    continue;
                }
                choosing.named.remove(&MessageId {
                    topic: source.partition.topic().clone(),
                    partition: source.key.partition,
                    offset,
                });
                choosing.done.chosen += 1;
                match redrives(&record.headers) >= choosing.redrives_max {
                    true => choosing.done.guarded += 1,
                    false => offsets.push(offset),
                }
            }
            if !offsets.is_empty() {
                return Ok(Some(Chosen { source, offsets }));
            }
        }
        let named = std::mem::take(&mut choosing.named);
        match named.first() {
            Some(id) if choosing.done.chosen == 0 => Err(QueueError::NoSuchMessage {
                id: id.clone(),
                reason: "the queue has no such dead letter".into(),
            }),
            _ => {
                choosing.done.not_found = named.into_iter().collect();
                Ok(None)
            }
        }
    }
}

pub(super) fn those_taken<'a>(
    offsets: &'a [Offset],
    taken: &'a [Taken],
) -> impl Iterator<Item = Offset> {
    let each = offsets.iter().zip(taken);
    each.filter(|(_, taken)| **taken == Taken::Taken)
        .map(|(offset, _)| *offset)
}

/// Refuses to go on where records stayed as they were.
fn all_had_room(taken: &[Taken], done: u64) -> Result<(), QueueError> {
    let refused = |one: &&Taken| matches!(one, Taken::NoRoom | Taken::NoTarget);
    match taken.iter().find(refused) {
        Some(Taken::NoTarget) => Err(not_available(&format!(
            "{done} dead letters are done, and the others stay: there is no topic any more to which they could go"
        ))),
        Some(_) => Err(not_available(&format!(
            "{done} dead letters are done, and the others stay: {}",
            no_room()
        ))),
        None => Ok(()),
    }
}

impl Choice {
    fn of(which: DeadSelection) -> Result<Self, QueueError> {
        Ok(match which {
            DeadSelection::All => Self::All,
            DeadSelection::Ids(ids) => {
                let mut by_partition: HashMap<_, HashSet<i64>> = HashMap::new();
                for MessageId {
                    topic,
                    partition,
                    offset,
                } in ids
                {
                    let of = (topic.to_string(), partition.0);
                    by_partition.entry(of).or_default().insert(offset.0);
                }
                Self::Ids(by_partition)
            }
            DeadSelection::Filter {
                policy,
                is_over_body,
            } => {
                let scope = match is_over_body {
                    true => FilterScope::Body,
                    false => FilterScope::Headers,
                };
                let filter = Filter::parse(&policy, scope);
                let filter = filter.map_err(|error| QueueError::BadSetting {
                    setting: "filter".into(),
                    value: policy.into(),
                    reason: error.to_string().into(),
                })?;
                Self::Filter(Box::new(filter))
            }
        })
    }

    /// The first and the last offset that may be meant in a partition.
    fn bounds(&self, source: &Source) -> (Offset, Offset) {
        match self {
            Self::All | Self::Filter(_) => (Offset::ZERO, Offset(i64::MAX)),
            Self::Ids(ids) => {
                let ids = ids.get(&place_of(source));
                let bounds = ids.and_then(|ids| ids.iter().min().zip(ids.iter().max()));
                // Of no other partition anything is meant.
                bounds.map_or((Offset(1), Offset::ZERO), |(first, last)| {
                    (Offset(*first), Offset(*last))
                })
            }
        }
    }

    fn is_meant(&self, source: &Source, offset: Offset, record: &OneRecord) -> bool {
        match self {
            Self::All => true,
            Self::Ids(ids) => ids
                .get(&place_of(source))
                .is_some_and(|offsets| offsets.contains(&offset.0)),
            Self::Filter(filter) => {
                let headers = borrowed(&record.headers);
                filter.matches(headers.into_iter(), record.value.as_deref())
            }
        }
    }
}

fn place_of(source: &Source) -> (String, i32) {
    (source.partition.topic().to_string(), source.key.partition.0)
}
