//! What a log remembers of each idempotent producer: its epoch and its last batches.
//!
//! Why it exists: a client that lost an answer sends the batch again, and it must be in the log once (PRD-1) and in order (PRD-2).
//! Owns: the entries of a producer snapshot.   Never: files.
//! In -> out: a batch's header -> whether it is new, a duplicate, or refused; and which transaction it ended.
//! Invariants: PRD-1, PRD-2, TXN-2. A producer without state may begin at any sequence: its state may have expired (Kafka does the same).

use crate::error::AppendError;
use crate::formats::producer_snapshot::SnapshotEntry;
use crate::header::BatchHeader;
use crate::types::ActiveProducer;
use fanlog_model::{BaseSequence, Offset, ProducerEpoch, ProducerId, TimestampMs};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// How many batches of a producer are remembered: as many as Kafka's clients keep in flight.
const BATCHES_MAX: usize = 5;
/// How many producers a log remembers (OPS-1): some megabytes. Of more, those that wrote longest ago are forgotten, as if they had expired:
/// at least so many others have written since, which no retry takes.
const PRODUCERS_MAX: usize = 20_000;
/// How many are forgotten at once, so that it costs little for each.
const FORGOTTEN_AT_ONCE: usize = PRODUCERS_MAX / 8;
const NONE: Offset = Offset(-1);

/// A batch of a producer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProducedBatch {
    pub(crate) last_sequence: BaseSequence,
    pub(crate) last_offset: Offset,
    pub(crate) offset_delta: i32,
    pub(crate) timestamp: TimestampMs,
}

impl ProducedBatch {
    pub(crate) fn first_offset(&self) -> Offset {
        Offset(self.last_offset.get() - i64::from(self.offset_delta))
    }

    fn first_sequence(&self) -> i32 {
        let first = i64::from(self.last_sequence.get()) - i64::from(self.offset_delta);
        // Sequences go from 2^31-1 to 0.
        i32::try_from(first.rem_euclid(1 << 31)).expect("a remainder of 2^31 fits in 31 bits")
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Producer {
    epoch: ProducerEpoch,
    /// The oldest first; of the current epoch only.
    batches: VecDeque<ProducedBatch>,
    last_timestamp: TimestampMs,
    /// When it last wrote, on our clock. Records may be as old as their producer likes: one that copies last year's would
    /// else be forgotten at once, and a retry of its be appended again (PRD-1).
    last_seen: TimestampMs,
    coordinator_epoch: i32,
    current_txn_first_offset: Offset,
    /// Where its last marker lies, as far as this process knows: what was allowed before that is not any more.
    last_marker: Offset,
}

/// A transaction that a marker has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EndedTransaction {
    pub(crate) producer_id: ProducerId,
    pub(crate) first_offset: Offset,
    /// Where the marker lies.
    pub(crate) marker: Offset,
    pub(crate) is_aborted: bool,
    /// Where the oldest transaction that is still open began, or the offset behind the marker.
    pub(crate) last_stable_offset: Offset,
}

/// The batch that says where a producer is, by which it is known again where there is no snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LastBatch {
    /// The one with records that ends at this offset has its last sequence.
    Records(Offset),
    /// It has no sequence: the marker at this offset has its epoch.
    Marker(Offset),
    /// Where its last marker lies is not known: any of this epoch may be it.
    AnyMarker(ProducerEpoch),
}

/// What the log makes of a producer's batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It follows.
    New,
    /// The log has it.
    Duplicate(ProducedBatch),
}

/// What counts of a batch that a coordinator writes in a producer's name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CoordinatorsBatch {
    pub(crate) producer_id: ProducerId,
    pub(crate) producer_epoch: ProducerEpoch,
    pub(crate) is_control: bool,
    /// Of a marker.
    pub(crate) coordinator_epoch: Option<i32>,
    /// Whether it ends a transaction of the second generation, under the epoch behind that transaction's.
    pub(crate) is_later: bool,
}

impl CoordinatorsBatch {
    pub(crate) fn of(header: &BatchHeader, is_later: bool) -> Self {
        Self {
            producer_id: header.producer_id,
            producer_epoch: header.producer_epoch,
            is_control: header.is_control,
            coordinator_epoch: header.marker.map(|marker| marker.coordinator_epoch),
            is_later,
        }
    }
}

/// The producers of one log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ProducerState {
    /// Sorted, so that a snapshot of the same state has the same bytes.
    producers: BTreeMap<ProducerId, Producer>,
    /// Where the open transactions began.
    open: BTreeSet<(Offset, ProducerId)>,
}

impl ProducerState {
    pub(crate) fn from_snapshot(entries: &[SnapshotEntry]) -> Self {
        let mut state = Self::default();
        for entry in entries {
            state.load(entry);
        }
        state
    }

    fn load(&mut self, entry: &SnapshotEntry) {
        let new = || Producer {
            epoch: entry.producer_epoch,
            batches: VecDeque::new(),
            last_timestamp: entry.timestamp,
            last_seen: entry.timestamp,
            coordinator_epoch: entry.coordinator_epoch,
            current_txn_first_offset: NONE,
            last_marker: NONE,
        };
        let producer = self.producers.entry(entry.producer_id).or_insert_with(new);
        producer.epoch = entry.producer_epoch;
        producer.last_timestamp = entry.timestamp;
        producer.last_seen = entry.timestamp;
        producer.coordinator_epoch = entry.coordinator_epoch;
        let began = entry.current_txn_first_offset;
        move_transaction(&mut self.open, entry.producer_id, producer, began);
        let is_batch = entry.last_sequence >= 0 && entry.last_offset.get() >= 0;
        if is_batch && entry.offset_delta >= 0 {
            producer.remember(ProducedBatch {
                last_sequence: BaseSequence(entry.last_sequence),
                last_offset: entry.last_offset,
                offset_delta: entry.offset_delta,
                timestamp: entry.timestamp,
            });
        }
    }

    pub(crate) fn to_snapshot(&self) -> Vec<SnapshotEntry> {
        let mut entries = Vec::new();
        for (producer_id, producer) in &self.producers {
            let entry =
                |batch: Option<&ProducedBatch>, timestamp, txn_first_offset| SnapshotEntry {
                    producer_id: *producer_id,
                    producer_epoch: producer.epoch,
                    last_sequence: batch.map_or(-1, |batch| batch.last_sequence.get()),
                    last_offset: batch.map_or(NONE, |batch| batch.last_offset),
                    offset_delta: batch.map_or(0, |batch| batch.offset_delta),
                    timestamp,
                    coordinator_epoch: producer.coordinator_epoch,
                    current_txn_first_offset: txn_first_offset,
                };
            let older = producer.batches.len().saturating_sub(1);
            for batch in producer.batches.iter().take(older) {
                entries.push(entry(Some(batch), batch.timestamp, NONE));
            }
            // The last entry is the one that Kafka's reader keeps: it carries the open transaction, and the time from which
            // the producer's silence counts.
            let txn_first_offset = producer.current_txn_first_offset;
            let last = producer.batches.back();
            entries.push(entry(last, producer.last_seen, txn_first_offset));
        }
        entries
    }

    /// What to make of a client's batch. A batch that begins a transaction here was allowed by the coordinator when the log ended at
    /// `allowed_at`; a marker since then has ended what it was allowed for.
    pub(crate) fn check(
        &self,
        header: &BatchHeader,
        allowed_at: Option<Offset>,
    ) -> Result<Verdict, AppendError> {
        let Some(producer) = self.producers.get(&header.producer_id) else {
            check_allowed(header, allowed_at, NONE)?;
            return Ok(Verdict::New);
        };
        if header.producer_epoch < producer.epoch {
            return Err(AppendError::InvalidProducerEpoch {
                producer_id: header.producer_id,
                current: producer.epoch,
                found: header.producer_epoch,
            });
        }
        let is_next_epoch = header.producer_epoch > producer.epoch;
        if !is_next_epoch && let Some(original) = producer.find(header) {
            return Ok(Verdict::Duplicate(*original));
        }
        let is_open = producer.current_txn_first_offset != NONE;
        if is_open && !header.is_transactional {
            // Whatever its epoch: the transaction's marker would decide on it too.
            return Err(AppendError::OutsideTransaction {
                producer_id: header.producer_id,
            });
        }
        if is_next_epoch {
            check_allowed(header, allowed_at, producer.last_marker)?;
            return expect_sequence(header, BaseSequence(0));
        }
        if !is_open {
            check_allowed(header, allowed_at, producer.last_marker)?;
        }
        match producer.batches.back() {
            Some(last) => expect_sequence(header, last.last_sequence.plus(1)),
            // Behind a marker, and nothing else that is remembered.
            None => expect_sequence(header, BaseSequence(0)),
        }
    }

    /// Whether a coordinator's batch comes from a producer that was not fenced, and from a coordinator that was not. What is no marker
    /// begins a transaction, or goes on with one, as [`ProducerState::check`] has it.
    pub(crate) fn check_coordinators(
        &self,
        batch: CoordinatorsBatch,
        allowed_at: Option<Offset>,
    ) -> Result<(), AppendError> {
        let known = self.producers.get(&batch.producer_id);
        if let Some(producer) = known {
            // Of the same epoch it belongs to the transaction before, unless nothing is open: then it is that marker again.
            let is_open = producer.current_txn_first_offset != NONE;
            let is_of_before = batch.is_later && is_open && batch.producer_epoch == producer.epoch;
            if batch.producer_epoch < producer.epoch || is_of_before {
                return Err(AppendError::InvalidProducerEpoch {
                    producer_id: batch.producer_id,
                    current: producer.epoch,
                    found: batch.producer_epoch,
                });
            }
            if let Some(found) = batch.coordinator_epoch
                && found < producer.coordinator_epoch
            {
                let current = producer.coordinator_epoch;
                return Err(AppendError::CoordinatorFenced { current, found });
            }
        }
        let is_open = known.is_some_and(|producer| {
            producer.current_txn_first_offset != NONE && producer.epoch == batch.producer_epoch
        });
        let last_marker = known.map_or(NONE, |producer| producer.last_marker);
        if batch.is_control || is_open || allowed_at.is_some_and(|at| last_marker < at) {
            return Ok(());
        }
        Err(AppendError::NotInTransaction {
            producer_id: batch.producer_id,
            producer_epoch: batch.producer_epoch,
        })
    }

    /// Whether a producer has a transaction open under this epoch.
    pub(crate) fn is_in_transaction(&self, id: ProducerId, epoch: ProducerEpoch) -> bool {
        let known = self.producers.get(&id);
        known.is_some_and(|producer| {
            producer.current_txn_first_offset != NONE && producer.epoch == epoch
        })
    }

    /// Notes a batch that is in the log, and that its producer was heard of now; answers with the transaction that it ended.
    pub(crate) fn apply(
        &mut self,
        header: &BatchHeader,
        now: TimestampMs,
    ) -> Option<EndedTransaction> {
        if !header.has_producer_id() {
            return None;
        }
        let new = || Producer {
            epoch: header.producer_epoch,
            batches: VecDeque::new(),
            last_timestamp: header.max_timestamp,
            last_seen: now,
            coordinator_epoch: -1,
            current_txn_first_offset: NONE,
            last_marker: NONE,
        };
        let producer = self.producers.entry(header.producer_id).or_insert_with(new);
        if producer.epoch != header.producer_epoch {
            producer.epoch = header.producer_epoch;
            producer.batches.clear();
        }
        producer.last_timestamp = header.max_timestamp;
        producer.last_seen = now;
        if header.is_control {
            let ended = self.end(header);
            self.bound();
            return ended;
        }
        if header.is_transactional && producer.current_txn_first_offset == NONE {
            let began = header.base_offset;
            move_transaction(&mut self.open, header.producer_id, producer, began);
        }
        if header.base_sequence >= 0 {
            producer.remember(ProducedBatch {
                last_sequence: BaseSequence(header.base_sequence).plus(header.last_offset_delta),
                last_offset: header.last_offset,
                offset_delta: header.last_offset_delta,
                timestamp: header.max_timestamp,
            });
        }
        self.bound();
        None
    }

    fn end(&mut self, header: &BatchHeader) -> Option<EndedTransaction> {
        // Another kind of control record, or one that compaction has emptied, ends nothing.
        let marker = header.marker?;
        let producer = self.producers.get_mut(&header.producer_id)?;
        producer.coordinator_epoch = marker.coordinator_epoch;
        producer.last_marker = header.last_offset;
        let first_offset = producer.current_txn_first_offset;
        move_transaction(&mut self.open, header.producer_id, producer, NONE);
        (first_offset != NONE).then(|| EndedTransaction {
            producer_id: header.producer_id,
            first_offset,
            marker: header.last_offset,
            is_aborted: !marker.is_commit,
            last_stable_offset: self
                .first_unstable_offset()
                .unwrap_or_else(|| header.next_offset()),
        })
    }

    fn bound(&mut self) {
        if self.producers.len() > PRODUCERS_MAX {
            self.forget_oldest();
        }
    }

    /// Forgets the producers that wrote longest ago and have no transaction open.
    fn forget_oldest(&mut self) {
        let batch_at = |p: &Producer| p.batches.back().map_or(NONE, |batch| batch.last_offset);
        let wrote_at = |p: &Producer| batch_at(p).max(p.last_marker);
        let idle = |p: &Producer| p.current_txn_first_offset == NONE;
        let candidates = self.producers.iter().filter(|(_, p)| idle(p));
        let mut candidates: Vec<_> = candidates.map(|(id, p)| (wrote_at(p), *id)).collect();
        candidates.sort_unstable();
        for (_, id) in candidates.iter().take(FORGOTTEN_AT_ONCE) {
            self.producers.remove(id);
        }
    }

    /// Forgets the producers that wrote nothing since `before` and have no transaction open.
    pub(crate) fn expire(&mut self, before: TimestampMs) -> usize {
        let count = self.producers.len();
        self.producers.retain(|_, producer| {
            producer.last_seen > before || producer.current_txn_first_offset != NONE
        });
        count - self.producers.len()
    }

    /// Where the oldest open transaction began.
    pub(crate) fn first_unstable_offset(&self) -> Option<Offset> {
        self.open.first().map(|(began, _)| *began)
    }

    /// What each producer wrote last: cleaning keeps that batch.
    pub(crate) fn last_batches(&self) -> BTreeMap<ProducerId, LastBatch> {
        let last = |producer: &Producer| match producer.batches.back() {
            Some(batch) => LastBatch::Records(batch.last_offset),
            None if producer.last_marker != NONE => LastBatch::Marker(producer.last_marker),
            None => LastBatch::AnyMarker(producer.epoch),
        };
        let producers = self.producers.iter();
        producers.map(|(id, p)| (*id, last(p))).collect()
    }

    pub(crate) fn active(&self) -> Vec<ActiveProducer> {
        let view = |(id, producer): (&ProducerId, &Producer)| producer.view(*id);
        self.producers.iter().map(view).collect()
    }

    pub(crate) fn active_one(&self, id: ProducerId) -> Option<ActiveProducer> {
        self.producers.get(&id).map(|producer| producer.view(id))
    }
}

/// Notes where a producer's transaction began, or that none is open.
fn move_transaction(
    open: &mut BTreeSet<(Offset, ProducerId)>,
    id: ProducerId,
    producer: &mut Producer,
    began: Offset,
) {
    open.remove(&(producer.current_txn_first_offset, id));
    producer.current_txn_first_offset = began;
    if began != NONE {
        open.insert((began, id));
    }
}

impl Producer {
    fn view(&self, id: ProducerId) -> ActiveProducer {
        ActiveProducer {
            producer_id: id,
            producer_epoch: self.epoch,
            last_sequence: self.batches.back().map_or(-1, |b| b.last_sequence.get()),
            last_timestamp: self.last_timestamp,
            coordinator_epoch: self.coordinator_epoch,
            current_txn_start_offset: self.current_txn_first_offset,
        }
    }

    fn remember(&mut self, batch: ProducedBatch) {
        if self.batches.len() == BATCHES_MAX {
            self.batches.pop_front();
        }
        self.batches.push_back(batch);
    }

    fn find(&self, header: &BatchHeader) -> Option<&ProducedBatch> {
        let last = BaseSequence(header.base_sequence).plus(header.last_offset_delta);
        self.batches.iter().find(|batch| {
            batch.first_sequence() == header.base_sequence && batch.last_sequence == last
        })
    }
}

fn check_allowed(
    header: &BatchHeader,
    allowed_at: Option<Offset>,
    last_marker: Offset,
) -> Result<(), AppendError> {
    if !header.is_transactional || allowed_at.is_some_and(|at| last_marker < at) {
        return Ok(());
    }
    Err(AppendError::NotInTransaction {
        producer_id: header.producer_id,
        producer_epoch: header.producer_epoch,
    })
}

fn expect_sequence(header: &BatchHeader, expected: BaseSequence) -> Result<Verdict, AppendError> {
    if header.base_sequence == expected.get() {
        return Ok(Verdict::New);
    }
    Err(AppendError::OutOfOrderSequence {
        producer_id: header.producer_id,
        producer_epoch: header.producer_epoch,
        expected: expected.get(),
        found: header.base_sequence,
    })
}

#[cfg(test)]
mod tests;
