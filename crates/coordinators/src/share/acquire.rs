//! Acquire: a member is given records.
//!
//! Invariants: QUE-1 (`held.rs` asserts it), QUE-3, QUE-4.

use super::decide::Deciding;
use super::held::Hold;
use super::{Acquire, AcquireMode, Acquired, DeliveryState, Found, RecordState, StateBatch};
use fanlog_model::Offset;
use std::collections::BTreeSet;
use std::sync::Arc;

/// What is being given.
struct Giving {
    given: Vec<Acquired>,
    records: i64,
    /// Whether there are others in the same answer already.
    has_others: bool,
    records_max: i64,
    /// Whether not a record more than `records_max` is given.
    is_strict: bool,
    batch_size: i64,
    /// How many records are given that were never delivered before.
    fresh_left: i64,
    /// Whether the range given last may go on in the next range found. As in Kafka, one that began inside of a range may not,
    /// unless its records were delivered before.
    may_go_on: bool,
    /// Nothing behind this offset: what failed often goes alone.
    last: Offset,
    /// Keys of which a record was passed over.
    passed_keys: BTreeSet<u64>,
    gaps: Vec<StateBatch>,
}

impl Giving {
    fn is_full(&self) -> bool {
        self.records >= self.records_max
    }

    fn add(
        &mut self,
        first: Offset,
        last: Offset,
        delivery_count: i16,
        (may_join, is_new_range, is_whole): (bool, bool, bool),
    ) {
        self.records += last.0 - first.0 + 1;
        let size = self.batch_size;
        if let Some(before) = self.given.last_mut()
            && may_join
            && (self.may_go_on || !is_new_range || delivery_count > 1)
            && before.last.plus(1) == first
            && before.delivery_count == delivery_count
            && !(is_new_range && before.last.0 - before.first.0 + 1 >= size)
        {
            before.last = last;
            return;
        }
        self.may_go_on = is_whole;
        self.given.push(Acquired {
            first,
            last,
            delivery_count,
        });
    }
}

impl Deciding<'_> {
    pub(super) fn acquire(&mut self, wanted: &Acquire<'_>) -> Vec<Acquired> {
        let Some(start) = self.ledger.start else {
            return Vec::new();
        };
        let has_room = self.waiting.has_room(self.ledger, self.policy);
        let in_flight = self.waiting.in_flight(self.ledger);
        let mut giving = Giving {
            given: Vec::new(),
            records: 0,
            has_others: !wanted.is_first,
            records_max: wanted.records_max,
            is_strict: wanted.mode == AcquireMode::RecordLimit,
            batch_size: wanted.batch_size.max(1),
            fresh_left: if has_room {
                self.policy.window - in_flight
            } else {
                0
            },
            may_go_on: true,
            last: Offset(i64::MAX),
            passed_keys: BTreeSet::new(),
            gaps: Vec::new(),
        };
        for found in wanted.found {
            if giving.is_full() || found.first > giving.last {
                break;
            }
            let from = found.first.max(start);
            match found.is_gap {
                true => self.note_gap(&mut giving, from, found.last),
                false => self.give_of(&mut giving, found, from),
            }
        }
        let keys = wanted.found;
        self.hold(wanted.member, &giving.given, keys);
        self.set(giving.gaps);
        giving.given
    }

    /// What is available of a range.
    fn give_of(&self, giving: &mut Giving, found: &Found, from: Offset) {
        if from > found.last {
            return;
        }
        if found.key.is_some() && self.ledger.runs.at(from).0.state.is_terminal() {
            return;
        }
        if found.due.is_some_and(|due| due > self.now.wall) {
            giving.passed_keys.extend(found.key);
            return;
        }
        if let Some(key) = found.key
            && (self.waiting.held.has_key(key) || !giving.passed_keys.insert(key))
        {
            return;
        }
        let mut at = from;
        // What has a key is a hold of its own.
        let mut may_join = found.key.is_none();
        let mut is_new_range = true;
        while at <= found.last && at <= giving.last {
            let free_to = match self.waiting.held.at(at) {
                Ok((_, hold)) => {
                    at = hold.last.plus(1);
                    continue;
                }
                Err(free_to) => free_to,
            };
            let (is, run_last) = self.ledger.runs.at(at);
            let run_last = run_last.min(free_to);
            let last = run_last.min(found.last);
            if !is.state.is_terminal() {
                let last = self.allowed(giving, is, at, run_last, last).min(last);
                if last >= at {
                    let count = is.delivery_count.saturating_add(1);
                    let is_whole = at == found.first;
                    giving.add(at, last, count, (may_join, is_new_range, is_whole));
                    may_join = true;
                    is_new_range = false;
                }
            }
            if giving.is_strict && giving.is_full() {
                return;
            }
            at = last.plus(1);
        }
    }

    /// Up to where of an available run, which ends at `run_last` and of which `last` was found, records may be given; below `at`
    /// if none.
    fn allowed(
        &self,
        giving: &mut Giving,
        is: RecordState,
        at: Offset,
        run_last: Offset,
        last: Offset,
    ) -> Offset {
        let none = Offset(at.0 - 1);
        let run = (run_last.0 - at.0).saturating_add(1);
        let behind = |records: i64| Offset(at.0.saturating_add(records - 1));
        if is == RecordState::FRESH {
            if giving.fresh_left <= 0 {
                return none;
            }
            let left = (giving.records_max - giving.records).min(giving.fresh_left);
            let found = last.0 - at.0 + 1;
            let allowed = if giving.is_strict {
                left.min(found)
            } else {
                found
            };
            giving.fresh_left -= allowed;
            return behind(allowed);
        }
        let is_alone = giving.last.0 != i64::MAX;
        if !is_alone && let Some(allowed) = self.policy.isolated(is.delivery_count, run) {
            if giving.records > 0 || giving.has_others {
                giving.last = none;
                return none;
            }
            giving.is_strict = true;
            giving.records_max = giving.records_max.min(allowed);
            giving.last = run_last;
        }
        match giving.is_strict {
            true => behind((giving.records_max - giving.records).min(run)),
            false => behind(run),
        }
    }

    /// Nobody is to look there again.
    fn note_gap(&self, giving: &mut Giving, from: Offset, last: Offset) {
        let mut at = from;
        while at <= last {
            let free_to = match self.waiting.held.at(at) {
                Ok((_, hold)) => {
                    at = hold.last.plus(1);
                    continue;
                }
                Err(free_to) => free_to,
            };
            let (is, run_last) = self.ledger.runs.at(at);
            let end = run_last.min(free_to).min(last);
            if !is.state.is_terminal() {
                giving.gaps.push(StateBatch {
                    first: at,
                    last: end,
                    is: RecordState {
                        state: DeliveryState::Archived,
                        delivery_count: is.delivery_count,
                    },
                });
            }
            at = end.plus(1);
        }
    }

    fn hold(&mut self, member: &str, given: &[Acquired], found: &[Found]) {
        let member: Arc<str> = member.into();
        let deadline = self.now.monotonic + self.policy.lock;
        for acquired in given {
            let of_one = found
                .iter()
                .find(|f| f.key.is_some() && f.first == acquired.first);
            self.waiting.held.add(
                acquired.first,
                Hold {
                    last: acquired.last,
                    member: member.clone(),
                    delivery_count: acquired.delivery_count,
                    deadline,
                    key: of_one.and_then(|f| f.key),
                },
            );
            self.waiting.end = self.waiting.end.max(acquired.last.plus(1));
        }
    }
}
