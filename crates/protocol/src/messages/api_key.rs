//! The APIs that we know. Generated from `schemas/` by `cargo xtask codegen`: change that, not this.

use std::ops::RangeInclusive;

/// One API of Kafka's protocol: the number in a request's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(i16)]
pub enum ApiKey {
    /// `Produce`, versions 3 to 13.
    Produce = 0,
    /// `Fetch`, versions 4 to 18.
    Fetch = 1,
    /// `ListOffsets`, versions 1 to 11.
    ListOffsets = 2,
    /// `Metadata`, versions 0 to 13.
    Metadata = 3,
    /// `OffsetCommit`, versions 2 to 10.
    OffsetCommit = 8,
    /// `OffsetFetch`, versions 1 to 10.
    OffsetFetch = 9,
    /// `FindCoordinator`, versions 0 to 6.
    FindCoordinator = 10,
    /// `JoinGroup`, versions 0 to 9.
    JoinGroup = 11,
    /// `Heartbeat`, versions 0 to 4.
    Heartbeat = 12,
    /// `LeaveGroup`, versions 0 to 5.
    LeaveGroup = 13,
    /// `SyncGroup`, versions 0 to 5.
    SyncGroup = 14,
    /// `DescribeGroups`, versions 0 to 6.
    DescribeGroups = 15,
    /// `ListGroups`, versions 0 to 5.
    ListGroups = 16,
    /// `ApiVersions`, versions 0 to 5.
    ApiVersions = 18,
    /// `CreateTopics`, versions 2 to 7.
    CreateTopics = 19,
    /// `DeleteTopics`, versions 1 to 6.
    DeleteTopics = 20,
    /// `DeleteRecords`, versions 0 to 2.
    DeleteRecords = 21,
    /// `InitProducerId`, versions 0 to 5.
    InitProducerId = 22,
    /// `OffsetForLeaderEpoch`, versions 2 to 4.
    OffsetForLeaderEpoch = 23,
    /// `AddPartitionsToTxn`, versions 0 to 5.
    AddPartitionsToTxn = 24,
    /// `AddOffsetsToTxn`, versions 0 to 4.
    AddOffsetsToTxn = 25,
    /// `EndTxn`, versions 0 to 5.
    EndTxn = 26,
    /// `WriteTxnMarkers`, versions 1 to 2.
    WriteTxnMarkers = 27,
    /// `TxnOffsetCommit`, versions 0 to 6.
    TxnOffsetCommit = 28,
    /// `DescribeAcls`, versions 1 to 3.
    DescribeAcls = 29,
    /// `CreateAcls`, versions 1 to 3.
    CreateAcls = 30,
    /// `DeleteAcls`, versions 1 to 3.
    DeleteAcls = 31,
    /// `DescribeConfigs`, versions 1 to 4.
    DescribeConfigs = 32,
    /// `AlterConfigs`, versions 0 to 2.
    AlterConfigs = 33,
    /// `DescribeLogDirs`, versions 1 to 5.
    DescribeLogDirs = 35,
    /// `CreatePartitions`, versions 0 to 3.
    CreatePartitions = 37,
    /// `CreateDelegationToken`, versions 1 to 3.
    CreateDelegationToken = 38,
    /// `RenewDelegationToken`, versions 1 to 2.
    RenewDelegationToken = 39,
    /// `ExpireDelegationToken`, versions 1 to 2.
    ExpireDelegationToken = 40,
    /// `DescribeDelegationToken`, versions 1 to 3.
    DescribeDelegationToken = 41,
    /// `DeleteGroups`, versions 0 to 3.
    DeleteGroups = 42,
    /// `ElectLeaders`, versions 0 to 2.
    ElectLeaders = 43,
    /// `IncrementalAlterConfigs`, versions 0 to 1.
    IncrementalAlterConfigs = 44,
    /// `AlterPartitionReassignments`, versions 0 to 1.
    AlterPartitionReassignments = 45,
    /// `ListPartitionReassignments`, versions 0 to 0.
    ListPartitionReassignments = 46,
    /// `OffsetDelete`, versions 0 to 0.
    OffsetDelete = 47,
    /// `DescribeClientQuotas`, versions 0 to 1.
    DescribeClientQuotas = 48,
    /// `AlterClientQuotas`, versions 0 to 1.
    AlterClientQuotas = 49,
    /// `DescribeUserScramCredentials`, versions 0 to 0.
    DescribeUserScramCredentials = 50,
    /// `AlterUserScramCredentials`, versions 0 to 0.
    AlterUserScramCredentials = 51,
    /// `DescribeQuorum`, versions 0 to 2.
    DescribeQuorum = 55,
    /// `UpdateFeatures`, versions 0 to 2.
    UpdateFeatures = 57,
    /// `DescribeCluster`, versions 0 to 2.
    DescribeCluster = 60,
    /// `DescribeProducers`, versions 0 to 0.
    DescribeProducers = 61,
    /// `DescribeTransactions`, versions 0 to 0.
    DescribeTransactions = 65,
    /// `ListTransactions`, versions 0 to 2.
    ListTransactions = 66,
    /// `ConsumerGroupHeartbeat`, versions 0 to 1.
    ConsumerGroupHeartbeat = 68,
    /// `ConsumerGroupDescribe`, versions 0 to 1.
    ConsumerGroupDescribe = 69,
    /// `ListConfigResources`, versions 0 to 1.
    ListConfigResources = 74,
    /// `DescribeTopicPartitions`, versions 0 to 0.
    DescribeTopicPartitions = 75,
    /// `ShareGroupHeartbeat`, versions 1 to 1.
    ShareGroupHeartbeat = 76,
    /// `ShareGroupDescribe`, versions 1 to 1.
    ShareGroupDescribe = 77,
    /// `ShareFetch`, versions 1 to 2.
    ShareFetch = 78,
    /// `ShareAcknowledge`, versions 1 to 2.
    ShareAcknowledge = 79,
    /// `DescribeShareGroupOffsets`, versions 0 to 1.
    DescribeShareGroupOffsets = 90,
    /// `AlterShareGroupOffsets`, versions 0 to 0.
    AlterShareGroupOffsets = 91,
    /// `DeleteShareGroupOffsets`, versions 0 to 0.
    DeleteShareGroupOffsets = 92,
}

impl ApiKey {
    /// Every API, by number.
    pub const ALL: [Self; 62] = [
        Self::Produce,
        Self::Fetch,
        Self::ListOffsets,
        Self::Metadata,
        Self::OffsetCommit,
        Self::OffsetFetch,
        Self::FindCoordinator,
        Self::JoinGroup,
        Self::Heartbeat,
        Self::LeaveGroup,
        Self::SyncGroup,
        Self::DescribeGroups,
        Self::ListGroups,
        Self::ApiVersions,
        Self::CreateTopics,
        Self::DeleteTopics,
        Self::DeleteRecords,
        Self::InitProducerId,
        Self::OffsetForLeaderEpoch,
        Self::AddPartitionsToTxn,
        Self::AddOffsetsToTxn,
        Self::EndTxn,
        Self::WriteTxnMarkers,
        Self::TxnOffsetCommit,
        Self::DescribeAcls,
        Self::CreateAcls,
        Self::DeleteAcls,
        Self::DescribeConfigs,
        Self::AlterConfigs,
        Self::DescribeLogDirs,
        Self::CreatePartitions,
        Self::CreateDelegationToken,
        Self::RenewDelegationToken,
        Self::ExpireDelegationToken,
        Self::DescribeDelegationToken,
        Self::DeleteGroups,
        Self::ElectLeaders,
        Self::IncrementalAlterConfigs,
        Self::AlterPartitionReassignments,
        Self::ListPartitionReassignments,
        Self::OffsetDelete,
        Self::DescribeClientQuotas,
        Self::AlterClientQuotas,
        Self::DescribeUserScramCredentials,
        Self::AlterUserScramCredentials,
        Self::DescribeQuorum,
        Self::UpdateFeatures,
        Self::DescribeCluster,
        Self::DescribeProducers,
        Self::DescribeTransactions,
        Self::ListTransactions,
        Self::ConsumerGroupHeartbeat,
        Self::ConsumerGroupDescribe,
        Self::ListConfigResources,
        Self::DescribeTopicPartitions,
        Self::ShareGroupHeartbeat,
        Self::ShareGroupDescribe,
        Self::ShareFetch,
        Self::ShareAcknowledge,
        Self::DescribeShareGroupOffsets,
        Self::AlterShareGroupOffsets,
        Self::DeleteShareGroupOffsets,
    ];

    /// The API with this number, if we know it.
    pub fn from_i16(key: i16) -> Option<Self> {
        Self::ALL.into_iter().find(|api| *api as i16 == key)
    }

    /// The API's number.
    pub const fn to_i16(self) -> i16 {
        self as i16
    }

    /// Kafka's name for the API.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Produce => "Produce",
            Self::Fetch => "Fetch",
            Self::ListOffsets => "ListOffsets",
            Self::Metadata => "Metadata",
            Self::OffsetCommit => "OffsetCommit",
            Self::OffsetFetch => "OffsetFetch",
            Self::FindCoordinator => "FindCoordinator",
            Self::JoinGroup => "JoinGroup",
            Self::Heartbeat => "Heartbeat",
            Self::LeaveGroup => "LeaveGroup",
            Self::SyncGroup => "SyncGroup",
            Self::DescribeGroups => "DescribeGroups",
            Self::ListGroups => "ListGroups",
            Self::ApiVersions => "ApiVersions",
            Self::CreateTopics => "CreateTopics",
            Self::DeleteTopics => "DeleteTopics",
            Self::DeleteRecords => "DeleteRecords",
            Self::InitProducerId => "InitProducerId",
            Self::OffsetForLeaderEpoch => "OffsetForLeaderEpoch",
            Self::AddPartitionsToTxn => "AddPartitionsToTxn",
            Self::AddOffsetsToTxn => "AddOffsetsToTxn",
            Self::EndTxn => "EndTxn",
            Self::WriteTxnMarkers => "WriteTxnMarkers",
            Self::TxnOffsetCommit => "TxnOffsetCommit",
            Self::DescribeAcls => "DescribeAcls",
            Self::CreateAcls => "CreateAcls",
            Self::DeleteAcls => "DeleteAcls",
            Self::DescribeConfigs => "DescribeConfigs",
            Self::AlterConfigs => "AlterConfigs",
            Self::DescribeLogDirs => "DescribeLogDirs",
            Self::CreatePartitions => "CreatePartitions",
            Self::CreateDelegationToken => "CreateDelegationToken",
            Self::RenewDelegationToken => "RenewDelegationToken",
            Self::ExpireDelegationToken => "ExpireDelegationToken",
            Self::DescribeDelegationToken => "DescribeDelegationToken",
            Self::DeleteGroups => "DeleteGroups",
            Self::ElectLeaders => "ElectLeaders",
            Self::IncrementalAlterConfigs => "IncrementalAlterConfigs",
            Self::AlterPartitionReassignments => "AlterPartitionReassignments",
            Self::ListPartitionReassignments => "ListPartitionReassignments",
            Self::OffsetDelete => "OffsetDelete",
            Self::DescribeClientQuotas => "DescribeClientQuotas",
            Self::AlterClientQuotas => "AlterClientQuotas",
            Self::DescribeUserScramCredentials => "DescribeUserScramCredentials",
            Self::AlterUserScramCredentials => "AlterUserScramCredentials",
            Self::DescribeQuorum => "DescribeQuorum",
            Self::UpdateFeatures => "UpdateFeatures",
            Self::DescribeCluster => "DescribeCluster",
            Self::DescribeProducers => "DescribeProducers",
            Self::DescribeTransactions => "DescribeTransactions",
            Self::ListTransactions => "ListTransactions",
            Self::ConsumerGroupHeartbeat => "ConsumerGroupHeartbeat",
            Self::ConsumerGroupDescribe => "ConsumerGroupDescribe",
            Self::ListConfigResources => "ListConfigResources",
            Self::DescribeTopicPartitions => "DescribeTopicPartitions",
            Self::ShareGroupHeartbeat => "ShareGroupHeartbeat",
            Self::ShareGroupDescribe => "ShareGroupDescribe",
            Self::ShareFetch => "ShareFetch",
            Self::ShareAcknowledge => "ShareAcknowledge",
            Self::DescribeShareGroupOffsets => "DescribeShareGroupOffsets",
            Self::AlterShareGroupOffsets => "AlterShareGroupOffsets",
            Self::DeleteShareGroupOffsets => "DeleteShareGroupOffsets",
        }
    }

    /// The versions that we can read and write.
    pub const fn valid_versions(self) -> RangeInclusive<i16> {
        match self {
            Self::Produce => 3..=13,
            Self::Fetch => 4..=18,
            Self::ListOffsets => 1..=11,
            Self::Metadata => 0..=13,
            Self::OffsetCommit => 2..=10,
            Self::OffsetFetch => 1..=10,
            Self::FindCoordinator => 0..=6,
            Self::JoinGroup => 0..=9,
            Self::Heartbeat => 0..=4,
            Self::LeaveGroup => 0..=5,
            Self::SyncGroup => 0..=5,
            Self::DescribeGroups => 0..=6,
            Self::ListGroups => 0..=5,
            Self::ApiVersions => 0..=5,
            Self::CreateTopics => 2..=7,
            Self::DeleteTopics => 1..=6,
            Self::DeleteRecords => 0..=2,
            Self::InitProducerId => 0..=5,
            Self::OffsetForLeaderEpoch => 2..=4,
            Self::AddPartitionsToTxn => 0..=5,
            Self::AddOffsetsToTxn => 0..=4,
            Self::EndTxn => 0..=5,
            Self::WriteTxnMarkers => 1..=2,
            Self::TxnOffsetCommit => 0..=6,
            Self::DescribeAcls => 1..=3,
            Self::CreateAcls => 1..=3,
            Self::DeleteAcls => 1..=3,
            Self::DescribeConfigs => 1..=4,
            Self::AlterConfigs => 0..=2,
            Self::DescribeLogDirs => 1..=5,
            Self::CreatePartitions => 0..=3,
            Self::CreateDelegationToken => 1..=3,
            Self::RenewDelegationToken => 1..=2,
            Self::ExpireDelegationToken => 1..=2,
            Self::DescribeDelegationToken => 1..=3,
            Self::DeleteGroups => 0..=3,
            Self::ElectLeaders => 0..=2,
            Self::IncrementalAlterConfigs => 0..=1,
            Self::AlterPartitionReassignments => 0..=1,
            Self::ListPartitionReassignments => 0..=0,
            Self::OffsetDelete => 0..=0,
            Self::DescribeClientQuotas => 0..=1,
            Self::AlterClientQuotas => 0..=1,
            Self::DescribeUserScramCredentials => 0..=0,
            Self::AlterUserScramCredentials => 0..=0,
            Self::DescribeQuorum => 0..=2,
            Self::UpdateFeatures => 0..=2,
            Self::DescribeCluster => 0..=2,
            Self::DescribeProducers => 0..=0,
            Self::DescribeTransactions => 0..=0,
            Self::ListTransactions => 0..=2,
            Self::ConsumerGroupHeartbeat => 0..=1,
            Self::ConsumerGroupDescribe => 0..=1,
            Self::ListConfigResources => 0..=1,
            Self::DescribeTopicPartitions => 0..=0,
            Self::ShareGroupHeartbeat => 1..=1,
            Self::ShareGroupDescribe => 1..=1,
            Self::ShareFetch => 1..=2,
            Self::ShareAcknowledge => 1..=2,
            Self::DescribeShareGroupOffsets => 0..=1,
            Self::AlterShareGroupOffsets => 0..=0,
            Self::DeleteShareGroupOffsets => 0..=0,
        }
    }

    /// The first version with compact lengths and tagged fields.
    const fn flexible_from(self) -> Option<i16> {
        match self {
            Self::Produce => Some(9),
            Self::Fetch => Some(12),
            Self::ListOffsets => Some(6),
            Self::Metadata => Some(9),
            Self::OffsetCommit => Some(8),
            Self::OffsetFetch => Some(6),
            Self::FindCoordinator => Some(3),
            Self::JoinGroup => Some(6),
            Self::Heartbeat => Some(4),
            Self::LeaveGroup => Some(4),
            Self::SyncGroup => Some(4),
            Self::DescribeGroups => Some(5),
            Self::ListGroups => Some(3),
            Self::ApiVersions => Some(3),
            Self::CreateTopics => Some(5),
            Self::DeleteTopics => Some(4),
            Self::DeleteRecords => Some(2),
            Self::InitProducerId => Some(2),
            Self::OffsetForLeaderEpoch => Some(4),
            Self::AddPartitionsToTxn => Some(3),
            Self::AddOffsetsToTxn => Some(3),
            Self::EndTxn => Some(3),
            Self::WriteTxnMarkers => Some(1),
            Self::TxnOffsetCommit => Some(3),
            Self::DescribeAcls => Some(2),
            Self::CreateAcls => Some(2),
            Self::DeleteAcls => Some(2),
            Self::DescribeConfigs => Some(4),
            Self::AlterConfigs => Some(2),
            Self::DescribeLogDirs => Some(2),
            Self::CreatePartitions => Some(2),
            Self::CreateDelegationToken => Some(2),
            Self::RenewDelegationToken => Some(2),
            Self::ExpireDelegationToken => Some(2),
            Self::DescribeDelegationToken => Some(2),
            Self::DeleteGroups => Some(2),
            Self::ElectLeaders => Some(2),
            Self::IncrementalAlterConfigs => Some(1),
            Self::AlterPartitionReassignments => Some(0),
            Self::ListPartitionReassignments => Some(0),
            Self::OffsetDelete => None,
            Self::DescribeClientQuotas => Some(1),
            Self::AlterClientQuotas => Some(1),
            Self::DescribeUserScramCredentials => Some(0),
            Self::AlterUserScramCredentials => Some(0),
            Self::DescribeQuorum => Some(0),
            Self::UpdateFeatures => Some(0),
            Self::DescribeCluster => Some(0),
            Self::DescribeProducers => Some(0),
            Self::DescribeTransactions => Some(0),
            Self::ListTransactions => Some(0),
            Self::ConsumerGroupHeartbeat => Some(0),
            Self::ConsumerGroupDescribe => Some(0),
            Self::ListConfigResources => Some(0),
            Self::DescribeTopicPartitions => Some(0),
            Self::ShareGroupHeartbeat => Some(1),
            Self::ShareGroupDescribe => Some(1),
            Self::ShareFetch => Some(1),
            Self::ShareAcknowledge => Some(1),
            Self::DescribeShareGroupOffsets => Some(0),
            Self::AlterShareGroupOffsets => Some(0),
            Self::DeleteShareGroupOffsets => Some(0),
        }
    }

    /// Whether `version` has compact lengths and tagged fields.
    pub const fn is_flexible(self, version: i16) -> bool {
        match self.flexible_from() {
            Some(first) => version >= first,
            None => false,
        }
    }

    /// The version of the header before a request of `version`.
    pub const fn request_header_version(self, version: i16) -> i16 {
        if self.is_flexible(version) { 2 } else { 1 }
    }

    /// The version of the header before a response of `version`. That of ApiVersions is always 0: a client that asks in a
    /// version which the broker lacks must be able to read the answer.
    pub const fn response_header_version(self, version: i16) -> i16 {
        if self.is_flexible(version) && !matches!(self, Self::ApiVersions) {
            1
        } else {
            0
        }
    }
}
