//! Reasons of lookups, reads and deletions.

use fanlog_broker::{
    DeleteRecordsError, DescribeProducersError, EpochError, FetchError, LookupError, OffsetsError,
    PartitionUnavailable,
};
use fanlog_protocol::ErrorCode;

pub(crate) fn of_lookup(error: &LookupError) -> ErrorCode {
    match error {
        LookupError::UnknownTopic(_) | LookupError::UnknownPartition { .. } => {
            ErrorCode::UnknownTopicOrPartition
        }
        LookupError::UnknownTopicId(_) => ErrorCode::UnknownTopicId,
    }
}

fn of_epoch(error: &EpochError) -> ErrorCode {
    match error {
        EpochError::Fenced { .. } => ErrorCode::FencedLeaderEpoch,
        EpochError::Unknown { .. } => ErrorCode::UnknownLeaderEpoch,
    }
}

pub(crate) fn of_unavailable(error: &PartitionUnavailable) -> ErrorCode {
    match error {
        PartitionUnavailable::Offline { .. } => ErrorCode::KafkaStorageError,
        PartitionUnavailable::Deleted { .. } => ErrorCode::UnknownTopicOrPartition,
    }
}

pub(crate) fn of_fetch(error: &FetchError) -> ErrorCode {
    match error {
        FetchError::Lookup(error) => of_lookup(error),
        FetchError::Epoch(error) => of_epoch(error),
        FetchError::Unavailable(error) => of_unavailable(error),
        FetchError::OffsetOutOfRange { .. } => ErrorCode::OffsetOutOfRange,
        // Clients tell their applications of this one, and try again in silence after the next.
        FetchError::Damaged { .. } => ErrorCode::CorruptMessage,
        FetchError::Read { .. } => ErrorCode::KafkaStorageError,
    }
}

pub(crate) fn of_offsets(error: &OffsetsError) -> ErrorCode {
    match error {
        OffsetsError::Lookup(error) => of_lookup(error),
        OffsetsError::Epoch(error) => of_epoch(error),
        OffsetsError::Unavailable(error) => of_unavailable(error),
        OffsetsError::Read { .. } => ErrorCode::KafkaStorageError,
    }
}

pub(crate) fn of_delete_records(error: &DeleteRecordsError) -> ErrorCode {
    match error {
        DeleteRecordsError::Lookup(error) => of_lookup(error),
        DeleteRecordsError::Unavailable(error) => of_unavailable(error),
        DeleteRecordsError::OffsetOutOfRange { .. } => ErrorCode::OffsetOutOfRange,
        DeleteRecordsError::Disk { .. } => ErrorCode::KafkaStorageError,
        DeleteRecordsError::Internal { .. } => ErrorCode::InvalidTopicException,
        DeleteRecordsError::PolicyViolation { .. } => ErrorCode::PolicyViolation,
    }
}

pub(crate) fn of_describe_producers(error: &DescribeProducersError) -> ErrorCode {
    match error {
        DescribeProducersError::Lookup(error) => of_lookup(error),
        DescribeProducersError::Unavailable(error) => of_unavailable(error),
    }
}
