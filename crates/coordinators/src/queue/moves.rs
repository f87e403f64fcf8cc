//! What is on its way to another topic, and inputs about it.
//!
//! Why it exists: a record must stand in the target exactly once, whatever crashes. Each move has a number in the partition's row;
//! counted from the row's base on, it is the sequence that its copy bears. So it is known before the copy is written, and
//! written again with the same sequence after a crash.

use super::decide::Deciding;
use super::{Attempt, Head, Ledger, MoveRow, MoveTarget, Reply, State, Taken, Why};
use fanlog_model::{BaseSequence, Offset, ProducerEpoch, ProducerId};

/// A record that is to be moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingMove {
    /// Which.
    pub offset: Offset,
    /// The sequence that its copy bears.
    pub sequence: BaseSequence,
    /// How often it was delivered.
    pub attempts: u16,
    /// The attempts that failed, the last of them last.
    pub history: Vec<Attempt>,
}

/// By whom and where to records are moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mover {
    /// The idempotent producer, of this partition alone.
    pub producer: ProducerId,
    /// Its epoch.
    pub epoch: ProducerEpoch,
    /// The target.
    pub target: MoveTarget,
    /// The sequence of the next record that is to be moved and is not yet in the row.
    pub next_sequence: BaseSequence,
    /// The row has a hole, as the log lost a record of it: ask the target how far it is, then hand in `Input::Renumber`.
    pub needs_renumber: bool,
}

/// A row of moves: a copy that is asked about in one row may be under way while the next one begins with the same sequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowId {
    /// Its producer.
    pub producer: ProducerId,
    /// Its epoch.
    pub epoch: ProducerEpoch,
}

impl Mover {
    /// The row that it stands for.
    pub fn row(&self) -> RowId {
        RowId {
            producer: self.producer,
            epoch: self.epoch,
        }
    }
}

/// What is to be moved, in the order of the sequences: at most so many.
pub fn moves(ledger: &Ledger, max: usize) -> Vec<PendingMove> {
    let mut pending = Vec::new();
    for first in ledger.index().row.values() {
        let (_, last) = ledger.states.at(*first);
        let mut at = *first;
        while at <= last && pending.len() < max {
            if let (State::Moving { attempts, number }, _) = ledger.states.at(at) {
                pending.push(PendingMove {
                    offset: at,
                    sequence: ledger.head.sequence(number),
                    attempts,
                    history: ledger.histories.of(at).to_vec(),
                });
            }
            at = at.plus(1);
        }
        if pending.len() >= max {
            break;
        }
    }
    pending
}

/// Who moves records, and where to; none before the first.
pub fn mover(ledger: &Ledger) -> Option<Mover> {
    let head = &ledger.head;
    Some(Mover {
        producer: head.producer,
        epoch: head.row.epoch,
        target: head.row.target?,
        next_sequence: head.sequence(head.row.next),
        needs_renumber: ledger.has_hole_in_row(),
    })
}

impl Head {
    fn sequence(&self, number: u64) -> BaseSequence {
        let behind = number.saturating_sub(self.row.base) % SEQUENCES;
        BaseSequence(i32::try_from(behind).expect("a remainder of 2^31 fits"))
    }

    /// The number of the move that has a sequence, if it may still be on its way.
    fn number(&self, sequence: i32) -> Option<u64> {
        let first = self.sequence(self.moved_below).0;
        let behind = i64::from(sequence) - i64::from(first);
        let behind = behind.rem_euclid(SEQUENCES.cast_signed()).unsigned_abs();
        let number = self.moved_below + behind;
        (number < self.row.next).then_some(number)
    }
}

/// Kafka's sequences: from 2^31-1 they go on at 0.
const SEQUENCES: u64 = 1 << 31;

impl Ledger {
    /// Whether a number between the moves that are over and the next one is nobody's.
    fn has_hole_in_row(&self) -> bool {
        self.head.row.next - self.head.moved_below != self.index().moving
    }
}

impl Deciding<'_> {
    /// Moves these now: those that are neither held nor done with nor moving already, if there is a target.
    pub(super) fn move_some(&mut self, offsets: &[Offset]) {
        let taken = offsets.iter().map(|offset| self.move_one(*offset));
        self.decision.reply = Reply::Taken(taken.collect());
    }

    fn move_one(&mut self, offset: Offset) -> Taken {
        let attempts = match self.at(offset).0 {
            State::Fresh => 0,
            State::Resting { attempts, .. } => attempts,
            State::Held(_) | State::Moving { .. } | State::Done => return Taken::Over,
        };
        let Some(target) = self.policy.target else {
            return Taken::NoTarget;
        };
        if !self.may_scatter(offset) {
            return Taken::NoRoom;
        }
        self.untrack(offset);
        self.put_into_row(offset, attempts, target);
        Taken::Taken
    }

    /// A record that is not to be tried again is moved, or given up.
    pub(super) fn move_or_give_up(&mut self, offset: Offset, attempts: u16) {
        match self.policy.target {
            Some(target) => self.put_into_row(offset, attempts, target),
            None => self.done(offset, offset, Why::GivenUp),
        }
    }

    fn put_into_row(&mut self, offset: Offset, attempts: u16, target: MoveTarget) {
        if self.row.is_none() {
            self.row = Some(self.row_for(target));
        }
        let number = self.row.as_ref().map_or(0, |row| row.next);
        self.row.iter_mut().for_each(|row| row.next += 1);
        self.set(offset, State::Moving { attempts, number });
        self.decision.has_moves = true;
    }

    /// The row that the first move of a decision joins: another one where the target is another topic and nothing is on its way to
    /// the old one, or where the end of the old row was lost.
    fn row_for(&mut self, target: MoveTarget) -> MoveRow {
        let row = self.ledger.head.row;
        let is_idle = self.ledger.index().moving == 0;
        let is_same = row.target.is_some_and(|old| old.topic == target.topic);
        if !is_idle || (is_same && !self.ledger.has_hole_in_row()) {
            return row;
        }
        let new = MoveRow {
            target: Some(target),
            epoch: row.target.map_or(row.epoch, |_| next_epoch(row.epoch)),
            base: row.next,
            next: row.next,
        };
        self.update.row = Some(new);
        new
    }

    /// Whether a word is about the row as it is now.
    fn is_row(&self, row: RowId) -> bool {
        let head = &self.ledger.head;
        (head.producer, head.row.epoch) == (row.producer, row.epoch)
    }

    pub(super) fn moved(&mut self, row: RowId, through: i32) {
        if !self.is_row(row) {
            return;
        }
        let Some(number) = self.ledger.head.number(through) else {
            return;
        };
        self.end_moves_below(number + 1);
    }

    fn end_moves_below(&mut self, below: u64) {
        let row = self.ledger.index().row.range(..below);
        let records = row.map(|(number, first)| {
            let (_, last) = self.ledger.states.at(*first);
            let run = super::index::first_to_last(*first, last);
            run.min(below - number)
        });
        self.decision.counts.moved += records.sum::<u64>();
        self.update.moved_below = Some(below);
        self.decision.has_freed = true;
    }

    pub(super) fn renumber(&mut self, of: RowId, through: Option<i32>) {
        let row = self.ledger.head.row;
        let Some(old) = row.target.filter(|_| self.is_row(of)) else {
            return;
        };
        let over = through.and_then(|sequence| self.ledger.head.number(sequence));
        if let Some(number) = over {
            self.end_moves_below(number + 1);
        }
        // To the same partition, while its topic is the same.
        let target = self.policy.target.filter(|new| new.topic != old.topic);
        self.update.row = Some(MoveRow {
            target: Some(target.unwrap_or(old)),
            epoch: next_epoch(row.epoch),
            base: row.next,
            next: row.next,
        });
        self.decision.has_moves = self.ledger.index().moving > self.decision.counts.moved;
    }
}

/// After the last epoch the first: the target refuses it aloud, which is better than a sequence that it takes for an old one.
fn next_epoch(epoch: ProducerEpoch) -> ProducerEpoch {
    ProducerEpoch(epoch.0.checked_add(1).unwrap_or(0))
}
