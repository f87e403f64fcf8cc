//! Kafka's messages, one module each with the message and its parts. Generated from `schemas/` by `cargo xtask codegen`: change that, not this.

pub mod alter_configs_request;
pub mod alter_configs_response;
mod api_key;
pub mod api_versions_request;
pub mod api_versions_response;
pub mod consumer_protocol_assignment;
pub mod consumer_protocol_subscription;
pub mod create_partitions_request;
pub mod create_partitions_response;
pub mod create_topics_request;
pub mod create_topics_response;
pub mod delete_groups_request;
pub mod delete_groups_response;
pub mod delete_records_request;
pub mod delete_records_response;
pub mod delete_topics_request;
pub mod delete_topics_response;
pub mod describe_cluster_request;
pub mod describe_cluster_response;
pub mod describe_configs_request;
pub mod describe_configs_response;
pub mod describe_groups_request;
pub mod describe_groups_response;
pub mod describe_log_dirs_request;
pub mod describe_log_dirs_response;
pub mod describe_producers_request;
pub mod describe_producers_response;
pub mod describe_quorum_request;
pub mod describe_quorum_response;
pub mod describe_topic_partitions_request;
pub mod describe_topic_partitions_response;
pub mod elect_leaders_request;
pub mod elect_leaders_response;
pub mod end_txn_marker;
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
pub mod request_header;
pub mod response_header;
pub mod sync_group_request;
pub mod sync_group_response;

pub use alter_configs_request::AlterConfigsRequest;
pub use alter_configs_response::AlterConfigsResponse;
pub use api_key::ApiKey;
pub use api_versions_request::ApiVersionsRequest;
pub use api_versions_response::ApiVersionsResponse;
pub use consumer_protocol_assignment::ConsumerProtocolAssignment;
pub use consumer_protocol_subscription::ConsumerProtocolSubscription;
pub use create_partitions_request::CreatePartitionsRequest;
pub use create_partitions_response::CreatePartitionsResponse;
pub use create_topics_request::CreateTopicsRequest;
pub use create_topics_response::CreateTopicsResponse;
pub use delete_groups_request::DeleteGroupsRequest;
pub use delete_groups_response::DeleteGroupsResponse;
pub use delete_records_request::DeleteRecordsRequest;
pub use delete_records_response::DeleteRecordsResponse;
pub use delete_topics_request::DeleteTopicsRequest;
pub use delete_topics_response::DeleteTopicsResponse;
pub use describe_cluster_request::DescribeClusterRequest;
pub use describe_cluster_response::DescribeClusterResponse;
pub use describe_configs_request::DescribeConfigsRequest;
pub use describe_configs_response::DescribeConfigsResponse;
pub use describe_groups_request::DescribeGroupsRequest;
pub use describe_groups_response::DescribeGroupsResponse;
pub use describe_log_dirs_request::DescribeLogDirsRequest;
pub use describe_log_dirs_response::DescribeLogDirsResponse;
pub use describe_producers_request::DescribeProducersRequest;
pub use describe_producers_response::DescribeProducersResponse;
pub use describe_quorum_request::DescribeQuorumRequest;
pub use describe_quorum_response::DescribeQuorumResponse;
pub use describe_topic_partitions_request::DescribeTopicPartitionsRequest;
pub use describe_topic_partitions_response::DescribeTopicPartitionsResponse;
pub use elect_leaders_request::ElectLeadersRequest;
pub use elect_leaders_response::ElectLeadersResponse;
pub use end_txn_marker::EndTxnMarker;
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
pub use request_header::RequestHeader;
pub use response_header::ResponseHeader;
pub use sync_group_request::SyncGroupRequest;
pub use sync_group_response::SyncGroupResponse;

/// Calls a macro with the names of all messages, for tests that hold for each.
#[doc(hidden)]
#[macro_export]
macro_rules! with_every_message {
    ($callback:ident) => {
        $callback! {
            AlterConfigsRequest
            AlterConfigsResponse
            ApiVersionsRequest
            ApiVersionsResponse
            ConsumerProtocolAssignment
            ConsumerProtocolSubscription
            CreatePartitionsRequest
            CreatePartitionsResponse
            CreateTopicsRequest
            CreateTopicsResponse
            DeleteGroupsRequest
            DeleteGroupsResponse
            DeleteRecordsRequest
            DeleteRecordsResponse
            DeleteTopicsRequest
            DeleteTopicsResponse
            DescribeClusterRequest
            DescribeClusterResponse
            DescribeConfigsRequest
            DescribeConfigsResponse
            DescribeGroupsRequest
            DescribeGroupsResponse
            DescribeLogDirsRequest
            DescribeLogDirsResponse
            DescribeProducersRequest
            DescribeProducersResponse
            DescribeQuorumRequest
            DescribeQuorumResponse
            DescribeTopicPartitionsRequest
            DescribeTopicPartitionsResponse
            ElectLeadersRequest
            ElectLeadersResponse
            EndTxnMarker
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
            RequestHeader
            ResponseHeader
            SyncGroupRequest
            SyncGroupResponse
        }
    };
}
