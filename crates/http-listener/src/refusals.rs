//! What the broker's errors are over HTTP: each in one exhaustive match.

use crate::problem::{Kind, Problem};
use fanlog_broker::{
    AppendError, CatalogUnavailable, CoordinatorError, FetchError, FindMessageError,
    GroupRequestError, IdsError, LookupError, OffsetsError, PublishError, QueueError, RefusedBatch,
    SettleFailure,
};
use fanlog_coordinators::catalog::{CreateTopicError, DeleteTopicError};
use fanlog_coordinators::group::GroupError;
use fanlog_model::settings::SettingError;

fn of(kind: Kind, error: &impl ToString) -> Problem {
    Problem::new(kind, error.to_string())
}

impl From<CatalogUnavailable> for Problem {
    fn from(error: CatalogUnavailable) -> Self {
        of(Kind::Unavailable, &error)
    }
}

impl From<LookupError> for Problem {
    fn from(error: LookupError) -> Self {
        match &error {
            LookupError::UnknownTopic(topic) => {
                of(Kind::UnknownTopic, &error).with("topic", topic.as_str())
            }
            LookupError::UnknownTopicId(id) => {
                of(Kind::UnknownTopic, &error).with("topic", id.to_string())
            }
            LookupError::UnknownPartition { topic, partition } => Self::new(
                Kind::UnknownPartition,
                format!("topic '{topic}' has no partition {partition}; see GET /v1/topics/{topic}"),
            )
            .with("topic", topic.as_str())
            .with("partition", partition.0),
        }
    }
}

impl From<CreateTopicError> for Problem {
    fn from(error: CreateTopicError) -> Self {
        use CreateTopicError as E;
        let kind = match &error {
            E::InvalidName(_) | E::Reserved { .. } => Kind::InvalidName,
            E::Collision { .. } | E::AlreadyExists { .. } | E::Repeated { .. } => Kind::TopicExists,
            E::InvalidPartitions { .. } => return Self::of_field("partitions", error.to_string()),
            E::InvalidReplicationFactor { .. }
            | E::BesideAssignment { .. }
            | E::InvalidAssignment(_) => Kind::InvalidField,
            E::InvalidSetting(setting) => return setting.clone().into(),
            E::NullSetting { name } | E::RepeatedSetting { name } => {
                return of(Kind::InvalidSetting, &error).with("setting", name.as_str());
            }
            E::TooManyPartitions { .. } => Kind::TooManyPartitions,
        };
        of(kind, &error)
    }
}

impl From<DeleteTopicError> for Problem {
    fn from(error: DeleteTopicError) -> Self {
        let kind = match &error {
            DeleteTopicError::UnknownTopic { .. } | DeleteTopicError::UnknownTopicId { .. } => {
                Kind::UnknownTopic
            }
            DeleteTopicError::Internal { .. } => Kind::InternalTopic,
            DeleteTopicError::Repeated { .. } => Kind::InvalidField,
            DeleteTopicError::Disabled => Kind::TopicDeletionOff,
        };
        of(kind, &error)
    }
}

impl From<SettingError> for Problem {
    fn from(error: SettingError) -> Self {
        let setting = match &error {
            SettingError::Unknown { name, .. } => Some(name.clone()),
            SettingError::Invalid { name, .. }
            | SettingError::Unsupported { name, .. }
            | SettingError::TooLong { name, .. }
            | SettingError::Above { name, .. } => Some((*name).to_owned()),
            _ => None,
        };
        let problem = of(Kind::InvalidSetting, &error);
        match setting {
            Some(setting) => problem.with("setting", setting),
            None => problem,
        }
    }
}

impl From<PublishError> for Problem {
    fn from(error: PublishError) -> Self {
        match &error {
            PublishError::Lookup(lookup) => lookup.clone().into(),
            PublishError::Internal { .. } => of(Kind::InternalTopic, &error),
            PublishError::NoDedup { .. } => {
                of(Kind::DedupOff, &error).with("setting", "dedup.window.ms")
            }
            PublishError::NoKey { .. } => of(Kind::MessageRefused, &error).with("field", "key"),
            PublishError::TooLate(_) => {
                of(Kind::DueTooLate, &error).with("setting", "retention.ms")
            }
            PublishError::Build(_) => of(Kind::MessageTooLarge, &error),
            PublishError::Append(append) => of_append(append),
            PublishError::Unsure(_) => of(Kind::Unavailable, &error),
        }
    }
}

fn of_append(error: &AppendError) -> Problem {
    match error {
        AppendError::Unavailable(_) => of(Kind::Unavailable, error),
        AppendError::Internal { .. } => of(Kind::InternalTopic, error),
        AppendError::Ids(IdsError::Full { .. }) => {
            of(Kind::Unavailable, error).with("setting", "fanlog.dedup.memory.bytes")
        }
        AppendError::Ids(_) => of(Kind::Unavailable, error),
        AppendError::Refused(refused) => match refused {
            RefusedBatch::Failed(_) | RefusedBatch::Io { .. } => of(Kind::Unavailable, error),
            RefusedBatch::TooLarge { bytes, max } => Problem::new(
                Kind::MessageTooLarge,
                format!(
                    "the message takes {bytes} bytes, and the topic's max.message.bytes is {max}: send a smaller one, or raise that"
                ),
            )
            .with("setting", "max.message.bytes"),
            RefusedBatch::ExceedsSegment { .. } => {
                of(Kind::MessageTooLarge, error).with("setting", "segment.bytes")
            }
            RefusedBatch::Invalid(_) => of(Kind::MessageRefused, error),
            // The batch is the broker's own: none of these is the client's doing.
            _ => of(Kind::Internal, error),
        },
    }
}

impl From<FetchError> for Problem {
    fn from(error: FetchError) -> Self {
        match &error {
            FetchError::Lookup(lookup) => lookup.clone().into(),
            FetchError::Epoch(_) => of(Kind::Internal, &error),
            FetchError::Unavailable(_) | FetchError::Read { .. } => of(Kind::Unavailable, &error),
            FetchError::OffsetOutOfRange {
                requested,
                log_start_offset,
                high_watermark,
            } => Self::new(
                Kind::OffsetOutOfRange,
                format!(
                    "offset {requested} is out of range: the partition has {log_start_offset} to {high_watermark}; ask for one of \
                     those, or for ?offset=earliest"
                ),
            )
            .with("offset", requested.0)
            .with("log_start_offset", log_start_offset.0)
            .with("high_watermark", high_watermark.0),
            FetchError::Damaged { .. } => of(Kind::Damaged, &error),
        }
    }
}

impl From<OffsetsError> for Problem {
    fn from(error: OffsetsError) -> Self {
        match &error {
            OffsetsError::Lookup(lookup) => lookup.clone().into(),
            OffsetsError::Epoch(_) => of(Kind::Internal, &error),
            OffsetsError::Unavailable(_) | OffsetsError::Read { .. } => {
                of(Kind::Unavailable, &error)
            }
        }
    }
}

impl From<CoordinatorError> for Problem {
    fn from(error: CoordinatorError) -> Self {
        of(Kind::Unavailable, &error)
    }
}

impl From<GroupRequestError> for Problem {
    fn from(error: GroupRequestError) -> Self {
        match &error {
            GroupRequestError::Refused(GroupError::GroupNotFound { group }) => Self::new(
                Kind::UnknownGroup,
                format!("{error}; see `fanlog group list`"),
            )
            .with("group", group.as_str()),
            GroupRequestError::Refused(_) => of(Kind::InvalidField, &error),
            GroupRequestError::Coordinator(_) => of(Kind::Unavailable, &error),
        }
    }
}

impl From<FindMessageError> for Problem {
    fn from(error: FindMessageError) -> Self {
        use FindMessageError as E;
        match &error {
            E::NoSuchTopic { topic } => {
                of(Kind::UnknownTopic, &error).with("topic", topic.as_str())
            }
            E::NoDedup { .. } => of(Kind::DedupOff, &error).with("setting", "dedup.window.ms"),
            E::Unknown { .. } => of(Kind::UnknownMessage, &error),
            E::Ids(_) => of(Kind::Unavailable, &error),
        }
    }
}

impl From<QueueError> for Problem {
    fn from(error: QueueError) -> Self {
        use QueueError as E;
        match &error {
            E::NoSuchQueue { name } => Self::new(
                Kind::UnknownQueue,
                format!("{error}; see GET /v1/queues, or make it with POST /v1/queues"),
            )
            .with("queue", name.as_str()),
            E::Exists { name } => of(Kind::QueueExists, &error).with("queue", name.as_str()),
            E::NameIsGroup { name } => of(Kind::NameIsGroup, &error).with("queue", name.as_str()),
            E::BadName { name, .. } => of(Kind::InvalidName, &error).with("queue", name.as_str()),
            E::NoSuchTopic { topic } => Self::new(
                Kind::UnknownTopic,
                format!("{error}; make it with POST /v1/topics"),
            )
            .with("topic", topic.as_str()),
            E::BadTopic { topic, .. } => {
                of(Kind::InternalTopic, &error).with("topic", topic.as_str())
            }
            E::BadSetting { setting, value, .. } => of(Kind::InvalidSetting, &error)
                .with("setting", &**setting)
                .with("value", &**value),
            E::Limit { what, .. } => of(Kind::InvalidField, &error).with("field", *what),
            E::NoSuchMessage { id, .. } => {
                of(Kind::UnknownMessage, &error).with("id", id.to_string())
            }
            E::NoSuchRedrive { .. } => of(Kind::UnknownRedrive, &error),
            E::RedriveUnderWay { id, .. } => {
                of(Kind::RedriveUnderWay, &error).with("redrive", &**id)
            }
            E::RedriveOver { state, .. } => of(Kind::RedriveOver, &error).with("state", *state),
            E::TopicNotMade { topic, .. } | E::Read { topic, .. } => {
                of(Kind::Unavailable, &error).with("topic", topic.as_str())
            }
            E::Unavailable(_) => of(Kind::Unavailable, &error),
        }
    }
}

impl From<SettleFailure> for Problem {
    fn from(error: SettleFailure) -> Self {
        let kind = match &error {
            SettleFailure::NoReceipt(_) | SettleFailure::OfAnother { .. } => Kind::InvalidReceipt,
            SettleFailure::Refused(_) => Kind::LockLost,
            SettleFailure::DueTooLate(_) => Kind::DueTooLate,
            SettleFailure::Unavailable(_) => Kind::Unavailable,
        };
        of(kind, &error)
    }
}
