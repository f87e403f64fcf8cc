//! Which error codes an answer carries, for the metric that counts them by API and error.
//!
//! Why it exists: an answer has its errors in places of its own: on top, per topic, per partition.
//! In -> out: an answer -> each of its error codes, 0 for none.

use fanlog_protocol::messages::*;

/// An answer that may carry errors.
pub(crate) trait ErrorCodes {
    /// Hands out every error code, those that say "none" too.
    fn each_error_code(&self, note: &mut dyn FnMut(i16));
}

/// For each answer: the lists on the way to a code, and the code. `a / b . c` is `c` of each of `b` of each of `a`.
macro_rules! error_codes {
    ($($answer:ty: $($($list:ident)/ * . $code:ident),*;)*) => {
        $(impl ErrorCodes for $answer {
            #[allow(unused_variables, reason = "some answers have no place for errors")]
            fn each_error_code(&self, note: &mut dyn FnMut(i16)) {
                $(error_codes!(@walk self, note, [$($list)*], $code);)*
            }
        })*
    };
    (@walk $at:expr, $note:ident, [], $code:ident) => { $note($at.$code) };
    (@walk $at:expr, $note:ident, [$list:ident $($rest:ident)*], $code:ident) => {
        for entry in &$at.$list {
            error_codes!(@walk entry, $note, [$($rest)*], $code);
        }
    };
}

error_codes! {
    AddOffsetsToTxnResponse: .error_code;
    AddPartitionsToTxnResponse<'_>: .error_code,
        results_by_topic_v3_and_below/results_by_partition.partition_error_code,
        results_by_transaction/topic_results/results_by_partition.partition_error_code;
    AlterClientQuotasResponse<'_>: entries.error_code;
    AlterConfigsResponse<'_>: responses.error_code;
    AlterPartitionReassignmentsResponse<'_>: .error_code, responses/partitions.error_code;
    AlterShareGroupOffsetsResponse<'_>: .error_code, responses/partitions.error_code;
    AlterUserScramCredentialsResponse<'_>: results.error_code;
    ApiVersionsResponse<'_>: .error_code;
    ConsumerGroupDescribeResponse<'_>: groups.error_code;
    ConsumerGroupHeartbeatResponse<'_>: .error_code;
    CreateAclsResponse<'_>: results.error_code;
    CreateDelegationTokenResponse<'_>: .error_code;
    CreatePartitionsResponse<'_>: results.error_code;
    CreateTopicsResponse<'_>: topics.error_code;
    DeleteAclsResponse<'_>: filter_results.error_code;
    DeleteGroupsResponse<'_>: results.error_code;
    DeleteRecordsResponse<'_>: topics/partitions.error_code;
    DeleteShareGroupOffsetsResponse<'_>: .error_code, responses.error_code;
    DeleteTopicsResponse<'_>: responses.error_code;
    DescribeAclsResponse<'_>: .error_code;
    DescribeClientQuotasResponse<'_>: .error_code;
    DescribeClusterResponse<'_>: .error_code;
    DescribeConfigsResponse<'_>: results.error_code;
    DescribeDelegationTokenResponse<'_>: .error_code;
    DescribeGroupsResponse<'_>: groups.error_code;
    DescribeLogDirsResponse<'_>: .error_code, results.error_code;
    DescribeProducersResponse<'_>: topics/partitions.error_code;
    DescribeQuorumResponse<'_>: .error_code, topics/partitions.error_code;
    DescribeShareGroupOffsetsResponse<'_>: groups.error_code, groups/topics/partitions.error_code;
    DescribeTopicPartitionsResponse<'_>: topics.error_code, topics/partitions.error_code;
    DescribeTransactionsResponse<'_>: transaction_states.error_code;
    DescribeUserScramCredentialsResponse<'_>: .error_code, results.error_code;
    ElectLeadersResponse<'_>: .error_code, replica_election_results/partition_result.error_code;
    EndTxnResponse: .error_code;
    ExpireDelegationTokenResponse: .error_code;
    FetchResponse<'_>: .error_code, responses/partitions.error_code;
    FindCoordinatorResponse<'_>: .error_code, coordinators.error_code;
    HeartbeatResponse: .error_code;
    IncrementalAlterConfigsResponse<'_>: responses.error_code;
    InitProducerIdResponse: .error_code;
    JoinGroupResponse<'_>: .error_code;
    LeaveGroupResponse<'_>: .error_code, members.error_code;
    ListConfigResourcesResponse<'_>: .error_code;
    ListGroupsResponse<'_>: .error_code;
    ListOffsetsResponse<'_>: topics/partitions.error_code;
    ListPartitionReassignmentsResponse<'_>: .error_code;
    ListTransactionsResponse<'_>: .error_code;
    MetadataResponse<'_>: .error_code, topics.error_code, topics/partitions.error_code;
    OffsetCommitResponse<'_>: topics/partitions.error_code;
    OffsetDeleteResponse<'_>: .error_code, topics/partitions.error_code;
    OffsetFetchResponse<'_>: .error_code, topics/partitions.error_code, groups.error_code,
        groups/topics/partitions.error_code;
    OffsetForLeaderEpochResponse<'_>: topics/partitions.error_code;
    ProduceResponse<'_>: responses/partition_responses.error_code;
    RenewDelegationTokenResponse: .error_code;
    ShareAcknowledgeResponse<'_>: .error_code, responses/partitions.error_code;
    ShareGroupDescribeResponse<'_>: groups.error_code;
    ShareGroupHeartbeatResponse<'_>: .error_code;
    ShareFetchResponse<'_>: .error_code, responses/partitions.error_code, responses/partitions.acknowledge_error_code;
    SyncGroupResponse<'_>: .error_code;
    TxnOffsetCommitResponse<'_>: topics/partitions.error_code;
    UpdateFeaturesResponse<'_>: .error_code, results.error_code;
    WriteTxnMarkersResponse<'_>: markers/topics/partitions.error_code;
}
