//! What is on its way to another topic, and inputs about it.
//!
//! Why it exists: a record must stand in the target exactly once, whatever crashes. Each move has a number in the partition's row;
//! counted from the row's base on, it is the sequence that its copy bears. So it is known before the copy is written, and
//! written again with the same sequence after a crash.

use super::decide::Deciding;
use super::{Attempt, Head, Ledger, MoveRow, MoveTarget, Order, Reply, State, Taken, Why};
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
    /// The copies are to be as the records are: somebody sends them there.
    pub is_sent: bool,
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
        is_sent: head.row.is_sent,
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
        let to = self.policy.target.map(|target| (target, false));
        let taken = offsets.iter().map(|offset| self.move_one(*offset, to));
        self.decision.reply = Reply::Taken(taken.collect());
    }

    /// Sends these to a target of somebody's choice: one at a time.
    pub(super) fn send_some(&mut self, offsets: &[Offset], target: MoveTarget) {
        let to = Some((target, true));
        let taken = offsets.iter().map(|offset| self.move_one(*offset, to));
        self.decision.reply = Reply::Taken(taken.collect());
    }

    fn move_one(&mut self, offset: Offset, to: Option<(MoveTarget, bool)>) -> Taken {
        let attempts = match self.at(offset).0 {
            State::Fresh => 0,
            State::Resting { attempts, .. } => attempts,
            State::Held(_) | State::Moving { .. } | State::Done => return Taken::Over,
        };
        let Some((target, is_sent)) = to else {
            return Taken::NoTarget;
        };
        if !self.may_scatter(offset) {
            return Taken::NoRoom;
        }
        if !self.has_row_for(target, is_sent) {
            return Taken::Busy;
        }
        self.untrack(offset);
        self.put_into_row(offset, attempts);
        Taken::Taken
    }

    /// A record that is not to be tried again is moved, or given up. Whether it was: it has to wait while others are sent elsewhere.
    pub(super) fn move_or_give_up(&mut self, offset: Offset, attempts: u16) -> bool {
        let Some(target) = self.policy.target else {
            self.done(offset, offset, Why::GivenUp);
            return true;
        };
        let has_row = self.has_row_for(target, false);
        if has_row {
            self.put_into_row(offset, attempts);
        }
        has_row
    }

    fn put_into_row(&mut self, offset: Offset, attempts: u16) {
        let number = self.row.as_ref().map_or(0, |row| row.next);
        self.row.iter_mut().for_each(|row| row.next += 1);
        self.set(offset, State::Moving { attempts, number });
        self.decision.has_moves = true;
    }

    /// Sees to it that there is a row for moves of this decision: the one that there is, or another one where nothing is on its way and the
    /// target is another topic, or the end of the old row was lost. What the queue's own rules move goes with what is on its way by them
    /// already, wherever that goes; other than that one row has one target.
    fn has_row_for(&mut self, target: MoveTarget, is_sent: bool) -> bool {
        let row = self.row.unwrap_or(self.ledger.head.row);
        let is_same_topic = row.target.is_some_and(|old| old.topic == target.topic);
        let is_same = row.is_sent == is_sent && (is_same_topic || !is_sent);
        let is_idle = self.row.is_none() && self.ledger.index().moving == 0;
        if !is_idle {
            if is_same {
                self.row = Some(row);
            }
            return is_same;
        }
        let goes_on = is_same && is_same_topic && !self.ledger.has_hole_in_row();
        self.row = Some(match goes_on {
            true => row,
            false => self.new_row(target, is_sent),
        });
        true
    }

    fn new_row(&mut self, target: MoveTarget, is_sent: bool) -> MoveRow {
        let row = self.ledger.head.row;
        let new = MoveRow {
            target: Some(target),
            is_sent,
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
        let target = target.filter(|_| !row.is_sent);
        self.update.row = Some(MoveRow {
            target: Some(target.unwrap_or(old)),
            is_sent: row.is_sent,
            epoch: next_epoch(row.epoch),
            base: row.next,
            next: row.next,
        });
        self.decision.has_moves = self.ledger.index().moving > self.decision.counts.moved;
    }
}

impl Deciding<'_> {
    /// What was sent and has not arrived comes again, as it was before; nothing says which keys it has, so that all is looked at again.
    pub(super) fn recall(&mut self, row: RowId) {
        if !self.is_row(row) || !self.ledger.head.row.is_sent {
            return;
        }
        let firsts: Vec<Offset> = self.ledger.index().row.values().copied().collect();
        self.send_back_behind(firsts.iter().min().copied());
        for first in firsts {
            let (_, last) = self.at(first);
            for offset in (first.0..=last.0).map(Offset) {
                if let State::Moving { attempts, .. } = self.at(offset).0 {
                    let due = self.now.wall;
                    self.set(
                        offset,
                        match attempts {
                            0 => State::Fresh,
                            _ => State::Resting { attempts, due },
                        },
                    );
                }
            }
        }
        self.look_again();
        self.decision.has_freed = true;
    }

    /// Where keys have an order, nobody holds a later record of a key while an earlier one waits; of which key those are that come again is
    /// not known here.
    fn send_back_behind(&mut self, first: Option<Offset>) {
        let (Some(first), Order::Key) = (first, self.policy.order) else {
            return;
        };
        let mut held = Vec::new();
        for (from, last, state) in self.ledger.states.iter_from(first) {
            if matches!(state, State::Held(held) if held.key.is_some()) {
                held.extend((from.0..=last.0).map(Offset));
            }
        }
        for offset in held {
            if let State::Held(held) = self.at(offset).0 {
                self.send_back(offset, held);
            }
        }
    }
}

/// After the last epoch the first: the target refuses it aloud, which is better than a sequence that it takes for an old one.
fn next_epoch(epoch: ProducerEpoch) -> ProducerEpoch {
    ProducerEpoch(epoch.0.checked_add(1).unwrap_or(0))
}
