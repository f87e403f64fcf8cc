//! A partition as Metadata and DescribeTopicPartitions show it: led by this broker, its only replica.

use fanlog_broker::Partition;
use fanlog_model::BrokerId;
use fanlog_protocol::ErrorCode;

/// No broker leads the partition.
const NO_LEADER: i32 = -1;

/// What both APIs say of a partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PartitionState {
    pub(crate) error: ErrorCode,
    pub(crate) index: i32,
    pub(crate) leader_id: i32,
    pub(crate) leader_epoch: i32,
    pub(crate) replicas: Vec<i32>,
    pub(crate) in_sync: Vec<i32>,
    pub(crate) offline: Vec<i32>,
}

impl PartitionState {
    /// A partition whose log has failed has no leader until the restart, as in Kafka after a failed disk.
    pub(crate) fn of(partition: &Partition, node: BrokerId) -> Self {
        let (here, nowhere) = (vec![node.0], Vec::new());
        let serving = Self {
            error: ErrorCode::None,
            index: partition.index().0,
            leader_id: node.0,
            leader_epoch: partition.leader_epoch().0,
            replicas: here.clone(),
            in_sync: here.clone(),
            offline: nowhere.clone(),
        };
        match partition.check_serving() {
            Ok(()) => serving,
            Err(_) => Self {
                error: ErrorCode::LeaderNotAvailable,
                leader_id: NO_LEADER,
                in_sync: nowhere,
                offline: here,
                ..serving
            },
        }
    }
}
