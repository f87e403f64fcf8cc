//! One partition: its log, what of it is visible, and who waits for it.
//!
//! Why it exists: an append happens on the caller's thread under one lock, and becomes visible and acknowledged
//! only once a sync thread has made it durable; this is where the two meet.
//! Owns: the log, the high watermark (which is the durable offset), the waiters.
//! Never: which partitions exist; where their files lie.
//! In -> out: `append` -> a receipt; `note_committed` -> the watermark moves, receipts and fetches wake.
//! Invariants: LOG-1, LOG-2, PRD-1.   Read next: `waiters.rs`, then `fetch.rs`.

mod append;
mod cleaning;
mod read;
mod removal;
mod sync;

pub(crate) use read::{Readable, Wanted};

use crate::cold_reads::ColdReads;
use crate::committer::Committer;
use crate::dedup::TopicIds;
use crate::lookup::{EpochError, PartitionUnavailable};
use crate::metrics::TopicMetrics;
use crate::sync_threads::SyncQueue;
use crate::waiters::{AckWaiters, FetchWatchers};
use fanlog_environment::Clock;
use fanlog_model::{
    LeaderEpoch, Offset, PartitionIndex, ProducerEpoch, ProducerId, TimestampMs, TopicId,
    TopicName, TopicPartition,
};
use fanlog_storage::journal::LogId;
use fanlog_storage::{Log, LogConfig};
use parking_lot::{Mutex, MutexGuard, RwLock};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::time::Duration;
use sync::Dirt;

/// One partition of a topic.
#[derive(Debug)]
pub struct Partition {
    place: Place,
    slot: Mutex<Slot>,
    /// The high watermark, which is the durable offset: a copy that is read without the lock.
    watermark: AtomicI64,
    /// Whether the last append failed at the disk.
    is_disk_refusing: AtomicBool,
    /// Files in which reads have met damage; at most its segments.
    damaged: Mutex<BTreeSet<PathBuf>>,
    acks: AckWaiters,
    watchers: FetchWatchers,
    dirt: Dirt,
    /// Bytes that are not synced in its segments.
    dirty_bytes: AtomicU64,
    /// Bytes left to the system to write, since they were last much.
    left_bytes: AtomicU64,
    /// The offset behind what was last handed to the journal, or synced at the start: changed under the slot's lock only.
    handed_on: AtomicI64,
    /// Up to where records went past the journal.
    past_end: AtomicI64,
    /// Where it stands with the sync threads when producers wait for its segments.
    urgent: Dirt,
    /// Held while a sync is under way, which writes to the folder without the log's lock.
    syncing: Mutex<()>,
    /// Held while old segments are removed, likewise.
    removing: Mutex<()>,
    /// Held while the log is compacted, likewise.
    cleaning: Mutex<()>,
    /// The message ids that its topic remembers, if it does.
    ids: RwLock<Option<Arc<TopicIds>>>,
    shared: PartitionShared,
}

/// Which partition this is.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) topic: TopicName,
    pub(crate) topic_id: TopicId,
    pub(crate) index: PartitionIndex,
    pub(crate) folder: Arc<str>,
}

/// Whether a producer has a transaction under way in a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TransactionHere {
    UnderWay,
    None { log_end: Offset },
}

/// What a partition shares with others.
#[derive(Clone, Debug)]
pub(crate) struct PartitionShared {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) queue: Arc<SyncQueue>,
    pub(crate) committer: Arc<Committer>,
    pub(crate) cold_reads: Arc<ColdReads>,
    pub(crate) leader_epoch: LeaderEpoch,
    pub(crate) metrics: Arc<TopicMetrics>,
    pub(crate) is_internal: bool,
}

/// Why a partition is offline after a failed write or sync: only a restart reads what the disk really has.
const LOG_FAILED: &str =
    "writing or syncing its log failed; look at the disk, then restart the broker";
const LOG_BROKEN: &str =
    "an internal error while changing its log; see the broker's log and restart it";
const STOPPING: &str = "the broker is stopping";

#[derive(Debug)]
enum Slot {
    Online(Box<Log>),
    Offline(Arc<str>),
    /// As `Offline`; opening it again may succeed, as when the disk was full.
    NotOpened(Arc<str>),
    Deleted,
}

impl Place {
    pub(crate) fn new(topic: TopicName, topic_id: TopicId, index: PartitionIndex) -> Self {
        let folder = format!("{topic}-{index}").into();
        Self {
            topic,
            topic_id,
            index,
            folder,
        }
    }

    pub(crate) fn log_id(&self) -> LogId {
        LogId {
            topic_id: self.topic_id,
            partition: self.index,
        }
    }
}

impl Partition {
    pub(crate) fn online(place: Place, log: Log, shared: PartitionShared) -> Arc<Self> {
        let durable = log.durable_offset();
        Self::new(place, Slot::Online(Box::new(log)), durable, shared)
    }

    /// A partition whose log is not open. Where that may pass, the broker tries again with a new partition.
    pub(crate) fn offline(
        place: Place,
        reason: &str,
        may_pass: bool,
        shared: PartitionShared,
    ) -> Arc<Self> {
        let slot = match may_pass {
            true => Slot::NotOpened(reason.into()),
            false => Slot::Offline(reason.into()),
        };
        let partition = Self::new(place, slot, Offset::ZERO, shared);
        partition.acks.fail(&partition.offline_because(reason));
        partition
    }

    fn new(place: Place, slot: Slot, durable: Offset, shared: PartitionShared) -> Arc<Self> {
        Arc::new(Self {
            place,
            slot: Mutex::new(slot),
            watermark: AtomicI64::new(durable.0),
            is_disk_refusing: AtomicBool::new(false),
            damaged: Mutex::default(),
            acks: AckWaiters::new(durable),
            watchers: FetchWatchers::default(),
            dirt: Dirt::clean(),
            dirty_bytes: AtomicU64::new(0),
            left_bytes: AtomicU64::new(0),
            handed_on: AtomicI64::new(durable.0),
            past_end: AtomicI64::new(durable.0),
            urgent: Dirt::clean(),
            syncing: Mutex::new(()),
            removing: Mutex::new(()),
            cleaning: Mutex::new(()),
            ids: RwLock::new(None),
            shared,
        })
    }

    /// The topic's name.
    pub fn topic(&self) -> &TopicName {
        &self.place.topic
    }

    /// The topic's id.
    pub fn topic_id(&self) -> TopicId {
        self.place.topic_id
    }

    /// The partition's number in its topic.
    pub fn index(&self) -> PartitionIndex {
        self.place.index
    }

    /// Whether it belongs to the broker: clients may read it and not write to it.
    pub fn is_internal(&self) -> bool {
        self.shared.is_internal
    }

    /// Topic and number.
    pub fn topic_partition(&self) -> TopicPartition {
        TopicPartition {
            topic: self.place.topic.clone(),
            partition: self.place.index,
        }
    }

    /// The name of its folder, which names it in messages.
    pub fn folder(&self) -> &Arc<str> {
        &self.place.folder
    }

    /// The epoch that every append gets; it rises at every start of the broker.
    pub fn leader_epoch(&self) -> LeaderEpoch {
        self.shared.leader_epoch
    }

    /// Nothing at or above this offset is visible, as nothing above it is durable.
    pub fn high_watermark(&self) -> Offset {
        Offset(self.watermark.load(Ordering::Acquire))
    }

    pub(crate) fn watchers(&self) -> &FetchWatchers {
        &self.watchers
    }

    /// Whether it serves; otherwise why not.
    ///
    /// # Errors
    /// It is offline or deleted.
    pub fn check_serving(&self) -> Result<(), PartitionUnavailable> {
        self.with_log(|_| ())
    }

    /// Compares the epoch that a client knows with ours.
    ///
    /// # Errors
    /// They differ.
    pub fn check_leader_epoch(&self, given: Option<LeaderEpoch>) -> Result<(), EpochError> {
        let current = self.leader_epoch();
        match given {
            Some(given) if given != LeaderEpoch::UNKNOWN && given < current => {
                Err(EpochError::Fenced { given, current })
            }
            Some(given) if given > current => Err(EpochError::Unknown { given, current }),
            _ => Ok(()),
        }
    }

    /// Whether second records with one message id are kept out: such batches are appended by way of [`Partition::identify`].
    pub fn remembers_ids(&self) -> bool {
        self.ids.read().is_some()
    }

    pub(crate) fn message_ids(&self) -> Option<Arc<TopicIds>> {
        self.ids.read().clone()
    }

    pub(crate) fn set_message_ids(&self, ids: Option<Arc<TopicIds>>) {
        *self.ids.write() = ids;
    }

    pub(crate) fn monotonic(&self) -> Duration {
        self.shared.clock.monotonic()
    }

    pub(crate) fn now(&self) -> TimestampMs {
        self.shared.clock.wall_ms()
    }

    pub(crate) fn log_start(&self) -> Result<Offset, PartitionUnavailable> {
        self.with_log(|log| log.log_start_offset())
    }

    /// Whether a producer has a transaction under way here; if not, where the log ends: what a coordinator allows from now on holds
    /// until the next marker.
    pub(crate) fn transaction_of(
        &self,
        id: ProducerId,
        epoch: ProducerEpoch,
    ) -> Result<TransactionHere, PartitionUnavailable> {
        self.with_log(|log| match log.is_in_transaction(id, epoch) {
            true => TransactionHere::UnderWay,
            false => TransactionHere::None {
                log_end: log.log_end_offset(),
            },
        })
    }

    /// What the journal calls its log.
    pub(crate) fn log_id(&self) -> LogId {
        self.place.log_id()
    }

    /// Looks at the log under its lock.
    ///
    /// # Errors
    /// It is offline or deleted.
    pub(crate) fn with_log<R>(
        &self,
        look: impl FnOnce(&Log) -> R,
    ) -> Result<R, PartitionUnavailable> {
        match &*self.slot.lock() {
            Slot::Online(log) => Ok(look(log)),
            Slot::Offline(reason) | Slot::NotOpened(reason) => Err(self.offline_because(reason)),
            Slot::Deleted => Err(self.deleted()),
        }
    }

    /// Changes the log under its lock. A log that failed in doing so is taken offline, whatever the change said.
    ///
    /// # Errors
    /// It is offline or deleted.
    ///
    /// # Panics
    /// With the change, that is when an invariant is broken; the partition is offline then.
    pub(crate) fn change<R>(
        &self,
        change: impl FnOnce(&mut Log) -> R,
    ) -> Result<R, PartitionUnavailable> {
        let mut slot = self.slot.lock();
        let (result, has_failed) = match &mut *slot {
            Slot::Online(log) => {
                let result = catch_unwind(AssertUnwindSafe(|| change(log)));
                (result, log.failure().is_some())
            }
            Slot::Offline(reason) | Slot::NotOpened(reason) => {
                return Err(self.offline_because(reason));
            }
            Slot::Deleted => return Err(self.deleted()),
        };
        let result = match result {
            Ok(result) => result,
            Err(panicked) => {
                // A change that stopped half-way may have left in memory what the disk does not have.
                tracing::error!(partition = %self.folder(), "{LOG_BROKEN}");
                self.shared.committer.journal.keep(self.log_id());
                self.replace(slot, Slot::Offline(LOG_BROKEN.into()));
                resume_unwind(panicked);
            }
        };
        if has_failed {
            tracing::error!(partition = %self.folder(), "{LOG_FAILED}");
            self.shared.committer.journal.keep(self.log_id());
            self.replace(slot, Slot::Offline(LOG_FAILED.into()));
        }
        Ok(result)
    }

    /// Whether its log was not opened for a reason that may pass.
    pub(crate) fn may_be_opened(&self) -> bool {
        matches!(*self.slot.lock(), Slot::NotOpened(_))
    }

    /// New settings for the log. A partition that is offline takes them when it is opened again.
    pub(crate) fn update_config(&self, config: &LogConfig) {
        if let Ok(()) = self.change(|log| log.update_config(config.clone())) {
            tracing::trace!(partition = %self.folder(), "settings changed");
        }
    }

    /// The partition no longer serves; all who wait are told.
    pub(crate) fn take_offline(&self, reason: &str) {
        let slot = self.slot.lock();
        if matches!(*slot, Slot::Online(_)) {
            self.shared.committer.journal.keep(self.log_id());
            self.replace(slot, Slot::Offline(reason.into()));
        }
    }

    /// The topic is deleted; all who wait are told. On return nothing writes to the folder any more: a sync that went
    /// on would leave its snapshot in the folder of the next topic of this name, which could not be opened again.
    pub(crate) fn delete(&self) {
        self.replace(self.slot.lock(), Slot::Deleted);
        self.shared.committer.journal.forget(self.log_id());
        drop(self.syncing.lock());
        drop(self.removing.lock());
        drop(self.cleaning.lock());
    }

    /// Takes the log out for a clean shutdown.
    pub(crate) fn take_log(&self) -> Option<Box<Log>> {
        let slot = self.slot.lock();
        match &*slot {
            Slot::Online(_) => match self.replace(slot, Slot::Offline(STOPPING.into())) {
                Slot::Online(log) => {
                    drop(self.removing.lock());
                    Some(log)
                }
                Slot::Offline(_) | Slot::NotOpened(_) | Slot::Deleted => None,
            },
            Slot::Offline(_) | Slot::NotOpened(_) | Slot::Deleted => None,
        }
    }

    fn replace(&self, mut slot: MutexGuard<'_, Slot>, by: Slot) -> Slot {
        let failure = match &by {
            Slot::Offline(reason) | Slot::NotOpened(reason) => self.offline_because(reason),
            Slot::Deleted => self.deleted(),
            Slot::Online(_) => unreachable!("a log never comes back while the broker runs"),
        };
        if let Slot::Online(_) = &*slot {
            tracing::debug!(partition = %self.folder(), %failure, "the partition serves no more");
        }
        let before = std::mem::replace(&mut *slot, by);
        drop(slot);
        self.acks.fail(&failure);
        self.watchers.wake_all();
        before
    }

    fn offline_because(&self, reason: &str) -> PartitionUnavailable {
        PartitionUnavailable::Offline {
            partition: self.folder().clone(),
            reason: reason.into(),
        }
    }

    fn deleted(&self) -> PartitionUnavailable {
        PartitionUnavailable::Deleted {
            partition: self.folder().clone(),
        }
    }

    pub(crate) fn stopping(&self) -> PartitionUnavailable {
        self.offline_because(STOPPING)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::waiters::Ack;
    use crate::{Broker, BrokerConfig};
    use fanlog_environment::{Environment, ManualClock, SeededEntropy, SimulatedDisk};
    use fanlog_model::{BrokerId, TimestampMs};

    #[tokio::test]
    async fn a_broken_invariant_takes_the_partition_offline() {
        let mut config = BrokerConfig::new(BrokerId(1), "/data");
        config.sync_threads = 0;
        config.has_timers = false;
        let environment = Environment {
            clock: Arc::new(ManualClock::new(TimestampMs(0))),
            entropy: Arc::new(SeededEntropy::new(1)),
            disk: Arc::new(SimulatedDisk::new(1)),
        };
        let broker = Broker::start(config, environment).unwrap();
        let partition = broker.catalog.partition();
        let mut ack = partition.wait_durable(Offset(1));
        let changed = catch_unwind(AssertUnwindSafe(|| {
            partition.change(|_| panic!("an invariant"))
        }));
        assert!(changed.is_err());
        assert!(partition.check_serving().is_err());
        let Ack::Parked(receiver) = &mut ack else {
            panic!("nothing is durable yet");
        };
        assert!(receiver.try_recv().unwrap().is_err());
    }
}
