//! The bytes of a [`TransactionRecord`] in `__transaction_state`, as Kafka 4.4 writes them.
//!
//! ```text
//! key    0: i16 | transactional id
//! value  1: i16 | producer id: i64 | epoch: i16 | timeout: i32 | state: i8 | [topic, [partition]]? | updated: i64 | started: i64
//!               | tag 0: previous producer id | tag 1: next producer id | tag 2: client's version | tag 3: next epoch
//! ```
//! No value: a tombstone. Version 0 of the value is read as well. The partitions are null where nothing is under way.

use super::{Transaction, TransactionRecord, TransactionState, TransactionalId};
use fanlog_model::{
    InvalidTopicName, PartitionIndex, ProducerEpoch, ProducerId, TimestampMs, TopicName,
    TopicPartition,
};
use fanlog_protocol::messages::transaction_log_value::PartitionsSchema;
use fanlog_protocol::messages::{TransactionLogKey, TransactionLogValue};
use fanlog_protocol::wire::{DecodeError, EncodeError, Reader};
use std::borrow::Cow;
use std::collections::BTreeSet;
use thiserror::Error;

const VALUE_VERSION: i16 = 1;

/// A record as it goes into a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodedRecord {
    /// The key.
    pub key: Vec<u8>,
    /// The value; `None` for a tombstone.
    pub value: Option<Vec<u8>>,
}

/// Why a record in the log is none of ours. It is skipped and reported; the rest of the log still loads.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SkippedRecord {
    /// A compacted topic has no such records.
    #[error("record without a key")]
    NoKey,
    /// A key of a later version.
    #[error("key of kind {kind}, which this version does not know")]
    UnknownKey {
        /// The number at the key's beginning.
        kind: i16,
    },
    /// The key can't be read.
    #[error("unreadable key: {0}")]
    BadKey(DecodeError),
    /// The value can't be read, or has a version from the future.
    #[error("unreadable value: {0}")]
    BadValue(DecodeError),
    /// A state that is not logged.
    #[error("transaction in state {state}, which is not one that is logged")]
    BadState {
        /// Its number.
        state: i8,
    },
    /// The topic can't exist.
    #[error("transaction on an impossible topic: {0}")]
    BadTopic(InvalidTopicName),
}

/// Writes a record.
///
/// # Errors
/// If a name is longer than the format can hold; the machine lets none of these in.
pub fn encode(record: &TransactionRecord) -> Result<EncodedRecord, EncodeError> {
    let key = |id: &TransactionalId| {
        let transactional_id = Cow::Borrowed(id.as_str());
        TransactionLogKey { transactional_id }.encode_with_version_prefix()
    };
    Ok(match record {
        TransactionRecord::Transaction { id, transaction } => EncodedRecord {
            key: key(id)?,
            value: Some(value(transaction).encode_with_version_prefix(VALUE_VERSION)?),
        },
        TransactionRecord::Expired { id } => EncodedRecord {
            key: key(id)?,
            value: None,
        },
    })
}

fn value(transaction: &Transaction) -> TransactionLogValue<'_> {
    let mut topics: Vec<PartitionsSchema<'_>> = Vec::new();
    for partition in &transaction.partitions {
        let name = partition.topic.as_str();
        if topics.last().is_none_or(|last| last.topic != name) {
            topics.push(PartitionsSchema {
                topic: Cow::Borrowed(name),
                partition_ids: Vec::new(),
            });
        }
        let last = topics.last_mut().expect("pushed above");
        last.partition_ids.push(partition.partition.get());
    }
    TransactionLogValue {
        producer_id: transaction.producer_id.get(),
        previous_producer_id: transaction.previous_producer_id.get(),
        next_producer_id: transaction.next_producer_id.get(),
        producer_epoch: transaction.producer_epoch.get(),
        next_producer_epoch: -1,
        transaction_timeout_ms: transaction.timeout_ms,
        transaction_status: transaction.state.number(),
        transaction_partitions: (transaction.state != TransactionState::Empty).then_some(topics),
        transaction_last_update_timestamp_ms: transaction.updated_at.get(),
        transaction_start_timestamp_ms: transaction.started_at.get(),
        client_transaction_version: transaction.client_version,
    }
}

/// Reads a record.
///
/// # Errors
/// Says why the record is to be skipped.
pub fn decode(
    key: Option<&[u8]>,
    value: Option<&[u8]>,
) -> Result<TransactionRecord, SkippedRecord> {
    let key = key.ok_or(SkippedRecord::NoKey)?;
    let kind = Reader::new(key).i16().map_err(SkippedRecord::BadKey)?;
    if kind != TransactionLogKey::KEY_VERSION {
        return Err(SkippedRecord::UnknownKey { kind });
    }
    let key = TransactionLogKey::decode_with_version_prefix(key).map_err(SkippedRecord::BadKey)?;
    let id = TransactionalId::from(&*key.transactional_id);
    let Some(value) = value else {
        return Ok(TransactionRecord::Expired { id });
    };
    let value = TransactionLogValue::decode_with_version_prefix(value);
    let transaction = transaction(value.map_err(SkippedRecord::BadValue)?)?;
    Ok(TransactionRecord::Transaction { id, transaction })
}

fn transaction(value: TransactionLogValue<'_>) -> Result<Transaction, SkippedRecord> {
    let number = value.transaction_status;
    let state =
        TransactionState::from_number(number).ok_or(SkippedRecord::BadState { state: number })?;
    let mut partitions = BTreeSet::new();
    for topic in value.transaction_partitions.into_iter().flatten() {
        let name = TopicName::new(&topic.topic).map_err(SkippedRecord::BadTopic)?;
        partitions.extend(topic.partition_ids.iter().map(|index| TopicPartition {
            topic: name.clone(),
            partition: PartitionIndex(*index),
        }));
    }
    if state.is_idle() {
        partitions.clear();
    }
    Ok(Transaction {
        producer_id: ProducerId(value.producer_id),
        previous_producer_id: ProducerId(value.previous_producer_id),
        next_producer_id: ProducerId(value.next_producer_id),
        producer_epoch: ProducerEpoch(value.producer_epoch),
        timeout_ms: value.transaction_timeout_ms,
        state,
        partitions,
        updated_at: TimestampMs(value.transaction_last_update_timestamp_ms),
        started_at: TimestampMs(value.transaction_start_timestamp_ms),
        client_version: value.client_transaction_version,
    })
}
