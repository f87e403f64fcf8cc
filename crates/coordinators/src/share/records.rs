//! What a share-partition logs.

use super::RecordState;
use fanlog_model::{GroupId, LeaderEpoch, Offset, PartitionIndex, TimestampMs, TopicId};

/// Which share-partition.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ShareKey {
    /// The share group.
    pub group: GroupId,
    /// The topic.
    pub topic: TopicId,
    /// The partition.
    pub partition: PartitionIndex,
}

/// A record of `__share_group_state`, its key aside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShareRecord {
    /// Everything: what came before it counts no more.
    Snapshot(Snapshot),
    /// What changed since the snapshot or the update before it.
    Update(Update),
    /// There is no such share-partition any more.
    Deleted,
}

/// Everything that is known of a share-partition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Rises with each snapshot.
    pub snapshot_epoch: i32,
    /// Rises with each new beginning.
    pub state_epoch: i32,
    /// The leader epoch of the partition.
    pub leader_epoch: LeaderEpoch,
    /// The first offset that is not done with; `None` before the first read.
    pub start: Option<Offset>,
    /// How many records behind it are done with.
    pub delivery_complete_count: i32,
    /// When the share-partition came into being.
    pub created_at: TimestampMs,
    /// When this was written.
    pub written_at: TimestampMs,
    /// What differs from "available, never delivered".
    pub batches: Vec<StateBatch>,
}

/// What changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Update {
    /// The snapshot that this follows.
    pub snapshot_epoch: i32,
    /// The leader epoch of the partition.
    pub leader_epoch: LeaderEpoch,
    /// The first offset that is not done with; `None` where it stays.
    pub start: Option<Offset>,
    /// How many records behind it are done with.
    pub delivery_complete_count: i32,
    /// The new states.
    pub batches: Vec<StateBatch>,
}

/// The state of neighbouring records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateBatch {
    /// The first.
    pub first: Offset,
    /// The last.
    pub last: Offset,
    /// Their state.
    pub is: RecordState,
}
