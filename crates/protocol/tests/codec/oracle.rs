//! The same messages by other hands: the `kafka-protocol` crate, which goes as far as Kafka 4.1.

use super::sample::{self, Dice, Style};
use super::table;
use bytes::{Bytes, BytesMut};
use kafka_protocol::messages as theirs;
use kafka_protocol::protocol::{Decodable, Encodable, Message};

const SAMPLES: u64 = 25;

/// Their reading of the bytes, written again by them.
fn through_theirs<M: Decodable + Encodable + Message>(
    bytes: &[u8],
    version: i16,
) -> Option<Vec<u8>> {
    if version < M::VERSIONS.min || version > M::VERSIONS.max {
        return None;
    }
    let mut left = Bytes::copy_from_slice(bytes);
    let message = M::decode(&mut left, version).unwrap();
    assert!(left.is_empty(), "{} bytes left over", left.len());
    let mut written = BytesMut::new();
    message.encode(&mut written, version).unwrap();
    Some(written.to_vec())
}

type Oracle = fn(&[u8], i16) -> Option<Vec<u8>>;

macro_rules! oracles {
    ($($message:ident)*) => {
        &[$((stringify!($message), through_theirs::<theirs::$message>)),*]
    };
}

const ORACLES: &[(&str, Oracle)] = oracles! {
    AlterConfigsRequest AlterConfigsResponse ApiVersionsRequest ApiVersionsResponse
    ConsumerProtocolAssignment ConsumerProtocolSubscription
    CreatePartitionsRequest CreatePartitionsResponse CreateTopicsRequest CreateTopicsResponse
    DeleteGroupsRequest DeleteGroupsResponse DeleteRecordsRequest DeleteRecordsResponse
    DeleteTopicsRequest DeleteTopicsResponse DescribeClusterRequest DescribeClusterResponse
    DescribeConfigsRequest DescribeConfigsResponse DescribeGroupsRequest DescribeGroupsResponse
    DescribeLogDirsRequest DescribeLogDirsResponse DescribeProducersRequest DescribeProducersResponse
    DescribeQuorumRequest DescribeQuorumResponse
    DescribeTopicPartitionsRequest DescribeTopicPartitionsResponse
    ElectLeadersRequest ElectLeadersResponse EndTxnMarker FetchRequest FetchResponse
    FindCoordinatorRequest FindCoordinatorResponse HeartbeatRequest HeartbeatResponse
    IncrementalAlterConfigsRequest IncrementalAlterConfigsResponse
    InitProducerIdRequest InitProducerIdResponse JoinGroupRequest JoinGroupResponse
    LeaveGroupRequest LeaveGroupResponse
    ListConfigResourcesRequest ListConfigResourcesResponse ListGroupsRequest ListGroupsResponse
    ListOffsetsRequest ListOffsetsResponse
    ListPartitionReassignmentsRequest ListPartitionReassignmentsResponse
    MetadataRequest MetadataResponse OffsetCommitRequest OffsetCommitResponse
    OffsetDeleteRequest OffsetDeleteResponse OffsetFetchRequest OffsetFetchResponse
    OffsetForLeaderEpochRequest OffsetForLeaderEpochResponse ProduceRequest ProduceResponse
    RequestHeader ResponseHeader SyncGroupRequest SyncGroupResponse
};

#[test]
fn another_implementation_reads_and_writes_the_same_bytes() {
    let mut compared = 0;
    for message in sample::all_messages() {
        let Some((_, oracle)) = ORACLES.iter().find(|(name, _)| *name == message.name) else {
            continue;
        };
        let codec = table::find(&message.name);
        for version in message.versions.first..=message.versions.last {
            for seed in 0..SAMPLES {
                let bytes = sample::draw(&message, version, Style::Canonical, &mut Dice::new(seed));
                let ours = codec(&bytes, version).unwrap().written;
                let Some(theirs) = oracle(&ours, version) else {
                    break;
                };
                assert_eq!(theirs, ours, "{} {version} {seed}", message.name);
                compared += 1;
            }
        }
    }
    assert!(
        compared > 300 * SAMPLES,
        "only {compared} messages were compared"
    );
}
