//! Fetch sessions (KIP-227): a consumer names its partitions once, then only what changes.
//!
//! Why it exists: a consumer of a thousand partitions would otherwise send and get them all in every fetch.
//! Owns: per session, the partitions in the order in which they are read, and what was last told of each.
//! Never: offsets' meaning, records.
//! In -> out: session id, epoch and partition changes -> the full list to read; results -> which to send.
//! Invariants: OPS-1 (sessions and the partitions cached in all of them are bounded).

use fanlog_model::TopicName;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;
use uuid::Uuid;

/// The epoch that opens a session.
const EPOCH_INITIAL: i32 = 0;
/// The epoch of a fetch outside any session, or that closes one.
const EPOCH_FINAL: i32 = -1;
/// The id that means "no session".
pub(crate) const SESSION_NONE: i32 = 0;
/// A session unused for this long gives way to a new one (Kafka's `min.incremental.fetch.session.eviction.ms`).
const EVICT_AFTER: Duration = Duration::from_secs(120);
/// Partitions remembered in all sessions together.
const CACHED_PARTITIONS_MAX: usize = 500_000;

/// A topic as the request names it: by name up to version 12, by id from 13.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum TopicKey {
    Name(Arc<str>),
    Id(Uuid),
}

/// A partition as the request names it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PartitionKey {
    pub(crate) topic: TopicKey,
    pub(crate) partition: i32,
}

/// What the consumer wants of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) fetch_offset: i64,
    pub(crate) max_bytes: i32,
    pub(crate) current_leader_epoch: i32,
    pub(crate) last_fetched_epoch: i32,
}

/// What a fetch found of a partition, as far as it decides whether to send it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) has_records: bool,
    pub(crate) has_error: bool,
    pub(crate) is_diverging: bool,
    pub(crate) high_watermark: i64,
    pub(crate) log_start_offset: i64,
}

/// Why a session can't be continued. The client then opens a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub(crate) enum SessionError {
    #[error("fetch session {0} is not known here; open a new one")]
    NotFound(i32),
    #[error("fetch session {id} is at epoch {expected}, the request has {given}; open a new one")]
    Epoch { id: i32, expected: i32, given: i32 },
    #[error("fetch session {0} was opened with the other way of naming topics; open a new one")]
    TopicNaming(i32),
}

/// The session part of a fetch request.
pub(crate) struct SessionRequest {
    pub(crate) session_id: i32,
    pub(crate) epoch: i32,
    pub(crate) uses_topic_ids: bool,
    pub(crate) partitions: Vec<(PartitionKey, Wanted)>,
    pub(crate) forgotten: Vec<PartitionKey>,
    /// The names that the topic ids of `partitions` stand for now, as far as they do.
    pub(crate) names: Vec<(Uuid, TopicName)>,
    /// A number drawn at random, for the id of a new session.
    pub(crate) draw: u32,
    /// Monotonic time.
    pub(crate) now: Duration,
}

impl SessionRequest {
    /// Whether its topics may be remembered: a name that no topic can have may be of any length.
    fn is_cacheable(&self) -> bool {
        self.partitions.iter().all(|(key, _)| match &key.topic {
            TopicKey::Name(name) => TopicName::new(name).is_ok(),
            TopicKey::Id(_) => true,
        })
    }
}

/// How to carry out one fetch.
#[derive(Debug)]
pub(crate) struct SessionPlan {
    /// The id to answer with; `SESSION_NONE` outside a session.
    pub(crate) session_id: i32,
    /// Only partitions with news are answered.
    pub(crate) is_incremental: bool,
    /// All partitions to read, in the order to read them.
    pub(crate) partitions: Vec<(PartitionKey, Wanted)>,
}

struct Cached {
    key: PartitionKey,
    wanted: Wanted,
    high_watermark: i64,
    log_start_offset: i64,
}

impl Cached {
    fn new(key: PartitionKey, wanted: Wanted) -> Self {
        Self {
            key,
            wanted,
            high_watermark: -1,
            log_start_offset: -1,
        }
    }

    /// Remembers what is told now; whether there is anything to tell.
    fn note(&mut self, found: &Found) -> bool {
        let has_news = found.has_records
            || found.has_error
            || found.is_diverging
            || self.high_watermark != found.high_watermark
            || self.log_start_offset != found.log_start_offset;
        // After an error the watermark is news again, as in Kafka.
        self.high_watermark = if found.has_error {
            -1
        } else {
            found.high_watermark
        };
        self.log_start_offset = found.log_start_offset;
        has_news
    }
}

struct Session {
    epoch: i32,
    uses_topic_ids: bool,
    last_used: Duration,
    /// By turn: a partition that gave records goes to the end, so that none starves the others.
    by_turn: BTreeMap<u64, Cached>,
    turn_of: HashMap<PartitionKey, u64>,
    next_turn: u64,
    /// What each topic id was called when its partitions were added.
    names: HashMap<Uuid, TopicName>,
}

impl Session {
    fn new(request: &SessionRequest) -> Self {
        let mut session = Self {
            epoch: 1,
            uses_topic_ids: request.uses_topic_ids,
            last_used: request.now,
            by_turn: BTreeMap::new(),
            turn_of: HashMap::new(),
            next_turn: 0,
            names: HashMap::new(),
        };
        session.update(request);
        session
    }

    fn update(&mut self, request: &SessionRequest) {
        self.names.extend(request.names.iter().cloned());
        for (key, wanted) in &request.partitions {
            match self.turn_of.get(key) {
                Some(turn) => {
                    let cached = self
                        .by_turn
                        .get_mut(turn)
                        .expect("every turn has its partition");
                    cached.wanted = *wanted;
                }
                None => self.push_last(Cached::new(key.clone(), *wanted)),
            }
        }
        for key in &request.forgotten {
            if let Some(turn) = self.turn_of.remove(key) {
                self.by_turn.remove(&turn);
            }
        }
    }

    fn push_last(&mut self, cached: Cached) {
        let turn = self.next_turn;
        self.next_turn += 1;
        self.turn_of.insert(cached.key.clone(), turn);
        self.by_turn.insert(turn, cached);
    }

    fn partitions(&self) -> Vec<(PartitionKey, Wanted)> {
        self.by_turn
            .values()
            .map(|c| (c.key.clone(), c.wanted))
            .collect()
    }

    /// Whether to tell the consumer of this partition; one that gave records takes the last turn.
    fn note(&mut self, key: &PartitionKey, found: &Found) -> bool {
        let Some(turn) = self.turn_of.get(key).copied() else {
            return true;
        };
        let cached = self
            .by_turn
            .get_mut(&turn)
            .expect("every turn has its partition");
        let has_news = cached.note(found);
        if found.has_records {
            let cached = self.by_turn.remove(&turn).expect("looked up above");
            self.push_last(cached);
        }
        has_news
    }
}

/// All sessions of a listener.
pub(crate) struct FetchSessions {
    sessions: HashMap<i32, Session>,
    sessions_max: usize,
}

impl FetchSessions {
    pub(crate) fn new(sessions_max: usize) -> Self {
        Self {
            sessions: HashMap::new(),
            sessions_max,
        }
    }

    /// Opens, continues or closes a session as the request says.
    ///
    /// # Errors
    /// The session is not to be continued; the client must open a new one.
    pub(crate) fn begin(&mut self, request: SessionRequest) -> Result<SessionPlan, SessionError> {
        match request.epoch {
            EPOCH_FINAL | EPOCH_INITIAL => {
                self.sessions.remove(&request.session_id);
                let session_id = match request.epoch {
                    EPOCH_INITIAL => self.open(&request),
                    _ => SESSION_NONE,
                };
                let partitions = request.partitions;
                Ok(SessionPlan {
                    session_id,
                    is_incremental: false,
                    partitions,
                })
            }
            _ => self.resume(&request),
        }
    }

    /// Notes what is told of each partition, and drops those without news from an incremental answer.
    pub(crate) fn retain_news<T>(
        &mut self,
        plan: &SessionPlan,
        found: Vec<(PartitionKey, T)>,
        summary: impl Fn(&T) -> Found,
    ) -> Vec<(PartitionKey, T)> {
        let Some(session) = self.sessions.get_mut(&plan.session_id) else {
            return found;
        };
        found
            .into_iter()
            .filter(|(key, result)| session.note(key, &summary(result)) || !plan.is_incremental)
            .collect()
    }

    /// What `topic` was called when the session came to know it.
    pub(crate) fn name_of(&self, session_id: i32, topic: Uuid) -> Option<&TopicName> {
        self.sessions.get(&session_id)?.names.get(&topic)
    }

    fn resume(&mut self, request: &SessionRequest) -> Result<SessionPlan, SessionError> {
        let id = request.session_id;
        let others = self.cached_partitions();
        let session = self
            .sessions
            .get_mut(&id)
            .ok_or(SessionError::NotFound(id))?;
        if session.epoch != request.epoch {
            let expected = session.epoch;
            return Err(SessionError::Epoch {
                id,
                expected,
                given: request.epoch,
            });
        }
        if session.uses_topic_ids != request.uses_topic_ids {
            return Err(SessionError::TopicNaming(id));
        }
        if others + request.partitions.len() > CACHED_PARTITIONS_MAX || !request.is_cacheable() {
            self.sessions.remove(&id);
            return Err(SessionError::NotFound(id));
        }
        session.update(request);
        session.last_used = request.now;
        session.epoch = session.epoch.checked_add(1).unwrap_or(1);
        let partitions = session.partitions();
        if partitions.is_empty() {
            self.sessions.remove(&id);
            return Ok(SessionPlan {
                session_id: SESSION_NONE,
                is_incremental: false,
                partitions,
            });
        }
        Ok(SessionPlan {
            session_id: id,
            is_incremental: true,
            partitions,
        })
    }

    /// A new session's id, or `SESSION_NONE` where there is no room: the client then sends full fetches.
    fn open(&mut self, request: &SessionRequest) -> i32 {
        let is_too_much =
            self.cached_partitions() + request.partitions.len() > CACHED_PARTITIONS_MAX;
        if is_too_much || !request.is_cacheable() || !self.make_room(request.now) {
            return SESSION_NONE;
        }
        let mut id = (request.draw >> 1).max(1) as i32;
        while self.sessions.contains_key(&id) {
            id = id.checked_add(1).unwrap_or(1);
        }
        self.sessions.insert(id, Session::new(request));
        id
    }

    fn make_room(&mut self, now: Duration) -> bool {
        if self.sessions.len() < self.sessions_max {
            return true;
        }
        let oldest = self
            .sessions
            .iter()
            .min_by_key(|(id, s)| (s.last_used, **id));
        match oldest.map(|(id, s)| (*id, s.last_used)) {
            Some((id, used)) if now.saturating_sub(used) > EVICT_AFTER => {
                self.sessions.remove(&id);
                true
            }
            _ => false,
        }
    }

    fn cached_partitions(&self) -> usize {
        self.sessions.values().map(|s| s.by_turn.len()).sum()
    }
}

#[cfg(test)]
mod tests;
