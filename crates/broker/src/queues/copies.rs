//! Copies of records that are moved, with the headers that say what became of them.
//!
//! In -> out: a row of moves -> the records, read from their log -> one batch that bears the row's sequences.

use super::begin::{Source, not_available};
use super::dead_headers::{
    DEAD_REASON, Origin, borrowed, header, of_dead_letter, of_redriven, of_sent,
};
use super::live::{Live, SourceKind};
use super::piece::Piece;
use super::take::{OneRecord, read_piece};
use super::types::{Headers, QueueError};
use crate::broker::Broker;
use crate::partition::Partition;
use fanlog_coordinators::queue::{Mover, PendingMove};
use fanlog_model::{BaseSequence, TimestampMs};
use fanlog_protocol::records::{BatchBuilder, Compression, NewRecord};
use std::sync::Arc;

/// A batch of copies is no larger, but for one record.
const BATCH_BYTES: usize = 512 * 1024;
/// How much is read at a time: records that are moved together are often neighbours.
const READ_BYTES: usize = 64 * 1024;
/// What a batch takes beside its records, and a little more.
const BATCH_HEADER_BYTES: usize = 128;

/// The copies of the first records of a row.
pub(super) struct Copies {
    each: Vec<Copy>,
}

struct Copy {
    record: OneRecord,
    headers: Headers,
}

impl Copies {
    /// Reads records; none if the log does not have the first of them any more.
    pub(super) async fn read(
        broker: &Arc<Broker>,
        live: &Live,
        source: &Source,
        target: &Partition,
        pending: &[PendingMove],
        is_sent: bool,
    ) -> Result<Option<Self>, QueueError> {
        let max = target.with_log(|log| log.config().max_message_bytes);
        let max = max.map_err(|error| not_available(&error))? as usize;
        let mut each = Vec::new();
        let mut bytes = BATCH_HEADER_BYTES;
        let mut piece: Option<Piece> = None;
        for one in pending {
            let (kind, partition) = (source.kind, &source.partition);
            if !piece.as_ref().is_some_and(|piece| piece.covers(one.offset)) {
                let read = read_piece(broker, live, kind, partition, one.offset, READ_BYTES);
                piece = read.await?;
            }
            let record = piece.as_ref();
            let record = record.and_then(|piece| OneRecord::of(piece, one.offset));
            let start = partition.with_log(|log| log.log_start_offset());
            let is_cut = start.is_ok_and(|start| start > one.offset);
            let record = match record {
                Some(record) => record,
                None if is_cut && each.is_empty() => return Ok(None),
                None if is_cut => break,
                None => OneRecord::of_none(),
            };
            let copy = Copy::of(live, source, one, record, max, is_sent);
            bytes += copy.bytes();
            if !each.is_empty() && bytes > max.min(BATCH_BYTES) {
                break;
            }
            each.push(copy);
        }
        Ok(Some(Self { each }))
    }

    pub(super) fn len(&self) -> usize {
        self.each.len()
    }

    pub(super) fn batch(
        &self,
        mover: &Mover,
        first: BaseSequence,
        now: TimestampMs,
    ) -> Result<Vec<u8>, QueueError> {
        let builder = BatchBuilder::new(Compression::None);
        let mut builder = builder.producer(mover.producer, mover.epoch, first);
        for copy in &self.each {
            let headers = borrowed(&copy.headers);
            let record = NewRecord {
                timestamp: now,
                key: copy.record.key.as_deref(),
                value: copy.record.value.as_deref(),
                headers: &headers,
            };
            builder
                .push(&record)
                .map_err(|error| not_available(&error))?;
        }
        builder.build().map_err(|error| not_available(&error))
    }
}

impl Copy {
    fn of(
        live: &Live,
        source: &Source,
        one: &PendingMove,
        record: OneRecord,
        max: usize,
        is_sent: bool,
    ) -> Self {
        let headers = |has_history| match source.kind {
            _ if is_sent => of_sent(&record.headers),
            SourceKind::Dead => of_redriven(&record.headers),
            SourceKind::Main | SourceKind::Redrive => {
                let origin = Origin {
                    topic: source.partition.topic(),
                    partition: source.key.partition,
                    offset: one.offset,
                    timestamp: record.timestamp,
                };
                let (name, history) = (live.name(), &one.history);
                of_dead_letter(
                    &record.headers,
                    name,
                    origin,
                    one.attempts,
                    history,
                    has_history,
                    source.kind == SourceKind::Redrive,
                )
            }
        };
        let full = headers(true);
        let copy = Self {
            headers: full,
            record: record.clone(),
        };
        // Where the target takes no more, the payload counts more than the history.
        match copy.bytes() + BATCH_HEADER_BYTES > max {
            true => Self {
                headers: headers(false),
                record,
            },
            false => copy,
        }
    }

    fn bytes(&self) -> usize {
        let headers = borrowed(&self.headers);
        let record = NewRecord {
            timestamp: TimestampMs(0),
            key: self.record.key.as_deref(),
            value: self.record.value.as_deref(),
            headers: &headers,
        };
        record.bytes_max()
    }
}

impl OneRecord {
    /// What stands for a record that compaction took: a newer one of its key is in the topic.
    fn of_none() -> Self {
        Self {
            timestamp: TimestampMs(0),
            key: None,
            value: None,
            headers: vec![header(
                DEAD_REASON,
                "compaction took the record before it was moved",
            )],
        }
    }
}
