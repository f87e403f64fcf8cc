//! Kafka's error codes, as Apache Kafka 4.4 has them.
//!
//! Only listeners and the client use them: everything below a listener has typed errors of its own.

macro_rules! error_codes {
    ($($code:literal $name:literal $variant:ident $retriable:literal;)*) => {
        /// An error code of Kafka's protocol.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(i16)]
        pub enum ErrorCode {
            $(#[doc = concat!("`", $name, "`")] $variant = $code,)*
        }

        impl ErrorCode {
            /// Every error code, lowest first.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// Kafka's name for the error.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// Whether Kafka's clients try again after it.
            pub const fn is_retriable(self) -> bool {
                match self {
                    $(Self::$variant => $retriable,)*
                }
            }

            /// The error with this code, if Kafka has one.
            pub const fn from_code(code: i16) -> Option<Self> {
                match code {
                    $($code => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

impl ErrorCode {
    /// The number that stands for it in messages.
    pub const fn code(self) -> i16 {
        self as i16
    }

    /// Whether it says that all went well.
    pub const fn is_none(self) -> bool {
        matches!(self, Self::None)
    }
}

impl std::fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.name(), self.code())
    }
}

error_codes! {
    -1 "UNKNOWN_SERVER_ERROR" UnknownServerError false;
    0 "NONE" None false;
    1 "OFFSET_OUT_OF_RANGE" OffsetOutOfRange false;
    2 "CORRUPT_MESSAGE" CorruptMessage true;
    3 "UNKNOWN_TOPIC_OR_PARTITION" UnknownTopicOrPartition true;
    4 "INVALID_FETCH_SIZE" InvalidFetchSize false;
    5 "LEADER_NOT_AVAILABLE" LeaderNotAvailable true;
    6 "NOT_LEADER_OR_FOLLOWER" NotLeaderOrFollower true;
    7 "REQUEST_TIMED_OUT" RequestTimedOut true;
    8 "BROKER_NOT_AVAILABLE" BrokerNotAvailable false;
    9 "REPLICA_NOT_AVAILABLE" ReplicaNotAvailable true;
    10 "MESSAGE_TOO_LARGE" MessageTooLarge false;
    11 "STALE_CONTROLLER_EPOCH" StaleControllerEpoch false;
    12 "OFFSET_METADATA_TOO_LARGE" OffsetMetadataTooLarge false;
    13 "NETWORK_EXCEPTION" NetworkException true;
    14 "COORDINATOR_LOAD_IN_PROGRESS" CoordinatorLoadInProgress true;
    15 "COORDINATOR_NOT_AVAILABLE" CoordinatorNotAvailable true;
    16 "NOT_COORDINATOR" NotCoordinator true;
    17 "INVALID_TOPIC_EXCEPTION" InvalidTopicException false;
    18 "RECORD_LIST_TOO_LARGE" RecordListTooLarge false;
    19 "NOT_ENOUGH_REPLICAS" NotEnoughReplicas true;
    20 "NOT_ENOUGH_REPLICAS_AFTER_APPEND" NotEnoughReplicasAfterAppend true;
    21 "INVALID_REQUIRED_ACKS" InvalidRequiredAcks false;
    22 "ILLEGAL_GENERATION" IllegalGeneration false;
    23 "INCONSISTENT_GROUP_PROTOCOL" InconsistentGroupProtocol false;
    24 "INVALID_GROUP_ID" InvalidGroupId false;
    25 "UNKNOWN_MEMBER_ID" UnknownMemberId false;
    26 "INVALID_SESSION_TIMEOUT" InvalidSessionTimeout false;
    27 "REBALANCE_IN_PROGRESS" RebalanceInProgress false;
    28 "INVALID_COMMIT_OFFSET_SIZE" InvalidCommitOffsetSize false;
    29 "TOPIC_AUTHORIZATION_FAILED" TopicAuthorizationFailed false;
    30 "GROUP_AUTHORIZATION_FAILED" GroupAuthorizationFailed false;
    31 "CLUSTER_AUTHORIZATION_FAILED" ClusterAuthorizationFailed false;
    32 "INVALID_TIMESTAMP" InvalidTimestamp false;
    33 "UNSUPPORTED_SASL_MECHANISM" UnsupportedSaslMechanism false;
    34 "ILLEGAL_SASL_STATE" IllegalSaslState false;
    35 "UNSUPPORTED_VERSION" UnsupportedVersion false;
    36 "TOPIC_ALREADY_EXISTS" TopicAlreadyExists false;
    37 "INVALID_PARTITIONS" InvalidPartitions false;
    38 "INVALID_REPLICATION_FACTOR" InvalidReplicationFactor false;
    39 "INVALID_REPLICA_ASSIGNMENT" InvalidReplicaAssignment false;
    40 "INVALID_CONFIG" InvalidConfig false;
    41 "NOT_CONTROLLER" NotController true;
    42 "INVALID_REQUEST" InvalidRequest false;
    43 "UNSUPPORTED_FOR_MESSAGE_FORMAT" UnsupportedForMessageFormat false;
    44 "POLICY_VIOLATION" PolicyViolation false;
    45 "OUT_OF_ORDER_SEQUENCE_NUMBER" OutOfOrderSequenceNumber false;
    46 "DUPLICATE_SEQUENCE_NUMBER" DuplicateSequenceNumber false;
    47 "INVALID_PRODUCER_EPOCH" InvalidProducerEpoch false;
    48 "INVALID_TXN_STATE" InvalidTxnState false;
    49 "INVALID_PRODUCER_ID_MAPPING" InvalidProducerIdMapping false;
    50 "INVALID_TRANSACTION_TIMEOUT" InvalidTransactionTimeout false;
    51 "CONCURRENT_TRANSACTIONS" ConcurrentTransactions true;
    52 "TRANSACTION_COORDINATOR_FENCED" TransactionCoordinatorFenced false;
    53 "TRANSACTIONAL_ID_AUTHORIZATION_FAILED" TransactionalIdAuthorizationFailed false;
    54 "SECURITY_DISABLED" SecurityDisabled false;
    55 "OPERATION_NOT_ATTEMPTED" OperationNotAttempted false;
    56 "KAFKA_STORAGE_ERROR" KafkaStorageError true;
    57 "LOG_DIR_NOT_FOUND" LogDirNotFound false;
    58 "SASL_AUTHENTICATION_FAILED" SaslAuthenticationFailed false;
    59 "UNKNOWN_PRODUCER_ID" UnknownProducerId false;
    60 "REASSIGNMENT_IN_PROGRESS" ReassignmentInProgress false;
    61 "DELEGATION_TOKEN_AUTH_DISABLED" DelegationTokenAuthDisabled false;
    62 "DELEGATION_TOKEN_NOT_FOUND" DelegationTokenNotFound false;
    63 "DELEGATION_TOKEN_OWNER_MISMATCH" DelegationTokenOwnerMismatch false;
    64 "DELEGATION_TOKEN_REQUEST_NOT_ALLOWED" DelegationTokenRequestNotAllowed false;
    65 "DELEGATION_TOKEN_AUTHORIZATION_FAILED" DelegationTokenAuthorizationFailed false;
    66 "DELEGATION_TOKEN_EXPIRED" DelegationTokenExpired false;
    67 "INVALID_PRINCIPAL_TYPE" InvalidPrincipalType false;
    68 "NON_EMPTY_GROUP" NonEmptyGroup false;
    69 "GROUP_ID_NOT_FOUND" GroupIdNotFound false;
    70 "FETCH_SESSION_ID_NOT_FOUND" FetchSessionIdNotFound true;
    71 "INVALID_FETCH_SESSION_EPOCH" InvalidFetchSessionEpoch true;
    72 "LISTENER_NOT_FOUND" ListenerNotFound true;
    73 "TOPIC_DELETION_DISABLED" TopicDeletionDisabled false;
    74 "FENCED_LEADER_EPOCH" FencedLeaderEpoch true;
    75 "UNKNOWN_LEADER_EPOCH" UnknownLeaderEpoch true;
    76 "UNSUPPORTED_COMPRESSION_TYPE" UnsupportedCompressionType false;
    77 "STALE_BROKER_EPOCH" StaleBrokerEpoch false;
    78 "OFFSET_NOT_AVAILABLE" OffsetNotAvailable true;
    79 "MEMBER_ID_REQUIRED" MemberIdRequired false;
    80 "PREFERRED_LEADER_NOT_AVAILABLE" PreferredLeaderNotAvailable true;
    81 "GROUP_MAX_SIZE_REACHED" GroupMaxSizeReached false;
    82 "FENCED_INSTANCE_ID" FencedInstanceId false;
    83 "ELIGIBLE_LEADERS_NOT_AVAILABLE" EligibleLeadersNotAvailable true;
    84 "ELECTION_NOT_NEEDED" ElectionNotNeeded true;
    85 "NO_REASSIGNMENT_IN_PROGRESS" NoReassignmentInProgress false;
    86 "GROUP_SUBSCRIBED_TO_TOPIC" GroupSubscribedToTopic false;
    87 "INVALID_RECORD" InvalidRecord false;
    88 "UNSTABLE_OFFSET_COMMIT" UnstableOffsetCommit true;
    89 "THROTTLING_QUOTA_EXCEEDED" ThrottlingQuotaExceeded true;
    90 "PRODUCER_FENCED" ProducerFenced false;
    91 "RESOURCE_NOT_FOUND" ResourceNotFound false;
    92 "DUPLICATE_RESOURCE" DuplicateResource false;
    93 "UNACCEPTABLE_CREDENTIAL" UnacceptableCredential false;
    94 "INCONSISTENT_VOTER_SET" InconsistentVoterSet false;
    95 "INVALID_UPDATE_VERSION" InvalidUpdateVersion false;
    96 "FEATURE_UPDATE_FAILED" FeatureUpdateFailed false;
    97 "PRINCIPAL_DESERIALIZATION_FAILURE" PrincipalDeserializationFailure false;
    98 "SNAPSHOT_NOT_FOUND" SnapshotNotFound false;
    99 "POSITION_OUT_OF_RANGE" PositionOutOfRange false;
    100 "UNKNOWN_TOPIC_ID" UnknownTopicId true;
    101 "DUPLICATE_BROKER_REGISTRATION" DuplicateBrokerRegistration false;
    102 "BROKER_ID_NOT_REGISTERED" BrokerIdNotRegistered false;
    103 "INCONSISTENT_TOPIC_ID" InconsistentTopicId true;
    104 "INCONSISTENT_CLUSTER_ID" InconsistentClusterId false;
    105 "TRANSACTIONAL_ID_NOT_FOUND" TransactionalIdNotFound false;
    106 "FETCH_SESSION_TOPIC_ID_ERROR" FetchSessionTopicIdError true;
    107 "INELIGIBLE_REPLICA" IneligibleReplica false;
    108 "NEW_LEADER_ELECTED" NewLeaderElected false;
    109 "OFFSET_MOVED_TO_TIERED_STORAGE" OffsetMovedToTieredStorage false;
    110 "FENCED_MEMBER_EPOCH" FencedMemberEpoch false;
    111 "UNRELEASED_INSTANCE_ID" UnreleasedInstanceId false;
    112 "UNSUPPORTED_ASSIGNOR" UnsupportedAssignor false;
    113 "STALE_MEMBER_EPOCH" StaleMemberEpoch false;
    114 "MISMATCHED_ENDPOINT_TYPE" MismatchedEndpointType false;
    115 "UNSUPPORTED_ENDPOINT_TYPE" UnsupportedEndpointType false;
    116 "UNKNOWN_CONTROLLER_ID" UnknownControllerId false;
    117 "UNKNOWN_SUBSCRIPTION_ID" UnknownSubscriptionId false;
    118 "TELEMETRY_TOO_LARGE" TelemetryTooLarge false;
    119 "INVALID_REGISTRATION" InvalidRegistration false;
    120 "TRANSACTION_ABORTABLE" TransactionAbortable false;
    121 "INVALID_RECORD_STATE" InvalidRecordState false;
    122 "SHARE_SESSION_NOT_FOUND" ShareSessionNotFound true;
    123 "INVALID_SHARE_SESSION_EPOCH" InvalidShareSessionEpoch true;
    124 "FENCED_STATE_EPOCH" FencedStateEpoch false;
    125 "INVALID_VOTER_KEY" InvalidVoterKey false;
    126 "DUPLICATE_VOTER" DuplicateVoter false;
    127 "VOTER_NOT_FOUND" VoterNotFound false;
    128 "INVALID_REGULAR_EXPRESSION" InvalidRegularExpression false;
    129 "REBOOTSTRAP_REQUIRED" RebootstrapRequired false;
    130 "STREAMS_INVALID_TOPOLOGY" StreamsInvalidTopology false;
    131 "STREAMS_INVALID_TOPOLOGY_EPOCH" StreamsInvalidTopologyEpoch false;
    132 "STREAMS_TOPOLOGY_FENCED" StreamsTopologyFenced false;
    133 "SHARE_SESSION_LIMIT_REACHED" ShareSessionLimitReached true;
    134 "GROUP_DELETION_FAILED" GroupDeletionFailed false;
    135 "STREAMS_TOPOLOGY_DESCRIPTION_UPDATE_FAILED" StreamsTopologyDescriptionUpdateFailed false;
    136 "CONTROLLER_ID_NOT_REGISTERED" ControllerIdNotRegistered false;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_errors_name_each_other() {
        for error in ErrorCode::ALL {
            assert_eq!(ErrorCode::from_code(error.code()), Some(*error));
        }
        assert_eq!(ErrorCode::from_code(i16::MAX), None);
        assert_eq!(ErrorCode::None.code(), 0);
        assert_eq!(ErrorCode::UnknownServerError.code(), -1);
        assert!(ErrorCode::NotLeaderOrFollower.is_retriable());
        assert_eq!(
            ErrorCode::UnknownTopicId.to_string(),
            "UNKNOWN_TOPIC_ID (100)"
        );
    }
}
