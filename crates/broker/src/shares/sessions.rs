//! Share sessions (KIP-932): which partitions a member reads, over one connection.
//!
//! Why it exists: a member names its partitions once; and what it holds comes back as soon as its connection ends, instead
//! of when the locks run out.
//! Owns: the sessions, bounded per broker (`group.share.max.share.sessions`).
//! In -> out: epoch 0 opens, each request after it counts on, -1 closes.

use super::Shares;
use fanlog_model::{GroupId, PartitionIndex, TopicId};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use thiserror::Error;

/// The epoch of a request that opens a session.
const OPENING: i32 = 0;
/// The epoch of a request that closes one.
const CLOSING: i32 = -1;

/// Whose session.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SessionKey {
    /// The share group.
    pub group: GroupId,
    /// The member.
    pub member: Arc<str>,
}

/// Why a request has no session. Nothing of it was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ShareSessionError {
    /// There is none.
    #[error("there is no share session of this member; open one with epoch 0")]
    NotFound,
    /// Not the epoch that follows.
    #[error("share session epoch {given} does not follow: {expected} does")]
    InvalidEpoch {
        /// The epoch given.
        given: i32,
        /// The one expected.
        expected: i32,
    },
    /// It names too many partitions.
    #[error("a share session has at most {max} partitions")]
    TooManyPartitions {
        /// How many may be.
        max: usize,
    },
    /// There are too many.
    #[error("{max} share sessions are open (group.share.max.share.sessions)")]
    LimitReached {
        /// How many may be.
        max: usize,
    },
}

/// What a session asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionPlan {
    /// The partitions to read; each time another one is first.
    pub partitions: Vec<(TopicId, PartitionIndex)>,
    /// The session is to be closed once the request is done.
    pub is_closing: bool,
}

#[derive(Debug)]
struct Session {
    /// The epoch of the next request.
    next_epoch: i32,
    connection: u64,
    /// In the order in which they came; `known` has the same.
    partitions: Vec<(TopicId, PartitionIndex)>,
    known: BTreeSet<(TopicId, PartitionIndex)>,
    /// All that it ever read: of these the member may hold records.
    touched: BTreeSet<(TopicId, PartitionIndex)>,
    turns: usize,
}

/// How many partitions one session may have ever named; more than a member of any group reads.
const PARTITIONS_PER_SESSION_MAX: usize = 10_000;

/// All sessions.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    open: HashMap<SessionKey, Session>,
    connections: u64,
}

impl Sessions {
    fn step(&mut self, key: &SessionKey, epoch: i32) -> Result<&mut Session, ShareSessionError> {
        let session = self.open.get_mut(key).ok_or(ShareSessionError::NotFound)?;
        if epoch != CLOSING {
            if epoch != session.next_epoch {
                return Err(ShareSessionError::InvalidEpoch {
                    given: epoch,
                    expected: session.next_epoch,
                });
            }
            session.next_epoch = after(epoch);
        }
        Ok(session)
    }
}

/// Epochs count from 1 again behind the largest.
fn after(epoch: i32) -> i32 {
    epoch.checked_add(1).unwrap_or(1)
}

impl Session {
    fn change(
        &mut self,
        wanted: &[(TopicId, PartitionIndex)],
        forgotten: &[(TopicId, PartitionIndex)],
    ) {
        for partition in wanted {
            if self.known.insert(*partition) {
                self.partitions.push(*partition);
            }
            self.touched.insert(*partition);
        }
        let before = self.known.len();
        for partition in forgotten {
            self.known.remove(partition);
        }
        if self.known.len() < before {
            let known = &self.known;
            self.partitions
                .retain(|partition| known.contains(partition));
        }
    }

    fn plan(&mut self) -> SessionPlan {
        let mut partitions = self.partitions.clone();
        if !partitions.is_empty() {
            let first = self.turns % partitions.len();
            partitions.rotate_left(first);
        }
        self.turns = self.turns.wrapping_add(1);
        SessionPlan {
            partitions,
            is_closing: false,
        }
    }
}

impl Shares {
    /// A number for a connection that opens sessions, from 1.
    pub fn new_connection(&self) -> u64 {
        let mut sessions = self.sessions.lock();
        sessions.connections += 1;
        sessions.connections
    }

    /// The session step of a ShareFetch.
    ///
    /// # Errors
    /// There is no such session, or another epoch follows, or there are too many.
    pub fn begin_fetch(
        &self,
        key: &SessionKey,
        epoch: i32,
        connection: u64,
        wanted: &[(TopicId, PartitionIndex)],
        forgotten: &[(TopicId, PartitionIndex)],
    ) -> Result<SessionPlan, ShareSessionError> {
        let mut sessions = self.sessions.lock();
        match epoch {
            OPENING => {
                let max = self.sessions_max();
                let is_known = sessions.open.contains_key(key);
                if !is_known && sessions.open.len() >= max {
                    return Err(ShareSessionError::LimitReached { max });
                }
                if wanted.len() > PARTITIONS_PER_SESSION_MAX {
                    let max = PARTITIONS_PER_SESSION_MAX;
                    return Err(ShareSessionError::TooManyPartitions { max });
                }
                let mut session = Session {
                    next_epoch: after(OPENING),
                    connection,
                    partitions: Vec::new(),
                    known: BTreeSet::new(),
                    touched: BTreeSet::new(),
                    turns: 0,
                };
                if let Some(before) = sessions.open.remove(key)
                    && before.touched.len() + wanted.len() <= PARTITIONS_PER_SESSION_MAX
                {
                    // What the member holds it may still acknowledge.
                    session.touched = before.touched;
                }
                session.change(wanted, &[]);
                let plan = session.plan();
                sessions.open.insert(key.clone(), session);
                Ok(plan)
            }
            CLOSING => {
                sessions.step(key, epoch)?;
                Ok(SessionPlan {
                    partitions: Vec::new(),
                    is_closing: true,
                })
            }
            _ => {
                let session = sessions.step(key, epoch)?;
                if session.touched.len() + wanted.len() > PARTITIONS_PER_SESSION_MAX {
                    // What it has forgotten and holds nothing of any more is not worth remembering; its locks run out.
                    session.touched = session.known.clone();
                }
                if session.touched.len() + wanted.len() > PARTITIONS_PER_SESSION_MAX {
                    let max = PARTITIONS_PER_SESSION_MAX;
                    return Err(ShareSessionError::TooManyPartitions { max });
                }
                session.change(wanted, forgotten);
                Ok(session.plan())
            }
        }
    }

    /// The session step of a ShareAcknowledge; whether the session is to be closed once the request is done.
    ///
    /// # Errors
    /// There is no such session, or another epoch follows.
    pub fn begin_acknowledge(
        &self,
        key: &SessionKey,
        epoch: i32,
    ) -> Result<bool, ShareSessionError> {
        let mut sessions = self.sessions.lock();
        if epoch == OPENING {
            let expected = sessions
                .open
                .get(key)
                .map_or(after(OPENING), |s| s.next_epoch);
            return Err(ShareSessionError::InvalidEpoch {
                given: epoch,
                expected,
            });
        }
        sessions.step(key, epoch)?;
        Ok(epoch == CLOSING)
    }

    /// Closes a session: what the member holds is available again.
    pub fn close_session(&self, key: &SessionKey) {
        let session = self.sessions.lock().open.remove(key);
        if let Some(session) = session {
            self.give_back(key, session);
        }
    }

    fn give_back(&self, key: &SessionKey, session: Session) {
        let touched: Vec<_> = session.touched.into_iter().collect();
        self.release(&key.group, &key.member, &touched);
    }

    /// A connection has ended, and the sessions over it.
    pub fn connection_closed(&self, connection: u64) {
        // Under one lock, so that a session that its member opens anew over another connection stays.
        let ended: Vec<_> = {
            let mut sessions = self.sessions.lock();
            let of_connection = |_: &SessionKey, s: &mut Session| s.connection == connection;
            sessions.open.extract_if(of_connection).collect()
        };
        for (key, session) in ended {
            self.give_back(&key, session);
        }
    }

    /// How many sessions are open.
    pub fn session_count(&self) -> usize {
        self.sessions.lock().open.len()
    }

    fn sessions_max(&self) -> usize {
        self.broker()
            .map_or(0, |broker| broker.settings().share.sessions_max as usize)
    }
}
