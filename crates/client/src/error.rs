//! What can go wrong between us and a broker: who, which API, why.

use fanlog_protocol::wire::{DecodeError, EncodeError};
use fanlog_protocol::{ApiKey, ErrorCode};
use thiserror::Error;

/// Why a call failed. Cheap enough to clone: one failed batch answers all its records.
#[derive(Clone, Debug, Error)]
pub enum ClientError {
    /// No connection could be made.
    #[error("cannot connect to {broker}: {reason}; check that a broker runs there (--bootstrap)")]
    Connect {
        /// `host:port`.
        broker: String,
        /// What the system said.
        reason: String,
    },
    /// The connection broke before the answer came.
    #[error("connection to {broker} was lost during {}: {reason}", .api.name())]
    Disconnected {
        /// `host:port`.
        broker: String,
        /// What was asked.
        api: ApiKey,
        /// What happened.
        reason: String,
    },
    /// No answer came in time.
    #[error("{broker} did not answer {} within {timeout_ms} ms", .api.name())]
    Timeout {
        /// `host:port`.
        broker: String,
        /// What was asked.
        api: ApiKey,
        /// How long we waited.
        timeout_ms: u64,
    },
    /// The broker lacks the API, or every version of it that we speak.
    #[error("{broker} does not serve {} in a version that this client speaks", .api.name())]
    UnsupportedApi {
        /// `host:port`.
        broker: String,
        /// What was to be asked.
        api: ApiKey,
    },
    /// The broker said no.
    #[error("{broker} answered {} for {about} with {}{}", .api.name(), name_of(.error), with_message(.message))]
    Refused {
        /// `host:port`.
        broker: String,
        /// What was asked.
        api: ApiKey,
        /// The topic, partition, group or resource.
        about: String,
        /// Kafka's error.
        error: Refusal,
        /// What the broker added.
        message: Option<String>,
    },
    /// The answer cannot be read.
    #[error("{broker} answered {} with bytes that cannot be read: {reason}", .api.name())]
    Decode {
        /// `host:port`.
        broker: String,
        /// What was asked.
        api: ApiKey,
        /// What is wrong with them.
        reason: DecodeError,
    },
    /// The request cannot be written in the version that the broker speaks.
    #[error("{} cannot be asked of {broker}: {reason}", .api.name())]
    Encode {
        /// `host:port`.
        broker: String,
        /// What was to be asked.
        api: ApiKey,
        /// Which field stands in the way.
        reason: EncodeError,
    },
    /// The answer leaves out what was asked for.
    #[error("{broker} answered {} without {about}", .api.name())]
    Incomplete {
        /// `host:port`.
        broker: String,
        /// What was asked.
        api: ApiKey,
        /// What is missing.
        about: String,
    },
    /// The partition does not exist.
    #[error("topic '{topic}' has {count} partitions; partition {partition} does not exist")]
    NoSuchPartition {
        /// The topic.
        topic: String,
        /// The partition asked for.
        partition: i32,
        /// How many there are.
        count: usize,
    },
    /// Fetched bytes are no batches.
    #[error("{about} cannot be read at offset {offset}: {reason}")]
    BadRecords {
        /// The partition.
        about: String,
        /// Where we read.
        offset: i64,
        /// What is wrong with the bytes.
        reason: String,
    },
    /// A record is larger than the producer or the format takes.
    #[error("record of {bytes} bytes is larger than the {limit} bytes that a request may have")]
    RecordTooLarge {
        /// How many bytes it takes.
        bytes: usize,
        /// The most allowed.
        limit: usize,
    },
    /// The producer or consumer was closed.
    #[error("the {0} is closed")]
    Closed(&'static str),
    /// A record or a setting cannot be sent as it is.
    #[error("{0}")]
    Invalid(String),
}

/// An error code as a broker sent it: one of Kafka's, or a number that we do not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// One of Kafka's errors.
    Known(ErrorCode),
    /// A number that this client does not know.
    Unknown(i16),
}

impl Refusal {
    /// `None` for code 0.
    pub(crate) fn from_code(code: i16) -> Option<Self> {
        match ErrorCode::from_code(code) {
            Some(ErrorCode::None) => None,
            Some(known) => Some(Self::Known(known)),
            None => Some(Self::Unknown(code)),
        }
    }
}

fn name_of(error: &Refusal) -> String {
    match error {
        Refusal::Known(code) => code.name().to_owned(),
        Refusal::Unknown(code) => format!("unknown error code {code}"),
    }
}

fn with_message(message: &Option<String>) -> String {
    match message {
        Some(message) if !message.is_empty() => format!(": {message}"),
        _ => String::new(),
    }
}

impl ClientError {
    /// Kafka's error, where a broker sent one.
    pub fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Refused {
                error: Refusal::Known(code),
                ..
            } => Some(*code),
            _ => None,
        }
    }

    /// Whether the same call may go well later.
    pub fn is_retriable(&self) -> bool {
        match self {
            Self::Connect { .. } | Self::Disconnected { .. } | Self::Timeout { .. } => true,
            Self::Refused { .. } => self.code().is_some_and(ErrorCode::is_retriable),
            _ => false,
        }
    }

    /// Whether the broker may have done what was asked although the call failed.
    pub fn is_outcome_unknown(&self) -> bool {
        match self {
            Self::Disconnected { .. } | Self::Timeout { .. } => true,
            _ => matches!(
                self.code(),
                Some(ErrorCode::RequestTimedOut | ErrorCode::NotEnoughReplicasAfterAppend)
            ),
        }
    }

    /// Whether a commit was refused because the group is being, or has been, dealt out anew: what was not committed is read again.
    pub fn is_rebalance(&self) -> bool {
        matches!(
            self.code(),
            Some(
                ErrorCode::RebalanceInProgress
                    | ErrorCode::IllegalGeneration
                    | ErrorCode::UnknownMemberId
                    | ErrorCode::FencedInstanceId
            )
        )
    }

    /// Whether what we know of the cluster is out of date.
    pub(crate) fn wants_metadata(&self) -> bool {
        matches!(
            self,
            Self::Connect { .. } | Self::Disconnected { .. } | Self::Timeout { .. }
        ) || matches!(
            self.code(),
            Some(
                ErrorCode::NotLeaderOrFollower
                    | ErrorCode::LeaderNotAvailable
                    | ErrorCode::UnknownTopicOrPartition
                    | ErrorCode::UnknownTopicId
                    | ErrorCode::InconsistentTopicId
                    | ErrorCode::FencedLeaderEpoch
                    | ErrorCode::UnknownLeaderEpoch
                    | ErrorCode::KafkaStorageError
                    | ErrorCode::ReplicaNotAvailable
                    | ErrorCode::NotController
            )
        )
    }
}
