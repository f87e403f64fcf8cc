//! Fetch: reads many partitions, and waits for more where there is too little.
//!
//! Why it exists: consumers ask for "at least this much, or what there is after that long" over many partitions at
//! once; the wait is on the partitions, with one timer per fetch, and a fetch that waits holds no bytes.
//! Owns: the budget of bytes that all fetches together may hold.   Never: sessions (KIP-227), which are the protocol's.
//! In -> out: a plan -> one outcome per partition, in the plan's order.
//! Invariants: LOG-2 (nothing above the high watermark), OPS-1.   Read next: `waiters.rs`.

use crate::blocking::Blocking;
use crate::fetch_types::{FetchError, FetchPartition, FetchRequestPlan, FetchedRecords};
use crate::lookup::{LookupError, PartitionUnavailable, TopicRef};
use crate::partition::{Partition, Readable};
use crate::topics_view::TopicsView;
use crate::waiters::FetchWaiter;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The unit in which the budget is counted, so that it fits the semaphore's numbers.
const BUDGET_UNIT: usize = 1024;
/// A fetch of no more than this is small.
const SMALL_BYTES_MAX: usize = 1024 * 1024;

/// How much is read on the thread that serves the connection: a fraction of a millisecond's work.
const INLINE_BYTES_MAX: usize = 1024 * 1024;

/// What a fetch gives: one outcome per partition asked for, in that order.
#[derive(Debug)]
pub struct FetchResult {
    /// The outcomes.
    pub partitions: Vec<Result<FetchedRecords, FetchError>>,
    /// The bytes count against the broker's budget until this is dropped: keep it until they are sent.
    pub memory: FetchMemory,
}

/// A share of the memory that fetches may hold; given back when dropped.
#[derive(Debug)]
pub struct FetchMemory {
    lane: Option<(OwnedSemaphorePermit, Arc<Lane>)>,
}

impl FetchMemory {
    /// Whether other fetches wait for memory of this kind.
    pub fn is_wanted(&self) -> bool {
        let wanted = |lane: &Lane| lane.waiting.load(Ordering::Relaxed) > 0;
        self.lane.as_ref().is_some_and(|(_, lane)| wanted(lane))
    }
}

/// The bytes that all fetches together may hold: a quarter is for small ones, so that they never wait for large ones.
#[derive(Clone, Debug)]
pub(crate) struct FetchBudget {
    small: Arc<Lane>,
    large: Arc<Lane>,
}

#[derive(Debug)]
struct Lane {
    units: Arc<Semaphore>,
    units_max: usize,
    waiting: AtomicUsize,
}

/// Counts one who waits, however the wait ends.
struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Lane {
    fn new(bytes: usize) -> Arc<Self> {
        let units_max = bytes.div_ceil(BUDGET_UNIT).clamp(1, u32::MAX as usize);
        Arc::new(Self {
            units: Arc::new(Semaphore::new(units_max)),
            units_max,
            waiting: AtomicUsize::new(0),
        })
    }

    fn units_for(&self, bytes: usize) -> u32 {
        bytes.div_ceil(BUDGET_UNIT).min(self.units_max) as u32
    }
}

impl FetchBudget {
    pub(crate) fn new(bytes: usize) -> Self {
        let quarter = bytes / 4;
        Self {
            small: Lane::new(quarter),
            large: Lane::new(bytes - quarter),
        }
    }

    /// Room for a large fetch, if there is any now.
    fn try_reserve_large(&self, bytes: usize) -> Option<FetchMemory> {
        let lane = &self.large;
        let units = Arc::clone(&lane.units).try_acquire_many_owned(lane.units_for(bytes));
        units.ok().map(|permit| FetchMemory {
            lane: Some((permit, Arc::clone(lane))),
        })
    }

    /// Waits for room. A single batch larger than the whole budget gets all of it, so that it can be read at all.
    async fn reserve(&self, bytes: usize) -> FetchMemory {
        if bytes == 0 {
            return FetchMemory { lane: None };
        }
        let lane = match bytes {
            ..=SMALL_BYTES_MAX => &self.small,
            _ => &self.large,
        };
        lane.waiting.fetch_add(1, Ordering::Relaxed);
        let _waiting = Waiting(&lane.waiting);
        let permit = Arc::clone(&lane.units)
            .acquire_many_owned(lane.units_for(bytes))
            .await
            .expect("the budget's semaphore is never closed");
        FetchMemory {
            lane: Some((permit, Arc::clone(lane))),
        }
    }

    fn bytes_max(&self) -> usize {
        self.large.units_max * BUDGET_UNIT
    }
}

/// One fetch under way: the partitions it names, looked up once.
pub(crate) struct Fetch {
    plan: FetchRequestPlan,
    targets: Vec<Result<Arc<Partition>, LookupError>>,
    budget: FetchBudget,
    blocking: Blocking,
}

/// Takes a fetch off its partitions' lists when it ends, however it ends.
struct Watches<'a> {
    targets: &'a [Result<Arc<Partition>, LookupError>],
    tickets: Vec<Option<u64>>,
}

impl Drop for Watches<'_> {
    fn drop(&mut self) {
        for (target, ticket) in self.targets.iter().zip(&self.tickets) {
            if let (Ok(partition), Some(ticket)) = (target, ticket) {
                partition.watchers().unwatch(*ticket);
            }
        }
    }
}

impl Fetch {
    pub(crate) fn new(
        topics: &TopicsView,
        mut plan: FetchRequestPlan,
        budget: FetchBudget,
        blocking: Blocking,
    ) -> Self {
        plan.bytes_max = plan.bytes_max.min(budget.bytes_max());
        plan.bytes_min = plan.bytes_min.min(plan.bytes_max);
        let targets = plan
            .partitions
            .iter()
            .map(|wanted| topics.partition(&wanted.topic, wanted.partition).cloned())
            .collect();
        Self {
            plan,
            targets,
            budget,
            blocking,
        }
    }

    pub(crate) async fn run(self) -> FetchResult {
        if self.plan.bytes_min > 0 && !self.plan.wait_max.is_zero() {
            // A time-out is an answer too: what there is by then.
            let _ = tokio::time::timeout(self.plan.wait_max, self.wait_until_enough()).await;
        }
        self.read().await
    }

    /// Completes when there are `bytes_min` to read, or a partition has an error, or there is nothing to wait for.
    async fn wait_until_enough(&self) {
        let waiter = Arc::new(FetchWaiter::default());
        let mut available = vec![0; self.targets.len()];
        let mut changed: Vec<usize> = (0..self.targets.len()).collect();
        let _watches = self.watch(&waiter);
        loop {
            for position in changed {
                match self.bytes_at(position) {
                    Some(bytes) => available[position] = bytes,
                    None => return,
                }
            }
            let total: usize = available.iter().sum();
            if total >= self.plan.bytes_min || self.targets.is_empty() {
                return;
            }
            changed = waiter.changed().await;
        }
    }

    /// Registers before the first look, so that no change is missed.
    fn watch(&self, waiter: &Arc<FetchWaiter>) -> Watches<'_> {
        let tickets = self
            .targets
            .iter()
            .enumerate()
            .map(|(position, target)| {
                let partition = target.as_ref().ok()?;
                Some(partition.watchers().watch(waiter, position))
            })
            .collect();
        Watches {
            targets: &self.targets,
            tickets,
        }
    }

    /// How many bytes could be read from a partition; none if it has an error, or another history than the client, either
    /// of which is answered at once.
    fn bytes_at(&self, position: usize) -> Option<usize> {
        let wanted = &self.plan.partitions[position];
        let partition = self.targets[position].as_ref().ok()?;
        let readable = self.look(partition, wanted, wanted.bytes_max, true).ok()?;
        (!readable.is_diverging()).then(|| readable.bytes())
    }

    fn look(
        &self,
        partition: &Arc<Partition>,
        wanted: &FetchPartition,
        bytes_max: usize,
        whole_batch: bool,
    ) -> Result<Readable, FetchError> {
        partition.check_leader_epoch(wanted.leader_epoch)?;
        if let Some(epoch) = wanted.last_fetched_epoch {
            let diverging = partition
                .diverging(wanted.offset, epoch)
                .map_err(|error| gone_is_unknown(error, &wanted.topic))?;
            if let Some(diverging) = diverging {
                return Ok(diverging);
            }
        }
        partition
            .readable(wanted.offset, bytes_max, whole_batch, self.plan.isolation)
            .map_err(|error| gone_is_unknown(error, &wanted.topic))
    }

    /// Reads what there is, in the plan's order, within its limits.
    async fn read(mut self) -> FetchResult {
        let (mut looked, mut bytes) = self.look_at_all();
        let mut memory = None;
        if bytes > SMALL_BYTES_MAX {
            memory = self.budget.try_reserve_large(bytes);
            if memory.is_none() {
                // Little now is better than much when others have let go of theirs.
                self.plan.bytes_max = SMALL_BYTES_MAX;
                (looked, bytes) = self.look_at_all();
            }
        }
        let memory = match memory {
            Some(memory) => memory,
            None => self.budget.reserve(bytes).await,
        };
        let is_at_tail = looked.iter().flatten().all(Readable::is_at_tail);
        if is_at_tail && bytes <= INLINE_BYTES_MAX {
            let partitions = self.read_all(looked);
            return FetchResult { partitions, memory };
        }
        // What was written long ago, or before a restart, may have to come from the disk, and much takes its time even from
        // memory: that must not hold up other connections.
        let read = self.blocking.run(move || self.read_all(looked));
        match read.await {
            Ok(partitions) => FetchResult { partitions, memory },
            Err(panicked) => std::panic::resume_unwind(panicked.into_panic()),
        }
    }

    fn read_all(
        &self,
        looked: Vec<Result<Readable, FetchError>>,
    ) -> Vec<Result<FetchedRecords, FetchError>> {
        let mut partitions = Vec::with_capacity(looked.len());
        for (looked, target) in looked.into_iter().zip(&self.targets) {
            partitions.push(match (looked, target) {
                (Ok(readable), Ok(partition)) => partition.read(readable),
                (Err(error), _) => Err(error),
                (Ok(_), Err(error)) => Err(error.clone().into()),
            });
        }
        partitions
    }

    fn look_at_all(&self) -> (Vec<Result<Readable, FetchError>>, usize) {
        let mut left = self.plan.bytes_max;
        let mut total = 0;
        let looked = self
            .plan
            .partitions
            .iter()
            .zip(&self.targets)
            .map(|(wanted, target)| {
                let partition = target.as_ref().map_err(|error| error.clone())?;
                // The first partition that has anything gives one whole batch, whatever its size (P59).
                let readable =
                    self.look(partition, wanted, left.min(wanted.bytes_max), total == 0)?;
                total += readable.bytes();
                left = left.saturating_sub(readable.bytes());
                Ok(readable)
            })
            .collect();
        (looked, total)
    }
}

/// A topic that went while the fetch waited is unknown, in the words that the request used.
fn gone_is_unknown(error: FetchError, topic: &TopicRef) -> FetchError {
    match error {
        FetchError::Unavailable(PartitionUnavailable::Deleted { .. }) => match topic {
            TopicRef::Name(name) => LookupError::UnknownTopic(name.clone()).into(),
            TopicRef::Id(id) => LookupError::UnknownTopicId(*id).into(),
        },
        other => other,
    }
}
