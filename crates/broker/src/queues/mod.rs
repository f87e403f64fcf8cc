//! Queues: named subscriptions on topics, with leases on records, as listeners call them.
//!
//! Why it exists: who has work done wants the next message and not to be held up by the one that always fails; partitions and offsets
//! are in the way. Here the machine of each partition is found, records are read and handed out, and moved where they go.
//! Owns: one shard per partition of `__fanlog_queues`, who waits for messages.   Never: what may become of a record (the machine says
//! so), the policy (the catalog has it).
//! In -> out: receive, settle -> messages that are held, answers once durable.
//! Invariants: QUE-1, QUE-2, QUE-3, QUE-4.   Read next: `types.rs`.

mod audit;
mod begin;
mod cancel;
mod copies;
mod counts;
mod create;
mod dead;
mod dead_headers;
mod dead_types;
mod delays;
mod expired;
mod follow;
mod hold;
mod live;
mod load;
mod looked;
mod machines;
mod move_messages;
mod move_types;
mod mover;
mod overtaken;
mod pace;
mod piece;
mod pieces;
mod prune;
mod purge;
mod receipt;
mod receive;
mod redrive;
mod redrive_jobs;
mod redrive_record;
mod redrive_runner;
mod settle;
mod shard;
mod share_acks;
mod share_fetch;
mod share_members;
mod status;
mod status_types;
mod take;
mod types;
mod walk;

pub use audit::AUDIT_TOPIC;
pub use dead_types::{
    DeadDone, DeadLetter, DeadLetterShown, DeadLetters, DeadSelection, Redrive, RedriveJob,
    RedriveState,
};
pub use delays::{DELIVER_AFTER, DELIVER_AT};
pub use move_types::{MoveEnd, MoveMessages, MoveTask, MoveTo};
pub(crate) use overtaken::DueLimit;
pub use overtaken::RecordOvertaken;
pub use receipt::{Receipt, ReceiptError};
pub(crate) use share_acks::PendingSettle;
pub use status_types::{
    BlockedKey, ConsumerLoad, Drain, Hindrance, QueuePartitionStatus, QueueStatus,
};
pub use types::{
    CancelOutcome, Headers, Message, MessageId, MessageIdError, NewQueue, QueueCounts,
    QueueDescription, QueueError, Receive, Received, SettleFailure, SettleOutcome, SettledEach,
    Start,
};

use crate::admin_queues::QUEUES_TOPIC;
use crate::blocking::Blocking;
use crate::broker::Broker;
use crate::groups::CoordinatorError;
use crate::machines::{MachineMemory, Shards};
use crate::seats::Seats;
use crate::steady_clock::SteadyClock;
use fanlog_coordinators::queue::{Counters, QueueKey};
use fanlog_model::GroupId;
use follow::Seen;
use live::Live;
use mover::Movers;
use parking_lot::Mutex;
use pieces::Pieces;
use redrive_jobs::Redrives;
use shard::Shard;
use share_members::ShareMembers;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use uuid::Uuid;

/// What the operator is told when queues take all the memory that they may.
const MEMORY_FULL: &str = "queues take the memory of fanlog.queues.memory.bytes: they hand out only what they have looked at already; raise it, or find out what holds them up";

/// All queues.
#[derive(Debug)]
pub struct Queues {
    broker: OnceLock<Weak<Broker>>,
    clock: SteadyClock,
    blocking: Blocking,
    shards: Shards<Shard>,
    seats: Arc<Seats<QueueKey>>,
    memory: Arc<MachineMemory>,
    pieces: Pieces,
    share_members: Mutex<ShareMembers>,
    lives: Mutex<HashMap<GroupId, Arc<Live>>>,
    seen: Mutex<Seen>,
    /// Somebody found that queues take as much memory as they may, and was not woken since.
    was_full: AtomicBool,
    /// Queues that are being made: their states are there before the catalog has them.
    beginning: Mutex<HashSet<Uuid>>,
    /// Held by who makes, changes or ends a queue.
    changing: tokio::sync::Mutex<()>,
    movers: Movers,
    /// How many receives had no name.
    nobodies: AtomicU64,
    redrives: Redrives,
}

impl Queues {
    pub(crate) fn new(clock: SteadyClock, has_timers: bool, blocking: Blocking) -> Self {
        Self {
            broker: OnceLock::new(),
            clock,
            blocking,
            shards: Shards::new(QUEUES_TOPIC, has_timers, blocking),
            seats: Arc::default(),
            memory: Arc::new(MachineMemory::new(MEMORY_FULL)),
            pieces: Pieces::default(),
            share_members: Mutex::default(),
            lives: Mutex::default(),
            seen: Mutex::default(),
            was_full: AtomicBool::new(false),
            beginning: Mutex::default(),
            changing: tokio::sync::Mutex::default(),
            movers: Movers::default(),
            nobodies: AtomicU64::new(0),
            redrives: Redrives::default(),
        }
    }

    pub(crate) fn belong_to(&self, broker: Weak<Broker>) {
        // Set once, at start.
        let _ = self.broker.set(broker);
    }

    fn broker(&self) -> Result<Arc<Broker>, CoordinatorError> {
        let broker = self.broker.get().and_then(Weak::upgrade);
        broker.ok_or_else(|| CoordinatorError::NotAvailable {
            reason: "the broker is stopping".into(),
        })
    }

    /// A name that no consumer has had in any life of this broker.
    fn nobody(&self, broker: &Broker) -> Arc<str> {
        let number = self.nobodies.fetch_add(1, Ordering::Relaxed);
        format!("receive {}.{number}", broker.leader_epoch()).into()
    }

    fn shards(&self) -> Arc<[Arc<Shard>]> {
        self.shards.all()
    }

    /// The shard of a partition of a queue, if their log is there.
    fn shard_now(&self, key: &QueueKey) -> Option<Arc<Shard>> {
        let name = format!("{}:{}:{}", key.group, key.topic, key.partition);
        self.shards.of_name(&name)
    }

    async fn shard(&self, key: &QueueKey) -> Result<Arc<Shard>, CoordinatorError> {
        if let Some(shard) = self.shard_now(key) {
            return Ok(shard);
        }
        let made = self.broker()?.make_queues_topic().await;
        made.map_err(|error| CoordinatorError::NotAvailable {
            reason: error.to_string().into(),
        })?;
        self.shard_now(key).ok_or(CoordinatorError::Loading)
    }

    /// What one decision did to how many records: what goes without being done with is never silent.
    fn tell_of(key: &QueueKey, counts: &Counters) {
        let QueueKey {
            group,
            topic,
            partition,
        } = key;
        if counts.given_up > 0 {
            tracing::info!(queue = %group, %topic, %partition, records = counts.given_up, "a queue gives up records: it has no dead letters");
        }
        if counts.lost > 0 {
            tracing::warn!(queue = %group, %topic, %partition, records = counts.lost, "records went before the queue was done with them");
        }
    }
}

impl Broker {
    /// Queues.
    pub fn queues(&self) -> &Arc<Queues> {
        &self.queues
    }
}
