//! The records of a partition by other orders than that of their offsets.

use super::{ATTEMPTS_SHOWN, Held, State};
use crate::runs::RunState;
use fanlog_model::{Offset, TimestampMs};
use std::collections::{BTreeMap, BTreeSet};

/// How many records are in which state, and where to find those that are held or moving. Entries stand for whole runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Index {
    pub(super) held: u64,
    pub(super) resting: u64,
    pub(super) moving: u64,
    pub(super) done: u64,
    pub(super) by_attempts: [u64; ATTEMPTS_SHOWN],
    /// By when their locks run out.
    pub(super) locks: BTreeSet<(TimestampMs, Offset)>,
    pub(super) of_consumer: BTreeSet<(u32, TimestampMs, Offset)>,
    /// How many records each consumer holds; none is not listed.
    pub(super) consumers: BTreeMap<u32, u64>,
    /// By their places in the row of moves.
    pub(super) row: BTreeMap<u64, Offset>,
    /// Consumers that came to hold nothing in the course of a change.
    pub(super) idle: Vec<u32>,
}

impl RunState for State {
    type Index = Index;
    const UNKNOWN: Self = Self::Fresh;

    fn advanced(self, by: i64) -> Self {
        let by = by.unsigned_abs();
        match self {
            Self::Held(held) => Self::Held(Held {
                grant: held.grant.saturating_add(by),
                ..held
            }),
            Self::Moving { attempts, number } => Self::Moving {
                attempts,
                number: number.saturating_add(by),
            },
            Self::Fresh | Self::Resting { .. } | Self::Done => self,
        }
    }

    fn note(self, first: Offset, last: Offset, index: &mut Index, is_there: bool) {
        let records = first_to_last(first, last);
        match self {
            Self::Fresh => {}
            Self::Resting { attempts, .. } => {
                index.count_attempts(attempts, records, is_there);
                count(&mut index.resting, records, is_there);
            }
            Self::Held(held) => index.note_held(held, first, records, is_there),
            Self::Moving { attempts, number } => {
                index.count_attempts(attempts, records, is_there);
                count(&mut index.moving, records, is_there);
                match is_there {
                    true => index.row.insert(number, first),
                    false => index.row.remove(&number),
                };
            }
            Self::Done => count(&mut index.done, records, is_there),
        }
    }
}

impl Index {
    fn note_held(&mut self, held: Held, first: Offset, records: u64, is_there: bool) {
        self.count_attempts(held.attempts, records, is_there);
        count(&mut self.held, records, is_there);
        let of_consumer = self.consumers.entry(held.consumer).or_default();
        count(of_consumer, records, is_there);
        let place = (held.consumer, held.until, first);
        match is_there {
            true => {
                self.locks.insert((held.until, first));
                self.of_consumer.insert(place);
            }
            false => {
                self.locks.remove(&(held.until, first));
                self.of_consumer.remove(&place);
            }
        }
        if self.consumers.get(&held.consumer) == Some(&0) {
            self.consumers.remove(&held.consumer);
            self.idle.push(held.consumer);
        }
    }

    fn count_attempts(&mut self, attempts: u16, records: u64, is_there: bool) {
        let place = usize::from(attempts).min(ATTEMPTS_SHOWN - 1);
        count(&mut self.by_attempts[place], records, is_there);
    }
}

/// How many records a run has.
pub(super) fn first_to_last(first: Offset, last: Offset) -> u64 {
    last.0.saturating_sub(first.0).unsigned_abs() + 1
}

fn count(of: &mut u64, records: u64, is_there: bool) {
    *of = match is_there {
        true => of.wrapping_add(records),
        false => of.wrapping_sub(records),
    };
}
