//! Dead letters are delivered again, or given up for good.
//!
//! Why it exists: what failed may succeed once its cause is gone. A redrive goes the way of every move, once and only once; what was
//! redriven too often stays (the loop guard), so that a message that always fails does not go round for ever.
//! In -> out: which dead letters -> `Input::Move` or `Input::Cancel` on their partitions; notes in the audit topic.
//! A redrive with a rate goes on behind its answer; a restart ends it, and what it did not reach stays where it is.

use super::Queues;
use super::begin::Source;
use super::dead_headers::{borrowed, redrives};
use super::dead_types::{DeadDone, DeadSelection, Redrive};
use super::live::{Live, SourceKind};
use super::take::OneRecord;
use super::types::{MessageId, QueueError};
use crate::broker::Broker;
use fanlog_coordinators::filter::Filter;
use fanlog_coordinators::queue::{Input, Reply};
use fanlog_model::settings::FilterScope;
use fanlog_model::{GroupId, Offset};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

/// How many are moved or given up in one decision.
const AT_ONCE: usize = 500;

/// What was chosen of one partition.
struct Chosen {
    source: Source,
    offsets: Vec<Offset>,
}

/// Which dead letters are meant.
enum Choice {
    All,
    Ids(HashMap<(String, i32), HashSet<i64>>),
    Filter(Box<Filter>),
}

impl Queues {
    /// Delivers dead letters again; without a rate the answer comes when all have arrived.
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
        let (mut done, chosen) = self
            .choose(&broker, &live, redrive.which, redrive.redrives_max)
            .await?;
        if redrive.is_dry_run || chosen.is_empty() {
            return Ok(done);
        }
        self.make_target(&broker, &live, SourceKind::Dead).await?;
        let Some(rate) = redrive.rate else {
            for chosen in &chosen {
                done.done += self.redrive_some(&live, chosen, None).await?;
            }
            for chosen in &chosen {
                self.arrived(chosen).await?;
            }
            return Ok(done);
        };
        done.done = chosen
            .iter()
            .map(|chosen| chosen.offsets.len() as u64)
            .sum();
        done.goes_on = true;
        let queues = self.clone();
        tokio::spawn(async move {
            for chosen in &chosen {
                if let Err(error) = queues.redrive_some(&live, chosen, Some(rate.max(1))).await {
                    tracing::warn!(queue = %live.name(), %error, "a redrive ends early; what is left stays a dead letter");
                    return;
                }
            }
        });
        Ok(done)
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
        let (mut done, chosen) = self.choose(&broker, &live, which, u32::MAX).await?;
        for Chosen { source, offsets } in &chosen {
            for offsets in offsets.chunks(AT_ONCE) {
                let notes = offsets.iter().map(|offset| {
                    serde_json::json!({
                        "event": "discard",
                        "at": self.now_ms().0,
                        "queue": queue.as_str(),
                        "from": format!("{}/{}/{offset}", source.partition.topic(), source.key.partition),
                    })
                });
                let notes: Vec<_> = notes.collect();
                // Noted first: what is gone without a note would be gone in silence.
                self.note(&broker, queue.as_str(), &notes).await?;
                done.done += self
                    .decide_on(&live, source, Input::Cancel(offsets))
                    .await?;
            }
        }
        Ok(done)
    }

    async fn redrive_some(
        self: &Arc<Self>,
        live: &Live,
        chosen: &Chosen,
        rate: Option<u32>,
    ) -> Result<u64, QueueError> {
        let at_once = rate.map_or(AT_ONCE, |rate| (rate as usize).min(AT_ONCE));
        let mut moved = 0;
        for (turn, offsets) in chosen.offsets.chunks(at_once).enumerate() {
            if let Some(rate) = rate.filter(|_| turn > 0) {
                let pause = at_once as f64 / f64::from(rate);
                tokio::time::sleep(Duration::from_secs_f64(pause)).await;
            }
            moved += self
                .decide_on(live, &chosen.source, Input::Move(offsets))
                .await?;
        }
        Ok(moved)
    }

    /// Decides, durably; on how many records it had an effect.
    async fn decide_on(
        self: &Arc<Self>,
        live: &Live,
        source: &Source,
        input: Input<'_>,
    ) -> Result<u64, QueueError> {
        let broker = self.broker()?;
        let policy = self.policy(&broker, live, source.kind, source.key.partition);
        let decided = source.shard.decide(&source.key, &policy, input)?;
        match source.shard.durable(decided).await? {
            Reply::Taken(taken) => Ok(taken.into_iter().filter(|taken| *taken).count() as u64),
            other => unreachable!("a machine answers in kind, not with {other:?}"),
        }
    }

    /// Waits until what was to be moved has arrived, or can't for now.
    async fn arrived(&self, chosen: &Chosen) -> Result<(), QueueError> {
        let Source { shard, key, .. } = &chosen.source;
        loop {
            let progress = self.movers.progress.notified();
            let mut progress = std::pin::pin!(progress);
            progress.as_mut().enable();
            if shard.look(key, |ledger, _, _| ledger.moving_count())? == 0 {
                return Ok(());
            }
            if let Some(hindrance) = self.movers.hindrance(key) {
                return Err(super::begin::not_available(&hindrance));
            }
            progress.await;
        }
    }

    async fn choose(
        self: &Arc<Self>,
        broker: &Arc<Broker>,
        live: &Arc<Live>,
        which: DeadSelection,
        redrives_max: u32,
    ) -> Result<(DeadDone, Vec<Chosen>), QueueError> {
        let choice = Choice::of(which)?;
        let mut done = DeadDone::default();
        let mut all = Vec::new();
        let Some(topic) = self.dead_topic(broker, live) else {
            return Ok((done, all));
        };
        for partition in &topic.partitions {
            let source = self.source(live, SourceKind::Dead, partition).await?;
            let mut offsets = Vec::new();
            let (first, last) = choice.bounds(&source);
            let mut from = Some(first);
            while let Some(at) = from.filter(|at| *at <= last) {
                let walked = self.walk(broker, live, &source, at).await?;
                for (offset, record) in walked.letters {
                    if !choice.is_meant(&source, offset, &record) {
                        continue;
                    }
                    done.chosen += 1;
                    match redrives(&record.headers) >= redrives_max {
                        true => done.guarded += 1,
                        false => offsets.push(offset),
                    }
                }
                from = walked.next;
            }
            if !offsets.is_empty() {
                all.push(Chosen { source, offsets });
            }
        }
        Ok((done, all))
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
