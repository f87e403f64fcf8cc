//! Everything that a ledger holds, in pieces, and back.
//!
//! Why it exists: a million states don't fit into one record of a log.

use super::{Head, Ledger, QueueRecord, SnapshotPiece, State};

/// How many bytes a piece has, about: well below what a record may have.
const PIECE_BYTES: usize = 192 << 10;
/// No state takes up more in the log.
const STATE_BYTES_MAX: usize = 80;
/// No attempt, its texts aside.
const ATTEMPT_BYTES_MAX: usize = 56;

/// A snapshot of which pieces are missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Partial {
    ledger: Ledger,
    /// The piece that comes next.
    next: u32,
    count: u32,
}

impl Ledger {
    pub(super) fn apply_piece(&mut self, piece: &SnapshotPiece) {
        let before = self.partial.take();
        let partial = match (before, piece.head) {
            (_, Some(head)) if piece.index == 0 => Some(Box::new(Partial {
                ledger: Self {
                    is_initialized: true,
                    head,
                    ..Self::default()
                },
                next: 0,
                count: piece.count,
            })),
            (Some(partial), None) if partial.is_followed_by(piece) => Some(partial),
            _ => None,
        };
        let Some(mut partial) = partial else {
            return;
        };
        partial.ledger.add(piece);
        partial.next += 1;
        match partial.next == partial.count {
            true => {
                *self = partial.ledger;
                self.pass_done();
                self.forget_idle_consumers();
            }
            false => self.partial = Some(partial),
        }
    }

    fn add(&mut self, piece: &SnapshotPiece) {
        for (number, name) in &piece.consumers {
            self.name_consumer(*number, name.clone());
        }
        for (first, last, is) in &piece.states {
            self.states.set(*first, *last, *is);
        }
        for (offset, attempt) in &piece.failures {
            self.histories.add(*offset, attempt.clone());
        }
    }
}

impl Partial {
    fn is_followed_by(&self, piece: &SnapshotPiece) -> bool {
        (piece.index, piece.count) == (self.next, self.count)
    }
}

/// Everything that a ledger holds, as records that make those before them needless.
pub fn snapshot(ledger: &Ledger) -> Vec<QueueRecord> {
    if !ledger.is_initialized {
        return vec![QueueRecord::Deleted];
    }
    let mut pieces = Pieces::new(ledger.head);
    for (number, name) in &ledger.consumers {
        let piece = pieces.with_room(STATE_BYTES_MAX + name.len());
        piece.consumers.push((*number, name.clone()));
    }
    for run in ledger.states.iter().filter(|(.., is)| *is != State::Fresh) {
        pieces.with_room(STATE_BYTES_MAX).states.push(run);
    }
    for (offset, attempt) in ledger.histories.iter() {
        let bytes = ATTEMPT_BYTES_MAX + attempt.consumer.len() + attempt.reason.len();
        let piece = pieces.with_room(bytes);
        piece.failures.push((offset, attempt.clone()));
    }
    pieces.finish()
}

/// The pieces in the making.
struct Pieces {
    done: Vec<SnapshotPiece>,
    last: SnapshotPiece,
    bytes: usize,
}

impl Pieces {
    fn new(head: Head) -> Self {
        Self {
            done: Vec::new(),
            last: SnapshotPiece {
                head: Some(head),
                ..SnapshotPiece::default()
            },
            bytes: 0,
        }
    }

    fn with_room(&mut self, bytes: usize) -> &mut SnapshotPiece {
        if self.bytes + bytes > PIECE_BYTES && self.bytes > 0 {
            self.done.push(std::mem::take(&mut self.last));
            self.bytes = 0;
        }
        self.bytes += bytes;
        &mut self.last
    }

    fn finish(mut self) -> Vec<QueueRecord> {
        self.done.push(self.last);
        let count = u32::try_from(self.done.len()).expect("memory holds no 2^32 pieces");
        let numbered = (0..count).zip(self.done);
        let piece = |(index, piece)| {
            QueueRecord::Snapshot(SnapshotPiece {
                index,
                count,
                ..piece
            })
        };
        numbered.map(piece).collect()
    }
}
