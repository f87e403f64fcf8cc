//! Reasons of the group coordinator.

use fanlog_broker::{CoordinatorError, GroupRequestError};
use fanlog_coordinators::group::{GroupError, OffsetError};
use fanlog_protocol::ErrorCode;

pub(crate) fn of_group(error: &GroupError) -> ErrorCode {
    match error {
        GroupError::InvalidGroupId => ErrorCode::InvalidGroupId,
        GroupError::GroupNotFound { .. } | GroupError::IsQueue { .. } => ErrorCode::GroupIdNotFound,
        GroupError::UnknownMember { .. } => ErrorCode::UnknownMemberId,
        GroupError::FencedInstance { .. } => ErrorCode::FencedInstanceId,
        GroupError::IllegalGeneration { .. } => ErrorCode::IllegalGeneration,
        GroupError::RebalanceInProgress { .. } => ErrorCode::RebalanceInProgress,
        GroupError::InconsistentProtocol { .. } => ErrorCode::InconsistentGroupProtocol,
        GroupError::MemberIdRequired { .. } => ErrorCode::MemberIdRequired,
        GroupError::InvalidSessionTimeout { .. } => ErrorCode::InvalidSessionTimeout,
        // Of the codes that clients know for a Join the one that tells the application, and is not tried again for ever.
        GroupError::GroupFull { .. } | GroupError::MemoryFull { .. } => {
            ErrorCode::GroupMaxSizeReached
        }
        GroupError::FencedMemberEpoch { .. } => ErrorCode::FencedMemberEpoch,
        GroupError::StaleMemberEpoch { .. } => ErrorCode::StaleMemberEpoch,
        GroupError::UnreleasedInstance { .. } => ErrorCode::UnreleasedInstanceId,
        GroupError::UnsupportedAssignor { .. } => ErrorCode::UnsupportedAssignor,
        GroupError::InvalidRegex { .. } => ErrorCode::InvalidRegularExpression,
        GroupError::InvalidRequest { .. } | GroupError::NotOfQueue { .. } => {
            ErrorCode::InvalidRequest
        }
        GroupError::OldCommit { .. } => ErrorCode::UnsupportedVersion,
        GroupError::GroupNotEmpty { .. } => ErrorCode::NonEmptyGroup,
        GroupError::NameTooLong { .. } => ErrorCode::InvalidRequest,
        // Kafka answers both like this, as its own record would be too large.
        GroupError::ProtocolsTooLarge { .. } | GroupError::GroupTooLarge { .. } => {
            ErrorCode::UnknownServerError
        }
    }
}

pub(crate) fn of_offset(error: &OffsetError) -> ErrorCode {
    match error {
        OffsetError::MetadataTooLarge { .. } => ErrorCode::OffsetMetadataTooLarge,
        OffsetError::MemoryFull { .. } => ErrorCode::InvalidCommitOffsetSize,
        OffsetError::SubscribedTopic { .. } => ErrorCode::GroupSubscribedToTopic,
    }
}

pub(crate) fn of_coordinator(error: &CoordinatorError) -> ErrorCode {
    match error {
        CoordinatorError::Loading => ErrorCode::CoordinatorLoadInProgress,
        CoordinatorError::NotAvailable { .. } => ErrorCode::CoordinatorNotAvailable,
    }
}

/// A group's refusal, or its coordinator's.
pub(crate) fn of_group_failure(failure: &GroupRequestError) -> ErrorCode {
    match failure {
        GroupRequestError::Refused(error) => of_group(error),
        GroupRequestError::Coordinator(error) => of_coordinator(error),
    }
}
