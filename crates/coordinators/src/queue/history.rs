//! What is remembered of attempts that failed.

use fanlog_model::{Offset, TimestampMs};
use std::collections::BTreeMap;
use std::sync::Arc;

/// How many attempts of a record are remembered: the last.
pub const ATTEMPTS_REMEMBERED: usize = 16;
/// The longest reason, in bytes; what is longer is cut.
pub const REASON_BYTES_MAX: usize = 256;

/// How much memory histories take up at most, per partition: once they do, attempts that fail count and are not remembered.
pub(super) const HISTORY_BYTES_MAX: usize = 64 << 20;

/// An attempt that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// When it was known to have failed.
    pub at: TimestampMs,
    /// Which delivery it was, from 1.
    pub attempt: u16,
    /// Who had it.
    pub consumer: Arc<str>,
    /// Why, in its words.
    pub reason: Arc<str>,
    /// When the record was handed out for the first time; none where an older program logged the attempt.
    pub first_given: Option<TimestampMs>,
}

impl Attempt {
    fn bytes(&self) -> usize {
        ATTEMPT_BYTES + self.consumer.len() + self.reason.len()
    }
}

/// What an attempt takes up in memory beside its texts, about.
const ATTEMPT_BYTES: usize = 96;
/// What a record with a history takes up, about.
const RECORD_BYTES: usize = 48;

/// The attempts of all records that failed and are not done with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Histories {
    records: BTreeMap<Offset, Vec<Attempt>>,
    bytes: usize,
}

impl Histories {
    pub(super) fn of(&self, offset: Offset) -> &[Attempt] {
        self.records.get(&offset).map_or(&[], Vec::as_slice)
    }

    pub(super) fn add(&mut self, offset: Offset, attempt: Attempt) {
        self.bytes += attempt.bytes();
        let attempts = self.records.entry(offset).or_default();
        if attempts.is_empty() {
            self.bytes += RECORD_BYTES;
        }
        if attempts.len() >= ATTEMPTS_REMEMBERED {
            let oldest = attempts.remove(0);
            self.bytes -= oldest.bytes();
        }
        attempts.push(attempt);
    }

    /// When a record was handed out for the first time, as far as it is known: each attempt says so, as the oldest are forgotten.
    pub(super) fn first_given(&self, offset: Offset) -> Option<TimestampMs> {
        self.of(offset).last()?.first_given
    }

    /// These records are done with.
    pub(super) fn forget(&mut self, first: Offset, last: Offset) {
        while let Some((&at, _)) = self.records.range(first..=last).next() {
            let attempts = self.records.remove(&at).unwrap_or_default();
            let bytes: usize = attempts.iter().map(Attempt::bytes).sum();
            self.bytes -= bytes + RECORD_BYTES;
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Offset, &Attempt)> + '_ {
        self.records
            .iter()
            .flat_map(|(offset, attempts)| attempts.iter().map(move |a| (*offset, a)))
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}

/// A reason as it is kept: cut where it is too long, at the end of a character.
pub(super) fn kept(reason: &str) -> Arc<str> {
    let mut end = reason.len().min(REASON_BYTES_MAX);
    while !reason.is_char_boundary(end) {
        end -= 1;
    }
    reason[..end].into()
}
