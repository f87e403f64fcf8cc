//! Reasons of appends, with what a producer is told beside the code.

use super::{of_lookup, of_unavailable};
use fanlog_broker::{
    AllowError, AppendError, IdsError, LookupError, PartitionUnavailable, RecordOvertaken,
    RefusedBatch,
};
use fanlog_model::{InvalidTopicName, TopicName};
use fanlog_protocol::ErrorCode;
use fanlog_protocol::records::{
    BatchError, CompressionError, InvalidBatch, RecordFault, RefusedRecord,
};

/// Why a partition of a Produce is refused, in the protocol's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) code: ErrorCode,
    pub(crate) message: Option<String>,
    /// Records of the batch that are at fault, by their number.
    pub(crate) record_errors: Vec<(i32, String)>,
}

impl Refusal {
    pub(crate) fn of_code(code: ErrorCode) -> Self {
        Self {
            code,
            message: None,
            record_errors: Vec::new(),
        }
    }

    fn new(code: ErrorCode, message: String) -> Self {
        Self {
            code,
            message: Some(message),
            record_errors: Vec::new(),
        }
    }

    /// A batch of a transaction says whose it is, and the request must say so too.
    pub(crate) fn no_transactional_id() -> Self {
        let message =
            "the record batch belongs to a transaction, and the request names no transactional id";
        Self::new(
            ErrorCode::TransactionalIdAuthorizationFailed,
            message.to_owned(),
        )
    }

    /// Why a transaction may not write to a partition, for a Produce of this version.
    pub(crate) fn of_allow(error: &AllowError, version: i16) -> Self {
        Self::new(super::of_allow(error, version), error.to_string())
    }

    /// One Produce is of one producer.
    pub(crate) fn several_producers() -> Self {
        let message = "the batches of a transaction in one request come from several producers";
        Self::new(ErrorCode::InvalidProducerIdMapping, message.to_owned())
    }

    pub(crate) fn old_zstd() -> Self {
        let message =
            "zstd needs Produce version 7 or later; use a newer client or another compression";
        Self::new(ErrorCode::UnsupportedCompressionType, message.to_owned())
    }

    pub(crate) fn invalid_topic(error: &InvalidTopicName) -> Self {
        Self::new(ErrorCode::InvalidTopicException, error.to_string())
    }

    pub(crate) fn internal_topic(topic: &TopicName) -> Self {
        let message = format!("topic '{topic}' is internal: clients may not produce to it");
        Self::new(ErrorCode::InvalidTopicException, message)
    }

    /// Retention would take a record before it is due.
    pub(crate) fn of_overtaken(error: &RecordOvertaken) -> Self {
        let message = error.to_string();
        Self {
            record_errors: vec![(error.batch_index, message.clone())],
            ..Self::new(ErrorCode::InvalidRecord, message)
        }
    }

    pub(crate) fn of_lookup(error: &LookupError) -> Self {
        Self::new(of_lookup(error), error.to_string())
    }

    pub(crate) fn of_unavailable(error: &PartitionUnavailable) -> Self {
        Self::new(of_unavailable(error), error.to_string())
    }
}

pub(crate) fn of_append(error: &AppendError) -> Refusal {
    let refused = match error {
        AppendError::Unavailable(error) => return Refusal::of_unavailable(error),
        AppendError::Internal { topic } => return Refusal::internal_topic(topic),
        AppendError::Ids(error) => return of_ids(error),
        AppendError::Refused(refused) => refused,
    };
    Refusal {
        code: of_refused_batch(refused),
        message: Some(refused.to_string()),
        record_errors: match refused {
            RefusedBatch::Invalid(InvalidBatch::Records(records)) => {
                records.iter().map(record_error).collect()
            }
            _ => Vec::new(),
        },
    }
}

/// Nothing was appended, and the same may be later: the code at which every client tries again without asking who leads.
fn of_ids(error: &IdsError) -> Refusal {
    Refusal {
        code: ErrorCode::NotEnoughReplicas,
        message: Some(error.to_string()),
        record_errors: Vec::new(),
    }
}

fn record_error(record: &RefusedRecord) -> (i32, String) {
    (record.batch_index, record.to_string())
}

pub(super) fn of_refused_batch(error: &RefusedBatch) -> ErrorCode {
    match error {
        RefusedBatch::Failed(_) | RefusedBatch::Io { .. } => ErrorCode::KafkaStorageError,
        RefusedBatch::StaleLeaderEpoch { .. } => ErrorCode::NotLeaderOrFollower,
        RefusedBatch::Invalid(error) => of_invalid_batch(error),
        RefusedBatch::BatchCount { .. } => ErrorCode::InvalidRecord,
        RefusedBatch::TooLarge { .. } => ErrorCode::MessageTooLarge,
        RefusedBatch::ExceedsSegment { .. } => ErrorCode::RecordListTooLarge,
        RefusedBatch::NotInTransaction { .. } | RefusedBatch::OutsideTransaction { .. } => {
            ErrorCode::InvalidTxnState
        }
        RefusedBatch::CoordinatorFenced { .. } => ErrorCode::TransactionCoordinatorFenced,
        RefusedBatch::OutOfOrderSequence { .. } => ErrorCode::OutOfOrderSequenceNumber,
        RefusedBatch::InvalidProducerEpoch { .. } => ErrorCode::InvalidProducerEpoch,
    }
}

fn of_invalid_batch(error: &InvalidBatch) -> ErrorCode {
    match error {
        InvalidBatch::Batch(error) => of_batch(error),
        InvalidBatch::Records(records) => of_records(records),
        InvalidBatch::Record(_)
        | InvalidBatch::NoRecords { .. }
        | InvalidBatch::BaseOffsetNotZero { .. }
        | InvalidBatch::CountMismatch { .. }
        | InvalidBatch::OffsetDelta { .. }
        | InvalidBatch::ControlFromClient
        | InvalidBatch::NegativeSequence { .. } => ErrorCode::InvalidRecord,
    }
}

/// What may have been damaged on the way is worth another try (CORRUPT_MESSAGE); what was sent so is not.
fn of_batch(error: &BatchError) -> ErrorCode {
    match error {
        BatchError::Truncated { .. }
        | BatchError::BadLength { .. }
        | BatchError::CrcMismatch { .. } => ErrorCode::CorruptMessage,
        BatchError::UnsupportedMagic { .. } => ErrorCode::InvalidRecord,
        BatchError::UnknownCompression { .. } => ErrorCode::UnsupportedCompressionType,
        BatchError::Compression(CompressionError::TooLarge { .. }) => ErrorCode::RecordListTooLarge,
        BatchError::Compression(CompressionError::Corrupt { .. }) => ErrorCode::InvalidRecord,
    }
}

/// A wrong time has a code of its own, as in Kafka: the first fault decides.
fn of_records(records: &[RefusedRecord]) -> ErrorCode {
    match records.first().map(|record| record.fault) {
        Some(RecordFault::Timestamp { .. }) => ErrorCode::InvalidTimestamp,
        Some(RecordFault::NoKey | RecordFault::LogAppendTimeFromClient) | None => {
            ErrorCode::InvalidRecord
        }
    }
}
