//! Which topics remember message ids: follows their settings, has their logs read, keeps the append times.
//!
//! Why it exists: topics come and go and change their windows while the broker runs.
//! Owns: one set of ids for each such topic, the memory that they take together.
//! In -> out: the topics' view -> partitions that know where their ids are kept.
//! Read next: `topic_ids.rs`, `load.rs`.

use super::append_times::{AppendTimes, FILE};
use super::load::Loading;
use super::topic_ids::TopicIds;
use crate::blocking::Blocking;
use crate::machines::{MachineMemory, MemoryShare};
use crate::partition::Partition;
use crate::steady_clock::SteadyClock;
use crate::topics_view::{Topic, TopicsView};
use fanlog_environment::Environment;
use fanlog_model::TopicId;
use fanlog_storage::SipKey;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The memory that the ids of all topics take.
#[derive(Debug)]
pub(super) struct DedupMemory {
    taken: Arc<MachineMemory>,
    limit: AtomicUsize,
}

/// What operators watch of message ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IdFigures {
    pub(crate) remembered: usize,
    pub(crate) bytes: usize,
    /// How often a batch was refused for lack of memory.
    pub(crate) refused: u64,
}

/// The topics that remember message ids.
#[derive(Debug)]
pub(crate) struct Dedup {
    topics: Mutex<HashMap<TopicId, Arc<TopicIds>>>,
    /// Whether there is any.
    is_used: AtomicBool,
    memory: Arc<DedupMemory>,
    key: SipKey,
    clock: SteadyClock,
    environment: Environment,
    blocking: Blocking,
}

impl DedupMemory {
    fn new() -> Self {
        let full = "message ids take fanlog.dedup.memory.bytes: records with new ones are refused until older ones expire; raise it, or lower dedup.window.ms";
        Self {
            taken: Arc::new(MachineMemory::new(full)),
            limit: AtomicUsize::new(usize::MAX),
        }
    }

    pub(super) fn share(&self) -> MemoryShare {
        self.taken.share()
    }

    pub(super) fn limit(&self) -> usize {
        self.limit.load(Ordering::Relaxed)
    }
}

impl Dedup {
    pub(crate) fn new(environment: Environment, clock: SteadyClock, blocking: Blocking) -> Self {
        let mut secret = [0; 16];
        environment.entropy.fill(&mut secret);
        Self {
            topics: Mutex::default(),
            is_used: AtomicBool::new(false),
            memory: Arc::new(DedupMemory::new()),
            key: SipKey::new(secret),
            clock,
            environment,
            blocking,
        }
    }

    /// Whether any topic remembers ids.
    pub(crate) fn is_used(&self) -> bool {
        self.is_used.load(Ordering::Acquire)
    }

    /// The ids of a topic, if it remembers any.
    pub(super) fn of_topic(&self, topic: TopicId) -> Option<Arc<TopicIds>> {
        self.topics.lock().get(&topic).cloned()
    }

    pub(crate) fn figures(&self) -> IdFigures {
        let topics = self.topics.lock();
        IdFigures {
            remembered: topics.values().map(|ids| ids.len()).sum(),
            bytes: self.memory.taken.bytes(),
            refused: self.memory.taken.refused(),
        }
    }

    pub(crate) fn set_memory(&self, bytes: u64) {
        let limit = usize::try_from(bytes).unwrap_or(usize::MAX);
        self.memory.limit.store(limit, Ordering::Relaxed);
    }

    /// Makes the topics remember ids, or forget them, as their settings say.
    pub(crate) fn follow(&self, topics: &TopicsView) {
        let mut known = self.topics.lock();
        let window = |topic: &Topic| match topic.is_internal {
            true => 0,
            false => topic.settings.dedup_window_ms,
        };
        for topic in topics.iter().filter(|topic| window(topic) > 0) {
            let ids = known.entry(topic.id).or_insert_with(|| {
                let (clock, memory) = (self.clock.clone(), self.memory.clone());
                Arc::new(TopicIds::new(topic.name.clone(), self.key, clock, memory))
            });
            ids.set_window(window(topic));
            for partition in &topic.partitions {
                if ids.adopt(partition) {
                    partition.set_message_ids(Some(ids.clone()));
                    self.begin_times(ids, partition);
                }
            }
            self.load(ids);
        }
        known.retain(|id, _| {
            let topic = topics.by_id(*id);
            let stays = topic.is_some_and(|topic| window(topic) > 0);
            let forgotten = topic.filter(|_| !stays);
            for partition in forgotten.iter().flat_map(|topic| &topic.partitions) {
                partition.set_message_ids(None);
                // What it said would be taken for true when ids are remembered again.
                partition.remove_beside(&*self.environment.disk, FILE);
            }
            stays
        });
        self.is_used.store(!known.is_empty(), Ordering::Release);
    }

    /// Regular work: forgets, notes append times, tries again to read what could not be read.
    pub(crate) fn maintain(&self, topics: &TopicsView) {
        self.note_times(topics);
        for (_, ids) in self.known() {
            ids.sweep();
            self.load(&ids);
        }
    }

    /// Notes when what was appended so far was appended.
    pub(crate) fn note_times(&self, topics: &TopicsView) {
        for (topic, ids) in self.known() {
            let partitions = topics.by_id(topic).map(|topic| &topic.partitions);
            for partition in partitions.into_iter().flatten() {
                self.note_time(&ids, partition);
            }
        }
    }

    fn known(&self) -> Vec<(TopicId, Arc<TopicIds>)> {
        let known = self.topics.lock();
        known.iter().map(|(id, ids)| (*id, ids.clone())).collect()
    }

    /// The first time that ids of a partition are remembered: what comes from now on has a time.
    fn begin_times(&self, ids: &TopicIds, partition: &Partition) {
        let (disk, folder) = (&*self.environment.disk, partition.folder());
        if AppendTimes::read(disk, folder, partition.topic_id()).is_empty() {
            self.note_time(ids, partition);
        }
    }

    fn note_time(&self, ids: &TopicIds, partition: &Partition) {
        let Ok(end) = partition.with_log(|log| log.log_end_offset()) else {
            return;
        };
        let (disk, topic) = (&*self.environment.disk, partition.topic_id());
        let mut times = AppendTimes::read(disk, partition.folder(), topic);
        let now = ids.now();
        if times.note(end, now, ids.expired_before(now)) {
            partition.write_beside(disk, FILE, &times.encode(topic));
        }
    }

    fn load(&self, ids: &Arc<TopicIds>) {
        for partition in ids.begin_loading() {
            tokio::spawn(load(
                ids.clone(),
                partition,
                self.environment.clone(),
                self.blocking,
            ));
        }
    }
}

/// Reads the ids of one partition.
async fn load(
    ids: Arc<TopicIds>,
    partition: Arc<Partition>,
    environment: Environment,
    blocking: Blocking,
) {
    let started = environment.clock.monotonic();
    let result = read(&ids, &partition, &environment, blocking).await;
    match &result {
        Ok(records) => {
            let took = environment.clock.monotonic().saturating_sub(started);
            tracing::debug!(partition = %partition.folder(), records, ?took, "message ids are known");
        }
        Err(reason) => {
            tracing::warn!(partition = %partition.folder(), %reason, "its message ids can't be read: records with ids are refused by its topic");
        }
    }
    ids.end_loading(&partition, result.map(|_| ()));
}

async fn read(
    ids: &Arc<TopicIds>,
    partition: &Arc<Partition>,
    environment: &Environment,
    blocking: Blocking,
) -> Result<u64, String> {
    let text = |error: &dyn std::error::Error| error.to_string();
    let mut loading = None;
    loop {
        let end = partition.with_log(|log| log.log_end_offset());
        let end = end.map_err(|error| text(&error))?;
        partition.durable(end).await.map_err(|error| text(&error))?;
        let (ids, partition, disk) = (ids.clone(), partition.clone(), environment.disk.clone());
        let step = blocking.run(move || {
            let mut next = match loading {
                Some(loading) => loading,
                None => Loading::begin(ids, partition, &*disk)?,
            };
            let is_done = next.read_on()?;
            Ok::<_, super::load::LoadError>((next, is_done))
        });
        let step = step.await.map_err(|error| text(&error))?;
        let (next, is_done) = step.map_err(|error| text(&error))?;
        if is_done {
            return Ok(next.records);
        }
        loading = Some(next);
    }
}
