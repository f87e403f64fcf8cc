//! How messages are taken from one partition of a queue: where the machine says, a piece of the log is read and looked through, and
//! the machine says what of it may go.

use super::begin::unreadable;
use super::live::{Live, SourceKind};
use super::looked::{Limits, Looked};
use super::piece::{Part, Piece};
use super::receipt::Handed;
use super::receive::{Receiving, Target};
use super::settle::LOCK_MAX;
use super::types::{Headers, Message, QueueError};
use crate::broker::Broker;
use crate::fetch_budget::FetchMemory;
use crate::fetch_types::{FetchError, FetchedRecords, Isolation};
use crate::partition::{Partition, Wanted};
use bytes::Bytes;
use fanlog_coordinators::queue::{
    Acquire, Grant, Input, NextRead, Order, Policy, Reply, next_read, reads_from,
};
use fanlog_model::{Offset, TimestampMs};
use fanlog_protocol::records::RecordView;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// How much is read at a time where nothing is known yet.
const AHEAD_BYTES: usize = 512 * 1024;
/// How much is read for records that come again: few of their neighbours do.
const AGAIN_BYTES: usize = 16 * 1024;
/// How many records are looked at for each that is wanted, and how many more, until the machine is asked.
const LOOKED_AT_PER_RECORD: usize = 4;
const LOOKED_AT_MORE: usize = 64;
/// How many pieces go into one decision.
const READS_MAX: usize = 16;

impl Receiving<'_> {
    /// Takes what there is of a partition, within the limits.
    pub(super) async fn take(&mut self, target: &Target) -> Result<(), QueueError> {
        let (source, turn) = (&target.source, &target.seated.seat().turn);
        if self.has_nothing(target)? {
            return Ok(());
        }
        // Who has messages does not wait until a beginning is durable: their locks run meanwhile. It begins with a later receive.
        if !self.messages.is_empty() && !self.has_begun(target)? {
            return Ok(());
        }
        let turn = match self.memory.is_none() {
            true => timeout_at(self.patience, turn.lock()).await.ok(),
            // Who has the turn may wait for the memory that this answer holds.
            false => turn.try_lock().ok(),
        };
        let Some(_turn) = turn else {
            return Ok(());
        };
        let partition = source.key.partition;
        let mut policy = self
            .queues
            .policy(&self.broker, &target.live, source.kind, partition);
        self.queues
            .begin(&self.broker, &target.live, source, &policy)
            .await?;
        let mut before = None;
        while self.left() > 0 && self.bytes_left > 0 && !self.is_full {
            // What was looked at may have taken all the memory.
            policy.tracked_max = self.queues.tracked_max(&self.broker);
            let next = source.shard.look(&source.key, |ledger, waiting, now| {
                next_read(ledger, waiting, &policy, now)
            })?;
            let below = target.live.readable_end(source.kind, &source.partition)?;
            let Some(next) = next.filter(|next| next.from < below) else {
                return Ok(());
            };
            let given = self.messages.len();
            // The machine has moved on, or it would be asked the same for ever.
            if before == Some((next.from, given)) {
                return Ok(());
            }
            before = Some((next.from, given));
            self.take_from(target, next, below, &policy).await?;
            // One who scans much lets others go on.
            tokio::task::yield_now().await;
        }
        Ok(())
    }

    fn has_begun(&self, target: &Target) -> Result<bool, QueueError> {
        let Target { live, source, .. } = target;
        let id = live.queue.id;
        let has_begun = source.shard.look(&source.key, |ledger, _, _| {
            ledger.is_initialized() && ledger.head().incarnation == id
        })?;
        Ok(has_begun)
    }

    /// Whether there is nothing for anybody: many wait, and only who may find something takes a turn.
    fn has_nothing(&self, target: &Target) -> Result<bool, QueueError> {
        let Target { live, source, .. } = target;
        let partition = source.key.partition;
        let policy = self
            .queues
            .policy(&self.broker, live, source.kind, partition);
        let below = live.readable_end(source.kind, &source.partition)?;
        let id = live.queue.id;
        let has_nothing = source.shard.look(&source.key, |ledger, waiting, now| {
            let has_begun = ledger.is_initialized() && ledger.head().incarnation == id;
            let next = has_begun.then(|| next_read(ledger, waiting, &policy, now));
            next.is_some_and(|next| next.is_none_or(|next| next.from >= below))
        })?;
        Ok(has_nothing)
    }

    async fn take_from(
        &mut self,
        target: &Target,
        next: NextRead,
        below: Offset,
        policy: &Policy,
    ) -> Result<(), QueueError> {
        let source = &target.source;
        let Some(looked) = self.look(target, next, below, policy).await? else {
            return Ok(());
        };
        // Before anything is granted: a lock would run out while its holder waits.
        let Some(memory) = self.room_for(looked.bytes_at_most(self.left())).await else {
            self.is_full = true;
            return Ok(());
        };
        let is_nobody = self.wanted.consumer.is_empty() && policy.order == Order::Key;
        let acquire = Acquire {
            consumer: match is_nobody {
                true => &self.nobody,
                false => &self.wanted.consumer,
            },
            records_max: self.left() as i64,
            lock: self.wanted.lock.map(|lock| lock.min(LOCK_MAX)),
            found: looked.found(),
            is_first: self.messages.is_empty(),
        };
        let decided = source
            .shard
            .decide(&source.key, policy, Input::Acquire(acquire))?;
        let Reply::Acquired(grants) = decided.reply else {
            unreachable!("a machine answers in kind");
        };
        self.is_full |= decided.is_over;
        if self.wanted.lock.is_some_and(|lock| lock.is_zero()) && !grants.is_empty() {
            self.queues.settle_due(source, policy)?;
        }
        for grant in &grants {
            self.give(target, &looked, grant);
        }
        let bytes: usize = grants
            .iter()
            .map(|grant| looked.record_bytes(grant.offset))
            .sum();
        self.note_memory(memory, bytes);
        Ok(())
    }

    /// What the machine is asked about: where it says, and what else can go at once behind that; nothing where retention was there, or
    /// where there is no memory.
    async fn look(
        &mut self,
        target: &Target,
        next: NextRead,
        below: Offset,
        policy: &Policy,
    ) -> Result<Option<Looked>, QueueError> {
        let source = &target.source;
        let reads_max = self.left().min(READS_MAX);
        let mut reads = source.shard.look(&source.key, |ledger, waiting, _| {
            reads_from(ledger, waiting, policy, next, reads_max)
        })?;
        reads.retain(|read| read.from < below);
        let limits = Limits {
            places: self.looked_at_max(),
            bytes: self.bytes_left,
            below,
            is_first: self.messages.is_empty(),
        };
        let mut looked = Looked::default();
        for read in reads {
            if read.from < looked.end() {
                continue;
            }
            match self.piece(target, read, below).await {
                Ok(Some(piece)) => {
                    if !looked.add(piece, read.from, limits) {
                        break;
                    }
                }
                // What there is goes first; the rest is looked at after it.
                _ if !looked.is_empty() => break,
                Ok(None) => {
                    self.is_full = true;
                    return Ok(None);
                }
                // Retention was here.
                Err(FetchError::OffsetOutOfRange {
                    log_start_offset, ..
                }) if read.from < log_start_offset => {
                    let queues = self.queues;
                    queues.follow_log_start(source, policy, log_start_offset)?;
                    return Ok(None);
                }
                Err(error) => return Err(unreadable(source.partition.topic(), &error)),
            }
        }
        Ok(Some(looked))
    }

    /// How many places of a piece the machine is asked about.
    fn looked_at_max(&self) -> usize {
        self.left().saturating_mul(LOOKED_AT_PER_RECORD) + LOOKED_AT_MORE
    }

    fn give(&mut self, target: &Target, looked: &Looked, grant: &Grant) {
        let source = &target.source;
        let handed = Handed {
            queue: target.live.mark(),
            topic: source.key.topic,
            partition: source.key.partition,
            offset: grant.offset,
            grant: grant.grant,
        };
        let (record, timestamp) = looked
            .record(grant.offset)
            .expect("the machine grants only records that were found");
        self.bytes_left = self.bytes_left.saturating_sub(record.bytes.len());
        let message = Message {
            id: Self::id_of(source, grant.offset),
            queue: target.live.name().clone(),
            receipt: handed.encode(),
            timestamp,
            key: record.key.map(Bytes::copy_from_slice),
            value: record.value.map(Bytes::copy_from_slice),
            headers: headers_of(&record),
            attempt: grant.attempt,
            first_received: grant.first_given,
            lock_until: grant.until,
        };
        self.hold(target, handed, message);
    }

    /// Room for more of the answer, if there is any: who holds some must not wait for more, or two that do so wait for each other.
    async fn room_for(&self, bytes: usize) -> Option<FetchMemory> {
        let budget = &self.broker.budget;
        match self.memory.is_none() {
            true => timeout_at(self.patience, budget.reserve(bytes)).await.ok(),
            false if bytes == 0 => Some(FetchMemory::none()),
            false => budget.try_reserve(bytes),
        }
    }

    /// The bytes of the answer count; what was kept free for more of them is given back.
    fn note_memory(&mut self, memory: FetchMemory, bytes: usize) {
        if bytes == 0 {
            return;
        }
        let before = std::mem::replace(&mut self.memory, FetchMemory::none());
        self.memory = before.and(memory.cut_to(bytes));
    }

    /// A piece of the log; none where there is no memory for it.
    async fn piece(
        &self,
        target: &Target,
        next: NextRead,
        below: Offset,
    ) -> Result<Option<Arc<Piece>>, FetchError> {
        let Target { live, source, .. } = target;
        if let Some(piece) = self.queues.pieces.get(&source.key, &live.queue, next.from) {
            return Ok(Some(piece));
        }
        let bytes_max = match next.is_scan {
            true => AHEAD_BYTES,
            false => AGAIN_BYTES,
        };
        let patience = match self.memory.is_none() {
            true => Patience::Until(self.patience),
            false => Patience::None,
        };
        let read = read_if(
            &self.broker,
            &source.partition,
            next.from,
            bytes_max,
            patience,
        );
        let Some((read, memory)) = read.await? else {
            return Ok(None);
        };
        let part = match next.is_scan {
            true => Part::all(next.from, below),
            // Few of its neighbours come again.
            false => Part {
                records_max: self.looked_at_max(),
                ..Part::all(next.from, below)
            },
        };
        let piece = look_through(live, source.kind, &source.partition, &read, part)?;
        drop(memory);
        if next.is_scan {
            let unreadable = &live.kept.unreadable_delays;
            unreadable.fetch_add(piece.unreadable_delays, Ordering::Relaxed);
        }
        let piece = Arc::new(piece);
        let memory = self.broker.settings().queues_memory_bytes;
        let pieces = &self.queues.pieces;
        pieces.keep(&source.key, &live.queue, &piece, memory);
        Ok(Some(piece))
    }
}

/// How long one waits for memory.
#[derive(Clone, Copy, Debug)]
pub(super) enum Patience {
    /// Only for who holds nothing that others wait for.
    Endless,
    Until(Instant),
    /// For who holds memory already.
    None,
}

/// Looks through what was read of a partition, as a queue reads it.
pub(super) fn look_through(
    live: &Live,
    kind: SourceKind,
    partition: &Partition,
    read: &FetchedRecords,
    part: Part,
) -> Result<Piece, FetchError> {
    let is_wanted = |record: &RecordView<'_>| live.wants(kind, record);
    let delay = match kind {
        SourceKind::Main => Some(live.settings.delay),
        SourceKind::Dead => Some(Duration::ZERO),
        SourceKind::Redrive => None,
    };
    let piece = Piece::of(read, part, (&is_wanted, delay));
    piece.map_err(|error| FetchError::Damaged {
        partition: partition.folder().to_string(),
        reason: error.to_string(),
    })
}

/// Reads whole batches into memory, as consumers see them that read what is committed.
pub(super) async fn read(
    broker: &Arc<Broker>,
    partition: &Arc<Partition>,
    from: Offset,
    bytes_max: usize,
) -> Result<(FetchedRecords, FetchMemory), FetchError> {
    let read = read_if(broker, partition, from, bytes_max, Patience::Endless).await?;
    Ok(read.expect("who waits for memory gets it"))
}

/// As `read`; who does not wait for memory as long as it takes gets nothing where there is none.
pub(super) async fn read_if(
    broker: &Arc<Broker>,
    partition: &Arc<Partition>,
    from: Offset,
    bytes_max: usize,
    patience: Patience,
) -> Result<Option<(FetchedRecords, FetchMemory)>, FetchError> {
    let wanted = Wanted {
        from,
        bytes_max,
        whole_batch: true,
        isolation: Isolation::ReadCommitted,
    };
    let blocking = broker.opener.blocking;
    let readable = match partition.readable_now(wanted)? {
        Some(readable) => readable,
        None => {
            let _turn = broker.budget.turn_to_load().await;
            let partition = partition.clone();
            unpanicked(blocking.run(move || partition.readable(wanted)).await)?
        }
    };
    let bytes = readable.bytes();
    let memory = match patience {
        Patience::Endless => Some(broker.budget.reserve(bytes).await),
        Patience::Until(until) => timeout_at(until, broker.budget.reserve(bytes)).await.ok(),
        Patience::None => broker.budget.try_reserve(bytes),
    };
    let Some(memory) = memory else {
        return Ok(None);
    };
    if let Some(read) = partition.read_now(&readable)? {
        return Ok(Some((read, memory)));
    }
    let partition = partition.clone();
    let read = blocking.run(move || partition.read(&readable));
    Ok(Some((unpanicked(read.await)?, memory)))
}

/// The offset below which queues read: what is durable and, of transactions, decided.
pub(super) fn readable_end(partition: &Partition) -> Result<Offset, QueueError> {
    let end = partition.with_log(|log| log.last_stable_offset().min(log.durable_offset()));
    end.map_err(|error| unreadable(partition.topic(), &error))
}

/// The headers of a record; a name that is not text is shown as well as it can be.
pub(super) fn headers_of(record: &RecordView<'_>) -> Headers {
    let headers = record.headers();
    let owned = |(name, value): (&[u8], Option<&[u8]>)| {
        let name = String::from_utf8_lossy(name).into_owned();
        (name, value.map(Bytes::copy_from_slice))
    };
    headers.map(owned).collect()
}

/// One record read at its offset.
#[derive(Clone, Debug)]
pub(super) struct OneRecord {
    pub(super) timestamp: TimestampMs,
    pub(super) key: Option<Bytes>,
    pub(super) value: Option<Bytes>,
    pub(super) headers: Headers,
}

/// Reads a piece from an offset on; none if the log does not have it (any more).
pub(super) async fn read_piece(
    broker: &Arc<Broker>,
    live: &Live,
    kind: SourceKind,
    partition: &Arc<Partition>,
    offset: Offset,
    bytes_max: usize,
) -> Result<Option<Piece>, QueueError> {
    let failed = |error: &FetchError| unreadable(partition.topic(), error);
    let below = readable_end(partition)?;
    if offset >= below {
        return Ok(None);
    }
    let (read, _memory) = match read(broker, partition, offset, bytes_max).await {
        Ok(read) => read,
        Err(FetchError::OffsetOutOfRange { .. }) => return Ok(None),
        Err(error) => return Err(failed(&error)),
    };
    let piece = look_through(live, kind, partition, &read, Part::all(offset, below));
    Ok(Some(piece.map_err(|error| failed(&error))?))
}

/// Reads the record at an offset; none if there is none (any more).
pub(super) async fn read_one(
    broker: &Arc<Broker>,
    live: &Live,
    kind: SourceKind,
    partition: &Arc<Partition>,
    offset: Offset,
) -> Result<Option<OneRecord>, QueueError> {
    let piece = read_piece(broker, live, kind, partition, offset, 1).await?;
    Ok(piece.and_then(|piece| OneRecord::of(&piece, offset)))
}

impl OneRecord {
    /// The record at an offset, if there is one.
    pub(super) fn of(piece: &Piece, offset: Offset) -> Option<Self> {
        let (record, timestamp) = piece.record(offset)?;
        Some(Self {
            timestamp,
            key: record.key.map(Bytes::copy_from_slice),
            value: record.value.map(Bytes::copy_from_slice),
            headers: headers_of(&record),
        })
    }
}

fn unpanicked<R>(done: Result<R, tokio::task::JoinError>) -> R {
    match done {
        Ok(done) => done,
        Err(panicked) => std::panic::resume_unwind(panicked.into_panic()),
    }
}
