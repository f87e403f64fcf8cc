//! Reasons of the catalog: topics, partitions, settings, producer ids.

use fanlog_broker::{AutoCreateError, CatalogUnavailable, InitProducerIdError};
use fanlog_coordinators::catalog::{
    AlterConfigsError, CreatePartitionsError, CreateTopicError, DeleteTopicError,
};
use fanlog_model::settings::SettingError;
use fanlog_protocol::ErrorCode;

/// The catalog's log has failed: clients ask again, operators look at the disk.
pub(crate) fn of_catalog(_: &CatalogUnavailable) -> ErrorCode {
    ErrorCode::KafkaStorageError
}

pub(crate) fn of_create_topic(error: &CreateTopicError) -> ErrorCode {
    match error {
        CreateTopicError::InvalidName(_)
        | CreateTopicError::Reserved { .. }
        | CreateTopicError::Collision { .. } => ErrorCode::InvalidTopicException,
        CreateTopicError::AlreadyExists { .. } => ErrorCode::TopicAlreadyExists,
        CreateTopicError::Repeated { .. } | CreateTopicError::BesideAssignment { .. } => {
            ErrorCode::InvalidRequest
        }
        CreateTopicError::InvalidPartitions { .. } => ErrorCode::InvalidPartitions,
        CreateTopicError::InvalidReplicationFactor { .. } => ErrorCode::InvalidReplicationFactor,
        CreateTopicError::InvalidAssignment(_) => ErrorCode::InvalidReplicaAssignment,
        CreateTopicError::InvalidSetting(_)
        | CreateTopicError::NullSetting { .. }
        | CreateTopicError::RepeatedSetting { .. } => ErrorCode::InvalidConfig,
        CreateTopicError::TooManyPartitions { .. } => ErrorCode::PolicyViolation,
    }
}

/// A topic that was only named, in Metadata: what may not be created does not exist.
pub(crate) fn of_auto_create(error: &AutoCreateError) -> ErrorCode {
    match error {
        AutoCreateError::Disabled(_)
        | AutoCreateError::Refused(CreateTopicError::Reserved { .. }) => {
            ErrorCode::UnknownTopicOrPartition
        }
        AutoCreateError::Refused(error) => of_create_topic(error),
        // Every client asks again after this one.
        AutoCreateError::Unavailable(_) => ErrorCode::LeaderNotAvailable,
    }
}

pub(crate) fn of_delete_topic(error: &DeleteTopicError) -> ErrorCode {
    match error {
        DeleteTopicError::UnknownTopic { .. } => ErrorCode::UnknownTopicOrPartition,
        DeleteTopicError::UnknownTopicId { .. } => ErrorCode::UnknownTopicId,
        DeleteTopicError::Internal { .. } => ErrorCode::InvalidTopicException,
        DeleteTopicError::Repeated { .. } => ErrorCode::InvalidRequest,
        DeleteTopicError::Disabled => ErrorCode::TopicDeletionDisabled,
    }
}

pub(crate) fn of_create_partitions(error: &CreatePartitionsError) -> ErrorCode {
    match error {
        CreatePartitionsError::UnknownTopic { .. } => ErrorCode::UnknownTopicOrPartition,
        CreatePartitionsError::Repeated { .. } => ErrorCode::InvalidRequest,
        CreatePartitionsError::Internal { .. } => ErrorCode::InvalidTopicException,
        CreatePartitionsError::NotAnIncrease { .. }
        | CreatePartitionsError::TooManyForTopic { .. } => ErrorCode::InvalidPartitions,
        CreatePartitionsError::InvalidAssignment(_) => ErrorCode::InvalidReplicaAssignment,
        CreatePartitionsError::TooManyPartitions { .. } => ErrorCode::PolicyViolation,
    }
}

fn of_alter_configs(error: &AlterConfigsError) -> ErrorCode {
    match error {
        AlterConfigsError::RepeatedResource { .. }
        | AlterConfigsError::DefaultTopic
        | AlterConfigsError::DefaultGroup
        | AlterConfigsError::UnknownBroker { .. }
        | AlterConfigsError::UnsupportedResource { .. }
        | AlterConfigsError::RepeatedSetting { .. }
        | AlterConfigsError::NullValue { .. }
        | AlterConfigsError::UnknownOperation { .. }
        | AlterConfigsError::RequestTooLarge => ErrorCode::InvalidRequest,
        AlterConfigsError::UnknownTopic { .. } => ErrorCode::UnknownTopicOrPartition,
        AlterConfigsError::InternalTopic { .. } | AlterConfigsError::InvalidTopicName(_) => {
            ErrorCode::InvalidTopicException
        }
        AlterConfigsError::GroupNameTooLong { .. } => ErrorCode::InvalidGroupId,
        AlterConfigsError::TooManyGroups { .. } => ErrorCode::PolicyViolation,
        AlterConfigsError::NotAList { .. } => ErrorCode::InvalidConfig,
        AlterConfigsError::InvalidSetting(error) => of_altered_setting(error),
    }
}

/// A setting that is not for this request is the request's fault; one that doesn't take its value, the value's.
fn of_altered_setting(error: &SettingError) -> ErrorCode {
    match error {
        SettingError::NotDynamic { .. } | SettingError::PerBrokerOnly { .. } => {
            ErrorCode::InvalidRequest
        }
        SettingError::Unknown { .. }
        | SettingError::Invalid { .. }
        | SettingError::Unsupported { .. }
        | SettingError::TooLong { .. }
        | SettingError::TooLongTogether { .. }
        | SettingError::OutOfBounds { .. }
        | SettingError::Above { .. } => ErrorCode::InvalidConfig,
    }
}

pub(crate) fn of_init_producer_id(error: &InitProducerIdError) -> ErrorCode {
    match error {
        InitProducerIdError::Exhausted(_) => ErrorCode::UnknownServerError,
        // What Kafka answers while it has no block of ids; clients ask again.
        InitProducerIdError::Unavailable(_) => ErrorCode::CoordinatorLoadInProgress,
    }
}

/// Code and message for each of `count` resources whose settings were to change.
pub(crate) fn of_altered(
    altered: Result<Vec<Result<(), AlterConfigsError>>, CatalogUnavailable>,
    count: usize,
) -> Vec<(i16, Option<String>)> {
    match altered {
        Err(error) => vec![(of_catalog(&error).code(), Some(error.to_string())); count],
        Ok(outcomes) => outcomes
            .into_iter()
            .map(|outcome| match outcome {
                Ok(()) => (ErrorCode::None.code(), None),
                Err(error) => (of_alter_configs(&error).code(), Some(error.to_string())),
            })
            .collect(),
    }
}
