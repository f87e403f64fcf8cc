//! Consumer groups: the machines of `__consumer_offsets`, as listeners call them.
//!
//! Why it exists: a group lives in one partition of the topic; here its machine is found, the topic is made at
//! first use, and what concerns all groups goes to all machines.
//! Owns: one shard per partition.   Never: what a group may do.
//! In -> out: request -> the answer of the group's machine, once durable.
//! Invariants: GRP-1, GRP-2, GRP-3.   Read next: `shard.rs`.

mod batch;
mod consumers;
mod follow;
mod latest;
mod load;
mod partitioning;
mod shard;
mod share;
mod surroundings;

pub use crate::machines::CoordinatorError;
pub(crate) use follow::{ConsumerPacesOfGroups, group_settings};
pub(crate) use partitioning::partition_of_name;
pub(crate) use shard::{InTransactionError, Written};

use crate::append_types::AppendError;
use crate::blocking::Blocking;
use crate::broker::Broker;
use crate::machines::{MachineMemory, Shards};
use crate::steady_clock::SteadyClock;
use crate::transactions::MarkerError;
use fanlog_coordinators::CallId;
use fanlog_coordinators::group::{
    Answer, CommitOffsets, DeleteOffsets, DescribedGroup, EndOffsets, FetchOffsets, FetchedOffset,
    GroupError, GroupSettings, Heartbeat, Input, Join, Joined, Leave, LeftMember, List,
    ListedGroup, OffsetOutcome, OffsetsProducer, Sync, Synced, passes,
};
use fanlog_environment::Entropy;
use fanlog_model::{GroupId, Offset, PartitionIndex, TopicId, TopicName, TopicPartition};
use fanlog_protocol::records::EndMarker;
use latest::Latest;
use parking_lot::Mutex;
use shard::Shard;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock, Weak};
use thiserror::Error;
use tokio::sync::oneshot::Receiver;

/// What the operator is told when groups take all that they may.
const MEMORY_FULL: &str = "groups take the memory of fanlog.groups.memory.bytes: new groups and new offsets are refused; raise it, or delete groups";

/// The topic that remembers groups and their offsets.
pub const OFFSETS_TOPIC: &str = "__consumer_offsets";

/// Why a request about a group has no answer.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GroupRequestError {
    /// The group refuses.
    #[error(transparent)]
    Refused(#[from] GroupError),
    /// Its coordinator cannot answer; retry.
    #[error(transparent)]
    Coordinator(#[from] CoordinatorError),
}

/// A group's committed offset, for metrics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupPosition {
    /// The group.
    pub group: GroupId,
    /// The partition.
    pub partition: TopicPartition,
    /// The next offset that the group will read.
    pub committed: Offset,
}

/// All consumer groups.
#[derive(Debug)]
pub struct Groups {
    broker: OnceLock<Weak<Broker>>,
    clock: SteadyClock,
    entropy: Arc<dyn Entropy>,
    settings: Arc<Mutex<GroupSettings>>,
    memory: Arc<MachineMemory>,
    shards: Shards<Shard>,
    blocking: Blocking,
    /// That expressions are to be resolved anew.
    refresh: Latest,
    /// Which topics there were when groups were told last.
    topics_mark: AtomicU64,
}

/// Unwraps the answer of the kind that the question has.
macro_rules! answer {
    ($answer:expr, $kind:ident) => {
        match $answer {
            Answer::$kind(answer) => answer,
            other => unreachable!("a machine answers in kind, not with {other:?}"),
        }
    };
}
use answer;

impl Groups {
    pub(crate) fn new(
        clock: SteadyClock,
        entropy: Arc<dyn Entropy>,
        settings: GroupSettings,
        has_timers: bool,
        blocking: Blocking,
    ) -> Self {
        Self {
            broker: OnceLock::new(),
            clock,
            entropy,
            settings: Arc::new(Mutex::new(settings)),
            memory: Arc::new(MachineMemory::new(MEMORY_FULL)),
            shards: Shards::new(OFFSETS_TOPIC, has_timers, blocking),
            blocking,
            refresh: Latest::default(),
            topics_mark: AtomicU64::new(0),
        }
    }

    pub(crate) fn belong_to(&self, broker: Weak<Broker>) {
        // Set once, at start.
        let _ = self.broker.set(broker);
    }

    /// JoinGroup; answers when the generation stands. `call` and `fresh_id` are filled in here.
    ///
    /// # Errors
    /// The group refuses, or its coordinator cannot answer.
    pub async fn join(&self, mut join: Join) -> Result<Joined, GroupRequestError> {
        join.fresh_id = self.entropy.uuid();
        let shard = self.shard(&join.group).await?;
        let answer = shard.ask(|call| Input::Join(Join { call, ..join })).await?;
        Ok(answer!(answer, Join)?)
    }

    /// SyncGroup; answers when the leader has spoken. `call` is filled in here.
    ///
    /// # Errors
    /// The group refuses, or its coordinator cannot answer.
    pub async fn sync(&self, sync: Sync) -> Result<Synced, GroupRequestError> {
        let shard = self.shard(&sync.group).await?;
        let answer = shard.ask(|call| Input::Sync(Sync { call, ..sync })).await?;
        Ok(answer!(answer, Sync)?)
    }

    /// Heartbeat. `call` is filled in here.
    ///
    /// # Errors
    /// The group refuses, or its coordinator cannot answer.
    pub async fn heartbeat(&self, heartbeat: Heartbeat) -> Result<(), GroupRequestError> {
        let shard = self.shard(&heartbeat.group).await?;
        let answer = shard
            .ask(|call| Input::Heartbeat(Heartbeat { call, ..heartbeat }))
            .await?;
        Ok(answer!(answer, Heartbeat)?)
    }

    /// LeaveGroup. `call` is filled in here.
    ///
    /// # Errors
    /// The group refuses, or its coordinator cannot answer.
    pub async fn leave(&self, leave: Leave) -> Result<Vec<LeftMember>, GroupRequestError> {
        let shard = self.shard(&leave.group).await?;
        let answer = shard
            .ask(|call| Input::Leave(Leave { call, ..leave }))
            .await?;
        Ok(answer!(answer, Leave)?)
    }

    /// OffsetCommit; the caller has checked that the topics exist. `call` is filled in here.
    ///
    /// # Errors
    /// The group refuses, or its coordinator cannot answer.
    pub async fn commit_offsets(
        &self,
        commit: CommitOffsets,
    ) -> Result<Vec<OffsetOutcome>, GroupRequestError> {
        let shard = self.shard(&commit.group).await?;
        let answer = shard
            .ask(|call| Input::CommitOffsets(CommitOffsets { call, ..commit }))
            .await?;
        Ok(answer!(answer, CommitOffsets)?)
    }

    /// OffsetFetch. An offset of an earlier life of its topic is none. `call` is filled in here.
    ///
    /// # Errors
    /// The group refuses, or its coordinator cannot answer.
    pub async fn fetch_offsets(
        &self,
        fetch: FetchOffsets,
    ) -> Result<Vec<FetchedOffset>, GroupRequestError> {
        let all = fetch.partitions.is_none();
        let shard = self.shard(&fetch.group).await?;
        let answer = shard
            .ask(|call| Input::FetchOffsets(FetchOffsets { call, ..fetch }))
            .await?;
        let mut fetched = answer!(answer, FetchOffsets)?;
        for offset in &mut fetched {
            if let Some(committed) = &offset.committed
                && self.is_of_earlier_life(&offset.partition.topic, committed.topic_id)
            {
                offset.committed = None;
            }
        }
        fetched.retain(|offset| !all || offset.committed.is_some());
        Ok(fetched)
    }

    /// OffsetDelete. `call` is filled in here.
    ///
    /// # Errors
    /// The group refuses, or its coordinator cannot answer.
    pub async fn delete_offsets(
        &self,
        delete: DeleteOffsets,
    ) -> Result<Vec<OffsetOutcome>, GroupRequestError> {
        let shard = self.shard(&delete.group).await?;
        let answer = shard
            .ask(|call| Input::DeleteOffsets(DeleteOffsets { call, ..delete }))
            .await?;
        Ok(answer!(answer, DeleteOffsets)?)
    }

    /// DeleteGroups, for one group.
    ///
    /// # Errors
    /// The group refuses, or its coordinator cannot answer.
    pub async fn delete_group(&self, group: GroupId) -> Result<(), GroupRequestError> {
        self.forget_share_states(&group).await?;
        let shard = self.shard(&group).await?;
        let answer = shard.ask(|call| Input::DeleteGroup { call, group }).await?;
        Ok(answer!(answer, DeleteGroup)?)
    }

    /// DescribeGroups, for one group.
    ///
    /// # Errors
    /// There is no such group, or its coordinator cannot answer.
    pub async fn describe(&self, group: GroupId) -> Result<DescribedGroup, GroupRequestError> {
        let shard = self.shard(&group).await?;
        let answer = shard.ask(|call| Input::Describe { call, group }).await?;
        Ok(answer!(answer, Describe)?)
    }

    /// ListGroups: the groups of all machines, by name. Empty filters let everything through.
    ///
    /// # Errors
    /// A coordinator cannot answer, so the list would have gaps.
    pub async fn list(
        &self,
        states: Vec<Arc<str>>,
        types: Vec<Arc<str>>,
    ) -> Result<Vec<ListedGroup>, CoordinatorError> {
        let shards = self.shards();
        let mut listed = Vec::new();
        for shard in shards.iter() {
            let (states, types) = (states.clone(), types.clone());
            let list = |call: CallId| {
                Input::List(List {
                    call,
                    states,
                    types,
                })
            };
            listed.extend(answer!(shard.ask(list).await?, List));
        }
        let queues = self.broker().map(|broker| broker.queues().as_listed());
        let queues = queues.into_iter().flatten();
        listed.extend(queues.filter(|queue| {
            passes(&states, queue.state.name()) && passes(&types, queue.group_type)
        }));
        listed.sort_by(|a, b| a.group.cmp(&b.group));
        Ok(listed)
    }

    /// Makes sure that groups have a place, as FindCoordinator does, and says which partition holds this one.
    ///
    /// # Errors
    /// The topic for groups could not be made.
    pub async fn find(&self, group: &GroupId) -> Result<PartitionIndex, CoordinatorError> {
        let shard = self.shard(group).await?;
        Ok(shard.partition().index())
    }

    /// All committed offsets of groups that are loaded.
    pub fn positions(&self) -> Vec<GroupPosition> {
        let shards = self.shards();
        let mut positions = Vec::new();
        for shard in shards.iter() {
            shard.with_ledger(|ledger| {
                for (group, known) in ledger.groups() {
                    positions.extend(known.offsets.iter().map(|(partition, committed)| {
                        GroupPosition {
                            group: group.clone(),
                            partition: partition.clone(),
                            committed: committed.offset,
                        }
                    }));
                }
            });
        }
        positions
    }

    /// What all groups take of the memory that they may.
    pub(crate) fn memory(&self) -> &MachineMemory {
        &self.memory
    }

    /// Lets every deadline that has passed take effect; the timers do this on their own.
    pub fn tick(&self) {
        for shard in self.shards().iter() {
            shard.tick();
        }
    }

    fn broker(&self) -> Option<Arc<Broker>> {
        self.weak_broker().upgrade()
    }

    fn weak_broker(&self) -> Weak<Broker> {
        self.broker.get().cloned().unwrap_or_default()
    }

    fn shards(&self) -> Arc<[Arc<Shard>]> {
        self.shards.all()
    }

    /// Has a transaction's end written to a partition of the topic. The answer waits to be durable.
    pub(crate) fn write_end(
        &self,
        index: PartitionIndex,
        producer: OffsetsProducer,
        marker: EndMarker,
        is_later_marker: bool,
    ) -> Result<Receiver<Answer>, MarkerError> {
        let shard = self.shards.of_partition(index);
        let shard = shard.ok_or(CoordinatorError::Loading)?;
        let written = Written {
            producer,
            allowed_at: None,
            coordinator_epoch: Some(marker.coordinator_epoch),
            is_later_marker,
        };
        let end = |call| {
            Input::EndOffsets(EndOffsets {
                call,
                producer,
                is_commit: marker.is_commit,
                coordinator_epoch: marker.coordinator_epoch,
            })
        };
        shard
            .submit_in_transaction(written, end)
            .map_err(|error| match error {
                InTransactionError::Refused(refused) => AppendError::Refused(refused).into(),
                InTransactionError::Coordinator(error) => error.into(),
            })
    }

    pub(crate) async fn shard(&self, group: &GroupId) -> Result<Arc<Shard>, CoordinatorError> {
        if let Some(shard) = self.shard_now(group) {
            return Ok(shard);
        }
        self.make_topic().await?;
        self.shard_now(group).ok_or(CoordinatorError::Loading)
    }

    /// The shard of a group, if the topic is there.
    fn shard_now(&self, group: &GroupId) -> Option<Arc<Shard>> {
        self.shards.of_name(group.as_str())
    }

    async fn make_topic(&self) -> Result<(), CoordinatorError> {
        let not_available = |reason: String| CoordinatorError::NotAvailable {
            reason: reason.into(),
        };
        let broker = self
            .broker()
            .ok_or_else(|| not_available("the broker is stopping".to_owned()))?;
        broker
            .make_offsets_topic()
            .await
            .map_err(|error| not_available(error.to_string()))
    }

    fn is_of_earlier_life(&self, topic: &TopicName, id: TopicId) -> bool {
        let Some(broker) = self.broker() else {
            return false;
        };
        let topics = broker.topics();
        let now = topics.by_name(topic).map(|topic| topic.id);
        !id.is_zero() && now != Some(id)
    }
}
