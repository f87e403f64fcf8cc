//! Acknowledge: what became of records that a member holds.
//!
//! Invariants: QUE-1 (only the holder's word counts), QUE-2.

use super::decide::Deciding;
use super::{AckError, AckRange, AckType, DeliveryState, RecordState, Reply, StateBatch};
use fanlog_model::Offset;

/// How many runs of states a share-partition may come to by acknowledgements of parts of what was given together: twice as many
/// as there may be until nothing new is given. A record of the log with all of them stays below what a log takes.
pub(super) const RUNS_HARD_MAX: usize = 40_000;

/// Some records of one hold, all with the same fate.
struct Part {
    first: Offset,
    last: Offset,
    kind: AckType,
    delivery_count: i16,
}

impl Deciding<'_> {
    pub(super) fn acknowledge(&mut self, member: &str, ranges: &[AckRange]) {
        let parts = check_shape(ranges).and_then(|()| self.parts(member, ranges));
        self.decision.reply = Reply::Acknowledged(parts.map(|parts| self.settle(&parts)));
    }

    /// The acknowledged records, hold by hold; nothing is changed yet.
    fn parts(&self, member: &str, ranges: &[AckRange]) -> Result<Vec<Part>, AckError> {
        let Some(start) = self.ledger.start else {
            return match ranges.is_empty() {
                true => Ok(Vec::new()),
                false => Err(AckError::NotBegun),
            };
        };
        let end = self.waiting.end(self.ledger);
        let mut parts = Vec::new();
        let mut splits = 0;
        for range in ranges {
            if range.last >= end {
                return Err(AckError::NeverDelivered(range.last));
            }
            for (first, last, kind) in runs_of_types(range) {
                if kind == AckType::Renew && !self.policy.may_renew {
                    return Err(AckError::RenewalDisabled);
                }
                // What the start has passed is done with, whoever held it.
                let mut at = first.max(start);
                while at <= last {
                    let (from, hold) = match self.waiting.held.at(at) {
                        Ok(held) if &*held.1.member == member => held,
                        _ => return Err(AckError::NotHeld(at)),
                    };
                    let end = hold.last.min(last);
                    // What was given together is always taken back together.
                    let is_whole = from == at && end == hold.last;
                    splits += usize::from(!is_whole);
                    if !is_whole && self.ledger.runs() + splits > RUNS_HARD_MAX {
                        return Err(AckError::Malformed(
                            "the acknowledgements are too scattered: acknowledge more records alike",
                        ));
                    }
                    parts.push(Part {
                        first: at,
                        last: end,
                        kind,
                        delivery_count: hold.delivery_count,
                    });
                    at = end.plus(1);
                }
            }
        }
        Ok(parts)
    }

    fn settle(&mut self, parts: &[Part]) {
        let mut batches = Vec::new();
        for part in parts {
            let Some(mut hold) = self.waiting.held.take(part.first, part.last) else {
                continue;
            };
            let state = match part.kind {
                AckType::Renew => {
                    hold.deadline = self.now.monotonic + self.policy.lock;
                    self.waiting.held.add(part.first, hold);
                    continue;
                }
                AckType::Accept => DeliveryState::Acknowledged,
                AckType::Reject | AckType::Gap => DeliveryState::Archived,
                AckType::Release => self.policy.after_failure(part.delivery_count),
            };
            if part.kind == AckType::Release && state.is_terminal() {
                self.decision.given_up += part.last.0 - part.first.0 + 1;
            }
            if !state.is_terminal() {
                self.waiting.freed(part.first);
            }
            self.decision.has_freed = true;
            push(
                &mut batches,
                StateBatch {
                    first: part.first,
                    last: part.last,
                    is: RecordState {
                        state,
                        delivery_count: part.delivery_count,
                    },
                },
            );
        }
        self.set(batches);
    }
}

/// Adds a batch behind the others, or to the last.
pub(super) fn push(batches: &mut Vec<StateBatch>, batch: StateBatch) {
    match batches.last_mut() {
        Some(before) if before.last.plus(1) == batch.first && before.is == batch.is => {
            before.last = batch.last;
        }
        _ => batches.push(batch),
    }
}

/// Whether ranges make sense, whatever is held: ascending, without overlaps, and one type for all or for each.
///
/// # Errors
/// They do not.
pub fn check_shape(ranges: &[AckRange]) -> Result<(), AckError> {
    let (mut first_before, mut before) = (Offset(-1), Offset(-1));
    for range in ranges {
        if range.first > range.last {
            return Err(AckError::Malformed("a range ends before it begins"));
        }
        if range.first <= first_before || range.first.0 < 0 {
            return Err(AckError::Malformed("ranges are not in order"));
        }
        if range.first <= before {
            // What was acknowledged a moment ago is held no more.
            return Err(AckError::NotHeld(range.first));
        }
        if range.last.0 == i64::MAX {
            return Err(AckError::Malformed("no record has this offset"));
        }
        let records = range.last.0 - range.first.0 + 1;
        let types = range.types.len();
        if types != 1 && i64::try_from(types) != Ok(records) {
            return Err(AckError::Malformed(
                "there is neither one type for the range nor one for each of its records",
            ));
        }
        (first_before, before) = (range.first, range.last);
    }
    Ok(())
}

/// A range as runs of the same type.
fn runs_of_types(range: &AckRange) -> Vec<(Offset, Offset, AckType)> {
    if let [kind] = range.types[..] {
        return vec![(range.first, range.last, kind)];
    }
    let mut runs: Vec<(Offset, Offset, AckType)> = Vec::new();
    for (at, kind) in (range.first.0..).zip(&range.types) {
        match runs.last_mut() {
            Some((_, last, before)) if before == kind => *last = Offset(at),
            _ => runs.push((Offset(at), Offset(at), *kind)),
        }
    }
    runs
}
