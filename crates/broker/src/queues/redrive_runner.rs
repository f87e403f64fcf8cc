//! Works at a redrive in the background, piece by piece.
//!
//! What is moved is gone from the dead letters by the queue's own books, so that nobody has to note how far it is: who goes on after a
//! restart finds what is left. What can't be done now is tried again; what can never be done ends it.
//! In -> out: a job -> moves at its rate, and how it ended.
//! Invariants: QUE-2.

use super::Queues;
use super::begin::{Source, not_available};
use super::cancel::no_room;
use super::dead_types::RedriveState;
use super::live::Live;
use super::redrive::{AT_ONCE, Choosing, those_taken};
use super::redrive_jobs::Running;
use super::redrive_record::{RedriveRecord, SPACE};
use super::types::QueueError;
use crate::broker::Broker;
use fanlog_coordinators::catalog::Document;
use fanlog_coordinators::queue::{Input, Taken};
use fanlog_model::Offset;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// How long what can't be done now waits for its next try: at first, and at most.
const WAIT_MIN: Duration = Duration::from_millis(100);
const WAIT_MAX: Duration = Duration::from_secs(30);
/// How long it waits for arrivals until it looks whether it was cancelled.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// What comes next.
enum Step {
    /// More, after this pause.
    Pause(Duration),
    /// All is moved, or it was cancelled, or it can't go on.
    Over(RedriveState, Option<String>),
    /// The queue is gone, or the broker.
    Gone,
}

/// What is known between two steps.
#[derive(Default)]
struct Progress {
    choosing: Option<Choosing>,
    /// Chosen, and not decided upon yet.
    chosen: VecDeque<Offset>,
    of: Option<Source>,
    /// Whether what was moved before is counted.
    is_counted: bool,
}

impl Queues {
    pub(super) fn run_redrive(self: &Arc<Self>, job: Arc<Running>, is_new: bool) {
        let weak = Arc::downgrade(self);
        tokio::spawn(async move {
            let mut progress = Progress {
                is_counted: is_new,
                ..Progress::default()
            };
            let mut wait = WAIT_MIN;
            // Nothing keeps the broker alive through a pause.
            while let Some(queues) = weak.upgrade() {
                let pause = match queues.redrive_step(&job, &mut progress).await {
                    Ok(Step::Pause(pause)) => {
                        wait = WAIT_MIN;
                        *job.hindrance.lock() = None;
                        pause
                    }
                    Ok(Step::Over(..) | Step::Gone) => {
                        queues.redrives.running.lock().remove(&job.id);
                        return;
                    }
                    Err(error) => {
                        progress.choosing = None;
                        progress.chosen.clear();
                        *job.hindrance.lock() = Some(error.to_string().into());
                        if wait == WAIT_MIN {
                            tracing::warn!(redrive = %job.id, %error, "a redrive waits");
                        }
                        if !queues.shards.has_timers() || queues.broker().is_err() {
                            // The next tick tries again, or the next start.
                            queues.redrives.running.lock().remove(&job.id);
                            return;
                        }
                        let pause = wait;
                        wait = (wait * 2).min(WAIT_MAX);
                        pause
                    }
                };
                drop(queues);
                if !pause.is_zero() {
                    let cancelled = tokio::time::timeout(pause, job.wake.notified());
                    // Whether it was is looked at below.
                    let _ = cancelled.await;
                }
            }
        });
    }

    /// Moves some, or ends it; durably.
    async fn redrive_step(
        self: &Arc<Self>,
        job: &Running,
        progress: &mut Progress,
    ) -> Result<Step, QueueError> {
        let broker = self.broker()?;
        let Some((document, record)) = self.record_of(&broker, job) else {
            return Ok(Step::Gone);
        };
        let live = match self.live(&broker, &record.queue) {
            Ok(live) if live.queue.id == job.incarnation => live,
            // Its records are forgotten with the next start.
            Ok(_) | Err(QueueError::NoSuchQueue { .. }) => return Ok(Step::Gone),
            Err(error) => return Err(error),
        };
        let is_cancelled = record.state == RedriveState::Cancelling;
        let step = match is_cancelled || job.is_cancelled.load(Ordering::Acquire) {
            true => {
                self.count_moved(&broker, &live, job, &record, progress)
                    .await?;
                Step::Over(RedriveState::Cancelled, None)
            }
            false => {
                self.redrive_some(&broker, &live, job, &record, progress)
                    .await?
            }
        };
        if let Step::Over(state, reason) = &step {
            let over = RedriveRecord {
                state: *state,
                ended: Some(self.now_ms()),
                moved: job.moved.load(Ordering::Relaxed),
                reason: reason.clone(),
                ..record
            };
            let documents = broker.documents();
            let (name, version) = (job.name(), Some(document.version));
            let put = documents.put(SPACE, &name, version, over.encode().into());
            // Where it was cancelled in this moment, the next try sees that.
            put.await.map_err(|error| not_available(&error))?;
            tracing::info!(queue = %live.name(), redrive = %job.id, state = state.name(), moved = over.moved, "a redrive is over");
        }
        Ok(step)
    }

    fn record_of(
        &self,
        broker: &Arc<Broker>,
        job: &Running,
    ) -> Option<(Arc<Document>, RedriveRecord)> {
        let document = broker.documents().get(SPACE, &job.name())?;
        let record = RedriveRecord::decode(&document.bytes)?;
        (!record.state.is_over()).then_some((document, record))
    }

    /// What is meant and still there.
    async fn left(
        self: &Arc<Self>,
        broker: &Arc<Broker>,
        live: &Arc<Live>,
        record: &RedriveRecord,
    ) -> Result<Choosing, QueueError> {
        let which = record.which.clone();
        let left = self.choosing(broker, live, which, record.redrives_max);
        let mut left = left.await?;
        left.named.clear();
        left.places.retain_mut(|place| {
            let last = record.last.get(&place.source.key.partition);
            place.last = place.last.min(last.copied().unwrap_or(Offset(-1)));
            last.is_some()
        });
        Ok(left)
    }

    /// After a restart: what was to be moved and is not there any more was moved.
    async fn count_moved(
        self: &Arc<Self>,
        broker: &Arc<Broker>,
        live: &Arc<Live>,
        job: &Running,
        record: &RedriveRecord,
        progress: &mut Progress,
    ) -> Result<(), QueueError> {
        if !progress.is_counted {
            let mut left = self.left(broker, live, record).await?;
            let left = self.count_chosen(broker, live, &mut left).await?;
            let moved = record.to_move.saturating_sub(left);
            job.moved.store(moved, Ordering::Relaxed);
            progress.is_counted = true;
        }
        Ok(())
    }

    async fn redrive_some(
        self: &Arc<Self>,
        broker: &Arc<Broker>,
        live: &Arc<Live>,
        job: &Running,
        record: &RedriveRecord,
        progress: &mut Progress,
    ) -> Result<Step, QueueError> {
        let topic = self.dead_topic(broker, live);
        if topic.map(|topic| topic.id) != record.topic.as_ref().map(|(id, _)| *id) {
            let reason = "the queue's dead letters are in another topic now".to_owned();
            return Ok(Step::Over(RedriveState::Failed, Some(reason)));
        }
        self.count_moved(broker, live, job, record, progress)
            .await?;
        if progress.choosing.is_none() {
            progress.choosing = Some(self.left(broker, live, record).await?);
        }
        let choosing = progress.choosing.as_mut().expect("it was just made");
        if progress.chosen.is_empty() {
            match self.choose(broker, live, choosing).await? {
                Some(chosen) => {
                    progress.chosen = chosen.offsets.into();
                    progress.of = Some(chosen.source);
                }
                None => return self.all_arrived(broker, live, record).await,
            }
        }
        let at_once = record.rate.map_or(AT_ONCE, |rate| rate as usize);
        let count = at_once.clamp(1, AT_ONCE).min(progress.chosen.len());
        let offsets: Vec<_> = progress.chosen.drain(..count).collect();
        let source = progress
            .of
            .as_ref()
            .expect("it is there with what was chosen");
        let taken = self.decide_on(live, source, Input::Move(&offsets)).await?;
        let moved = those_taken(&offsets, &taken).count() as u64;
        job.moved.fetch_add(moved, Ordering::Relaxed);
        if taken.contains(&Taken::NoTarget) {
            let reason = "there is no topic to which dead letters could come back".to_owned();
            return Ok(Step::Over(RedriveState::Failed, Some(reason)));
        }
        if taken.contains(&Taken::NoRoom) {
            return Err(no_room());
        }
        let pause = record
            .rate
            .map_or(0.0, |rate| count as f64 / f64::from(rate));
        Ok(Step::Pause(Duration::from_secs_f64(pause)))
    }

    /// Waits until all that is being moved is where it goes.
    async fn all_arrived(
        self: &Arc<Self>,
        broker: &Arc<Broker>,
        live: &Arc<Live>,
        record: &RedriveRecord,
    ) -> Result<Step, QueueError> {
        for place in self.left(broker, live, record).await?.places {
            let (key, shard) = (&place.source.key, &place.source.shard);
            let arrived = self.movers.progress.notified();
            let mut arrived = std::pin::pin!(arrived);
            arrived.as_mut().enable();
            if shard.look(key, |ledger, _, _| ledger.moving_count())? == 0 {
                continue;
            }
            if let Some(hindrance) = self.movers.hindrance(key) {
                return Err(not_available(&hindrance));
            }
            // It is looked at again at the next step, which also sees that it was cancelled.
            let _ = tokio::time::timeout(LOOK_AGAIN, arrived).await;
            return Ok(Step::Pause(Duration::ZERO));
        }
        Ok(Step::Over(RedriveState::Completed, None))
    }
}
