//! What a partition of a queue logs.

use super::{Attempt, Counters, State, To};
use crate::share::ShareKey;
use fanlog_model::{Offset, ProducerEpoch, ProducerId};
use std::sync::Arc;
use uuid::Uuid;

/// Which partition of which queue.
pub type QueueKey = ShareKey;

/// A record of `__fanlog_queues`, its key aside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueueRecord {
    /// A piece of everything. Once its last piece is there, what came before counts no more; unless all pieces are there, none counts.
    Snapshot(SnapshotPiece),
    /// What changed.
    Update(Update),
    /// There is no such queue any more.
    Deleted,
}

impl QueueRecord {
    /// Whether records before this one are needless, if the whole batch that it begins is there.
    pub fn begins_snapshot(&self) -> bool {
        matches!(self, Self::Snapshot(piece) if piece.index == 0)
    }
}

/// A piece of everything that is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SnapshotPiece {
    /// Which piece, from 0.
    pub index: u32,
    /// How many there are.
    pub count: u32,
    /// In the first piece: what is known of the partition as a whole.
    pub head: Option<Head>,
    /// Names of consumers that hold something, by number.
    pub consumers: Vec<(u32, Arc<str>)>,
    /// The records that are not fresh, in ascending order.
    pub states: Vec<(Offset, Offset, State)>,
    /// Attempts that failed, of records that are not done with.
    pub failures: Vec<(Offset, Attempt)>,
}

/// What is known of the partition as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// Which queue of the name.
    pub incarnation: Uuid,
    /// The first offset that is not done with.
    pub start: Offset,
    /// Where the log began when it was last heard of.
    pub log_start: Offset,
    /// The first number of a hand-over that the log does not know to be used.
    pub next_grant: u64,
    /// The idempotent producer of the moves.
    pub producer: ProducerId,
    /// Where moves go, and how they are numbered.
    pub row: MoveRow,
    /// Moves below this number are over.
    pub moved_below: u64,
    /// What has happened so far.
    pub counters: Counters,
}

/// The row of moves to one target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MoveRow {
    /// The target; none before the first move.
    pub target: Option<super::MoveTarget>,
    /// Somebody sends records there as they are (`Input::Send`), rather than the queue's own rules.
    pub is_sent: bool,
    /// The epoch of the producer.
    pub epoch: ProducerEpoch,
    /// The move that has sequence 0 in this epoch.
    pub base: u64,
    /// The number of the next move.
    pub next: u64,
}

/// What changed, in the order in which it is applied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Update {
    /// The log begins here now.
    pub log_start: Option<Offset>,
    /// Hand-overs have numbers from here on.
    pub next_grant: Option<u64>,
    /// Moves below this number are durable in the target.
    pub moved_below: Option<u64>,
    /// A new target, or a new epoch: what is still to be moved is numbered anew from the row's base on.
    pub row: Option<MoveRow>,
    /// Names of consumers, by numbers that the changes use.
    pub consumers: Vec<(u32, Arc<str>)>,
    /// How many attempts failed.
    pub failed: u64,
    /// Those of them that are remembered.
    pub failures: Vec<(Offset, Attempt)>,
    /// New states, in ascending order.
    pub changes: Vec<Change>,
}

/// New state of neighbouring records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// The first.
    pub first: Offset,
    /// The last.
    pub last: Offset,
    /// What they are now.
    pub to: To,
}
