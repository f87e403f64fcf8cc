//! What is asked of dead letters, and what they answer.

use super::types::{Headers, MessageId};
use bytes::Bytes;
use fanlog_model::TimestampMs;

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
    /// Those named that are no dead letters of the queue.
    pub not_found: Vec<MessageId>,
}
