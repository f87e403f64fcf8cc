//! Kafka's messages, one module each with the message and its parts. Generated from `schemas/` by `cargo xtask codegen`: change that, not this.

pub mod add_offsets_to_txn_request;
pub mod add_offsets_to_txn_response;
pub mod add_partitions_to_txn_request;
pub mod add_partitions_to_txn_response;
pub mod alter_client_quotas_request;
pub mod alter_client_quotas_response;
pub mod alter_configs_request;
pub mod alter_configs_response;
pub mod alter_partition_reassignments_request;
pub mod alter_partition_reassignments_response;
pub mod alter_share_group_offsets_request;
pub mod alter_share_group_offsets_response;
pub mod alter_user_scram_credentials_request;
pub mod alter_user_scram_credentials_response;
mod api_key;
pub mod api_versions_request;
pub mod api_versions_response;
pub mod consumer_group_current_member_assignment_key;
pub mod consumer_group_current_member_assignment_value;
pub mod consumer_group_describe_request;
pub mod consumer_group_describe_response;
pub mod consumer_group_heartbeat_request;
pub mod consumer_group_heartbeat_response;
pub mod consumer_group_member_metadata_key;
pub mod consumer_group_member_metadata_value;
pub mod consumer_group_metadata_key;
pub mod consumer_group_metadata_value;
pub mod consumer_group_partition_metadata_key;
pub mod consumer_group_partition_metadata_value;
pub mod consumer_group_regular_expression_key;
pub mod consumer_group_regular_expression_value;
pub mod consumer_group_target_assignment_member_key;
pub mod consumer_group_target_assignment_member_value;
pub mod consumer_group_target_assignment_metadata_key;
pub mod consumer_group_target_assignment_metadata_value;
pub mod consumer_protocol_assignment;
pub mod consumer_protocol_subscription;
pub mod create_acls_request;
pub mod create_acls_response;
pub mod create_delegation_token_request;
pub mod create_delegation_token_response;
pub mod create_partitions_request;
pub mod create_partitions_response;
pub mod create_topics_request;
pub mod create_topics_response;
pub mod delete_acls_request;
pub mod delete_acls_response;
pub mod delete_groups_request;
pub mod delete_groups_response;
pub mod delete_records_request;
pub mod delete_records_response;
pub mod delete_share_group_offsets_request;
pub mod delete_share_group_offsets_response;
pub mod delete_topics_request;
pub mod delete_topics_response;
pub mod describe_acls_request;
pub mod describe_acls_response;
pub mod describe_client_quotas_request;
pub mod describe_client_quotas_response;
pub mod describe_cluster_request;
pub mod describe_cluster_response;
pub mod describe_configs_request;
pub mod describe_configs_response;
pub mod describe_delegation_token_request;
pub mod describe_delegation_token_response;
pub mod describe_groups_request;
pub mod describe_groups_response;
pub mod describe_log_dirs_request;
pub mod describe_log_dirs_response;
pub mod describe_producers_request;
pub mod describe_producers_response;
pub mod describe_quorum_request;
pub mod describe_quorum_response;
pub mod describe_share_group_offsets_request;
pub mod describe_share_group_offsets_response;
pub mod describe_topic_partitions_request;
pub mod describe_topic_partitions_response;
pub mod describe_transactions_request;
pub mod describe_transactions_response;
pub mod describe_user_scram_credentials_request;
pub mod describe_user_scram_credentials_response;
pub mod elect_leaders_request;
pub mod elect_leaders_response;
pub mod end_txn_marker;
pub mod end_txn_request;
pub mod end_txn_response;
pub mod expire_delegation_token_request;
pub mod expire_delegation_token_response;
pub mod fetch_request;
pub mod fetch_response;
pub mod find_coordinator_request;
pub mod find_coordinator_response;
pub mod group_metadata_key;
pub mod group_metadata_value;
pub mod heartbeat_request;
pub mod heartbeat_response;
pub mod incremental_alter_configs_request;
pub mod incremental_alter_configs_response;
pub mod init_producer_id_request;
pub mod init_producer_id_response;
pub mod join_group_request;
pub mod join_group_response;
pub mod leave_group_request;
pub mod leave_group_response;
pub mod list_config_resources_request;
pub mod list_config_resources_response;
pub mod list_groups_request;
pub mod list_groups_response;
pub mod list_offsets_request;
pub mod list_offsets_response;
pub mod list_partition_reassignments_request;
pub mod list_partition_reassignments_response;
pub mod list_transactions_request;
pub mod list_transactions_response;
pub mod metadata_request;
pub mod metadata_response;
pub mod offset_commit_key;
pub mod offset_commit_request;
pub mod offset_commit_response;
pub mod offset_commit_value;
pub mod offset_delete_request;
pub mod offset_delete_response;
pub mod offset_fetch_request;
pub mod offset_fetch_response;
pub mod offset_for_leader_epoch_request;
pub mod offset_for_leader_epoch_response;
pub mod produce_request;
pub mod produce_response;
pub mod renew_delegation_token_request;
pub mod renew_delegation_token_response;
pub mod request_header;
pub mod response_header;
pub mod share_acknowledge_request;
pub mod share_acknowledge_response;
pub mod share_fetch_request;
pub mod share_fetch_response;
pub mod share_group_current_member_assignment_key;
pub mod share_group_current_member_assignment_value;
pub mod share_group_describe_request;
pub mod share_group_describe_response;
pub mod share_group_heartbeat_request;
pub mod share_group_heartbeat_response;
pub mod share_group_member_metadata_key;
pub mod share_group_member_metadata_value;
pub mod share_group_metadata_key;
pub mod share_group_metadata_value;
pub mod share_group_state_partition_metadata_key;
pub mod share_group_state_partition_metadata_value;
pub mod share_group_target_assignment_member_key;
pub mod share_group_target_assignment_member_value;
pub mod share_group_target_assignment_metadata_key;
pub mod share_group_target_assignment_metadata_value;
pub mod share_snapshot_key;
pub mod share_snapshot_value;
pub mod share_update_key;
pub mod share_update_value;
pub mod sync_group_request;
pub mod sync_group_response;
pub mod transaction_log_key;
pub mod transaction_log_value;
pub mod txn_offset_commit_request;
pub mod txn_offset_commit_response;
pub mod update_features_request;
pub mod update_features_response;
pub mod write_txn_markers_request;
pub mod write_txn_markers_response;

pub use add_offsets_to_txn_request::AddOffsetsToTxnRequest;
pub use add_offsets_to_txn_response::AddOffsetsToTxnResponse;
pub use add_partitions_to_txn_request::AddPartitionsToTxnRequest;
pub use add_partitions_to_txn_response::AddPartitionsToTxnResponse;
pub use alter_client_quotas_request::AlterClientQuotasRequest;
pub use alter_client_quotas_response::AlterClientQuotasResponse;
pub use alter_configs_request::AlterConfigsRequest;
pub use alter_configs_response::AlterConfigsResponse;
pub use alter_partition_reassignments_request::AlterPartitionReassignmentsRequest;
pub use alter_partition_reassignments_response::AlterPartitionReassignmentsResponse;
pub use alter_share_group_offsets_request::AlterShareGroupOffsetsRequest;
pub use alter_share_group_offsets_response::AlterShareGroupOffsetsResponse;
pub use alter_user_scram_credentials_request::AlterUserScramCredentialsRequest;
pub use alter_user_scram_credentials_response::AlterUserScramCredentialsResponse;
pub use api_key::ApiKey;
pub use api_versions_request::ApiVersionsRequest;
pub use api_versions_response::ApiVersionsResponse;
pub use consumer_group_current_member_assignment_key::ConsumerGroupCurrentMemberAssignmentKey;
pub use consumer_group_current_member_assignment_value::ConsumerGroupCurrentMemberAssignmentValue;
pub use consumer_group_describe_request::ConsumerGroupDescribeRequest;
pub use consumer_group_describe_response::ConsumerGroupDescribeResponse;
pub use consumer_group_heartbeat_request::ConsumerGroupHeartbeatRequest;
pub use consumer_group_heartbeat_response::ConsumerGroupHeartbeatResponse;
pub use consumer_group_member_metadata_key::ConsumerGroupMemberMetadataKey;
pub use consumer_group_member_metadata_value::ConsumerGroupMemberMetadataValue;
pub use consumer_group_metadata_key::ConsumerGroupMetadataKey;
pub use consumer_group_metadata_value::ConsumerGroupMetadataValue;
pub use consumer_group_partition_metadata_key::ConsumerGroupPartitionMetadataKey;
pub use consumer_group_partition_metadata_value::ConsumerGroupPartitionMetadataValue;
pub use consumer_group_regular_expression_key::ConsumerGroupRegularExpressionKey;
pub use consumer_group_regular_expression_value::ConsumerGroupRegularExpressionValue;
pub use consumer_group_target_assignment_member_key::ConsumerGroupTargetAssignmentMemberKey;
pub use consumer_group_target_assignment_member_value::ConsumerGroupTargetAssignmentMemberValue;
pub use consumer_group_target_assignment_metadata_key::ConsumerGroupTargetAssignmentMetadataKey;
pub use consumer_group_target_assignment_metadata_value::ConsumerGroupTargetAssignmentMetadataValue;
pub use consumer_protocol_assignment::ConsumerProtocolAssignment;
pub use consumer_protocol_subscription::ConsumerProtocolSubscription;
pub use create_acls_request::CreateAclsRequest;
pub use create_acls_response::CreateAclsResponse;
pub use create_delegation_token_request::CreateDelegationTokenRequest;
pub use create_delegation_token_response::CreateDelegationTokenResponse;
pub use create_partitions_request::CreatePartitionsRequest;
pub use create_partitions_response::CreatePartitionsResponse;
pub use create_topics_request::CreateTopicsRequest;
pub use create_topics_response::CreateTopicsResponse;
pub use delete_acls_request::DeleteAclsRequest;
pub use delete_acls_response::DeleteAclsResponse;
pub use delete_groups_request::DeleteGroupsRequest;
pub use delete_groups_response::DeleteGroupsResponse;
pub use delete_records_request::DeleteRecordsRequest;
pub use delete_records_response::DeleteRecordsResponse;
pub use delete_share_group_offsets_request::DeleteShareGroupOffsetsRequest;
pub use delete_share_group_offsets_response::DeleteShareGroupOffsetsResponse;
pub use delete_topics_request::DeleteTopicsRequest;
pub use delete_topics_response::DeleteTopicsResponse;
pub use describe_acls_request::DescribeAclsRequest;
pub use describe_acls_response::DescribeAclsResponse;
pub use describe_client_quotas_request::DescribeClientQuotasRequest;
pub use describe_client_quotas_response::DescribeClientQuotasResponse;
pub use describe_cluster_request::DescribeClusterRequest;
pub use describe_cluster_response::DescribeClusterResponse;
pub use describe_configs_request::DescribeConfigsRequest;
pub use describe_configs_response::DescribeConfigsResponse;
pub use describe_delegation_token_request::DescribeDelegationTokenRequest;
pub use describe_delegation_token_response::DescribeDelegationTokenResponse;
pub use describe_groups_request::DescribeGroupsRequest;
pub use describe_groups_response::DescribeGroupsResponse;
pub use describe_log_dirs_request::DescribeLogDirsRequest;
pub use describe_log_dirs_response::DescribeLogDirsResponse;
pub use describe_producers_request::DescribeProducersRequest;
pub use describe_producers_response::DescribeProducersResponse;
pub use describe_quorum_request::DescribeQuorumRequest;
pub use describe_quorum_response::DescribeQuorumResponse;
pub use describe_share_group_offsets_request::DescribeShareGroupOffsetsRequest;
pub use describe_share_group_offsets_response::DescribeShareGroupOffsetsResponse;
pub use describe_topic_partitions_request::DescribeTopicPartitionsRequest;
pub use describe_topic_partitions_response::DescribeTopicPartitionsResponse;
pub use describe_transactions_request::DescribeTransactionsRequest;
pub use describe_transactions_response::DescribeTransactionsResponse;
pub use describe_user_scram_credentials_request::DescribeUserScramCredentialsRequest;
pub use describe_user_scram_credentials_response::DescribeUserScramCredentialsResponse;
pub use elect_leaders_request::ElectLeadersRequest;
pub use elect_leaders_response::ElectLeadersResponse;
pub use end_txn_marker::EndTxnMarker;
pub use end_txn_request::EndTxnRequest;
pub use end_txn_response::EndTxnResponse;
pub use expire_delegation_token_request::ExpireDelegationTokenRequest;
pub use expire_delegation_token_response::ExpireDelegationTokenResponse;
pub use fetch_request::FetchRequest;
pub use fetch_response::FetchResponse;
pub use find_coordinator_request::FindCoordinatorRequest;
pub use find_coordinator_response::FindCoordinatorResponse;
pub use group_metadata_key::GroupMetadataKey;
pub use group_metadata_value::GroupMetadataValue;
pub use heartbeat_request::HeartbeatRequest;
pub use heartbeat_response::HeartbeatResponse;
pub use incremental_alter_configs_request::IncrementalAlterConfigsRequest;
pub use incremental_alter_configs_response::IncrementalAlterConfigsResponse;
pub use init_producer_id_request::InitProducerIdRequest;
pub use init_producer_id_response::InitProducerIdResponse;
pub use join_group_request::JoinGroupRequest;
pub use join_group_response::JoinGroupResponse;
pub use leave_group_request::LeaveGroupRequest;
pub use leave_group_response::LeaveGroupResponse;
pub use list_config_resources_request::ListConfigResourcesRequest;
pub use list_config_resources_response::ListConfigResourcesResponse;
pub use list_groups_request::ListGroupsRequest;
pub use list_groups_response::ListGroupsResponse;
pub use list_offsets_request::ListOffsetsRequest;
pub use list_offsets_response::ListOffsetsResponse;
pub use list_partition_reassignments_request::ListPartitionReassignmentsRequest;
pub use list_partition_reassignments_response::ListPartitionReassignmentsResponse;
pub use list_transactions_request::ListTransactionsRequest;
pub use list_transactions_response::ListTransactionsResponse;
pub use metadata_request::MetadataRequest;
pub use metadata_response::MetadataResponse;
pub use offset_commit_key::OffsetCommitKey;
pub use offset_commit_request::OffsetCommitRequest;
pub use offset_commit_response::OffsetCommitResponse;
pub use offset_commit_value::OffsetCommitValue;
pub use offset_delete_request::OffsetDeleteRequest;
pub use offset_delete_response::OffsetDeleteResponse;
pub use offset_fetch_request::OffsetFetchRequest;
pub use offset_fetch_response::OffsetFetchResponse;
pub use offset_for_leader_epoch_request::OffsetForLeaderEpochRequest;
pub use offset_for_leader_epoch_response::OffsetForLeaderEpochResponse;
pub use produce_request::ProduceRequest;
pub use produce_response::ProduceResponse;
pub use renew_delegation_token_request::RenewDelegationTokenRequest;
pub use renew_delegation_token_response::RenewDelegationTokenResponse;
pub use request_header::RequestHeader;
pub use response_header::ResponseHeader;
pub use share_acknowledge_request::ShareAcknowledgeRequest;
pub use share_acknowledge_response::ShareAcknowledgeResponse;
pub use share_fetch_request::ShareFetchRequest;
pub use share_fetch_response::ShareFetchResponse;
pub use share_group_current_member_assignment_key::ShareGroupCurrentMemberAssignmentKey;
pub use share_group_current_member_assignment_value::ShareGroupCurrentMemberAssignmentValue;
pub use share_group_describe_request::ShareGroupDescribeRequest;
pub use share_group_describe_response::ShareGroupDescribeResponse;
pub use share_group_heartbeat_request::ShareGroupHeartbeatRequest;
pub use share_group_heartbeat_response::ShareGroupHeartbeatResponse;
pub use share_group_member_metadata_key::ShareGroupMemberMetadataKey;
pub use share_group_member_metadata_value::ShareGroupMemberMetadataValue;
pub use share_group_metadata_key::ShareGroupMetadataKey;
pub use share_group_metadata_value::ShareGroupMetadataValue;
pub use share_group_state_partition_metadata_key::ShareGroupStatePartitionMetadataKey;
pub use share_group_state_partition_metadata_value::ShareGroupStatePartitionMetadataValue;
pub use share_group_target_assignment_member_key::ShareGroupTargetAssignmentMemberKey;
pub use share_group_target_assignment_member_value::ShareGroupTargetAssignmentMemberValue;
pub use share_group_target_assignment_metadata_key::ShareGroupTargetAssignmentMetadataKey;
pub use share_group_target_assignment_metadata_value::ShareGroupTargetAssignmentMetadataValue;
pub use share_snapshot_key::ShareSnapshotKey;
pub use share_snapshot_value::ShareSnapshotValue;
pub use share_update_key::ShareUpdateKey;
pub use share_update_value::ShareUpdateValue;
pub use sync_group_request::SyncGroupRequest;
pub use sync_group_response::SyncGroupResponse;
pub use transaction_log_key::TransactionLogKey;
pub use transaction_log_value::TransactionLogValue;
pub use txn_offset_commit_request::TxnOffsetCommitRequest;
pub use txn_offset_commit_response::TxnOffsetCommitResponse;
pub use update_features_request::UpdateFeaturesRequest;
pub use update_features_response::UpdateFeaturesResponse;
pub use write_txn_markers_request::WriteTxnMarkersRequest;
pub use write_txn_markers_response::WriteTxnMarkersResponse;

/// Calls a macro with the names of all messages, for tests that hold for each.
#[doc(hidden)]
#[macro_export]
macro_rules! with_every_message {
    ($callback:ident) => {
        $callback! {
            AddOffsetsToTxnRequest
            AddOffsetsToTxnResponse
            AddPartitionsToTxnRequest
            AddPartitionsToTxnResponse
            AlterClientQuotasRequest
            AlterClientQuotasResponse
            AlterConfigsRequest
            AlterConfigsResponse
            AlterPartitionReassignmentsRequest
            AlterPartitionReassignmentsResponse
            AlterShareGroupOffsetsRequest
            AlterShareGroupOffsetsResponse
            AlterUserScramCredentialsRequest
            AlterUserScramCredentialsResponse
            ApiVersionsRequest
            ApiVersionsResponse
            ConsumerGroupCurrentMemberAssignmentKey
            ConsumerGroupCurrentMemberAssignmentValue
            ConsumerGroupDescribeRequest
            ConsumerGroupDescribeResponse
            ConsumerGroupHeartbeatRequest
            ConsumerGroupHeartbeatResponse
            ConsumerGroupMemberMetadataKey
            ConsumerGroupMemberMetadataValue
            ConsumerGroupMetadataKey
            ConsumerGroupMetadataValue
            ConsumerGroupPartitionMetadataKey
            ConsumerGroupPartitionMetadataValue
            ConsumerGroupRegularExpressionKey
            ConsumerGroupRegularExpressionValue
            ConsumerGroupTargetAssignmentMemberKey
            ConsumerGroupTargetAssignmentMemberValue
            ConsumerGroupTargetAssignmentMetadataKey
            ConsumerGroupTargetAssignmentMetadataValue
            ConsumerProtocolAssignment
            ConsumerProtocolSubscription
            CreateAclsRequest
            CreateAclsResponse
            CreateDelegationTokenRequest
            CreateDelegationTokenResponse
            CreatePartitionsRequest
            CreatePartitionsResponse
            CreateTopicsRequest
            CreateTopicsResponse
            DeleteAclsRequest
            DeleteAclsResponse
            DeleteGroupsRequest
            DeleteGroupsResponse
            DeleteRecordsRequest
            DeleteRecordsResponse
            DeleteShareGroupOffsetsRequest
            DeleteShareGroupOffsetsResponse
            DeleteTopicsRequest
            DeleteTopicsResponse
            DescribeAclsRequest
            DescribeAclsResponse
            DescribeClientQuotasRequest
            DescribeClientQuotasResponse
            DescribeClusterRequest
            DescribeClusterResponse
            DescribeConfigsRequest
            DescribeConfigsResponse
            DescribeDelegationTokenRequest
            DescribeDelegationTokenResponse
            DescribeGroupsRequest
            DescribeGroupsResponse
            DescribeLogDirsRequest
            DescribeLogDirsResponse
            DescribeProducersRequest
            DescribeProducersResponse
            DescribeQuorumRequest
            DescribeQuorumResponse
            DescribeShareGroupOffsetsRequest
            DescribeShareGroupOffsetsResponse
            DescribeTopicPartitionsRequest
            DescribeTopicPartitionsResponse
            DescribeTransactionsRequest
            DescribeTransactionsResponse
            DescribeUserScramCredentialsRequest
            DescribeUserScramCredentialsResponse
            ElectLeadersRequest
            ElectLeadersResponse
            EndTxnMarker
            EndTxnRequest
            EndTxnResponse
            ExpireDelegationTokenRequest
            ExpireDelegationTokenResponse
            FetchRequest
            FetchResponse
            FindCoordinatorRequest
            FindCoordinatorResponse
            GroupMetadataKey
            GroupMetadataValue
            HeartbeatRequest
            HeartbeatResponse
            IncrementalAlterConfigsRequest
            IncrementalAlterConfigsResponse
            InitProducerIdRequest
            InitProducerIdResponse
            JoinGroupRequest
            JoinGroupResponse
            LeaveGroupRequest
            LeaveGroupResponse
            ListConfigResourcesRequest
            ListConfigResourcesResponse
            ListGroupsRequest
            ListGroupsResponse
            ListOffsetsRequest
            ListOffsetsResponse
            ListPartitionReassignmentsRequest
            ListPartitionReassignmentsResponse
            ListTransactionsRequest
            ListTransactionsResponse
            MetadataRequest
            MetadataResponse
            OffsetCommitKey
            OffsetCommitRequest
            OffsetCommitResponse
            OffsetCommitValue
            OffsetDeleteRequest
            OffsetDeleteResponse
            OffsetFetchRequest
            OffsetFetchResponse
            OffsetForLeaderEpochRequest
            OffsetForLeaderEpochResponse
            ProduceRequest
            ProduceResponse
            RenewDelegationTokenRequest
            RenewDelegationTokenResponse
            RequestHeader
            ResponseHeader
            ShareAcknowledgeRequest
            ShareAcknowledgeResponse
            ShareFetchRequest
            ShareFetchResponse
            ShareGroupCurrentMemberAssignmentKey
            ShareGroupCurrentMemberAssignmentValue
            ShareGroupDescribeRequest
            ShareGroupDescribeResponse
            ShareGroupHeartbeatRequest
            ShareGroupHeartbeatResponse
            ShareGroupMemberMetadataKey
            ShareGroupMemberMetadataValue
            ShareGroupMetadataKey
            ShareGroupMetadataValue
            ShareGroupStatePartitionMetadataKey
            ShareGroupStatePartitionMetadataValue
            ShareGroupTargetAssignmentMemberKey
            ShareGroupTargetAssignmentMemberValue
            ShareGroupTargetAssignmentMetadataKey
            ShareGroupTargetAssignmentMetadataValue
            ShareSnapshotKey
            ShareSnapshotValue
            ShareUpdateKey
            ShareUpdateValue
            SyncGroupRequest
            SyncGroupResponse
            TransactionLogKey
            TransactionLogValue
            TxnOffsetCommitRequest
            TxnOffsetCommitResponse
            UpdateFeaturesRequest
            UpdateFeaturesResponse
            WriteTxnMarkersRequest
            WriteTxnMarkersResponse
        }
    };
}
