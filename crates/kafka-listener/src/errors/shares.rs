//! Reasons of share groups.

use super::{of_coordinator, of_fetch, of_lookup};
use fanlog_broker::{ShareAckError, ShareFetchError, ShareSessionError};
use fanlog_coordinators::share::AckError;
use fanlog_protocol::ErrorCode;

pub(crate) fn of_share_session(error: &ShareSessionError) -> ErrorCode {
    match error {
        ShareSessionError::NotFound => ErrorCode::ShareSessionNotFound,
        ShareSessionError::InvalidEpoch { .. } => ErrorCode::InvalidShareSessionEpoch,
        ShareSessionError::TooManyPartitions { .. } => ErrorCode::InvalidRequest,
        ShareSessionError::LimitReached { .. } => ErrorCode::ShareSessionLimitReached,
    }
}

pub(crate) fn of_share_fetch(error: &ShareFetchError) -> ErrorCode {
    match error {
        ShareFetchError::Lookup(error) => of_lookup(error),
        ShareFetchError::Fetch(error) => of_fetch(error),
        ShareFetchError::NoState { .. } => ErrorCode::UnknownTopicOrPartition,
        // The Java consumer takes no error of a coordinator here: to this one it comes again.
        ShareFetchError::Coordinator(_) => ErrorCode::NotLeaderOrFollower,
    }
}

pub(crate) fn of_share_ack(error: &ShareAckError) -> ErrorCode {
    match error {
        ShareAckError::Lookup(error) => of_lookup(error),
        ShareAckError::Coordinator(error) => of_coordinator(error),
        ShareAckError::Refused(AckError::NotBegun) => ErrorCode::UnknownTopicOrPartition,
        ShareAckError::Refused(AckError::Malformed(_) | AckError::NeverDelivered(_)) => {
            ErrorCode::InvalidRequest
        }
        ShareAckError::Refused(AckError::NotHeld(_) | AckError::RenewalDisabled) => {
            ErrorCode::InvalidRecordState
        }
    }
}
