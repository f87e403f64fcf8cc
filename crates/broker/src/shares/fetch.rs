//! ShareFetch: finds records for a member, waits for them if there are none, and hands them out.
//!
//! Why it exists: what can be handed out changes with new records, with those that come back and with the state of the
//! share-partition; a wait is on all three, with one timer, and holds no bytes.
//! Never: sessions, acknowledgements.
//! In -> out: a plan -> one outcome per partition, in the plan's order: whole batches, and which of their records the member holds.
//! Invariants: QUE-1, LOG-2, OPS-1 (bytes count against the budget of fetches).   Read next: `found.rs`.

use super::due::Due;
use super::found::Scan;
use super::shard::Shard;
use super::{Shares, visible_end};
use crate::broker::Broker;
use crate::fetch_budget::FetchMemory;
use crate::fetch_types::{FetchError, FetchedRecords, Isolation};
use crate::groups::CoordinatorError;
use crate::lookup::{LookupError, PartitionUnavailable, TopicRef};
use crate::offsets_types::OffsetsError;
use crate::partition::{Partition, Wanted};
use crate::seats::Seated;
use crate::waiters::FetchWaiter;
use bytes::Bytes;
use fanlog_coordinators::share::{Acquire, AcquireMode, Acquired, Input, Policy, Reply, ShareKey};
use fanlog_model::settings::ShareGroupSettings;
use fanlog_model::{GroupId, Offset, PartitionIndex, TopicId};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use thiserror::Error;
use tokio::time::Instant;

/// How much is read at a time: more than most fetches want.
const CHUNK_BYTES: usize = 1024 * 1024;

/// What a member wants.
#[derive(Clone, Debug)]
pub struct ShareFetchPlan {
    /// The share group.
    pub group: GroupId,
    /// The member.
    pub member: Arc<str>,
    /// The partitions, in the order in which they may use up the limits.
    pub partitions: Vec<(TopicId, PartitionIndex)>,
    /// How many records at most, of all partitions together.
    pub records_max: i64,
    /// How many records stand in one range of the answer, about.
    pub batch_size: i64,
    /// Whether `records_max` is strict.
    pub mode: AcquireMode,
    /// Wait until there are so many bytes; up to 1 is any.
    pub bytes_min: usize,
    /// At most so many bytes; the first batch may exceed it.
    pub bytes_max: usize,
    /// The longest wait.
    pub wait_max: Duration,
}

/// What a member gets.
#[derive(Debug)]
pub struct ShareFetched {
    /// One outcome per partition of the plan, in its order.
    pub partitions: Vec<Result<ShareFetchedRecords, ShareFetchError>>,
    /// The bytes in memory count against the broker's budget until this is dropped: keep it until they are sent.
    pub memory: FetchMemory,
    /// How long the records are held.
    pub lock: Duration,
}

/// Records of one partition that a member holds.
#[derive(Debug, Default)]
pub struct ShareFetchedRecords {
    /// Whole batches in order.
    pub records: Vec<Bytes>,
    /// Which of their records the member holds.
    pub acquired: Vec<Acquired>,
}

/// Why a partition gives no records.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ShareFetchError {
    /// There is no such partition.
    #[error(transparent)]
    Lookup(#[from] LookupError),
    /// It cannot be read.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// The share group is not there, or does not read the partition.
    #[error(
        "share group {group} has no state of this partition: a member that subscribes to the topic makes it"
    )]
    NoState {
        /// The group.
        group: GroupId,
    },
    /// The share-partition's state cannot be read or written; retry.
    #[error(transparent)]
    Coordinator(#[from] CoordinatorError),
}

impl From<PartitionUnavailable> for ShareFetchError {
    fn from(error: PartitionUnavailable) -> Self {
        Self::Fetch(error.into())
    }
}

impl ShareFetchError {
    pub(super) fn from_offsets(error: OffsetsError) -> Self {
        match error {
            OffsetsError::Lookup(error) => error.into(),
            OffsetsError::Epoch(error) => Self::Fetch(error.into()),
            OffsetsError::Unavailable(error) => error.into(),
            OffsetsError::Read { partition, reason } => {
                Self::Fetch(FetchError::Read { partition, reason })
            }
        }
    }
}

/// A partition that is there.
struct Target {
    /// Its place in the plan.
    position: usize,
    partition: Arc<Partition>,
    shard: Arc<Shard>,
    seated: Seated<ShareKey>,
    tickets: Option<(u64, u64)>,
}

impl Drop for Target {
    fn drop(&mut self) {
        if let Some((of_log, of_state)) = self.tickets {
            self.partition.watchers().unwatch(of_log);
            self.seated.seat().watchers.unwatch(of_state);
        }
    }
}

/// One fetch under way.
struct ShareFetch<'a> {
    shares: &'a Shares,
    broker: Arc<Broker>,
    plan: ShareFetchPlan,
    settings: ShareGroupSettings,
    outcomes: Vec<Result<ShareFetchedRecords, ShareFetchError>>,
    memory: FetchMemory,
    records_left: i64,
    bytes_left: usize,
    /// Nothing more goes into this answer: what failed often goes alone, or there is no memory for more.
    is_full: bool,
    /// There is something to answer: records, or why there are none.
    has_news: bool,
}

impl Shares {
    /// Hands records to a member of a share group, waiting for them as the plan asks.
    pub(super) async fn fetch_of_group(
        &self,
        plan: ShareFetchPlan,
    ) -> Result<ShareFetched, CoordinatorError> {
        let broker = self.broker()?;
        let settings = broker.share_group_settings(&plan.group);
        let outcomes = plan.partitions.iter();
        let mut fetch = ShareFetch {
            shares: self,
            settings,
            outcomes: outcomes
                .map(|_| Ok(ShareFetchedRecords::default()))
                .collect(),
            memory: FetchMemory::none(),
            records_left: plan.records_max,
            bytes_left: plan.bytes_max.min(broker.budget.bytes_max()),
            is_full: false,
            has_news: false,
            broker,
            plan,
        };
        fetch.run().await;
        Ok(ShareFetched {
            partitions: fetch.outcomes,
            memory: fetch.memory,
            lock: Duration::from_millis(fetch.settings.record_lock_ms),
        })
    }
}

impl ShareFetch<'_> {
    async fn run(&mut self) {
        let mut targets = self.targets().await;
        if targets.is_empty() {
            return;
        }
        let waiter = Arc::new(FetchWaiter::default());
        let until = Instant::now() + self.plan.wait_max;
        let mut is_last = self.plan.wait_max.is_zero();
        if !is_last {
            // Before the first look, so that no change is missed.
            for target in &mut targets {
                let of_log = target.partition.watchers().watch(&waiter, target.position);
                let of_state = target
                    .seated
                    .seat()
                    .watchers
                    .watch(&waiter, target.position);
                target.tickets = Some((of_log, of_state));
            }
        }
        let mut due = Due::all(targets.iter().map(|target| target.position));
        loop {
            if is_last || self.has_enough(&targets, &mut due) {
                self.take_due(&targets, &mut due).await;
            }
            if is_last || self.has_news {
                return;
            }
            match tokio::time::timeout_at(until, waiter.changed()).await {
                Ok(changed) => due.changed(changed),
                Err(_) => {
                    is_last = true;
                    due = Due::all(targets.iter().map(|target| target.position));
                }
            }
        }
    }

    /// Takes what there is of the partitions that are due, in the plan's order, as far as the limits go.
    async fn take_due(&mut self, targets: &[Target], due: &mut Due) {
        for position in due.take() {
            let Ok(at) = targets.binary_search_by_key(&position, |target| target.position) else {
                continue;
            };
            let target = &targets[at];
            self.shares.counts.looks.fetch_add(1, Ordering::Relaxed);
            if let Err(error) = self.take(target).await {
                self.note_error(position, error);
            }
            self.has_news |= match &self.outcomes[position] {
                Ok(records) => !records.acquired.is_empty(),
                // One that is not there holds up nobody who waits for the others; and what is loading wakes who waits for it.
                Err(error) => matches!(error, ShareFetchError::Fetch(_)),
            };
            if self.is_full || self.records_left <= 0 || self.bytes_left == 0 {
                return;
            }
        }
    }

    /// The partitions that are there; the others have their outcome.
    async fn targets(&mut self) -> Vec<Target> {
        let mut targets = Vec::new();
        for (position, (topic, index)) in self.plan.partitions.clone().into_iter().enumerate() {
            let key = ShareKey {
                group: self.plan.group.clone(),
                topic,
                partition: index,
            };
            let partition = match self.broker.partition(&TopicRef::Id(topic), index) {
                Ok(partition) => partition,
                Err(error) => {
                    self.outcomes[position] = Err(error.into());
                    continue;
                }
            };
            match self.shares.shard(&key).await {
                Ok(shard) => targets.push(Target {
                    position,
                    partition,
                    shard,
                    seated: self.shares.seats.take(&key),
                    tickets: None,
                }),
                Err(error) => self.outcomes[position] = Err(error.into()),
            }
        }
        targets
    }

    /// A partition fails. What was acquired before the failure is given all the same: it counts as delivered.
    fn note_error(&mut self, position: usize, error: ShareFetchError) {
        let outcome = &mut self.outcomes[position];
        match outcome {
            Ok(records) if !records.acquired.is_empty() => {
                tracing::debug!(%error, "a share fetch ends early");
            }
            _ => *outcome = Err(error),
        }
    }

    /// The offset behind what was acquired of a partition: only what is at or behind it may follow.
    fn acquired_end(&self, position: usize) -> Offset {
        let records = self.outcomes[position].as_ref().ok();
        let last = records.and_then(|records| records.acquired.last());
        last.map_or(Offset::ZERO, |range| range.last.plus(1))
    }

    fn has_acquired(&self) -> bool {
        self.records_left < self.plan.records_max
    }

    /// Whether there are the bytes that the plan waits for.
    fn has_enough(&self, targets: &[Target], due: &mut Due) -> bool {
        if self.plan.bytes_min <= 1 {
            return true;
        }
        let policy = self.policy();
        for position in due.unmeasured() {
            if let Ok(at) = targets.binary_search_by_key(&position, |target| target.position) {
                due.measured(position, self.available(&targets[at], &policy));
            }
        }
        due.bytes() >= self.plan.bytes_min
    }

    /// How many bytes there are of a partition, about; any number where it takes more than a look to know.
    fn available(&self, target: &Target, policy: &Policy) -> usize {
        let next = target.shard.look(target.seated.key(), |ledger, waiting| {
            match ledger.start() {
                // It has to begin first.
                None => Err(()),
                Some(_) => Ok(waiting.next_available(ledger, policy)),
            }
        });
        let from = match next {
            Ok(Ok(Some(from))) => from,
            Ok(Ok(None)) => return 0,
            Ok(Err(())) | Err(_) => return usize::MAX,
        };
        if from >= target.partition.high_watermark() {
            return 0;
        }
        let wanted = self.wanted(from, self.plan.bytes_max);
        match target.partition.readable_now(wanted) {
            Ok(Some(readable)) => readable.bytes(),
            // How much it is takes a look at the disk; it was not appended lately.
            Ok(None) | Err(_) => usize::MAX,
        }
    }

    fn policy(&self) -> Policy {
        self.shares.policy(&self.broker, &self.plan.group)
    }

    fn wanted(&self, from: Offset, bytes_max: usize) -> Wanted {
        Wanted {
            from,
            bytes_max,
            whole_batch: true,
            isolation: match self.settings.is_read_committed {
                true => Isolation::ReadCommitted,
                false => Isolation::ReadUncommitted,
            },
        }
    }

    /// Takes what there is of a partition, within the limits.
    async fn take(&mut self, target: &Target) -> Result<(), ShareFetchError> {
        let (shard, key) = (&target.shard, target.seated.key());
        let turn = &target.seated.seat().turn;
        let _turn = match self.memory.is_none() {
            true => turn.lock().await,
            // Who has the turn may wait for the memory that this fetch holds.
            false => match turn.try_lock() {
                Ok(turn) => turn,
                Err(_) => return Ok(()),
            },
        };
        if self.outcomes[target.position].is_err() {
            // That was an earlier look.
            self.outcomes[target.position] = Ok(ShareFetchedRecords::default());
        }
        let policy = self.policy();
        self.shares
            .begin(
                &self.broker,
                shard,
                key,
                &target.partition,
                &self.settings,
                &policy,
            )
            .await?;
        let mut before = None;
        while self.records_left > 0 && self.bytes_left > 0 && !self.is_full {
            let next = shard.look(key, |ledger, waiting| {
                waiting.next_available(ledger, &policy)
            })?;
            let below = visible_end(&target.partition, self.settings.is_read_committed)?;
            let end = self.acquired_end(target.position);
            let is_ahead = |next: &Offset| *next >= end && Some(*next) > before;
            let Some(from) = next.filter(|next| next.0 < below && is_ahead(next)) else {
                return Ok(());
            };
            before = Some(from);
            match self.take_from(target, from, Offset(below), &policy).await {
                Err(ShareFetchError::Fetch(FetchError::OffsetOutOfRange { .. }))
                    if Shares::follow_log_start(shard, key, &target.partition, &policy, from)? => {}
                taken => taken?,
            }
            // One who scans much lets others go on.
            tokio::task::yield_now().await;
        }
        Ok(())
    }

    /// Reads some batches from an offset on and takes what is available of them.
    async fn take_from(
        &mut self,
        target: &Target,
        from: Offset,
        below: Offset,
        policy: &Policy,
    ) -> Result<(), ShareFetchError> {
        let bytes_max = self.bytes_left.min(CHUNK_BYTES);
        let Some((read, memory)) = self.read(&target.partition, from, bytes_max).await? else {
            self.is_full = true;
            return Ok(());
        };
        let bytes: usize = read.records.iter().map(Bytes::len).sum();
        if self.has_acquired() && bytes > self.bytes_left {
            // Only the first batch of an answer may be larger than what is left.
            self.is_full = true;
            return Ok(());
        }
        let floor = self.acquired_end(target.position);
        let scan = Scan::of(&read, (floor, from), below).map_err(|error| FetchError::Damaged {
            partition: target.partition.folder().to_string(),
            reason: error.to_string(),
        })?;
        let acquire = Acquire {
            member: &self.plan.member,
            records_max: self.records_left,
            batch_size: self.plan.batch_size,
            mode: self.plan.mode,
            found: &scan.found,
            is_first: !self.has_acquired(),
        };
        let decided = target
            .shard
            .decide(target.seated.key(), policy, Input::Acquire(acquire))?;
        let Reply::Acquired(acquired) = decided.reply else {
            unreachable!("a machine answers in kind");
        };
        if acquired.is_empty() {
            return Ok(());
        }
        let records = scan.batches_of(&acquired);
        let bytes: usize = records.iter().map(Bytes::len).sum();
        self.bytes_left = self.bytes_left.saturating_sub(bytes);
        for range in &acquired {
            let count = range.last.0 - range.first.0 + 1;
            self.records_left -= count;
            self.is_full |= policy.isolated(range.delivery_count - 1, count).is_some();
        }
        if !records.is_empty() {
            self.memory = std::mem::replace(&mut self.memory, FetchMemory::none()).and(memory);
        }
        if let Ok(outcome) = &mut self.outcomes[target.position] {
            outcome.records.extend(records);
            outcome.acquired.extend(acquired);
        }
        Ok(())
    }

    /// Reads whole batches into memory; none if there is no memory for more than this fetch has. Only who holds none waits for
    /// it: two who hold some could wait for each other.
    async fn read(
        &self,
        partition: &Arc<Partition>,
        from: Offset,
        bytes_max: usize,
    ) -> Result<Option<(FetchedRecords, FetchMemory)>, ShareFetchError> {
        let wanted = self.wanted(from, bytes_max);
        let blocking = self.shares.blocking;
        let readable = match partition.readable_now(wanted)? {
            Some(readable) => readable,
            None => {
                let _turn = self.broker.budget.turn_to_load().await;
                let partition = partition.clone();
                let looked = blocking.run(move || partition.readable(wanted));
                unpanicked(looked.await)?
            }
        };
        let budget = &self.broker.budget;
        let memory = match self.memory.is_none() {
            true => budget.reserve(readable.bytes()).await,
            false => match budget.try_reserve(readable.bytes()) {
                Some(memory) => memory,
                None => return Ok(None),
            },
        };
        if let Some(read) = partition.read_now(&readable)? {
            return Ok(Some((read, memory)));
        }
        let partition = partition.clone();
        let read = blocking.run(move || partition.read(&readable));
        Ok(Some((unpanicked(read.await)?, memory)))
    }
}

fn unpanicked<R>(done: Result<R, tokio::task::JoinError>) -> R {
    match done {
        Ok(done) => done,
        Err(panicked) => std::panic::resume_unwind(panicked.into_panic()),
    }
}
