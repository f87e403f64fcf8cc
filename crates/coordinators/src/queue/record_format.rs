//! The bytes of a [`QueueRecord`] in `__fanlog_queues`.
//!
//! Why it exists: what became of a queue's records must outlive versions of this program.
//! Owns: the byte layout.   Never: reads what it doesn't know; an unknown kind or version refuses to load.
//!
//! ```text
//! key    kind u8, 1: SNAPSHOT, 2: UPDATE | group text | topic id, 16 bytes | partition i32, big-endian
//! value  version u8, 1 or 2, then by kind; a SNAPSHOT without a value (a tombstone) deletes the partition of the queue
//!   SNAPSHOT  piece number | pieces number | is first u8 | if so: head | consumers | states | attempts
//!   UPDATE    flags u8 | bit 0: log start number | bit 1: moved below number | bit 2: row | bit 3: next grant number
//!             failed number | consumers | attempts | changes
//! head       incarnation, 16 bytes | start number | log start number | next grant number | producer i64, big-endian | row
//!            moved below number | delivered, acknowledged, failed, given up, moved, filtered, cancelled, lost: numbers
//! row        target u8: 0 none, 1 of the queue's own rules, 2 of somebody who sends records there
//!            with a target: topic id, 16 bytes, partition i32 | epoch i16 | base number | next number
//! consumers  count number | count times: number number, name text
//! attempts   count number | count times: offset number, at time, attempt number, consumer text, reason text
//!            in version 2: is known u8, if so: time at which the record was handed out for the first time
//! states     count number | count times: offsets since the one before ended number | records - 1 number | state
//! changes    as states, other than in two of them
//! state      tag u8 | 0 FRESH, in changes only
//!            1 RESTING  attempts number | due time
//!            2 HELD     flags u8, bit 0: with a key, bit 1: cancelled, bit 2: given at another time than until - lock
//!                       attempts number | consumer number | grant number | until time | lock number, ms
//!                       with a key: its hash, 8 bytes | with bit 2: time at which it was handed out
//!            3 MOVING   attempts number | number number
//!            4 DONE, in states only
//!            5 to 10    in changes only: ACKNOWLEDGED, GIVEN UP, MOVED, FILTERED, GAP, CANCELLED
//! number     seven bits a byte, the lowest first, all but the last with their highest bit set
//! time       ms since 1970 as a number, shifted up by one bit; the lowest bit is the sign and turns all others round
//! text       length number | UTF-8 bytes
//! ```
//! Lengths are exact: left-over bytes are an error. Both kinds of a partition add up, so the topic cannot be compacted: it is cut at the
//! oldest snapshot that is needed.
//! Read next: `record_parts.rs`.

use super::bytes::{BytesIn, illegal, put_number, put_text};
use super::record_parts as parts;
use super::{Attempt, QueueKey, QueueRecord, SnapshotPiece, Update};
use fanlog_model::{GroupId, Offset, PartitionIndex, TopicId};
use thiserror::Error;
use uuid::Uuid;

const KIND_SNAPSHOT: u8 = 1;
const KIND_UPDATE: u8 = 2;
/// Written where no attempt says when its record was handed out for the first time: earlier programs read it too.
const VERSION: u8 = 1;
/// Attempts may say so.
const VERSION_OF_FIRSTS: u8 = 2;
const HAS_LOG_START: u8 = 1;
const HAS_MOVED: u8 = 2;
const HAS_ROW: u8 = 4;
const HAS_GRANT: u8 = 8;

/// Why a record in the log is none of ours. Loading stops: going on would lose what it says.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum QueueRecordError {
    /// A newer program wrote this.
    #[error("queue record of unknown kind {kind}; start a version of fanlog that knows it")]
    UnknownKind {
        /// The key's first byte.
        kind: u8,
    },
    /// A newer program wrote this.
    #[error(
        "queue record has version {version}, which this program does not know; start a newer version of fanlog"
    )]
    UnknownVersion {
        /// The value's version.
        version: u8,
    },
    /// The bytes end early.
    #[error("queue record ends early: {what} is missing")]
    Short {
        /// Which part was being read.
        what: &'static str,
    },
    /// Bytes are left over.
    #[error("queue record has {count} bytes too many")]
    TrailingBytes {
        /// How many.
        count: usize,
    },
    /// A part has a value that no version writes.
    #[error("queue record has an illegal {what}: {value}")]
    Illegal {
        /// Which part.
        what: &'static str,
        /// The value found.
        value: String,
    },
}

/// Writes a record: its key, and its value or a tombstone.
pub fn encode(key: &QueueKey, record: &QueueRecord) -> (Vec<u8>, Option<Vec<u8>>) {
    match record {
        QueueRecord::Snapshot(piece) => (encode_key(KIND_SNAPSHOT, key), Some(encode_piece(piece))),
        QueueRecord::Update(update) => (encode_key(KIND_UPDATE, key), Some(encode_update(update))),
        QueueRecord::Deleted => (encode_key(KIND_SNAPSHOT, key), None),
    }
}

/// Reads a record; none where a tombstone says nothing new.
///
/// # Errors
/// Says what is unknown or malformed.
pub fn decode(
    key: Option<&[u8]>,
    value: Option<&[u8]>,
) -> Result<Option<(QueueKey, QueueRecord)>, QueueRecordError> {
    let key = key.ok_or(QueueRecordError::Short { what: "the key" })?;
    let (kind, key) = decode_key(key)?;
    let Some(value) = value else {
        let deleted = (kind == KIND_SNAPSHOT).then_some((key, QueueRecord::Deleted));
        return Ok(deleted);
    };
    let mut value = BytesIn::new(value);
    let has_firsts = match value.u8("version")? {
        VERSION => false,
        VERSION_OF_FIRSTS => true,
        version => return Err(QueueRecordError::UnknownVersion { version }),
    };
    let record = match kind {
        KIND_SNAPSHOT => QueueRecord::Snapshot(decode_piece(&mut value, has_firsts)?),
        _ => QueueRecord::Update(decode_update(&mut value, has_firsts)?),
    };
    value.finish()?;
    #[cfg(feature = "planted-faults")]
    let record = crate::planted::replayed(record);
    Ok(Some((key, record)))
}

fn encode_key(kind: u8, key: &QueueKey) -> Vec<u8> {
    let mut out = vec![kind];
    put_text(&mut out, key.group.as_str());
    out.extend_from_slice(key.topic.0.as_bytes());
    out.extend_from_slice(&key.partition.0.to_be_bytes());
    out
}

fn decode_key(bytes: &[u8]) -> Result<(u8, QueueKey), QueueRecordError> {
    let mut bytes = BytesIn::new(bytes);
    let kind = bytes.u8("kind")?;
    if ![KIND_SNAPSHOT, KIND_UPDATE].contains(&kind) {
        return Err(QueueRecordError::UnknownKind { kind });
    }
    let key = QueueKey {
        group: GroupId::from(bytes.text("group")?),
        topic: TopicId(Uuid::from_bytes(bytes.array("topic id")?)),
        partition: PartitionIndex(i32::from_be_bytes(bytes.array("partition")?)),
    };
    bytes.finish()?;
    Ok((kind, key))
}

/// The version to write, and whether it has what only the second has.
fn version_of(failures: &[(Offset, Attempt)]) -> (u8, bool) {
    let mut failures = failures.iter();
    match failures.any(|(_, attempt)| attempt.first_given.is_some()) {
        true => (VERSION_OF_FIRSTS, true),
        false => (VERSION, false),
    }
}

fn encode_piece(piece: &SnapshotPiece) -> Vec<u8> {
    let (version, has_firsts) = version_of(&piece.failures);
    let mut out = vec![version];
    put_number(&mut out, piece.index.into());
    put_number(&mut out, piece.count.into());
    out.push(u8::from(piece.head.is_some()));
    if let Some(head) = &piece.head {
        parts::put_head(&mut out, head);
    }
    parts::put_consumers(&mut out, &piece.consumers);
    parts::put_states(&mut out, &piece.states);
    parts::put_attempts(&mut out, &piece.failures, has_firsts);
    out
}

fn decode_piece(
    value: &mut BytesIn<'_>,
    has_firsts: bool,
) -> Result<SnapshotPiece, QueueRecordError> {
    let index = value.small("piece")?;
    let count = value.small("count of pieces")?;
    if index >= count {
        return Err(illegal("piece", index));
    }
    let head = match value.u8("head")? {
        0 => None,
        1 => Some(parts::take_head(value)?),
        other => return Err(illegal("head", other)),
    };
    if head.is_some() != (index == 0) {
        return Err(illegal("head", "not in the first piece, or in another"));
    }
    Ok(SnapshotPiece {
        index,
        count,
        head,
        consumers: parts::take_consumers(value)?,
        states: parts::take_states(value)?,
        failures: parts::take_attempts(value, has_firsts)?,
    })
}

fn encode_update(update: &Update) -> Vec<u8> {
    let flag = |is_there: bool, flag: u8| if is_there { flag } else { 0 };
    let flags = flag(update.log_start.is_some(), HAS_LOG_START)
        | flag(update.moved_below.is_some(), HAS_MOVED)
        | flag(update.row.is_some(), HAS_ROW)
        | flag(update.next_grant.is_some(), HAS_GRANT);
    let (version, has_firsts) = version_of(&update.failures);
    let mut out = vec![version, flags];
    if let Some(log_start) = update.log_start {
        parts::put_offset(&mut out, log_start);
    }
    if let Some(below) = update.moved_below {
        put_number(&mut out, below);
    }
    if let Some(row) = &update.row {
        parts::put_row(&mut out, row);
    }
    if let Some(grant) = update.next_grant {
        put_number(&mut out, grant);
    }
    put_number(&mut out, update.failed);
    parts::put_consumers(&mut out, &update.consumers);
    parts::put_attempts(&mut out, &update.failures, has_firsts);
    parts::put_changes(&mut out, &update.changes);
    out
}

fn decode_update(value: &mut BytesIn<'_>, has_firsts: bool) -> Result<Update, QueueRecordError> {
    let flags = value.u8("flags")?;
    if flags & !(HAS_LOG_START | HAS_MOVED | HAS_ROW | HAS_GRANT) != 0 {
        return Err(illegal("flags", flags));
    }
    let mut update = Update::default();
    if flags & HAS_LOG_START != 0 {
        update.log_start = Some(parts::take_offset(value, "log start")?);
    }
    if flags & HAS_MOVED != 0 {
        update.moved_below = Some(value.number("number of a move")?);
    }
    if flags & HAS_ROW != 0 {
        update.row = Some(parts::take_row(value)?);
    }
    if flags & HAS_GRANT != 0 {
        update.next_grant = Some(value.number("number of a hand-over")?);
    }
    update.failed = value.number("count of failures")?;
    update.consumers = parts::take_consumers(value)?;
    update.failures = parts::take_attempts(value, has_firsts)?;
    update.changes = parts::take_changes(value)?;
    Ok(update)
}
