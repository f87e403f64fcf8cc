//! Fetch: reads many partitions, and waits for more where there is too little.
//!
//! Why it exists: consumers ask for "at least this much, or what there is after that long" over many partitions at
//! once; the wait is on the partitions, with one timer per fetch, and a fetch that waits holds no bytes.
//! Never: sessions (KIP-227), which are the protocol's; waiting for the disk on a thread that serves connections.
//! In -> out: a plan -> one outcome per partition, in the plan's order: records in memory, or slices of files that are
//! checked and in the page cache, to be sent from there.
//! Invariants: LOG-2 (nothing above the high watermark), OPS-1.   Read next: `waiters.rs`.

use crate::blocking::Blocking;
use crate::fetch_budget::{FetchBudget, FetchMemory, SMALL_BYTES_MAX};
use crate::fetch_types::{FetchError, FetchPartition, FetchRequestPlan, FetchedRecords};
use crate::lookup::{LookupError, PartitionUnavailable, TopicRef};
use crate::partition::{Partition, Readable, Wanted};
use crate::topics_view::TopicsView;
use crate::waiters::FetchWaiter;
use std::sync::Arc;

/// How much is copied on the thread that serves the connection: a fraction of a millisecond's work.
const INLINE_BYTES_MAX: usize = 1024 * 1024;
/// Where more would be copied, runs of this many bytes go from their files too: the copies would need memory and another thread.
const SENT_FROM_FILE_MIN_OF_MUCH: usize = 64 * 1024;
/// How much one fetch gives of what was not appended lately: as much as is brought into memory and checked before the answer begins.
const OLD_BYTES_MAX: usize = 8 * 1024 * 1024;

/// What a fetch gives: one outcome per partition asked for, in that order.
#[derive(Debug)]
pub struct FetchResult {
    /// The outcomes.
    pub partitions: Vec<Result<FetchedRecords, FetchError>>,
    /// The bytes in memory count against the broker's budget until this is dropped: keep it until they are sent.
    pub memory: FetchMemory,
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

/// Whether the thread may wait for the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Thread {
    /// It serves connections.
    MustNotWait,
    MayWait,
}

/// What there is to read of each partition.
struct Looked {
    partitions: Vec<Result<Readable, FetchError>>,
    /// How many bytes have to be copied into memory.
    copied: usize,
    /// Runs of at least so many bytes go from their files.
    sent_from_file_min: usize,
}

impl Looked {
    fn new(partitions: Vec<Result<Readable, FetchError>>, sent_from_file_min: usize) -> Self {
        let mut looked = Self {
            partitions,
            copied: 0,
            sent_from_file_min,
        };
        looked.copied = looked.count_copied();
        let lower = SENT_FROM_FILE_MIN_OF_MUCH.min(sent_from_file_min);
        if looked.copied > INLINE_BYTES_MAX && sent_from_file_min < usize::MAX {
            looked.sent_from_file_min = lower;
            looked.copied = looked.count_copied();
        }
        looked
    }

    fn count_copied(&self) -> usize {
        let readable = self.partitions.iter().flatten();
        let copied = readable.filter(|readable| !readable.is_sendable(self.sent_from_file_min));
        copied.map(Readable::bytes).sum()
    }
}

type Outcomes = Vec<Result<FetchedRecords, FetchError>>;

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
                match self.bytes_at(position).await {
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
    async fn bytes_at(&self, position: usize) -> Option<usize> {
        let wanted = &self.plan.partitions[position];
        let partition = self.targets[position].as_ref().ok()?;
        let limits = Wanted {
            from: wanted.offset,
            bytes_max: wanted.bytes_max,
            whole_batch: true,
            isolation: self.plan.isolation,
        };
        let readable = match look(partition, wanted, limits, Thread::MustNotWait).ok()? {
            Some(readable) => readable,
            // How much it is does not matter where anything is enough.
            None if self.plan.bytes_min <= 1 => return Some(1),
            None => {
                let (partition, wanted) = (partition.clone(), wanted.clone());
                let looked = self
                    .blocking
                    .run(move || look(&partition, &wanted, limits, Thread::MayWait));
                looked.await.ok()?.ok()??
            }
        };
        (!readable.is_diverging()).then(|| readable.bytes())
    }

    /// Reads what there is, within the plan's limits.
    async fn read(mut self) -> FetchResult {
        let Some(looked) = self.look_at_all(Thread::MustNotWait) else {
            self.plan.bytes_max = self.plan.bytes_max.min(OLD_BYTES_MAX);
            return self.read_old().await;
        };
        let (looked, memory) = match self.reserve(looked.copied).await {
            Some(memory) => (Some(looked), memory),
            None => {
                let looked = self.look_at_all(Thread::MustNotWait);
                let copied = looked.as_ref().map_or(0, |looked| looked.copied);
                (looked, self.budget.reserve(copied).await)
            }
        };
        // What is looked for a second time may not be the latest any more.
        let Some(looked) = looked else {
            drop(memory);
            return self.read_old().await;
        };
        if looked.copied <= INLINE_BYTES_MAX
            && let Some(partitions) = self.hand_out(&looked, Thread::MustNotWait)
        {
            return FetchResult { partitions, memory };
        }
        let partitions = self
            .on_thread(move |fetch| fetch.hand_out_waiting(&looked))
            .await
            .1;
        FetchResult { partitions, memory }
    }

    /// Room for what has to be copied. Where there is none for much, the plan is cut: little now is better than much when
    /// others have let go of theirs.
    async fn reserve(&mut self, copied: usize) -> Option<FetchMemory> {
        if copied <= SMALL_BYTES_MAX {
            return Some(self.budget.reserve(copied).await);
        }
        let memory = self.budget.try_reserve_large(copied);
        if memory.is_none() {
            self.plan.bytes_max = SMALL_BYTES_MAX;
        }
        memory
    }

    /// As `read`, of what was not appended lately: it may have to come from the disk.
    async fn read_old(self) -> FetchResult {
        let turn = self.budget.turn_to_load().await;
        let (mut fetch, (looked, done)) = self.on_thread(Self::look_and_hand_out).await;
        if let Some(partitions) = done {
            let memory = fetch.budget.reserve(0).await;
            return FetchResult { partitions, memory };
        }
        // Who waits for memory does not hold up those who need none.
        drop(turn);
        let (fetch, looked, memory) = match fetch.reserve(looked.copied).await {
            Some(memory) => (fetch, looked, memory),
            None => {
                let looked = fetch.on_thread(Self::look_waiting).await;
                let memory = looked.0.budget.reserve(looked.1.copied).await;
                (looked.0, looked.1, memory)
            }
        };
        let handed_out = fetch.on_thread(move |fetch| fetch.hand_out_waiting(&looked));
        let partitions = handed_out.await.1;
        FetchResult { partitions, memory }
    }

    /// Does what may wait for the disk elsewhere.
    async fn on_thread<R: Send + 'static>(
        self,
        work: impl FnOnce(&Self) -> R + Send + 'static,
    ) -> (Self, R) {
        let done = self.blocking.run(move || {
            let result = work(&self);
            (self, result)
        });
        match done.await {
            Ok(done) => done,
            Err(panicked) => std::panic::resume_unwind(panicked.into_panic()),
        }
    }

    /// Looks, and hands out at once where that takes no memory.
    fn look_and_hand_out(&self) -> (Looked, Option<Outcomes>) {
        let looked = self.look_waiting();
        let done = (looked.copied == 0).then(|| self.hand_out_waiting(&looked));
        (looked, done)
    }

    fn look_waiting(&self) -> Looked {
        self.look_at_all(Thread::MayWait)
            .expect("a thread that may wait finds everything")
    }

    fn hand_out_waiting(&self, looked: &Looked) -> Outcomes {
        self.hand_out(looked, Thread::MayWait)
            .expect("a thread that may wait reads everything")
    }

    /// What there is of each partition; nothing where a file has to be read to find out and the thread must not wait.
    fn look_at_all(&self, thread: Thread) -> Option<Looked> {
        let count = self.targets.len();
        let mut partitions: Vec<Option<Result<Readable, FetchError>>> = Vec::new();
        partitions.resize_with(count, || None);
        let mut left = self.plan.bytes_max;
        let mut has_records = false;
        for turn in 0..count {
            let position = (self.plan.first + turn) % count;
            // The first partition that has anything gives one whole batch, whatever its size (P59).
            let looked = self.look_at(position, left, !has_records, thread);
            let looked = match looked {
                Ok(None) => return None,
                Ok(Some(readable)) => {
                    let bytes = readable.bytes();
                    has_records |= bytes > 0;
                    left = left.saturating_sub(bytes);
                    Ok(readable)
                }
                Err(error) => Err(error),
            };
            partitions[position] = Some(looked);
        }
        let partitions = partitions.into_iter().flatten().collect();
        Some(Looked::new(partitions, self.plan.sent_from_file_min))
    }

    fn look_at(
        &self,
        position: usize,
        bytes_max: usize,
        whole_batch: bool,
        thread: Thread,
    ) -> Result<Option<Readable>, FetchError> {
        let wanted = &self.plan.partitions[position];
        let partition = self.targets[position]
            .as_ref()
            .map_err(|error| error.clone())?;
        let limits = Wanted {
            from: wanted.offset,
            bytes_max: bytes_max.min(wanted.bytes_max),
            whole_batch,
            isolation: self.plan.isolation,
        };
        look(partition, wanted, limits, thread)
    }

    /// The records, in memory or ready to be sent from their files; nothing where the thread would have to wait.
    fn hand_out(&self, looked: &Looked, thread: Thread) -> Option<Outcomes> {
        let mut outcomes = Vec::with_capacity(looked.partitions.len());
        for (of_one, target) in looked.partitions.iter().zip(&self.targets) {
            outcomes.push(match (of_one, target) {
                (Ok(readable), Ok(partition)) => {
                    let is_sent = readable.is_sendable(looked.sent_from_file_min);
                    match (is_sent, thread) {
                        (true, Thread::MustNotWait) => Ok(readable.ready_slices()?),
                        (true, Thread::MayWait) => partition.load(readable),
                        (false, Thread::MustNotWait) => partition.read_now(readable).transpose()?,
                        (false, Thread::MayWait) => partition.read(readable),
                    }
                }
                (Err(error), _) => Err(error.clone()),
                (Ok(_), Err(error)) => Err(error.clone().into()),
            });
        }
        self.count(looked, &outcomes);
        Some(outcomes)
    }

    fn count(&self, looked: &Looked, outcomes: &Outcomes) {
        let looked = looked.partitions.iter().zip(outcomes);
        for (target, (looked, outcome)) in self.targets.iter().zip(looked) {
            if let (Ok(partition), Ok(readable), Ok(_)) = (target, looked, outcome) {
                partition.count_fetch(readable);
            }
        }
    }
}

/// What there is to read of a partition; nothing where a file has to be read to find out and the thread must not wait.
fn look(
    partition: &Arc<Partition>,
    of: &FetchPartition,
    wanted: Wanted,
    thread: Thread,
) -> Result<Option<Readable>, FetchError> {
    partition.check_leader_epoch(of.leader_epoch)?;
    if let Some(epoch) = of.last_fetched_epoch {
        let diverging = partition
            .diverging(of.offset, epoch)
            .map_err(|error| gone_is_unknown(error, &of.topic))?;
        if diverging.is_some() {
            return Ok(diverging);
        }
    }
    let looked = match partition.readable_now(wanted) {
        Ok(None) if thread == Thread::MayWait => partition.readable(wanted).map(Some),
        looked => looked,
    };
    looked.map_err(|error| gone_is_unknown(error, &of.topic))
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
