//! Walks what a queue is not done with: its dead letters, or its messages.
//!
//! Why it exists: dead letters are a queue that is never handed out; what of it is left the ledger says, what it holds the log.
//! In -> out: where to begin -> the next of them, and where to go on.

use super::Queues;
use super::begin::{Source, unreadable};
use super::live::Live;
use super::piece::{Part, Piece};
use super::take::{OneRecord, look_through, read, readable_end};
use super::types::QueueError;
use crate::broker::Broker;
use crate::fetch_types::FetchError;
use crate::topics_view::Topic;
use fanlog_coordinators::queue::{Found, State};
use fanlog_model::Offset;
use std::sync::Arc;

/// How much is read at a time.
const BYTES_AT_ONCE: usize = 256 * 1024;

/// Some of one partition.
#[derive(Debug, Default)]
pub(super) struct Walked {
    pub(super) letters: Vec<(Offset, OneRecord)>,
    /// Where to go on; none at the end.
    pub(super) next: Option<Offset>,
}

impl Queues {
    /// The topic of a queue's dead letters, if it is there.
    pub(super) fn dead_topic(&self, broker: &Broker, live: &Live) -> Option<Arc<Topic>> {
        broker.topics().by_name(live.dead.as_ref()?).cloned()
    }

    /// Those in one piece of a partition, from an offset on.
    pub(super) async fn walk(
        &self,
        broker: &Arc<Broker>,
        live: &Arc<Live>,
        source: &Source,
        from: Offset,
    ) -> Result<Walked, QueueError> {
        let incarnation = live.queue.id;
        let first = source.shard.look(&source.key, |ledger, _, _| {
            let is_its_own = ledger.is_initialized() && ledger.head().incarnation == incarnation;
            is_its_own.then(|| first_left(ledger, from.max(ledger.start())))
        })?;
        // None has come yet.
        let Some(from) = first else {
            return Ok(Walked::default());
        };
        let below = readable_end(&source.partition)?;
        if from >= below {
            return Ok(Walked::default());
        }
        let failed = |error: &FetchError| unreadable(source.partition.topic(), error);
        let (read, _memory) = match read(broker, &source.partition, from, BYTES_AT_ONCE).await {
            Ok(read) => read,
            Err(FetchError::OffsetOutOfRange {
                log_start_offset, ..
            }) if from < log_start_offset => {
                return Ok(Walked {
                    letters: Vec::new(),
                    next: Some(log_start_offset),
                });
            }
            Err(error) => return Err(failed(&error)),
        };
        let (kind, partition) = (source.kind, &source.partition);
        let piece = look_through(live, kind, partition, &read, Part::all(from, below));
        let piece = piece.map_err(|error| failed(&error))?;
        Ok(Walked {
            letters: self.left_of(source, &piece, from)?,
            next: Some(piece.end()).filter(|end| *end < below),
        })
    }

    /// Those in a piece that the queue is not done with.
    fn left_of(
        &self,
        source: &Source,
        piece: &Piece,
        from: Offset,
    ) -> Result<Vec<(Offset, OneRecord)>, QueueError> {
        let found = piece.found_from(from);
        let wanted = found
            .iter()
            .filter(|found| !found.is_gap && found.is_wanted);
        let left: Vec<_> = source.shard.look(&source.key, |ledger, _, _| {
            let is_left = |found: &&Found| is_left(ledger.state(found.first).0);
            wanted.filter(is_left).map(|found| found.first).collect()
        })?;
        let record = |offset: Offset| Some((offset, OneRecord::of(piece, offset)?));
        Ok(left.into_iter().filter_map(record).collect())
    }
}

/// Whether one is still there: one that is on its way elsewhere is not.
pub(super) fn is_left(state: State) -> bool {
    !matches!(state, State::Done | State::Moving { .. })
}

/// The first offset from one on that is not done with.
fn first_left(ledger: &fanlog_coordinators::queue::Ledger, mut from: Offset) -> Offset {
    loop {
        let (state, last) = ledger.state(from);
        if is_left(state) || last < from {
            return from;
        }
        from = last.plus(1);
    }
}
