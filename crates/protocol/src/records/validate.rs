//! What a broker checks before it appends a batch, and what it learns on the way.
//!
//! Why it exists: a batch that is stored is served to every consumer for as long as the topic keeps it; what a consumer could not
//! read must be refused when it comes.
//! Never: sequences of a producer, sizes against a topic's setting, offsets (storage knows these).
//! In -> out: a batch and the topic's rules -> [`Validated`], or the reason for refusing it.
//! Invariants: LOG-3, LOG-4.
//!
//! The rules are Apache Kafka 4.4's, tried on it, two of them stricter: offset deltas run 0, 1, 2, ... (LOG-3 rests on it; Kafka takes any),
//! and a client's claim of log append time is always refused (Kafka drops the claim where the topic keeps create time). That a produce
//! request holds exactly one batch per partition is for the listener to check.

use super::batch::{BatchError, BatchView, TimestampType};
use super::compression::Decompressor;
use super::record::{RecordError, RecordView};
use fanlog_model::{Offset, TimestampMs};
use thiserror::Error;

/// A topic's rules for what it takes in.
#[derive(Clone, Copy, Debug)]
pub struct ProduceRules {
    /// Whether a client sent the batch; the broker's own may hold control records and start at any offset.
    pub is_from_client: bool,
    /// The broker's time.
    pub now: TimestampMs,
    /// `message.timestamp.type`.
    pub timestamp_type: TimestampType,
    /// `message.timestamp.before.max.ms`: how far behind `now` a record's time may lie.
    pub timestamp_before_max_ms: i64,
    /// `message.timestamp.after.max.ms`: how far ahead of `now` a record's time may lie.
    pub timestamp_after_max_ms: i64,
    /// Whether every record needs a key.
    pub is_compacted: bool,
}

/// The most refused records that are listed for one batch: the walk ends there.
const REFUSED_RECORDS_MAX: usize = 1_000;

/// What the walk of an acceptable batch found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validated {
    /// How many records the batch has.
    pub record_count: i32,
    /// The latest time of a record; [`TimestampMs::NONE`] where no record has one. The broker writes it into the batch
    /// ([`super::set_max_timestamp`], unless the topic has LogAppendTime): what a client claims is not trusted.
    pub max_timestamp: TimestampMs,
    /// The delta of the first record with that time.
    pub max_timestamp_delta: i32,
}

/// Why one record of a batch is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordFault {
    /// The topic is compacted and the record has no key.
    NoKey,
    /// The record's time is too far from the broker's.
    Timestamp {
        /// The record's time.
        timestamp: TimestampMs,
        /// The earliest time allowed.
        earliest: TimestampMs,
        /// The latest time allowed.
        latest: TimestampMs,
    },
    /// The batch claims that a broker gave the time.
    LogAppendTimeFromClient,
}

/// One refused record of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefusedRecord {
    /// Its number in the batch, as the answer to a producer names it.
    pub batch_index: i32,
    /// What is wrong with it.
    pub fault: RecordFault,
}

impl std::fmt::Display for RefusedRecord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let index = self.batch_index;
        match self.fault {
            RecordFault::NoKey => {
                write!(
                    f,
                    "record {index} has no key, and the topic is compacted: give it one"
                )
            }
            RecordFault::Timestamp {
                timestamp,
                earliest,
                latest,
            } => write!(
                f,
                "record {index} has timestamp {timestamp}; the topic takes {earliest} to {latest}"
            ),
            RecordFault::LogAppendTimeFromClient => write!(
                f,
                "record {index} claims log append time, which only a broker may give"
            ),
        }
    }
}

/// Why a batch is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum InvalidBatch {
    /// The batch is corrupt or cannot be decompressed.
    #[error(transparent)]
    Batch(#[from] BatchError),
    /// A record cannot be read.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The header states no record.
    #[error("record batch states {count} records; at least one is needed")]
    NoRecords {
        /// What the header says.
        count: i32,
    },
    /// A client counts offsets from 0.
    #[error("record batch starts at offset {base_offset}; a producer's starts at 0")]
    BaseOffsetNotZero {
        /// What the header says.
        base_offset: Offset,
    },
    /// The header's range of offsets and its count differ.
    #[error("record batch states {count} records and the last offset delta {last_offset_delta}")]
    CountMismatch {
        /// What the header says.
        count: i32,
        /// What the header says.
        last_offset_delta: i32,
    },
    /// A record is not at its place.
    #[error("record {batch_index} of the batch has offset delta {delta}; it must equal its number")]
    OffsetDelta {
        /// The record's number.
        batch_index: i32,
        /// What the record says.
        delta: i32,
    },
    /// Only brokers write markers.
    #[error("record batch is a control batch, which clients may not write")]
    ControlFromClient,
    /// An idempotent batch needs a sequence.
    #[error("record batch has a producer id and base sequence {base_sequence}; 0 is the least")]
    NegativeSequence {
        /// What the header says.
        base_sequence: i32,
    },
    /// Records break the topic's rules; nothing of the batch is taken.
    #[error("{} of the batch's records are refused; the first: {}", .0.len(), .0[0])]
    Records(Vec<RefusedRecord>),
}

/// Checks a batch, checksum first, then the header, then every record.
///
/// # Errors
/// Says what is wrong; [`InvalidBatch::Records`] lists the records that break the topic's rules, the first thousand at most.
pub fn validate_produced(
    batch: &BatchView<'_>,
    rules: &ProduceRules,
    decompressor: &mut Decompressor,
) -> Result<Validated, InvalidBatch> {
    batch.check_crc()?;
    check_header(batch, rules)?;
    let mut refused = Vec::new();
    let mut found = Validated {
        record_count: batch.record_count(),
        max_timestamp: TimestampMs::NONE,
        max_timestamp_delta: batch.last_offset_delta(),
    };
    let base_timestamp = batch.base_timestamp().get();
    for record in batch.records(decompressor)? {
        let record = record?;
        if record.offset_delta != record.index {
            return Err(InvalidBatch::OffsetDelta {
                batch_index: record.index,
                delta: record.offset_delta,
            });
        }
        let timestamp = TimestampMs(base_timestamp.saturating_add(record.timestamp_delta));
        if let Some(fault) = record_fault(batch, rules, &record, timestamp) {
            let batch_index = record.index;
            refused.push(RefusedRecord { batch_index, fault });
            if refused.len() == REFUSED_RECORDS_MAX {
                break;
            }
        }
        if timestamp > found.max_timestamp {
            found.max_timestamp = timestamp;
            found.max_timestamp_delta = record.offset_delta;
        }
    }
    if refused.is_empty() {
        Ok(found)
    } else {
        Err(InvalidBatch::Records(refused))
    }
}

fn check_header(batch: &BatchView<'_>, rules: &ProduceRules) -> Result<(), InvalidBatch> {
    let (count, last_offset_delta) = (batch.record_count(), batch.last_offset_delta());
    if count <= 0 {
        return Err(InvalidBatch::NoRecords { count });
    }
    if i64::from(last_offset_delta) + 1 != i64::from(count) {
        return Err(InvalidBatch::CountMismatch {
            count,
            last_offset_delta,
        });
    }
    if !rules.is_from_client {
        return Ok(());
    }
    let base_offset = batch.base_offset();
    if base_offset != Offset::ZERO {
        return Err(InvalidBatch::BaseOffsetNotZero { base_offset });
    }
    if batch.is_control() {
        return Err(InvalidBatch::ControlFromClient);
    }
    let base_sequence = batch.base_sequence().get();
    if batch.has_producer_id() && base_sequence < 0 {
        return Err(InvalidBatch::NegativeSequence { base_sequence });
    }
    Ok(())
}

fn record_fault(
    batch: &BatchView<'_>,
    rules: &ProduceRules,
    record: &RecordView<'_>,
    timestamp: TimestampMs,
) -> Option<RecordFault> {
    if rules.is_compacted && record.key.is_none() {
        return Some(RecordFault::NoKey);
    }
    // The producer's own clock counts only where the topic keeps it.
    if rules.timestamp_type == TimestampType::CreateTime && timestamp != TimestampMs::NONE {
        let now = rules.now.get();
        let earliest = now.saturating_sub(rules.timestamp_before_max_ms);
        let latest = now.saturating_add(rules.timestamp_after_max_ms);
        if timestamp.get() < earliest || timestamp.get() > latest {
            return Some(RecordFault::Timestamp {
                timestamp,
                earliest: TimestampMs(earliest),
                latest: TimestampMs(latest),
            });
        }
    }
    if rules.is_from_client && batch.timestamp_type() == TimestampType::LogAppendTime {
        return Some(RecordFault::LogAppendTimeFromClient);
    }
    None
}
