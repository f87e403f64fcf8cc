//! What a partition of a queue is asked, and what it answers.

use super::{MoveTarget, RowId};
use fanlog_model::{Offset, ProducerId, TimestampMs};
use std::time::Duration;
use thiserror::Error;
use uuid::Uuid;

/// One input of `decide`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input<'a> {
    /// The queue reads this partition from now on: whatever an earlier queue of the name knew is forgotten.
    Initialize {
        /// The queue's id in the catalog: tells it from an earlier one of its name.
        incarnation: Uuid,
        /// Where it begins.
        start: Offset,
        /// The idempotent producer of its moves, of this partition alone.
        producer: ProducerId,
    },
    /// A consumer wants records.
    Acquire(Acquire<'a>),
    /// What became of records, each on its own; or, if `is_atomic`, all of it counts or nothing (Kafka's ShareAcknowledge).
    Settle {
        /// What.
        items: &'a [Settle<'a>],
        /// All or nothing.
        is_atomic: bool,
    },
    /// A consumer has gone: what it holds is available again, as an attempt that failed.
    Release {
        /// Who.
        consumer: &'a str,
    },
    /// Nobody is to get these any more. What is held stays held: its holder may still settle it, and it does not come back.
    Cancel(&'a [Offset]),
    /// These records are to be moved to the policy's target (a redrive), if nobody holds them.
    Move(&'a [Offset]),
    /// These records go to this target as they are, if nobody holds them: they leave the queue.
    Send {
        /// Which.
        offsets: &'a [Offset],
        /// Where to.
        target: MoveTarget,
    },
    /// The target of a row of `Send` is gone for good, and what was copied there with it: what is still on its way stays in the queue.
    Recall {
        /// The row; of any other one it says nothing.
        row: RowId,
    },
    /// Moves with sequences up to this one are durable in the target.
    Moved {
        /// In which row; of any other one it says nothing.
        row: RowId,
        /// The last sequence.
        through: i32,
    },
    /// The target does not know the sequences of what is still to be moved (it was made anew, or a record of the row has gone): those
    /// up to `through` are there, the others are numbered anew under the next producer epoch.
    Renumber {
        /// Of which row; any other one stays as it is.
        row: RowId,
        /// The last sequence that is there; `None`: none is.
        through: Option<i32>,
    },
    /// Everything below this offset is done with, whoever holds it: its holder's receipt is void. What is on its way elsewhere goes on.
    Purge(Offset),
    /// The partition's log begins here now.
    LogStart(Offset),
    /// Locks may have run out, and records may be due.
    Tick,
}

/// Which records a consumer wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acquire<'a> {
    /// Who: with order per key, a consumer may be given more of the keys that it holds.
    pub consumer: &'a str,
    /// How many at most.
    pub records_max: i64,
    /// How long they are held; `None` as the policy says. After a lock of zero hand in a `Tick`: the attempt has failed.
    pub lock: Option<Duration>,
    /// What there is to read where `reads_from` said, or from the offset on that `next_read` named, in ascending order; without holes from the
    /// cursor on.
    pub found: &'a [Found],
    /// Whether the consumer's answer holds no records yet: what is at its last attempt goes alone.
    pub is_first: bool,
}

/// What was found at an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its offset; the first of a gap.
    pub first: Offset,
    /// The last of a gap; the same offset for a record.
    pub last: Offset,
    /// There is nothing for anybody: a marker, an aborted transaction, what compaction has left.
    pub is_gap: bool,
    /// Whether the queue wants it (`filter`): what was delivered before it is asked no more.
    pub is_wanted: bool,
    /// The hash of its key; `None` without one.
    pub key: Option<u64>,
    /// Not to be given before this time (QUE-4).
    pub due: Option<TimestampMs>,
}

/// A record that a consumer holds now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Its offset.
    pub offset: Offset,
    /// Which delivery of it this is, from 1.
    pub attempt: u16,
    /// The number of this hand-over in this partition, never used twice: with it the holder shows that it still holds.
    pub grant: u64,
    /// Until when.
    pub until: TimestampMs,
    /// When the record was handed out for the first time; none where that is not remembered.
    pub first_given: Option<TimestampMs>,
}

/// By what somebody claims to hold a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim<'a> {
    /// The number of the hand-over.
    Grant(u64),
    /// Its name (share consumers).
    Consumer(&'a str),
}

/// What became of one record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settle<'a> {
    /// Which.
    pub offset: Offset,
    /// Who says so.
    pub claim: Claim<'a>,
    /// What.
    pub outcome: Outcome<'a>,
}

/// What became of a record, in its holder's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome<'a> {
    /// Done.
    Ack,
    /// The attempt failed: it rests for `delay`, or as the backoff says, and comes again; or is moved, after its last attempt.
    Nack {
        /// How long it rests; `None` as the backoff says.
        delay: Option<Duration>,
        /// Why, for people.
        reason: &'a str,
    },
    /// Not tried: available at once, or after `delay`, and no attempt is burnt.
    Release {
        /// How long it rests.
        delay: Option<Duration>,
    },
    /// Never to be tried again: it is moved now.
    Reject {
        /// Why, for people.
        reason: &'a str,
    },
    /// Still being done: the lock lasts so long from now on.
    Extend(Duration),
}

/// What a settlement led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// Done with, or no longer there.
    Done,
    /// It comes again at this time at the earliest.
    Again(TimestampMs),
    /// It is being moved to the target.
    Moving,
    /// It was given up: there is no target.
    GivenUp,
    /// Held until this time.
    Held(TimestampMs),
}

/// Why a settlement did not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SettleError {
    /// The lock ran out, it was settled before, or it was never given.
    #[error(
        "the record at offset {0} is not held under this receipt any more: its lock ran out or it was settled"
    )]
    NotHeld(Offset),
    /// Others of the same, atomic, settlement did not count.
    #[error("nothing of this acknowledgement counted: another record of it is not held")]
    Undone,
}

/// The answer to an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// To inputs that have no answer of their own.
    Done,
    /// To `Acquire`, in ascending order.
    Acquired(Vec<Grant>),
    /// To `Settle`, in its order.
    Settled(Vec<Result<Settled, SettleError>>),
    /// To `Cancel`, `Move` and `Send`, in its order.
    Taken(Vec<Taken>),
}

/// Whether a record was withdrawn or is moved, as was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It is.
    Taken,
    /// Nothing was left to do: it is done with, on its way elsewhere, or, to be moved, held by somebody.
    Over,
    /// It stays as it is: too many records have a state of their own already (`scattered_max`).
    NoRoom,
    /// It stays as it is: there is nowhere to move it.
    NoTarget,
    /// It stays as it is until others have arrived that are on their way to another target.
    Busy,
}
