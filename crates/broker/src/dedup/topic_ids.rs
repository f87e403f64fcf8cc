//! The message ids that one topic remembers.
//!
//! Why it exists: an id counts in all partitions of its topic, so the partitions share one place that says which are taken.
//! Owns: the ids, by state: claimed by a batch that is about to be appended, part of a transaction, appended.
//! Never: a time-out; whether an id is durable, which is its partition's to say.
//! In -> out: ids of a batch -> a claim, or what stands in its way; appends and ends of transactions -> ids that count or are free again.
//! Invariants: PRD-3, OPS-1. Its lock may be taken under a partition's, never the other way round.   Read next: `claim.rs`.

use super::claim::{Claim, Fate, First, IdsError, Obstacle};
use super::id_map::{Full, Id, IdMap, PARTS, Slot, State};
use super::runtime::DedupMemory;
use crate::machines::MemoryShare;
use crate::partition::Partition;
use crate::steady_clock::SteadyClock;
use fanlog_model::{Offset, PartitionIndex, ProducerId, TimestampMs, TopicName};
use fanlog_storage::SipKey;
use parking_lot::Mutex;
use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::AtomicI64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Weak};
use tokio::sync::Notify;

/// What an id of an open transaction takes beside its slot, at most.
const OPEN_ID_BYTES: usize = 17 * 16 / 7 + 1;
/// In one window every id is looked at so often whether it is to go.
const SWEEPS_IN_WINDOW: i64 = 8;

/// The ids of one topic.
#[derive(Debug)]
pub(crate) struct TopicIds {
    pub(super) topic: TopicName,
    inner: Mutex<Inner>,
    /// A claim was settled or given up, a transaction ended, a partition was read.
    pub(super) changed: Notify,
    window_ms: AtomicI64,
    key: SipKey,
    clock: SteadyClock,
    memory: Arc<DedupMemory>,
}

#[derive(Debug)]
struct Inner {
    map: IdMap,
    /// The ids of transactions that are not decided, by partition and producer.
    open: HashMap<(i32, ProducerId), HashSet<Id>>,
    open_ids: usize,
    partitions: Vec<Standing>,
    swept_ms: i64,
    share: MemoryShare,
}

/// A partition of the topic.
#[derive(Debug)]
struct Standing {
    partition: Weak<Partition>,
    loading: Loading,
}

/// Whether the ids in a partition's log are known.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Loading {
    Due,
    UnderWay,
    Failed(Arc<str>),
    Done,
}

impl TopicIds {
    pub(super) fn new(
        topic: TopicName,
        key: SipKey,
        clock: SteadyClock,
        memory: Arc<DedupMemory>,
    ) -> Self {
        let inner = Inner {
            map: IdMap::default(),
            open: HashMap::new(),
            open_ids: 0,
            partitions: Vec::new(),
            swept_ms: i64::MIN,
            share: memory.share(),
        };
        Self {
            topic,
            inner: Mutex::new(inner),
            changed: Notify::new(),
            window_ms: AtomicI64::new(0),
            key,
            clock,
            memory,
        }
    }

    pub(super) fn id_of(&self, text: &[u8]) -> Id {
        Id::new(self.key.hash(text))
    }

    pub(super) fn now(&self) -> TimestampMs {
        self.clock.wall_ms()
    }

    pub(super) fn window_ms(&self) -> i64 {
        self.window_ms.load(Relaxed)
    }

    /// How long ids are remembered from now on. Those that a shorter window has let go are read again.
    pub(super) fn set_window(&self, window_ms: i64) {
        if self.window_ms.swap(window_ms, Relaxed) < window_ms {
            for standing in &mut self.inner.lock().partitions {
                standing.loading = Loading::Due;
            }
        }
    }

    /// How many ids are remembered, or were and have not been swept yet.
    pub(crate) fn len(&self) -> usize {
        self.inner.lock().map.len()
    }

    /// Whether the partition is one that was not here before.
    pub(super) fn adopt(&self, partition: &Arc<Partition>) -> bool {
        let Ok(index) = usize::try_from(partition.index().0) else {
            return false;
        };
        let mut inner = self.inner.lock();
        while inner.partitions.len() <= index {
            inner.partitions.push(Standing {
                partition: Weak::new(),
                loading: Loading::Due,
            });
        }
        let standing = &mut inner.partitions[index];
        let is_known = std::ptr::eq(standing.partition.as_ptr(), Arc::as_ptr(partition));
        if !is_known {
            *standing = Standing {
                partition: Arc::downgrade(partition),
                loading: Loading::Due,
            };
        }
        !is_known
    }

    /// The partitions whose logs are to be read now.
    pub(super) fn begin_loading(&self) -> Vec<Arc<Partition>> {
        let mut inner = self.inner.lock();
        let standings = inner.partitions.iter_mut();
        let begin = |standing: &mut Standing| {
            let is_due = matches!(standing.loading, Loading::Due | Loading::Failed(_));
            let partition = standing.partition.upgrade().filter(|_| is_due)?;
            standing.loading = Loading::UnderWay;
            Some(partition)
        };
        standings.filter_map(begin).collect()
    }

    pub(super) fn end_loading(&self, partition: &Arc<Partition>, result: Result<(), String>) {
        let mut inner = self.inner.lock();
        let mut standings = inner.partitions.iter_mut();
        let is_it = |standing: &&mut Standing| {
            std::ptr::eq(standing.partition.as_ptr(), Arc::as_ptr(partition))
        };
        if let Some(standing) = standings.find(is_it)
            && standing.loading == Loading::UnderWay
        {
            standing.loading = match result {
                Ok(()) => Loading::Done,
                Err(reason) => Loading::Failed(reason.into()),
            };
        }
        drop(inner);
        self.changed.notify_waiters();
    }

    /// Claims those of a batch's ids that are free, unless something is in the way: then it claims none.
    /// `producer` is whose transaction the batch belongs to.
    pub(super) fn try_claim(
        self: &Arc<Self>,
        ids: &[Option<Id>],
        producer: Option<ProducerId>,
    ) -> Result<Claim, Obstacle> {
        let now = self.now();
        let mut inner = self.inner.lock();
        inner.check_loaded(&self.topic)?;
        self.sweep_in_time(&mut inner, now);
        for id in ids.iter().flatten() {
            inner.check(*id, producer, self.expired_before(now))?;
        }
        let claimed = inner.claim_all(self, ids, now);
        let (bytes, limit) = (inner.bytes(), self.memory.limit());
        let refused = u64::from(claimed.is_err());
        inner.share.note(bytes, refused, limit);
        let (claimed, fates) = claimed.map_err(|Full| {
            Obstacle::Refused(IdsError::Full {
                topic: self.topic.clone(),
                limit,
            })
        })?;
        Ok(Claim::new(self.clone(), claimed, fates))
    }

    /// What was appended before this time is not remembered any more.
    pub(super) fn expired_before(&self, now: TimestampMs) -> i64 {
        now.0.saturating_sub(self.window_ms()).saturating_add(1)
    }

    fn sweep_in_time(&self, inner: &mut Inner, now: TimestampMs) {
        let pause_ms = self.window_ms() / (PARTS * SWEEPS_IN_WINDOW);
        if now.0.saturating_sub(inner.swept_ms) >= pause_ms.max(1) {
            inner.swept_ms = now.0;
            let expired = self.expired_before(now);
            inner.map.sweep_next(|slot| !slot.is_expired(expired));
        }
    }

    /// Lets go of everything that is not remembered any more.
    pub(super) fn sweep(&self) {
        let expired = self.expired_before(self.now());
        for _ in 0..PARTS {
            let mut inner = self.inner.lock();
            inner.map.sweep_next(|slot| !slot.is_expired(expired));
            let bytes = inner.bytes();
            inner.share.note(bytes, 0, self.memory.limit());
        }
    }

    /// The ids of a claim were appended from `base` on. Under the partition's lock: the end of their transaction comes behind it.
    pub(super) fn settle(
        &self,
        claimed: &[(Id, i32)],
        partition: PartitionIndex,
        base: Offset,
        producer: Option<ProducerId>,
    ) {
        let now = self.now();
        let mut inner = self.inner.lock();
        for (id, delta) in claimed {
            let slot = Slot {
                offset: base.plus((*delta).into()).0,
                time_ms: now.0,
                partition: partition.0,
                state: match producer {
                    Some(_) => State::Open,
                    None => State::Appended,
                },
            };
            if let Some(known) = inner.map.get_mut(*id) {
                *known = slot;
            }
            if let Some(producer) = producer {
                inner.note_open(partition, producer, *id);
            }
        }
        drop(inner);
        self.changed.notify_waiters();
    }

    /// A claim was not appended: its ids are free.
    pub(super) fn release(&self, claimed: &[(Id, i32)]) {
        let mut inner = self.inner.lock();
        inner.release(claimed);
        drop(inner);
        self.changed.notify_waiters();
    }

    /// A producer's transaction has come to its end in a partition. Under the partition's lock.
    pub(crate) fn end(&self, partition: PartitionIndex, producer: ProducerId, is_commit: bool) {
        let mut inner = self.inner.lock();
        let Some(ids) = inner.open.remove(&(partition.0, producer)) else {
            return;
        };
        inner.open_ids -= ids.len();
        for id in ids {
            let slot = inner.map.get_mut(id);
            let slot = slot.filter(|s| s.state == State::Open && s.partition == partition.0);
            match slot {
                Some(slot) if is_commit => slot.state = State::Appended,
                Some(_) => inner.map.remove(id),
                None => {}
            }
        }
        drop(inner);
        self.changed.notify_waiters();
    }

    /// An id that a log holds; of a producer's transaction, where that is not decided.
    pub(super) fn remember(
        &self,
        id: Id,
        first: First,
        open: Option<ProducerId>,
    ) -> Result<(), Full> {
        let mut inner = self.inner.lock();
        let expired = self.expired_before(self.now());
        let known = inner.map.get(id).filter(|slot| !slot.is_expired(expired));
        // Of two that the logs hold the later counts: the window of the earlier was over when it was appended. What is decided goes first
        // where nothing tells which that is.
        let is_weaker = known.is_none_or(|slot| match slot.time_ms.cmp(&first.time.0) {
            Ordering::Less => slot.state != State::Claimed,
            Ordering::Equal => slot.state != State::Claimed && open.is_none(),
            Ordering::Greater => false,
        });
        if !is_weaker {
            return Ok(());
        }
        let slot = Slot {
            offset: first.offset.0,
            time_ms: first.time.0,
            partition: first.partition.0,
            state: match open {
                Some(_) => State::Open,
                None => State::Appended,
            },
        };
        if slot.is_expired(expired) {
            return Ok(());
        }
        let bytes_max = inner.map_bytes_max(&self.memory);
        inner.map.insert(id, slot, bytes_max)?;
        if let Some(producer) = open {
            inner.note_open(first.partition, producer, id);
        }
        let bytes = inner.bytes();
        inner.share.note(bytes, 0, self.memory.limit());
        Ok(())
    }

    /// Where the record with an id is, once that is decided.
    pub(super) fn find(&self, text: &[u8]) -> Result<Option<First>, Obstacle> {
        let (id, expired) = (self.id_of(text), self.expired_before(self.now()));
        let inner = self.inner.lock();
        inner.check_loaded(&self.topic)?;
        inner.check(id, None, expired)?;
        let slot = inner.map.get(id).filter(|slot| !slot.is_expired(expired));
        Ok(slot.map(Slot::first))
    }

    /// How many more bytes the ids may take.
    pub(super) fn room(&self) -> usize {
        let inner = self.inner.lock();
        let taken = inner.share.elsewhere() + inner.bytes();
        self.memory.limit().saturating_sub(taken)
    }
}

impl Slot {
    /// What is not decided is not forgotten either.
    fn is_expired(&self, expired_before: i64) -> bool {
        self.state == State::Appended && self.time_ms < expired_before
    }

    fn first(&self) -> First {
        First {
            partition: PartitionIndex(self.partition),
            offset: Offset(self.offset),
            time: TimestampMs(self.time_ms),
        }
    }
}

type ClaimedAndFates = (Vec<(Id, i32)>, Vec<Fate>);

impl Inner {
    fn bytes(&self) -> usize {
        self.map.bytes() + self.open_ids * OPEN_ID_BYTES
    }

    fn map_bytes_max(&self, memory: &DedupMemory) -> usize {
        let elsewhere = self.share.elsewhere() + self.open_ids * OPEN_ID_BYTES;
        memory.limit().saturating_sub(elsewhere)
    }

    fn note_open(&mut self, partition: PartitionIndex, producer: ProducerId, id: Id) {
        let ids = self.open.entry((partition.0, producer)).or_default();
        self.open_ids += usize::from(ids.insert(id));
    }

    fn check_loaded(&self, topic: &TopicName) -> Result<(), Obstacle> {
        for standing in &self.partitions {
            match &standing.loading {
                Loading::Done => {}
                Loading::Due | Loading::UnderWay => return Err(Obstacle::Loading),
                Loading::Failed(reason) => {
                    return Err(Obstacle::Refused(IdsError::Unknown {
                        topic: topic.clone(),
                        reason: reason.clone(),
                    }));
                }
            }
        }
        Ok(())
    }

    /// Whether something is in the way of finding out what becomes of a record with this id.
    fn check(
        &self,
        id: Id,
        producer: Option<ProducerId>,
        expired_before: i64,
    ) -> Result<(), Obstacle> {
        let Some(slot) = self.map.get(id) else {
            return Ok(());
        };
        match slot.state {
            State::Claimed => Err(Obstacle::Held),
            // What is of the same transaction stands and falls with it.
            State::Open if self.is_of(producer, id, slot) => Ok(()),
            State::Open => Err(Obstacle::Held),
            State::Appended if slot.is_expired(expired_before) => Ok(()),
            State::Appended => match self.undurable(slot) {
                None => Ok(()),
                Some(partition) => Err(Obstacle::NotDurable {
                    partition,
                    end: Offset(slot.offset).plus(1),
                }),
            },
        }
    }

    fn is_of(&self, producer: Option<ProducerId>, id: Id, slot: &Slot) -> bool {
        let ids = producer.and_then(|producer| self.open.get(&(slot.partition, producer)));
        ids.is_some_and(|ids| ids.contains(&id))
    }

    /// The partition in which a record lies that may still be lost.
    fn undurable(&self, slot: &Slot) -> Option<Arc<Partition>> {
        let index = usize::try_from(slot.partition).ok()?;
        let partition = self.partitions.get(index)?.partition.upgrade()?;
        (partition.high_watermark().0 <= slot.offset).then_some(partition)
    }

    fn claim_all(
        &mut self,
        ids: &TopicIds,
        batch: &[Option<Id>],
        now: TimestampMs,
    ) -> Result<ClaimedAndFates, Full> {
        let expired = ids.expired_before(now);
        let bytes_max = self.map_bytes_max(&ids.memory);
        let first_try = self.claim_each(batch, expired, bytes_max);
        first_try.or_else(|Full| {
            self.map.sweep(|slot| !slot.is_expired(expired));
            self.claim_each(batch, expired, bytes_max)
        })
    }

    /// Nothing is in the way of any of them: what is claimed now was claimed by this batch itself.
    fn claim_each(
        &mut self,
        batch: &[Option<Id>],
        expired_before: i64,
        bytes_max: usize,
    ) -> Result<ClaimedAndFates, Full> {
        let mut claimed = Vec::new();
        let mut fates = Vec::with_capacity(batch.len());
        for (delta, id) in (0..).zip(batch) {
            let Some(id) = *id else {
                fates.push(Fate::New);
                continue;
            };
            match self.map.get(id) {
                Some(slot) if slot.state == State::Claimed => {
                    let delta = i32::try_from(slot.offset);
                    let delta = delta.expect("a claimed id has its record's number as its offset");
                    fates.push(Fate::RepeatedHere(delta));
                    continue;
                }
                Some(slot) if !slot.is_expired(expired_before) => {
                    fates.push(Fate::Repeated(slot.first()));
                    continue;
                }
                _ => {}
            }
            let slot = Slot {
                offset: i64::from(delta),
                time_ms: 0,
                partition: 0,
                state: State::Claimed,
            };
            if let Err(full) = self.map.insert(id, slot, bytes_max) {
                self.release(&claimed);
                return Err(full);
            }
            claimed.push((id, delta));
            fates.push(Fate::New);
        }
        Ok((claimed, fates))
    }

    fn release(&mut self, claimed: &[(Id, i32)]) {
        for (id, _) in claimed {
            let slot = self.map.get(*id);
            if slot.is_some_and(|slot| slot.state == State::Claimed) {
                self.map.remove(*id);
            }
        }
    }
}
