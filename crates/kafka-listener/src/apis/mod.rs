//! One file per API, named as Kafka names it.

pub(crate) mod api_versions;
pub(crate) mod metadata;

pub(crate) mod fetch;
pub(crate) mod init_producer_id;
pub(crate) mod list_offsets;
pub(crate) mod offset_for_leader_epoch;
pub(crate) mod produce;

pub(crate) mod alter_configs;
pub(crate) mod alter_partition_reassignments;
pub(crate) mod create_partitions;
pub(crate) mod create_topics;
pub(crate) mod delete_records;
pub(crate) mod delete_topics;
pub(crate) mod describe_cluster;
pub(crate) mod describe_configs;
pub(crate) mod describe_log_dirs;
pub(crate) mod describe_producers;
pub(crate) mod describe_quorum;
pub(crate) mod describe_topic_partitions;
pub(crate) mod elect_leaders;
pub(crate) mod incremental_alter_configs;
pub(crate) mod list_partition_reassignments;
pub(crate) mod update_features;

pub(crate) mod consumer_group_describe;
pub(crate) mod consumer_group_heartbeat;
pub(crate) mod delete_groups;
pub(crate) mod describe_groups;
pub(crate) mod find_coordinator;
pub(crate) mod heartbeat;
pub(crate) mod join_group;
pub(crate) mod leave_group;
pub(crate) mod list_config_resources;
pub(crate) mod list_groups;
pub(crate) mod offset_commit;
pub(crate) mod offset_delete;
pub(crate) mod offset_fetch;
pub(crate) mod sync_group;

pub(crate) mod add_offsets_to_txn;
pub(crate) mod add_partitions_to_txn;
pub(crate) mod alter_share_group_offsets;
pub(crate) mod delete_share_group_offsets;
pub(crate) mod describe_share_group_offsets;
pub(crate) mod describe_transactions;
pub(crate) mod end_txn;
pub(crate) mod list_transactions;
pub(crate) mod share_acknowledge;
pub(crate) mod share_fetch;
pub(crate) mod share_group_describe;
pub(crate) mod share_group_heartbeat;
pub(crate) mod txn_offset_commit;
pub(crate) mod write_txn_markers;

pub(crate) mod alter_client_quotas;
pub(crate) mod alter_user_scram_credentials;
pub(crate) mod create_acls;
pub(crate) mod create_delegation_token;
pub(crate) mod delete_acls;
pub(crate) mod describe_acls;
pub(crate) mod describe_client_quotas;
pub(crate) mod describe_delegation_token;
pub(crate) mod describe_user_scram_credentials;
pub(crate) mod expire_delegation_token;
pub(crate) mod renew_delegation_token;
