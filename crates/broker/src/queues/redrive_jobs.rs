//! Redrives in the background: started, listed, cancelled; each survives a restart.
//!
//! Why it exists: a redrive at a rate takes its time, and whoever asked for it wants to know how far it is, and to stop it.
//! Owns: the documents of all redrives, which of them somebody works at.   Never: moves anything (`redrive_runner.rs`).
//! In -> out: a redrive -> a job, durable when answered, and a task that works at it.

use super::Queues;
use super::begin::not_available;
use super::dead_types::{DeadDone, Redrive, RedriveJob, RedriveState};
use super::live::{Live, SourceKind};
use super::redrive_record::{RedriveRecord, SPACE, ids_of, name_of};
use super::types::QueueError;
use crate::broker::Broker;
use fanlog_coordinators::catalog::{DOCUMENT_BYTES_MAX, Document};
use fanlog_model::GroupId;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tokio::sync::Notify;
use uuid::Uuid;

/// How many redrives a queue remembers, the one under way among them.
const REMEMBERED_MAX: usize = 10;

/// Those that somebody works at.
#[derive(Debug, Default)]
pub(super) struct Redrives {
    pub(super) running: Mutex<HashMap<Uuid, Arc<Running>>>,
}

/// What is known of a redrive beside its record while somebody works at it.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) id: Uuid,
    /// Of the queue.
    pub(super) incarnation: Uuid,
    pub(super) moved: AtomicU64,
    pub(super) is_cancelled: AtomicBool,
    /// It was cancelled.
    pub(super) wake: Notify,
    pub(super) hindrance: Mutex<Option<Arc<str>>>,
}

impl Running {
    pub(super) fn name(&self) -> String {
        name_of(self.incarnation, self.id)
    }
}

impl Queues {
    /// Delivers dead letters again in the background, at a rate or as fast as it goes; the answer comes once that is durable.
    ///
    /// # Errors
    /// There is no such queue, its dead letters cannot be read, or a redrive of it is under way.
    pub async fn start_redrive(
        self: &Arc<Self>,
        queue: &GroupId,
        redrive: Redrive,
    ) -> Result<(RedriveJob, DeadDone), QueueError> {
        let broker = self.broker()?;
        let live = self.live(&broker, queue)?;
        let which = redrive.which.clone();
        let choosing = self.choosing(&broker, &live, which, redrive.redrives_max);
        let mut choosing = choosing.await?;
        let last = choosing.places.iter();
        let last = last.map(|place| (place.source.key.partition, place.last));
        let last = last.collect();
        let count = self.count_chosen(&broker, &live, &mut choosing).await?;
        if count > 0 {
            self.make_target(&broker, &live, SourceKind::Dead).await?;
        }
        let topic = self.dead_topic(&broker, &live);
        let record = RedriveRecord {
            queue: queue.clone(),
            topic: topic.map(|topic| (topic.id, topic.name.clone())),
            last,
            which: redrive.which,
            rate: redrive.rate.map(|rate| rate.max(1)),
            redrives_max: redrive.redrives_max,
            state: match count {
                0 => RedriveState::Completed,
                _ => RedriveState::Running,
            },
            started: self.now_ms(),
            ended: (count == 0).then(|| self.now_ms()),
            to_move: count,
            moved: 0,
            reason: None,
        };
        let id = broker.environment().entropy.uuid();
        self.put_new(&broker, &live, id, &record).await?;
        if count > 0 {
            self.work_at(live.queue.id, id, true);
        }
        let done = DeadDone {
            done: count,
            goes_on: count > 0,
            job: Some(id),
            ..choosing.done
        };
        Ok((self.shown(id, &record), done))
    }

    async fn put_new(
        self: &Arc<Self>,
        broker: &Arc<Broker>,
        live: &Live,
        id: Uuid,
        record: &RedriveRecord,
    ) -> Result<(), QueueError> {
        let bytes = record.encode();
        if bytes.len() > DOCUMENT_BYTES_MAX {
            return Err(QueueError::Limit {
                what: "the length of what says which dead letters are meant",
                given: i64::try_from(bytes.len()).unwrap_or(i64::MAX),
                min: 0,
                max: DOCUMENT_BYTES_MAX as i64,
            });
        }
        // One at a time looks whether there is one.
        let _changing = self.changing.lock().await;
        let mut known = self.redrives_of(broker, live.queue.id);
        if let Some((id, _, _)) = known.iter().find(|(_, _, one)| !one.state.is_over()) {
            return Err(QueueError::RedriveUnderWay {
                queue: live.name().clone(),
                id: id.to_string().into(),
            });
        }
        known.sort_by_key(|(id, _, one)| (one.started, *id));
        let over = known.len().saturating_sub(REMEMBERED_MAX - 1);
        let documents = broker.documents();
        for (id, document, _) in known.into_iter().take(over) {
            let name = name_of(live.queue.id, id);
            let forgotten = documents.delete(SPACE, &name, document.version).await;
            forgotten.map_err(|error| not_available(&error))?;
        }
        let name = name_of(live.queue.id, id);
        let put = documents.put(SPACE, &name, None, bytes.into()).await;
        put.map(|_| ()).map_err(|error| not_available(&error))
    }

    /// The last redrives in the background of a queue, the newest first.
    ///
    /// # Errors
    /// There is no such queue.
    pub fn redrive_jobs(&self, queue: &GroupId) -> Result<Vec<RedriveJob>, QueueError> {
        let broker = self.broker()?;
        let live = self.live(&broker, queue)?;
        let mut known = self.redrives_of(&broker, live.queue.id);
        known.sort_by_key(|(id, _, one)| std::cmp::Reverse((one.started, *id)));
        let known = known.iter();
        Ok(known.map(|(id, _, one)| self.shown(*id, one)).collect())
    }

    /// One of them.
    ///
    /// # Errors
    /// There is no such queue, or it has no such redrive.
    pub fn redrive_job(&self, queue: &GroupId, id: &str) -> Result<RedriveJob, QueueError> {
        let jobs = self.redrive_jobs(queue)?;
        let job = jobs.into_iter().find(|job| job.id.to_string() == id);
        job.ok_or_else(|| no_such(queue, id))
    }

    /// Ends a redrive: what it has not moved stays a dead letter. Durable when answered; what is being decided upon may still be moved.
    ///
    /// # Errors
    /// There is no such queue, it has no such redrive, or that is over.
    pub async fn cancel_redrive(
        self: &Arc<Self>,
        queue: &GroupId,
        id: &str,
    ) -> Result<RedriveJob, QueueError> {
        let broker = self.broker()?;
        let live = self.live(&broker, queue)?;
        let _changing = self.changing.lock().await;
        let known = self.redrives_of(&broker, live.queue.id).into_iter();
        let mut known = known.filter(|(known, _, _)| known.to_string() == id);
        let (id, document, mut record) = known.next().ok_or_else(|| no_such(queue, id))?;
        if record.state.is_over() {
            return Err(QueueError::RedriveOver {
                queue: queue.clone(),
                id: id.to_string().into(),
                state: record.state.name(),
            });
        }
        record.state = RedriveState::Cancelling;
        let (name, bytes) = (name_of(live.queue.id, id), record.encode());
        let documents = broker.documents();
        let put = documents.put(SPACE, &name, Some(document.version), bytes.into());
        put.await.map_err(|error| not_available(&error))?;
        if let Some(running) = self.redrives.running.lock().get(&id) {
            running.is_cancelled.store(true, Ordering::Release);
            running.wake.notify_one();
        }
        Ok(self.shown(id, &record))
    }

    /// Goes on with what the process before this one was at, and forgets redrives of queues that are gone.
    pub(crate) fn resume_redrives(self: &Arc<Self>) {
        let Ok(broker) = self.broker() else {
            return;
        };
        let catalog = broker.catalog_view();
        let mut gone = Vec::new();
        for document in catalog.documents(SPACE) {
            match ids_of(&document.name) {
                Some((queue, id)) if catalog.queue_by_id(queue).is_some() => {
                    let record = RedriveRecord::decode(&document.bytes);
                    if record.is_some_and(|record| !record.state.is_over()) {
                        self.work_at(queue, id, false);
                    }
                }
                _ => gone.push(document.clone()),
            }
        }
        if !gone.is_empty() {
            tokio::spawn(forget(broker, gone));
        }
    }

    /// Sees to it that somebody works at a redrive.
    fn work_at(self: &Arc<Self>, incarnation: Uuid, id: Uuid, is_new: bool) {
        let mut running = self.redrives.running.lock();
        if running.contains_key(&id) {
            return;
        }
        let one = Arc::new(Running {
            id,
            incarnation,
            moved: AtomicU64::new(0),
            is_cancelled: AtomicBool::new(false),
            wake: Notify::new(),
            hindrance: Mutex::default(),
        });
        running.insert(id, one.clone());
        drop(running);
        self.run_redrive(one, is_new);
    }

    fn redrives_of(
        &self,
        broker: &Broker,
        incarnation: Uuid,
    ) -> Vec<(Uuid, Arc<Document>, RedriveRecord)> {
        let catalog = broker.catalog_view();
        let its_own = |document: &Arc<Document>| {
            let (queue, id) = ids_of(&document.name)?;
            let record = RedriveRecord::decode(&document.bytes);
            Some((
                id,
                document.clone(),
                record.filter(|_| queue == incarnation)?,
            ))
        };
        catalog.documents(SPACE).filter_map(its_own).collect()
    }

    fn shown(&self, id: Uuid, record: &RedriveRecord) -> RedriveJob {
        let running = self.redrives.running.lock().get(&id).cloned();
        let hindrance = running
            .as_ref()
            .and_then(|one| one.hindrance.lock().clone());
        let moved = running.map_or(0, |one| one.moved.load(Ordering::Relaxed));
        let is_over = record.state.is_over();
        RedriveJob {
            id,
            state: record.state,
            rate: record.rate,
            moved: if is_over { record.moved } else { moved },
            to_move: record.to_move,
            started: record.started,
            ended: record.ended,
            reason: match is_over {
                true => record.reason.clone(),
                false => hindrance.map(|reason| reason.to_string()),
            },
        }
    }
}

async fn forget(broker: Arc<Broker>, gone: Vec<Arc<Document>>) {
    let documents = broker.documents();
    for document in gone {
        let forgotten = documents.delete(SPACE, &document.name, document.version);
        if let Err(error) = forgotten.await {
            tracing::debug!(name = %document.name, %error, "a redrive of a queue that is gone stays known for now");
        }
    }
}

fn no_such(queue: &GroupId, id: &str) -> QueueError {
    QueueError::NoSuchRedrive {
        queue: queue.clone(),
        id: id.into(),
    }
}
