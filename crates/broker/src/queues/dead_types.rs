//! What is asked of dead letters, and what they answer.

use super::types::{Headers, MessageId};
use bytes::Bytes;
use fanlog_model::TimestampMs;
use uuid::Uuid;

/// A dead letter, as a list shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadLetter {
    /// The dead letter itself, in the dead-letter topic.
    pub id: MessageId,
    /// The record that it was made of; none if its headers don't say so.
    pub origin: Option<MessageId>,
    /// That record's timestamp.
    pub origin_timestamp: Option<TimestampMs>,
    /// When it became a dead letter.
    pub timestamp: TimestampMs,
    /// How often it was tried.
    pub attempts: Option<u32>,
    /// Why the last attempt failed.
    pub reason: Option<String>,
    /// How often it was redriven before.
    pub redrives: u32,
    /// The record's key.
    pub key: Option<Bytes>,
}

/// A dead letter with all that it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadLetterShown {
    /// As the list shows it.
    pub letter: DeadLetter,
    /// The record's value.
    pub value: Option<Bytes>,
    /// The record's headers, and those that say what became of it.
    pub headers: Headers,
}

/// Some dead letters, in the order of partition and offset.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeadLetters {
    /// The dead letters.
    pub letters: Vec<DeadLetter>,
    /// Where the next list begins: give it as `after`; none at the end.
    pub next: Option<MessageId>,
}

/// Which dead letters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeadSelection {
    /// These.
    Ids(Vec<MessageId>),
    /// Those that a filter policy wants (as the queue's `filter`, over headers or body).
    Filter {
        /// The policy, as JSON.
        policy: String,
        /// Whether it is over the body; else over the headers.
        is_over_body: bool,
    },
    /// All that are there when it begins.
    All,
}

/// Dead letters that are to be delivered again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redrive {
    /// Which.
    pub which: DeadSelection,
    /// How many a second at most.
    pub rate: Option<u32>,
    /// Only say how many it would be.
    pub is_dry_run: bool,
    /// What was redriven so often before stays where it is (the loop guard).
    pub redrives_max: u32,
}

/// How far a redrive in the background is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedriveState {
    /// It goes on, also after a restart.
    Running,
    /// All that it was to move has arrived.
    Completed,
    /// It was cancelled and has not stopped yet.
    Cancelling,
    /// It was cancelled; what it had not moved by then stays a dead letter.
    Cancelled,
    /// It cannot go on; what it had not moved stays a dead letter.
    Failed,
}

impl RedriveState {
    /// Every state.
    pub const ALL: [Self; 5] = [
        Self::Running,
        Self::Completed,
        Self::Cancelling,
        Self::Cancelled,
        Self::Failed,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Cancelling => "cancelling",
            Self::Cancelled => "cancelled",
            Self::Failed => "failed",
        }
    }

    /// Whether it moves nothing any more.
    pub const fn is_over(self) -> bool {
        matches!(self, Self::Completed | Self::Cancelled | Self::Failed)
    }
}

/// A redrive in the background.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RedriveJob {
    /// Which one.
    pub id: Uuid,
    /// How far it is.
    pub state: RedriveState,
    /// How many a second at most.
    pub rate: Option<u32>,
    /// How many it has moved. After a restart it is what it was to move without what is left, whoever took that.
    pub moved: u64,
    /// How many it was to move when it began.
    pub to_move: u64,
    /// When it began.
    pub started: TimestampMs,
    /// When it was over.
    pub ended: Option<TimestampMs>,
    /// Why it failed, or what keeps it from going on now.
    pub reason: Option<String>,
}

/// What a redrive or a discard did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeadDone {
    /// How many were chosen.
    pub chosen: u64,
    /// How many of them are moved, durably, or discarded; with a rate, how many will be.
    pub done: u64,
    /// How many stay because they were redriven too often.
    pub guarded: u64,
    /// Whether the rest goes on behind this answer: at the rate, or as it has not arrived within half a minute.
    pub goes_on: bool,
    /// The job that goes on.
    pub job: Option<Uuid>,
    /// Those named that are no dead letters of the queue.
    pub not_found: Vec<MessageId>,
}
