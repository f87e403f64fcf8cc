//! Share groups: the share-partitions of `__share_group_state`, as listeners call them.
//!
//! Why it exists: a share-partition lives in one partition of the topic; here its machine is found, the topic is made at
//! first use, records are found for those who wait, and what a member holds comes back when it goes.
//! Owns: one shard per partition, who waits for records, the share sessions.   Never: what may become of a record (the
//! machine says so), who is a member (`groups`).
//! In -> out: fetch, acknowledgement -> records that are held, answers once durable.
//! Invariants: QUE-1, QUE-2.   Read next: `shard.rs`, `fetch.rs`, `sessions.rs`.

mod due;
mod fetch;
mod follow;
mod found;
mod gone;
mod load;
mod offsets;
mod partitioning;
mod prune;
mod reset;
mod sessions;
mod shard;

pub use fetch::{ShareFetchError, ShareFetchPlan, ShareFetched, ShareFetchedRecords};
pub use offsets::{ShareOffset, SharePartitionRef};
pub use sessions::{SessionKey, SessionPlan, ShareSessionError};

use crate::blocking::Blocking;
use crate::broker::Broker;
use crate::groups::CoordinatorError;
use crate::lookup::LookupError;
use crate::machines::Shards;
use crate::partition::Partition;
use crate::queues::PendingSettle;
use crate::seats::Seats;
use crate::steady_clock::SteadyClock;
use fanlog_coordinators::share::{AckError, AckRange, Input, Policy, Reply, ShareKey};
use fanlog_model::settings::ShareGroupSettings;
use fanlog_model::{GroupId, PartitionIndex, TopicId};
use parking_lot::Mutex;
use sessions::Sessions;
use shard::{Decided, Shard};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;
use thiserror::Error;

/// The topic that remembers what became of the records of share groups.
pub const SHARE_STATE_TOPIC: &str = "__share_group_state";
/// How many runs of states a share-partition may have, until no new records are given.
const RUNS_PER_PARTITION_MAX: usize = 20_000;
/// What one run of states takes of the memory of groups, about.
const RUN_BYTES: u64 = 100;

/// Why acknowledgements of one partition did not count.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ShareAckError {
    /// There is no such partition.
    #[error(transparent)]
    Lookup(#[from] LookupError),
    /// The share-partition refuses.
    #[error(transparent)]
    Refused(#[from] AckError),
    /// Its state cannot be written; retry.
    #[error(transparent)]
    Coordinator(#[from] CoordinatorError),
}

/// All share-partitions.
#[derive(Debug)]
pub struct Shares {
    broker: OnceLock<Weak<Broker>>,
    clock: SteadyClock,
    shards: Shards<Shard>,
    blocking: Blocking,
    seats: Arc<Seats<ShareKey>>,
    sessions: Mutex<Sessions>,
    counts: Arc<ShareCounts>,
}

/// What became of records other than by acknowledgement, since the start.
#[derive(Debug, Default)]
pub(crate) struct ShareCounts {
    given_up: AtomicU64,
    lost: AtomicU64,
    /// How often a share-partition was looked at for a fetch.
    looks: AtomicU64,
    /// Runs of states and holds of all share-partitions.
    runs: AtomicU64,
}

/// An acknowledgement that was decided upon and waits to be durable.
#[derive(Debug)]
pub struct PendingAck(Pending);

#[derive(Debug)]
enum Pending {
    Share { shard: Arc<Shard>, decided: Decided },
    Queue(PendingSettle),
}

impl PendingAck {
    /// Waits until it is durable.
    ///
    /// # Errors
    /// It did not count, or cannot be written.
    pub async fn durable(self) -> Result<(), ShareAckError> {
        let (shard, decided) = match self.0 {
            Pending::Share { shard, decided } => (shard, decided),
            Pending::Queue(pending) => return pending.durable().await,
        };
        match shard.durable(decided).await? {
            Reply::Acknowledged(outcome) => Ok(outcome?),
            other => unreachable!("a machine answers in kind, not with {other:?}"),
        }
    }
}

impl Shares {
    pub(crate) fn new(clock: SteadyClock, has_timers: bool, blocking: Blocking) -> Self {
        Self {
            broker: OnceLock::new(),
            clock,
            shards: Shards::new(SHARE_STATE_TOPIC, has_timers, blocking),
            blocking,
            seats: Arc::default(),
            sessions: Mutex::default(),
            counts: Arc::default(),
        }
    }

    pub(crate) fn belong_to(&self, broker: Weak<Broker>) {
        // Set once, at start.
        let _ = self.broker.set(broker);
    }

    /// Hands records to a member, waiting for them as the plan asks: of a share group, or of a queue.
    ///
    /// # Errors
    /// The broker is stopping.
    pub async fn fetch(&self, plan: ShareFetchPlan) -> Result<ShareFetched, CoordinatorError> {
        let broker = self.broker()?;
        match broker.queues().is_queue(&plan.group) {
            true => broker.queues().share_fetch(&plan).await,
            false => self.fetch_of_group(plan).await,
        }
    }

    /// Decides on acknowledgements of one partition; they count from now on, and for good once they are durable.
    ///
    /// # Errors
    /// There is no such partition, or its state cannot be written.
    pub async fn acknowledge(
        &self,
        group: &GroupId,
        member: &str,
        topic: TopicId,
        partition: PartitionIndex,
        ranges: &[AckRange],
    ) -> Result<PendingAck, ShareAckError> {
        let broker = self.broker()?;
        broker.partition(&crate::TopicRef::Id(topic), partition)?;
        let queues = broker.queues();
        if queues.is_queue(group) {
            let (who, place) = ((group, member), (topic, partition));
            let pending = queues.share_acknowledge(who, place, ranges).await?;
            return Ok(PendingAck(Pending::Queue(pending)));
        }
        let key = ShareKey {
            group: group.clone(),
            topic,
            partition,
        };
        let shard = self.shard(&key).await?;
        let policy = self.policy(&broker, group);
        let input = Input::Acknowledge { member, ranges };
        let decided = shard.decide(&key, &policy, input)?;
        Ok(PendingAck(Pending::Share { shard, decided }))
    }

    /// Gives back what a member holds of some share-partitions: it has gone. Where the log refuses that, the locks run out.
    pub(crate) fn release(
        &self,
        group: &GroupId,
        member: &str,
        keys: &[(TopicId, PartitionIndex)],
    ) {
        let Ok(broker) = self.broker() else {
            return;
        };
        if broker.queues().is_queue(group) {
            broker.queues().share_release(group, member, keys);
            return;
        }
        let policy = self.policy(&broker, group);
        for (topic, partition) in keys {
            let key = ShareKey {
                group: group.clone(),
                topic: *topic,
                partition: *partition,
            };
            if let Some(shard) = self.shard_now(&key) {
                let released = shard.decide(&key, &policy, Input::Release { member });
                if let Err(error) = released {
                    tracing::debug!(%group, member, %error, "records come back when their locks run out");
                }
            }
        }
    }

    /// How a share group's records are handed out.
    pub(crate) fn policy(&self, broker: &Broker, group: &GroupId) -> Policy {
        let settings = broker.share_group_settings(group);
        let limits = broker.settings();
        let has_memory = self.check_memory(broker).is_ok();
        policy(&settings, limits.share.updates_per_snapshot, has_memory)
    }

    /// Whether there is memory for more states.
    fn check_memory(&self, broker: &Broker) -> Result<(), CoordinatorError> {
        let bytes = self
            .counts
            .runs
            .load(Ordering::Relaxed)
            .saturating_mul(RUN_BYTES);
        if bytes <= broker.settings().groups_memory_bytes {
            return Ok(());
        }
        Err(CoordinatorError::NotAvailable {
            reason: "the states of share groups take the memory of fanlog.groups.memory.bytes; raise it, or delete groups".into(),
        })
    }

    /// How many records were given up because they had been delivered too often.
    pub fn given_up(&self) -> u64 {
        self.counts.given_up.load(Ordering::Relaxed)
    }

    /// How many records retention took before anybody was done with them.
    pub fn lost(&self) -> u64 {
        self.counts.lost.load(Ordering::Relaxed)
    }

    /// How often fetches have looked for records in a share-partition.
    pub fn looks(&self) -> u64 {
        self.counts.looks.load(Ordering::Relaxed)
    }

    fn broker(&self) -> Result<Arc<Broker>, CoordinatorError> {
        let broker = self.broker.get().and_then(Weak::upgrade);
        broker.ok_or_else(|| CoordinatorError::NotAvailable {
            reason: "the broker is stopping".into(),
        })
    }

    fn shards(&self) -> Arc<[Arc<Shard>]> {
        self.shards.all()
    }

    /// The shard of a share-partition, if the topic is there.
    fn shard_now(&self, key: &ShareKey) -> Option<Arc<Shard>> {
        self.shards.of_name(&partitioning::name_of(key))
    }

    async fn shard(&self, key: &ShareKey) -> Result<Arc<Shard>, CoordinatorError> {
        if let Some(shard) = self.shard_now(key) {
            return Ok(shard);
        }
        let made = self.broker()?.make_share_state_topic().await;
        made.map_err(|error| CoordinatorError::NotAvailable {
            reason: error.to_string().into(),
        })?;
        self.shard_now(key).ok_or(CoordinatorError::Loading)
    }
}

fn policy(settings: &ShareGroupSettings, updates_per_snapshot: u32, has_memory: bool) -> Policy {
    Policy {
        delivery_count_max: settings.delivery_count_limit,
        lock: Duration::from_millis(settings.record_lock_ms),
        may_renew: settings.is_renewal_enabled,
        window: settings.partition_record_locks_max.into(),
        runs_max: if has_memory {
            RUNS_PER_PARTITION_MAX
        } else {
            0
        },
        isolates_poison: true,
        updates_per_snapshot,
    }
}

impl Broker {
    /// The settings in force of a share group.
    pub fn share_group_settings(&self, group: &GroupId) -> ShareGroupSettings {
        let catalog = self.catalog_view();
        self.catalog.rules().share_group_settings(&catalog, group)
    }

    /// How long a member of a share group, or of a queue, holds records.
    pub fn share_lock(&self, group: &GroupId) -> Duration {
        let of_queue = self.queues.share_lock(group);
        let of_group = || Duration::from_millis(self.share_group_settings(group).record_lock_ms);
        of_queue.unwrap_or_else(of_group)
    }

    /// Share groups.
    pub fn shares(&self) -> &Arc<Shares> {
        &self.shares
    }
}

/// The offset below which a group may read.
fn visible_end(
    partition: &Partition,
    is_read_committed: bool,
) -> Result<i64, crate::lookup::PartitionUnavailable> {
    partition.with_log(|log| {
        let durable = log.durable_offset();
        match is_read_committed {
            true => log.last_stable_offset().min(durable).0,
            false => durable.0,
        }
    })
}
