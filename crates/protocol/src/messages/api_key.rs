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
    /// `DescribeConfigs`, versions 1 to 4.
    DescribeConfigs = 32,
    /// `AlterConfigs`, versions 0 to 2.
    AlterConfigs = 33,
    /// `DescribeLogDirs`, versions 1 to 5.
    DescribeLogDirs = 35,
    /// `CreatePartitions`, versions 0 to 3.
    CreatePartitions = 37,
    /// `DeleteGroups`, versions 0 to 3.
    DeleteGroups = 42,
    /// `ElectLeaders`, versions 0 to 2.
    ElectLeaders = 43,
    /// `IncrementalAlterConfigs`, versions 0 to 1.
    IncrementalAlterConfigs = 44,
    /// `ListPartitionReassignments`, versions 0 to 0.
    ListPartitionReassignments = 46,
    /// `OffsetDelete`, versions 0 to 0.
    OffsetDelete = 47,
    /// `DescribeQuorum`, versions 0 to 2.
    DescribeQuorum = 55,
    /// `DescribeCluster`, versions 0 to 2.
    DescribeCluster = 60,
    /// `DescribeProducers`, versions 0 to 0.
    DescribeProducers = 61,
    /// `ListConfigResources`, versions 0 to 1.
    ListConfigResources = 74,
    /// `DescribeTopicPartitions`, versions 0 to 0.
    DescribeTopicPartitions = 75,
}

impl ApiKey {
    /// Every API, by number.
    pub const ALL: [Self; 33] = [
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
        Self::DescribeConfigs,
        Self::AlterConfigs,
        Self::DescribeLogDirs,
        Self::CreatePartitions,
        Self::DeleteGroups,
        Self::ElectLeaders,
        Self::IncrementalAlterConfigs,
        Self::ListPartitionReassignments,
        Self::OffsetDelete,
        Self::DescribeQuorum,
        Self::DescribeCluster,
        Self::DescribeProducers,
        Self::ListConfigResources,
        Self::DescribeTopicPartitions,
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
            Self::DescribeConfigs => "DescribeConfigs",
            Self::AlterConfigs => "AlterConfigs",
            Self::DescribeLogDirs => "DescribeLogDirs",
            Self::CreatePartitions => "CreatePartitions",
            Self::DeleteGroups => "DeleteGroups",
            Self::ElectLeaders => "ElectLeaders",
            Self::IncrementalAlterConfigs => "IncrementalAlterConfigs",
            Self::ListPartitionReassignments => "ListPartitionReassignments",
            Self::OffsetDelete => "OffsetDelete",
            Self::DescribeQuorum => "DescribeQuorum",
            Self::DescribeCluster => "DescribeCluster",
            Self::DescribeProducers => "DescribeProducers",
            Self::ListConfigResources => "ListConfigResources",
            Self::DescribeTopicPartitions => "DescribeTopicPartitions",
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
            Self::DescribeConfigs => 1..=4,
            Self::AlterConfigs => 0..=2,
            Self::DescribeLogDirs => 1..=5,
            Self::CreatePartitions => 0..=3,
            Self::DeleteGroups => 0..=3,
            Self::ElectLeaders => 0..=2,
            Self::IncrementalAlterConfigs => 0..=1,
            Self::ListPartitionReassignments => 0..=0,
            Self::OffsetDelete => 0..=0,
            Self::DescribeQuorum => 0..=2,
            Self::DescribeCluster => 0..=2,
            Self::DescribeProducers => 0..=0,
            Self::ListConfigResources => 0..=1,
            Self::DescribeTopicPartitions => 0..=0,
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
            Self::DescribeConfigs => Some(4),
            Self::AlterConfigs => Some(2),
            Self::DescribeLogDirs => Some(2),
            Self::CreatePartitions => Some(2),
            Self::DeleteGroups => Some(2),
            Self::ElectLeaders => Some(2),
            Self::IncrementalAlterConfigs => Some(1),
            Self::ListPartitionReassignments => Some(0),
            Self::OffsetDelete => None,
            Self::DescribeQuorum => Some(0),
            Self::DescribeCluster => Some(0),
            Self::DescribeProducers => Some(0),
            Self::ListConfigResources => Some(0),
            Self::DescribeTopicPartitions => Some(0),
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
